//! Texts that are put into a text, in every corner (ruling T7).

use brief_dialects::tasks::{NotRun, TaskError};
use brief_syntax::limits;
use brief_system::MemorySystem;

use super::support::{
    Scripted, codes, project, rule_texts, run, run_live, task_text, try_live, warnings,
};

fn task(text: &str) -> MemorySystem {
    project().with_file(".agents/tasks/t.md", text)
}

/// The text of a task in which `a` is a parameter, a file and a command.
fn expanded(text: &str) -> String {
    let system = task(text)
        .with_file("a", "FILE")
        .with_file("a.txt", "TEXT")
        .with_file("dir/b.md", "DEEP")
        .with_file("с.md", "CYRILLIC")
        .with_file("sp ace.txt", "SPACE");
    let mut live = Scripted::default().answer("a", "RAN");
    let arguments = ["-p", "a=VALUE", "-p", "Name=UPPER", "-p", "name=LOWER", "t"];
    task_text(&run_live(&system, &arguments, &mut live)).to_owned()
}

/// T7: `${name}` anywhere: in words, in code, in HTML, in headings.
#[test]
fn parameters_are_put_in_anywhere() {
    for (text, expected) in [
        ("${a}", "VALUE"),
        ("x${a}y${a}${a}", "xVALUEyVALUEVALUE"),
        ("`${a}`", "`VALUE`"),
        ("```sh\necho ${a}\n```\n", "```sh\necho VALUE\n```\n"),
        ("<p title=\"${a}\">", "<p title=\"VALUE\">"),
        ("# ${a}\r\n", "# VALUE\r\n"),
        ("$${a}", "$VALUE"),
        ("\\${a}", "\\VALUE"),
    ] {
        assert_eq!(expanded(text), expected, "{text}");
    }
}

/// T7: "`${name}` (exact case, then lower case)".
#[test]
fn the_exact_name_comes_before_the_lower_case_one() {
    assert_eq!(expanded("${Name} ${name} ${NAME} ${A}"), "UPPER LOWER LOWER VALUE");
}

/// The document: "`${parameter_name}`"; everything else with a dollar is text.
#[test]
fn what_is_no_placeholder_stays() {
    for text in ["$a", "$(a)", "${", "${}", "${a", "$ {a}", "{a}", "${a\n}", "$$", "\\$"] {
        assert_eq!(expanded(text), text);
    }
}

/// Our ruling T7: "A name does not go over a line break", not even when there is such a parameter.
#[test]
fn a_name_does_not_go_over_a_line_break() {
    let prompt = run(&task("${a\nb}"), &["-p", "a\nb=VALUE", "t"]);
    assert_eq!(task_text(&prompt), "${a\nb}");
    assert_eq!(codes(&prompt), ["(the command line):1 tasks/unused-parameter"]);
}

/// Last of one name counts; an empty value is a value (reference 1.7).
#[test]
fn an_empty_value_is_a_value() {
    let prompt = run(&task("[${v}] [${w}]"), &["-p", "v=", "-p", "w=1", "-p", "w=2", "t"]);
    assert_eq!(task_text(&prompt), "[] [2]");
    assert_eq!(warnings(&prompt), [""; 0]);
}

/// T7: `` !`cmd` `` anywhere, over lines too; without an end or without a command it is text.
#[test]
fn commands_are_put_in_anywhere() {
    for (text, expected) in [
        ("!`a`", "RAN"),
        ("x!`a`y", "xRANy"),
        ("```\n!`a`\n```\n", "```\nRAN\n```\n"),
        ("! `a`", "! `a`"),
        ("`a`!", "`a`!"),
        ("!`a", "!`a"),
        ("!``", "!``"),
        ("!` `", "!` `"),
        ("!!`a`", "!RAN"),
    ] {
        assert_eq!(expanded(text), expected, "{text}");
    }
    let mut live = Scripted::default().answer("", "RAN").answer(" ", "RAN");
    run_live(&task("!`` !` ` !`"), &["t"], &mut live);
    assert_eq!(live.commands, [""; 0], "nothing is no command");
    let system = task("!`one\ntwo`");
    let mut live = Scripted::default().answer("one\ntwo", "LINES");
    assert_eq!(task_text(&run_live(&system, &["t"], &mut live)), "LINES");
}

