//! The instructions of the server: the index of what a project offers, small and ranked.
//!
//! Clients put them in front of every conversation, and some cut them at 2 KB. So the most useful comes
//! first: how to ask, then skills, files and agents by name, then tasks and commands.

use brief_engine::BriefedItem;
use brief_syntax::text::visible_line;

use super::offers::Offers;
use super::text::one_line;

/// The limit for the bytes of the instructions.
pub(super) const MOST_BYTES: usize = 2_048;

/// The limit for the characters of a description.
const LONGEST_DESCRIPTION: usize = 120;

/// The room for the line about what is missing.
const NOTICE_ROOM: usize = 100;

const INTRODUCTION: &str = "This project has guidance for you. Call `context` with a path before you read, \
edit or create a file, `decisions` before you propose another design, and `search` when you do not know which \
file a question belongs to.\n";

/// Writes the instructions; `news` are the items on offer that the client does not load by itself.
pub(super) fn render_instructions(offers: &Offers, news: &[BriefedItem]) -> String {
    let mut lines: Vec<String> = Vec::new();
    let (skills, files): (Vec<&BriefedItem>, Vec<&BriefedItem>) =
        news.iter().partition(|item| item.kind == "skill");
    for (heading, items) in [("Skills", skills), ("Files", files)] {
        if !items.is_empty() {
            lines.push(format!("\n{heading}; read one when its description matches your task:"));
        }
        for item in items {
            let uri = offers.uri_of(item);
            let place = uri.map(|uri| format!(" ({uri})")).unwrap_or_default();
            lines.push(render_entry(&item.name, &item.description, &place));
        }
    }
    let agents = offers.listed.iter().filter(|file| file.kind == "agent");
    let agents: Vec<String> = agents
        .map(|file| {
            let about = file.resource.description.as_deref().unwrap_or_default();
            render_entry(&file.resource.name, about, "")
        })
        .collect();
    let prompts: Vec<String> = offers
        .prompts
        .iter()
        .map(|prompt| render_entry(&prompt.listed.name, &prompt.about, ""))
        .collect();
    for (heading, list) in
        [("Agents (as resources):", agents), ("Prompts (from tasks and commands):", prompts)]
    {
        if !list.is_empty() {
            lines.push(format!("\n{heading}"));
            lines.extend(list);
        }
    }
    join_fitting_lines(&lines)
}

fn render_entry(name: &str, description: &str, place: &str) -> String {
    let description = one_line(description, LONGEST_DESCRIPTION);
    let colon = if description.is_empty() { "" } else { ": " };
    // A name or description may hide text; it is shown.
    visible_line(&format!("- {name}{colon}{description}{place}")).into_owned()
}

/// Puts as many lines as fit below the introduction.
fn join_fitting_lines(lines: &[String]) -> String {
    let mut text = INTRODUCTION.to_owned();
    for (index, line) in lines.iter().enumerate() {
        let is_last = index + 1 == lines.len();
        let room = if is_last { MOST_BYTES } else { MOST_BYTES - NOTICE_ROOM };
        if text.len() + line.len() + 1 > room {
            let is_entry = |line: &&String| line.starts_with("- ");
            let more = lines[index..].iter().filter(is_entry).count();
            text.push_str(&format!("\n{more} more: list the resources and prompts to see all.\n"));
            break;
        }
        text.push_str(line);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_counted() {
        let lines: Vec<String> =
            (0..100).map(|number| format!("- item {number}: {}", "x".repeat(50))).collect();
        let text = join_fitting_lines(&lines);
        assert!(text.len() <= MOST_BYTES, "{}", text.len());
        assert!(text.starts_with(INTRODUCTION) && text.contains("- item 0:"));
        let shown = text.matches("\n- item").count();
        assert!(text.ends_with(&format!(
            "\n{} more: list the resources and prompts to see all.\n",
            100 - shown
        )));
        assert!(!join_fitting_lines(&lines[..3]).contains("more:"));
    }
}
