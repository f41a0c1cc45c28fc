//! Front matter: §3, §4 and appendix B of the document.

use brief_clients::compile::{OutputContent, compile_for};

use crate::{AGENT, RULE, SKILL, Shop, agent, agent_by_the_document, document, rule, skill};

/// I16: `name` and `description` are on every output; a field without a reader is on none.
#[test]
fn every_output_has_a_name_and_a_description_and_nothing_of_the_format_itself() {
    let fields = "audience: [claude, copilot, opencode]\nmetadata:\n  version: \"1.0.0\"\n";
    for shop in [rule(fields, "## A\n"), skill(fields, "## A\n"), agent(fields)] {
        for path in shop.paths() {
            let header = shop.header(&path);
            assert!(header.contains("name: x\n") && header.contains("description: Does things\n"));
            for stripped in ["schema", "audience", "metadata", "license", "version"] {
                assert!(!header.contains(stripped), "{path}: {header}");
            }
        }
    }
}

/// N22, R13, R30: a list for Claude, one text with bare commas for Copilot.
#[test]
fn a_scope_is_a_list_or_a_text_with_commas() {
    let shop = rule("scope:\n  paths: [\"**/*.ts\", src/a]\n", "## A\n");
    let expected = "name: x\ndescription: Does things\npaths:\n  - \"**/*.ts\"\n  - src/a\n";
    assert_eq!(shop.header(RULE), expected);
    let copilot = shop.header(".github/instructions/x.instructions.md");
    assert_eq!(copilot, "applyTo: \"**/*.ts,src/a\"\nname: x\ndescription: Does things\n");
}

/// N21, I14: without a scope a rule is for everything.
#[test]
fn a_rule_without_a_scope_applies_everywhere() {
    for fields in ["", "scope:\n  paths: []\n", "scope: {}\n"] {
        let shop = rule(fields, "## A\n");
        assert!(!shop.header(RULE).contains("paths"));
        assert!(
            shop.header(".github/instructions/x.instructions.md").starts_with("applyTo: \"**\"\n")
        );
    }
}

/// N23: opencode has no scopes, and gets the rule all the same.
#[test]
fn a_client_without_scopes_gets_the_rule_without_one() {
    let shop = rule("scope:\n  paths: [a]\n", "## A\n");
    assert_eq!(shop.header(".agents/rules/x/RULE.md"), "name: x\ndescription: Does things\n");
}

/// N26, N27: what the format does not know is handed on with its type.
#[test]
fn unknown_fields_of_a_skill_are_handed_on() {
    let fields = "allowed-tools: Bash(git *) Read\nwhen_to_use: often\ndisable-model-invocation: true\n\
                  argument-hint: \"[a] [b]\"\npaths: [a, \"*.b\"]\nfoo: {a: 1, b: [x, {c: ~}]}\n";
    let expected = "name: x\ndescription: Does things\nallowed-tools: Bash(git *) Read\nwhen_to_use: often\n\
                    disable-model-invocation: true\nargument-hint: \"[a] [b]\"\npaths:\n  - a\n  - \"*.b\"\n\
                    foo:\n  a: 1\n  b:\n    - x\n    - c: null\n";
    let shop = skill(fields, "## A\n");
    for path in shop.paths() {
        assert_eq!(shop.header(&path), expected, "{path}");
    }
    assert!(!rule("foo: 1\n", "## A\n").header(RULE).contains("foo"), "only skills (N78)");
}

/// N28, N29, N30, R15: `mode` is for opencode, and its own block wins.
#[test]
fn a_mode_is_for_opencode() {
    let opencode = ".opencode/agents/x.md";
    assert!(agent("").header(opencode).contains("mode: subagent\n"));
    let shop = agent("mode: primary\n");
    assert!(shop.header(opencode).contains("mode: primary\n"));
    for path in [AGENT, ".github/agents/x.agent.md"] {
        assert!(!shop.header(path).contains("mode:"));
    }
    let own = agent("opencode: {mode: all}\n").header(opencode);
    assert!(own.contains("mode: all\n") && !own.contains("subagent"), "{own}");
}

