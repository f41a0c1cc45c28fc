//! Properties of any project with guidance in every format, and any question about it.

use std::collections::BTreeMap;
use std::path::Path;

use arbtest::arbitrary::{self, Unstructured};
use brief_engine::{
    Action, Candidate, Catalog, CatalogScope, Dialects, Moment, Reason, Resolution, Root,
    Strangers, Target, TargetKind, budget, estimate_tokens,
};
use brief_profiles::BUILTIN;
use brief_syntax::walk::Ignored;
use brief_system::MemorySystem;

const DIRECTORIES: [&str; 5] = ["", "a/", "a/b/", "c/", "/home/"];
const PATHS: [&str; 6] = ["x.ts", "a/x.ts", "a/b/x.py", "a/b/", "c/new/x.ts", "./"];

/// A place of each dialect, and texts that it may hold.
const PLACES: [(&str, &[&str]); 15] = [
    ("AGENTS.md", &["One text.\n", "Another text.\n"]),
    ("CLAUDE.md", &["@AGENTS.md\n", "One text.\n", "For Claude.\n"]),
    (".claude/rules/r.md", &["---\npaths: ['**/*.ts']\n---\nA rule.\n", "One text.\n"]),
    (
        ".cursor/rules/r.mdc",
        &["---\nglobs: **/*.py\n---\nA rule.\n", "---\ndescription: d\n---\nTold.\n"],
    ),
    (".github/copilot-instructions.md", &["One text.\n", "For Copilot.\n"]),
    (
        ".github/instructions/i.instructions.md",
        &["---\napplyTo: 'B/**,x.ts'\n---\nA rule.\n", "---\napplyTo: '**/*.py'\n---\nOne text.\n"],
    ),
    (".claude/skills/s/SKILL.md", &["---\nname: s\ndescription: Does s.\n---\nSteps.\n"]),
    (
        ".agents/skills/s/SKILL.md",
        &[
            "---\nname: s\ndescription: Does s.\n---\nSteps.\n",
            "---\nname: s\ndescription: Does s.\n---\nOther steps.\n",
        ],
    ),
    (".agents/rules/all.md", &["One text.\n", "---\nagent: cursor\n---\nA rule.\n"]),
    (".agents/rules/task.md", &["---\ntask_names: [t]\n---\nFor a task.\n"]),
    (".agents/tasks/t.md", &["Do it.\n"]),
    (
        "agents/dev_x.agent.md",
        &["---\nversion: '1.0.0'\nicon: x\n---\n# X\n\nDoes x.\n\n## System\n\nX.\n", "broken"],
    ),
    (".context/always.md", &["One text.\n", "Hosted.\n"]),
    (
        ".context/auto.md",
        &[
            "---\ntrigger: auto\nglobs: '**/*.ts'\n---\nHosted for some.\n",
            "---\ntrigger: manual\n---\nM.\n",
        ],
    ),
    (
        "AGENTS.yaml",
        &[
            "context:\n- content: One text.\n- content: Structured.\n  match: ['*.ts']\n  on: edit\n- content: [bad]\n",
            "context:\n- content: A rule.\n  exclude: ['**/*.py']\n",
        ],
    ),
];

/// Generated files: path to text.
type Files = BTreeMap<String, &'static str>;

fn files(bytes: &mut Unstructured<'_>) -> arbitrary::Result<Files> {
    let mut files = Files::new();
    for directory in DIRECTORIES {
        for (place, texts) in PLACES {
            if bytes.ratio(1, 3)? {
                files.insert(format!("{directory}{place}"), bytes.choose(texts)?);
            }
        }
    }
    if bytes.ratio(1, 2)? {
        let lock = "[[item]]\nkind = \"rule\"\nname = \"r\"\nfiles = [\n  \".claude/rules/r.md 0\",\n  \".cursor/rules/r.mdc 0\",\n]\n";
        files.insert("brief.lock".to_owned(), lock);
    }
    Ok(files)
}

fn system<'f>(files: impl Iterator<Item = (&'f String, &'f &'static str)>) -> MemorySystem {
    let system = MemorySystem::new("/p").with_env("HOME", "/home").with_dir("/home");
    files.fold(system, |system, (path, text)| system.with_file(path, text))
}

fn moment(bytes: &mut Unstructured<'_>) -> arbitrary::Result<Moment> {
    let clients: Vec<Option<&str>> =
        BUILTIN.names().into_iter().map(Some).chain([None; 8]).collect();
    Ok(Moment {
        action: *bytes.choose(&[None, Some(Action::Read), Some(Action::Edit)])?,
        client: bytes.choose(&clients)?.map(str::to_owned),
        task: bytes.choose(&[None, Some("t")])?.map(str::to_owned),
        ..Moment::default()
    })
}

