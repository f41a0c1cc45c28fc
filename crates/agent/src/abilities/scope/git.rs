//! `sh:git`: work in the repository of the project.
//!
//! The lists omit commands that reach other repositories, work in other directories, or set up programs to
//! start later, and options that name a program, a setting or a file. The settings of a repository may name
//! programs, too: [`is_harmless_setting`] recognizes those that do not.

use std::sync::LazyLock;

use super::Checks;
use super::grammar::Grammar;

/// The variables for git. They prevent prompts, pagers, editors and fetches.
const VARIABLES: [(&str, &str); 8] = [
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_ASKPASS", ""),
    ("GIT_EDITOR", ":"),
    ("GIT_SEQUENCE_EDITOR", ":"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("SSH_ASKPASS", "false"),
];

/// The settings for git, which override those of the repository. They prevent hooks, signatures and other programs.
const SETTINGS: [(&str, &str); 16] = [
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.pager", "cat"),
    ("protocol.ext.allow", "never"),
    ("safe.bareRepository", "explicit"),
    ("submodule.recurse", "false"),
    ("diff.ignoreSubmodules", "all"),
    ("status.submoduleSummary", "false"),
    ("commit.gpgSign", "false"),
    ("tag.gpgSign", "false"),
    ("log.showSignature", "false"),
    ("gpg.program", "false"),
    ("maintenance.auto", "false"),
    ("gc.auto", "0"),
    ("credential.helper", ""),
    ("core.sshCommand", "false"),
];

/// Returns the environment of git, with its settings.
pub(crate) fn git_environment() -> impl Iterator<Item = (String, String)> {
    let variables = VARIABLES.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
    let settings = SETTINGS.into_iter().enumerate().flat_map(|(number, (key, value))| {
        [
            (format!("GIT_CONFIG_KEY_{number}"), key.to_owned()),
            (format!("GIT_CONFIG_VALUE_{number}"), value.to_owned()),
        ]
    });
    let count = ("GIT_CONFIG_COUNT".to_owned(), SETTINGS.len().to_string());
    variables.chain([count]).chain(settings)
}

const BEFORE: [&str; 4] =
    ["--no-pager", "--no-optional-locks", "--no-replace-objects", "--literal-pathspecs"];

static COMMANDS: LazyLock<Vec<Grammar>> =
    LazyLock::new(|| Grammar::read_table(include_str!("git.txt")));

/// Returns the arguments to start git with.
pub(super) fn scope_git_arguments(
    args: &[String],
    checks: Checks<'_>,
) -> Result<Vec<String>, String> {
    let at = args.iter().position(|word| !BEFORE.contains(&word.as_str())).unwrap_or(args.len());
    let (before, rest) = args.split_at(at);
    let Some((command, rest)) = rest.split_first() else { return Ok(before.to_vec()) };
    if command == "--version" && rest.is_empty() {
        return Ok(args.to_vec());
    }
    if command.starts_with('-') {
        return Err(format!("`sh:git` does not cover the option `{command}` before the command"));
    }
    let commands = COMMANDS.iter().filter(|grammar| !grammar.name.starts_with('@'));
    let grammar = commands.clone().find(|grammar| grammar.name == command).ok_or_else(|| {
        let names: Vec<&str> = commands.map(|grammar| grammar.name).collect();
        format!("`sh:git` does not cover `{command}`, only `{}`", names.join("`, `"))
    })?;
    let words = grammar.scope_arguments("git", rest, checks)?;
    Ok(before.iter().chain([command]).cloned().chain(words).collect())
}

/// Returns the grammar of the command among checked arguments, and where its own words start.
pub(super) fn grammar_of(args: &[String]) -> Option<(usize, &'static Grammar)> {
    let at = args.iter().position(|word| !BEFORE.contains(&word.as_str()))?;
    let command = args.get(at)?;
    let grammar = COMMANDS.iter().find(|grammar| grammar.name == command)?;
    Some((at + 1, grammar))
}

/// Settings that a repository may have: a section, and its names or all of them. None of them names a program, a
/// file or a directory.
const HARMLESS: [(&str, &str); 25] = [
    ("advice", ""),
    ("author", "name email"),
    (
        "branch",
        "remote merge rebase pushremote description autosetupmerge autosetuprebase sort \
         gh-merge-base vscode-merge-base github-pr-owner-number",
    ),
    ("color", ""),
    ("column", ""),
    ("commit", "gpgsign status verbose cleanup"),
    ("committer", "name email"),
    (
        "core",
        "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode \
         symlinks autocrlf eol safecrlf longpaths quotepath abbrev sharedrepository splitindex \
         untrackedcache sparsecheckout sparsecheckoutcone commitgraph multipackindex \
         compression checkstat trustctime protecthfs protectntfs hidedotfiles bigfilethreshold \
         whitespace preloadindex",
    ),
    ("diff", "algorithm renames renamelimit noprefix mnemonicprefix colormoved"),
    ("extensions", "objectformat partialclone refstorage noop preciousobjects"),
    ("feature", ""),
    ("fetch", "prune prunetags parallel"),
    ("gc", "auto autodetach pruneexpire reflogexpire"),
    ("index", "version threads sparse"),
    ("init", "defaultbranch"),
    ("lfs", "repositoryformatversion access locksverify"),
    ("log", "date abbrevcommit decorate follow showsignature"),
    ("maintenance", "auto strategy"),
    ("merge", "conflictstyle ff renames stat"),
    ("pack", ""),
    ("pull", "rebase ff"),
    ("push", "default autosetupremote followtags"),
    (
        "remote",
        "url pushurl fetch push tagopt prune mirror promisor partialclonefilter gh-resolved",
    ),
    ("submodule", "url active branch ignore recurse"),
    ("user", "name email signingkey useconfigonly"),
];

/// Returns whether a setting, `section.name` or `section.part.name`, starts no program and names no path.
pub(crate) fn is_harmless_setting(key: &str) -> bool {
    let (Some((section, _)), Some((_, name))) = (key.split_once('.'), key.rsplit_once('.')) else {
        return false;
    };
    let (section, name) = (section.to_ascii_lowercase(), name.to_ascii_lowercase());
    HARMLESS.iter().any(|(known, names)| {
        *known == section
            && (names.is_empty() || names.split_ascii_whitespace().any(|known| known == name))
    })
}
