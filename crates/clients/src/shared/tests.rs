//! Entries in files of a user: adding and removing them.

use arbtest::arbitrary::{Result, Unstructured};
use brief_dialects::portable::output::{Foreign, Merge, MergedOutput, SharedEntry};

use super::merge_entries;

const VALUE: &str = ".agents/rules/**/RULE.md";

pub(super) fn listed() -> SharedEntry {
    SharedEntry::Listed { key: "instructions".to_owned(), value: VALUE.to_owned() }
}

fn keyed(name: &str, json: &str) -> SharedEntry {
    let key = "mcpServers".to_owned();
    SharedEntry::Keyed { key, name: name.to_owned(), json: json.to_owned() }
}

pub(super) fn block(text: &str) -> SharedEntry {
    SharedEntry::Block { text: text.to_owned() }
}

/// A merge request with defaults.
pub(super) struct Ask<'a> {
    path: &'a str,
    text: Option<&'a str>,
    before: &'a [SharedEntry],
    foreign: Foreign,
}

impl<'a> Ask<'a> {
    pub(super) fn about(text: &'a str) -> Ask<'a> {
        Ask { path: "a.json", text: Some(text), before: &[], foreign: Foreign::Keep }
    }

    pub(super) fn toml(text: &'a str) -> Ask<'a> {
        Ask { path: ".codex/config.toml", ..Ask::about(text) }
    }

    fn markdown(text: &'a str) -> Ask<'a> {
        Ask { path: "CLAUDE.md", ..Ask::about(text) }
    }

    pub(super) fn before(self, before: &'a [SharedEntry]) -> Ask<'a> {
        Ask { before, ..self }
    }

    pub(super) fn forced(self) -> Ask<'a> {
        Ask { foreign: Foreign::Replace, ..self }
    }

    pub(super) fn want(&self, wanted: &[SharedEntry]) -> std::result::Result<MergedOutput, String> {
        let Ask { path, text, before, foreign } = *self;
        merge_entries(&Merge { path, text, wanted, before, foreign }, None)
    }

    pub(super) fn get(&self, wanted: &[SharedEntry]) -> MergedOutput {
        self.want(wanted).unwrap()
    }
}

pub(super) fn new_file(path: &str, wanted: &[SharedEntry], schema: Option<&str>) -> MergedOutput {
    let request = Merge { path, text: None, wanted, before: &[], foreign: Foreign::Keep };
    merge_entries(&request, schema).unwrap()
}

#[test]
fn a_new_file_is_readable_and_goes_when_it_is_empty() {
    let schema = Some("https://opencode.ai/config.json");
    let made = new_file("opencode.json", &[listed()], schema);
    insta::assert_snapshot!(made.text.as_deref().unwrap(), @r#"
    {
      "$schema": "https://opencode.ai/config.json",
      "instructions": [
        ".agents/rules/**/RULE.md"
      ]
    }
    "#);
    let request = Merge {
        path: "opencode.json",
        text: made.text.as_deref(),
        wanted: &[],
        before: &made.entries,
        foreign: Foreign::Keep,
    };
    assert_eq!(merge_entries(&request, schema).unwrap(), MergedOutput::default());
    // The user has added an entry.
    let theirs = made.text.as_deref().unwrap().replace("{\n  \"$", "{\n  \"theme\": \"x\",\n  \"$");
    let left = merge_entries(&Merge { text: Some(&theirs), ..request }, schema).unwrap();
    let expected =
        "{\n  \"theme\": \"x\",\n  \"$schema\": \"https://opencode.ai/config.json\"\n}\n";
    assert_eq!(left.text.as_deref(), Some(expected));

    let servers = [keyed("a", r#"{"command":"x","args":["-y"],"env":{}}"#), keyed("b", "{}")];
    let made = new_file(".mcp.json", &servers, None);
    insta::assert_snapshot!(made.text.as_deref().unwrap(), @r#"
    {
      "mcpServers": {
        "a": {
          "command": "x",
          "args": [
            "-y"
          ],
          "env": {}
        },
        "b": {}
      }
    }
    "#);
    let text = made.text.unwrap();
    assert_eq!(Ask::about(&text).before(&made.entries).get(&[]), MergedOutput::default());
    assert_eq!(new_file(".mcp.json", &[], None), MergedOutput::default());
}

/// New elements look like their neighbors, and everything else stays.
#[test]
fn what_is_added_looks_like_what_is_there() {
    let list = "\"instructions\": [\".agents/rules/**/RULE.md\"]";
    let lines = "\"instructions\": [\n    \".agents/rules/**/RULE.md\"\n  ]";
    for (text, expected) in [
        ("{}", format!("{{{list}}}")),
        ("{ }\n", format!("{{ {list} }}\n")),
        ("{\n}", format!("{{\n  {lines}\n}}")),
        ("{\"a\":1}", format!("{{\"a\":1, {list}}}")),
        ("{\"a\":1,\"b\":2}", format!("{{\"a\":1,\"b\":2,{list}}}")),
        ("{\n  \"a\": 1\n}\n", format!("{{\n  \"a\": 1,\n  {lines}\n}}\n")),
        ("{\n  \"a\": 1,\n}\n", format!("{{\n  \"a\": 1,\n  {lines},\n}}\n")),
        ("{\n  \"a\": 1 // c\n}\n", format!("{{\n  \"a\": 1, // c\n  {lines}\n}}\n")),
        ("{\n  \"a\": 1, // c\n  // d\n}", format!("{{\n  \"a\": 1, // c\n  {lines},\n  // d\n}}")),
        ("{\"a\": 1 // c\n}", format!("{{\"a\": 1, // c\n  {list}\n}}")),
        ("{\n  // c\n}", format!("{{\n  // c\n  {lines}\n}}")),
        ("{/* c */}", format!("{{/* c */ {list}}}")),
        ("\u{feff}{}", format!("\u{feff}{{{list}}}")),
        ("// c\n{}\n// d\n", format!("// c\n{{{list}}}\n// d\n")),
        (
            "{\r\n\t\"a\": 1\r\n}\r\n",
            format!(
                "{{\r\n\t\"a\": 1,\r\n\t{}\r\n}}\r\n",
                lines.replace("\n    ", "\r\n\t\t").replace("\n  ]", "\r\n\t]")
            ),
        ),
        (
            "{\"instructions\": [ ]}",
            "{\"instructions\": [ \".agents/rules/**/RULE.md\" ]}".to_owned(),
        ),
        (
            "{\"instructions\": [\n  \"a\"]}",
            "{\"instructions\": [\n  \"a\",\n  \".agents/rules/**/RULE.md\"]}".to_owned(),
        ),
    ] {
        let merged = Ask::about(text).get(&[listed()]);
        assert_eq!(merged.text.as_deref(), Some(expected.as_str()), "{text}");
        assert_eq!(merged.entries, [listed()], "{text}");
        if !text.contains("[ ]") {
            let back = Ask::about(&expected).before(&merged.entries).get(&[]);
            assert_eq!(back.text.as_deref(), Some(text));
        }
    }
}

/// A list entry that the user has added serves as well, and is never ours.
#[test]
fn a_text_that_is_there_already_is_not_ours() {
    let text = format!("{{\"instructions\": [\"{VALUE}\", \"b\"]}}");
    let merged = Ask::about(&text).get(&[listed()]);
    assert_eq!(merged, MergedOutput { text: Some(text.clone()), ..MergedOutput::default() });
    let ours = Ask::about(&text).before(&[listed()]).get(&[listed()]);
    assert_eq!(ours.entries, [listed()]);
    let left = Ask::about(&text).before(&[listed()]).get(&[]);
    assert_eq!(left.text.as_deref(), Some("{\"instructions\": [\"b\"]}"));
}

/// Only one element is removed, and its surroundings stay intact.
#[test]
fn removal_takes_nothing_else() {
    for (text, expected) in [
        ("[\"a\", V, \"b\"]", "[\"a\", \"b\"]"),
        ("[V, \"b\"]", "[\"b\"]"),
        ("[\"a\", V]", "[\"a\"]"),
        ("[\"a\", V,]", "[\"a\",]"),
        ("[\n  \"a\", // c\n  V, \"b\"\n]", "[\n  \"a\", // c\n   \"b\"\n]"),
        ("[ // c\n  V ]", "[ // c\n   ]"),
        ("[\"a\" // c\n  , V]", "[\"a\" // c\n  ]"),
        ("[V /* c */, \"b\"]", "[/* c */ \"b\"]"),
        ("[/* c */ V]", "[/* c */]"),
    ] {
        let file = |list: &str| format!("{{\"x\": 1, \"instructions\": {list}}}");
        let given = file(&text.replace('V', &format!("\"{VALUE}\"")));
        let merged = Ask::about(&given).before(&[listed()]).get(&[]);
        assert_eq!(merged.text, Some(file(expected)), "{text}");
    }
    let sole = format!("{{\"x\": 1, \"instructions\": [\n\"{VALUE}\"\n], \"y\": 2}}");
    let merged = Ask::about(&sole).before(&[listed()]).get(&[]);
    assert_eq!(merged.text.as_deref(), Some("{\"x\": 1, \"y\": 2}"));
    // An entry that the user has removed or changed is gone.
    for text in ["{\"instructions\": [\"b\"]}", "{\"instructions\": \"b\"}", "{}"] {
        let merged = Ask::about(text).before(&[listed()]).get(&[]);
        assert_eq!(merged, MergedOutput { text: Some(text.to_owned()), ..MergedOutput::default() });
    }
}

/// Keys of tables: ours, the user's, and ours with edits.
#[test]
fn a_key_belongs_to_whoever_wrote_it() {
    let file = |value: &str| format!("{{\"mcpServers\": {{\"a\": {value}}}}}");
    let old = keyed("a", r#"{"command":"old","n":1}"#);
    let new = keyed("a", r#"{"command":"new"}"#);
    let name = "mcpServers.a".to_owned();
    let (theirs, edited) = ("was not written by `brief`", "was changed by hand");
    let none: &[SharedEntry] = &[];
    let only_old = std::slice::from_ref(&old);
    let only_new = std::slice::from_ref(&new);
    let (was, now) = (r#"{"n": 1.0, "command": "old"}"#, r#"{"command": "new"}"#);
    for (value, before, wanted, expected, entries, kept) in [
        // Not ours, and equal: the user has set it already.
        (now, none, only_new, now, none, None),
        (was, none, only_new, was, none, Some(theirs)),
        // Ours: as we wrote it, as it should be, or edited.
        (was, only_old, only_new, now, only_new, None),
        (now, only_old, only_new, now, only_new, None),
        ("7", only_old, only_new, "7", only_old, Some(edited)),
        // No longer wanted.
        ("7", only_old, none, "7", none, Some(edited)),
        ("7", none, none, "7", none, None),
    ] {
        let text = file(value);
        let ask = Ask::about(&text).before(before);
        let merged = ask.get(wanted);
        let kept: Vec<_> = kept.map(|reason| (name.clone(), reason)).into_iter().collect();
        let expected = MergedOutput { text: Some(file(expected)), entries: entries.to_vec(), kept };
        assert_eq!(merged, expected, "{value} {before:?} {wanted:?}");
        if !merged.kept.is_empty() {
            let forced = ask.forced().get(wanted);
            let left = if wanted.is_empty() { "{}".to_owned() } else { file(now) };
            let expected =
                MergedOutput { text: Some(left), entries: wanted.to_vec(), kept: vec![] };
            assert_eq!(forced, expected, "{value}");
        }
    }
    // A value on several lines is replaced by one line.
    let long = "{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"old\",\n      \"n\": 1\n    }\n  }\n}\n";
    let merged = Ask::about(long).before(only_old).get(only_new);
    let expected =
        "{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"new\"\n    }\n  }\n}\n";
    assert_eq!(merged.text.as_deref(), Some(expected));
}

/// An invalid file is refused, with the place.
#[test]
fn a_file_of_another_shape_is_refused() {
    for (text, problem) in [
        ("", "is not JSON: is empty"),
        ("{bad", "is not JSON: "),
        ("{'a': 1}", "is not JSON: "),
        ("{\"a\": 1 \"b\": 2}", "is not JSON: "),
        ("[]", "is not a JSON object"),
        ("null", "is not a JSON object"),
        ("{\"instructions\": \"a\"}", "`instructions` is not a list"),
        ("{\"instructions\": null}", "`instructions` is not a list"),
        ("{\"instructions\": [], \"instructions\": []}", "`instructions` is duplicated"),
        ("{\"mcpServers\": []}", "`mcpServers` is not a table"),
        ("{\"mcpServers\": {\"a\": 1, \"a\": 2}}", "in `mcpServers`, `a` is duplicated"),
    ] {
        let error = Ask::about(text).want(&[listed(), keyed("a", "{}")]).unwrap_err();
        assert!(error.contains(problem), "{text}: {error}");
    }
    let deep = "[".repeat(100_000);
    assert!(Ask::about(&deep).want(&[listed()]).is_err());
    assert!(Ask::about("{}").want(&[block("@A")]).is_err());
    assert!(Ask::markdown("").want(&[listed()]).is_err());
}

const MARKED: &str = "<!-- brief:import -->\n@AGENTS.md\n<!-- /brief:import -->\n";

/// The user's text stays; the block comes last.
#[test]
fn a_block_is_put_after_the_text() {
    let windows = MARKED.replace('\n', "\r\n");
    for (text, expected) in [
        ("", MARKED.to_owned()),
        ("# Mine\n", format!("# Mine\n\n{MARKED}")),
        ("# Mine", format!("# Mine\n{MARKED}")),
        ("a\r\nb\r\n", format!("a\r\nb\r\n\r\n{windows}")),
        ("a\r\nb", format!("a\r\nb\r\n{windows}")),
        ("`@AGENTS.md` is code\n", format!("`@AGENTS.md` is code\n\n{MARKED}")),
        ("see@AGENTS.md @AGENTS.md.\n", format!("see@AGENTS.md @AGENTS.md.\n\n{MARKED}")),
        ("```\n@AGENTS.md\n```\n", format!("```\n@AGENTS.md\n```\n\n{MARKED}")),
        ("<!-- @AGENTS.md -->\n", format!("<!-- @AGENTS.md -->\n\n{MARKED}")),
    ] {
        let wanted = [block("@AGENTS.md")];
        let merged = Ask::markdown(text).get(&wanted);
        assert_eq!(merged.text.as_deref(), Some(expected.as_str()), "{text}");
        assert_eq!(merged.entries, wanted);
        assert_eq!(Ask::markdown(&expected).before(&wanted).get(&wanted), merged);
        let back = Ask::markdown(&expected).before(&wanted).get(&[]);
        assert_eq!(back.text.as_deref(), Some(text).filter(|text| !text.is_empty()));
        assert_eq!(back.entries, []);
    }
    assert_eq!(new_file("CLAUDE.md", &[block("@AGENTS.md")], None).text.as_deref(), Some(MARKED));
}

/// An import of the user's own serves as well; a block of ours beside it is removed.
#[test]
fn an_import_that_is_there_already_is_enough() {
    let wanted = [block("@AGENTS.md")];
    for text in ["@AGENTS.md\n", "# A\n\nSee @AGENTS.md first\n", "- @AGENTS.md", "@./AGENTS.md\n"]
    {
        let merged = Ask::markdown(text).get(&wanted);
        assert_eq!(merged, MergedOutput { text: Some(text.to_owned()), ..MergedOutput::default() });
        let both = format!("{MARKED}{text}");
        let merged = Ask::markdown(&both).before(&wanted).get(&wanted);
        assert_eq!(merged, MergedOutput { text: Some(text.to_owned()), ..MergedOutput::default() });
    }
}

/// A block between lines of the user keeps them apart.
#[test]
fn text_after_a_block_stays_on_its_own_line() {
    let before = [block("@AGENTS.md")];
    for (text, expected) in [
        (format!("a\n{MARKED}b\n"), "a\nb\n"),
        (format!("a\n\n{MARKED}\nb\n"), "a\n\nb\n"),
        (format!("{MARKED}b\n"), "b\n"),
        (format!("a\n\n{}", MARKED.trim_end()), "a\n"),
    ] {
        let merged = Ask::markdown(&text).before(&before).get(&[]);
        assert_eq!(merged.text.as_deref(), Some(expected), "{text}");
    }
}

/// An edited block stays, unless the request forces a change.
#[test]
fn a_block_that_was_edited_is_kept() {
    let text = MARKED.replace("@AGENTS.md", "@AGENTS.md\nand mine");
    let (old, new) = ([block("@AGENTS.md")], [block("@OTHER.md")]);
    let kept = |reason| vec![("block".to_owned(), reason)];
    let unchanged = |entries: &[SharedEntry], reason| MergedOutput {
        text: Some(text.clone()),
        entries: entries.to_vec(),
        kept: kept(reason),
    };
    let ask = || Ask::markdown(&text);
    assert_eq!(ask().before(&old).get(&new), unchanged(&old, "was changed by hand"));
    assert_eq!(ask().before(&old).get(&[]), unchanged(&[], "was changed by hand"));
    assert_eq!(ask().get(&new), unchanged(&[], "was not written by `brief`"));
    let forced = ask().before(&old).forced().get(&new);
    assert_eq!(forced.text, Some(MARKED.replace("AGENTS", "OTHER")));
    assert_eq!(ask().before(&old).forced().get(&[]).text, None);
    // Our own text is replaced silently, and a block outside the request stays.
    let merged = Ask::markdown(MARKED).before(&old).get(&new);
    assert_eq!((merged.text, merged.kept), (Some(MARKED.replace("AGENTS", "OTHER")), vec![]));
    assert_eq!(Ask::markdown(MARKED).get(&[]).text.as_deref(), Some(MARKED));
    assert_eq!(Ask::markdown(MARKED).get(&old).entries, old);
}

/// The rules block that tasks write is not ours.
#[test]
fn other_blocks_of_brief_stay() {
    let rules =
        "<!-- brief:rules 0123456789abcdef -->\nx\n<!-- /brief:rules 0123456789abcdef -->\n";
    let wanted = [block("@AGENTS.md")];
    let merged = Ask::markdown(rules).get(&wanted);
    assert_eq!(merged.text, Some(format!("{rules}\n{MARKED}")));
    let text = merged.text.unwrap();
    assert_eq!(Ask::markdown(&text).before(&wanted).get(&[]).text.as_deref(), Some(rules));
}

/// Unpaired markers are left to the user.
#[test]
fn broken_markers_are_refused() {
    let (begin, end) = ("<!-- brief:import -->\n", "<!-- /brief:import -->\n");
    for text in [
        begin.to_owned(),
        end.to_owned(),
        format!("{end}{begin}"),
        format!("{MARKED}{MARKED}"),
        format!("{begin}{MARKED}"),
        format!("{MARKED}{end}"),
    ] {
        let error = Ask::markdown(&text).want(&[block("@AGENTS.md")]).unwrap_err();
        assert!(error.contains("remove"), "{error}");
    }
}

/// Returns a JSON text with everything that people write: comments, blanks, trailing commas.
fn any_json(random: &mut Unstructured<'_>) -> Result<String> {
    let mut text = any_blank(random)?;
    let keys = ["a", "b c", "$schema"];
    let mut members = Vec::new();
    for key in &keys[..random.int_in_range(0..=3)?] {
        members.push(format!("\"{key}\"{}:{}", any_blank(random)?, any_value(random, 0)?));
    }
    if random.arbitrary()? {
        let list = any_list(random, &["\"x\"", "\"y\"", "7", "\".agents/rules/**/RULE.md\""])?;
        members.push(format!("\"instructions\":{list}"));
    }
    if random.arbitrary()? {
        let table = any_table(random, &["\"a\": {}", "\"b\": {\"command\": \"x\"}", "\"z\": [1]"])?;
        members.push(format!("\"mcpServers\": {table}"));
    }
    text.push_str(&around(random, ('{', '}'), &members)?);
    text.push_str(&any_blank(random)?);
    Ok(text)
}

fn any_list(random: &mut Unstructured<'_>, all: &[&str]) -> Result<String> {
    let count = random.int_in_range(1..=all.len())?;
    let start = random.int_in_range(0..=all.len() - count)?;
    let members: Vec<String> =
        all[start..start + count].iter().map(|&one| one.to_owned()).collect();
    around(random, ('[', ']'), &members)
}

fn any_table(random: &mut Unstructured<'_>, all: &[&str]) -> Result<String> {
    let list = any_list(random, all)?;
    Ok(format!("{{{}}}", &list[1..list.len() - 1]))
}

fn around(
    random: &mut Unstructured<'_>,
    (open, close): (char, char),
    members: &[String],
) -> Result<String> {
    let mut text = format!("{open}{}", any_blank(random)?);
    for (index, member) in members.iter().enumerate() {
        text.push_str(&any_blank(random)?);
        text.push_str(member);
        text.push_str(&any_blank(random)?);
        if index + 1 < members.len() || random.arbitrary()? {
            text.push(',');
            text.push_str(&any_blank(random)?);
        }
    }
    text.push(close);
    Ok(text)
}

fn any_value(random: &mut Unstructured<'_>, depth: usize) -> Result<String> {
    if depth < 2 && random.arbitrary()? {
        let members = (0..random.int_in_range(0..=2)?)
            .map(|_| any_value(random, depth + 1))
            .collect::<Result<Vec<String>>>()?;
        return around(random, ('[', ']'), &members);
    }
    let values = ["1", "1e3", "12345678901234567890", "\"\\u0041\"", "\"// no\"", "null", "true"];
    Ok((*random.choose(&values)?).to_owned())
}

fn any_blank(random: &mut Unstructured<'_>) -> Result<String> {
    let blanks = ["", "", " ", "\n", "\n  ", "\r\n\t", " // c\n", "/* d */", "\n// e\n\n", "  "];
    Ok((*random.choose(&blanks)?).to_owned())
}

/// A second merge changes nothing, a removal leaves no trace, and everything else stays, in the same order.
#[test]
fn what_is_put_into_json_can_be_taken_out() {
    arbtest::arbtest(|random| {
        let text = any_json(random)?;
        let count = random.int_in_range(1..=3)?;
        let wanted = [listed(), keyed("a", r#"{"command":"x"}"#), keyed("n", r#"{"b":[1,{}]}"#)];
        let merged = Ask::about(&text).get(&wanted[..count]);
        let new = merged.text.as_deref().unwrap();
        let again = Ask::about(new).before(&merged.entries).get(&wanted[..count]);
        assert_eq!(again, merged, "{text:?}");
        let mut words = words(new).into_iter();
        for word in self::words(&text) {
            assert!(words.any(|new| new == word), "{word} of {text:?} in {new:?}");
        }
        let back = Ask::about(new).before(&merged.entries).get(&[]);
        // Only the text of a new file counts as empty.
        let expected =
            Some(text.as_str()).filter(|text| merged.entries.is_empty() || *text != "{\n}\n");
        assert_eq!(back.text.as_deref(), expected, "{new:?}");
        Ok(())
    });
}

/// A removal with any claims removes nothing of the user: neither values nor comments.
#[test]
fn removal_leaves_what_is_not_ours() {
    arbtest::arbtest(|random| {
        let text = any_json(random)?;
        let before = [listed(), keyed("a", "{}"), keyed("z", "[1]"), keyed("b", "7")];
        let merged = Ask::about(&text).before(&before).get(&[]);
        let new = merged.text.unwrap_or_default();
        let mut old = words(&text).into_iter();
        for word in words(&new) {
            assert!(old.any(|old| old == word), "{word} of {new:?} in {text:?}");
        }
        for kept in ["// c", "/* d */", "// e", "\"x\"", "b c", "12345678901234567890", "command"] {
            assert_eq!(text.matches(kept).count(), new.matches(kept).count(), "{text:?} {new:?}");
        }
        Ok(())
    });
}

/// Any text gives an answer.
#[test]
fn no_text_is_too_strange() {
    arbtest::arbtest(|random| {
        let mut text = any_json(random)?;
        let at = random.int_in_range(0..=text.len())?;
        if text.is_char_boundary(at) {
            text.insert_str(
                at,
                random.choose(&["é", "\"", "}", "//", "/*", ",", "\u{feff}", "[{"])?,
            );
        }
        let before = [keyed("b", "{}"), listed()];
        for wanted in [&[][..], &[listed(), keyed("é\"", "[]")]] {
            let json = Ask::about(&text).before(&before).want(wanted);
            if let Ok(MergedOutput { text: Some(text), .. }) = json {
                assert!(Ask::about(&text).want(&[]).is_ok(), "{text:?}");
            }
        }
        let markdown = text.replace('/', "<!-- brief:import -->\n");
        let _ = Ask::markdown(&markdown).before(&[block("x")]).want(&[block("@é")]);
        Ok(())
    });
}

/// Returns all tokens of a JSON text but blanks and commas.
fn words(text: &str) -> Vec<String> {
    use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
    let comments = CommentCollectionStrategy::AsTokens;
    let collect = CollectOptions { comments, tokens: true };
    let parsed = parse_to_ast(text, &collect, &ParseOptions::default()).unwrap();
    let tokens = parsed.tokens.unwrap_or_default().into_iter();
    let words = tokens.map(|token| token.token.as_str().trim().to_owned());
    words.filter(|word| word != ",").collect()
}

/// The same for lines between markers.
#[test]
fn what_is_put_into_markdown_can_be_taken_out() {
    arbtest::arbtest(|random| {
        let pieces =
            ["a", "@AGENTS.md", "`", "```\n", "\n", "\r\n", "\r", " ", "<!--", "-->", "- "];
        let mut text = String::new();
        for _ in 0..random.int_in_range(0..=12)? {
            text.push_str(random.choose(&pieces)?);
        }
        let wanted = [block("@AGENTS.md")];
        let merged = Ask::markdown(&text).get(&wanted);
        let new = merged.text.as_deref().unwrap();
        assert!(new.starts_with(&text), "{text:?}");
        assert_eq!(Ask::markdown(new).before(&merged.entries).get(&wanted), merged, "{text:?}");
        let back = Ask::markdown(new).before(&merged.entries).get(&[]);
        let is_gone = text.is_empty() && !merged.entries.is_empty();
        assert_eq!(back.text, (!is_gone).then_some(text));
        Ok(())
    });
}
