//! `@path` in a client file: another file that belongs to it.
//!
//! As Claude Code reads it: at the start of a word, not in code, relative to the file it stands in.
//! An import never leads out of the project, or out of the directory of a user's own file, and never
//! to a file that holds secrets.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_syntax::markdown::Outline;
use brief_syntax::{Diagnostic, Source, Span, limits, rules};
use brief_system::Dir;
use brief_system::paths::clean_path;

use crate::answer::Owner;

use super::clients;
use super::model::{Folder, Guide, Use};
use super::parse::parse_imported;
use super::read::{NativeReader, NotRead};

#[derive(Debug, Clone, PartialEq, Eq)]
struct Import {
    path: String,
    /// The whole word in the file, with its `@`.
    span: Span,
}

/// Finds the imports in the text of a file from `start` on.
fn imports_of(source: &Source, start: usize) -> Vec<Import> {
    let body = source.text().get(start..).unwrap_or_default();
    let mut found = Vec::new();
    for at in memchr::memchr_iter(b'@', body.as_bytes()) {
        if !body[..at].chars().next_back().is_none_or(char::is_whitespace) {
            continue;
        }
        let word = &body[at + 1..];
        let mut is_escaped = false;
        let end = word.find(|character: char| {
            let is_end = character.is_whitespace() && !(is_escaped && character == ' ');
            is_escaped = character == '\\';
            is_end
        });
        let word = &word[..end.unwrap_or(word.len())];
        let path = word.split('#').next().unwrap_or(word).replace("\\ ", " ");
        let is_path = path.starts_with(['.', '_', '-', '/'])
            || path.starts_with("~/")
            || path.starts_with(|first: char| first.is_ascii_alphanumeric());
        if is_path && path != "/" {
            let span = Span::new(start + at, start + at + 1 + word.len());
            found.push(Import { path, span });
        }
    }
    if !found.is_empty() {
        let outline = Outline::parse(body);
        found.retain(|import| !outline.is_opaque(import.span.start - start));
    }
    found
}

/// Returns whether a text is nothing but its imports and comments.
fn says_nothing_else(source: &Source, start: usize, imports: &[Import]) -> bool {
    let text = source.text();
    let mut rest = String::new();
    let mut copied = start;
    for import in imports {
        rest.push_str(text.get(copied..import.span.start).unwrap_or_default());
        copied = import.span.end;
    }
    rest.push_str(text.get(copied..).unwrap_or_default());
    let mut rest = rest.as_str();
    loop {
        rest = rest.trim_start();
        let Some(comment) = rest.strip_prefix("<!--") else { return rest.is_empty() };
        let Some(end) = comment.find("-->") else { return false };
        rest = &comment[end + 3..];
    }
}

/// Returns whether a word that leads nowhere was meant as a path: people write `@name` for other things.
fn looks_like_a_file(path: &str) -> bool {
    let is_text = [".md", ".mdc", ".markdown", ".txt"].iter().any(|ending| path.ends_with(ending));
    // `@/mocks` is an alias of a bundler, unless it begins as paths of machines do.
    is_text
        || ["./", "../", "~/", "/home/", "/Users/", "/root/", "/etc/", "/opt/", "/srv/", "/var/"]
            .iter()
            .any(|start| path.starts_with(start))
}

/// Reads what the files of a directory import, and what those import. `root` is the open root of the
/// reader.
pub(super) fn read_imports(reader: &mut NativeReader<'_>, root: &dyn Dir, folder: &mut Folder) {
    let mut pending = Vec::new();
    for (index, guide) in folder.guides.iter().enumerate() {
        if guide.place.as_ref().is_some_and(|place| clients::has_imports(reader.known, place))
            && matches!(guide.use_, Use::Active(_))
            && memchr::memchr(b'@', guide.content().as_bytes()).is_some()
        {
            let allowed = match folder.owner {
                Owner::Project => reader.root().to_owned(),
                Owner::User => guide.path().parent().unwrap_or(guide.path()).to_owned(),
            };
            pending.push((index, 0, allowed));
        }
    }
    if pending.is_empty() {
        return;
    }
    let guides = folder.guides.iter().enumerate();
    let mut known: HashMap<PathBuf, usize> =
        guides.map(|(index, guide)| (guide.path().to_owned(), index)).collect();
    let mut count = 0;
    let mut next = 0;
    while let Some((index, hops, allowed)) = pending.get(next).cloned() {
        next += 1;
        let (source, start) =
            (folder.guides[index].source.clone(), folder.guides[index].body_start);
        let imports = imports_of(&source, start);
        let mut targets = Vec::new();
        for import in &imports {
            count += 1;
            if hops == limits::NATIVE_HOPS || count > limits::NATIVE_IMPORTS {
                let message = "too many imports: the rest is not followed";
                let (hops, imports) = (limits::NATIVE_HOPS, limits::NATIVE_IMPORTS);
                let help = format!(
                    "the limits are {hops} files in a row and {imports} imports in one directory"
                );
                let limit = Diagnostic::new(rules::client::LIMIT, &source, import.span, message);
                reader.diagnostics.push(limit.with_help(help));
                break;
            }
            let Some(wanted) = resolve_import(reader, &source, &import.path, &allowed) else {
                reader.diagnostics.extend(import_problem(&source, import, NotRead::Outside));
                continue;
            };
            let known_as = known.get(&wanted).copied();
            // A file that no client reads at its place is read now.
            let is_unread = |known: &usize| {
                let Guide { use_, place, .. } = &folder.guides[*known];
                place.is_some() && matches!(use_, Use::Never(_))
            };
            if let Some(known) = known_as.filter(|known| !is_unread(known)) {
                if known != index {
                    targets.push(wanted);
                }
                continue;
            }
            match reader.read_below(root, &wanted) {
                Ok(bytes) if memchr::memchr(0, &bytes).is_none() => {
                    let line = source.line_number(import.span.start);
                    let by = source.path().strip_prefix(&folder.path).unwrap_or(source.path());
                    let reason = format!("imported by {}:{line}", by.display());
                    let imported = Arc::new(Source::from_bytes(wanted.clone(), bytes));
                    let imported = parse_imported(imported, reason);
                    let at = known_as.unwrap_or(folder.guides.len());
                    match folder.guides.get_mut(at) {
                        Some(unread) => *unread = imported,
                        None => folder.guides.push(imported),
                    }
                    known.insert(wanted.clone(), at);
                    pending.push((at, hops + 1, allowed.clone()));
                    targets.push(wanted);
                }
                Ok(_) => {
                    let refused = NotRead::Refused("is not a text file".to_owned());
                    reader.diagnostics.extend(import_problem(&source, import, refused));
                }
                Err(unread) => reader.diagnostics.extend(import_problem(&source, import, unread)),
            }
        }
        record_imports(&mut folder.guides[index], &source, &imports, targets);
    }
}

