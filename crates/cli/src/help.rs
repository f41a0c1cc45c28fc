//! The help of the whole program: commands in groups by purpose, and examples.
//!
//! clap lists commands one below the other; this module fills its template with groups. The texts
//! of the commands stay with the commands.

use std::ffi::OsString;

use clap::{Command, CommandFactory};

use crate::GlobalOptions;

/// A group of commands, each with an example.
pub(crate) struct CommandGroup {
    title: &'static str,
    commands: &'static [(&'static str, &'static str)],
}

/// The groups of the short help.
const COMMON: &[CommandGroup] = &[
    CommandGroup {
        title: "Understand",
        commands: &[
            ("show", "brief show src/api/orders.py claude cursor"),
            ("why", "brief why src/api/orders.py --client claude"),
            ("context", "brief context src/api/orders.py --on edit"),
            ("tokens", "brief tokens --client claude"),
            ("diff", "brief diff main...HEAD --stat"),
        ],
    },
    CommandGroup {
        title: "Set up",
        commands: &[
            ("init", "brief init"),
            ("import", "brief import --dry-run"),
            ("hook", "brief hook install claude"),
            ("lint", "brief lint --fix"),
            ("log", "brief log src/api/orders.py"),
        ],
    },
    CommandGroup {
        title: "Share",
        commands: &[
            ("add", "brief add acme/guidance@v1.2.0 platform-baseline"),
            ("update", "brief update --check"),
            ("sync", "brief sync --frozen"),
        ],
    },
    CommandGroup {
        title: "Prove",
        commands: &[("check", "brief check --staged"), ("replay", "brief replay --since 7d")],
    },
];

/// The groups that only `brief help --all` lists.
const MORE_GROUPS: &[CommandGroup] = &[
    CommandGroup {
        title: "Everyday",
        commands: &[
            ("setup", "brief setup --dry-run"),
            ("status", "brief status"),
            ("remove", "brief remove rule/money"),
            ("eject", "brief eject --dry-run"),
            ("list", "brief list --tree"),
            ("view", "brief view"),
        ],
    },
    CommandGroup {
        title: "Trust",
        commands: &[
            ("audit", "brief audit acme/guidance --deny hooks"),
            ("trust", "brief trust .agents/rules/setup-bootstrap"),
            ("allow", "brief allow no-npm --once"),
        ],
    },
    CommandGroup {
        title: "Registry authors",
        commands: &[
            ("registry", "brief registry new rule money"),
            ("search", "brief search review acme/guidance"),
        ],
    },
    CommandGroup {
        title: "Many repositories",
        commands: &[("fleet", "brief fleet status ~/repositories --csv")],
    },
    CommandGroup {
        title: "Prompts and agents",
        commands: &[
            ("task", "brief task fix-bug -p issue=SHOP-12"),
            ("agent", "brief agent run agents/dev_review.agent.md"),
            ("mcp", "brief mcp serve --client claude"),
        ],
    },
    CommandGroup {
        title: "Tooling",
        commands: &[
            ("lsp", "brief lsp"),
            ("schema", "brief schema agents-yaml"),
            ("completions", "brief completions bash"),
            ("man", "brief man ~/.local/share/man/man1"),
            ("version", "brief version --json"),
        ],
    },
];

/// Commands that no help lists: `lint` takes them in.
const HIDDEN: &[&str] = &["stale", "coverage", "doctor"];

/// The end of the short help.
const POINTERS: &str = "  brief help --all       all commands
  brief help COMMAND     details and examples
";

/// The additional text of the long help.
const MORE: &str = "\
Output: data goes to standard output, messages to standard error. Every command that prints
data takes `--json`; docs/reference/json.md describes the shapes.

Exit codes: 0 done; 1 findings, not found or refused; 2 wrong usage or configuration;
3 internal error.

Environment: NO_COLOR and CLICOLOR_FORCE for color, BRIEF_PAGER and PAGER for the pager;
docs/reference/environment.md lists all variables.";

/// A help text about the whole program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overview {
    Short,
    /// The common commands, the global options and the conventions.
    Long,
    /// All commands and the global options.
    All,
}

impl Overview {
    /// Returns the help that a call requests; `None` for a call of a command.
    pub(crate) fn from_arguments(args: &[OsString]) -> Option<Overview> {
        let mut words = args.iter().skip(1);
        let mut asked = Vec::new();
        while let Some(word) = words.next() {
            match word.to_str()? {
                "-C" | "--color" => drop(words.next()),
                "-q" | "--quiet" | "-v" | "--verbose" | "--no-pager" => {}
                word if word.starts_with("--color=") => {}
                word @ ("help" | "-h" | "--help" | "--all") => asked.push(word),
                _ => return None,
            }
        }
        match asked[..] {
            ["help" | "-h"] => Some(Overview::Short),
            ["--help"] => Some(Overview::Long),
            ["help" | "-h" | "--help", "--all"] | ["--all", "help" | "-h" | "--help"] => {
                Some(Overview::All)
            }
            _ => None,
        }
    }

