//! What a shell would run, by the manual of bash 5.2 and POSIX.1-2024 (chapter 2).

use super::*;

/// Shows commands as `directory: words | redirections`, with `?` for what is not certain.
fn shown(text: &str) -> Vec<String> {
    parse_commands(text).iter().map(show).collect()
}

fn show(command: &SimpleCommand) -> String {
    let mut parts = Vec::new();
    match command.directory.as_deref().map(Path::to_str) {
        Some(Some("")) => {}
        Some(path) => parts.push(format!("{}:", path.unwrap())),
        None => parts.push("?:".to_owned()),
    }
    parts.extend(command.assignments.iter().map(|one| format!("{}=", one.name)));
    let word = |word: &ShellWord| match word.form {
        WordForm::Literal => word.text.clone(),
        WordForm::Pattern => format!("*{}*", word.text),
        WordForm::Expansion => format!("?{}?", word.text),
    };
    parts.extend(command.words.iter().map(word));
    for redirect in &command.redirects {
        let sign = match redirect.kind {
            RedirectKind::Read => "<",
            RedirectKind::Write => ">",
            RedirectKind::Append => ">>",
            RedirectKind::ReadWrite => "<>",
        };
        parts.push(format!("{sign}{}", word(&redirect.target)));
    }
    if let Some(input) = &command.input {
        parts.push(format!("<<{:?}", input.text));
    }
    parts.join(" ")
}

fn check(cases: &[(&str, &[&str])]) {
    for (text, expected) in cases {
        assert_eq!(shown(text), *expected, "{text}");
    }
}

