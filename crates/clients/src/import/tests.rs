//! Import, and the law: built for its own client again, an item says what its file said.

use std::sync::Arc;

use brief_dialects::native::rule_scope;
use brief_dialects::portable::{ItemKind, is_sound};
use brief_profiles::Form;
use brief_syntax::Source;

use crate::compile::OutputContent;
use crate::compile::as_written::expand_patterns;
use crate::compile::compile_item;
use crate::compile::yaml::{YamlValue, parts_of, text_of};
use crate::profile::{Layout, OutputForm, ProfileOptions, Profiles};

use super::apart::ProjectFiles;
use super::header::{self, Header};
use super::unite::unite_items;
use super::{ImportRefusal, ImportedItem, OriginalFile, import_file, is_same_text, item_slug};

struct Case<'c> {
    client: &'c str,
    kind: ItemKind,
    form: Form,
    stem: &'c str,
    text: &'c str,
}

impl Case<'_> {
    fn import(&self) -> Result<ImportedItem, ImportRefusal> {
        let profiles = Profiles::builtin();
        let source = Arc::new(Source::new("x.md", self.text));
        let client = profiles.get(self.client);
        let Case { kind, form, stem, .. } = *self;
        let file =
            OriginalFile { client, kind, form, about: "", stem, peer: None, source: &source };
        import_file(&file, &profiles.ids())
    }

    /// Returns the text that the client gets of an item.
    fn built(&self, item: &ImportedItem) -> String {
        let profiles = Profiles::builtin();
        let profile = profiles.get(self.client).unwrap();
        let compiled = compile_item(
            &item.to_portable_item(),
            profile,
            &ProfileOptions::default(),
            &profiles.ids(),
        );
        match compiled.files.into_iter().next().map(|file| file.content) {
            Some(OutputContent::Text(text)) => text,
            _ => panic!("a text"),
        }
    }

    /// Imports, builds for the same client, and holds the two files against each other.
    fn law(&self) -> ImportedItem {
        let item = self.import().expect(self.text);
        let profiles = Profiles::builtin();
        let portable = item.to_portable_item();
        assert!(is_sound(&portable, &profiles.ids()), "{}", item.render_text());
        let again = self.built(&item);
        let (before, after) = (parts(self.form, self.text), parts(self.form, &again));
        assert_eq!(before.1, after.1, "bodies\n{}", item.render_text());
        assert_eq!(before.0, after.0, "scopes\n{}\n{again}", item.render_text());
        assert_eq!(before.2, after.2, "fields\n{}\n{again}", item.render_text());
        item
    }
}

/// Returns the scope, the body, and the other fields of a client's file.
fn parts(form: Form, text: &str) -> (String, String, Vec<(String, String)>) {
    let source = Arc::new(Source::new("x.md", text));
    let scope = rule_scope(form, &source);
    let front = brief_syntax::front_matter::FrontMatter::from_source(&source);
    let header = Header::from_front_matter(&front, &source);
    let mut fields: Vec<(String, String)> = Vec::new();
    for (key, _) in &header.fields {
        let name = header::key_of(key);
        if scope.field == Some(name) || ["paths", "globs", "applyTo"].contains(&name) {
            continue;
        }
        if let Some(value) = header.get(name) {
            let value = match name {
                "tools" | "skills" => format!("{:?}", parts_of(value)),
                _ => text_of(value).map_or_else(|| format!("{value:?}"), str::to_owned),
            };
            fields.push((name.to_owned(), value));
        }
    }
    fields.sort();
    let body = text[scope.body_start..].to_owned();
    // Alternatives are one pattern, or one each.
    let patterns: Vec<&str> = scope.patterns.iter().map(String::as_str).collect();
    let patterns = expand_patterns(&patterns);
    (format!("{:?} {patterns:?} {:?}", scope.used, scope.unsaid), body, fields)
}

fn rule<'c>(client: &'c str, form: Form, text: &'c str) -> Case<'c> {
    Case { client, kind: ItemKind::Rule, form, stem: "demo", text }
}

