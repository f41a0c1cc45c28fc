//! The format of a file with the name `*.agent.md` or `AGENT.md`.
//!
//! Three formats use these names: agent files, the custom agents of GitHub Copilot, and the
//! portable agents that are compiled for clients. A file belongs to one of them, by its content
//! (ruling G15). Advice for one format would destroy a file of another.

use std::sync::Arc;

use brief_syntax::front_matter::FrontMatter;
use brief_syntax::markdown::Outline;
use brief_syntax::yaml::{Node, Value};
use brief_syntax::{Diagnostic, Source, Span, rules};

use crate::agents::AgentName;

/// The name of a portable agent's entry file.
pub(crate) const PORTABLE_NAME: &str = "AGENT.md";

/// Fields that only agent files have. A title, a status or rules occur in any format, so these
/// fields decide only without evidence for another format.
const OURS: [&str; 10] = [
    "icon",
    "templateengine",
    "recommended",
    "required",
    "commands",
    "system",
    "avatar",
    "abilities",
    "allow",
    "deny",
];
const PERHAPS_OURS: [&str; 4] = ["title", "status", "input", "rules"];

/// Fields of Copilot's custom agents that have no meaning in agent files, or another one.
const COPILOTS: [&str; 15] = [
    "name",
    "tools",
    "model",
    "models",
    "modelpolicy",
    "mcp-servers",
    "handoffs",
    "agents",
    "target",
    "infer",
    "user-invocable",
    "user-invokable",
    "disable-model-invocation",
    "argument-hint",
    "hooks",
];

/// The format of a file with an agent file's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AgentFormat {
    /// An agent file, which `brief agent` runs.
    AgentFile,
    /// A custom agent of GitHub Copilot.
    Copilot,
    /// A portable agent, which `brief registry build` and `brief add` write for each client.
    Portable,
}

/// Determines the format of a file by its content; its name decides only where the content is
/// ambiguous.
pub(crate) fn format_of(source: &Arc<Source>) -> AgentFormat {
    let front = FrontMatter::from_source(source);
    let fields = header_field_names(&front);
    let has = |names: &[&str]| fields.iter().any(|field| names.contains(&field.as_str()));
    let file = source.path().file_name().unwrap_or_default().to_string_lossy();
    if file == PORTABLE_NAME && has(&["schema"]) {
        return AgentFormat::Portable;
    }
    let body = source.text().get(front.body_start..).unwrap_or_default();
    if has(&OURS) || has_section(body, "tools", true) {
        return AgentFormat::AgentFile;
    }
    if has(&COPILOTS) {
        return AgentFormat::Copilot;
    }
    if has(&PERHAPS_OURS) || has_section(body, "system", false) {
        return AgentFormat::AgentFile;
    }
    // A Copilot agent needs a header; an agent file needs only a title.
    let name = AgentName::from_file_name(&file);
    let is_named = name.category.is_some_and(|category| !category.is_empty());
    let begins_with_a_title = body.trim_start().starts_with("# ");
    if is_named && (front.header.is_none() || begins_with_a_title) {
        AgentFormat::AgentFile
    } else {
        AgentFormat::Copilot
    }
}

/// Reports a file of another format that a user named as an agent file; `None` in doubt.
pub(crate) fn other_format(source: &Arc<Source>) -> Option<Diagnostic> {
    let report = |message: &str, help: &str| {
        let diagnostic = Diagnostic::new(
            rules::agent_file::OTHER_FORMAT,
            source,
            Span::empty_at(0),
            message.to_owned(),
        );
        Some(diagnostic.with_help(help))
    };
    match format_of(source) {
        AgentFormat::AgentFile => None,
        AgentFormat::Portable => report(
            "`brief agent` does not run this file: it is a shared agent, compiled for clients",
            "run `brief registry build` to write it for each client, `brief lint` to check it; \
             agent files are named `agents/CATEGORY_NAME.agent.md`",
        ),
        AgentFormat::Copilot => {
            let front = FrontMatter::from_source(source);
            let fields = header_field_names(&front);
            let copilots = fields.iter().filter(|field| COPILOTS.contains(&field.as_str()));
            // One field may be a slip in an agent file.
            if copilots.count() < 2 && !fields.iter().any(|field| field == "mcp-servers") {
                return None;
            }
            report(
                "`brief agent` does not run this file: it is a GitHub Copilot custom agent",
                "Copilot loads it from `.github/agents`; run `brief lint` to check it",
            )
        }
    }
}

