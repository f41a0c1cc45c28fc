//! What `sh:<command>` refuses besides other programs.
//!
//! A scope is a convenience, not a wall. Many programs start others when they are told to, and some
//! of their options say so; the ones that are known are refused here, so that a grant of `git` is not
//! by way of a single option a grant of everything. Nobody can list them all: a program that reads
//! files of the project may find in them what to start.

/// Programs that run whatever they are given: granting one is granting `sh`.
const WIDE: [&str; 58] = [
    "ash", "awk", "bash", "bun", "busybox", "bundle", "cargo", "cmake", "csh", "dash", "deno",
    "docker", "emacs", "env", "expect", "fish", "gawk", "gdb", "go", "gradle", "just", "ksh",
    "less", "lua", "make", "man", "mawk", "more", "mvn", "nice", "node", "nohup", "npm", "npx",
    "parallel", "perl", "php", "pip", "pnpm", "podman", "python", "python3", "ruby", "rsync", "sh",
    "ssh", "strace", "su", "sudo", "tcsh", "time", "timeout", "vi", "vim", "watch", "xargs",
    "yarn", "zsh",
];

/// Options of git that stand before its command and start programs, or lead out of the project.
const GIT_BEFORE: [&str; 8] = [
    "-c",
    "-C",
    "--config-env",
    "--exec-path",
    "--git-dir",
    "--work-tree",
    "--paginate",
    "--namespace",
];

/// Commands of git that start programs, or set what is started later.
const GIT_COMMANDS: [&str; 18] = [
    "bisect",
    "config",
    "credential",
    "daemon",
    "difftool",
    "fast-import",
    "filter-branch",
    "gui",
    "hook",
    "instaweb",
    "maintenance",
    "mergetool",
    "p4",
    "remote-ext",
    "send-email",
    "submodule",
    "svn",
    "web--browse",
];

/// Long options behind a command of git that start programs, or write where they like. Git also takes
/// their beginnings.
const GIT_LONG: [&str; 12] = [
    "--config",
    "--exec",
    "--ext-diff",
    "--extcmd",
    "--open-files-in-pager",
    "--output",
    "--receive-pack",
    "--separate-git-dir",
    "--strategy",
    "--template",
    "--textconv",
    "--upload-pack",
];

/// Short options behind a command of git that do the same, with the commands that they do it for.
const GIT_SHORT: [(&str, &[&str]); 4] = [
    ("-u", &["clone", "fetch", "fetch-pack", "ls-remote", "pull"]),
    ("-c", &["clone"]),
    ("-x", &["rebase"]),
    ("-O", &["grep"]),
];

