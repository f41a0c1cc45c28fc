//! The help of the whole program: commands in groups by purpose, and examples.
//!
//! clap lists commands one below the other; this module fills its template with groups. The texts
//! of the commands stay with the commands.

use clap::Command;

/// A group of commands, each with an example.
pub(crate) struct CommandGroup {
    title: &'static str,
    about: &'static str,
    commands: &'static [(&'static str, &'static str)],
}

/// All groups, in the order of the help.
pub(crate) const GROUPS: &[CommandGroup] = &[
    CommandGroup {
        title: "See",
        about: "what an agent is told, and why",
        commands: &[
            ("context", "brief context src/api/orders.py --on edit"),
            ("why", "brief why src/api/orders.py --client claude"),
            ("sees", "brief sees src/api/orders.py claude cursor"),
            ("decisions", "brief decisions src/api/orders.py"),
            ("tokens", "brief tokens --client claude"),
            ("tree", "brief tree src --depth 2"),
            ("coverage", "brief coverage --strict"),
            ("diff", "brief diff main...HEAD --stat"),
            ("receipts", "brief receipts src/api/orders.py"),
            ("view", "brief view"),
        ],
    },
    CommandGroup {
        title: "Write",
        about: "guidance, and check it",
        commands: &[
            ("init", "brief init"),
            ("new", "brief new rule money"),
            ("import", "brief import --dry-run"),
            ("convert", "brief convert cursor claude --out ."),
            ("lint", "brief lint --fix"),
            ("fmt", "brief fmt --check"),
            ("stale", "brief stale --since main"),
            ("lsp", "brief lsp"),
            ("schema", "brief schema agents-yaml"),
        ],
    },
    CommandGroup {
        title: "Share",
        about: "items of registries",
        commands: &[
            ("add", "brief add acme/guidance@v1.2.0 platform-baseline"),
            ("remove", "brief remove rule/money"),
            ("update", "brief update --dry-run"),
            ("outdated", "brief outdated"),
            ("publish", "brief publish oci://registry.example/acme/guidance:v1.0.0"),
            ("promote", "brief promote oci://registry.example/acme/guidance@sha256:… stable"),
            ("fleet", "brief fleet ~/repositories --csv"),
            ("list", "brief list --tree"),
            ("search", "brief search review acme/guidance"),
            ("sync", "brief sync --frozen"),
            ("build", "brief build --check"),
            ("audit", "brief audit acme/guidance --deny hooks"),
            ("deps", "brief deps --all"),
            ("clean", "brief clean --dry-run"),
        ],
    },
    CommandGroup {
        title: "Deliver",
        about: "it to clients",
        commands: &[
            ("hook", "brief hook install claude"),
            ("mcp", "brief mcp --client claude"),
            ("mcp-servers", "brief mcp-servers --for cursor"),
        ],
    },
    CommandGroup {
        title: "Run",
        about: "tasks and agents",
        commands: &[
            ("task", "brief task fix-bug -p issue=SHOP-12"),
            ("agent", "brief agent run agents/dev_review.agent.md"),
            ("trust", "brief trust .agents/rules/setup-bootstrap"),
        ],
    },
    CommandGroup {
        title: "Help",
        about: "",
        commands: &[
            ("doctor", "brief doctor"),
            ("completions", "brief completions bash"),
            ("man", "brief man ~/.local/share/man/man1"),
            ("self", "brief self version --json"),
            ("help", "brief help context"),
        ],
    },
];

/// The additional text of the long help.
const MORE: &str = "\
First steps:
  brief sees README.md              what each client gets of your guidance today, and how
  brief init                        an AGENTS.yaml from a template, and the clients in use
  brief why README.md               each entry, in or out, and the reason
  brief lint                        mistakes, each with its place and a fix
  brief hook install claude         from now on, Claude Code gets the guidance automatically

Answers go to standard output, everything else to standard error. Every command that prints
data takes `--json`; docs/reference/json.md has the shapes.

