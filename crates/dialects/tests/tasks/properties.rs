//! Properties that hold for any bytes.

use std::collections::BTreeSet;

use arbtest::arbitrary::{Result, Unstructured};
use brief_dialects::tasks::PromptLayout;
use brief_system::MemorySystem;

use super::support::{Scripted, codes, project, run, run_live, shown};

/// Texts that have broken other tools: quotes, comments, paths and patterns at the start of a line,
/// beginnings without an end, line breaks and bytes of every kind.
const WORDS: [&[u8]; 48] = [
    b"\"",
    b"'",
    b"\\",
    b"\\\"",
    b"// comment\n",
    b"\n//\n",
    b"/",
    b"\n/\n",
    b"/abs/path is here\n",
    b"\n/home/coder/.config\n",
    b"/^re(gex)$/i\n",
    b"\n/unknown one \"two\n",
    b"\n/unknown key=\"v\" ${x}\n",
    b"\r\n",
    b"\n",
    b"\n\n\n",
    b"\r",
    b"\xef\xbb\xbf",
    "\u{1f600}".as_bytes(),
    "\u{202e}".as_bytes(),
    b"\xff",
    b"\xc3",
    b"\0",
    b"```\n/in a fence\n```\n",
    b"\n```sh\n",
    b"~~~\n",
    b"<!--\n/x\n-->\n",
    b"<div>\n",
    b"    /indented\n",
    b"${",
    b"}",
    b"${x}",
    b"${ x }",
    b"$x $(x) $$",
    b"!`",
    b"!`x`",
    b"`",
    b"``",
    b"@",
    b" @x",
    b" @x\\ y.txt,",
    b"@/etc/none",
    b" user@host.example ",
    b"---\n",
    b"\n---\n",
    b"a: b\n",
    b"%s {{x}} <%= x %>",
    b"\t \t",
];

fn text(bytes: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    for _ in 0..bytes.int_in_range(0..=24)? {
        if bytes.ratio(1, 4)? {
            let length = bytes.int_in_range(0..=12)?;
            text.extend_from_slice(bytes.bytes(length.min(bytes.len()))?);
        } else {
            text.extend_from_slice(bytes.choose(&WORDS)?);
        }
    }
    Ok(text)
}

/// Text that does not begin with dashes, so that it has no front matter.
fn text_without_front_matter(bytes: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let mut text = text(bytes)?;
    let visible = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
    if visible.trim_ascii_start().starts_with(b"---") || visible.starts_with(b"\xef\xbb\xbf") {
        text.insert(0, b'x');
    }
    Ok(text)
}

/// T7, T8: without parameters, files and commands nothing is to expand, so any text comes out byte
/// for byte: of a task, of a rule, of a command, and of what the user adds.
#[test]
fn where_nothing_is_to_expand_a_text_comes_out_as_it_went_in() {
    arbtest::arbtest(|bytes| {
        let text = text_without_front_matter(bytes)?;
        let system =
            project().with_file(".agents/tasks/t.md", &text).with_file(".agents/rules/r.md", &text);
        let prompt = run(&system, &["t"]);
        assert_eq!(prompt.task.text, text);
        assert_eq!(prompt.rules[0].text, text);
        assert_eq!(
            prompt.render(PromptLayout::WHOLE),
            [text.as_slice(), b"\n", &text, b"\n"].concat()
        );
        let command = project()
            .with_file(".agents/tasks/t.md", "/c")
            .with_file(".agents/commands/c.md", &text);
        assert_eq!(run(&command, &["t"]).task.text, text);
        Ok(())
    });
}

/// T7: with `expand: false` any text comes out byte for byte, whatever there is to put in.
#[test]
fn with_expand_off_a_text_comes_out_as_it_went_in() {
    arbtest::arbtest(|bytes| {
        let body = text(bytes)?;
        let text = [b"---\nexpand: false\n---\n".as_slice(), &body].concat();
        let system = project()
            .with_file(".agents/tasks/t.md", &text)
            .with_file(".agents/rules/r.md", &text)
            .with_file("x", "FILE")
            .with_file("/etc/none", "FILE");
        let mut live = Scripted::default().answer("x", "RAN");
        let prompt = run_live(&system, &["-p", "x=VALUE", "t"], &mut live);
        assert_eq!(prompt.task.text, body);
        assert_eq!(prompt.rules[0].text, body);
        assert_eq!(live.commands, [""; 0]);
        Ok(())
    });
}