/// Reference 1.6: "Params are not substituted inside CMD": a value is never pasted into a shell.
#[test]
fn parameters_never_reach_a_shell() {
    let system = task("!`echo ${a}` ${a}");
    let mut live = Scripted::default().answer("echo ${a}", "out");
    let prompt = run_live(&system, &["-p", "a=`rm -rf /`", "t"], &mut live);
    assert_eq!(live.commands, ["echo ${a}"]);
    assert_eq!(task_text(&prompt), "out `rm -rf /`");
}

/// T7: `@path` at the "start of text or after white space".
#[test]
fn a_path_begins_a_word() {
    for (text, expected) in [
        ("@a", "FILE"),
        ("x @a", "x FILE"),
        ("x\t@a\ty", "x\tFILE\ty"),
        ("x\n@a\n", "x\nFILE\n"),
        ("x\r\n@a\r\n", "x\r\nFILE\r\n"),
        ("@a @a", "FILE FILE"),
        ("  @dir/b.md", "  DEEP"),
        ("@./dir/../a", "FILE"),
        ("@с.md", "CYRILLIC"),
        ("@sp\\ ace.txt", "SPACE"),
        ("user@a", "user@a"),
        ("(@a)", "(@a)"),
        ("\"@a\"", "\"@a\""),
        ("[@a](x)", "[@a](x)"),
        ("@", "@"),
        ("@ a", "@ a"),
        ("x@ a", "x@ a"),
        ("`@a`", "`@a`"),
        ("@@a", "@@a"),
        // In a word after `@` nothing else is expanded.
        ("@${a}", "@${a}"),
        ("@x!`a`", "@x!`a`"),
    ] {
        assert_eq!(expanded(text), expected, "{text}");
    }
}

/// T7: "trailing `,.;:)` are not part of the path if the file exists without them".
#[test]
fn punctuation_after_a_path_is_no_part_of_it() {
    for (text, expected) in [
        ("See @a.txt.", "See TEXT."),
        ("See @a.txt, then", "See TEXT, then"),
        ("@a.txt;", "TEXT;"),
        ("@a.txt:", "TEXT:"),
        ("( @a.txt)", "( TEXT)"),
        ("( @a.txt).", "( TEXT)."),
        ("@a.txt...", "TEXT..."),
        ("@a.txt,\n@a.", "TEXT,\nFILE."),
        ("@a.txt!", "@a.txt!"),
        ("@a.txt?", "@a.txt?"),
        ("@a.txt'", "@a.txt'"),
        ("@sp\\ ace.txt.", "SPACE."),
        ("@.", "@."),
        ("@...", "@..."),
    ] {
        assert_eq!(expanded(text), expected, "{text}");
    }
}

/// T7: punctuation that is part of a file's name stays part of it.
#[test]
fn a_file_whose_name_ends_in_punctuation_is_found() {
    let system = task("@odd. @odd").with_file("odd.", "DOT").with_file("odd", "PLAIN");
    assert_eq!(task_text(&run(&system, &["t"])), "DOT PLAIN");
}

/// T7: "Missing things stay as written with a warning that names them and their line."
#[test]
fn missing_things_are_named_with_their_line() {
    let text = "---\na: b\n---\n\n${one} ${two}\n!`three`\n\n@four.txt, ${one}\n@four.txt,\n";
    let prompt = run(&task(text), &["t"]);
    assert_eq!(task_text(&prompt), &text[13..]);
    assert_eq!(
        warnings(&prompt),
        [
            ".agents/tasks/t.md:5 tasks/missing-parameter `${one}` stays as written: no parameter `one` was given (once more below)",
            ".agents/tasks/t.md:5 tasks/missing-parameter `${two}` stays as written: no parameter `two` was given",
            ".agents/tasks/t.md:6 tasks/command-failed the command `three` stays as written: exit status 1",
            ".agents/tasks/t.md:8 tasks/missing-file `@four.txt,` stays as written: file not found (once more below)",
        ]
    );
}

/// The lines of warnings are those of the file, also in a rule, in a command, in CRLF and in bytes
/// that are no text.
#[test]
fn lines_are_those_of_the_file() {
    let system = task("\n/c\n")
        .with_file(".agents/commands/c.md", "---\r\na: b\r\n---\r\nx\r\n${in_command}\r\n")
        .with_file(".agents/rules/r.md", b"\xff\xfe\xff\n\xff ${in_rule}\n".as_slice());
    let prompt = run(&system, &["t"]);
    assert_eq!(
        codes(&prompt),
        [
            ".agents/rules/r.md:2 tasks/missing-parameter",
            ".agents/commands/c.md:5 tasks/missing-parameter",
        ]
    );
}