fn record_imports(guide: &mut Guide, source: &Source, imports: &[Import], targets: Vec<PathBuf>) {
    if !targets.is_empty() && says_nothing_else(source, guide.body_start, imports) {
        let names: Vec<&str> = imports.iter().map(|import| import.path.as_str()).collect();
        guide.use_ = Use::Bridge(format!("only imports {}", names.join(", ")));
    }
    guide.imports = targets;
}

/// Finds what an import means, by its text; `None` for a path that leads where it may not.
fn resolve_import(
    reader: &NativeReader<'_>,
    source: &Source,
    path: &str,
    allowed: &Path,
) -> Option<PathBuf> {
    let directory = source.path().parent().unwrap_or(source.path());
    let absolute = match path.strip_prefix("~/") {
        Some(rest) => reader.home()?.join(rest),
        None => directory.join(path),
    };
    Some(clean_path(&absolute)).filter(|path| path.starts_with(allowed))
}

/// Returns the problem of an import that is not followed, unless the word was no path or leads to a directory.
fn import_problem(source: &Arc<Source>, import: &Import, unread: NotRead) -> Option<Diagnostic> {
    let Import { path, span } = import;
    let (rule, message, help) = match unread {
        NotRead::Refused(problem) => {
            let message = format!("`@{path}` is not read: {problem}");
            return Some(Diagnostic::new(rules::client::UNREADABLE, source, *span, message));
        }
        NotRead::Missing => (
            rules::client::IMPORT_MISSING,
            format!("file not found: `@{path}`"),
            "paths are relative to the file that contains them",
        ),
        NotRead::Outside => (
            rules::client::IMPORT_OUTSIDE,
            format!("`@{path}` is outside the project, so brief does not read it"),
            "import personal files in your own file, such as ~/.claude/CLAUDE.md",
        ),
        NotRead::Directory => return None,
    };
    looks_like_a_file(path).then(|| Diagnostic::new(rule, source, *span, message).with_help(help))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str) -> Vec<String> {
        let source = Source::new("CLAUDE.md", text);
        imports_of(&source, 0).into_iter().map(|import| import.path).collect()
    }

    #[test]
    fn imports_are_words_outside_of_code() {
        assert_eq!(paths("@AGENTS.md\n"), ["AGENTS.md"]);
        assert_eq!(
            paths("See @README and @docs/a\\ b.md#part, not me@x.org"),
            ["README", "docs/a b.md"]
        );
        assert_eq!(paths("- @~/x.md @./y.md @../z @/abs"), ["~/x.md", "./y.md", "../z", "/abs"]);
        assert_eq!(paths("`@a.md`\n```\n@b.md\n```\n\n    @c.md\n"), [""; 0]);
        assert_eq!(paths("@ @@x @#y @*z @/"), [""; 0]);
    }

    #[test]
    fn a_file_may_say_nothing_but_imports() {
        let nothing_else = |text: &str| {
            let source = Source::new("CLAUDE.md", text);
            says_nothing_else(&source, 0, &imports_of(&source, 0))
        };
        assert!(nothing_else("@AGENTS.md\n"));
        assert!(nothing_else("<!-- made by a tool -->\n\n@AGENTS.md @b.md\n<!-- end -->\n"));
        assert!(!nothing_else("# Title\n@AGENTS.md\n"));
        assert!(!nothing_else("<!-- open @AGENTS.md"));
    }
}
