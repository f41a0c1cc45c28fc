//! `brief registry new`

use std::path::{Path, PathBuf};

use brief_engine::portable::{self, ItemId, ItemKind, name_problem, scaffold};
use brief_syntax::Root;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::surroundings::refuse_no_project;
use crate::ui::Ui;

/// Create an item from a template
///
/// `brief lint` reports leftover template text. A new bundle lists all items of the registry.
#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// Kind of item
    #[arg(value_parser = kind_parser())]
    kind: NewKind,

    /// Name: a-z, 0-9 and hyphens between them
    name: String,

    /// Directory that contains `rules`, `skills`, `agents` and `commands`
    #[arg(long = "in", value_name = "DIR", default_value = ".")]
    item_root: PathBuf,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The kind of an item, or `None` for a bundle. The alias keeps clap from reading it as an optional argument.
type NewKind = Option<ItemKind>;

fn kind_parser() -> impl TypedValueParser<Value = NewKind> {
    PossibleValuesParser::new(["rule", "skill", "agent", "command", "bundle"])
        .map(|name| ItemKind::from_name(&name))
}

/// Refuses a project that only installs items, because a new item there would reach no client. A
/// registry that also installs items is accepted.
fn refuse_consumer(session: &Session, item_root: &Path) -> Result {
    let system = session.system();
    let directory = session.directory().join(item_root);
    let project = session.installed_project()?;
    let Some(proof) = project.find_install_evidence(system) else { return Ok(()) };
    let is_registry = Root::open(system, &directory).is_ok_and(|root| {
        let found = portable::read_registry(system, &root, &[]);
        !found.items.is_empty() || !found.bundles.is_empty()
    });
    if is_registry {
        return Ok(());
    }
    let place = project.outputs.display();
    let message = format!("`{place}` is a project, not a registry ({proof})");
    Err(CommandError::refused(message).with_hint(
        "create the item in its registry, then run `brief add DIRECTORY` to try it here",
    ))
}

/// Returns the items of a registry, each once: a new bundle begins with all of them.
fn items_of(session: &Session, item_root: &Path) -> Vec<ItemId> {
    let system = session.system();
    let Ok(root) = Root::open(system, &session.directory().join(item_root)) else {
        return Vec::new();
    };
    let registry = portable::read_registry(system, &root, &[]);
    let items = registry.items.iter().filter(|item| item.written_for().is_none());
    let mut items: Vec<ItemId> = items.map(|item| item.id().clone()).collect();
    items.dedup();
    items
}

/// Writes a new file below a directory, and returns its path, whole and as it is shown. Nothing is replaced.
pub fn write_new(
    session: &Session,
    directory: &Path,
    below: &Path,
    text: &str,
) -> Result<(PathBuf, PathBuf)> {
    let shown = directory.join(below);
    let shown = shown.strip_prefix(".").unwrap_or(&shown).to_owned();
    let path = session.directory().join(directory).join(below);
    let system = session.system();
    let refused = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            CommandError::refused(format!("`{}` already exists", shown.display()))
                .with_hint("choose another name, or edit it")
        }
        _ => CommandError::refused(format!("cannot write `{}`: {error}", shown.display())),
    };
    if let Some(parent) = path.parent() {
        system.create_dir(parent).map_err(refused)?;
    }
    system.create_file(&path, text.as_bytes()).map_err(refused)?;
    Ok((path, shown))
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &NewArgs) -> Result {
    if let Some(problem) = name_problem(&args.name) {
        let message = format!("invalid name `{}`: {problem}", args.name);
        return Err(CommandError::usage(message)
            .with_hint("use a-z, 0-9 and hyphens between them, 64 at most"));
    }
    refuse_consumer(session, &args.item_root)?;
    refuse_no_project(session, &session.open_root()?)?;
    let name = &args.name;
    let mut is_empty = false;
    let (below, text) = match args.kind {
        Some(kind) => {
            let below = PathBuf::from(kind.folder()).join(name).join(kind.entrypoint());
            (below, scaffold::render_new_item(kind, name))
        }
        None => {
            let items = items_of(session, &args.item_root);
            is_empty = items.is_empty();
            let text = scaffold::render_new_bundle(name, &items);
            (PathBuf::from(format!("{name}.bundle.md")), text)
        }
    };
    let (path, shown) = write_new(session, &args.item_root, &below, &text)?;
    if args.json {
        return crate::commands::init::print_created(ui, session, "registry new", &path);
    }
    ui.print_line(shown.display())?;
    if is_empty {
        ui.print_hint("add items to the bundle: `brief lint` rejects an empty one")?;
    }
    Ok(())
}