/// N31, N32: skills to begin with are for Claude.
#[test]
fn preloaded_skills_are_for_claude() {
    let shop = agent("preload-skills: [a, b]\n");
    assert!(shop.header(AGENT).ends_with("skills:\n  - a\n  - b\n"));
    for path in [".github/agents/x.agent.md", ".opencode/agents/x.md"] {
        assert!(!shop.header(path).contains("skills"), "{path}");
    }
    assert!(!agent("").header(AGENT).contains("skills"));
}

/// N33, N34, R16: an alias is what the client calls it; a whole name is handed on.
#[test]
fn a_model_has_each_clients_name() {
    let paths = [AGENT, ".github/agents/x.agent.md", ".opencode/agents/x.md"];
    for (fields, names) in [
        ("", ["sonnet", "claude-sonnet-4.6", "anthropic/claude-sonnet-5"]),
        ("model: opus\n", ["opus", "claude-opus-4.8", "anthropic/claude-opus-5"]),
        ("model: haiku\n", ["haiku", "claude-haiku-4.5", "anthropic/claude-haiku-4-5"]),
        ("model: openai/gpt-5\n", ["openai/gpt-5"; 3]),
    ] {
        for (path, name) in paths.iter().zip(names) {
            let header = agent_by_the_document(fields).header(path);
            assert!(header.contains(&format!("model: {name}\n")), "{header}");
        }
    }
}

/// N35: without a list, everything that the client has.
#[test]
fn without_a_list_an_agent_has_all_tools_of_the_client() {
    let shop = agent_by_the_document("");
    assert!(shop.header(AGENT).ends_with(
        "tools:\n  - Read\n  - Write\n  - Edit\n  - Bash\n  - Grep\n  - Glob\n  - WebFetch\n  - WebSearch\n"
    ));
    let copilot = shop.header(".github/agents/x.agent.md");
    assert!(copilot.ends_with("tools:\n  - shell\n  - fetch\n  - web_search\n"));
    let opencode = shop.header(".opencode/agents/x.md");
    assert!(opencode.ends_with(
        "permission:\n  read: allow\n  edit: allow\n  bash: allow\n  grep: allow\n  glob: allow\n"
    ));
    assert_eq!(shop.losses(), [], "nothing was asked for, so nothing is lost");
}

/// N35: an empty list is a list.
#[test]
fn an_empty_list_of_tools_stays_empty() {
    let shop = agent("tools: []\n");
    assert!(shop.header(AGENT).ends_with("tools: []\n"));
    assert!(shop.header(".github/agents/x.agent.md").ends_with("tools: []\n"));
    assert!(shop.header(".opencode/agents/x.md").ends_with("permission:\n  \"*\": deny\n"));
    let shop = agent_by_the_document("tools: []\n");
    assert!(shop.header(".opencode/agents/x.md").ends_with("permission: {}\n"));
}

/// K32, ruling P4: what the source does not name is the client's to decide.
#[test]
fn a_model_and_tools_that_nobody_names_are_not_written() {
    let shop = agent("");
    for path in [AGENT, ".github/agents/x.agent.md", ".opencode/agents/x.md"] {
        let header = shop.header(path);
        for key in ["model", "tools", "permission"] {
            assert!(!header.contains(key), "{path}: {header}");
        }
    }
    let named = agent("model: opus\n");
    assert!(named.header(".opencode/agents/x.md").contains("model: anthropic/claude-opus-5\n"));
}

/// U32, K30: the names that Copilot has for tools, each once.
#[test]
fn copilot_gets_the_names_that_it_knows() {
    let tools = "tools: [read, write, edit, bash, grep, glob, web-fetch, web-search]\n";
    let shop = agent(tools);
    let header = shop.header(".github/agents/x.agent.md");
    assert!(
        header.ends_with("tools:\n  - read\n  - edit\n  - execute\n  - search\n  - web\n"),
        "{header}"
    );
    assert_eq!(shop.losses(), [], "every capability has a name in every client");
    let header = agent("tools: [read, grep]\n").header(".github/agents/x.agent.md");
    assert!(header.ends_with("tools:\n  - read\n  - search\n"), "{header}");
}