fn agent<'c>(client: &'c str, text: &'c str) -> Case<'c> {
    Case { client, kind: ItemKind::Agent, form: Form::Agent, stem: "demo", text }
}

/// Patterns and lists come back in the words of their file; for other clients the item says what they mean.
#[test]
fn fields_come_back_as_they_were_written() {
    let rules = [
        ("cursor", Form::Cursor, "globs: **/*.{ts,tsx}", &["**/*.{ts,tsx}"][..]),
        ("cursor", Form::Cursor, "globs: **/*.ts, src/**", &["**/*.ts", "src/**"]),
        ("cursor", Form::Cursor, "globs: [\"**/*.py\", \"a.toml\"]", &["**/*.py", "a.toml"]),
        ("cursor", Form::Cursor, "globs: \"**/*.py\"", &["**/*.py"]),
        ("cursor", Form::Cursor, "globs:\n  - \"**/*.py\"\n  - a.toml", &["**/*.py", "a.toml"]),
        (
            "copilot",
            Form::Copilot,
            "applyTo: \"**/*.{ts,tsx}, *.md\"",
            &["**/*.{ts,tsx}", "**/*.md"],
        ),
        ("copilot", Form::Copilot, "applyTo: \"**.cs\"", &["**/*.cs"]),
        (
            "copilot",
            Form::Copilot,
            "applyTo:\n  - \"**/*.ts\"\n  - src/a/**",
            &["**/*.ts", "src/a/**"],
        ),
        ("copilot", Form::Copilot, "applyTo: \"*\"", &[]),
        ("copilot", Form::Copilot, "applyTo: \"!docs/**\"", &[]),
        ("copilot", Form::Copilot, "applyTo: /src/**", &[]),
        ("copilot", Form::Copilot, "applyTo: \"**/{a,[bc]}/*.ts\"", &["**/{a,[bc]}/*.ts"]),
        ("claude", Form::Claude, "paths:\n  - src/**", &["**/src/**"]),
        (
            "claude",
            Form::Claude,
            "paths: \"**/*.{ts,tsx}, lib/*.js\"",
            &["**/*.{ts,tsx}", "lib/*.js"],
        ),
    ];
    for (client, form, field, scope) in rules {
        let text = format!("---\n{field}\n---\nText.\n");
        let case = rule(client, form, &text);
        let item = case.law();
        assert_eq!(item.scope, scope, "{text}");
        let again = case.built(&item);
        assert!(again.contains(&format!("\n{field}\n")), "{text}{}{again}", item.render_text());
    }
    for field in ["tools: Read, Grep, Bash", "tools:\n  - Read\n  - Grep"] {
        let text = format!("---\nname: demo\ndescription: Reviews\n{field}\n---\nText.\n");
        let case = agent("claude", &text);
        let item = case.law();
        assert!(item.find_field("tools").is_some(), "{}", item.render_text());
        let again = case.built(&item);
        assert!(again.contains(&format!("\n{field}\n")), "{text}{}{again}", item.render_text());
    }
}

/// A changed scope counts, not the words of the original.
#[test]
fn words_of_the_original_count_as_long_as_they_mean_the_same() {
    let case = rule("cursor", Form::Cursor, "---\nglobs: **/*.{ts,tsx}\n---\nText.\n");
    let mut item = case.law();
    item.scope = vec!["docs/**".to_owned()];
    let again = case.built(&item);
    assert!(again.contains("\nglobs: docs/**\n"), "{again}");
    // A line that a reader of lines takes for more than YAML does.
    let mut item = case.law();
    for hostile in ["**/*.{ts,tsx} #, **", "&a **/*.{ts,tsx}", "**/*.{ts,tsx}\nalwaysApply: true"] {
        item.written[0].1[0].1 = YamlValue::from_text(hostile);
        let again = case.built(&item);
        assert!(again.contains("\nglobs: **/*.ts,**/*.tsx\n"), "{again}");
    }
    let case =
        agent("claude", "---\nname: demo\ndescription: Reviews\ntools: Read, Grep\n---\nText.\n");
    let mut item = case.law();
    item.written[0].1[0].1 = YamlValue::from_text("Read, Grep, Bash");
    let again = case.built(&item);
    assert!(!again.contains("Bash"), "{again}");
}

