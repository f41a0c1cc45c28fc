//! The scope of `sh:NAME`, tried with real programs.
#![expect(clippy::disallowed_methods, reason = "tests make real files and start real programs")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use arbtest::arbitrary::Unstructured;
use brief_system::{Interruption, OsSystem};
use serde_json::{Value, json};

use super::grammar::Grammar;
use super::{Checks, is_harmless_setting, is_listed, runs_anything, scope_arguments};
use crate::abilities::AbilityRefusal;
use crate::abilities::programs::{self, DEFAULT_PATH, ProgramContext};

/// A program or command that is lost from a table would get any arguments, or none.
#[test]
fn tables_are_complete() {
    let names = |table: &'static str| -> Vec<&str> {
        let grammars = Grammar::read_table(table).into_iter().map(|grammar| grammar.name);
        grammars.filter(|name| !name.starts_with('@')).collect()
    };
    assert_eq!(
        names(include_str!("programs.txt")).join(" "),
        "basename cat comm cut diff dirname du echo false fd file grep head ls printf pwd rg sed sort stat tail tar \
         true uniq wc"
    );
    assert_eq!(
        names(include_str!("git.txt")).join(" "),
        "add blame branch cat-file checkout cherry-pick commit describe diff diff-tree for-each-ref grep log ls-files \
         ls-tree merge merge-base mv rebase remote reset restore revert rev-list rev-parse rm shortlog show stash \
         status switch tag"
    );
}

/// Every option of a shared list has been put in the place of its name.
#[test]
fn lists_of_options_are_replaced() {
    let judged = |line: &str| judge(&split(line));
    assert!(judged("git log --histogram --walk-reflogs").is_ok());
    assert!(judged("git branch --no-contains").is_ok());
    assert!(judged("git log @diff -- @log").is_ok_and(|words| words.contains(&"@log".to_owned())));
    assert!(judged("git @diff").is_err());
}

/// Checks arguments against the lists. Relative paths pass.
fn judge(line: &[&str]) -> Result<Vec<String>, String> {
    let relative = |path: &str| {
        let is_outside = path.starts_with('/') || path.split('/').any(|part| part == "..");
        if is_outside { Err(format!("`{path}` is outside")) } else { Ok(()) }
    };
    let args: Vec<String> = line[1..].iter().map(|word| (*word).to_owned()).collect();
    scope_arguments(line[0], &args, Checks { path: &relative, revision: &relative })
}

fn split(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// A repository with one commit, and a directory beside it that nothing may reach.
pub(super) struct TestRepository {
    directory: tempfile::TempDir,
}

impl TestRepository {
    pub(super) fn new() -> TestRepository {
        let repository = TestRepository { directory: tempfile::tempdir().unwrap() };
        let root = repository.root();
        fs::create_dir(&root).unwrap();
        fs::create_dir(repository.outside()).unwrap();
        fs::write(repository.outside().join("secret.txt"), "canary").unwrap();
        fs::write(root.join("a.txt"), "one\ntwo\n").unwrap();
        fs::write(root.join("b.txt"), "one\n").unwrap();
        fs::write(root.join(".gitattributes"), "*.txt diff=evil filter=evil merge=evil\n").unwrap();
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository.git(&["add", "--all"]);
        repository.git(&["commit", "--quiet", "-m", "message"]);
        fs::write(root.join("a.txt"), "one\nthree\n").unwrap();
        let archive = Command::new("tar")
            .args(["-cf", "a.tar", "b.txt"])
            .current_dir(&root)
            .status()
            .unwrap();
        assert!(archive.success());
        repository
    }

    pub(super) fn root(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join("project")
    }

    pub(super) fn outside(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join("outside")
    }

    fn marker(&self) -> PathBuf {
        self.outside().join("marker")
    }

    pub(super) fn git(&self, args: &[&str]) {
        let mut command = Command::new("git");
        command.args(args).current_dir(self.root()).env("HOME", self.outside());
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "Name");
            command.env(format!("GIT_{who}_EMAIL"), "name@example.com");
        }
        assert!(command.status().unwrap().success(), "{args:?}");
    }

    pub(super) fn exec(&self, line: &[String]) -> Result<Value, AbilityRefusal> {
        let path = DEFAULT_PATH.map(str::to_owned);
        let root = self.root();
        let stop = Interruption::default();
        let place = ProgramContext {
            system: &OsSystem,
            root: &root,
            path: &path,
            stop: &stop,
            keeper: None,
        };
        let args = [json!(line[0]), json!(line[1..])];
        programs::run_program(&place, &args, true, Duration::from_mins(2))
    }

    pub(super) fn exec_line(&self, line: &str) -> Result<Value, AbilityRefusal> {
        let line = line.replace("{CMD}", &format!("touch {}", self.marker().display()));
        let line = line.replace("{OUT}", &self.outside().display().to_string());
        let words: Vec<String> = line.split('|').map(str::to_owned).collect();
        self.exec(&words)
    }

    /// Returns the names and contents of all files outside the project.
    fn beside(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found: Vec<_> = fs::read_dir(self.outside())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| (path.clone(), fs::read(path).unwrap_or_default()))
            .collect();
        found.sort();
        found
    }
}