/// K31: opencode allows what no entry denies, so everything is denied first.
#[test]
fn opencode_gets_the_named_tools_and_no_others() {
    let header = agent("tools: [read, web-fetch]\n").header(".opencode/agents/x.md");
    assert!(
        header.ends_with("permission:\n  \"*\": deny\n  read: allow\n  webfetch: allow\n"),
        "{header}"
    );
}

/// R12, I11: when nothing is left, the list is empty and not absent, which would mean everything.
#[test]
fn when_all_tools_are_dropped_the_list_is_empty() {
    let shop = agent_by_the_document("tools: [read, grep]\n");
    let header = shop.header(".github/agents/x.agent.md");
    assert!(header.ends_with("tools: []\n"), "{header}");
    assert_eq!(shop.losses().len(), 2);
}

/// N52: one warning for each capability that a client does not get.
#[test]
fn each_dropped_capability_is_told_once() {
    let losses = agent_by_the_document("tools: [web-fetch, web-search, read, read]\n").losses();
    let messages: Vec<&str> = losses.iter().map(|(_, message)| message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "the agent `x` loses `read` for copilot: copilot has no name for it",
            "the agent `x` loses `web-fetch` for opencode: opencode has no name for it",
            "the agent `x` loses `web-search` for opencode: opencode has no name for it",
        ]
    );
    assert!(losses.iter().all(|(code, _)| *code == "item/capability-dropped"));
}

/// I08, R09: the author's order, the client's names, and `write` is `edit` for opencode.
#[test]
fn tools_keep_the_authors_order_and_stand_once() {
    let shop = agent("tools: [edit, write, bash, read]\n");
    assert!(shop.header(AGENT).ends_with("tools:\n  - Edit\n  - Write\n  - Bash\n  - Read\n"));
    let opencode = shop.header(".opencode/agents/x.md");
    assert!(opencode.ends_with("  edit: allow\n  bash: allow\n  read: allow\n"));
    assert!(!opencode.contains("tools"));
}

/// N36, N37, N38: a block reaches its own client, on every kind.
#[test]
fn a_block_for_a_client_reaches_that_client_only() {
    let fields =
        "claude: {color: red}\ncopilot:\n  target: vscode\nopencode:\n  color: \"#8b5cf6\"\n";
    for shop in [rule(fields, "## A\n"), skill(fields, "## A\n"), agent(fields)] {
        let paths = shop.paths();
        let own = ["color: red\n", "target: vscode\n", "color: \"#8b5cf6\"\n"];
        for (index, path) in paths.iter().enumerate() {
            let header = shop.header(path);
            for (other, line) in own.iter().enumerate() {
                assert_eq!(header.ends_with(line), index == other, "{path}: {header}");
            }
            for client in ["claude:", "copilot:", "opencode:"] {
                assert!(!header.contains(client), "{path}: {header}");
            }
        }
    }
}

/// R14, R10: mappings are merged, everything else is replaced, and new things come last.
#[test]
fn a_block_is_merged_deeply() {
    let fields = "tools: [bash]\nopencode:\n  zeta: 1\n  description: Own\n  permission:\n    webfetch: allow\n    \
                  bash: ask\n  alpha: [1]\nclaude:\n  tools: [Task]\n";
    let shop = agent(fields);
    assert_eq!(
        shop.header(".opencode/agents/x.md"),
        "name: x\ndescription: Own\nmode: subagent\npermission:\n  \"*\": deny\n  \
         bash: ask\n  webfetch: allow\nzeta: 1\nalpha:\n  - 1\n"
    );
    assert!(shop.header(AGENT).ends_with("tools:\n  - Task\n"));
}

/// N39: a block is not looked into, whatever is in it.
#[test]
fn any_block_is_taken_as_it_is() {
    for fields in [
        "claude: 7\n",
        "claude: [a]\n",
        "claude:\n",
        "claude: {1: a, true: b}\n",
        "claude: {a: {b: {c: [[], {}, [[x]]]}}}\n",
        "claude:\n  a: &a [1]\n  b: *a\n",
    ] {
        let shop = agent(fields);
        assert_eq!(shop.losses(), [], "{fields}");
        assert!(shop.header(AGENT).starts_with("name: x\n"));
    }
    let header = agent("claude: {1: a, l: [[x, z], {k: v, m: w}], e: [], f: {}}\n").header(AGENT);
    assert!(
        header.ends_with("1: a\nl:\n  - - x\n    - z\n  - k: v\n    m: w\ne: []\nf: {}\n"),
        "{header}"
    );
}