Exit codes: 0 done; 1 findings, not found or refused; 2 wrong usage or configuration;
3 a defect of brief.

Environment: NO_COLOR and CLICOLOR_FORCE for colors, BRIEF_PAGER and PAGER for the pager;
docs/reference/environment.md lists all variables.";

/// Adds the groups and the examples to a definition of the command line.
pub(crate) fn with_groups(mut command: Command) -> Command {
    let width = GROUPS.iter().flat_map(|group| group.commands).map(|(name, _)| name.len()).max();
    let width = width.unwrap_or_default();
    let mut listed = String::new();
    for CommandGroup { title, about, commands } in GROUPS {
        let about = if about.is_empty() { String::new() } else { format!(" {about}") };
        listed.push_str(&format!("{title}{about}:\n"));
        for (name, _) in *commands {
            let found = command.get_subcommands().find(|found| found.get_name() == *name);
            let words = match found.and_then(Command::get_about) {
                Some(words) => words.to_string(),
                None => "Print this help, or that of a command".to_owned(),
            };
            listed.push_str(&format!("  {name:<width$}  {words}\n"));
        }
        let (_, example) = commands[0];
        listed.push_str(&format!("  $ {example}\n\n"));
    }
    for (name, example) in GROUPS.iter().flat_map(|group| group.commands) {
        if command.get_subcommands().any(|found| found.get_name() == *name) {
            command = command
                .mut_subcommand(name, |found| found.after_help(format!("Example:\n  $ {example}")));
        }
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
        let definition = crate::command();
        let mut names: Vec<&str> = definition.get_subcommands().map(Command::get_name).collect();
        for (name, example) in GROUPS.iter().flat_map(|group| group.commands) {
            if *name != "help" {
                let place = names.iter().position(|known| known == name);
                names.remove(place.unwrap_or_else(|| panic!("`{name}` is there twice or never")));
                let read = whole(&words(example));
                assert!(read.is_ok(), "{example}: {}", read.unwrap_err());
            }
        }
        assert!(names.is_empty(), "in no group: {names:?}");
    }

    /// The definition of one command reads a call as all of them together do.
    #[test]
    fn a_command_is_read_alone_as_it_is_read_with_all_others() {
        let examples = GROUPS.iter().flat_map(|group| group.commands).map(|(_, example)| *example);
        let calls = [
            "brief -C why lint --json",
            "brief -C lint context a.py",
            "brief --color never install --frozen",
            "brief lint why",
            "brief lint -C elsewhere --quiet",
            "brief --no-pager self version",
        ];
        for call in examples.filter(|example| !example.contains(" help ")).chain(calls) {
            let args = words(call);
            let matches = whole(&args).unwrap_or_else(|error| panic!("{call}: {error}"));
            let options = GlobalOptions::from_arg_matches(&matches);
            let expected = Cli { options: options.unwrap(), command: typed(&matches) };
            let read = Cli::read(&args, 80).unwrap_or_else(|error| panic!("{call}: {error}"));
            assert_eq!(format!("{read:?}"), format!("{expected:?}"), "{call}");
        }
    }

    /// An error and a help text come from the whole definition.
    #[test]
    fn an_unread_call_gets_the_words_of_the_whole_definition() {
        for call in ["brief", "brief lnt", "brief lint --jsn", "brief add --help", "brief help why"]
        {
            let args = words(call);
            let expected = crate::command().term_width(80).try_get_matches_from(&args).unwrap_err();
            let error = Cli::read(&args, 80).unwrap_err();
            assert_eq!(error.to_string(), expected.to_string(), "{call}");
        }
    }

    fn words(call: &str) -> Vec<OsString> {
        call.split(' ').map(OsString::from).collect()
    }

    fn whole(args: &[OsString]) -> Result<ArgMatches, clap::Error> {
        crate::command().try_get_matches_from(args)
    }

    fn typed(matches: &ArgMatches) -> crate::commands::Command {
        crate::commands::Command::read(matches).unwrap().unwrap()
    }
}