#[test]
fn names_of_files_become_names_of_items() {
    for (stem, name) in [
        ("api", "api"),
        ("C# Expert", "csharp-expert"),
        ("React_Rules.v2", "react-rules-v2"),
        ("--x--", "x"),
        ("con", "con-rule"),
        ("日本", "rule-98bf8d1c"),
    ] {
        let found = item_slug(stem, ItemKind::Rule);
        assert_eq!(brief_dialects::portable::name_problem(&found), None, "{stem}");
        if stem != "日本" {
            assert_eq!(found, name);
        }
    }
    assert_eq!(item_slug(&"a-".repeat(80), ItemKind::Rule).len(), 63);
}

#[test]
fn a_rule_of_claude_code() {
    let item =
        rule("claude", Form::Claude, "---\npaths:\n  - src/api/**/*.ts\n---\n\n# API\n\nText.\n")
            .law();
    assert_eq!(item.scope, ["src/api/**/*.ts"]);
    assert_eq!(item.description, "API");
    assert_eq!(item.clients, ["claude"]);
    // A name without `/` is meant at any depth there.
    let item = rule("claude", Form::Claude, "---\npaths: src/**, *.md\n---\nText.\n").law();
    assert_eq!(item.scope, ["**/src/**", "**/*.md"]);
    let item = rule("claude", Form::Claude, "---\npaths: [/src/**]\n---\nText.\n").law();
    assert_eq!(item.scope, ["src/**"]);
    // What takes files back has no words.
    let item =
        rule("claude", Form::Claude, "---\npaths: [src/a/**, '!src/a/b/**']\n---\nText.\n").law();
    assert_eq!(item.scope, Vec::<String>::new());
    assert_eq!(item.notes.len(), 1);
    let item = rule("claude", Form::Claude, "No header.\n").law();
    assert!(item.render_text().ends_with("---\nNo header.\n"));
}

#[test]
fn a_rule_of_copilot() {
    let copilot = |text| rule("copilot", Form::Copilot, text).law();
    assert_eq!(copilot("---\napplyTo: '*.py'\n---\nText.\n").scope, ["**/*.py"]);
    assert_eq!(
        copilot("---\napplyTo: '**/*.{ts,tsx}'\ndescription: TS\n---\nText.\n").scope,
        ["**/*.{ts,tsx}"]
    );
    assert_eq!(
        copilot("---\napplyTo: '**'\nexcludeAgent: code-review\n---\n\nText.\n").scope,
        Vec::<String>::new()
    );
    assert_eq!(copilot("---\napplyTo: 'a/**,b/**'\n---\nText.\n").scope, ["a/**", "b/**"]);
    // Without `applyTo` it is used when it is mentioned; a build would write one.
    assert_eq!(copilot("---\ndescription: x\n---\nText.\n").scope, Vec::<String>::new());
    copilot("Text alone.\n");
}

#[test]
fn an_agent_keeps_its_tools() {
    let item = agent(
        "claude",
        "---\nname: demo\ndescription: d\ntools: Read, Grep\nmodel: opus\n---\n\nYou are.\n",
    )
    .law();
    assert!(item.render_text().contains("tools:\n  - read\n  - grep\n"), "{}", item.render_text());
    assert!(item.blocks.is_empty(), "{}", item.render_text());
    let item = agent("claude", "---\nname: Demo Agent\ndescription: d\ntools: [Read, Task, 'Bash(git:*)']\ncolor: red\nmodel: inherit\n---\nYou are.\n").law();
    assert_eq!(item.notes.len(), 1);
    let item = agent(
        "copilot",
        "---\ndescription: d\ntools: ['edit', 'search', 'github/*']\nmodel: GPT-5\n---\nYou are.\n",
    )
    .law();
    assert!(
        item.render_text().contains("tools:\n  - write\n  - edit\n  - grep\n  - glob\n"),
        "{}",
        item.render_text()
    );
    agent("opencode", "---\ndescription: d\nmode: primary\npermission:\n  \"*\": deny\n  read: allow\n---\nYou are.\n").law();
    agent("opencode", "---\ndescription: d\npermission:\n  bash: ask\n---\nYou are.\n").law();
    agent("opencode", "---\ndescription: d\ntools:\n  write: false\n---\nYou are.\n").law();
}