/// What git gets in its environment: nothing of it asks, pages, edits, or starts what an address says.
const GIT_ENVIRONMENT: [(&str, &str); 14] = [
    ("GIT_ALLOW_PROTOCOL", "https:ssh:git:http:file"),
    ("GIT_ASKPASS", ""),
    ("GIT_CONFIG_COUNT", "4"),
    ("GIT_CONFIG_KEY_0", "core.hooksPath"),
    ("GIT_CONFIG_VALUE_0", "/dev/null"),
    ("GIT_CONFIG_KEY_1", "core.fsmonitor"),
    ("GIT_CONFIG_VALUE_1", "false"),
    ("GIT_CONFIG_KEY_2", "core.pager"),
    ("GIT_CONFIG_VALUE_2", "cat"),
    ("GIT_CONFIG_KEY_3", "protocol.ext.allow"),
    ("GIT_CONFIG_VALUE_3", "never"),
    ("GIT_EDITOR", ":"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

/// Options of other programs that start programs or write where they like.
const OTHERS: [(&str, &[&str]); 7] = [
    ("find", &["-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprint0", "-fprintf", "-fls"]),
    (
        "tar",
        &["--to-command", "--checkpoint-action", "--use-compress-program", "-I", "--rsh-command"],
    ),
    ("rg", &["--pre", "--hostname-bin"]),
    ("fd", &["-x", "--exec", "-X", "--exec-batch"]),
    ("sort", &["--compress-program"]),
    ("curl", &["-K", "--config"]),
    ("gh", &["alias", "extension"]),
];

/// Returns whether a program runs whatever it is given, so that `sh:<it>` grants as much as `sh`.
pub fn runs_anything(program: &str) -> bool {
    let name = program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    WIDE.iter().any(|wide| *wide == program || *wide == name)
}

/// Returns why a program must not be started with these arguments under a scope.
pub(super) fn objection(program: &str, args: &[String]) -> Option<String> {
    if program == "git" {
        return git_objection(args);
    }
    let (_, options) = OTHERS.iter().find(|(name, _)| *name == program)?;
    let found = args.iter().find(|argument| {
        options.iter().any(|option| is_option(argument, option) || is_glued(argument, option))
    })?;
    Some(format!("`{found}` starts other programs, which `sh:{program}` does not cover"))
}

/// Returns what a program gets in its environment besides what all get.
pub(super) fn environment(
    program: &str,
    is_scoped: bool,
) -> &'static [(&'static str, &'static str)] {
    if program == "git" && is_scoped { &GIT_ENVIRONMENT } else { &[] }
}

fn git_objection(args: &[String]) -> Option<String> {
    let refuse = |what: &str| Some(format!("`{what}` is not covered by `sh:git`"));
    let command = args.iter().position(|argument| !argument.starts_with('-'));
    let (before, rest) = args.split_at(command.unwrap_or(args.len()));
    for argument in before {
        let is_known = GIT_BEFORE.iter().any(|option| {
            is_option(argument, option) || (option.len() == 2 && argument.starts_with(option))
        });
        if is_known || argument == "-p" {
            return refuse(argument);
        }
    }
    let (command, rest) = rest.split_first()?;
    // A word with other letters in it may lead to a file.
    if GIT_COMMANDS.contains(&command.as_str()) || !command.bytes().all(is_command_letter) {
        return refuse(command);
    }
    for argument in rest {
        // Behind it there are only names.
        if argument == "--" {
            break;
        }
        let long = argument.split('=').next().unwrap_or_default();
        let is_long = long.len() > 4 && GIT_LONG.iter().any(|option| option.starts_with(long));
        let is_short = GIT_SHORT.iter().any(|(option, commands)| {
            argument.starts_with(option) && commands.contains(&command.as_str())
        });
        let is_archive_output = command == "archive" && argument.starts_with("-o");
        let is_foreign = argument.contains("ext::") || argument == "--no-index";
        if is_long || is_short || is_archive_output || is_foreign {
            return refuse(argument);
        }
    }
    None
}

fn is_command_letter(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte == b'-'
}

/// `--name`, or `--name=value`.
fn is_option(argument: &str, option: &str) -> bool {
    argument.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

/// A short option with its value in the same word.
fn is_glued(argument: &str, option: &str) -> bool {
    option.len() == 2 && argument.starts_with(option) && !argument.starts_with("--")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> bool {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        objection(&words[0], &words[1..]).is_some()
    }

    #[test]
    fn what_starts_other_programs_is_refused() {
        for line in [
            "git -c core.pager=evil log",
            "git -ccore.pager=evil log",
            "git --config-env=core.pager=X log",
            "git --exec-path=/tmp status",
            "git -C /tmp status",
            "git --git-dir=/tmp/x status",
            "git -p log",
            "git --paginate log",
            "git config alias.x !sh",
            "git fetch --upload-pack=evil origin",
            "git fetch --upload-p evil origin",
            "git clone -u evil x",
            "git clone --config core.pager=x y",
            "git clone ext::sh x",
            "git rebase -x evil main",
            "git rebase --exec=evil main",
            "git grep -Oevil x",
            "git grep --open-files-in-pager=evil x",
            "git diff --ext-diff",
            "git diff --output=/tmp/x",
            "git diff --no-index /etc/passwd /dev/null",
            "git archive -o/tmp/x HEAD",
            "git bisect run sh",
            "git submodule foreach evil",
            "git ../evil",
            "find . -exec sh ;",
            "find . -fprintf /tmp/x a",
            "tar --to-command=sh -xf a",
            "tar -Ish -xf a",
            "rg --pre sh x",
        ] {
            assert!(refused(line), "{line}");
        }
    }

    #[test]
    fn everyday_calls_are_not() {
        for line in [
            "git status --short",
            "git log --oneline -n 5",
            "git log -p -- src",
            "git diff --stat HEAD~1",
            "git commit -m text -- -c",
            "git push -u origin main",
            "git checkout -b topic",
            "git show HEAD:README.md",
            "git --no-pager log",
            "git --version",
            "find . -name *.rs -type f",
            "tar -tf a.tar",
            "ls -c -C",
        ] {
            assert!(!refused(line), "{line}");
        }
    }

    #[test]
    fn wide_programs_are_known() {
        for program in ["bash", "python3", "python3.12", "node", "env", "make", "npm"] {
            assert!(runs_anything(program), "{program}");
        }
        for program in ["git", "ls", "rg", "cat"] {
            assert!(!runs_anything(program), "{program}");
        }
    }
}