/// Calls of git that would run a program, or reach a file outside. Words are separated by `|`.
const GIT_ATTACKS: [&str; 75] = [
    "git|--attr-source|main|-c|alias.x=!{CMD}|x",
    "git|--attr-source=main|-c|alias.x=!{CMD}|x",
    "git|-c|core.pager={CMD}|log",
    "git|-ccore.pager={CMD}|log",
    "git|--config-env=core.pager=HOME|log",
    "git|--config-e=core.pager=HOME|log",
    "git|--exec-path={OUT}|status",
    "git|-C|{OUT}|status",
    "git|-C{OUT}|status",
    "git|--git-dir={OUT}|status",
    "git|--work-tree={OUT}|status",
    "git|--namespace=x|status",
    "git|-p|log",
    "git|--paginate|log",
    "git|ls-remote|--up={CMD}|.",
    "git|ls-remote|--upload-pack={CMD}|.",
    "git|fetch|--upload-p|{CMD}|.",
    "git|clone|--co|core.sshCommand={CMD}|ssh://x/y",
    "git|clone|-u|{CMD}|.|x",
    "git|clone|ext::{CMD}|x",
    "git|grep|--op={CMD}|one",
    "git|grep|--open-files-in-pager={CMD}|one",
    "git|grep|-O{CMD}|one",
    "git|grep|-nO{CMD}|one",
    "git|grep|-f|{OUT}/secret.txt",
    "git|grep|--no-index|canary|{OUT}",
    "git|rebase|--ex|{CMD}|HEAD",
    "git|rebase|--exec={CMD}|HEAD",
    "git|rebase|-x|{CMD}|HEAD",
    "git|rebase|-ix{CMD}|HEAD",
    "git|rebase|--continue",
    "git|merge|-s|evil|main",
    "git|merge|--strategy=evil|main",
    "git|credential-store|get",
    "git|credential|fill",
    "git|config|alias.x|!{CMD}",
    "git|blame|--contents|{OUT}/secret.txt|a.txt",
    "git|blame|--cont={OUT}/secret.txt|a.txt",
    "git|blame|--ignore-revs-file|{OUT}/secret.txt|a.txt",
    "git|diff|/dev/null|{OUT}/secret.txt",
    "git|diff|--no-index|a.txt|{OUT}/secret.txt",
    "git|diff|a.txt|../outside/secret.txt",
    "git|diff|--|a.txt|../outside/secret.txt",
    "git|diff|--output={OUT}/x",
    "git|diff|--outp={OUT}/x",
    "git|diff|-O{OUT}/secret.txt",
    "git|diff|--ext-diff",
    "git|log|--textconv|-p",
    "git|log|--output={OUT}/x",
    "git|worktree|add|{OUT}/tree",
    "git|bundle|create|{OUT}/bundle|HEAD",
    "git|format-patch|-o|{OUT}|HEAD",
    "git|archive|-o|{OUT}/x.tar|HEAD",
    "git|archive|--remote=ext::x|HEAD",
    "git|bisect|run|touch|{OUT}/marker",
    "git|submodule|foreach|{CMD}",
    "git|difftool|-x|{CMD}",
    "git|mergetool",
    "git|filter-branch|--tree-filter|{CMD}",
    "git|send-email|--sendmail-cmd={CMD}",
    "git|commit|-F|{OUT}/secret.txt",
    "git|commit|-t{OUT}/secret.txt",
    "git|commit|--gpg-sign|-m|x",
    "git|add|--pathspec-from-file={OUT}/secret.txt",
    "git|checkout-index|--prefix={OUT}/|-a",
    "git|init|{OUT}/new",
    "git|push|{OUT}",
    "git|fetch|{OUT}",
    "git|../evil",
    "git|x",
    "git|help|--web|log",
    "git|mv|a.txt|{OUT}/a.txt",
    "git|mv|a.txt|../outside/a.txt",
    "git|status|--end-of-options|-x",
    "Git|-c|alias.x=!{CMD}|x",
];