/// G10: a file with secrets is never read, for any author, and however the name is spelled.
#[test]
fn files_that_hold_secrets_are_not_put_in() {
    let mut system = task("").with_link("innocent.txt", ".env").with_dir("sub");
    let secrets = [".env", "server.key", "id.pem", ".ssh/id_rsa", "credentials.json", "sub/.env"];
    for path in secrets {
        system = system.with_file(path, "SECRET");
    }
    for path in secrets.into_iter().chain(["./.env", "sub/../.env", ".env.", "innocent.txt"]) {
        let text = format!("a\n@{path}\n");
        let system = system.clone().with_file(".agents/tasks/t.md", &text);
        let prompt = run(&system, &["t"]);
        assert_eq!(task_text(&prompt), text);
        assert_eq!(codes(&prompt), [".agents/tasks/t.md:2 tasks/sensitive-file"], "{path}");
    }
}

/// G10: "`conformance/exclusion-matrix.json` … holds for every channel that reads on behalf of a
/// project": each spelling, laid out and asked for.
#[test]
fn the_matrix_of_spellings_holds_for_files_that_texts_put_in() {
    let text = include_str!("../../../../conformance/hosted/exclusion-matrix.json");
    let matrix: serde_json::Value = serde_json::from_str(text).unwrap();
    let rows = matrix["rows"].as_array().unwrap();
    assert!(rows.len() > 500);
    for row in rows {
        let path = row["path"].as_str().unwrap();
        let mut system = project();
        match row["symlink_to"].as_str() {
            Some(target) => {
                system = system
                    .with_file(&format!("/p/{target}"), "CONTENT")
                    .with_link(path, &format!("/p/{target}"));
            }
            None => system = system.with_file(path, "CONTENT"),
        }
        let written = path.replace(' ', "\\ ");
        let system = system.with_file(".agents/tasks/t.md", format!("@{written}\n"));
        let is_read = task_text(&run(&system, &["t"])).contains("CONTENT");
        assert_eq!(is_read, row["expect"] == "included", "{row}");
    }
}

/// G10: the name counts as it is asked for and as it is after all links.
#[test]
fn a_link_with_the_name_of_a_secret_is_not_put_in() {
    let system =
        task("@.env @notes.txt").with_link(".env", "notes.txt").with_file("notes.txt", "N");
    assert_eq!(task_text(&run(&system, &["t"])), "@.env N");
}

/// A name cannot be cut short by a byte that ends it for the system.
#[test]
fn a_path_with_a_nul_byte_leads_nowhere() {
    let system = task("@a\0b").with_file("a\0b", "FILE").with_file("a", "FILE");
    assert_eq!(task_text(&run(&system, &["t"])), "@a\0b");
}

/// G10: not by an absolute path either.
#[test]
fn secrets_elsewhere_are_not_put_in() {
    let system = task("@/h/.aws/credentials @/h/.ssh/id_ed25519")
        .with_file("/h/.aws/credentials", "SECRET")
        .with_file("/h/.ssh/id_ed25519", "SECRET");
    assert!(!task_text(&run(&system, &["t"])).contains("SECRET"));
}

/// G5: regular files only, of one mebibyte at most; a directory is none.
#[test]
fn what_is_no_file_of_a_sensible_size_stays() {
    let limit = usize::try_from(limits::FILE_BYTES).unwrap();
    let system = task("@fifo\n@dir\n@large\n@full\n@dir/.\n")
        .with_fifo("fifo")
        .with_dir("dir")
        .with_file("large", vec![b'x'; limit + 1])
        .with_file("full", vec![b'x'; limit]);
    let prompt = run(&system, &["t"]);
    let full = "x".repeat(limit);
    assert!(task_text(&prompt) == format!("@fifo\n@dir\n@large\n{full}\n@dir/.\n"));
    assert_eq!(
        warnings(&prompt),
        [
            ".agents/tasks/t.md:1 tasks/unreadable-file `@fifo` stays as written: is not a regular file",
            ".agents/tasks/t.md:2 tasks/unreadable-file `@dir` stays as written: is a directory",
            ".agents/tasks/t.md:3 tasks/unreadable-file `@large` stays as written: is larger than 1048576 bytes",
            ".agents/tasks/t.md:5 tasks/unreadable-file `@dir/.` stays as written: is a directory",
        ]
    );
}

