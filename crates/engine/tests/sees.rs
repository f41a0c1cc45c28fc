//! Properties of the table of items and clients, over random projects, clients and hooks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use arbtest::arbitrary::{self, Unstructured};
use brief_engine::sees::{Arrival, Delivery, MissingCause, SeenItem, Sees, Sight, Total, Viewer};
use brief_engine::survey::Survey;
use brief_engine::{
    Catalog, CatalogScope, Dialects, Moment, Root, State, Strangers, Target, TargetKind, budget,
    estimate_tokens,
};
use brief_profiles::BUILTIN;
use brief_syntax::walk::Ignored;
use brief_system::MemorySystem;

const DIRECTORIES: [&str; 3] = ["", "a/", "a/b/"];
const PATHS: [&str; 5] = ["x.ts", "a/x.ts", "a/b/x.py", "a/b/", "./"];

/// Places of files, and texts that they may hold. Some texts are in several places.
const PLACES: [(&str, &[&str]); 12] = [
    ("AGENTS.md", &["One text.\n", "Another text.\n"]),
    ("CLAUDE.md", &["@AGENTS.md\n", "One text.\n", "For Claude.\n"]),
    ("GEMINI.md", &["One text.\n", "For Gemini.\n"]),
    (".claude/rules/r.md", &["---\npaths: ['**/*.ts']\n---\nA rule.\n", "One text.\n"]),
    (
        ".cursor/rules/r.mdc",
        &[
            "---\nglobs: **/*.py\n---\nA rule.\n",
            "---\ndescription: d\nalwaysApply: false\n---\nTold.\n",
            "---\nalwaysApply: false\n---\nMentioned.\n",
        ],
    ),
    (".github/copilot-instructions.md", &["One text.\n", "For Copilot.\n"]),
    (".claude/skills/s/SKILL.md", &["---\nname: s\ndescription: Does s.\n---\nSteps.\n"]),
    (".agents/skills/s/SKILL.md", &["---\nname: s\ndescription: Does s.\n---\nSteps.\n"]),
    (".cursor/skills/s/SKILL.md", &["---\nname: s\ndescription: Does s.\n---\nOther.\n"]),
    (".context/a.md", &["---\ntrigger: agent\ndescription: d\n---\nOne text.\n", "One text.\n"]),
    (
        "AGENTS.yaml",
        &[
            "context: [{content: One text.}, {content: One text.}, {content: A rule.}]\n",
            "context:\n  - {content: Only TypeScript., match: ['**/*.ts']}\n",
            "decisions:\n  - {decision: Use it., rationale: It works.}\n",
        ],
    ),
    ("AGENTS.yml", &["context: [{content: Another text., match: ['**']}]\n"]),
];

/// Links to files of other names.
const LINKS: [(&str, &str); 3] =
    [("CLAUDE.md", "AGENTS.md"), (".agents/AGENTS.md", "../AGENTS.md"), ("GEMINI.md", "AGENTS.md")];

const CAUSES: [MissingCause; 5] = [
    MissingCause::NoHook,
    MissingCause::SwitchedOff,
    MissingCause::ProgramNotFound,
    MissingCause::NotApproved,
    MissingCause::NotSupported,
];

fn project(bytes: &mut Unstructured<'_>) -> arbitrary::Result<MemorySystem> {
    let mut files: BTreeMap<String, &str> = BTreeMap::new();
    for directory in DIRECTORIES {
        for (name, texts) in PLACES {
            if bytes.ratio(1, 3)? {
                files.insert(format!("{directory}{name}"), bytes.choose(texts)?);
            }
        }
    }
    let mut system = MemorySystem::new("/p").with_file("a/b/x.py", "").with_file("x.ts", "");
    for directory in DIRECTORIES {
        for (name, target) in LINKS {
            let path = format!("{directory}{name}");
            if bytes.ratio(1, 4)? && !files.contains_key(&path) {
                system = system.with_link(&path, target);
            }
        }
    }
    Ok(files.into_iter().fold(system, |system, (path, text)| system.with_file(&path, text)))
}

fn viewers(bytes: &mut Unstructured<'_>, moment: &Moment) -> arbitrary::Result<Vec<Viewer>> {
    let names = BUILTIN.names();
    let mut viewers: Vec<Viewer> = Vec::new();
    for _ in 0..bytes.int_in_range(1..=4)? {
        let client = *bytes.choose(&names)?;
        let delivery = if bytes.ratio(1, 2)? {
            Delivery::by_hook("hooks.json")
        } else {
            Delivery::with_missing_hook(*bytes.choose(&CAUSES)?, "it is not there", None)
        };
        if viewers.iter().all(|viewer| viewer.client != client) {
            viewers.push(Viewer::new(moment, client, delivery));
        }
    }
    Ok(viewers)
}

/// Returns the sums of a column, by state.
fn sums(sees: &Sees<'_>, column: usize) -> Total {
    let of = |how: Arrival| {
        let sights = sees.items.iter().map(|item| &item.seen[column]);
        sights.filter(|sight| sight.how == how).map(|sight| sight.tokens).sum()
    };
    Total {
        loaded: of(Arrival::Loaded),
        listed: of(Arrival::Listed),
        delivered: of(Arrival::Delivered),
        missing: of(Arrival::Missing),
    }
}