/// Reads what a question about one path needs, and makes it the question.
fn about(system: &MemorySystem, path: &str, moment: Moment) -> (Catalog, Moment) {
    let root = Root::open(system, Path::new("/p")).expect("the root is a directory");
    let about = Moment::from_path(system, root, Path::new("/p"), Path::new(path));
    let Moment { root, path, target, .. } = about;
    let moment = Moment { root, path, target, ..moment };
    (Catalog::read_for_moment(system, &moment), moment)
}

fn in_words(answer: &Resolution<'_>) -> Vec<String> {
    let items = answer.items.iter().map(|applied| {
        let (item, reason) = (&applied.item, applied.reason.display_with_path(""));
        let (path, state) = (item.path.display(), item.state.as_str());
        let also = applied.also.len();
        format!(
            "{state} {} {path}:{} {} {} {reason} {also}",
            item.dialect, item.line, item.name, item.scope
        )
    });
    let left_out = answer.left_out.iter().map(|out| {
        let (path, reason) = (out.path.display(), out.reason.display_with_path(""));
        format!("out {} {path}:{} {} {reason}", out.dialect, out.line, out.name)
    });
    items.chain(left_out).collect()
}

/// "Order is stable": general first, whatever order the files came in.
#[test]
fn the_order_is_stable_and_general_first() {
    arbtest::arbtest(|bytes| {
        let files = files(bytes)?;
        let (path, asked) = (*bytes.choose(&PATHS)?, moment(bytes)?);
        let (forward, backward) = (system(files.iter()), system(files.iter().rev()));
        let (catalog, now) = about(&forward, path, asked.clone());
        let (other, _) = about(&backward, path, asked);
        let answer = catalog.resolve_moment(&now);
        assert_eq!(in_words(&answer), in_words(&other.resolve_moment(&now)));
        assert!(answer.items.is_sorted_by_key(|applied| applied.item.level), "{answer:#?}");
        assert!(answer.left_out.is_sorted_by_key(|left_out| left_out.level), "{answer:#?}");
        Ok(())
    });
}

/// "Removing an unrelated file changes nothing": one in a directory that is not on the way.
#[test]
fn a_file_that_is_not_on_the_way_makes_no_difference() {
    arbtest::arbtest(|bytes| {
        let mut files = files(bytes)?;
        let asked = moment(bytes)?;
        let before = system(files.iter());
        let (catalog, now) = about(&before, "a/x.ts", asked.clone());
        files.retain(|path, _| !path.starts_with("a/b/") && !path.starts_with("c/"));
        let after = system(files.iter());
        let (other, _) = about(&after, "a/x.ts", asked);
        assert_eq!(in_words(&catalog.resolve_moment(&now)), in_words(&other.resolve_moment(&now)));
        Ok(())
    });
}

/// "An item is either in `items` or in `left_out`", and none is lost; no text is delivered twice.
#[test]
fn every_candidate_is_in_or_out() {
    arbtest::arbtest(|bytes| {
        let system = system(files(bytes)?.iter());
        let asked = moment(bytes)?;
        let (catalog, now) = about(&system, bytes.choose(&PATHS)?, asked);
        let places = |answer: &Resolution<'_>| {
            let items = answer.items.iter().map(|applied| &applied.item);
            let items = items.map(|item| (item.path.to_owned(), item.line, item.name.to_string()));
            let out = answer.left_out.iter();
            let out = out.map(|out| (out.path.to_owned(), out.line, out.name.to_string()));
            let mut places: Vec<_> = items.chain(out).collect();
            places.sort();
            places
        };
        let answer = catalog.resolve_moment(&now);
        let all = places(&answer);
        assert_eq!(all, places(&catalog.collect_candidates(&now)));
        let once: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(once.len(), all.len(), "{answer:#?}");
        let active = answer.items.iter().map(|applied| &applied.item);
        let mut texts: Vec<_> = active
            .filter(|item| item.state == brief_engine::State::Active)
            .map(|item| item.content.trim())
            .collect();
        let count = texts.len();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), count, "{answer:#?}");
        Ok(())
    });
}

