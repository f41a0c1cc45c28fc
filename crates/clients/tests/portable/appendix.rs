//! The examples of the document, appendix A. What they become is written by hand, from section 7 and
//! appendix B.

use brief_clients::compile::OutputContent;

use crate::{BY_THE_DOCUMENT, Shop};

/// A.1
const LICENSE_AWARENESS: &str = r#"---
schema: 1
name: license-awareness
description: Use when reviewing third-party code, AI suggestions, or external snippets to check licensing compatibility and avoid incorporating incompatible licensed code
license: proprietary
metadata:
  version: "1.0.0"
  author: platform-security
---

## Licensing rules

- Never paste code from external sources without verifying the license.
- When AI suggests code matching a recognizable upstream project, flag it before incorporating.
- See [approved licenses](./allowed-licenses.txt) for the canonical SPDX list.
- AGPL, SSPL, and BUSL code requires explicit approval from legal.
"#;

/// A.1: an always-on rule; what lies beside it is in the shared store, and the links lead there.
#[test]
fn an_always_on_rule() {
    let shop = Shop::new(&[
        ("rules/license-awareness/RULE.md", LICENSE_AWARENESS),
        ("rules/license-awareness/allowed-licenses.txt", "MIT\n"),
    ]);
    assert_eq!(
        shop.paths(),
        [
            ".claude/rules/license-awareness.md",
            ".agents/rules/license-awareness/allowed-licenses.txt",
            ".github/instructions/license-awareness.instructions.md",
            ".agents/rules/license-awareness/RULE.md",
        ]
    );
    let body = |link: &str| {
        format!(
            "
# license-awareness

## Licensing rules

- Never paste code from external sources without verifying the license.
- When AI suggests code matching a recognizable upstream project, flag it before incorporating.
- See [approved licenses]({link}) for the canonical SPDX list.
- AGPL, SSPL, and BUSL code requires explicit approval from legal.
"
        )
    };
    let fields = "name: license-awareness
description: Use when reviewing third-party code, AI suggestions, or external snippets to check licensing compatibility and avoid incorporating incompatible licensed code
";
    let far = "../../.agents/rules/license-awareness/allowed-licenses.txt";
    assert_eq!(
        shop.text(".claude/rules/license-awareness.md"),
        format!("---\n{fields}---\n{}", body(far))
    );
    assert_eq!(
        shop.text(".github/instructions/license-awareness.instructions.md"),
        format!("---\napplyTo: \"**\"\n{fields}---\n{}", body(far))
    );
    assert_eq!(
        shop.text(".agents/rules/license-awareness/RULE.md"),
        format!("---\n{fields}---\n{}", body("./allowed-licenses.txt"))
    );
    let copy = &shop.compile().files[1].content;
    assert_eq!(*copy, OutputContent::Copy("allowed-licenses.txt".to_owned()));
}

/// A.2: a scoped rule with a block for one client.
#[test]
fn a_scoped_rule() {
    let source = r#"---
schema: 1
name: api-conventions
description: Use when writing or modifying API handler files to ensure consistent request validation, error formatting, and response shape
license: proprietary
scope:
  paths:
    - "src/api/**/*.ts"
    - "src/handlers/**/*.ts"
copilot:
  excludeAgent: code-review
metadata:
  version: "2.1.0"
  author: platform-api
---

## API handler conventions

- All endpoints include input validation using the project's schema library.
- Use the standard error response format defined in `src/api/errors.ts`.
- Never return raw database errors to the client.
"#;
    let shop = Shop::new(&[("rules/api-conventions/RULE.md", source)]);
    let body = "
# api-conventions

## API handler conventions

- All endpoints include input validation using the project's schema library.
- Use the standard error response format defined in `src/api/errors.ts`.
- Never return raw database errors to the client.
";
    let fields = "name: api-conventions
description: Use when writing or modifying API handler files to ensure consistent request validation, error formatting, and response shape
";
    assert_eq!(
        shop.text(".claude/rules/api-conventions.md"),
        format!("---\n{fields}paths:\n  - src/api/**/*.ts\n  - src/handlers/**/*.ts\n---\n{body}")
    );
    assert_eq!(
        shop.text(".github/instructions/api-conventions.instructions.md"),
        format!(
            "---\napplyTo: src/api/**/*.ts,src/handlers/**/*.ts\n{fields}excludeAgent: code-review\n---\n{body}"
        )
    );
    assert_eq!(
        shop.text(".agents/rules/api-conventions/RULE.md"),
        format!("---\n{fields}---\n{body}")
    );
    let losses: Vec<&str> = shop.losses().iter().map(|(code, _)| *code).collect();
    assert_eq!(losses, ["item/scope-dropped"], "K34: opencode has no scopes");
}

