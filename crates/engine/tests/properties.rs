//! Properties that hold for any project and any question.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;

use arbtest::arbitrary::{self, Unstructured};
use brief_engine::{
    Action, Candidate, Catalog, CatalogScope, Dialects, Item, Moment, Reason, Root, Strangers,
    Target, TargetKind, Timing, structured,
};
use brief_syntax::diagnostic::apply_safe_fixes;
use brief_syntax::walk::Ignored;
use brief_system::MemorySystem;

const DIRECTORIES: [&str; 6] = ["", "a/", "a/b/", "a/b/c/", "d/", "a/d/"];
const PATHS: [&str; 7] = ["x.py", "a/b/x.py", "a/b/c/x.md", "a/b/", "a/", "./", "e/f/x.py"];
const PATTERNS: [&str; 12] =
    ["**", "*", "*.py", "**/*.py", "b/**", "b/", "**/", "./", "{b,d}/**", "b/c/x.py", "x.py", "["];

/// A project of generated context files: path to text.
type Files = BTreeMap<String, String>;
type Question = (&'static str, Option<Action>, Option<Timing>);

fn entry(bytes: &mut Unstructured<'_>, number: usize) -> arbitrary::Result<String> {
    let mut text = format!("- content: entry-{number}\n");
    for field in ["match", "exclude"] {
        if bytes.ratio(1, 2)? {
            let (first, second) = (bytes.choose(&PATTERNS)?, bytes.choose(&PATTERNS)?);
            text.push_str(&format!("  {field}: ['{first}', '{second}']\n"));
        }
    }
    if bytes.ratio(1, 3)? {
        let on = bytes.choose(&["read", "edit", "[create, read]", "all", "bogus"])?;
        text.push_str(&format!("  on: {on}\n"));
    }
    if bytes.ratio(1, 3)? {
        let when = bytes.choose(&["before", "after", "all", "bogus"])?;
        text.push_str(&format!("  when: {when}\n"));
    }
    Ok(text)
}

/// Generates files, and returns them with the number of entries and decisions in them.
fn files(bytes: &mut Unstructured<'_>) -> arbitrary::Result<(Files, usize)> {
    let mut files = Files::new();
    let mut count = 0;
    for directory in DIRECTORIES {
        for name in ["AGENTS.yaml", "AGENTS.yml"] {
            if !bytes.ratio(1, 2)? {
                continue;
            }
            let mut text = String::from("context:\n");
            for _ in 0..bytes.int_in_range(0..=3)? {
                text.push_str(&entry(bytes, count)?);
                count += 1;
            }
            text.push_str("decisions:\n");
            for _ in 0..bytes.int_in_range(0..=2)? {
                let pattern = bytes.choose(&PATTERNS)?;
                let decision = format!("- decision: entry-{count}\n  rationale: R\n");
                text.push_str(&format!("{decision}  match: ['{pattern}']\n"));
                count += 1;
            }
            files.insert(format!("{directory}{name}"), text);
        }
    }
    Ok((files, count))
}

fn question(bytes: &mut Unstructured<'_>) -> arbitrary::Result<Question> {
    let path = *bytes.choose(&PATHS)?;
    let actions = [None, Some(Action::Read), Some(Action::Edit), Some(Action::Create)];
    let timings = [None, Some(Timing::Before), Some(Timing::After)];
    Ok((path, *bytes.choose(&actions)?, *bytes.choose(&timings)?))
}

fn system(files: &Files) -> MemorySystem {
    let system = MemorySystem::new("/p");
    files.iter().fold(system, |system, (path, text)| system.with_file(path, text))
}

fn root(system: &MemorySystem) -> Root {
    Root::open(system, Path::new("/p")).expect("the root is a directory")
}

fn whole(system: &MemorySystem) -> Catalog {
    let top = Target::from_slashed("", TargetKind::Directory);
    Catalog::read_project(
        system,
        &root(system),
        CatalogScope {
            start: &top,
            ignored: Ignored::Visit,
            dialects: Dialects::All,
            strangers: Strangers::LeftOut,
        },
    )
}

/// An answer: the places of entries, by what became of them.
#[derive(Debug, PartialEq, Eq)]
struct Answered {
    items: Vec<String>,
    decisions: Vec<String>,
    left_out: Vec<String>,
}

fn ask(files: &Files, (path, action, timing): Question) -> Answered {
    let system = system(files);
    let root = root(&system);
    let about = Moment::from_path(&system, root.clone(), root.path(), Path::new(path));
    let dialects = Dialects::Only(vec![structured::NAME]);
    let moment = Moment { action, timing, dialects, ..about };
    let catalog = Catalog::read_for_moment(&system, &moment);
    let answer = catalog.resolve_moment(&moment);
    let place = |path: &Path, name: &dyn Display| format!("{}#{name}", path.display());
    let items = answer.items.iter().map(|applied| place(applied.item.path, &applied.item.name));
    let decisions = answer
        .decisions
        .iter()
        .map(|bound| place(bound.path, &format_args!("decisions[{}]", bound.decision.index)));
    let left_out = answer.left_out.iter().map(|out| place(out.path, &out.name));
    Answered {
        items: items.collect(),
        decisions: decisions.collect(),
        left_out: left_out.collect(),
    }
}

/// Returns whether a context file lies in a directory between the root and the target.
fn is_on_the_way(file: &str, path: &str) -> bool {
    let directory = file.rsplit_once('/').map_or("", |(directory, _)| directory);
    directory.is_empty() || path.starts_with(&format!("{directory}/"))
}

/// Ruling G3: "Same bytes, same answer".
#[test]
fn the_same_question_has_the_same_answer() {
    arbtest::arbtest(|bytes| {
        let (files, _) = files(bytes)?;
        let question = question(bytes)?;
        assert_eq!(ask(&files, question), ask(&files, question));
        Ok(())
    });
}

/// Which files an item is for is the same question as what applies to each file, the other way round.
#[test]
fn an_item_reaches_the_files_that_it_applies_to() {
    arbtest::arbtest(|bytes| {
        let (mut files, _) = files(bytes)?;
        for path in PATHS.iter().filter(|path| !path.ends_with('/')) {
            files.insert((*path).to_owned(), String::new());
        }
        let (_, action, timing) = question(bytes)?;
        let system = system(&files);
        let catalog = whole(&system);
        let paths = &catalog.files().expect("it was read as a whole").files;
        let mut reached = vec![Vec::new(); paths.len()];
        let moment = Moment { action, timing, ..Moment::default() };
        catalog.collect_reach(&moment, &mut |found| {
            if let Candidate::Item(item) = found.candidate {
                let place = format!("{}#{}", item.path.display(), item.name);
                found.files.iter().for_each(|file| reached[file].push(place.clone()));
            }
        });
        for (path, mut reached) in paths.iter().zip(reached) {
            let target = Some(Target::from_slashed(path, TargetKind::File));
            let answer = catalog.collect_candidates(&Moment { target, ..moment.clone() });
            let place = |item: &Item<'_>| format!("{}#{}", item.path.display(), item.name);
            let mut applied: Vec<_> = answer.items.iter().map(|of| place(&of.item)).collect();
            reached.sort_unstable();
            applied.sort_unstable();
            assert_eq!(reached, applied, "{path}");
        }
        Ok(())
    });
}

/// The order is that of the document: parents first, `.yaml` before `.yml`, then file order.
#[test]
fn the_order_is_that_of_the_files() {
    arbtest::arbtest(|bytes| {
        let (files, _) = files(bytes)?;
        let answered = ask(&files, question(bytes)?);
        for list in [&answered.items, &answered.decisions] {
            let key = |name: &String| {
                let (path, entry) = name.split_once('#')?;
                let number = entry.trim_end_matches(']').rsplit('[').next()?;
                Some((path.matches('/').count(), path.to_owned(), number.parse::<usize>().ok()?))
            };
            let keys: Vec<_> = list.iter().map(|name| key(name).expect("a place")).collect();
            assert!(keys.is_sorted(), "{list:?}");
        }
        Ok(())
    });
}

/// A file that is not on the way to the target has nothing to do with the answer.
#[test]
fn an_unrelated_file_changes_nothing() {
    arbtest::arbtest(|bytes| {
        let (mut files, _) = files(bytes)?;
        let question = question(bytes)?;
        let before = ask(&files, question);
        files.retain(|file, _| is_on_the_way(file, question.0));
        assert_eq!(ask(&files, question), before);
        Ok(())
    });
}

/// Removing a file takes its own entries away, and changes nothing else.
#[test]
fn a_removed_file_takes_only_its_own_entries() {
    arbtest::arbtest(|bytes| {
        let (mut files, _) = files(bytes)?;
        let question = question(bytes)?;
        let before = ask(&files, question);
        let Some(removed) = files.keys().next().cloned() else { return Ok(()) };
        files.remove(&removed);
        let prefix = format!("/p/{removed}#");
        let without = |list: &[String]| -> Vec<String> {
            list.iter().filter(|name| !name.starts_with(&prefix)).cloned().collect()
        };
        let expected = Answered {
            items: without(&before.items),
            decisions: without(&before.decisions),
            left_out: without(&before.left_out),
        };
        assert_eq!(ask(&files, question), expected);
        Ok(())
    });
}

/// Every entry on the way is in or out, exactly once.
#[test]
fn every_entry_is_in_or_out_once() {
    arbtest::arbtest(|bytes| {
        let (files, _) = files(bytes)?;
        let question = question(bytes)?;
        let answered = ask(&files, question);
        let Answered { items, decisions, left_out } = &answered;
        let mut names: Vec<&String> = items.iter().chain(decisions).chain(left_out).collect();
        let total = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), total, "twice: {answered:?}");
        let on_the_way = files.iter().filter(|(file, _)| is_on_the_way(file, question.0));
        let written: usize = on_the_way
            .map(|(_, text)| {
                text.matches("- content:").count() + text.matches("- decision:").count()
            })
            .sum();
        assert_eq!(total, written, "{answered:?}");
        Ok(())
    });
}

