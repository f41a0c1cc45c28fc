//! The command line as a whole: help, version, exit codes.

use crate::{project, shop};

/// U69: without a command, the help says what there is, by what a person wants to do, with examples.
#[test]
fn help_lists_the_commands() {
    insta::assert_snapshot!(project().run(&["-h"]), @"
    Give a coding agent exactly the guidance it needs, and show why

    Usage: brief [OPTIONS] <COMMAND>

    See what an agent is told, and why:
      context      Show everything that applies to a file or directory
      why          Show each candidate for a file or directory, in or out, and the reason
      sees         Show what each client has for a file or directory, and how it gets it
      decisions    Show the decisions that bind a file or directory
      tokens       Show token costs: for a path, or in the whole project
      tree         Show which directory has which guidance
      coverage     Show patterns that match nothing, items that never apply, files without guidance
      diff         Show for which files the guidance changes between two revisions, and how
      receipts     Show what agents were told, when, why and at what cost
      view         Show the project in a browser: what each agent sees, and what it costs
      $ brief context src/api/orders.py --on edit

    Write guidance, and check it:
      init         Write an AGENTS.yaml from a template, and name the clients in use
      new          Write a new item of a source registry from a template
      import       Turn clients' own files into portable items
      convert      Turn one client's files into another client's, without a registry
      lint         Check guidance files, every format at once
      fmt          Format the items of a source registry: front matter and body
      stale        Show what texts name and the project no longer has
      lsp          Serve an editor over standard input and output, as a language server
      schema       Print the JSON Schema of a file that people write, for editors
      $ brief init

    Share items of registries:
      add          Add items from a registry, for the project's clients or the user's
      remove       Remove items, bundles or sources, and the files that were written for them
      update       Move sources to the newest commit of their branch or tag
      outdated     Show sources with commits newer than brief.lock
      publish      Publish items of this directory as an artifact in a container registry
      promote      Set a tag such as `stable` to an artifact that is published already
      fleet        Show what many repositories have installed, and at which version
      list         Show what is installed, and where it comes from
      search       Search the items of sources, the best first
      sync         Make the project match brief.toml and brief.lock
      build        Compile portable rules, skills, agents and commands into each client's own files
      audit        Show what guidance can do: commands, tools, hosts, hidden text
      deps         Show which installed packages ship guidance
      clean        Remove the installed files, and nothing else
      $ brief add acme/guidance@v1.2.0 platform-baseline

    Deliver it to clients:
      hook         Answer a client's hook, or set it up
      mcp          Serve the project's guidance to an MCP client over standard input and output
      mcp-servers  Show the MCP servers that are configured for a file or directory
      $ brief hook install claude

    Run tasks and agents:
      task         Assemble a prompt: a task, the rules chosen for it, its commands and skills
      agent        Check, run and serve agent files
      trust        Allow a project, or files from elsewhere, to execute
      $ brief task fix-bug -p issue=SHOP-12

    Help:
      doctor       Look for problems that nothing reports: duplicates, drift, files that no client reads
      completions  Print a completion script for a shell
      man          Print the manual page, or write one for each command
      self         Show facts about this program
      help         Print this help, or that of a command
      $ brief doctor

    Options:
      -C <DIR>       Work as if started in DIR
      -h, --help     Print help (see more with '--help')
      -V, --version  Print version
    [EOF]
    ");
    assert_eq!(project().run(&["help"]).stdout, project().run(&["--help"]).stdout);
    let long = project().run(&["--help"]).stdout;
    assert!(long.contains("First steps:") && long.contains("BRIEF_PAGER"), "{long}");
    let one = project().run(&["context", "-h"]).stdout;
    assert!(one.ends_with("Example:\n  $ brief context src/api/orders.py --on edit\n"), "{one}");
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
    assert!(usual.stderr.ends_with("and 4 more like these; -v shows all\n"), "{usual}");
    let all = project.run(&["context", "a", "-v"]);
    assert_eq!((all.stderr.matches("warning[").count(), &all.stdout), (9, &usual.stdout), "{all}");
    let none = project.run(&["-q", "context", "a"]);
    assert_eq!((none.stderr.as_str(), &none.stdout), ("", &usual.stdout), "{none}");
    assert_eq!(project.run(&["-q", "-v", "context", "a"]).code, Some(2));
    // An error is told in any case.
    let refused = project.run(&["-q", "lint", "nope"]);
    assert_eq!(refused.stderr, "error: `nope` does not exist\n");
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
    assert!(project.run(&["man"]).stdout.contains(".SH NAME\nbrief \\- Give a coding agent"));
}

/// The program tells what it was built from; `--version` stays one line for scripts.
#[test]
fn the_program_tells_what_it_was_built_from() {
    let answer = project().run(&["self", "version", "--json"]).stdout;
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    let program = &answer["program"];
    let version = program["version"].as_str().unwrap();
    assert_eq!(project().run(&["--version"]).stdout, format!("brief {version}\n"));
    assert!(program["target"].as_str().unwrap().contains(std::env::consts::ARCH), "{program}");
    assert_eq!(program["features"], serde_json::json!(["agent"]));
    let formats = program["formats"].as_array().unwrap();
    let names: Vec<&str> = formats.iter().map(|one| one["name"].as_str().unwrap()).collect();
    for dialect in ["tasks", "agent-files", "items", "context-dir", "agents-yaml"] {
        assert!(names.contains(&dialect), "{names:?}");
    }
    let text = project().run(&["self", "version"]).stdout;
    assert!(text.starts_with(&format!("brief {version}\ncommit    ")), "{text}");
}

/// Help is data and exit 0 for every command.
#[test]
fn each_command_has_help() {
    for command in [
        &["context"][..],
        &["decisions"],
        &["why"],
        &["tokens"],
        &["tree"],
        &["coverage"],
        &["diff"],
        &["task"],
        &["task", "list"],
        &["agent"],
        &["agent", "list"],
        &["agent", "check"],
        &["agent", "command"],
        &["agent", "abilities"],
        &["agent", "show"],
        &["agent", "call"],
        &["agent", "ready"],
        &["agent", "run"],
        &["agent", "serve"],
        &["mcp-servers"],
        &["add"],
        &["remove"],
        &["update"],
        &["outdated"],
        &["stale"],
        &["list"],
        &["sync"],
        &["clean"],
        &["doctor"],
        &["build"],
        &["schema"],
        &["sees"],
        &["man"],
        &["self", "version"],
        &["lint"],
        &["init"],
        &["fmt"],
        &["new"],
        &["import"],
        &["convert"],
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

      tip: some similar subcommands exist: 'convert', 'context'

    Usage: brief [OPTIONS] <COMMAND>

    For more information, try '--help'.
    [exit status: 2]
    [EOF]
    ");
    for args in [&[][..], &["--bogus"], &["hook"], &["hook", "install", "bogus"], &["-C"]] {
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
        &["decisions", "src/cart.py"],
        &["why", "src/cart.py"],
        &["tokens"],
        &["tree"],
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

/// The worker for agents' tools is not a command for users: it talks to its parent only.
#[test]
fn the_worker_is_hidden_and_says_nothing() {
    let output = project().spawn(&["__js-worker"]);
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("", ""));
    assert_eq!(output.code, Some(1));
    let output = project().run(&["-C", ".", "__js-worker"]);
    assert_eq!(output.code, Some(2), "{output}");
    assert!(!project().run(&["--help"]).stdout.contains("worker"));
}

/// N35: `brief version` is what people type.
#[test]
fn the_version_is_a_word_as_well() {
    let option = project().run(&["--version"]);
    let word = project().run(&["version"]);
    assert_eq!((word.stdout, word.code), (option.stdout, Some(0)));
}

/// N35: "`brief clean` in an empty directory creates `.brief/`".
#[test]
fn clean_writes_nothing_where_nothing_is_installed() {
    let project = project();
    let output = project.run(&["clean"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(std::fs::read_dir(project.path()).unwrap().count(), 0, "{output}");
}

/// N30: a person who starts the language server by hand is told what it waits for.
#[cfg(unix)]
#[test]
fn a_language_server_at_a_terminal_explains_itself() {
    let output = project().run_at_terminal(&["lsp"], "\u{4}");
    let said = format!("{}{}", output.stdout, output.stderr);
    assert!(said.contains("waiting for an editor on standard input; Ctrl-C ends it"), "{output}");
}