/// "The budget is never exceeded": what is cut is the most general, and it is told.
#[test]
fn a_budget_holds_and_cuts_the_most_general() {
    arbtest::arbtest(|bytes| {
        let system = system(files(bytes)?.iter());
        let asked = moment(bytes)?;
        let (catalog, now) = about(&system, bytes.choose(&PATHS)?, asked);
        let whole = catalog.resolve_moment(&now);
        let mut answer = catalog.resolve_moment(&now);
        let limit = bytes.int_in_range(0..=60)?;
        budget::cut_to_budget(&mut answer, limit, &estimate_tokens);
        let cost = |answer: &Resolution<'_>| -> usize {
            let items = answer.items.iter();
            items.map(|applied| budget::item_cost(&applied.item, &estimate_tokens)).sum()
        };
        assert!(cost(&answer) <= limit, "{answer:#?}");
        let is_cut = |reason: &Reason<'_>| matches!(reason, Reason::OverBudget { .. });
        let cut = answer.left_out.iter().filter(|left_out| is_cut(&left_out.reason)).count();
        assert_eq!(cut, whole.items.len() - answer.items.len());
        // What is left is the end of what there was, but for what costs nothing.
        let kept: Vec<_> = answer.items.iter().map(brief_engine::Applied::origin).collect();
        let mut costly = whole
            .items
            .iter()
            .filter(|applied| budget::item_cost(&applied.item, &estimate_tokens) > 0);
        let first = costly.clone().position(|applied| kept.contains(&applied.origin()));
        let rest = first.map(|first| costly.by_ref().skip(first).collect::<Vec<_>>());
        assert!(rest.into_iter().flatten().all(|applied| kept.contains(&applied.origin())));
        // One more would be too much.
        if cut > 0 {
            let last = answer.left_out.iter().rev().find_map(|left_out| match left_out.reason {
                Reason::OverBudget { tokens, .. } => Some(tokens),
                _ => None,
            });
            assert!(cost(&answer) + last.unwrap_or_default() > limit || last.is_none());
        }
        Ok(())
    });
}

/// All of a project read at once gives the same answer for every path.
#[test]
fn the_whole_project_answers_as_the_way_to_a_path_does() {
    arbtest::arbtest(|bytes| {
        let system = system(files(bytes)?.iter());
        let root = Root::open(&system, Path::new("/p")).unwrap();
        let top = Target::from_slashed("", TargetKind::Directory);
        let scope = CatalogScope {
            start: &top,
            ignored: Ignored::Skip,
            dialects: Dialects::All,
            strangers: Strangers::LeftOut,
        };
        let whole = Catalog::read_project(&system, &root, scope);
        let asked = moment(bytes)?;
        for path in PATHS {
            let (catalog, now) = about(&system, path, asked.clone());
            let expected = in_words(&catalog.resolve_moment(&now));
            assert_eq!(in_words(&whole.resolve_moment(&now)), expected, "{path}, {asked:?}");
        }
        Ok(())
    });
}

/// Seen from the items, every file has the same answer as when it is asked about: files that are alike
/// are asked about once.
#[test]
fn what_reaches_a_file_is_what_applies_to_it() {
    arbtest::arbtest(|bytes| {
        let mut files = files(bytes)?;
        for path in ["x.ts", "y.ts", "a/x.ts", "a/y.py", "a/z.py", "a/b/x.md", "c/x.ts", "c/y.ts"] {
            files.insert(path.to_owned(), "");
        }
        let mut system = system(files.iter());
        for (link, target) in [("GEMINI.md", "AGENTS.md"), ("a/GEMINI.md", "../AGENTS.md")] {
            if bytes.ratio(1, 2)? {
                system = system.with_link(link, target);
            }
        }
        let root = Root::open(&system, Path::new("/p")).expect("the root is a directory");
        let top = Target::from_slashed("", TargetKind::Directory);
        let scope = CatalogScope {
            start: &top,
            ignored: Ignored::Skip,
            dialects: Dialects::All,
            strangers: Strangers::LeftOut,
        };
        let catalog = Catalog::read_project(&system, &root, scope);
        let asked = moment(bytes)?;
        let all = &catalog.files().expect("all of it was read").files;
        let mut reached = vec![Vec::new(); all.len()];
        catalog.collect_reach(&asked, &mut |found| {
            let words = match &found.candidate {
                Candidate::Item(item) => {
                    format!("{} {}:{}", item.state.as_str(), item.path.display(), item.line)
                }
                Candidate::Loaded(out) => format!("loaded {}:{}", out.path.display(), out.line),
            };
            found.files.iter().for_each(|file| reached[file].push(words.clone()));
        });
        for (path, mut reached) in all.iter().zip(reached) {
            let target = Some(Target::from_slashed(path, TargetKind::File));
            let now = Moment { target, ..asked.clone() };
            let answer = catalog.collect_candidates(&now);
            let items = answer.items.iter().map(|applied| &applied.item);
            let mut expected: Vec<String> = items
                .map(|item| {
                    format!("{} {}:{}", item.state.as_str(), item.path.display(), item.line)
                })
                .collect();
            let loaded = answer
                .left_out
                .iter()
                .filter(|out| matches!(out.reason, Reason::LoadedByClient { .. }));
            expected
                .extend(loaded.map(|out| format!("loaded {}:{}", out.path.display(), out.line)));
            expected.sort();
            reached.sort();
            assert_eq!(reached, expected, "{path}, {asked:?}");
        }
        Ok(())
    });
}
