//! Two states of a project in memory.

use std::path::Path;

use brief_syntax::Root;
use brief_syntax::walk::Ignored;
use brief_system::MemorySystem;

use super::*;
use crate::{Action, CatalogScope, Dialects, Strangers};

fn catalog(files: &[(&str, &str)]) -> Catalog {
    let system = files
        .iter()
        .fold(MemorySystem::new("/p"), |system, (path, content)| system.with_file(path, content));
    let root = Root::open(&system, Path::new("/p")).unwrap();
    let start = Target::from_slashed("", TargetKind::Directory);
    let scope = CatalogScope {
        start: &start,
        ignored: Ignored::Visit,
        dialects: Dialects::All,
        strangers: Strangers::LeftOut,
    };
    Catalog::read_project(&system, &root, scope)
}

/// The files that guidance is about.
const CODE: [&str; 4] = ["src/a.py", "src/b.py", "src/c.ts", "docs/d.md"];

/// Compares two states of `AGENTS.yaml` in a project with some files.
fn changes_with(moment: &Moment, before: &str, after: &str) -> Vec<String> {
    let state = |text| {
        let mut files: Vec<(&str, &str)> = CODE.iter().map(|&path| (path, "")).collect();
        files.push(("AGENTS.yaml", text));
        catalog(&files)
    };
    let (before, after) = (state(before), state(after));
    let changed = [ChangedFile { path: "AGENTS.yaml".to_owned(), is_linked: false }];
    let asked = DiffQuestion { moment, changed: &changed, within: &[] };
    shown(&compare_catalogs(&before, &after, &asked))
}

fn shown(comparison: &Comparison<'_>) -> Vec<String> {
    let line = |change: &ItemChange<'_>| {
        let piece = change.piece();
        let parts = comparison.cover_change(change).parts;
        let paths: Vec<_> = parts.iter().map(|part| part.path.as_str()).collect();
        let text = |piece: &Option<DiffPiece<'_>>| {
            piece.as_ref().map_or("-".to_owned(), |piece| piece.text.trim().to_owned())
        };
        let (before, after) = (text(&change.before), text(&change.after));
        format!(
            "{} {}: {before} > {after} for {}",
            change.kind.as_str(),
            piece.name,
            paths.join(" ")
        )
    };
    comparison.changes.iter().map(line).collect()
}

fn changes(before: &str, after: &str) -> Vec<String> {
    changes_with(&Moment::default(), before, after)
}

#[test]
fn nothing_changes_by_itself() {
    let text = "context:\n  - content: One.\n  - content: Two.\n";
    assert_eq!(changes(text, text), Vec::<String>::new());
    let comment = "# A remark.\ncontext:\n  - content: One.\n  - content: Two.\n";
    assert_eq!(changes(text, comment), Vec::<String>::new());
}

#[test]
fn an_entry_that_comes_first_does_not_change_the_others() {
    let before = "context:\n  - content: One.\n  - content: Two.\n";
    let after = "context:\n  - content: Zero.\n    match: ['**/*.py']\n  - content: One.\n  - content: Two.\n";
    assert_eq!(changes(before, after), ["added context[0]: - > Zero. for src/a.py src/b.py"]);
    assert_eq!(changes(after, before), ["removed context[0]: Zero. > - for src/a.py src/b.py"]);
}

#[test]
fn a_changed_text_is_found_wherever_it_went() {
    let before = "context:\n  - content: Prices are integers in cents.\n    match: ['src/**']\n";
    let after = "context:\n  - content: Something else.\n    match: ['docs/**']\n  - content: Prices are integers in euros.\n    match: ['src/**']\n";
    assert_eq!(
        changes(before, after),
        [
            "added context[0]: - > Something else. for docs/d.md",
            "text context[1]: Prices are integers in cents. > Prices are integers in euros. for src/",
        ]
    );
}

#[test]
fn a_text_in_the_same_place_is_the_same_entry() {
    let entry = |text: &str| format!("context:\n  - content: {text}\n");
    assert_eq!(
        changes(&entry("Tabs."), &entry("Spaces only.")),
        ["text context[0]: Tabs. > Spaces only. for ./"]
    );
}

#[test]
fn a_pattern_decides_for_which_files() {
    let entry = |pattern: &str| format!("context:\n  - content: T\n    match: ['{pattern}']\n");
    assert_eq!(
        changes(&entry("src/*.py"), &entry("src/*.ts")),
        ["added context[0]: - > T for src/c.ts", "removed context[0]: T > - for src/a.py src/b.py"]
    );
}

#[test]
fn order_counts_and_the_fewest_are_blamed() {
    let list = |names: &[&str]| {
        let entries: Vec<_> = names.iter().map(|name| format!("  - content: {name}\n")).collect();
        format!("context:\n{}", entries.concat())
    };
    assert_eq!(
        changes(&list(&["One.", "Two.", "Three."]), &list(&["Three.", "One.", "Two."])),
        ["order context[0]: Three. > Three. for ./"]
    );
}