/// Listing a whole project finds every entry of every file.
#[test]
fn the_whole_project_holds_every_entry() {
    arbtest::arbtest(|bytes| {
        let (files, count) = files(bytes)?;
        let catalog = whole(&system(&files));
        let answer = catalog.collect_candidates(&Moment::default());
        let total = answer.items.len() + answer.decisions.len() + answer.left_out.len();
        assert_eq!(total, count);
        // Without a path and a filter, only what is broken is out.
        for left_out in &answer.left_out {
            assert!(matches!(left_out.reason, Reason::Invalid { .. }), "{left_out:?}");
        }
        assert_eq!(catalog.file_count(), files.len());
        Ok(())
    });
}

/// Reads `bytes` as a context file beside a good one, in every way there is.
fn assert_total(bytes: &[u8]) {
    let system = MemorySystem::new("/p")
        .with_file("AGENTS.yaml", bytes)
        .with_file("AGENTS.yml", "context:\n- content: GOOD\n")
        .with_file("a.py", "");
    let catalog = whole(&system);
    for diagnostic in catalog.check_project() {
        let text = diagnostic.source.text();
        assert!(text.get(diagnostic.span.range()).is_some(), "{diagnostic:?}");
        assert!(!diagnostic.message.is_empty());
        for edit in diagnostic.fix.iter().flat_map(|fix| &fix.edits) {
            assert!(text.get(edit.span.range()).is_some(), "{diagnostic:?}");
        }
    }
    let root = root(&system);
    for path in ["a.py", "b/"] {
        let target =
            root.locate_target(&system, root.path(), Path::new(path)).expect("it is inside");
        let moment = Moment { target: Some(target), ..Moment::default() };
        let answer = catalog.resolve_moment(&moment);
        assert!(answer.items.iter().any(|applied| applied.item.content == "GOOD"));
    }
}

