//! The files that a command line writes, with their new text where the line shows it.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use brief_syntax::shell::effects::{FileUse, collect_file_effects};
use brief_syntax::shell::{RedirectKind, ShellWord, SimpleCommand, WordForm, parse_script};

use super::call::{ProjectTree, TreePath, describe_new_text, kind_of_write};
use super::work::{AddedRun, AddedText, FileChange, FileChangeKind, Work};

/// Programs that remove or overwrite each of their operands.
const REMOVERS: [&str; 5] = ["rm", "unlink", "rmdir", "shred", "mv"];

/// Adds the files that a command line plainly writes to the work.
pub(super) fn add_written_files(
    work: &mut Work<'_>,
    line: &str,
    directory: Option<&Path>,
    tree: &dyn ProjectTree,
) {
    let script = parse_script(line, Some(directory.unwrap_or(Path::new("")).into()));
    for command in &script.commands {
        for effect in collect_file_effects(command) {
            let Some(place) = tree.locate(None, &effect.path) else { continue };
            let change = match effect.how {
                FileUse::Read => continue,
                FileUse::Delete => of_place(&place, FileChangeKind::Delete),
                FileUse::Edit => of_place(&place, FileChangeKind::Change),
                FileUse::Create | FileUse::Write => describe_write(command, &place, tree),
            };
            work.files.push(change);
        }
        work.files.extend(removed_patterns(command, tree));
        let is_uncertain = |word: &ShellWord| word.form == WordForm::Expansion;
        work.hides_files |= command
            .redirects
            .iter()
            .any(|redirect| redirect.kind != RedirectKind::Read && is_uncertain(&redirect.target));
    }
}

fn of_place<'w>(place: &TreePath, kind: FileChangeKind) -> FileChange<'w> {
    let is_directory = place.is_directory;
    FileChange { is_directory, ..FileChange::of_path(Arc::clone(&place.path), kind) }
}

/// Returns a write with its text, if a command has it in a here-document or as its arguments.
fn describe_write<'w>(
    command: &SimpleCommand,
    place: &TreePath,
    tree: &dyn ProjectTree,
) -> FileChange<'w> {
    let unknown = of_place(place, kind_of_write(place));
    let Some(text) = output_text(command) else { return unknown };
    let is_appended = command.redirects.iter().any(|one| one.kind == RedirectKind::Append)
        || command.words.iter().any(|word| matches!(word.text.as_str(), "-a" | "--append"));
    if is_appended && place.exists {
        let run = AddedRun { first_line: None, text: Cow::Owned(text) };
        return FileChange { added: AddedText::Runs(vec![run]), ..unknown };
    }
    describe_new_text(place, Cow::Owned(text), tree)
}

/// Returns what a command writes, if that is plain: `cat` and `tee` with a here-document, `echo` and `printf` with literals.
fn output_text(command: &SimpleCommand) -> Option<String> {
    let run = command.direct_invocation()?;
    let input = || command.input.as_ref().filter(|input| input.is_literal);
    let literals =
        || -> Option<Vec<&str>> { run.operands().iter().map(ShellWord::literal).collect() };
    match run.program()? {
        "cat" if run.operands().is_empty() => Some(input()?.text.clone()),
        "tee" => Some(input()?.text.clone()),
        "echo" => {
            let words = literals()?;
            let words = match words.split_first() {
                Some((&("-n" | "-e"), rest)) => rest.to_vec(),
                _ => words,
            };
            Some(format!("{}\n", words.join(" ")))
        }
        "printf" => {
            let words = literals()?;
            let text = words.first()?.replace("\\n", "\n");
            (!text.contains('%')).then_some(text)
        }
        _ => None,
    }
}

/// Returns the directories out of which a command removes files by a pattern: `rm src/gen/*`.
fn removed_patterns<'w>(command: &SimpleCommand, tree: &dyn ProjectTree) -> Vec<FileChange<'w>> {
    let Some(run) = command.direct_invocation() else { return Vec::new() };
    if !run.program().is_some_and(|program| REMOVERS.contains(&program)) {
        return Vec::new();
    }
    let patterns = run.operands().iter().filter(|word| word.form == WordForm::Pattern);
    let directory = run.directory.as_deref();
    let found = patterns.filter_map(|word| {
        let end = word.text.find(['*', '?', '[', '{'])?;
        let (above, _) = word.text[..end].rsplit_once('/')?;
        let place = tree.locate(None, &directory?.join(above))?;
        let kind = FileChangeKind::Delete;
        Some(FileChange { is_directory: true, ..FileChange::of_path(place.path, kind) })
    });
    found.collect()
}
