//! `sh:git`: work in the repository of the project.
//!
//! The lists omit commands that reach other repositories, work in other directories, or set up programs to
//! start later, and options that name a program, a setting or a file. The settings of a repository may name
//! programs, too: [`is_harmless_setting`] recognises those that do not.

use super::Checks;
use super::grammar::{Grammar, Operands};

/// The environment of git. It prevents prompts, pagers, editors, signatures and hooks.
pub(crate) const ENVIRONMENT: [(&str, &str); 41] = [
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_ASKPASS", ""),
    ("GIT_EDITOR", ":"),
    ("GIT_SEQUENCE_EDITOR", ":"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("SSH_ASKPASS", "false"),
    ("GIT_CONFIG_COUNT", "16"),
    ("GIT_CONFIG_KEY_0", "core.hooksPath"),
    ("GIT_CONFIG_VALUE_0", "/dev/null"),
    ("GIT_CONFIG_KEY_1", "core.fsmonitor"),
    ("GIT_CONFIG_VALUE_1", "false"),
    ("GIT_CONFIG_KEY_2", "core.pager"),
    ("GIT_CONFIG_VALUE_2", "cat"),
    ("GIT_CONFIG_KEY_3", "protocol.ext.allow"),
    ("GIT_CONFIG_VALUE_3", "never"),
    ("GIT_CONFIG_KEY_4", "safe.bareRepository"),
    ("GIT_CONFIG_VALUE_4", "explicit"),
    ("GIT_CONFIG_KEY_5", "submodule.recurse"),
    ("GIT_CONFIG_VALUE_5", "false"),
    ("GIT_CONFIG_KEY_6", "diff.ignoreSubmodules"),
    ("GIT_CONFIG_VALUE_6", "all"),
    ("GIT_CONFIG_KEY_7", "status.submoduleSummary"),
    ("GIT_CONFIG_VALUE_7", "false"),
    ("GIT_CONFIG_KEY_8", "commit.gpgSign"),
    ("GIT_CONFIG_VALUE_8", "false"),
    ("GIT_CONFIG_KEY_9", "tag.gpgSign"),
    ("GIT_CONFIG_VALUE_9", "false"),
    ("GIT_CONFIG_KEY_10", "log.showSignature"),
    ("GIT_CONFIG_VALUE_10", "false"),
    ("GIT_CONFIG_KEY_11", "gpg.program"),
    ("GIT_CONFIG_VALUE_11", "false"),
    ("GIT_CONFIG_KEY_12", "maintenance.auto"),
    ("GIT_CONFIG_VALUE_12", "false"),
    ("GIT_CONFIG_KEY_13", "gc.auto"),
    ("GIT_CONFIG_VALUE_13", "0"),
    ("GIT_CONFIG_KEY_14", "credential.helper"),
    ("GIT_CONFIG_VALUE_14", ""),
    ("GIT_CONFIG_KEY_15", "core.sshCommand"),
    ("GIT_CONFIG_VALUE_15", "false"),
];

/// Options before the command.
const BEFORE: [&str; 4] =
    ["--no-pager", "--no-optional-locks", "--no-replace-objects", "--literal-pathspecs"];

const DIFF: &str = "-p -u --patch -s --no-patch -U= --unified= --raw --patch-with-raw --minimal \
    --patience --histogram --diff-algorithm= --stat[] --numstat --shortstat --dirstat[] --summary \
    --compact-summary -z --name-only --name-status --color[] --no-color --color-words[] --word-diff[] \
    --word-diff-regex= --check --full-index --binary --abbrev[] --no-abbrev -B[] -M[] -C[] \
    --find-renames[] --find-copies[] --no-renames -D -R -a --text -w -b --ignore-all-space \
    --ignore-space-change --ignore-space-at-eol --ignore-blank-lines -W --function-context --exit-code \
    --quiet --diff-filter= -S= -G= --pickaxe-all --pickaxe-regex --relative[] --no-relative --src-prefix= \
    --dst-prefix= --no-prefix --no-ext-diff --no-textconv --ignore-submodules[]";

const LOG: &str = "-# -n= --max-count= --skip= --since= --after= --until= --before= --author= \
    --committer= --grep= --all-match --invert-grep -i --regexp-ignore-case -E --extended-regexp -F \
    --fixed-strings -P --perl-regexp --merges --no-merges --first-parent --not --all --branches[] \
    --tags[] --remotes[] --glob= --exclude= --reflog -g --walk-reflogs --boundary --oneline --pretty[] \
    --format= --abbrev-commit --no-abbrev-commit --decorate[] --no-decorate --source --graph --no-graph \
    --date= --date-order --topo-order --author-date-order --reverse --follow --full-history \
    --simplify-merges --simplify-by-decoration --ancestry-path[] --left-right --left-only --right-only \
    --cherry-pick --cherry-mark --cherry --count --parents --children --no-walk[] -c --cc -m --root \
    --no-notes --relative-date";

/// Options that keep git from running the repository's own diff and text converters.
const PLAIN: [&str; 2] = ["--no-ext-diff", "--no-textconv"];

const PLAIN_WITHOUT_SUBMODULES: [&str; 3] =
    ["--no-ext-diff", "--no-textconv", "--ignore-submodules=all"];

const LISTED: &str = "--sort= --format= --merged[] --no-merged[] --contains[] --no-contains[] \
    --points-at= --color[] --no-color --column[] --no-column --ignore-case";

/// The listed commands.
static COMMANDS: [(&str, Grammar); 32] = [
    (
        "add",
        Grammar::new(
            &["-A --all --no-all -u --update -n --dry-run -v --verbose -f --force -N --intent-to-add \
               --refresh --ignore-errors --chmod="],
            Operands::Revisions,
        ),
    ),
    (
        "blame",
        Grammar::new(
            &["-l -t -s -e -p --porcelain --line-porcelain --show-email -w -M[] -C[] -L= --since= \
               --show-name -f --show-number -n --date= --root -b --first-parent --color-lines"],
            Operands::Revisions,
        )
        .adding(&["--no-textconv"]),
    ),
    (
        "branch",
        Grammar::new(
            &["-a --all -r --remotes -l --list -v -q --quiet --show-current -d -D --delete -m -M --move \
               -c -C --copy -u= --set-upstream-to= --unset-upstream --track[] -t --no-track -f --force -i \
               --abbrev[] --no-abbrev", LISTED],
            Operands::Revisions,
        ),
    ),
    ("cat-file", Grammar::new(&["-t -s -e -p"], Operands::Revisions)),
    (
        "checkout",
        Grammar::new(
            &["-b= -B= -f --force -q --quiet --detach --track[] -t --no-track --ours --theirs -m --merge \
               --orphan= --no-guess"],
            Operands::Revisions,
        ),
    ),
    (
        "cherry-pick",
        Grammar::new(
            &["-n --no-commit -x -s --signoff --no-edit -m= --mainline= --ff --abort --continue --quit \
               --skip --allow-empty"],
            Operands::Revisions,
        ),
    ),
    (
        "commit",
        Grammar::new(
            &["-a --all -m=* --message=* -q --quiet --amend --no-edit --allow-empty \
               --allow-empty-message --author=* --date=* -n --no-verify -s --signoff --fixup= --squash= \
               --dry-run --short --porcelain -o --only -i --include --reset-author --no-gpg-sign"],
            Operands::Revisions,
        ),
    ),
    (
        "describe",
        Grammar::new(
            &["--tags --all --long --always --abbrev= --dirty[] --match= --exclude= --contains \
               --exact-match --first-parent --candidates="],
            Operands::Revisions,
        ),
    ),
    (
        "diff",
        Grammar::new(
            &[DIFF, "--cached --staged --merge-base --base --ours --theirs"],
            Operands::Revisions,
        )
        .adding(&PLAIN_WITHOUT_SUBMODULES),
    ),
    ("diff-tree", Grammar::new(&[DIFF, "-r -t --root"], Operands::Revisions).adding(&PLAIN)),
    ("for-each-ref", Grammar::new(&["--count= --omit-empty", LISTED], Operands::Revisions)),
    (
        "grep",
        Grammar::new(
            &["-n --line-number -i --ignore-case -I -w --word-regexp -v --invert-match -l \
               --files-with-matches --name-only -L --files-without-match -c --count -o --only-matching -h \
               -H -E --extended-regexp -F --fixed-strings -P --perl-regexp -G -q --quiet -z --cached \
               --max-depth= -A= -B= -C= -e=* --and --or --not -p --show-function -W --function-context \
               --heading --break --column --color[] --no-color --all-match -m="],
            Operands::TextThenRevisions(&["-e"]),
        )
        .adding(&["--no-textconv"]),
    ),
    ("log", Grammar::new(&[LOG, DIFF], Operands::Revisions).adding(&PLAIN)),
    (
        "ls-files",
        Grammar::new(
            &["-c -d -m -o -i -s -u -k -z -t -v -f --cached --deleted --modified --others --ignored \
               --stage --unmerged --killed --exclude-standard --full-name --error-unmatch --directory \
               --eol --deduplicate -x= --exclude="],
            Operands::Revisions,
        ),
    ),
    (
        "ls-tree",
        Grammar::new(
            &["-d -r -t -l -z --long --name-only --name-status --object-only --full-name --full-tree \
               --abbrev[] --format="],
            Operands::Revisions,
        ),
    ),
    (
        "merge",
        Grammar::new(
            &["--ff --no-ff --ff-only --squash --no-squash --commit --no-commit -m=* --no-edit -q --quiet \
               -v --verbose --stat --no-stat -n --abort --continue --quit --allow-unrelated-histories \
               --autostash --no-autostash"],
            Operands::Revisions,
        ),
    ),
    (
        "merge-base",
        Grammar::new(
            &["-a --all --octopus --is-ancestor --independent --fork-point"],
            Operands::Revisions,
        ),
    ),
    ("mv", Grammar::new(&["-f --force -k -n --dry-run -v --verbose"], Operands::Paths(usize::MAX))),
    // A rebase reads its next steps from a file, which may name programs.
    (
        "rebase",
        Grammar::new(
            &["--onto= --abort --quit --autostash --no-autostash -q --quiet -v --verbose --no-ff \
               --force-rebase -f --keep-base --root"],
            Operands::Revisions,
        ),
    ),
    ("remote", Grammar::new(&["-v --verbose"], Operands::Command(&["get-url"]))),
    (
        "reset",
        Grammar::new(
            &["--soft --mixed --hard --merge --keep -q --quiet -N --intent-to-add --no-refresh"],
            Operands::Revisions,
        ),
    ),
    (
        "restore",
        Grammar::new(
            &["-s= --source= -W --worktree -S --staged -q --quiet --ours --theirs -m --merge"],
            Operands::Revisions,
        ),
    ),
    (
        "revert",
        Grammar::new(
            &["-n --no-commit -s --signoff --no-edit -m= --mainline= --abort --continue --quit --skip"],
            Operands::Revisions,
        ),
    ),
    ("rev-list", Grammar::new(&[LOG, "--objects --no-object-names"], Operands::Revisions)),
    (
        "rev-parse",
        Grammar::new(
            &["--abbrev-ref[] --short[] --verify -q --quiet --symbolic --symbolic-full-name --all \
               --branches[] --tags[] --remotes[] --show-toplevel --show-prefix --show-cdup --git-dir \
               --git-common-dir --absolute-git-dir --is-inside-work-tree --is-inside-git-dir \
               --is-bare-repository --is-shallow-repository"],
            Operands::Revisions,
        ),
    ),
    (
        "rm",
        Grammar::new(
            &["-r -f --force -n --dry-run --cached -q --quiet --ignore-unmatch"],
            Operands::Revisions,
        ),
    ),
    (
        "shortlog",
        Grammar::new(
            &["-n --numbered -s --summary -e --email -c --committer --group= --since= --until= --after= \
               --before= --no-merges --merges --all --author= --format="],
            Operands::Revisions,
        ),
    ),
    ("show", Grammar::new(&[LOG, DIFF], Operands::Revisions).adding(&PLAIN)),
    (
        "stash",
        Grammar::new(
            &["-u --include-untracked -a --all -k --keep-index --no-keep-index -m=* --message=* -q --quiet \
               --index -S --staged"],
            Operands::Command(&["list", "push", "pop", "apply", "drop"]),
        ),
    ),
    (
        "status",
        Grammar::new(
            &["-s --short -b --branch --show-stash --porcelain[] --long -u[] --untracked-files[] \
               --ignored[] -z --column[] --no-column --ahead-behind --no-ahead-behind --renames \
               --no-renames --find-renames[]"],
            Operands::Revisions,
        )
        .adding(&["--ignore-submodules=all"]),
    ),
    (
        "switch",
        Grammar::new(
            &["-c= -C= --create= --force-create= -d --detach -f --force -q --quiet --track[] -t \
               --no-track --orphan= -m --merge --discard-changes --no-guess"],
            Operands::Revisions,
        ),
    ),
    (
        "tag",
        Grammar::new(
            &["-l --list -n[] -d --delete -a --annotate -m=* --message=* -f --force -i --no-sign", LISTED],
            Operands::Revisions,
        ),
    ),
];

/// Returns the arguments to start git with.
pub(super) fn words(args: &[String], checks: Checks<'_>) -> Result<Vec<String>, String> {
    let at = args.iter().position(|word| !BEFORE.contains(&word.as_str())).unwrap_or(args.len());
    let (before, rest) = args.split_at(at);
    let Some((command, rest)) = rest.split_first() else { return Ok(before.to_vec()) };
    if command == "--version" && rest.is_empty() {
        return Ok(args.to_vec());
    }
    if command.starts_with('-') {
        return Err(format!("`{command}` before the command is not covered by `sh:git`"));
    }
    let found = COMMANDS.iter().find(|(name, _)| name == command);
    let (_, grammar) = found.ok_or_else(|| {
        let names: Vec<&str> = COMMANDS.iter().map(|(name, _)| *name).collect();
        format!("`{command}` is not covered by `sh:git`, which is `{}`", names.join("`, `"))
    })?;
    let words = grammar.words("git", rest, checks)?;
    Ok(before.iter().chain([command]).cloned().chain(words).collect())
}

/// Settings that a repository may have: section, then names. None of them names a program, a file or a
/// directory.
const HARMLESS: [(&str, &[&str]); 25] = [
    ("advice", &[]),
    ("author", &["name", "email"]),
    (
        "branch",
        &[
            "remote",
            "merge",
            "rebase",
            "pushremote",
            "description",
            "autosetupmerge",
            "autosetuprebase",
            "sort",
            "gh-merge-base",
            "vscode-merge-base",
            "github-pr-owner-number",
        ],
    ),
    ("color", &[]),
    ("column", &[]),
    ("commit", &["gpgsign", "status", "verbose", "cleanup"]),
    ("committer", &["name", "email"]),
    (
        "core",
        &[
            "repositoryformatversion",
            "filemode",
            "bare",
            "logallrefupdates",
            "ignorecase",
            "precomposeunicode",
            "symlinks",
            "autocrlf",
            "eol",
            "safecrlf",
            "longpaths",
            "quotepath",
            "abbrev",
            "sharedrepository",
            "splitindex",
            "untrackedcache",
            "sparsecheckout",
            "sparsecheckoutcone",
            "commitgraph",
            "multipackindex",
            "compression",
            "checkstat",
            "trustctime",
            "protecthfs",
            "protectntfs",
            "hidedotfiles",
            "bigfilethreshold",
            "whitespace",
            "preloadindex",
        ],
    ),
    ("diff", &["algorithm", "renames", "renamelimit", "noprefix", "mnemonicprefix", "colormoved"]),
    ("extensions", &["objectformat", "partialclone", "refstorage", "noop", "preciousobjects"]),
    ("feature", &[]),
    ("fetch", &["prune", "prunetags", "parallel"]),
    ("gc", &["auto", "autodetach", "pruneexpire", "reflogexpire"]),
    ("index", &["version", "threads", "sparse"]),
    ("init", &["defaultbranch"]),
    ("lfs", &["repositoryformatversion", "access", "locksverify"]),
    ("log", &["date", "abbrevcommit", "decorate", "follow", "showsignature"]),
    ("maintenance", &["auto", "strategy"]),
    ("merge", &["conflictstyle", "ff", "renames", "stat"]),
    ("pack", &[]),
    ("pull", &["rebase", "ff"]),
    ("push", &["default", "autosetupremote", "followtags"]),
    (
        "remote",
        &[
            "url",
            "pushurl",
            "fetch",
            "push",
            "tagopt",
            "prune",
            "mirror",
            "promisor",
            "partialclonefilter",
            "gh-resolved",
        ],
    ),
    ("submodule", &["url", "active", "branch", "ignore", "recurse"]),
    ("user", &["name", "email", "signingkey", "useconfigonly"]),
];

/// Returns whether a setting, `section.name` or `section.part.name`, starts no program and names no path.
pub(crate) fn is_harmless_setting(key: &str) -> bool {
    let (Some((section, _)), Some((_, name))) = (key.split_once('.'), key.rsplit_once('.')) else {
        return false;
    };
    let (section, name) = (section.to_ascii_lowercase(), name.to_ascii_lowercase());
    HARMLESS.iter().any(|(known, names)| {
        *known == section && (names.is_empty() || names.contains(&name.as_str()))
    })
}
