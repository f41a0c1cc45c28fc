//! A small project from above.

use std::path::Path;

use brief_syntax::walk::Ignored;
use brief_system::MemorySystem;

use super::*;
use crate::sees::{Delivery, MissingCause};
use crate::{CatalogScope, Dialects, Root, Strangers, Target, TargetKind, estimate_tokens};

const ROOT: &str = "
context:
  - content: one two three
  - {content: only python, match: ['**/*.py'], exclude: ['src/gen/**']}
  - {content: dead, match: ['lib/**']}
  - {content: hidden, match: ['src/gen/**'], exclude: ['**/gen/*']}
  - {content: about a directory, match: ['src/']}
  - {content: broken, when: sometimes}
  - {content: 'twice here', match: ['src/a.py']}
";
const SRC: &str = "context:\n  - {content: 'twice here', match: ['*.py']}\n";

fn system() -> MemorySystem {
    MemorySystem::new("/p")
        .with_file("AGENTS.yaml", ROOT)
        .with_file("src/AGENTS.yaml", SRC)
        .with_file("src/a.py", "")
        .with_file("src/b.py", "")
        .with_file("src/gen/c.py", "")
        .with_file("docs/d.md", "")
}

fn whole(system: &MemorySystem) -> Catalog {
    let root = Root::open(system, Path::new("/p")).unwrap();
    let top = Target::from_slashed("", TargetKind::Directory);
    let scope = CatalogScope {
        start: &top,
        ignored: Ignored::Skip,
        dialects: Dialects::All,
        strangers: Strangers::LeftOut,
    };
    Catalog::read_project(system, &root, scope)
}

fn survey(catalog: &Catalog) -> Survey<'_> {
    Survey::from_catalog(catalog, Path::new("/p"), &Moment::default(), &estimate_tokens).unwrap()
}

#[test]
fn each_item_knows_its_files() {
    let catalog = whole(&system());
    let survey = survey(&catalog);
    let found: Vec<_> = survey
        .items
        .iter()
        .map(|of| (of.item.content, of.files, of.is_idle(), of.directory.as_deref()))
        .collect();
    assert_eq!(
        found,
        [
            ("one two three", 6, false, Some("")),
            ("only python", 2, false, Some("")),
            ("dead", 0, true, Some("")),
            ("hidden", 0, true, Some("")),
            ("about a directory", 0, false, Some("")),
            ("twice here", 1, false, Some("")),
            ("twice here", 2, false, Some("src")),
        ]
    );
    assert_eq!(survey.left_out.len(), 1, "the broken one");
}

/// Every file costs what its own answer costs.
#[test]
fn costs_are_those_of_the_answers() {
    let catalog = whole(&system());
    let survey = survey(&catalog);
    for (path, &cost_of_file) in catalog.files().unwrap().files.iter().zip(&survey.costs) {
        let target = Some(Target::from_slashed(path, TargetKind::File));
        let moment = Moment { target, ..Moment::default() };
        let answer = catalog.resolve_moment(&moment);
        let tokens: usize =
            answer.items.iter().map(|applied| item_cost(&applied.item, &estimate_tokens)).sum();
        assert_eq!(cost_of_file, tokens, "{path}");
    }
    let moment = Moment::default();
    let all = catalog.resolve_moment(&moment);
    let tokens: usize = all.items.iter().map(|of| item_cost(&of.item, &estimate_tokens)).sum();
    assert_eq!(survey.tokens, tokens);
}

#[test]
fn directories_have_a_least_and_a_most() {
    let catalog = whole(&system());
    let places = survey(&catalog).surveyed_directories();
    let of = |place: &SurveyedDirectory| {
        (place.path.clone(), place.items, place.least, place.most, place.files)
    };
    assert_eq!(
        places.iter().map(of).collect::<Vec<_>>(),
        [
            (Some(String::new()), 6, Some(3), Some(7), 6),
            (Some("src".to_owned()), 1, Some(3), Some(7), 4),
        ]
    );
}