/// Parsers are total: any bytes in, diagnostics within the text out, and the neighbor stands.
#[test]
fn any_bytes_are_a_context_file() {
    arbtest::arbtest(|bytes| {
        assert_total(bytes.bytes(bytes.len())?);
        Ok(())
    });
}

/// The same for texts that are nearly right, which get further.
#[test]
fn nearly_right_texts_are_context_files() {
    #[rustfmt::skip]
    const PIECES: [&str; 40] = [
        "context:", "decisions:", "- ", "content: ", "match: ", "exclude: ", "on: ", "when: ",
        "decision: ", "rationale: ", "alternatives: ", "date: ", "option: ", "\n", "\n  ", "\n    ",
        "[", "]", "{", "}", ", ", "'", "\"", "*a", "&a ", "<<: ", "!tag ", "|\n", ">-\n", "# c\n",
        "**/*.py", "{a,b}", "[!x", "all", "Edit", "2024-02-30", "\u{feff}", "é\u{200b}", "\r\n",
        "--- ",
    ];
    arbtest::arbtest(|bytes| {
        let mut text = String::new();
        for _ in 0..bytes.int_in_range(0..=60)? {
            text.push_str(bytes.choose(&PIECES)?);
        }
        assert_total(text.as_bytes());
        Ok(())
    });
}

/// Safe fixes end: applied until none is left, they neither break a file nor go round in circles,
/// take no entry away, and leave the comments where they are.
#[test]
fn safe_fixes_come_to_an_end() {
    const FIELDS: [(&str, &[&str]); 4] = [
        ("match", &["*.py", "'*.py'", "[*.py, 'b']", "src/**", "[a]"]),
        ("exclude", &["*.md", "\"x\"", "[]"]),
        ("on", &["Edit", "[READ, edit]", "all"]),
        ("when", &["After", "before"]),
    ];
    arbtest::arbtest(|bytes| {
        let mut text = String::from("context:\n");
        for number in 0..bytes.int_in_range(1..=4)? {
            text.push_str(&format!("- content: entry-{number}\n"));
            for (field, values) in FIELDS {
                if bytes.ratio(1, 2)? {
                    text.push_str(&format!("  {field}: {} # kept\n", bytes.choose(values)?));
                }
            }
        }
        let comments = text.matches("# kept").count();
        let mut delivered = 0;
        for round in 0.. {
            assert!(round < 5, "the fixes go round in circles:\n{text}");
            let catalog = whole(&MemorySystem::new("/p").with_file("AGENTS.yaml", &text));
            let now = catalog.collect_candidates(&Moment::default()).items.len();
            assert!(now >= delivered, "an entry was lost:\n{text}");
            delivered = now;
            let diagnostics = catalog.diagnostics();
            let fixed = apply_safe_fixes(&text, &diagnostics);
            if fixed.applied == 0 {
                assert_eq!(diagnostics, [], "every one of these has a sure repair:\n{text}");
                break;
            }
            text = fixed.text;
        }
        assert_eq!(text.matches("# kept").count(), comments);
        Ok(())
    });
}
