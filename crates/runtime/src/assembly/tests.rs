//! Prompts are assembled from files in memory; nothing is printed and no program starts.

use std::path::Path;

use brief_dialects::tasks::{HandEdits, PromptLayout};
use brief_system::{Files, MemorySystem};

use super::*;
use crate::prompt::RequestOutcome;

fn project() -> MemorySystem {
    MemorySystem::new("/p")
        .with_env("HOME", "/home/me")
        .with_dir("/home/me")
        .with_file("/p/.agents/tasks/fix.md", "Fix ${what}.\n")
        .with_file("/p/.agents/rules/style.md", "Be brief.\n")
}

fn options(name: &str) -> PromptOptions {
    let mut options = PromptOptions { name: name.to_owned(), ..PromptOptions::default() };
    options.parameters.add_text(b"what=it").unwrap();
    options
}

/// Assembles in `/p`, and returns the warnings, too.
fn assemble(
    system: &MemorySystem,
    options: &PromptOptions,
) -> (Result<AssembledPrompt, AssemblyError>, Vec<String>) {
    let mut warnings = Vec::new();
    let assembly = PromptAssembly::open(system, Path::new("/p")).unwrap();
    let outcome = assembly.assemble(options, &mut |event| {
        if let AssemblyEvent::Warning(problem) = event {
            warnings.push(problem.to_owned());
        }
    });
    (outcome, warnings)
}

fn text(system: &MemorySystem, options: &PromptOptions) -> (String, Vec<String>) {
    let (outcome, warnings) = assemble(system, options);
    let text = outcome.unwrap().prompt.render(PromptLayout::WHOLE);
    (String::from_utf8(text).unwrap(), warnings)
}

#[test]
fn a_prompt_needs_no_command_line() {
    let (text, warnings) = text(&project(), &options("fix"));
    assert!(text.contains("Be brief.") && text.contains("Fix it."), "{text}");
    assert!(warnings.is_empty(), "{warnings:?}");
}

#[test]
fn directories_are_searched_in_order_and_a_missing_fallback_is_a_warning() {
    let system = project()
        .with_file("/given/.agents/rules/given.md", "Given.\n")
        .with_file("/listed/.agents/rules/listed.md", "Listed.\n")
        .with_file("/p/list.txt", "# more\n\n../listed\n../gone\n");
    let mut options = options("fix");
    options.directories.given = vec!["/given".into()];
    options.directories.fallback = vec!["/nowhere".into()];
    options.directories.manifest = Some("list.txt".into());
    let (text, warnings) = text(&system, &options);
    let places: Vec<_> = ["Given.", "Be brief.", "Listed."].map(|rule| text.find(rule)).into();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{text}");
    let missing = |path| format!("cannot search the directory `{path}`: does not exist");
    assert_eq!(warnings, [missing("/nowhere"), missing("../gone")]);
    options.directories.given = vec!["/nowhere".into()];
    let (outcome, _) = assemble(&system, &options);
    assert!(matches!(outcome, Err(AssemblyError::Search(SearchError::Directory { .. }))));
}

#[test]
fn an_untrusted_project_is_refused_with_all_that_it_asked_for() {
    let system = project().with_file("/p/.agents/tasks/run.md", "!`one`\n!`two`\n");
    match assemble(&system, &options("run")).0 {
        Err(AssemblyError::Project { refusal, asked }) => {
            assert_eq!(refusal.root, Path::new("/p"));
            let asked: Vec<_> = asked.iter().map(|asked| (&*asked.text, &asked.outcome)).collect();
            let refused = &RequestOutcome::ProjectNotTrusted;
            assert_eq!(asked, [("one", refused), ("two", refused)]);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_task_that_is_not_there_is_told_with_the_places_that_were_searched() {
    match assemble(&project(), &options("fx")).0 {
        Err(AssemblyError::Task { error, roots, .. }) => {
            assert!(matches!(&*error, TaskError::NotFound { nearest, .. } if nearest == &["fix"]));
            assert_eq!(roots, [Path::new("/p"), Path::new("/home/me")]);
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(assemble(&project(), &options("a/b/c")).0, Err(AssemblyError::Name(_))));
}

#[test]
fn nothing_of_a_project_with_an_unreadable_lock_is_executed() {
    let system = project()
        .with_file("/p/brief.lock", "<<<<<<< ours\n")
        .with_file("/p/.agents/tasks/run.md", "!`one`\n");
    let mut options = options("run");
    options.wish = Some(Wish::Execute);
    let (outcome, warnings) = assemble(&system, &options);
    assert_eq!(outcome.unwrap().ran[0].outcome, RequestOutcome::Untrusted);
    assert!(warnings[0].ends_with("; brief executes nothing in `/p`"), "{warnings:?}");
}

#[test]
fn rules_are_written_once_and_hand_edits_are_kept() {
    let system = project();
    let assembled = assemble(&system, &options("fix")).0.unwrap();
    let assembly = PromptAssembly::open(&system, Path::new("/p")).unwrap();
    let agent = CodingAgent::from_name("claude").unwrap();
    let write = || {
        let place = RulesFile::Project;
        assembly.write_rules(agent, &assembled.prompt, place, HandEdits::Keep)
    };
    let written = write().unwrap().unwrap();
    assert_eq!(written.count, 1);
    assert_eq!(write().unwrap(), None);
    let path = Path::new("/p").join(&written.file);
    let text = String::from_utf8(system.read(&path, 10_000).unwrap()).unwrap();
    let edited = text.replace("Be brief.", "Be long.");
    let system: &dyn System = &system;
    system.replace_file(&path, edited.as_bytes()).unwrap();
    assert!(matches!(write(), Err(RulesFileError::EditedByHand { .. })));
}