/// Such calls of other programs.
const OTHER_ATTACKS: [&str; 53] = [
    "tar|--to-comm={CMD}|-xf|a.tar",
    "tar|--to-command={CMD}|-xf|a.tar",
    "tar|--checkpoint-act=exec={CMD}|--checkpoint=1|-tf|a.tar",
    "tar|--use-compress-prog={CMD}|-tf|a.tar",
    "tar|--use-compress-program={CMD}|-cf|x.tar|a.txt",
    "tar|-I{CMD}|-tf|a.tar",
    "tar|-I|{CMD}|-tf|a.tar",
    "tar|--rsh-command={CMD}|-tf|host:a.tar",
    "tar|-tf|host:a.tar",
    "tar|-F{CMD}|-tf|a.tar",
    "tar|--info-script={CMD}|-tMf|a.tar",
    "tar|-cf|{OUT}/x.tar|a.txt",
    "tar|-cf|-|-C|{OUT}|secret.txt",
    "tar|-cf|-|-T|{OUT}/secret.txt",
    "tar|-xf|a.tar",
    "tar|-xf|a.tar|-C|{OUT}",
    "tar|xf|a.tar",
    "sed|-i|s/a/b/|a.txt",
    "sed|--in-place|s/a/b/|a.txt",
    "sed|-f|{OUT}/secret.txt|a.txt",
    "sed|p|{OUT}/secret.txt",
    "find|.|-exec|touch|{OUT}/marker|;",
    "find|.|-execdir|touch|{OUT}/marker|;",
    "find|.|-ok|touch|{OUT}/marker|;",
    "find|.|-fprintf|{OUT}/x|a",
    "find|.|-fls|{OUT}/x",
    "find|.|-delete",
    "find|{OUT}|-type|f",
    "find|-L|.|-type|f",
    "find|.|-name|x|{OUT}",
    "sort|--compress-prog={CMD}|a.txt",
    "sort|-o{OUT}/x|a.txt",
    "sort|--files0-from={OUT}/secret.txt",
    "uniq|a.txt|{OUT}/x",
    "cat|{OUT}/secret.txt",
    "cat|../outside/secret.txt",
    "cat|.env",
    "cat|.git/config",
    "head|-c|5|{OUT}/secret.txt",
    "grep|-r|canary|{OUT}",
    "grep|-f{OUT}/secret.txt|a.txt",
    "ls|{OUT}",
    "wc|--files0-from={OUT}/secret.txt",
    "diff|--from-file={OUT}/secret.txt|a.txt",
    "diff|a.txt|{OUT}/secret.txt",
    "rg|--pre|{CMD}|one",
    "rg|--pre={CMD}|one",
    "rg|--hostname-bin={CMD}|one",
    "rg|--search-zip|one",
    "fd|-x|touch|{OUT}/marker",
    "fd|--exec=touch",
    "file|-f|{OUT}/secret.txt",
    "file|-m|{OUT}/secret.txt|a.txt",
];

/// X06: every reported form, and similar ones, is refused with a reason, and none leaves a mark.
#[test]
fn x06_no_listed_program_runs_another() {
    let repository = TestRepository::new();
    let before = repository.beside();
    for line in GIT_ATTACKS.into_iter().chain(OTHER_ATTACKS) {
        let program = line.split('|').next().unwrap_or_default();
        match repository.exec_line(line) {
            Err(AbilityRefusal::Refused(reason)) => {
                assert!(reason.starts_with(&format!("`{program}`: ")), "{line}: {reason}");
            }
            // Some machines lack some of the programs.
            Err(AbilityRefusal::Failed(reason)) if reason.starts_with("program not found") => {}
            answer => panic!("{line}: {answer:?}"),
        }
        assert_eq!(repository.beside(), before, "{line}");
    }
    // sed itself refuses these scripts.
    for script in [
        "1e {CMD}",
        "1{e {CMD}\n}",
        "s/one/{CMD}/e",
        "w {OUT}/x",
        "s/one/x/w {OUT}/x",
        "r {OUT}/secret.txt",
    ] {
        let answer = repository.exec_line(&format!("sed|{script}|a.txt")).unwrap();
        assert_ne!(answer["status"], 0, "{script}: {answer}");
        assert!(!answer["stdout"].to_string().contains("canary"), "{answer}");
        assert_eq!(repository.beside(), before, "{script}");
    }
}