#[test]
fn a_command_keeps_its_arguments() {
    let command = |client, text| {
        Case { client, kind: ItemKind::Command, form: Form::Plain, stem: "demo", text }.law()
    };
    let item = command(
        "claude",
        "---\ndescription: d\nallowed-tools: Bash(git:*)\n---\n\nFix $ARGUMENTS.\n",
    );
    assert!(
        item.overrides.is_empty() && item.render_text().ends_with("\nFix $ARGUMENTS.\n"),
        "{}",
        item.render_text()
    );
    let item = command("claude", "Fix $ARGUMENTS[0] for $5.\n");
    assert!(
        item.render_text().ends_with("\nFix $1 for $5.\n") || !item.overrides.is_empty(),
        "{}",
        item.render_text()
    );
    let item = command("opencode", "---\ndescription: d\nagent: build\n---\nFix $1 and $2.\n");
    assert!(item.overrides.is_empty(), "{}", item.render_text());
    let item = command("copilot", "---\nmode: agent\n---\nFix ${input:issue} in ${file}.\n");
    assert!(item.render_text().contains("arguments:\n  - issue\n"), "{}", item.render_text());
    // A number of Claude Code's has another meaning in each version.
    let item = command("claude", "Fix $1.\n");
    assert_eq!(item.overrides, [("claude".to_owned(), "Fix $1.\n".to_owned())]);
}

/// Built by us, a file becomes the item that it came from.
#[test]
fn our_own_output_is_no_verbatim_item() {
    let text = "---\nname: demo\ndescription: d\n---\n\n# demo\n\n## Part\n\n- a\n";
    let item = rule("claude", Form::Claude, text).law();
    assert!(!item.is_verbatim, "{}", item.render_text());
    assert_eq!(item.body, "\n## Part\n\n- a\n");
}

#[test]
fn a_long_description_is_cut_and_kept() {
    let text = format!("---\nname: demo\ndescription: {}\n---\nYou are.\n", "word ".repeat(300));
    let item = agent("claude", &text).law();
    assert!(item.description.chars().count() <= 1024);
    assert_eq!(item.blocks.len(), 1);
}

#[test]
fn what_is_no_item_is_refused() {
    let no_text = rule("claude", Form::Claude, "---\npaths: [a]\n---\n\n").import();
    assert_eq!(no_text.unwrap_err(), ImportRefusal::NoText);
    let directives = rule("claude", Form::Claude, "a\n<!-- @client:claude -->\nb\n").import();
    assert_eq!(directives.unwrap_err(), ImportRefusal::Directives);
    for (bytes, refusal) in [
        (vec![0xff, 0xfe, b'a', 0], ImportRefusal::Utf16),
        (b"caf\xe9\n".to_vec(), ImportRefusal::NotUtf8),
    ] {
        let source = Arc::new(Source::from_bytes("x.md", bytes));
        let file = OriginalFile {
            client: None,
            kind: ItemKind::Rule,
            form: Form::Plain,
            about: "",
            stem: "x",
            peer: None,
            source: &source,
        };
        assert_eq!(import_file(&file, &[]).unwrap_err(), refusal);
    }
}

