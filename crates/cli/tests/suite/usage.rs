//! The command line as a whole: help, version, exit codes.

#[cfg(target_os = "linux")]
use brief_testkit::McpProcess;

use crate::{project, shop};

/// U69: the short help has the fifteen commands that a newcomer needs, and names the rest.
#[test]
fn the_short_help_lists_the_common_commands() {
    insta::assert_snapshot!(project().run(&["-h"]), @"
    Find out what your coding agents are told about a file, and why

    Usage: brief [OPTIONS] [COMMAND]

    Understand
      show     Show what each client gets for a file, and what it misses
      why      Explain why each item applies to a file or not
      context  Print the guidance for a file or directory
      tokens   Show what guidance costs, by file, directory or client
      diff     Show which files' guidance changed between two revisions

    Set up
      init     Create an AGENTS.yaml and detect your clients
      import   Convert client files to shared rules and skills
      hook     Deliver guidance to a client while it works
      lint     Find mistakes, outdated references and unused rules
      log      Show what was delivered to agents, when and why

    Share
      add      Add rules, skills and agents from a registry
      update   Update sources to their newest version
      sync     Make the project match brief.toml and brief.lock

    Prove
      check    Check whether a change keeps the rules
      replay   Show which rules agents had and which they broke in past sessions

      brief help --all       all commands
      brief help COMMAND     details and examples
    [EOF]
    ");
    assert_eq!(project().run(&["help"]).stdout, project().run(&["-h"]).stdout);
    let long = project().run(&["--help"]).stdout;
    assert!(long.contains("--no-pager") && long.contains("BRIEF_PAGER"), "{long}");
    let one = project().run(&["context", "-h"]).stdout;
    assert!(one.ends_with("Example:\n  $ brief context src/api/orders.py --on edit\n"), "{one}");
}

/// The long list has every command of the definition that is not hidden, once.
#[test]
fn help_all_lists_every_command() {
    let all = project().run(&["help", "--all"]).stdout;
    let definition = brief_cli::build_command_line();
    for command in definition.get_subcommands().filter(|command| !command.is_hide_set()) {
        let line = format!("\n  {} ", command.get_name());
        assert_eq!(all.matches(&line).count(), 1, "{line}: {all}");
    }
    for title in ["Understand", "Trust", "Registry authors", "Many repositories", "Tooling"] {
        assert!(all.contains(&format!("\n{title}\n")), "{title}: {all}");
    }
    assert_eq!(project().run(&["--help", "--all"]).stdout, all);
}

/// A help line is a verb and its object: short, without a clause that explains, and without what brief does not do.
#[test]
fn help_lines_are_short() {
    fn collect(command: &clap::Command, name: &str, lines: &mut Vec<(String, String)>) {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        lines.push((name.to_owned(), about));
        for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            // What follows in brackets is a default.
            let help = help.split(" [").next().unwrap_or_default().to_owned();
            lines.push((format!("{name} {}", arg.get_id()), help));
        }
        for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
            collect(below, &format!("{name} {}", below.get_name()), lines);
        }
    }
    let mut lines = Vec::new();
    collect(&brief_cli::build_command_line(), "brief", &mut lines);
    let mut wrong = Vec::new();
    for (name, line) in &lines {
        let first = line.split(' ').next().unwrap_or_default();
        let is_wrong = line.is_empty()
            || line.chars().count() > 80
            || line.ends_with('.')
            || line.ends_with(" too")
            || ["What", "That", "It", "Which"].contains(&first);
        if is_wrong {
            wrong.push(format!("{name}: {line}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Old names work for one release, with a note for people; clients and JSON on standard output see nothing of it.
#[test]
fn an_old_name_still_works_and_says_its_new_one() {
    let shop = shop();
    let new = shop.run(&["show", "src/cart.py", "claude"]);
    let old = shop.run(&["sees", "src/cart.py", "claude"]);
    assert_eq!(old.stdout, new.stdout);
    assert_eq!(old.stderr, format!("note: `brief sees` is now `brief show`\n{}", new.stderr));
    let json = shop.run(&["receipts", "--json"]);
    assert_eq!(json.json()["kind"], "log");
    assert_eq!(json.stderr, "note: `brief receipts` is now `brief log`\n");
    assert_eq!(shop.run(&["-q", "outdated"]).stderr, "");
    let hook = shop.run_with_input(&["hook", "claude", "--hold"], "{}");
    assert!(!hook.stderr.contains("note:"), "{hook}");
    let error = shop.run(&["recipts"]);
    assert!(error.stderr.contains("tip: a similar subcommand exists: 'log'"), "{error}");
}

/// The tools of the MCP server begin with the sentence of the command with the same answer.
#[cfg(target_os = "linux")]
#[test]
fn tools_and_commands_share_their_sentences() {
    let project = project();
    let mut server = McpProcess::start(&project, &["mcp", "serve"]);
    let listed = server.request_answer(8, "tools/list", &serde_json::json!({}));
    let definition = brief_cli::build_command_line();
    for name in ["context", "why", "show"] {
        let command = definition.find_subcommand(name).unwrap();
        let about = command.get_about().unwrap().to_string();
        let tools = listed["result"]["tools"].as_array().unwrap();
        let tool = tools.iter().find(|tool| tool["name"] == *name).unwrap();
        let description = tool["description"].as_str().unwrap();
        assert!(description.starts_with(&about), "{about}\n{description}");
    }
}

/// U69: colors can be asked for and refused; variables are respected.
#[test]
fn colors_are_the_users_choice() {
    let broken = || project().with_file("AGENTS.yaml", "context: [{content: A, on: x}]\n");
    let has_color = |project: brief_testkit::Sandbox, args: &[&str]| {
        // The streams of a process decide about colors, and its variables.
        project.spawn(args).to_string().contains('\u{1b}')
    };
    for args in [&["why", "a"][..], &["lint"], &["--help"], &["bogus"]] {
        let with = |choice: &'static str| [&["--color", choice], args].concat();
        assert!(has_color(broken(), &with("always")), "{args:?}");
        assert!(!has_color(broken(), &with("never")), "{args:?}");
        assert!(!has_color(broken(), args), "{args:?}");
        assert!(has_color(broken().with_env("CLICOLOR_FORCE", "1"), args), "{args:?}");
        let both = broken().with_env("CLICOLOR_FORCE", "1").with_env("NO_COLOR", "1");
        assert!(!has_color(both, args), "{args:?}");
    }
}

/// U69, U70: warnings follow the answer, the first few of many; `-v` shows all, `-q` none.
#[test]
fn warnings_follow_the_answer_folded() {
    let entries: Vec<_> = (0..9).map(|n| format!("  - {{content: A, unknown{n}: x}}")).collect();
    let entries = entries.join("\n");
    let project = project().with_file("AGENTS.yaml", format!("context:\n{entries}\n"));
    let usual = project.run(&["context", "a"]);
    assert_eq!(usual.stderr.matches("warning[").count(), 5, "{usual}");
    assert!(usual.stderr.ends_with("and 4 more; pass -v to show all\n"), "{usual}");
    let all = project.run(&["context", "a", "-v"]);
    assert_eq!((all.stderr.matches("warning[").count(), &all.stdout), (9, &usual.stdout), "{all}");
    let none = project.run(&["-q", "context", "a"]);
    assert_eq!((none.stderr.as_str(), &none.stdout), ("", &usual.stdout), "{none}");
    assert_eq!(project.run(&["-q", "-v", "context", "a"]).code, Some(2));
    // An error is told in any case.
    let refused = project.run(&["-q", "lint", "nope"]);
    assert_eq!(refused.stderr, "error: file not found: `nope`\n");
}

/// U69: at a terminal a long answer goes to the user's pager, a short one does not; elsewhere none does.
#[cfg(unix)]
#[test]
fn a_long_answer_at_a_terminal_is_paged() {
    let long = |content: &str| format!("context:\n  - content: {content}\n");
    let text = format!("\"{}\"", "line\\n".repeat(200));
    let paged = |text: &str| {
        project().with_file("AGENTS.yaml", long(text)).with_env("BRIEF_PAGER", "sed s/line/LINE/")
    };
    let seen = paged(&text).run_on_screen(&["context", "a"]);
    assert_eq!(seen.matches("LINE").count(), 200, "{seen}");
    let seen = paged(&text).run_on_screen(&["context", "a", "--no-pager"]);
    assert_eq!(seen.matches("line").count(), 200, "{seen}");
    let seen = paged("line").run_on_screen(&["context", "a"]);
    assert!(seen.contains("line") && !seen.contains("LINE"), "{seen}");
    assert!(!paged(&text).run(&["context", "a"]).stdout.contains("LINE"));
    let gone = project().with_file("AGENTS.yaml", long(&text)).with_env("BRIEF_PAGER", "/no/pager");
    assert_eq!(gone.run_on_screen(&["context", "a"]).matches("line").count(), 200);
}

/// U69: a manual page for each command.
#[test]
fn manual_pages_are_written() {
    let project = project();
    let output = project.run(&["man", "pages"]);
    assert_eq!(output.code, Some(0), "{output}");
    let page = project.read("pages/brief-agent-show.1");
    assert!(page.contains(".TH BRIEF-AGENT-SHOW 1 "), "{page}");
    assert!(page.contains(".SH NAME\nbrief\\-agent\\-show \\- "), "{page}");
    assert!(project.run(&["man"]).stdout.contains(".SH NAME\nbrief \\- Find out what"));
}

/// The program tells what it was built from; `--version` stays one line for scripts.
#[test]
fn the_program_tells_what_it_was_built_from() {
    let answer = project().run(&["version", "--json"]).stdout;
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    let program = &answer["program"];
    let version = program["version"].as_str().unwrap();
    assert_eq!(project().run(&["--version"]).stdout, format!("brief {version}\n"));
    assert!(program["target"].as_str().unwrap().contains(std::env::consts::ARCH), "{program}");
    let formats = program["formats"].as_array().unwrap();
    let names: Vec<&str> = formats.iter().map(|one| one["name"].as_str().unwrap()).collect();
    for dialect in ["tasks", "agent-files", "items", "context-dir", "agents-yaml"] {
        assert!(names.contains(&dialect), "{names:?}");
    }
    let text = project().run(&["version"]).stdout;
    assert!(text.starts_with(&format!("brief {version}\ncommit    ")), "{text}");
}

/// Help is data and exit 0 for every command.
#[test]
fn each_command_has_help() {
    for command in [
        &["context"][..],
        &["why"],
        &["tokens"],
        &["coverage"],
        &["diff"],
        &["task"],
        &["task", "list"],
        &["agent"],
        &["agent", "list"],
        &["agent", "check"],
        &["agent", "debug", "command"],
        &["agent", "debug", "abilities"],
        &["agent", "show"],
        &["agent", "debug", "call"],
        &["agent", "run"],
        &["agent", "serve"],
        &["mcp", "servers"],
        &["add"],
        &["remove"],
        &["update"],
        &["stale"],
        &["list"],
        &["sync"],
        &["doctor"],
        &["registry", "build"],
        &["schema"],
        &["show"],
        &["man"],
        &["version"],
        &["log"],
        &["log", "enable"],
        &["replay"],
        &["fleet", "status"],
        &["registry", "publish"],
        &["lint"],
        &["init"],
        &["registry", "fmt"],
        &["registry", "new"],
        &["import"],
        &["hook"],
        &["hook", "claude"],
        &["hook", "install"],
        &["hook", "uninstall"],
        &["completions"],
        &["trust"],
    ] {
        let output = project().run(&[command, &["--help"]].concat());
        assert_eq!((output.stderr.as_str(), output.code), ("", Some(0)), "{command:?}");
        assert!(output.stdout.contains("Usage: brief"), "{output}");
    }
}

/// The version is the package's.
#[test]
fn version_is_printed() {
    let output = project().run(&["--version"]);
    assert_eq!(output.stdout, format!("brief {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(output.code, Some(0));
}

/// Exit code 2: usage. Nothing on standard output, which is for data.
#[test]
fn a_wrong_call_is_exit_2() {
    insta::assert_snapshot!(project().run(&["contxt", "a"]), @"
    ------- stderr -------
    error: unrecognized subcommand 'contxt'

      tip: a similar subcommand exists: 'context'

    Usage: brief [OPTIONS] [COMMAND]

    For more information, try '--help'.
    [exit status: 2]
    [EOF]
    ");
    for args in [&["--bogus"][..], &["hook"], &["hook", "install", "bogus"], &["-C"]] {
        let output = project().run(args);
        assert_eq!((output.stdout.as_str(), output.code), ("", Some(2)), "{args:?}");
        assert!(!output.stderr.is_empty(), "{args:?}");
    }
}

/// Ruling G8: asking never writes inside the project.
#[test]
fn asking_writes_nothing() {
    let shop = shop();
    let names = || {
        let mut names: Vec<_> =
            std::fs::read_dir(shop.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        names.sort_unstable();
        names
    };
    let before = names();
    for args in [
        &["context", "src/cart.py"][..],
        &["context", "--all", "--json"],
        &["context", "--decisions", "src/cart.py"],
        &["why", "src/cart.py"],
        &["tokens"],
        &["tokens", "--tree"],
        &["coverage"],
        &["lint"],
        &["completions", "bash"],
    ] {
        assert_eq!(shop.run(args).code, Some(0), "{args:?}");
    }
    assert_eq!(names(), before);
    assert_eq!(std::fs::read_dir(shop.home()).unwrap().count(), 0, "the home directory too");
}

/// No escape codes unless a terminal reads them.
#[test]
fn a_pipe_gets_no_colors() {
    let project = project().with_file("AGENTS.yaml", "context: [{content: A, on: x}]\n");
    for args in [&["lint"][..], &["context", "a"], &["--help"], &["bogus"]] {
        let output = project.run(args);
        assert!(!output.to_string().contains('\u{1b}'), "{args:?}");
    }
}

/// N35: `brief version` is what people type.
#[test]
fn the_version_is_a_word_as_well() {
    let option = project().run(&["--version"]);
    let word = project().run(&["version"]);
    assert!(word.stdout.starts_with(&option.stdout), "{word}");
    assert_eq!(word.code, Some(0));
}

/// N35: "`brief remove --all` in an empty directory creates `.brief/`".
#[test]
fn clean_writes_nothing_where_nothing_is_installed() {
    let project = project();
    let output = project.run(&["remove", "--all"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(std::fs::read_dir(project.path()).unwrap().count(), 0, "{output}");
}

/// N30: a person who starts the language server by hand is told what it waits for.
#[cfg(unix)]
#[test]
fn a_language_server_at_a_terminal_explains_itself() {
    let output = project().run_at_terminal(&["lsp"], "\u{4}");
    let said = format!("{}{}", output.stdout, output.stderr);
    assert!(
        said.contains("waiting for an editor on standard input; press Ctrl-C to stop"),
        "{output}"
    );
}