/// A link in the project does not lead out, with or without an existing target.
#[test]
fn x06_a_link_does_not_lead_out() {
    let repository = TestRepository::new();
    let (root, outside) = (repository.root(), repository.outside());
    std::os::unix::fs::symlink(outside.join("secret.txt"), root.join("file")).unwrap();
    std::os::unix::fs::symlink(&outside, root.join("dir")).unwrap();
    std::os::unix::fs::symlink(outside.join("new.tar"), root.join("dangling")).unwrap();
    for line in [
        "cat|file",
        "cat|dir/secret.txt",
        "tar|-cf|dangling|a.txt",
        "tar|-cf|dir/new.tar|a.txt",
        "tar|-cf|-|-C|dir|.",
        "git|diff|a.txt|dir/secret.txt",
        "sed|p|file",
        "ls|dir",
    ] {
        let refused = repository.exec_line(line);
        assert!(
            matches!(&refused, Err(AbilityRefusal::Refused(reason)) if reason.contains("points outside")),
            "{line}: {refused:?}"
        );
    }
    assert!(!outside.join("new.tar").exists());
}

/// An unpacked archive may have settings that name programs: git is not started in it.
#[test]
fn x06_settings_of_a_repository_start_nothing() {
    for (key, value) in [
        ("diff.evil.textconv", "{CMD};cat"),
        ("diff.evil.command", "{CMD}"),
        ("diff.external", "{CMD}"),
        ("filter.evil.clean", "{CMD};cat"),
        ("filter.evil.smudge", "{CMD};cat"),
        ("filter.evil.process", "{CMD}"),
        ("merge.evil.driver", "{CMD}"),
        ("core.fsmonitor", "{CMD};false"),
        ("core.hooksPath", "{OUT}"),
        ("core.worktree", "{OUT}"),
        ("core.pager", "{CMD}"),
        ("core.editor", "{CMD}"),
        ("gpg.program", "{CMD}"),
        ("alias.status", "!{CMD}"),
        ("include.path", "{OUT}/settings"),
        ("includeIf.onbranch:main.path", "{OUT}/settings"),
        ("trailer.x.command", "{CMD}"),
        ("lfs.customtransfer.x.path", "{CMD}"),
        ("submodule.x.update", "!{CMD}"),
    ] {
        assert!(!is_harmless_setting(key), "{key}");
        let repository = TestRepository::new();
        let value = value
            .replace("{CMD}", &format!("touch {}", repository.marker().display()))
            .replace("{OUT}", &repository.outside().display().to_string());
        repository.git(&["config", key, &value]);
        let before = repository.beside();
        for line in
            ["git|status", "git|diff", "git|log|-p", "git|add|a.txt", "git|checkout|--|a.txt"]
        {
            let refused = repository.exec_line(line);
            let is_said = matches!(&refused, Err(AbilityRefusal::Refused(reason))
                if reason.contains("the repository sets `") && reason.contains("does not cover"));
            assert!(is_said, "{key} {line}: {refused:?}");
            assert_eq!(repository.beside(), before, "{key} {line}");
        }
    }
}

