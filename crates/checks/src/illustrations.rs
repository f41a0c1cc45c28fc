//! Passages that show how something is written, and name nothing that has to be there.

use brief_syntax::Span;
use brief_syntax::markdown::{Passage, Prose, ProseSection};

use crate::words::{split_phrases, split_words};

/// Labels of lists that show right and wrong ways.
const LABELS: [&str; 9] =
    split_words("example examples valid invalid good bad correct incorrect wrong");

/// Words before one of many.
const ONE_OF_MANY: [&str; 4] = split_phrases("e.g.|for example|for instance|example:");

/// Returns whether each passage of a section only shows how something is written: below a column or a label of examples,
/// or marked as the wrong way.
pub(crate) fn illustrating_passages(section: &ProseSection) -> Vec<bool> {
    let mut lead = false;
    let passages = section.passages.iter().map(|passage| {
        if !passage.is_item && !passage.is_cell {
            lead = passage.text.trim_end().ends_with(':') && is_label(&passage.text);
        }
        let text = passage.text.trim();
        passage.is_item && lead
            || passage.column.as_deref().is_some_and(is_label)
            || text.ends_with(['❌', '✗', '✘', '🚫'])
            || text.to_lowercase().starts_with("example:")
    });
    passages.collect()
}

/// Returns the parts of a text that only show how something is written, with the links in them.
pub(crate) fn illustrated_spans(body: &str) -> Vec<Span> {
    let prose = Prose::parse(body);
    let shows = prose.sections.iter().flat_map(|section| {
        section.passages.iter().map(Passage::source_start).zip(illustrating_passages(section))
    });
    let shows: Vec<(usize, bool)> = shows.collect();
    let ends = shows.iter().skip(1).map(|(start, _)| *start).chain([body.len()]);
    let spans = shows.iter().zip(ends).filter(|((_, shows), _)| *shows);
    spans.map(|((start, _), end)| Span::new(*start, end.max(*start))).collect()
}

/// Returns whether a text is nothing but a label: `Valid:`, `Bad examples`.
fn is_label(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words = lower.split(|letter: char| !letter.is_alphabetic() && letter != '\'');
    let mut words = words.filter(|word| !word.is_empty()).peekable();
    words.peek().is_some() && words.all(|word| LABELS.contains(&word))
}

/// Returns whether what stands at an offset of a passage is one of many that are named as examples: `(e.g. x, y)`.
pub(crate) fn is_one_of_many(passage: &Passage, at: usize) -> bool {
    let before = passage.text.get(..at).unwrap_or_default();
    let start = before.rfind(['\n', ';']).map_or(0, |end| end + 1);
    let before = before[start..].to_lowercase();
    let end = ONE_OF_MANY.iter().filter_map(|word| Some(before.rfind(word)? + word.len())).max();
    let Some(between) = end.and_then(|end| before.get(end..)) else { return false };
    // What follows the parenthesis, or the sentence, is meant as it stands.
    let mut open = 0_i32;
    let is_closed = between.chars().any(|letter| {
        open += i32::from(letter == '(') - i32::from(letter == ')');
        open < 0
    });
    !is_closed && ![". ", "! ", "? "].iter().any(|end| between.contains(end))
}

#[cfg(test)]
mod tests {
    use brief_syntax::markdown::Prose;

    use super::*;

    fn shown(text: &str) -> Vec<(String, bool)> {
        let prose = Prose::parse(text);
        let of_section = |section: &ProseSection| -> Vec<(String, bool)> {
            let texts = section.passages.iter().map(|passage| passage.text.clone());
            texts.zip(illustrating_passages(section)).collect()
        };
        prose.sections.iter().flat_map(of_section).filter(|(_, shows)| *shows).collect()
    }

    #[test]
    fn labels_and_columns_announce_examples() {
        for (text, expected) in [
            ("**Valid:**\n\n- `a/b.py`\n\nText:\n\n- c\n", &["`a/b.py`"][..]),
            ("| Pattern | Example |\n| - | - |\n| `x` | `y` |\n| v | w |\n", &["`y`", "w"]),
            (
                "- Example: [a](a.md)\n- a good example: b\n- not this ❌\n",
                &["Example: a", "not this ❌"],
            ),
            ("Valid files:\n\n- `a/b.py`\n", &[]),
            ("| Path | Examples of use |\n| - | - |\n| a | b |\n", &[]),
        ] {
            let found: Vec<String> = shown(text).into_iter().map(|(text, _)| text).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn a_word_announces_one_of_many_up_to_its_parenthesis() {
        for (text, expected) in [
            ("Commands (e.g., `a`, `X`).", true),
            ("Run one script, for example `X`.", true),
            ("Run the checks such as `X`.", false),
            ("For a fix (e.g. `a`) run `X`.", false),
            ("Take e.g. `a`. Then run `X`.", false),
            ("Run `X`, e.g. before `b`.", false),
        ] {
            let prose = Prose::parse(text);
            let passage = &prose.sections[0].passages[0];
            let at = passage.text.find("`X`").unwrap();
            assert_eq!(is_one_of_many(passage, at), expected, "{text}");
        }
    }
}