    /// Renders the help, in the form in which clap returns it.
    pub(crate) fn render(self, width: usize) -> clap::Error {
        let listed: Vec<&CommandGroup> = match self {
            Overview::Short | Overview::Long => COMMON.iter().collect(),
            Overview::All => COMMON.iter().chain(MORE_GROUPS).collect(),
        };
        let names = listed.iter().flat_map(|group| group.commands).map(|(name, _)| *name);
        let commands = names.filter_map(crate::commands::Command::definition);
        let command = GlobalOptions::command().subcommands(commands).term_width(width);
        let groups = render_groups(&command, &listed);
        let about = "{about-with-newline}\n{usage-heading} {usage}\n\n";
        let template = match self {
            Overview::Short => format!("{about}{groups}{POINTERS}"),
            Overview::Long => {
                format!("{about}{groups}{POINTERS}\nOptions:\n{{options}}{{after-help}}")
            }
            Overview::All => format!("{about}{groups}Options:\n{{options}}"),
        };
        let command = command.help_template(template).after_long_help(MORE);
        let option = if self == Overview::Long { "--help" } else { "-h" };
        let read = command.try_get_matches_from(["brief", option]);
        read.err().unwrap_or_else(|| clap::Error::new(clap::error::ErrorKind::DisplayHelp))
    }
}

/// Lists commands in groups, each with what it does.
fn render_groups(command: &Command, groups: &[&CommandGroup]) -> String {
    let names = groups.iter().flat_map(|group| group.commands).map(|(name, _)| name.len());
    let width = names.max().unwrap_or_default();
    let mut listed = String::new();
    for CommandGroup { title, commands } in groups {
        listed.push_str(&format!("{title}\n"));
        for (name, _) in *commands {
            let found = command.get_subcommands().find(|found| found.get_name() == *name);
            let about = found.and_then(Command::get_about).map(ToString::to_string);
            listed.push_str(&format!("  {name:<width$}  {}\n", about.unwrap_or_default()));
        }
        listed.push('\n');
    }
    listed
}

/// Adds all groups and the examples to a definition of the command line.
pub(crate) fn with_all_groups(mut command: Command) -> Command {
    let groups: Vec<&CommandGroup> = COMMON.iter().chain(MORE_GROUPS).collect();
    let listed = render_groups(&command, &groups);
    for (name, example) in groups.iter().flat_map(|group| group.commands) {
        if command.get_subcommands().any(|found| found.get_name() == *name) {
            command = command
                .mut_subcommand(name, |found| found.after_help(format!("Example:\n  $ {example}")));
        }
    }
    for name in HIDDEN {
        command = command.mut_subcommand(name, |found| found.hide(true));
    }
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{listed}Options:\n{{options}}{{after-help}}"
    );
    command.help_template(template).after_long_help(MORE)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::{ArgMatches, FromArgMatches};

    use super::*;
    use crate::{Cli, GlobalOptions};

    /// U69: every command is in one group, and every example is a valid call.
    #[test]
    fn each_command_has_its_group_and_an_example() {
        let definition = crate::build_command_line();
        let mut names: Vec<&str> = definition.get_subcommands().map(Command::get_name).collect();
        for (name, example) in COMMON.iter().chain(MORE_GROUPS).flat_map(|group| group.commands) {
            let place = names.iter().position(|known| known == name);
            names.remove(place.unwrap_or_else(|| panic!("`{name}` is there twice or never")));
            let read = whole(&words(example));
            assert!(read.is_ok(), "{example}: {}", read.unwrap_err());
        }
        names.retain(|name| !HIDDEN.contains(name));
        assert!(names.is_empty(), "in no group: {names:?}");
    }

    /// The definition of one command reads a call as all of them together do.
    #[test]
    fn a_command_is_read_alone_as_it_is_read_with_all_others() {
        let examples = COMMON
            .iter()
            .chain(MORE_GROUPS)
            .flat_map(|group| group.commands)
            .map(|(_, example)| *example);
        let calls = [
            "brief -C why lint --json",
            "brief -C lint context a.py",
            "brief --color never install --frozen",
            "brief lint why",
            "brief lint -C elsewhere --quiet",
            "brief --no-pager version",
        ];
        for call in examples.chain(calls) {
            let args = words(call);
            let matches = whole(&args).unwrap_or_else(|error| panic!("{call}: {error}"));
            let options = GlobalOptions::from_arg_matches(&matches);
            let mut command = typed(&matches);
            // `brief-agent` gets the call as it was typed.
            if let crate::commands::Command::Agent(agent) = &mut command {
                agent.words = args[1..].to_vec();
            }
            let expected = Cli { options: options.unwrap(), command };
            let read =
                Cli::parse_arguments(&args, 80).unwrap_or_else(|error| panic!("{call}: {error}"));
            assert_eq!(format!("{read:?}"), format!("{expected:?}"), "{call}");
        }
    }

    /// An error and a help text come from the whole definition.
    #[test]
    fn an_unread_call_gets_the_words_of_the_whole_definition() {
        for call in ["brief lnt", "brief lint --jsn", "brief add --help", "brief help why"] {
            let args = words(call);
            let expected =
                crate::build_command_line().term_width(80).try_get_matches_from(&args).unwrap_err();
            let error = Cli::parse_arguments(&args, 80).unwrap_err();
            assert_eq!(error.to_string(), expected.to_string(), "{call}");
        }
    }

    fn words(call: &str) -> Vec<OsString> {
        call.split(' ').map(OsString::from).collect()
    }

    fn whole(args: &[OsString]) -> Result<ArgMatches, clap::Error> {
        crate::build_command_line().try_get_matches_from(args)
    }

    fn typed(matches: &ArgMatches) -> crate::commands::Command {
        crate::commands::Command::read(matches).unwrap().unwrap()
    }
}
