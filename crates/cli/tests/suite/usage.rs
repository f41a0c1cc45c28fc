//! The command line as a whole: help, version, exit codes.

use crate::{project, shop};

/// Without a command, the help says what there is.
#[test]
fn help_lists_the_commands() {
    insta::assert_snapshot!(project().run(&["--help"]), @"
    Give a coding agent exactly the guidance it needs, and show why

    Usage: brief [OPTIONS] <COMMAND>

    Commands:
      context      Show everything that applies to a file or directory
      decisions    Show the decisions that bind a file or directory
      why          Show each candidate for a file or directory, in or out, and the reason
      sees         Show what each client sees for a file or directory, and how it comes to it
      tokens       Show what costs how many tokens: for a path, or in the whole project
      tree         Show which directory has which guidance
      coverage     Show patterns that match nothing, items that never apply, files without guidance
      diff         Show for which files the guidance changes between two revisions, and how
      task         Assemble a prompt: a task, the rules chosen for it, its commands and skills
      agent        Check, run and serve agent files
      mcp-servers  Show the MCP servers that are configured for a file or directory
      add          Add items from a registry, for the project's clients or the user's
      remove       Remove items, bundles or sources, and the files that were written for them
      update       Move sources to the newest commit of their branch or tag
      outdated     Show which sources have moved on since they were locked
      list         Show what is installed, and where it comes from
      sync         Make the project what brief.toml and brief.lock say [alias: install]
      clean        Remove what was installed, and nothing else
      build        Compile portable rules, skills and agents into each client's own files
      lint         Check guidance files, every format at once
      fmt          Lay out the items of a source registry: front matter and body
      init         Write an AGENTS.yaml to start from
      new          Write a new item of a source registry, to go on from
      hook         Answer a client's hook, or set it up
      trust        Let files from elsewhere execute, by their exact content
      doctor       Look for what goes wrong in silence: doubles, drift, files that nobody reads
      schema       Print the JSON Schema of a configuration file, for editors
      completions  Print a completion script for a shell
      help         Print this message or the help of the given subcommand(s)

    Options:
      -C <DIR>       Work as if started in DIR
      -h, --help     Print help
      -V, --version  Print version
    [EOF]
    ");
    assert_eq!(project().run(&["help"]).stdout, project().run(&["--help"]).stdout);
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
        &["list"],
        &["sync"],
        &["clean"],
        &["doctor"],
        &["build"],
        &["schema"],
        &["lint"],
        &["init"],
        &["fmt"],
        &["new"],
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

    Usage: brief [OPTIONS] <COMMAND>

    For more information, try '--help'.
    [exit status: 2]
    [EOF]
    ");
    for args in [&[][..], &["--bogus"], &["hook"], &["hook", "bogus"], &["-C"]] {
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
fn a_pipe_gets_no_colours() {
    let project = project().with_file("AGENTS.yaml", "context: [{content: A, on: x}]\n");
    for args in [&["lint"][..], &["context", "a"], &["--help"], &["bogus"]] {
        let output = project.run(args);
        assert!(!output.to_string().contains('\u{1b}'), "{args:?}");
    }
}

/// The worker for agents' tools is nobody's command: it talks to its parent only.
#[test]
fn the_worker_is_hidden_and_says_nothing() {
    let output = project().run(&["__js-worker"]);
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("", ""));
    assert_eq!(output.code, Some(1));
    let output = project().run(&["-C", ".", "__js-worker"]);
    assert_eq!(output.code, Some(2), "{output}");
    assert!(!project().run(&["--help"]).stdout.contains("worker"));
}