/// T7: what stands around expansions stays byte for byte, and each expansion is put in once.
#[test]
fn what_stands_around_expansions_stays() {
    arbtest::arbtest(|bytes| {
        let mut source = Vec::new();
        let mut expected = Vec::new();
        // Between two expansions stands a text that neither begins nor ends one.
        for _ in 0..bytes.int_in_range(1..=8)? {
            let around: [&[u8]; 8] =
                [b"a", b"\n", b"\xff", b"\r\n", b"\"", b"x // y\n", b"# ", "\u{1f600}".as_bytes()];
            for _ in 0..bytes.int_in_range(0..=4)? {
                let text = *bytes.choose(&around)?;
                source.extend_from_slice(text);
                expected.extend_from_slice(text);
            }
            let (written, put_in): (&[u8], &[u8]) = *bytes.choose(&[
                (b"${v}".as_slice(), b"VALUE ".as_slice()),
                (b"!`c`", b"RAN\n"),
                (b" @f ", b" FILE\r\n "),
                (b"${V}", b"VALUE "),
                (b" @f. ", b" FILE\r\n. "),
            ])?;
            source.extend_from_slice(written);
            expected.extend_from_slice(put_in);
        }
        let system = project().with_file(".agents/tasks/t.md", &source).with_file("f", "FILE\r\n");
        let mut live = Scripted::default().answer("c", "RAN\n");
        let prompt = run_live(&system, &["-p", "v=VALUE ", "t"], &mut live);
        assert_eq!(prompt.task.text, expected);
        Ok(())
    });
}

/// The four ways in which something gets into a text: how it is written, and what it brings.
const WAYS: [&str; 4] = ["parameter", "command", "file", "argument"];

/// Texts that would be replaced, run, read or called if they were looked at again.
const BAIT: &str = "${bait} !`bait` @bait.txt\n@bait.txt\n/bait\n${1} ${ARGUMENTS}";

/// A project in which a text is put in along one way, and everything that it names is there.
fn trap(way: &str, inner: &str) -> (MemorySystem, Vec<String>, Scripted) {
    let task = match way {
        "parameter" => "[${outer}]".to_owned(),
        "command" => "[!`outer`]".to_owned(),
        "file" => "[ @outer.txt ]".to_owned(),
        // An argument is one line.
        _ => format!("/outer {}", inner.replace('\n', " ")),
    };
    let system = project()
        .with_file(".agents/tasks/t.md", task)
        .with_file("outer.txt", inner)
        .with_file("bait.txt", "BAIT")
        .with_file(".agents/commands/bait.md", "BAIT")
        .with_file(".agents/commands/outer.md", "[${ARGUMENTS}]");
    let parameters = ["bait=BAIT".to_owned(), format!("outer={inner}")];
    let live = Scripted::default().answer("bait", "BAIT").answer("outer", inner);
    (system, parameters.to_vec(), live)
}

fn sprung(way: &str, inner: &str) -> (String, Vec<String>) {
    let (system, parameters, mut live) = trap(way, inner);
    let arguments = ["-p", &parameters[0], "-p", &parameters[1], "t"];
    let prompt = run_live(&system, &arguments, &mut live);
    (String::from_utf8(prompt.task.text).unwrap(), live.commands)
}

/// The document, "Single-Pass Expansion": "Expanded content is never re-processed". Each way brings
/// something that looks like each other way, alone and together.
#[test]
fn what_is_put_in_is_inert_in_every_combination() {
    let baits = ["${bait}", "!`bait`", "@bait.txt", "/bait", BAIT];
    for way in WAYS {
        for bait in baits {
            let (text, commands) = sprung(way, bait);
            let inner = if way == "argument" { bait.replace('\n', " ") } else { bait.to_owned() };
            let expected =
                if way == "file" { format!("[ {inner} ]") } else { format!("[{inner}]") };
            assert_eq!(text, expected, "{way} brings {bait}");
            let own: &[&str] = if way == "command" { &["outer"] } else { &[] };
            assert_eq!(commands, own, "{way} brings {bait}");
        }
    }
}

/// Two ways side by side: what the first brings and what the second brings do not meet.
#[test]
fn halves_of_an_expansion_do_not_meet() {
    for (first, second) in [("${", "bait}"), ("!`", "bait`"), ("!", "`bait`"), ("$", "{bait}")] {
        let system = project()
            .with_file(".agents/tasks/t.md", "${one}${two}\n!`one`!`two`\n @one @two")
            .with_file("one", first)
            .with_file("two", second)
            .with_file("bait.txt", "BAIT");
        let mut live =
            Scripted::default().answer("one", first).answer("two", second).answer("bait", "BAIT");
        let (one, two) = (format!("one={first}"), format!("two={second}"));
        let arguments = ["-p", "bait=BAIT", "-p", &one, "-p", &two, "t"];
        let prompt = run_live(&system, &arguments, &mut live);
        assert_eq!(
            String::from_utf8(prompt.task.text).unwrap(),
            format!("{first}{second}\n{first}{second}\n {first} {second}")
        );
        assert_eq!(live.commands, ["one", "two"]);
    }
}

/// Any value, output and file is put in as it is, however it looks.
#[test]
fn anything_is_put_in_as_it_is() {
    arbtest::arbtest(|bytes| {
        let value = text(bytes)?;
        let value = String::from_utf8_lossy(&value).replace('\0', "");
        for way in WAYS {
            let one_line = value.replace(['\n', '\r', '\x0b', '\x0c'], " ");
            let inner = if way == "argument" { one_line.trim_ascii() } else { &value };
            let (text, commands) = sprung(way, inner);
            let expected =
                if way == "file" { format!("[ {inner} ]") } else { format!("[{inner}]") };
            assert_eq!(text, expected, "{way}");
            assert!(commands.iter().all(|command| command == "outer"), "{commands:?}");
        }
        Ok(())
    });
}

