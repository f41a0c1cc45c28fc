//! Diagnostics of an agent beyond those of the parser.

use std::ffi::OsStr;

use brief_syntax::hidden;
use brief_syntax::{Span, limits, rules};

use super::ability::{Ability, Base};
use super::model::{Agent, AgentStatus, DIRECTORY, SUFFIX};
use super::notes::AgentNotes;
use super::parse::ParsedAgent;
use super::scaffold::PLACEHOLDERS;

/// Checks an agent whose commands were read.
pub(super) fn check_agent(parsed: &ParsedAgent, notes: &mut AgentNotes<'_>) {
    let agent = &parsed.agent;
    file_name(agent, notes);
    if let Some(span) = parsed.icon_span.filter(|_| !is_one_emoji(&agent.icon)) {
        let message = format!("`{}` is not a single emoji", agent.icon);
        notes.report(rules::agent_file::ICON, span, message, "write one emoji, such as 🤖");
    }
    if agent.status == AgentStatus::Deprecated {
        let message = "the agent is deprecated";
        notes.report(
            rules::agent_file::DEPRECATED,
            parsed.status_span,
            message,
            "use another agent",
        );
    }
    argument_hints(agent, notes);
    template_text(agent, notes);
    let tool = Ability::Base(Base::Tool);
    let allows_tools = agent.abilities.allow.as_ref().is_none_or(|allow| allow.contains(&tool));
    if agent.tools.is_some() && (!allows_tools || agent.abilities.deny.contains(&tool)) {
        let message = "no model gets the tools of this file: `tool` is not allowed";
        let span = parsed.abilities_span;
        notes.report(rules::agent_file::TOOLS_NOT_ALLOWED, span, message, "allow `tool`");
    }
    notes
        .list
        .extend(hidden::check_hidden_text(rules::agent_file::HIDDEN_CHARACTER, &agent.source));
    notes.list.extend(agent.template_problems());
}

fn file_name(agent: &Agent, notes: &mut AgentNotes<'_>) {
    let path = agent.source.path();
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let lies_well =
        path.parent().and_then(|parent| parent.file_name()) == Some(OsStr::new(DIRECTORY));
    let is_named_well = name.ends_with(SUFFIX)
        && agent.name.category.as_ref().is_some_and(|category| !category.is_empty())
        && !agent.name.name.is_empty();
    if !lies_well || !is_named_well {
        let message = format!("`{name}` is not a valid agent file name");
        let help = "rename it to `agents/<category>_<agent-name>.agent.md`";
        notes.report(rules::agent_file::NAME_PATTERN, Span::empty_at(0), message, help);
    }
}

/// Reports text of the template of `brief agent new` that is unchanged: once for a file.
fn template_text(agent: &Agent, notes: &mut AgentNotes<'_>) {
    let text = agent.source.text();
    let mut start = 0;
    let mut left: Vec<(Span, &str)> = Vec::new();
    for line in text.split_inclusive('\n') {
        let own = line.trim_end();
        if PLACEHOLDERS.contains(&own) {
            left.push((Span::new(start, start + own.len()), own));
        }
        start += line.len();
    }
    let Some((span, first)) = left.first().copied() else { return };
    let more = match left.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!("the file still contains template text: `{first}`{more}");
    notes.report(rules::agent_file::PLACEHOLDER, span, message, "replace it with your own text");
}

/// Y40: warns of a text that uses more arguments than the hint names, such as a price.
fn argument_hints(agent: &Agent, notes: &mut AgentNotes<'_>) {
    for command in agent.commands.iter().take(limits::AGENT_COMMANDS) {
        let (highest, hints) = (command.highest_argument(), command.hint.argument_names().len());
        if hints > 0 && highest > hints {
            let message = format!(
                "the command `{}` uses `${highest}`, but its hint names {hints}",
                command.name
            );
            let help = "extend `argument-hint`, or write amounts of dollars in words";
            notes.report(rules::agent_file::ARGUMENT_HINT, command.span, message, help);
        }
    }
}

/// Y51: returns whether a text is one visible emoji. Unicode grows, so this checks the structure
/// instead of a list.
fn is_one_emoji(icon: &str) -> bool {
    let is_flag = |letter: char| ('\u{1f1e6}'..='\u{1f1ff}').contains(&letter);
    let letters: Vec<char> = icon.chars().collect();
    if let [first, second] = letters.as_slice()
        && is_flag(*first)
        && is_flag(*second)
    {
        return true;
    }
    // A keycap: `1`, the variation selector, and the enclosing keycap.
    if let [first, rest @ ..] = letters.as_slice()
        && (first.is_ascii_digit() || "#*".contains(*first))
    {
        return matches!(rest, ['\u{fe0f}', '\u{20e3}'] | ['\u{20e3}']);
    }
    icon.split('\u{200d}').all(|part| {
        let mut letters = part.chars();
        letters.next().is_some_and(is_pictograph) && letters.all(is_modifier)
    })
}

fn is_pictograph(letter: char) -> bool {
    matches!(letter,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{27bf}' | '\u{2900}'..='\u{2bff}'
        | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1f1e5}'
        | '\u{1f200}'..='\u{1f3fa}' | '\u{1f400}'..='\u{1faff}')
}

/// Returns whether a character is a variation selector, a skin tone or a tag letter of a flag.
fn is_modifier(letter: char) -> bool {
    matches!(letter, '\u{fe0e}' | '\u{fe0f}' | '\u{20e3}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0020}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::is_one_emoji;

    #[test]
    fn an_emoji_is_what_people_see_as_one() {
        for one in [
            "🤖",
            "👩\u{200d}🚀",
            "❤\u{fe0f}",
            "👍🏽",
            "🇩🇪",
            "1\u{fe0f}\u{20e3}",
            "⚙",
            "🏴\u{e0067}\u{e0062}\u{e007f}",
        ] {
            assert!(is_one_emoji(one), "{one}");
        }
        for none in ["", "🤖🤖", "bot", "1", "🇩", "🤖x", "é"] {
            assert!(!is_one_emoji(none), "{none}");
        }
    }
}
