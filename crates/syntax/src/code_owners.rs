//! `CODEOWNERS`: who owns which files of a repository, as forges read it. The last line that matches a path decides.

use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// The places of the file, in the order in which forges look. The first one counts.
pub const CODE_OWNERS_PATHS: [&str; 3] = [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"];

/// The limit for the lines that count.
const MOST_LINES: usize = 20_000;

/// The owners of the files of a repository.
#[derive(Debug, Default)]
pub struct CodeOwners {
    rules: Vec<OwnerRule>,
}

#[derive(Debug)]
struct OwnerRule {
    pattern: Gitignore,
    owners: Vec<String>,
}

impl CodeOwners {
    /// Parses a file. A line that is no pattern, such as one with `!`, counts for nothing, as on the forges.
    pub fn parse(text: &str) -> CodeOwners {
        let rules = text.lines().take(MOST_LINES).filter_map(OwnerRule::parse);
        CodeOwners { rules: rules.collect() }
    }

    /// Returns the owners of a path below the repository, with `/`; none for a file without owners.
    pub fn find_owners(&self, path: &str) -> &[String] {
        let rule = self.rules.iter().rev().find(|rule| rule.matches_path(path));
        rule.map_or(&[], |rule| &rule.owners)
    }
}

impl OwnerRule {
    fn parse(line: &str) -> Option<OwnerRule> {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', '!', '[', '^']) {
            return None;
        }
        let (pattern, rest) = split_pattern(line);
        let owners = rest.split_whitespace().take_while(|word| !word.starts_with('#'));
        let owners = owners.map(str::to_owned).collect();
        let mut builder = GitignoreBuilder::new("/");
        builder.add_line(None, &pattern).ok()?;
        Some(OwnerRule { pattern: builder.build().ok()?, owners })
    }

    fn matches_path(&self, path: &str) -> bool {
        self.pattern.matched_path_or_any_parents(Path::new(path), false).is_ignore()
    }
}

/// Splits a line at the first blank without a backslash before it.
fn split_pattern(line: &str) -> (String, &str) {
    let mut is_escaped = false;
    for (index, letter) in line.char_indices() {
        if letter.is_whitespace() && !is_escaped {
            return (line[..index].to_owned(), &line[index..]);
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    (line.to_owned(), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the forge's documentation, and its answers.
    #[test]
    fn the_last_match_decides() {
        let owners = CodeOwners::parse(
            "# Comment\n*       @global-owner1 @global-owner2\n*.js    @js-owner #This is an inline comment.\n\
             *.go docs@example.com\n/build/logs/ @doctocat\ndocs/* docs@example.com\napps/ @octocat\n\
             /docs/ @doctocat\n/scripts/ @doctocat @octocat\n**/logs @octologs\n/apps/github\n/apps/a\\ b/ @space\n",
        );
        for (path, expected) in [
            ("README.md", &["@global-owner1", "@global-owner2"][..]),
            ("src/a.js", &["@js-owner"]),
            ("deep/down/x.go", &["docs@example.com"]),
            ("build/logs/x/y.txt", &["@octologs"]),
            ("docs/start.md", &["@doctocat"]),
            ("docs/deep/start.md", &["@doctocat"]),
            ("a/apps/x", &["@octocat"]),
            ("apps/github", &[]),
            ("apps/github/x", &[]),
            ("apps/a b/x", &["@space"]),
            ("scripts/x", &["@doctocat", "@octocat"]),
        ] {
            assert_eq!(owners.find_owners(path), expected, "{path}");
        }
    }

    #[test]
    fn lines_without_meaning_count_for_nothing() {
        let owners = CodeOwners::parse("!x @a\n[Section] @b\n\n   \n# x @c\n");
        assert!(owners.find_owners("x").is_empty());
        assert!(CodeOwners::default().find_owners("x").is_empty());
    }
}
