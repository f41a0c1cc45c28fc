//! `brief list --packages`

use std::path::{Path, PathBuf};

use brief_dialects::dependencies::{DependencyExtent, LockedDependency, Package, ShippedKind};
use brief_engine::shipped::{ShippedGuidance, ShippingPackage};
use brief_engine::{Target, TargetKind};
use brief_registry::install::ProjectPaths;
use brief_syntax::render::path_below;
use brief_syntax::text::{format_count, group_digits, visible_line};
use serde_json::{Value, json};

use super::list::ListArgs;
use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

/// Shows which installed packages contain guidance.
pub(super) fn run(ui: &mut Ui, session: &Session, args: &ListArgs) -> Result {
    let project = session.open_project()?;
    let root = project.root().path();
    let typed = args.source.as_deref().map_or(Path::new("."), Path::new);
    let Some(target) = project.locate(typed) else {
        let typed = typed.display();
        return Err(CommandError::usage(format!("`{typed}` is outside the project")));
    };
    let directory = root.join(target.directories().iter().collect::<PathBuf>());
    let extent = if args.all { DependencyExtent::All } else { DependencyExtent::Direct };
    let counter = args.counting.create_counter(session, root);
    let found = ShippedGuidance::read(session.system(), root, &directory, extent, &counter);
    let lock =
        ProjectPaths::find_enclosing(session.system(), &directory).read_lock(session.system());
    let recorded = lock.ok().flatten().unwrap_or_default().dependencies;
    if args.json {
        let directory = Target::from_names(target.directories().to_vec(), TargetKind::Directory);
        let packages = found.packages.iter().map(|one| shipped_package_json(root, one, &recorded));
        let body = json!({
            "directory": directory.slashed(),
            "packages": packages.collect::<Vec<_>>(),
            "looked_at": found.looked_at,
            "notes": found.notes,
        });
        return ui.print_json("list packages", root, &[], body);
    }
    for note in &found.notes {
        ui.print_warning(&visible_line(note))?;
    }
    print_packages(ui, root, &found, &recorded)?;
    let (shipping, looked_at) = (found.packages.len(), found.looked_at);
    let kind = if args.all { "installed" } else { "direct" };
    let packages = format_count(looked_at, &format!("{kind} package"));
    ui.print_status(&format!("guidance in {shipping} of {packages}"))?;
    if !args.all {
        ui.print_hint("use `--all` to include indirect dependencies")?;
    }
    if found.packages.iter().any(|one| record_of(&one.package, &recorded).is_none()) {
        ui.print_hint("add `offer = [\"NAME\"]` to `[dependencies]` in brief.toml, then run `brief sync` to list a package for agents")?;
    }
    Ok(())
}

fn print_packages(
    ui: &mut Ui,
    root: &Path,
    found: &ShippedGuidance,
    recorded: &[LockedDependency],
) -> Result {
    let mut is_second = false;
    for (heading, is_direct) in [("direct dependencies", true), ("other packages", false)] {
        let packages = found.packages.iter().filter(|one| one.package.is_direct == is_direct);
        let packages: Vec<&ShippingPackage> = packages.collect();
        if packages.is_empty() {
            continue;
        }
        if is_second {
            ui.print_line("")?;
        }
        is_second = true;
        ui.print_heading(heading)?;
        let name =
            |one: &ShippingPackage| format!("{}:{}", one.package.id.ecosystem, one.package.id);
        let width = packages.iter().map(|one| name(one).chars().count()).max().unwrap_or_default();
        for one in packages {
            let tokens = group_digits(one.tokens() as u64);
            let mut line =
                format!("  {:width$}  {}  {tokens} tokens", name(one), render_kinds(one));
            match record_of(&one.package, recorded) {
                Some(version) if version == one.package.id.version => line.push_str("  listed"),
                Some(version) => line.push_str(&format!("  {version} was accepted")),
                None => {}
            }
            if let Some(declared) = &one.package.declared {
                let place = path_below(root, &one.package.directory);
                line.push_str(&format!("  in {place}, calls itself `{declared}`"));
            }
            ui.print_line(visible_line(&line))?;
        }
    }
    Ok(())
}

/// Names the kinds of a package's texts.
fn render_kinds(one: &ShippingPackage) -> String {
    let kinds = one.count_kinds().into_iter().map(|(kind, count)| match (kind, count) {
        (ShippedKind::Skill, count) => format_count(count, "skill"),
        (ShippedKind::Context, count) => format_count(count, ".context file"),
        (kind, _) => kind.as_str().to_owned(),
    });
    kinds.collect::<Vec<_>>().join(", ")
}

/// Returns the accepted version of a package that the project has chosen.
fn record_of<'r>(package: &Package, recorded: &'r [LockedDependency]) -> Option<&'r str> {
    let is_it = |locked: &&LockedDependency| {
        (locked.id.ecosystem, &locked.id.name) == (package.id.ecosystem, &package.id.name)
    };
    recorded.iter().find(is_it).map(|locked| locked.id.version.as_str())
}

fn shipped_package_json(
    root: &Path,
    one: &ShippingPackage,
    recorded: &[LockedDependency],
) -> Value {
    let Package { id, declared, is_direct, directory, .. } = &one.package;
    let files = one.texts.iter().map(|(text, tokens)| {
        json!({
            "kind": text.file.kind.as_str(),
            "name": text.name,
            "path": path_below(root, &text.path),
            "description": text.description,
            "tokens": tokens,
            "problem": text.problem,
        })
    });
    json!({
        "package": id,
        "declared": declared,
        "direct": is_direct,
        "place": path_below(root, directory),
        "recorded": record_of(&one.package, recorded),
        "tokens": one.tokens(),
        "files": files.collect::<Vec<_>>(),
        "capabilities": one.capabilities,
    })
}