/// Files of every kind, some of them for something else, some broken, some of one name.
const FILES: [(&str, &str); 22] = [
    (".agents/tasks/t.md", "---\nselectors:\n  stage: a\n---\n/c\n/d x\n/gone\n${v} @f.txt\n"),
    ("/h/.agents/tasks/t.md", "HOME\n"),
    (".agents/commands/c.md", "C ${v}\n"),
    (".cursor/commands/c.md", "C2\n"),
    (".opencode/command/d.md", "---\nstage: b\n---\nD\n"),
    ("/h/.agents/commands/d.md", "D ${1}\n"),
    (".agents/rules/a.md", "---\nstage: a\n---\nA ${w}\n"),
    (".agents/rules/deep/b.md", "---\nstage: [b, c]\n---\nB\n"),
    (".cursor/rules/c.mdc", "---\nglobs: **/*.ts\n---\nC\n"),
    (".augment/rules/d.md", "---\ntask_names: [u]\n---\nD\n"),
    (".github/copilot-instructions.md", "---\nstage: b\n---\nE\n"),
    ("AGENTS.md", "AGENTS\n"),
    ("CLAUDE.md", "---\nlanguages: go\n---\nCLAUDE\n"),
    (".cursorrules", "RULES\n"),
    ("/h/.agents/rules/h.md", "---\nstage: b\n---\nH\n"),
    ("/h/CLAUDE.md", "HOME CLAUDE\n"),
    (".agents/skills/s/SKILL.md", "---\nname: s\ndescription: S\n---\n"),
    (".claude/skills/s/SKILL.md", "---\nname: s\ndescription: S2\n---\n"),
    (".claude/skills/bad/SKILL.md", "---\nname: bad\n---\n"),
    ("/h/.claude/skills/x/SKILL.md", "---\nname: x\ndescription: X\nstage: b\n---\n"),
    (".agents/skills/y/SKILL.md", "---\nname: y\ndescription: Y\nstage: a\n---\n"),
    ("f.txt", "FILE"),
];

fn laid_out<'f>(files: impl IntoIterator<Item = &'f (&'f str, &'f str)>) -> MemorySystem {
    files.into_iter().fold(project(), |system, (path, text)| system.with_file(path, text))
}

fn whole(system: &MemorySystem) -> (Vec<u8>, Vec<String>) {
    let prompt = run(system, &["-p", "v=1", "t"]);
    (prompt.render(PromptLayout::WHOLE), codes(&prompt))
}

/// G3: same bytes, same answer, in whatever order the files came to be.
#[test]
fn the_order_of_creation_does_not_matter() {
    let expected = whole(&laid_out(&FILES));
    arbtest::arbtest(|bytes| {
        let mut files = FILES;
        for last in (1..files.len()).rev() {
            files.swap(last, bytes.int_in_range(0..=last)?);
        }
        assert_eq!(whole(&laid_out(&files)), expected);
        Ok(())
    });
}

/// A file that is left out has no effect: without it the output is the same.
#[test]
fn removing_what_is_left_out_changes_nothing() {
    let system = laid_out(&FILES);
    let prompt = run(&system, &["-p", "v=1", "t"]);
    let (expected, _) = whole(&system);
    let left_out: BTreeSet<&str> =
        prompt.left_out.iter().map(|left| shown(left.document.path())).collect();
    assert_eq!(left_out.len(), 10, "{left_out:?}");
    for removed in &left_out {
        let system = laid_out(FILES.iter().filter(|(path, _)| path != removed));
        assert_eq!(whole(&system).0, expected, "{removed}");
    }
    let system = laid_out(FILES.iter().filter(|(path, _)| !left_out.contains(path)));
    assert_eq!(whole(&system).0, expected, "all at once");
}

/// Every rule, every file of a called command and every skill is in or out, exactly once.
#[test]
fn every_file_is_in_or_out_once() {
    arbtest::arbtest(|bytes| {
        let files: Vec<_> = {
            let mut files = vec![FILES[0]];
            for file in &FILES[1..] {
                if bytes.ratio(2, 3)? {
                    files.push(*file);
                }
            }
            files
        };
        let prompt = run(&laid_out(&files), &["-s", "languages=rust", "t"]);
        let included = prompt.rules.iter().chain(&prompt.commands).map(|file| &file.document);
        let skills = prompt.skills.iter().map(|skill| &skill.document);
        let left_out = prompt.left_out.iter().map(|left| &left.document);
        let mut found: Vec<&str> =
            included.chain(skills).chain(left_out).map(|file| shown(file.path())).collect();
        found.sort_unstable();
        let mut expected: Vec<&str> = files[1..].iter().map(|(path, _)| *path).collect();
        expected.retain(|path| *path != "f.txt");
        expected.sort_unstable();
        assert_eq!(found, expected);
        Ok(())
    });
}