#[test]
fn decisions_are_compared_with_all_they_say() {
    let decision =
        |why: &str| format!("decisions:\n  - decision: One repository\n    rationale: {why}\n");
    assert_eq!(
        changes(&decision("Reviews."), &decision("One review.")),
        [
            "text decisions[0]: One repository\nrationale: Reviews. > One repository\nrationale: One review. for ./"
        ]
    );
}

#[test]
fn a_moment_narrows_what_is_compared() {
    let entry = |on: &str| format!("context:\n  - content: T\n    on: {on}\n");
    let moment = |action| Moment { action: Some(action), ..Moment::default() };
    let (before, after) = (entry("edit"), entry("create"));
    assert_eq!(changes(&before, &after), Vec::<String>::new());
    assert_eq!(
        changes_with(&moment(Action::Edit), &before, &after),
        ["removed context[0]: T > - for ./"]
    );
    assert_eq!(
        changes_with(&moment(Action::Create), &before, &after),
        ["added context[0]: - > T for ./"]
    );
}

#[test]
fn the_same_text_from_elsewhere_has_moved() {
    let text = "context:\n  - content: Speak plainly.\n";
    let before = catalog(&[("src/a.py", ""), ("docs/d.md", ""), ("AGENTS.yaml", text)]);
    let after = catalog(&[("src/a.py", ""), ("docs/d.md", ""), ("src/AGENTS.yaml", text)]);
    let changed = ["AGENTS.yaml", "src/AGENTS.yaml"]
        .map(|path| ChangedFile { path: path.to_owned(), is_linked: false });
    let moment = Moment::default();
    let asked = DiffQuestion { moment: &moment, changed: &changed, within: &[] };
    let comparison = compare_catalogs(&before, &after, &asked);
    assert_eq!(
        shown(&comparison),
        [
            "removed context[0]: Speak plainly. > - for docs/d.md",
            "moved context[0]: Speak plainly. > Speak plainly. for src/",
        ]
    );
    assert_eq!((comparison.changed_file_count(), comparison.file_count()), (3, 3));
}

/// The cost depends on what the changed files can reach.
#[test]
fn only_what_a_changed_file_reaches_is_looked_at() {
    let text = |text: &str| format!("context:\n  - content: {text}\n");
    let (old, new) = (text("Old."), text("New."));
    let files = |text| [("a/f", ""), ("b/f", ""), ("a/AGENTS.yaml", text), ("b/AGENTS.yaml", text)];
    let (before, after) = (catalog(&files(&old)), catalog(&files(&new)));
    let moment = Moment::default();
    let run = |is_linked, within: &[String]| {
        let changed = [ChangedFile { path: "a/AGENTS.yaml".to_owned(), is_linked }];
        shown(&compare_catalogs(
            &before,
            &after,
            &DiffQuestion { moment: &moment, changed: &changed, within },
        ))
    };
    let (a, b) = ("text context[0]: Old. > New. for a/", "text context[0]: Old. > New. for b/");
    assert_eq!(run(false, &[]), [a]);
    assert_eq!(run(true, &[]), [a, b]);
    assert_eq!(run(true, &["b".to_owned()]), [b]);
    assert_eq!(run(true, &["b/f".to_owned()]), ["text context[0]: Old. > New. for b/f"]);
    let nothing = DiffQuestion { moment: &moment, changed: &[], within: &[] };
    assert_eq!(compare_catalogs(&before, &after, &nothing).changed_file_count(), 0);
}

/// However many files there are, those on the way to a path are found, in their order.
#[test]
fn many_files_are_looked_up_and_few_looked_through() {
    let text = |text: &str| format!("context:\n  - content: {text}\n");
    let paths: Vec<String> = (0..30).map(|number| format!("d{number}/AGENTS.yml")).collect();
    let (top, deep) = (text("Top."), text("Deep."));
    let mut files = vec![("AGENTS.yaml", top.as_str()), ("d1/e/AGENTS.yaml", deep.as_str())];
    let each: Vec<String> = (0..30).map(|number| text(&format!("At {number}."))).collect();
    files.extend(paths.iter().map(String::as_str).zip(each.iter().map(String::as_str)));
    let catalog = catalog(&files);
    let told = |path, kind| {
        let target = Some(Target::from_slashed(path, kind));
        let moment = Moment { target, ..Moment::default() };
        let answer = catalog.collect_candidates(&moment);
        answer.items.iter().map(|applied| applied.item.content.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(told("d1/e/f", TargetKind::File), ["Top.", "At 1.", "Deep."]);
    assert_eq!(told("d1/e", TargetKind::File), ["Top.", "At 1."]);
    assert_eq!(told("d1/e", TargetKind::Directory), ["Top.", "At 1.", "Deep."]);
    assert_eq!(told("", TargetKind::Directory), ["Top."]);
}
