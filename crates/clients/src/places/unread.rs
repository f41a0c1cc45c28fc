//! Files in directories of clients that no client reads.
//!
//! Only what is surely not read is reported. A file of a kind that does not look like instructions is
//! passed over, and so is whatever we do not know enough about.

use std::collections::{BTreeMap, BTreeSet};

use brief_profiles::{BUILTIN, ClientDirectory, List, Text};

/// A file that no client reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadFile {
    pub path: String,
    /// The reason why it is not read.
    pub why: String,
    pub help: &'static str,
}

/// The reason why a file in a directory of skills is not read, and the way out.
type Words = (&'static str, &'static str);

const SKILL_FILE: Words = (
    "a skill is a directory with a `SKILL.md`, not a file",
    "move it to `NAME/SKILL.md` in the same directory",
);
const NO_SKILL: Words =
    ("its directory has no `SKILL.md`", "name the file with the instructions `SKILL.md`");

/// Returns the directories that we know enough about, by client.
fn known_directories() -> impl Iterator<Item = &'static ClientDirectory> {
    BUILTIN.clients.iter().flat_map(|client| &client.directories)
}

/// Returns the directories whose files are worth looking at, with `/`.
pub fn client_directories() -> Vec<&'static str> {
    known_directories().map(|directory| &*directory.path).collect()
}

/// Returns the files among some that no client reads, sorted by path. Paths are below the project, with
/// `/`; files beside them count, so that a skill without a `SKILL.md` can be told.
pub fn collect_unread_files<'f>(paths: impl Iterator<Item = &'f str>) -> Vec<UnreadFile> {
    let mut below: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for path in paths {
        let directory = known_directories().find_map(|directory| {
            let rest = path.strip_prefix(&*directory.path)?.strip_prefix('/')?;
            Some((&*directory.path, rest))
        });
        if let Some((directory, rest)) = directory {
            below.entry(directory).or_default().insert(rest);
        }
    }
    let mut found = Vec::new();
    for directory in known_directories() {
        let Some(files) = below.get(&*directory.path) else { continue };
        let mut report = |file: &str, why: &str, help: &'static str| {
            let path = format!("{}/{file}", directory.path);
            found.push(UnreadFile { path, why: why.to_owned(), help });
        };
        if directory.skills {
            for (file, (why, help)) in no_skills(files) {
                report(file, why, help);
            }
            continue;
        }
        let files = files.iter().filter(|file| !is_aside(file));
        if let Some(why) = &directory.unread {
            let help = directory.help.as_deref().unwrap_or("move or remove it");
            files.for_each(|file| report(file, why, help));
            continue;
        }
        let has_one =
            |endings: &List<Text>, file: &str| endings.iter().any(|ending| ends_in(file, ending));
        let endings: Vec<String> =
            directory.endings.iter().map(|ending| format!("`{ending}`")).collect();
        let why = format!("the client reads only files that end in {} here", endings.join(" or "));
        for file in files.filter(|file| !has_one(&directory.endings, file)) {
            if has_one(&directory.meant, file) {
                report(file, &why, "rename it");
            }
        }
    }
    found.sort_by(|left, right| left.path.cmp(&right.path));
    found
}

/// Returns what is no skill in a directory of skills: files that lie there alone, and one file of each
/// directory without a `SKILL.md`.
fn no_skills<'f>(files: &BTreeSet<&'f str>) -> Vec<(&'f str, Words)> {
    let mut found = Vec::new();
    let mut directories: BTreeMap<&str, Vec<&'f str>> = BTreeMap::new();
    for &file in files.iter().filter(|file| !is_hidden(file)) {
        match file.split_once('/') {
            Some((directory, _)) => directories.entry(directory).or_default().push(file),
            None => {
                let meant = [".md", ".mdc", ".txt", ".markdown"];
                if !is_aside(file) && meant.iter().any(|ending| ends_in(file, ending)) {
                    found.push((file, SKILL_FILE));
                }
            }
        }
    }
    for files in directories.into_values() {
        // Some clients look deeper, and some do not care about capitals.
        let is_skill = |file: &&str| {
            file.rsplit('/').next().is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md"))
        };
        if !files.iter().any(is_skill) {
            // A directory of code alone is a tool of some skill.
            let is_text = |file: &&&str| ends_in(file, ".md") || ends_in(file, ".txt");
            let mut texts = files.iter().filter(|file| is_text(file) && !is_aside(file));
            found.extend(texts.next().map(|&file| (file, NO_SKILL)));
        }
    }
    found
}

fn ends_in(file: &str, ending: &str) -> bool {
    let at = file.len().checked_sub(ending.len());
    at.and_then(|at| file.get(at..)).is_some_and(|end| end.eq_ignore_ascii_case(ending))
}

