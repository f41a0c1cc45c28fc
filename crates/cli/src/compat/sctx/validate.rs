//! `sctx validate`

use std::ffi::OsString;
use std::path::Path;

use brief_engine::{Catalog, CatalogScope, Dialects, Root, Strangers, structured};
use brief_syntax::walk::Ignored;
use brief_syntax::{Severity, rules};

use super::{warn_if_nothing_found, yaml_error};
use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

pub(super) fn run(ui: &mut Ui, session: &Session, args: &[OsString]) -> Result {
    // After two dashes everything is a path.
    let args = args.strip_prefix(&[OsString::from("--")]).unwrap_or(args);
    let named = args.first().map_or(Path::new("."), Path::new);
    let path = session.directory().join(named);
    let cannot =
        |error: std::io::Error| CommandError::refused(format!("{}: {error}", named.display()));
    let resolved = session.system().resolve(&path).map_err(cannot)?.path;
    // The path may be a context file; its directory is then the root.
    let (root, only) = match Root::open(session.system(), &resolved) {
        Ok(root) => (root, None),
        Err(_) => {
            let directory = path.parent().unwrap_or(&path);
            let root = Root::open(session.system(), directory).map_err(cannot)?;
            let only = path.file_name().map(|name| root.path().join(name));
            (root, only)
        }
    };
    let top = Session::root_target();
    let dialects = Dialects::Only(vec![structured::NAME]);
    let strangers = Strangers::Counted;
    let scope = CatalogScope { start: &top, ignored: Ignored::Visit, dialects, strangers };
    let catalog = Catalog::read_project(session.system(), &root, scope);
    let mut diagnostics = catalog.diagnostics();
    // "If no context files exist in the project, tools should emit a warning and return gracefully."
    let has_none = catalog.is_empty() && diagnostics.is_empty();
    warn_if_nothing_found(ui, has_none)?;
    if let Some(only) = only {
        diagnostics.retain(|diagnostic| diagnostic.path() == only);
    }
    for diagnostic in &diagnostics {
        let place = format!("{}:{}", diagnostic.path().display(), diagnostic.position().line);
        let message = match diagnostic.rule {
            rules::agents_yaml::INVALID_YAML => format!("invalid YAML: {}", yaml_error(diagnostic)),
            rules::agents_yaml::UNREADABLE => {
                format!("cannot read file: {}", yaml_error(diagnostic))
            }
            _ => diagnostic.message.clone(),
        };
        ui.print_line(format!("{}: {place}: {message}", diagnostic.severity))?;
    }
    if diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        return Err(CommandError::refused("validation failed"));
    }
    if diagnostics.is_empty() {
        ui.print_line("All context files are valid.")?;
    }
    Ok(())
}