/// The hooks of a repository are not settings, and do not run either.
#[test]
fn hooks_do_not_run() {
    use std::os::unix::fs::PermissionsExt;
    let repository = TestRepository::new();
    for hook in
        ["pre-commit", "post-commit", "post-checkout", "post-index-change", "prepare-commit-msg"]
    {
        let path = repository.root().join(".git/hooks").join(hook);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\ntouch {}\n", repository.marker().display())).unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }
    repository.git(&["config", "user.name", "Name"]);
    repository.git(&["config", "user.email", "name@example.com"]);
    for line in
        ["git|commit|-a|-m|-text", "git|commit|-am|text", "git|checkout|-b|topic", "git|status"]
    {
        let _ = repository.exec_line(line);
    }
    let log = repository.exec_line("git|log|--oneline").unwrap();
    assert!(log["stdout"].as_str().unwrap().contains("text"), "{log}");
    assert!(!repository.marker().exists());
}

/// Everyday calls work, with real programs.
#[test]
fn everyday_calls_are_covered() {
    let repository = TestRepository::new();
    for line in [
        "git|status|--short",
        "git|status|--porcelain=v2|--branch",
        "git|log|--oneline|-n|5",
        "git|log|-5|--format=%h %s",
        "git|log|-p|--|a.txt",
        "git|log|--since=2 days ago|--stat",
        "git|diff|--stat|HEAD",
        "git|diff|--name-only|HEAD",
        "git|diff|-U0|HEAD|--|a.txt",
        "git|show|HEAD:a.txt",
        "git|show|--stat|HEAD",
        "git|blame|-L|1,2|a.txt",
        "git|grep|-n|one",
        "git|grep|-e|one|HEAD|--|a.txt",
        "git|ls-files",
        "git|ls-tree|-r|--name-only|HEAD",
        "git|rev-parse|--abbrev-ref|HEAD",
        "git|rev-parse|--show-toplevel",
        "git|rev-list|--count|HEAD",
        "git|branch|--show-current",
        "git|branch|-a",
        "git|tag|-l",
        "git|cat-file|-p|HEAD",
        "git|describe|--always",
        "git|for-each-ref|--format=%(refname)",
        "git|shortlog|-sn|HEAD",
        "git|add|a.txt",
        "git|restore|--staged|a.txt",
        "git|stash|push|-m|text with /path",
        "git|stash|list",
        "git|stash|pop",
        "git|checkout|-b|topic",
        "git|switch|main",
        "git|--no-pager|log",
        "git|--version",
        "find|.|-name|*.txt|-type|f",
        "find|-maxdepth|1|(|-name|a*|-o|-name|b*|)|-print",
        "tar|-tf|a.tar",
        "tar|-tvf|a.tar",
        "tar|-czf|c.tgz|a.txt",
        "tar|-tzf|c.tgz",
        "tar|-Otf|a.tar",
        "sed|-n|1p|a.txt",
        "sed|-E|s/(o)/<\\1>/g|a.txt",
        "sed|-e|s/one/1/|-e|2d|a.txt",
        "sort|-rn|a.txt",
        "uniq|-c|a.txt",
        "cut|-d|,|-f|1|a.txt",
        "head|-n|1|a.txt",
        "head|-1|a.txt",
        "tail|-n|1|a.txt",
        "wc|-l|a.txt|b.txt",
        "grep|-rn|one|.",
        "cat|-n|a.txt",
        "ls|-la",
        "ls|-c|-C",
        "du|-sh|.",
        "echo|hello|/etc/passwd",
    ] {
        let answer = repository.exec_line(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!(answer["status"], 0, "{line}: {answer}");
    }
}

#[test]
fn beginnings_and_values_that_look_like_options_are_refused() {
    for line in
        ["git log --max", "git log --onelin", "git diff --sta", "tar --lis -f a", "sed --quie p"]
    {
        let reason = judge(&split(line)).unwrap_err();
        assert!(reason.contains("write names in full"), "{line}: {reason}");
    }
    for line in ["git log -n --output=x", "git checkout -b --orphan", "head -n --x a"] {
        let reason = judge(&split(line)).unwrap_err();
        assert!(reason.contains("looks like an option"), "{line}: {reason}");
    }
    assert_eq!(judge(&split("git log --oneline=x")).unwrap_err(), "`--oneline` takes no value");
    assert_eq!(judge(&split("git log -n")).unwrap_err(), "`-n` needs a value");
    let unknown = judge(&split("git push origin")).unwrap_err();
    assert!(
        unknown.starts_with("`sh:git` does not cover `push`, only `add`, `blame`"),
        "{unknown}"
    );
    // An unlisted program gets its arguments unchecked.
    assert_eq!(judge(&["deploy", "--all", "/x"]).unwrap(), ["--all", "/x"]);
}

#[test]
fn wide_and_listed_programs_are_known() {
    for program in ["bash", "python3", "python3.12", "node", "env", "make", "npm", "Bash"] {
        assert!(runs_anything(program), "{program}");
        assert!(!is_listed(program), "{program}");
    }
    for program in ["git", "Git", "ls", "rg", "cat", "tar", "gtar", "find", "sed"] {
        assert!(!runs_anything(program), "{program}");
        assert!(is_listed(program), "{program}");
    }
}

/// Words that options are made of: dangerous ones, harmless ones, and pieces.
const PIECES: &str = "-c|-C|-x|-O|-o|-u|-I|-F|-f|-s|-i|-e|-p|-n|-t|-xf|-cf|--upload-pack|--receive-pack|\
    --exec|--open-files-in-pager|--output|--ext-diff|--textconv|--config|--config-env|\
    --exec-path|--git-dir|--work-tree|--attr-source|--strategy|--template|--contents|\
    --no-index|--to-command|--checkpoint-action|--checkpoint=1|--use-compress-program|\
    --rsh-command|--info-script|--in-place|--file|--directory|--index-file|--expression|\
    --extcmd|--gpg-sign|--orderfile|--interactive|--root|--stat|--oneline|--all|--patch|\
    --cached|--|HEAD|main|a.txt|.|alias.x=!{CMD}|core.pager={CMD}|x|1";

const COMMANDS: &str = "log|diff|show|grep|blame|rebase|merge|clone|fetch|pull|ls-remote|commit|checkout|\
    stash|status|archive|config|submodule|bisect|difftool|add|tag|branch|worktree";

/// X06: no spelling of the options runs the marker command.
#[test]
fn x06_no_spelling_runs_a_command() {
    let repository = TestRepository::new();
    let before = repository.beside();
    let started = std::cell::Cell::new(0_u32);
    let check = |unstructured: &mut Unstructured<'_>| {
        let mut line = vec![(*unstructured.choose(&["git", "tar", "sed"])?).to_owned()];
        if line[0] == "git" {
            if unstructured.ratio(1, 4)? {
                line.push(piece(unstructured, &repository)?);
            }
            line.push(pick(unstructured, COMMANDS)?);
        }
        for _ in 0..unstructured.int_in_range(1..=5)? {
            line.push(piece(unstructured, &repository)?);
        }
        if repository.exec(&line).is_ok() {
            started.set(started.get() + 1);
        }
        assert_eq!(repository.beside(), before, "{line:?}");
        Ok(())
    };
    arbtest::arbtest(check).budget_ms(3_000);
    assert!(started.get() > 0, "no line got through: the test tries nothing");
}

fn pick(unstructured: &mut Unstructured<'_>, list: &str) -> arbtest::arbitrary::Result<String> {
    let words: Vec<&str> = list.split('|').collect();
    Ok((*unstructured.choose(&words)?).to_owned())
}

/// Returns an option, whole or cut, with or without a value.
fn piece(
    unstructured: &mut Unstructured<'_>,
    repository: &TestRepository,
) -> arbtest::arbitrary::Result<String> {
    let command = format!("touch {}", repository.marker().display());
    let outside = repository.outside().display().to_string();
    let mut piece = pick(unstructured, PIECES)?.replace("{CMD}", &command);
    if piece.len() > 4 && unstructured.ratio(1, 3)? {
        piece.truncate(unstructured.int_in_range(2..=piece.len())?);
    }
    let values =
        [command.clone(), format!("!{command}"), outside, "../outside/secret.txt".to_owned()];
    if unstructured.ratio(1, 3)? {
        let value = unstructured.choose(&values)?;
        let between = if piece.starts_with("--") { "=" } else { "" };
        piece = format!("{piece}{between}{value}");
    } else if unstructured.ratio(1, 6)? {
        piece.clone_from(unstructured.choose(&values)?);
    }
    Ok(piece)
}

/// The same words without a scope run the marker: the tests above can fail.
#[test]
fn x06_the_marker_would_be_seen() {
    let repository = TestRepository::new();
    let path = DEFAULT_PATH.map(str::to_owned);
    let root: &Path = &repository.root();
    let stop = Interruption::default();
    let place = ProgramContext { system: &OsSystem, root, path: &path, stop: &stop, keeper: None };
    let command = format!("grep -q . ; touch {} ;", repository.marker().display());
    let args = [json!("git"), json!(["grep", format!("--op={command}"), "one"])];
    programs::run_program(&place, &args, false, Duration::from_mins(2)).unwrap();
    assert!(repository.marker().exists());
}
