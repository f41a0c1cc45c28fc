//! The entries of `commands`: paths, addresses and commands themselves.

use brief_syntax::yaml::{Mapping, Node, Value as Yaml};
use brief_syntax::{limits, rules};

use super::{CommandEntry, Given, Keyed, text_of, wrong_type};
use crate::agents::model::{Command, CommandOrigin, Hint, Remote, RemoteState};
use crate::agents::notes::AgentNotes;

const FIELDS: [&str; 4] = ["name", "description", "body", "argument-hint"];

/// The possible forms of an entry, for messages.
const WANTED: &str = "a path, an address, or `name`, `description` and `body`";

pub(super) fn parse_commands(notes: &mut AgentNotes<'_>, node: Node<'_>) -> Vec<CommandEntry> {
    let Yaml::Sequence(list) = node.value() else {
        wrong_type(notes, "commands", node, "a list");
        return Vec::new();
    };
    if list.len() > limits::AGENT_COMMANDS {
        let limit = limits::AGENT_COMMANDS;
        let message = format!("`commands` has more than {limit} entries");
        notes.report(
            rules::agent_file::TOO_MANY_COMMANDS,
            node.span(),
            message,
            "move some to a directory",
        );
    }
    let mut entries = Vec::new();
    for (index, item) in list.iter().take(limits::AGENT_COMMANDS).enumerate() {
        match item.value() {
            Yaml::Scalar(text) if !text.trim().is_empty() => {
                entries.extend(parse_command_reference(notes, text.trim(), item));
            }
            Yaml::Mapping(mapping) => {
                entries.extend(parse_inline_command(notes, mapping, index, item));
            }
            other => {
                let noun = if matches!(other, Yaml::Scalar(_)) { "empty" } else { other.noun() };
                let message = format!("entry {} of `commands` is {noun}", index + 1);
                notes.report(
                    rules::agent_file::WRONG_TYPE,
                    item.span(),
                    message,
                    format!("write {WANTED}"),
                );
            }
        }
    }
    entries
}

fn parse_command_reference(
    notes: &mut AgentNotes<'_>,
    text: &str,
    node: Node<'_>,
) -> Option<CommandEntry> {
    let span = node.span();
    let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    match scheme.as_deref() {
        None => Some(CommandEntry::Path { path: text.to_owned(), span }),
        Some("https" | "http") => {
            let (url, state) = (text.to_owned(), RemoteState::Unresolved);
            Some(CommandEntry::Remote(Remote { url, span, state }))
        }
        Some(scheme) => {
            let message = format!("cannot fetch commands from `{scheme}://`");
            notes.report(
                rules::agent_file::COMMAND_PATH,
                span,
                message,
                "write a path, or an `https://` address",
            );
            None
        }
    }
}

fn parse_inline_command(
    notes: &mut AgentNotes<'_>,
    mapping: Mapping<'_>,
    index: usize,
    node: Node<'_>,
) -> Option<CommandEntry> {
    let keyed = Keyed::from_mapping(mapping, &FIELDS, "a command", notes);
    let named =
        keyed.get("name").and_then(Node::as_str).map(str::trim).filter(|name| !name.is_empty());
    let shown = match named {
        Some(name) => format!("the command `{name}`"),
        None => format!("entry {} of `commands`", index + 1),
    };
    let mut required = |name: &str| {
        let before = notes.list.len();
        let given = keyed.get(name).and_then(|node| text_of(notes, name, node));
        if given.is_none() && notes.list.len() == before {
            let message = format!("{shown} has no `{name}`");
            notes.report(
                rules::agent_file::COMMAND_FIELD,
                node.span(),
                message,
                format!("add `{name}: …`"),
            );
        }
        given.map(|Given { text, .. }| text)
    };
    let (name, description) = (required("name"), required("description"));
    required("body")?;
    // White space around a text may be part of it.
    let body = keyed.get("body").and_then(Node::as_str).unwrap_or_default().to_owned();
    let hint = keyed.get("argument-hint").map_or(Hint::None, |node| hint_of(notes, node));
    let (origin, span) = (CommandOrigin::Inline, node.span());
    Some(CommandEntry::Inline(Command {
        name: name?,
        description: description?,
        hint,
        body,
        origin,
        span,
    }))
}

/// Reads `argument-hint`: a string, or a list of strings.
pub(in crate::agents) fn hint_of(notes: &mut AgentNotes<'_>, node: Node<'_>) -> Hint {
    match node.value() {
        Yaml::Null => Hint::None,
        Yaml::Scalar(text) if text.trim().is_empty() => Hint::None,
        Yaml::Scalar(text) => Hint::Text(text.trim().to_owned()),
        Yaml::Sequence(list) if list.iter().all(|item| item.as_str().is_some()) => {
            Hint::List(list.iter().filter_map(Node::as_str).map(str::to_owned).collect())
        }
        _ => {
            wrong_type(notes, "argument-hint", node, "a string or a list of strings");
            Hint::None
        }
    }
}