/// Checks what every table keeps, whatever it is about.
fn check_table(sees: &Sees<'_>, viewers: &[Viewer]) {
    let rows: BTreeSet<(String, usize, String, &str)> = sees
        .items
        .iter()
        .map(|item| {
            (item.path.display().to_string(), item.line, item.name.to_string(), item.dialect)
        })
        .collect();
    assert_eq!(rows.len(), sees.items.len(), "a row is there twice");
    for (column, viewer) in viewers.iter().enumerate() {
        assert_eq!(sees.totals[column], sums(sees, column), "{}: rows and total", viewer.client);
        let missing = viewer.delivery.missing_hook().map(|missing| missing.cause);
        for item in &sees.items {
            let sight = &item.seen[column];
            let place = format!("{} for {}: {sight:?}", item.path.display(), viewer.client);
            check_sight(sight, missing, &place);
            if let Some(same) = &sight.same_as {
                let named = |other: &&SeenItem<'_>| {
                    other.path == Path::new("/p").join(&same.path) && other.line == same.line
                };
                let mut named = sees.items.iter().filter(named).map(|other| other.seen[column].how);
                let is_there = named.any(|how| !matches!(how, Arrival::Same | Arrival::Skipped));
                assert!(is_there, "{place} names nothing that the client has");
            }
        }
    }
}

fn check_sight(sight: &Sight, missing: Option<MissingCause>, place: &str) {
    let counts = matches!(
        sight.how,
        Arrival::Loaded | Arrival::Listed | Arrival::Delivered | Arrival::Missing
    );
    assert!(counts || sight.tokens == 0, "{place} counts");
    assert_eq!(sight.how == Arrival::Same, sight.same_as.is_some(), "{place}");
    let is_missing = sight.how == Arrival::Missing;
    assert_eq!(sight.cause, missing.filter(|_| is_missing), "{place}: no cause, or another one");
    assert!(!is_missing || missing.is_some(), "{place} is missing in spite of a hook");
    assert!(sight.how != Arrival::Delivered || missing.is_none(), "{place} without a hook");
    assert!(!sight.reason.is_empty(), "{place} has no reason");
}

/// The rows of a client, its sums and what a hook would deliver agree, for any project, file, clients and hooks.
#[test]
fn rows_and_totals_agree() {
    arbtest::arbtest(|bytes| {
        let system = project(bytes)?;
        let root = Root::open(&system, Path::new("/p")).expect("the root is there");
        let path = Path::new(*bytes.choose(&PATHS)?);
        let moment = Moment::from_path(&system, root.clone(), root.path(), path);
        let viewers = viewers(bytes, &moment)?;
        let catalog = Catalog::read_for_moment(&system, &moment);
        let sees = Sees::from_catalog(&catalog, root.path(), &viewers, &estimate_tokens);
        check_table(&sees, &viewers);
        for (viewer, total) in viewers.iter().zip(&sees.totals) {
            let answer = catalog.resolve_moment(&viewer.moment);
            let due = |state: State| -> usize {
                let items = answer.items.iter().filter(|applied| applied.item.state == state);
                items.map(|applied| budget::item_cost(&applied.item, &estimate_tokens)).sum()
            };
            let (active, listed) = (due(State::Active), due(State::Listed));
            if viewer.delivery.missing_hook().is_some() {
                assert_eq!((total.delivered, total.missing), (0, active + listed));
            } else {
                assert_eq!((total.delivered, total.missing), (active, 0));
                assert!(total.listed >= listed, "{total:?} {listed}");
            }
        }
        Ok(())
    });
}

/// The same for a whole project, whose shares are the sums of its matrix.
#[test]
fn the_matrix_of_a_project_agrees_with_its_shares() {
    arbtest::arbtest(|bytes| {
        let system = project(bytes)?;
        let root = Root::open(&system, Path::new("/p")).expect("the root is there");
        let top = Target::from_slashed("", TargetKind::Directory);
        let scope = CatalogScope {
            start: &top,
            ignored: Ignored::Visit,
            dialects: Dialects::All,
            strangers: Strangers::LeftOut,
        };
        let catalog = Catalog::read_project(&system, &root, scope);
        let moment = Moment { root: root.clone(), ..Moment::default() };
        let viewers = viewers(bytes, &moment)?;
        let survey = Survey::from_catalog(&catalog, root.path(), &moment, &estimate_tokens)
            .expect("the whole project was read");
        let sees = survey.tabulate_sees(&catalog, root.path(), &viewers, &estimate_tokens);
        check_table(&sees, &viewers);
        let shares = survey.client_shares(&catalog, root.path(), &viewers, &estimate_tokens);
        for (share, total) in shares.iter().zip(&sees.totals) {
            let Total { loaded, listed, delivered, missing } = *total;
            assert_eq!(
                (share.loaded, share.listed, share.delivered, share.missing),
                (loaded, listed, delivered, missing)
            );
        }
        Ok(())
    });
}