#[test]
fn quotes_and_escapes() {
    check(&[
        (r"a 'b c' d\ e", &["a b c d e"]),
        (r#"a "b \" \$ \\ \n""#, &[r#"a b " $ \ \n"#]),
        ("a b'c'\"d\"e", &["a bcde"]),
        ("a\\\nb c \\\n d", &["ab c d"]),
        ("''", &[""]),
        ("a \\", &["a \\"]),
        (r"a $'b\n\x41\u00e9\'' c", &["a b\nA\u{e9}' c"]),
        (r"a $'\q'", &["a ??"]),
        (r#"a $"b""#, &["a b"]),
        ("a 'b", &["a ?b?"]),
        ("a \"b", &["a ?b?"]),
        ("a#b # c\nd", &["a#b", "d"]),
        ("cost $ $5 5$", &["cost $ ?$5? 5$"]),
    ]);
    assert!(!parse_script("a 'b", None).is_complete);
    assert!(parse_script("a 'b'", None).is_complete);
}

/// POSIX 2.9: lists, pipelines, groups and keywords.
#[test]
fn commands_are_separated() {
    check(&[
        ("a; b & c && d || e | f |& g\nh", &["a", "b", "c", "d", "e", "f", "g", "h"]),
        ("if a; then b; elif c; then d; else e; fi", &["a", "b", "c", "d", "e"]),
        ("while ! a; do b; done; until c; do d; done", &["a", "b", "c", "d"]),
        ("for x in a $(b) c; do d $x; done", &["b", "d ?$x?"]),
        ("for ((i = 0; i < 3; i++)); do a; done", &["a"]),
        ("case $x in a | b) c ;; (*) d ;& e) f ;; esac; g", &["c", "d", "f", "g"]),
        ("case x in\n a)\n  b\n  ;;\nesac > f", &["b", ">f"]),
        ("{ a; b; } > c", &["a", "b", ">c"]),
        ("(a; (b)) < c", &["a", "b", "<c"]),
        ("((i++)) && a $((1 + (2))) b", &["a ?$((1 + (2)))? b"]),
        ("((a) ; b)", &["a", "b"]),
        ("f() { a; }; function g { b; }; c", &["a", "b", "c"]),
        ("[[ $a == (b|c)* && -f d ]] && e", &["[[ ?$a? == b c *** -f d ]]", "e"]),
        ("[ -f a ] && b", &["[ -f a ]", "b"]),
        ("time a; exec b", &["time a", "exec b"]),
        ("echo if; 'if' a", &["echo if", "if a"]),
        ("a\r\nb\r\n", &["a", "b"]),
    ]);
    let connectors: Vec<_> =
        parse_commands("a && b || c | d; e").iter().map(|c| c.connector).collect();
    let expected =
        [Connector::Sequence, Connector::And, Connector::Or, Connector::Pipe, Connector::Sequence];
    assert_eq!(connectors, expected);
}

/// POSIX 2.7: redirections, and those of bash.
#[test]
fn redirections_have_targets() {
    check(&[
        ("a >b 2>>c <d <>e >|f", &["a >b >>c <d <>e >f"]),
        ("a &>b; c &>>d; e >&f", &["a >b", "c >>d", "e >f"]),
        ("a 2>&1 >&- <&3 {log}>b", &["a >b"]),
        ("a 2 >b", &["a 2 >b"]),
        (">a b", &["b >a"]),
        ("a > >(tee b) < <(c d)", &["tee b", "c d", "a >?>(tee b)? <?<(c d)?"]),
        ("diff <(a) <(b)", &["a", "b", "diff ?<(a)? ?<(b)?"]),
        ("a <<< 'b c'", &["a <<\"b c\""]),
    ]);
}

#[test]
fn here_documents_are_input() {
    check(&[
        ("cat <<E > f\na; b\nE\nc", &["cat >f <<\"a; b\\n\"", "c"]),
        ("cat <<-E\n\ta\n\tE\nc", &["cat <<\"a\\n\"", "c"]),
        ("a <<X; b <<Y\n1\nX\n2\nY\nc", &["a <<\"1\\n\"", "b <<\"2\\n\"", "c"]),
        ("a <<E && b\n$(c d)\nE", &["a <<\"$(c d)\\n\"", "b", "c d"]),
        ("a <<'E'\n$(c d)\nE", &["a <<\"$(c d)\\n\""]),
        // The usual way to give a message of several lines.
        (
            "git commit -m \"$(cat <<'EOF'\nIt's \"x\" (y)\nEOF\n)\" && b",
            &[
                "cat <<\"It's \\\"x\\\" (y)\\n\"",
                "git commit -m ?$(cat <<'EOF'\nIt's \"x\" (y)\nEOF\n)?",
                "b",
            ],
        ),
        ("bash <<E\ncat f\nE", &["bash <<\"cat f\\n\"", "cat f"]),
        ("sh -s x <<E\ncat f\nE", &["sh -s x <<\"cat f\\n\"", "cat f"]),
        ("bash f <<E\ncat f\nE", &["bash f <<\"cat f\\n\""]),
    ]);
}

#[test]
fn expansions_are_not_literal_and_their_commands_are_read() {
    check(&[
        (
            "a $b ${c:-$(d)} ~/e *.f g{1,2} {} x~",
            &["d", "a ?$b? ?${c:-$(d)}? ?~/e? **.f* *g{1,2}* {} x~"],
        ),
        ("a \"$(b 'c)' \"d\")\"", &["b c) d", "a ?$(b 'c)' \"d\")?"]),
        ("a `b \\`c\\``", &["c", "b ?`c`?", "a ?`b \\`c\\``?"]),
        ("a=1 b+=2 c d=3", &["a= b= c d=3"]),
        ("a=(b $(c)) d; e=(f)", &["c", "a= d", "e="]),
        ("ls !(a|b) @(c)", &["ls ?!(a|b)? ?@(c)?"]),
        ("\"${x:-it's}\" b", &["?${x:-it's}? b"]),
    ]);
}

#[test]
fn the_directory_is_followed() {
    check(&[
        ("cd a && b; cd c; d", &["cd a", "a: b", "a: cd c", "a/c: d"]),
        ("(cd a && b); c", &["cd a", "a: b", "c"]),
        ("cd $x; a; cd /b; c", &["cd ?$x?", "?: a", "?: cd /b", "/b: c"]),
        ("cd; a", &["cd", "?: a"]),
        ("cd -; a", &["cd -", "?: a"]),
        ("cd -P -- a; b", &["cd -P -- a", "a: b"]),
        ("pushd a; b; popd; c", &["pushd a", "a: b", "a: popd", "?: c"]),
        ("a | cd b; cd c | d; e", &["a", "cd b", "cd c", "d", "e"]),
        ("f() { cd a; }; b", &["cd a", "b"]),
        ("{ cd a; }; b", &["cd a", "a: b"]),
        ("a $(cd b; c); d", &["cd b", "b: c", "a ?$(cd b; c)?", "d"]),
        ("a) ; b", &["a", "?: b"]),
        ("command cd a; b", &["command cd a", "a: b"]),
        ("eval 'cd a'; b", &["eval cd a", "cd a", "a: b"]),
    ]);
}

#[test]
fn inner_lines_are_read() {
    check(&[
        ("bash -lc 'cd a && b' > c; d", &["bash -lc cd a && b >c", "cd a", "a: b", "d"]),
        ("sudo sh -eo pipefail -c 'a'", &["sudo sh -eo pipefail -c a", "a"]),
        (
            "find . -exec sh -c 'a \"$1\"' _ {} \\;",
            &["find . -exec sh -c a \"$1\" _ {} ;", "a ?$1?"],
        ),
        (
            "npx -c 'a b'; env -S 'c d'; su -c e u",
            &["npx -c a b", "a b", "env -S c d", "c d", "su -c e u", "e"],
        ),
        ("eval a 'b c'", &["eval a b c", "a b c"]),
        ("bash a -c b", &["bash a -c b"]),
    ]);
    let commands = parse_commands("bash -c 'a b'; sh -c \"a \\\"b\\\"\"");
    let spans: Vec<_> =
        commands.iter().map(|c| (c.words[0].span.range(), c.has_exact_spans)).collect();
    assert_eq!(spans, [(0..4, true), (9..10, true), (15..17, true), (21..30, false)]);
    assert_eq!(commands[1].origin, ShellOrigin::InnerLine);
    assert_eq!((commands[0].depth, commands[1].depth), (0, 1));
}

#[test]
fn programs_are_found_behind_others() {
    let programs = |text: &str| {
        let command = parse_commands(text).into_iter().next().unwrap();
        let all = command.invocations();
        let names: Vec<_> = all.iter().map(|one| one.program().unwrap_or("?").to_owned()).collect();
        let last = all.last().unwrap();
        (names.join(" "), format!("{:?}", last.through), last.directory.clone())
    };
    let here: Option<Arc<Path>> = Some(Path::new("").into());
    for (text, expected, through) in [
        ("A=1 sudo -u x env -i B=2 -u C npm install", "sudo env npm", "Shell"),
        ("/usr/bin/npm i", "npm", "Shell"),
        ("./node_modules/.bin/eslint .", "eslint", "Shell"),
        ("timeout -k 5 --signal=KILL 10s nice -n 5 a b", "timeout nice a", "Shell"),
        ("nohup setsid stdbuf -oL a", "nohup setsid stdbuf a", "Shell"),
        ("time -p a", "time a", "Shell"),
        ("command -v a", "command", "Shell"),
        ("command -- a", "command a", "Shell"),
        ("xargs -n 1 -I{} rm {}", "xargs rm", "Arguments"),
        ("find a -name b -execdir rm {} +", "find rm", "Arguments"),
        ("npx -y -p a b@1.2 c", "npx b", "Package"),
        ("npx @scope/tool", "npx tool", "Package"),
        ("pnpm dlx a; b", "pnpm a", "Package"),
        ("pnpm add a", "pnpm", "Shell"),
        ("uv run --with x pytest -q", "uv pytest", "Package"),
        ("sudo npx a", "sudo npx a", "Package"),
        ("sudo $OPTIONS a", "sudo ?", "Shell"),
        ("$X a", "?", "Shell"),
        ("'npm.cmd' i", "npm", "Shell"),
    ] {
        let (found, how, _) = programs(text);
        assert_eq!((found.as_str(), how.as_str()), (expected, through), "{text}");
    }
    assert_eq!(programs("sudo a").2, here);
    assert_eq!(programs("env -C b a").2.as_deref(), Some(Path::new("b")));
    assert_eq!(programs("sudo --chdir=b a").2.as_deref(), Some(Path::new("b")));
    assert_eq!(programs("sudo -i a").2, None);
    assert_eq!(programs("find . -execdir a \\;").2, None);
}

#[test]
fn spans_are_those_of_the_text() {
    let text = "é=1 a 'b c' >d; $(e \"f\") | g";
    let script = parse_script(text, None);
    let slices: Vec<_> =
        script.commands.iter().map(|command| &text[command.span.range()]).collect();
    assert_eq!(slices, ["é=1 a 'b c' >d", "e \"f\"", "$(e \"f\")", "g"]);
    let words: Vec<_> =
        script.commands[0].words.iter().map(|word| &text[word.span.range()]).collect();
    assert_eq!(words, ["é=1", "a", "'b c'"]);
    assert!(script.commands[2].words[0].literal().is_none());
}

#[test]
fn a_text_is_quoted_for_a_shell() {
    for text in ["", "a", "a b", "it's", "$x", "é/ü.md", "-a", "a\nb", "~"] {
        let commands = parse_commands(&format!("x {}", quote_shell_word(text)));
        assert_eq!(commands[0].words[1].literal(), Some(text), "{text:?}");
    }
}

/// The work is bounded, and what was not read is not called complete.
#[test]
fn hostile_texts_end() {
    let long = 50_000;
    for text in [
        "(".repeat(long),
        "$(".repeat(long),
        "((".repeat(long),
        "$((".repeat(long),
        "a=(".repeat(long),
        "${".repeat(long),
        "\"$(".repeat(long),
        "{ ".repeat(long),
        "case x in ".repeat(long),
        "[[ ".repeat(long),
        "<<a ".repeat(long) + "\n",
        "bash -c '".repeat(long),
        "eval ".repeat(long),
        "sudo ".repeat(long),
        "`".repeat(long + 1),
        "a;".repeat(long),
    ] {
        let script = parse_script(&text, Some(Path::new("").into()));
        assert!(script.commands.len() <= MOST_COMMANDS);
        let is_whole = ["eval", "sudo", "bash"].iter().any(|start| text.starts_with(start));
        assert!(is_whole || !script.is_complete, "{}", &text[..8]);
    }
    // Each level would be read twice.
    let mut text = "a".repeat(1_000);
    for _ in 0..14 {
        text = format!("bash -c \"$({text})\"");
    }
    parse_commands(&text);
    let deep = format!("cd {}; {}", "a/".repeat(3_000), "b;".repeat(1_000));
    assert_eq!(parse_commands(&deep)[1].directory, None);
}

#[test]
fn any_text_is_read() {
    const WORDS: [&str; 40] = [
        " ", "\n", ";", "&", "|", "(", ")", "<", ">", "'", "\"", "\\", "$", "`", "*", "{", "}",
        "~", "#", "=", "a", "é", "bash -c ", "eval ", "cd ", "<<E", "E\n", "case ", "esac", "in ",
        "if ", "[[ ", "]]", "sudo ", "xargs ", "2", "-", "$'", "!", "\r",
    ];
    arbtest::arbtest(|bytes| {
        let mut text = String::new();
        for _ in 0..bytes.int_in_range(0..=60)? {
            text.push_str(bytes.choose(&WORDS)?);
        }
        assert_spans(&text);
        let text: String = bytes.arbitrary()?;
        assert_spans(&text);
        Ok(())
    });
}

fn assert_spans(text: &str) {
    for command in parse_commands(text) {
        assert!(text.get(command.span.range()).is_some(), "{text:?}");
        command.invocations();
        let redirects = command.redirects.iter().map(|redirect| &redirect.target);
        for word in command.words.iter().chain(redirects) {
            let slice = text.get(word.span.range());
            assert!(slice.is_some_and(|slice| !slice.is_empty()), "{text:?}: {word:?}");
            let has_text = !word.is_quoted && word.form == WordForm::Literal;
            if has_text && command.has_exact_spans {
                assert_eq!(
                    slice.map(|slice| slice.replace("\\\r\n", "").replace("\\\n", "")),
                    Some(word.text.clone()),
                    "{text:?}"
                );
            }
        }
    }
}