/// Returns the names of the header's fields, in lower case.
fn header_field_names(front: &FrontMatter) -> Vec<String> {
    let root = front.header.as_ref().and_then(|header| header.yaml.root()).map(Node::value);
    match root {
        Some(Value::Mapping(mapping)) => {
            mapping.fields().map(|field| field.name().to_ascii_lowercase()).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns whether a body has a second-level section with that name, and code in it if `with_code`
/// is set.
fn has_section(body: &str, name: &str, with_code: bool) -> bool {
    // Most files have no such line and need no parser.
    let is_heading = |line: &str| {
        let text = line.trim_start().strip_prefix("##").unwrap_or_default();
        text.trim().trim_end_matches(['#', ' ']).eq_ignore_ascii_case(name)
    };
    if !body.lines().any(is_heading) {
        return false;
    }
    let outline = Outline::parse(body);
    outline.headings.iter().enumerate().any(|(index, heading)| {
        if heading.level != 2 || !heading.text.trim().eq_ignore_ascii_case(name) {
            return false;
        }
        let next = outline.headings[index + 1..].iter().find(|next| next.level <= 2);
        let section = heading.span.end..next.map_or(body.len(), |next| next.span.start);
        !with_code
            || outline.code_blocks.iter().any(|block| {
                let language = block.info.split_whitespace().next().unwrap_or_default();
                section.contains(&block.span.start)
                    && matches!(language, "" | "js" | "javascript" | "mjs" | "ts" | "typescript")
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(name: &str, text: &str) -> AgentFormat {
        format_of(&Arc::new(Source::new(format!("/p/agents/{name}"), text)))
    }

    /// U22, G15: evidence in the content decides.
    #[test]
    fn the_content_tells_the_format() {
        for (name, text) in [
            ("x.agent.md", "---\nicon: 🤖\n---\n# T\n"),
            ("x.agent.md", "---\nabilities: {}\nname: x\n---\n# T\n"),
            ("x.agent.md", "# T\n\n## Tools\n\n```js\nreturn []\n```\n"),
            ("x.agent.md", "# T\n\n## System\n\nYou are.\n"),
            ("x.agent.md", "---\nstatus: x\n---\n# T\n"),
            ("dev_x.agent.md", "# T\n"),
            ("dev_x.agent.md", "---\ndescription: d\n---\n# T\n"),
        ] {
            assert_eq!(format(name, text), AgentFormat::AgentFile, "{text}");
        }
        for (name, text) in [
            ("x.agent.md", "---\ndescription: d\ntools: [read]\n---\n# T\n"),
            (
                "dev_x.agent.md",
                "---\nname: x\ndescription: d\n---\n# T\n\n## Tools\n\nUse `read`.\n",
            ),
            ("x.agent.md", "---\ndescription: d\n---\nYou are.\n"),
            ("x.agent.md", "You are.\n"),
            ("x.agent.md", "---\nmcp-servers: {}\n---\n# T\n\n## Rules\n"),
            ("x.agent.md", "---\ntitle: t\ntools: [read]\n---\n# T\n"),
        ] {
            assert_eq!(format(name, text), AgentFormat::Copilot, "{text}");
        }
        assert_eq!(format("y/AGENT.md", "---\nschema: 1\n---\n"), AgentFormat::Portable);
    }
}