/// Returns whether a file is there for people or tools rather than for a client.
fn is_aside(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    let stem = name.split('.').next().unwrap_or(name);
    let names = ["readme", "license", "licence", "changelog", "contributing", "notice"];
    // A nested `AGENTS.md` or `CLAUDE.md` is read wherever it lies.
    is_hidden(file)
        || brief_dialects::native::is_beginning(name)
        || names.iter().any(|own| stem.eq_ignore_ascii_case(own))
}

fn is_hidden(file: &str) -> bool {
    file.split('/').any(|name| name.starts_with(['.', '_']) || name == "node_modules")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(paths: &[&str]) -> Vec<String> {
        collect_unread_files(paths.iter().copied()).into_iter().map(|one| one.path).collect()
    }

    /// U07: `tree` lists what clients read in any directory, and this is no complaint about it.
    #[test]
    fn guidance_of_the_directory_itself_is_read() {
        for path in [".agents/skills/AGENTS.md", ".claude/skills/CLAUDE.md"] {
            assert_eq!(found(&[path]), [""; 0], "{path}");
        }
    }

    #[test]
    fn an_unread_file_is_found() {
        for (path, why) in [
            (".github/instructions/a.md", "`.instructions.md`"),
            (".github/instructions/deep/a.txt", "`.instructions.md`"),
            (".github/prompts/a.md", "`.prompt.md`"),
            (".github/agents/a.txt", "`.md`"),
            (".github/hooks/a.yaml", "`.json`"),
            (".claude/rules/a.mdc", "`.md`"),
            (".claude/skills/a.md", "a skill is a directory"),
            (".claude/skills/a/skill.txt", "its directory has no `SKILL.md`"),
            (".claude/agents/a.json", "`.md`"),
            (".claude/commands/a.toml", "`.md`"),
            (".claude/subagents/a.md", "no client reads this directory"),
            (".agents/skills/a/guide.md", "its directory has no `SKILL.md`"),
            (".cursor/rules/a.md", "`.mdc`"),
            (".cursor/rules/deep/A.MD", "`.mdc`"),
            (".opencode/agent/a.yaml", "`.md`"),
            (".codex/agents/a.md", "`.toml`"),
            (".codex/prompts/a.md", "no prompts"),
            (".gemini/commands/a.md", "`.toml`"),
            (".clinerules/a.mdc", "`.md` or `.txt`"),
            (".roo/subagents/a.md", "modes"),
        ] {
            let found = collect_unread_files([path].into_iter());
            assert_eq!(found.len(), 1, "{path}");
            assert_eq!(found[0].path, path);
            assert!(found[0].why.contains(why), "{path}: {}", found[0].why);
            assert!(!found[0].help.is_empty());
        }
    }

    #[test]
    fn a_file_that_a_client_may_read_is_not_reported() {
        let fine = [
            ".github/instructions/a.instructions.md",
            ".github/instructions/README.md",
            ".github/instructions/a.png",
            ".github/copilot-instructions.md",
            ".github/workflows/ci.yml",
            ".github/agents/a.md",
            ".github/hooks/a.sh",
            ".claude/rules/deep/a.md",
            ".claude/skills/a/SKILL.md",
            ".claude/skills/a/scripts/x.py",
            ".claude/skills/a/notes.txt",
            ".claude/skills/group/b/SKILL.md",
            ".claude/skills/c/skill.md",
            ".claude/skills/.gitkeep",
            ".claude/skills/_drafts/x.md",
            ".claude/skills/tools/README.md",
            ".claude/skills/tools/run.py",
            ".claude/skills/LICENSE",
            ".claude/settings.json",
            ".cursor/rules/a.mdc",
            ".clinerules",
            ".clinerules/a.txt",
            ".clinerules/hooks/PreToolUse",
            ".clinerules/hooks/PreToolUse.json",
            ".roo/rules/a.anything",
            ".opencode/plugin/a.ts",
            "docs/a.md",
            ".claude/skillsets/a.md",
            "",
        ];
        assert_eq!(found(&fine), [""; 0]);
    }

    /// One file speaks for its directory.
    #[test]
    fn a_directory_without_a_skill_is_named_once() {
        let paths =
            [".claude/skills/a/y.md", ".claude/skills/a/deep/x.md", ".claude/skills/b/z.txt"];
        assert_eq!(found(&paths), [".claude/skills/a/deep/x.md", ".claude/skills/b/z.txt"]);
    }

    #[test]
    fn the_table_names_each_directory_once() {
        let all = client_directories();
        let unique: BTreeSet<_> = all.iter().collect();
        assert_eq!(all.len(), unique.len());
        for directory in all {
            assert!(directory.starts_with('.') && !directory.ends_with('/'), "{directory}");
        }
    }
}