/// A.3: a skill with a part for one client, and a file beside it.
#[test]
fn a_skill_with_a_directive() {
    let source = "---
schema: 1
name: create-api-endpoint
description: Use when scaffolding new REST API endpoints with Zod validation, following project conventions for handler structure, error handling, and test coverage
license: proprietary
metadata:
  version: \"1.0.0\"
  author: platform-api
---

## Create a new API endpoint

Follow these steps to scaffold a complete endpoint:

1. Create the handler file at `src/api/handlers/{resource}.ts`.
2. Define the request schema using Zod in `src/api/schemas/{resource}.ts`.
3. Register the route in `src/api/routes.ts`.
4. Create the test file at `src/api/__tests__/{resource}.test.ts`.

<!-- @client:claude -->
When creating files, use the Write tool for new files rather than Edit.
<!-- @endclient -->

## Validation pattern

All inputs MUST be validated against the Zod schema before processing.
See [validation patterns](./references/validation-patterns.md) for examples.
";
    let shop = Shop::new(&[
        ("content/skills/create-api-endpoint/SKILL.md", source),
        ("content/skills/create-api-endpoint/references/validation-patterns.md", "# Patterns\n"),
    ]);
    let expected = |own: &str| {
        format!(
            "---
name: create-api-endpoint
description: Use when scaffolding new REST API endpoints with Zod validation, following project conventions for handler structure, error handling, and test coverage
---

# create-api-endpoint

## Create a new API endpoint

Follow these steps to scaffold a complete endpoint:

1. Create the handler file at `src/api/handlers/{{resource}}.ts`.
2. Define the request schema using Zod in `src/api/schemas/{{resource}}.ts`.
3. Register the route in `src/api/routes.ts`.
4. Create the test file at `src/api/__tests__/{{resource}}.test.ts`.

{own}## Validation pattern

All inputs MUST be validated against the Zod schema before processing.
See [validation patterns](./references/validation-patterns.md) for examples.
"
        )
    };
    let own = "When creating files, use the Write tool for new files rather than Edit.\n\n";
    assert_eq!(shop.text(".claude/skills/create-api-endpoint/SKILL.md"), expected(own));
    assert_eq!(shop.text(".github/skills/create-api-endpoint/SKILL.md"), expected(""));
    assert_eq!(shop.text(".agents/skills/create-api-endpoint/SKILL.md"), expected(""));
    for directory in [".claude", ".github", ".agents"] {
        let file =
            format!("{directory}/skills/create-api-endpoint/references/validation-patterns.md");
        assert!(shop.paths().contains(&file), "{file}");
    }
}

const REVIEWER: &str = r#"---
schema: 1
name: security-reviewer
description: Use when reviewing code for injection flaws, authentication issues, secret leaks, and insecure data handling
license: proprietary
audience:
  - claude
  - copilot
  - opencode
mode: subagent
model: sonnet
tools:
  - read
  - grep
  - glob
  - bash
preload-skills:
  - security-baseline
opencode:
  temperature: 0.2
metadata:
  version: "1.0.0"
  author: platform-security
---

## Security reviewer

You are a security-focused code reviewer. When invoked:

1. Identify injection vectors (SQL, command, path traversal, XSS).
2. Scan for hardcoded secrets, tokens, API keys, or credentials.
"#;

/// A.4 by the tables of the document: Copilot has a name for one of its four tools, and the others are told.
#[test]
fn an_agent() {
    let files = [("agents/security-reviewer/AGENT.md", REVIEWER)];
    let shop = Shop::configured(BY_THE_DOCUMENT, &files);
    let body = "
# security-reviewer

## Security reviewer

You are a security-focused code reviewer. When invoked:

1. Identify injection vectors (SQL, command, path traversal, XSS).
2. Scan for hardcoded secrets, tokens, API keys, or credentials.
";
    let fields = "name: security-reviewer
description: Use when reviewing code for injection flaws, authentication issues, secret leaks, and insecure data handling
";
    assert_eq!(
        shop.text(".claude/agents/security-reviewer.md"),
        format!(
            "---\n{fields}model: sonnet\ntools:\n  - Read\n  - Grep\n  - Glob\n  - Bash\nskills:\n  - security-baseline\n---\n{body}"
        )
    );
    assert_eq!(
        shop.text(".github/agents/security-reviewer.agent.md"),
        format!("---\n{fields}model: claude-sonnet-4.6\ntools:\n  - shell\n---\n{body}")
    );
    assert_eq!(
        shop.text(".opencode/agents/security-reviewer.md"),
        format!(
            "---\n{fields}mode: subagent\nmodel: anthropic/claude-sonnet-5\npermission:\n  read: allow\n  grep: allow\n  glob: allow\n  bash: allow\ntemperature: 0.2\n---\n{body}"
        )
    );
    let losses = shop.losses();
    assert_eq!(losses.len(), 3);
    for ((code, message), capability) in losses.iter().zip(["read", "grep", "glob"]) {
        assert_eq!(*code, "item/capability-dropped");
        for part in ["security-reviewer", capability, "copilot"] {
            assert!(message.contains(part), "{message}");
        }
    }
}

/// A.6: a body of its own for two clients, the canonical one for the third.
#[test]
fn an_agent_with_bodies_for_single_clients() {
    let shop = Shop::new(&[
        ("agents/security-reviewer/AGENT.md", REVIEWER),
        ("agents/security-reviewer/AGENT.claude.md", "## For Claude\n"),
        ("agents/security-reviewer/AGENT.copilot.md", "## For Copilot\n"),
    ]);
    let claude = shop.text(".claude/agents/security-reviewer.md");
    assert!(claude.ends_with("---\n\n# security-reviewer\n\n## For Claude\n"), "{claude}");
    assert!(claude.contains("skills:\n  - security-baseline\n"), "fields are the entrypoint's");
    let copilot = shop.text(".github/agents/security-reviewer.agent.md");
    assert!(copilot.ends_with("---\n\n# security-reviewer\n\n## For Copilot\n"), "{copilot}");
    assert!(shop.text(".opencode/agents/security-reviewer.md").contains("## Security reviewer"));
    assert_eq!(shop.paths().len(), 3, "a body for a client is no file beside the item");
}
