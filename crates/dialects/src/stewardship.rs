//! Who looks after a piece of guidance, and until when it has to be looked at again.
//!
//! `owner` and `review_by` are our own fields. In front matter they are below `metadata`, which every format that has front
//! matter passes over or preserves; an entry of an `AGENTS.yaml` has them beside its other fields.

use std::sync::Arc;

use brief_syntax::front_matter::FrontMatter;
use brief_syntax::yaml::{Mapping, Node, Value};
use brief_syntax::{Source, Span};

use crate::structured;

/// The field with the owner.
pub const OWNER: &str = "owner";

/// The field with the date of the next review.
pub const REVIEW_BY: &str = "review_by";

/// The mapping that holds the fields in front matter.
const METADATA: &str = "metadata";

/// Who looks after an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Steward {
    /// The span of the item's part of the file: the whole file, or an entry.
    pub span: Span,
    /// The owner, as its author wrote it.
    pub owner: Option<String>,
    /// The date of the next review, as it was written, and its place. It may not be a date.
    pub review_by: Option<(String, Span)>,
}

/// Returns the stewards that a file names, in order.
pub fn read_stewards(source: &Arc<Source>) -> Vec<Steward> {
    let text = source.text();
    if !text.contains(OWNER) && !text.contains(REVIEW_BY) {
        return Vec::new();
    }
    let name = source.path().file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if structured::FILE_NAMES.contains(&name) {
        let front = FrontMatter::from_yaml_source(source);
        let entries = ["context", "decisions"].into_iter().filter_map(|key| front.get(key));
        let entries = entries.flat_map(|list| match list.value() {
            Value::Sequence(list) => list.iter().collect::<Vec<_>>(),
            _ => Vec::new(),
        });
        return entries
            .filter_map(|entry| read_steward(as_mapping(entry)?, entry.span()))
            .collect();
    }
    let front = FrontMatter::from_source(source);
    let whole = Span::new(0, text.len());
    let metadata = front.get(METADATA).and_then(as_mapping);
    metadata.and_then(|metadata| read_steward(metadata, whole)).into_iter().collect()
}

fn as_mapping(node: Node<'_>) -> Option<Mapping<'_>> {
    match node.value() {
        Value::Mapping(mapping) => Some(mapping),
        _ => None,
    }
}

/// Reads the fields; `None` if there is neither.
fn read_steward(fields: Mapping<'_>, span: Span) -> Option<Steward> {
    let owner = fields.get(OWNER).and_then(Node::as_str).filter(|owner| !owner.trim().is_empty());
    let review_by = fields.get(REVIEW_BY);
    let review_by =
        review_by.map(|node| (node.as_str().unwrap_or_default().to_owned(), node.span()));
    let owner = owner.map(str::to_owned);
    (owner.is_some() || review_by.is_some()).then_some(Steward { span, owner, review_by })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stewards(path: &str, text: &str) -> Vec<(Option<String>, Option<String>)> {
        let source = Arc::new(Source::new(path, text));
        let found = read_stewards(&source).into_iter();
        found.map(|one| (one.owner, one.review_by.map(|(date, _)| date))).collect()
    }

    #[test]
    fn front_matter_has_them_below_metadata() {
        let both = (Some("@acme/web".to_owned()), Some("2027-01-31".to_owned()));
        for path in
            ["rules/a/RULE.md", ".cursor/rules/a.mdc", ".context/a.md", ".agents/rules/a.md"]
        {
            let text = "---\nname: a\nmetadata:\n  owner: \"@acme/web\"\n  review_by: 2027-01-31\n---\nText\n";
            assert_eq!(stewards(path, text), std::slice::from_ref(&both), "{path}");
            // At the top it is another tool's, or a selector.
            assert_eq!(stewards(path, "---\nowner: x\nreview_by: 2027-01-31\n---\nText\n"), []);
        }
        assert_eq!(stewards("CLAUDE.md", "The owner is x.\n"), []);
    }

    #[test]
    fn an_entry_has_them_beside_its_fields() {
        let text = "context:\n  - {content: A, owner: web}\n  - content: B\n    review_by: 2027-01-31\n  - content: C\n";
        let expected = [(Some("web".to_owned()), None), (None, Some("2027-01-31".to_owned()))];
        assert_eq!(stewards("AGENTS.yaml", text), expected);
        assert_eq!(stewards("AGENTS.yaml", "context: owner\n"), []);
    }
}