/// G7, G8: text that came over a network reads files of the project only; the user's own reads what
/// the user may (the document: "Path can be absolute").
#[test]
fn remote_text_reads_nothing_outside_the_project() {
    let text = "@/h/notes.txt @../h/notes.txt @link.txt @inside.txt\n";
    let system = project()
        .with_file("/r/.agents/tasks/t.md", text)
        .with_file("/h/notes.txt", "PRIVATE")
        .with_link("link.txt", "/h/notes.txt")
        .with_file("inside.txt", "INSIDE");
    let prompt = run(&system, &["-d", "remote:/r", "t"]);
    assert_eq!(task_text(&prompt), "@/h/notes.txt @../h/notes.txt @link.txt INSIDE\n");
    assert_eq!(codes(&prompt), ["/r/.agents/tasks/t.md:1 tasks/outside-project"; 3]);
    let own = run(&system, &["-d", "/r", "t"]);
    assert_eq!(task_text(&own), "PRIVATE PRIVATE PRIVATE INSIDE\n");
}

/// X02: a text of a project reads nothing outside the project, by whatever spelling or link, and does not
/// learn what is there.
#[test]
fn a_projects_text_reads_nothing_outside_the_project() {
    let text = "@/h/notes.txt @../h/notes.txt @link.txt @inside.txt @a/../../h/notes.txt @/h/none @/p/inside.txt\n";
    let system = project()
        .with_file("/r/.agents/tasks/t.md", text)
        .with_file("/h/notes.txt", "PRIVATE")
        .with_link("link.txt", "/h/notes.txt")
        .with_file("a/b.txt", "")
        .with_file("inside.txt", "INSIDE");
    let prompt = run(&system, &["-d", "project:/r", "t"]);
    let expected = text.replace("@inside.txt", "INSIDE").replace("@/p/inside.txt", "INSIDE");
    assert_eq!(task_text(&prompt), expected);
    assert_eq!(codes(&prompt), ["/r/.agents/tasks/t.md:1 tasks/outside-project"; 5]);
}

/// X02: what the system makes up (the environment of processes, devices) is never read, whosever text
/// asks, also through links and `..`.
#[test]
fn files_of_the_system_are_never_read() {
    let text = "@/proc/self/environ @//proc/1/environ @../proc/self/environ @link @a/link/self/environ \
                @/sys/kernel/x @/dev/stdin @/./proc/self/environ @/h/../proc/self/environ\n";
    let system = project()
        .with_file("/r/.agents/tasks/t.md", text)
        .with_file("/proc/self/environ", "PRIVATE")
        .with_file("/proc/1/environ", "PRIVATE")
        .with_file("/sys/kernel/x", "PRIVATE")
        .with_file("/dev/stdin", "PRIVATE")
        .with_file("/h/notes.txt", "")
        .with_link("link", "/proc/self/environ")
        .with_link("a/link", "/proc");
    for author in ["/r", "project:/r", "remote:/r"] {
        let prompt = run(&system, &["-d", author, "t"]);
        assert_eq!(task_text(&prompt), text, "{author}");
        assert_eq!(codes(&prompt), ["/r/.agents/tasks/t.md:1 tasks/system-file"; 9], "{author}");
    }
}

/// G7: a command that is not trusted stays, and the way out is told.
#[test]
fn a_command_that_is_not_trusted_stays() {
    let system = project().with_file("/r/.agents/tasks/t.md", "!`date`\n");
    let mut live = Scripted::default().refuse("date", NotRun::Untrusted);
    let prompt = run_live(&system, &["-d", "remote:/r", "t"], &mut live);
    assert_eq!(task_text(&prompt), "!`date`\n");
    assert_eq!(codes(&prompt), ["/r/.agents/tasks/t.md:1 tasks/untrusted"]);
    let help = prompt.diagnostics[0].help.as_deref().unwrap();
    assert!(help.contains("`brief trust /r/.agents/tasks/t.md`"), "{help}");
}

/// G7: with execution off everything stays as written, and the user knows already.
#[test]
fn with_execution_off_commands_stay_without_a_word() {
    let mut live = Scripted::default().refuse("date", NotRun::Off);
    let prompt = run_live(&task("!`date`\n"), &["t"], &mut live);
    assert_eq!(task_text(&prompt), "!`date`\n");
    assert_eq!(warnings(&prompt), [""; 0]);
}

/// An interruption brings no half prompt.
#[test]
fn an_interruption_ends_it() {
    let mut live = Scripted::default().refuse("sleep 9", NotRun::Interrupted);
    let outcome = try_live(&task("!`sleep 9` !`never`"), &["t"], &mut live);
    assert!(matches!(outcome, Err(TaskError::Interrupted)));
    assert_eq!(live.commands, ["sleep 9"]);
}