/// A header is held against its own, whatever it says, for every client with rules or agents.
#[test]
fn the_law_holds_for_odd_headers() {
    let headers = [
        "",
        "name: demo\n",
        "description: A text\n",
        "description:\nglobs:\nalwaysApply: false\n",
        "paths: a/**\n",
        "globs: **/*.ts, src/**\n",
        "globs: ['a/*.ts', b]\nalwaysApply: true\n",
        "applyTo: '**'\n",
        "applyTo: src/x.py\nname: Other name\n",
        "trigger: glob\nglobs: '*.py'\n",
        "trigger: manual\n",
        "inclusion: fileMatch\nfileMatchPattern: ['a/**']\n",
        "inclusion: manual\n",
        "unknown: {a: [1, 2.5, yes], b: null}\n",
        "version: 1.0\nauthor: me # a comment\n",
        "model: x\ntools: *\n",
    ];
    let profiles = Profiles::builtin();
    let mut count = 0;
    for profile in profiles.iter() {
        let is_markdown = |(kind, layout): &(ItemKind, &Layout)| {
            *kind != ItemKind::Skill && layout.form == OutputForm::Markdown
        };
        for (kind, layout) in profile.layouts().filter(is_markdown) {
            let form = layout.pattern_form().unwrap_or(Form::Plain);
            for header in headers {
                let text = match header {
                    "" => "Text.\n".to_owned(),
                    header => format!("---\n{header}---\n\nText.\n"),
                };
                // In a form without front matter, two lines of dashes are text, and so they stay.
                Case { client: profile.id(), kind, form, stem: "demo", text: &text }.law();
                count += 1;
            }
        }
    }
    assert!(count > 80, "{count}");
}

/// Any texts of any clients: each gets back what it said, whether they become one item or several.
#[test]
fn whatever_is_united_comes_apart_again() {
    const PARTS: [&str; 7] = [
        "# Title\n",
        "- One.\n- Two.\n",
        "```sh\nmake\n\nmake\n```\n",
        "## Part\n",
        "Text.\n",
        "Other text.\n",
        "> Quoted.\n",
    ];
    let profiles = Profiles::builtin();
    let clients = profiles.ids();
    arbtest::arbtest(|input| {
        let mut items = Vec::new();
        let mut texts = Vec::new();
        for client in [None, Some("claude"), Some("copilot"), Some("opencode")] {
            if input.arbitrary::<bool>()? && !items.is_empty() {
                continue;
            }
            let count = input.int_in_range(1..=5)?;
            let mut body = String::new();
            for _ in 0..count {
                body.push_str(input.choose(&PARTS)?);
                body.push('\n');
            }
            let source = Arc::new(Source::new(format!("{client:?}.md"), body.clone()));
            let file = OriginalFile {
                client: client.and_then(|client| profiles.get(client)),
                kind: ItemKind::Rule,
                form: Form::Instructions,
                about: "",
                stem: "demo",
                peer: None,
                source: &source,
            };
            items.push(import_file(&file, &clients).expect("it is text"));
            texts.push((client, body));
        }
        let united = unite_items(items, profiles, &ProjectFiles::new(&Vec::new));
        assert!(united.len() <= texts.len());
        for (client, body) in &texts {
            let is_its = |item: &&ImportedItem| {
                item.members.iter().any(|own| own.client.as_deref() == *client)
            };
            let own: Vec<&ImportedItem> = united.iter().filter(is_its).collect();
            let [item] = own[..] else { panic!("one item has the text of {client:?}") };
            let portable = item.to_portable_item();
            assert!(is_sound(&portable, &clients), "{}", item.render_text());
            // A client that no file names reads what everybody reads.
            let reader = client.unwrap_or_else(|| {
                let named = |id: &&&str| {
                    !item.members.iter().any(|own| own.client.as_deref() == Some(**id))
                };
                clients.iter().find(named).unwrap()
            });
            let again = portable.body_for(reader, &clients);
            assert!(
                is_same_text(&again, body),
                "{client:?}: {body:?} became {again:?}\n{}",
                item.render_text()
            );
        }
        Ok(())
    });
}