/// Asking about each file in turn comes to the same.
#[test]
fn a_dialect_may_be_asked_about_each_file() {
    let catalog = whole(&system());
    let files = catalog.files().unwrap();
    let (mut quick, mut slow) = (Vec::new(), Vec::new());
    let tell = |list: &mut Vec<(String, Vec<usize>)>, reached: brief_dialects::ItemReach<'_>| {
        if let Candidate::Item(item) = reached.candidate
            && !reached.files.is_empty()
        {
            let place = format!("{}:{}", item.path.display(), item.line);
            list.push((place, reached.files.iter().collect()));
        }
    };
    catalog.collect_reach(&Moment::default(), &mut |reached| tell(&mut quick, reached));
    for (file, path) in files.files.iter().enumerate() {
        let target = Some(Target::from_slashed(path, TargetKind::File));
        for Applied { item, .. } in
            catalog.collect_candidates(&Moment { target, ..Moment::default() }).items
        {
            let place = format!("{}:{}", item.path.display(), item.line);
            match slow.iter_mut().find(|(known, _): &&mut (String, Vec<usize>)| *known == place) {
                Some((_, files)) => files.push(file),
                None => slow.push((place, vec![file])),
            }
        }
    }
    quick.sort_unstable();
    slow.sort_unstable();
    assert_eq!(quick, slow);
}

fn gaps(system: &MemorySystem, directory: &str) -> Vec<String> {
    let catalog = whole(system);
    let gaps = survey(&catalog).find_gaps(Path::new("/p"), directory);
    let words = |gap: &CoverageGap<'_>| {
        let CoverageGap { directory, is_deep, files, of, names } = gap;
        let deep = if *is_deep { "/**" } else { "" };
        format!("{directory}{deep} {files}/{of} {}", names.join(",")).trim_end().to_owned()
    };
    gaps.iter().map(words).collect()
}

#[test]
fn files_without_guidance_are_told_by_directory() {
    assert_eq!(gaps(&system(), ""), [""; 0]);
    let system = MemorySystem::new("/p")
        .with_file("AGENTS.yaml", "context:\n  - {content: x, match: ['a/b.py', 'c/**']}\n")
        .with_file("a/b.py", "")
        .with_file("a/b/x", "")
        .with_file("a/b-c", "")
        .with_file("a/b.txt", "")
        .with_file("c/d/e", "")
        .with_file("f/g/h", "")
        .with_file("f/i", "");
    assert_eq!(gaps(&system, ""), ["a 2/3 b-c,b.txt", "a/b/** 1/1", "f/** 2/2"]);
    assert_eq!(gaps(&system, "f/g"), ["f/g/** 1/1"]);
    assert_eq!(gaps(&MemorySystem::new("/p"), ""), [""; 0]);
}

/// The sums of a client are those of its rows: what is missing without a hook is delivered with one.
#[test]
fn clients_share_what_there_is() {
    let catalog = whole(&system());
    let survey = survey(&catalog);
    let none = Delivery::with_missing_hook(MissingCause::NoHook, "no hook", None);
    let viewers = [
        Viewer::new(&Moment::default(), "claude", Delivery::by_hook("hooks.json")),
        Viewer::new(&Moment::default(), "codex", none),
    ];
    let shares = survey.client_shares(&catalog, Path::new("/p"), &viewers, &estimate_tokens);
    let share = |client: &str, delivered, missing| Share {
        client: client.to_owned(),
        loaded: 0,
        listed: 0,
        delivered,
        missing,
    };
    assert_eq!(shares, [share("claude", survey.tokens, 0), share("codex", 0, survey.tokens)]);
    let sees = survey.tabulate_sees(&catalog, Path::new("/p"), &viewers, &estimate_tokens);
    assert_eq!(sees.totals[0].delivered, survey.tokens);
    assert_eq!(sees.totals[1].missing, survey.tokens);
}

#[test]
fn a_level_tells_the_directory() {
    let of = |path: &str, level| directory_of(Path::new("/p"), Path::new(path), level);
    let at = |directory: &str| Level::of_directory(Path::new(directory), false);
    assert_eq!(of("/p/.claude/rules/a.md", at("/p")).as_deref(), Some(""));
    assert_eq!(of("/p/a/b/AGENTS.md", at("/p/a/b")).as_deref(), Some("a/b"));
    assert_eq!(of("/AGENTS.md", at("/")).as_deref(), Some(""));
    assert_eq!(of("/home/u/.context/a.md", Level::of_user(false)), None);
}
