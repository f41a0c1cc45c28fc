//! The prompt as one text (ruling T3).

use std::path::Path;

use super::prompt::Prompt;
use super::skill::Skill;

/// The text above the list of skills.
const SKILLS_INTRODUCTION: &str = "
# Skills

You have access to the following skills. Only their names and descriptions are listed here: when the work \
at hand calls for one of them, read the file at its location first and follow it.

";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PromptLayout {
    /// The task's front matter, first.
    pub front_matter: RenderedPart,
    pub rules: RenderedPart,
    pub skills: RenderedPart,
}

impl PromptLayout {
    pub const WHOLE: PromptLayout = PromptLayout {
        front_matter: RenderedPart::Written,
        rules: RenderedPart::Written,
        skills: RenderedPart::Written,
    };
}

/// The setting for one part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RenderedPart {
    Written,
    /// The part is left out.
    LeftOut,
}

impl Prompt {
    /// Returns the whole text: front matter, rules, skills, task.
    pub fn render(&self, layout: PromptLayout) -> Vec<u8> {
        let rules: usize = self.rules.iter().map(|rule| rule.text.len() + 1).sum();
        let mut output = Vec::with_capacity(rules + self.task.text.len() + 4096);
        if let (RenderedPart::Written, Some(header)) =
            (layout.front_matter, self.task.document.header_bytes())
        {
            output.extend_from_slice(b"---\n");
            output.extend_from_slice(header);
            output.extend_from_slice(b"---\n");
        }
        if layout.rules == RenderedPart::Written {
            for rule in &self.rules {
                output.extend_from_slice(&rule.text);
                output.push(b'\n');
            }
        }
        if layout.skills == RenderedPart::Written && !self.skills.is_empty() {
            output.extend_from_slice(SKILLS_INTRODUCTION.as_bytes());
            output.extend_from_slice(skills_block(&self.skills).as_bytes());
            output.extend_from_slice(b"\n\n");
        }
        output.extend_from_slice(&self.task.text);
        output.push(b'\n');
        output
    }

    /// Returns the rules for the client's file at `path`, separated by blank lines, and their
    /// number. The user's text in that file is left out, because it is there already.
    pub fn rules_file(&self, path: &Path) -> (Vec<u8>, usize) {
        let others = self.rules.iter().filter(|rule| rule.document.real_path != path);
        let texts = others.map(|rule| rule.text.trim_ascii());
        let texts: Vec<&[u8]> = texts.filter(|text| !text.is_empty()).collect();
        let mut file = texts.join(b"\n\n".as_slice());
        if !file.is_empty() {
            file.push(b'\n');
        }
        (file, texts.len())
    }
}

/// Returns the list of skills, in the XML that agents are used to.
fn skills_block(skills: &[Skill]) -> String {
    let mut block = String::from("<available_skills>\n");
    for skill in skills {
        let location = skill.document.path().to_string_lossy();
        block.push_str("  <skill>\n");
        for (tag, text) in [
            ("name", skill.name.as_str()),
            ("description", skill.description.as_str()),
            ("location", location.as_ref()),
        ] {
            block.push_str(&format!("    <{tag}>{}</{tag}>\n", escape_xml(text)));
        }
        block.push_str("  </skill>\n");
    }
    block.push_str("</available_skills>");
    block
}

fn escape_xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&#34;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' => escaped.push_str("&#x9;"),
            '\n' => escaped.push_str("&#xA;"),
            '\r' => escaped.push_str("&#xD;"),
            // XML cannot express these characters.
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}