/// T7: "`expand: false` turns off all three for that file", and for no other.
#[test]
fn expand_false_turns_off_all_three_for_that_file_only() {
    let all = "${a} !`a` @a\n";
    let off = format!("---\nexpand: false\n---\n{all}");
    let system = project()
        .with_file("a", "FILE")
        .with_file(".agents/rules/off.md", &off)
        .with_file(".agents/rules/on.md", all)
        .with_file(".agents/commands/off.md", &off)
        .with_file(".agents/commands/on.md", all)
        .with_file(".agents/tasks/off.md", format!("{off}/on\n/off\n"))
        .with_file(".agents/tasks/on.md", format!("{all}/on\n/off\n"));
    let run = |name: &str| {
        let mut live = Scripted::default().answer("a", "RAN");
        run_live(&system, &["-p", "a=VALUE", name], &mut live)
    };
    let on = "VALUE RAN FILE\n";
    for (name, own) in [("off", all), ("on", on)] {
        let prompt = run(name);
        assert_eq!(rule_texts(&prompt), [all, on]);
        assert_eq!(task_text(&prompt), format!("{own}{on}{all}"), "{name}");
        assert_eq!(warnings(&prompt), [""; 0]);
    }
}

/// G1: YAML 1.2 has two booleans. A file whose `expand` is anything else is not expanded, because
/// what is not expanded does nothing.
#[test]
fn expand_is_a_boolean() {
    for (value, is_on) in [
        ("true", true),
        ("True", true),
        ("false", false),
        ("False", false),
        ("FALSE", false),
        ("\"false\"", false),
        ("no", false),
        ("[true]", false),
        ("", true),
    ] {
        let system = task(&format!("---\nexpand: {value}\n---\n${{a}}"));
        let expected = if is_on { "VALUE" } else { "${a}" };
        assert_eq!(task_text(&run(&system, &["-p", "a=VALUE", "t"])), expected, "{value}");
    }
}

/// Reference 1.5: what the user adds comes after a line of dashes and gets the same treatment.
#[test]
fn the_users_prompt_is_a_text_like_the_tasks() {
    let system = task("Body").with_file("a", "FILE").with_file(".agents/commands/c.md", "C ${a}\n");
    let mut live = Scripted::default().answer("a", "RAN");
    let arguments = ["-p", "a=VALUE", "t", "${a} !`a` @a\n/c\n"];
    let prompt = run_live(&system, &arguments, &mut live);
    assert_eq!(task_text(&prompt), "Body\n---\nVALUE RAN FILE\nC VALUE\n");
}

/// Reference 1.5: it also gets "the task's `expand`"; its lines are its own.
#[test]
fn the_users_prompt_has_the_tasks_expand() {
    let system = task("---\nexpand: false\n---\n${a}\n");
    let prompt = run(&system, &["-p", "a=VALUE", "t", "${a}\n/unknown\n"]);
    assert_eq!(task_text(&prompt), "${a}\n---\n${a}\n/unknown\n");
    assert_eq!(codes(&prompt), ["(the user's prompt):2 tasks/unknown-command"]);
}

/// The user's added text is text: it has no front matter.
#[test]
fn the_users_prompt_has_no_front_matter() {
    let prompt = run(&task("Body\n"), &["-p", "a=VALUE", "t", "---\nexpand: false\n---\n${a}"]);
    assert_eq!(task_text(&prompt), "Body\n---\n---\nexpand: false\n---\nVALUE");
}

/// G5: a prompt that no model can use is refused, not built.
#[test]
fn a_prompt_that_is_too_large_is_refused() {
    let mebibyte = vec![b'x'; usize::try_from(limits::FILE_BYTES).unwrap()];
    let system = task(&"@large\n".repeat(17)).with_file("large", mebibyte);
    let outcome = try_live(&system, &["t"], &mut Scripted::default());
    assert_eq!(outcome.unwrap_err().to_string(), "the prompt would be larger than 16777216 bytes");
}

/// A file that a command makes is there for the text after it.
#[test]
fn a_command_may_make_a_file_that_follows() {
    let system = task("@made.txt !`make` @made.txt");
    let mut live =
        Scripted::default().answer("make", "").makes(&system, "make", "/p/made.txt", "MADE");
    let prompt = run_live(&system, &["t"], &mut live);
    assert_eq!(task_text(&prompt), "@made.txt  MADE");
}