/// Any text at all is imported or refused, and what is imported is sound and comes back.
#[test]
fn any_file_is_imported_or_refused() {
    const HEADS: [&str; 8] = [
        "---\n",
        "paths: ",
        "globs: **/*.ts\n",
        "name: x\n",
        "- a\n",
        "tools: [",
        "\u{feff}",
        "description: >\n  a\n",
    ];
    let profiles = Profiles::builtin();
    let clients = profiles.ids();
    arbtest::arbtest(|input| {
        let mut text = String::new();
        for _ in 0..input.int_in_range(0..=6)? {
            text.push_str(input.choose(&HEADS)?);
        }
        text.push_str(input.arbitrary::<&str>()?);
        let all: Vec<_> = profiles.iter().collect();
        let profile = *input.choose(&all)?;
        for (kind, layout) in profile.layouts().filter(|(kind, _)| *kind != ItemKind::Skill) {
            let source = Arc::new(Source::new("x.md", text.clone()));
            let form = layout.pattern_form().unwrap_or(Form::Plain);
            let file = OriginalFile {
                client: Some(profile),
                kind,
                form,
                about: "",
                stem: "x",
                peer: None,
                source: &source,
            };
            let Ok(item) = import_file(&file, &clients) else { continue };
            let portable = item.to_portable_item();
            if is_sound(&portable, &clients) && layout.form == crate::profile::OutputForm::Markdown
            {
                let compiled =
                    compile_item(&portable, profile, &ProfileOptions::default(), &clients);
                let OutputContent::Text(again) = &compiled.files[0].content else {
                    panic!("a text")
                };
                assert!(
                    again.ends_with(&item.members[0].body),
                    "{kind} of {}: {text:?} became {again:?}",
                    profile.id()
                );
            }
        }
        Ok(())
    });
}

/// Recipes of Goose as people write them: built again, every field and the prompt are the same.
#[test]
fn recipes_come_back() {
    let texts = [
        "version: 1.0.0\ntitle: demo\ndescription: Demo\nprompt: |\n  Say it.\n",
        "title: Release Notes\ndescription: d\ninstructions: You are.\nprompt: \"Go for {{ tag }}\"\n\
         parameters:\n  - key: tag\n    input_type: string\n    requirement: required\n    description: t\n",
        "version: \"1.0.0\"\ntitle: demo\ndescription: d\nextensions:\n  - type: builtin\n    name: developer\n    timeout: 300\n\
         prompt: |-\n  {% if x %}a{% endif %}\n    {{x}} costs $5 and $1\nsettings:\n  temperature: 0.1\n",
        "version: 1.0.0\ntitle: demo\ndescription: d\nprompt: \"  first\\n\\nand \\ttab\\r\\n\"\n",
    ];
    for text in texts {
        let case = command("goose", text);
        let item = case.import().expect(text);
        let again = case.built(&item);
        let read = |text: &str| {
            let (header, body) = Header::of_yaml(text, "prompt").expect(text);
            let mut fields = header.fields;
            fields.sort_by_key(|(key, _)| header::key_of(key).to_owned());
            (format!("{fields:?}"), body)
        };
        assert_eq!(read(text), read(&again), "{}\n{again}", item.render_text());
    }
    let without = command("goose", "title: demo\ndescription: d\ninstructions: You are.\n");
    assert_eq!(without.import().err(), Some(ImportRefusal::NotYaml));
}

/// A command in TOML whose words the format has needs no body of its own.
#[test]
fn a_plain_command_has_one_body() {
    let text = "description = \"d\"\nprompt = '''\nSay {{args}}.\n'''\n";
    let item = command("gemini", text).import().unwrap();
    assert_eq!(item.overrides, []);
    assert!(item.render_text().ends_with("Say $ARGUMENTS.\n"), "{}", item.render_text());
}

fn command<'c>(client: &'c str, text: &'c str) -> Case<'c> {
    Case { client, kind: ItemKind::Command, form: Form::Plain, stem: "demo", text }
}