/// R38: the license stays behind, unless skills are to keep it.
#[test]
fn the_license_is_kept_on_skills_when_asked_for() {
    assert!(!skill("", "## A\n").header(SKILL).contains("license"));
    let keep = "[build]\nlicense = \"keep\"\n";
    let shop = Shop::configured(keep, &[("skills/x/SKILL.md", &document("", "## A\n"))]);
    assert_eq!(shop.header(SKILL), "name: x\ndescription: Does things\nlicense: MIT\n");
    let shop = Shop::configured(keep, &[("rules/x/RULE.md", &document("", "## A\n"))]);
    assert!(!shop.header(RULE).contains("license"));
}

/// R18: with strict skills, only the fields of the open standard are left.
#[test]
fn strict_skills_have_the_standards_fields_only() {
    let fields =
        "when_to_use: often\nallowed-tools: Read\ncompatibility: any\nclaude: {model: opus}\n";
    let strict = "[build]\nagent-skills = \"strict\"\n";
    let shop = Shop::configured(strict, &[("skills/x/SKILL.md", &document(fields, "## A\n"))]);
    assert_eq!(
        shop.header(SKILL),
        "name: x\ndescription: Does things\nallowed-tools: Read\ncompatibility: any\nmodel: opus\n"
    );
}

/// N16: who is not in the audience gets nothing.
#[test]
fn an_item_is_compiled_for_its_audience() {
    assert_eq!(rule("audience: [claude]\n", "## A\n").paths(), [RULE]);
    assert_eq!(rule("", "## A\n").paths().len(), 3);
}

/// R19, U36: a skill of the open standard arrives byte for byte.
#[test]
fn a_foreign_skill_is_taken_as_it_is() {
    for source in [
        "---\n# A comment.\nname: x\ndescription: >\n  Folded\n  text.\nlicense: Apache-2.0\nmetadata:\n  a: \"1\"\n\
         claude: {model: opus}\n---\n# Title\n\n\n*  odd   layout\n",
        "\u{feff}---\r\nname: x\r\ndescription: d\r\n---\r\nText, and no line break at the end",
    ] {
        let shop = Shop::new(&[("skills/x/SKILL.md", source)]);
        assert_eq!(shop.paths().len(), 3);
        for path in shop.paths() {
            assert_eq!(shop.text(&path), source, "{path}");
        }
    }
}

/// U36: the directory of the output has the name that the front matter has.
#[test]
fn a_foreign_skill_lies_below_its_own_name() {
    let source = "---\nname: pdf\ndescription: d\n---\nText.\n";
    let shop = Shop::new(&[("skills/pdf-tools/SKILL.md", source), ("skills/pdf-tools/x.py", "x")]);
    let paths = shop.paths();
    assert!(paths.contains(&".claude/skills/pdf/SKILL.md".to_owned()), "{paths:?}");
    assert!(paths.contains(&".claude/skills/pdf/x.py".to_owned()), "{paths:?}");
}

/// L10: agents of Codex, Gemini CLI and Qwen Code run on the model that they name (run on 2026-11-18).
#[test]
fn l10_a_whole_model_reaches_each_agent_that_can_name_it() {
    let shop = agent("model: gpt-5.6-sol\n");
    let [item] = shop.registry.items.as_slice() else { panic!("one item") };
    for client in ["codex", "gemini", "qwen"] {
        let profile = shop.profiles.iter().find(|profile| profile.id() == client).unwrap();
        let compiled = compile_for(item, &[profile], &shop.options, &shop.profiles.ids());
        let has_model = |content: &OutputContent| matches!(content, OutputContent::Text(text) if text.contains("gpt-5.6-sol"));
        assert!(compiled.files.iter().any(|file| has_model(&file.content)), "{client}");
        let lost: Vec<_> =
            compiled.diagnostics.iter().filter(|found| found.message.contains("model")).collect();
        assert!(lost.is_empty(), "{client}: {lost:?}");
    }
}
