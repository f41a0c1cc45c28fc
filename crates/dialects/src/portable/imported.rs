//! Items that were made from a client's file (`metadata.imported`, ruling P9).

use brief_syntax::{Diagnostic, Severity, rules};

use super::model::PortableItem;
use super::{check, parse};

/// The fields that the format defines, besides clients' blocks.
const FIELDS: [&str; 13] = [
    "schema",
    "name",
    "description",
    "license",
    "audience",
    "metadata",
    "scope",
    "mode",
    "model",
    "tools",
    "preload-skills",
    "items",
    "requires",
];

/// Returns whether the format defines a field.
pub fn is_format_field(name: &str) -> bool {
    FIELDS.contains(&name)
}

/// Returns whether a name is taken by a field of the format or of commands, so that no client can have it.
pub fn is_taken_field(name: &str) -> bool {
    is_format_field(name) || matches!(name, "arguments" | "argument-hint")
}

/// Returns whether an item that has no directory could be compiled: its fields and its text have no errors.
pub fn is_sound(item: &PortableItem, clients: &[&str]) -> bool {
    let mut found = Vec::new();
    parse::check_item(&item.id, &item.document, clients, &mut found);
    found.extend(check::check_overrides(item, clients));
    found.extend(if item.is_verbatim() {
        check::kept_body(item, clients).1
    } else {
        check::check_body(item, clients)
    });
    item.is_valid() && found.iter().all(|diagnostic| diagnostic.severity != Severity::Error)
}

/// Lets an imported text keep what a new one may not say.
pub(super) fn as_warning(diagnostic: &mut Diagnostic) {
    let is_kept =
        matches!(diagnostic.rule, rules::item::CLIENT_CONSTRUCT | rules::item::LINK_OUTSIDE);
    if is_kept && diagnostic.severity == Severity::Error {
        diagnostic.severity = Severity::Warning;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use brief_syntax::Source;

    use super::*;
    use crate::portable::{CLIENTS, ItemId, ItemKind};

    /// Ruling P9: the short way that an import takes says what the whole check says.
    #[test]
    fn a_body_that_is_kept_is_sound_if_the_whole_check_finds_no_error() {
        let mut sound = 0;
        for body in [
            "Plain text.\n",
            "Run $ARGUMENTS, `Bash`, mcp__a__b, ${file} and @docs/a.md.\n",
            "[out](../../a.md) [missing](./b.md)\n",
            "<!-- @client:claude -->\nOpen.\n",
            "<!-- @client:unknown -->\nx\n<!-- @endclient -->\n",
            "hidden \u{202e}text\n",
            "# One\n\n# Two\n\n```\nnever closed\n",
        ] {
            for verbatim in ["", "metadata:\n  imported:\n    body: verbatim\n"] {
                let text =
                    format!("---\nschema: 1\nname: a\ndescription: A.\n{verbatim}---\n\n{body}");
                let source = Arc::new(Source::new("rules/a/RULE.md", text));
                let id = ItemId { kind: ItemKind::Rule, name: "a".to_owned() };
                let item = PortableItem::from_source(id, &source, Vec::new(), Vec::new());
                assert_eq!(item.is_verbatim(), !verbatim.is_empty(), "{body}");
                let whole = check::check_body(&item, &CLIENTS);
                let has_error = whole.iter().any(|found| found.severity == Severity::Error);
                assert_eq!(is_sound(&item, &CLIENTS), !has_error, "{verbatim}{body}: {whole:?}");
                sound += usize::from(!has_error);
            }
        }
        // Some are, and some are not.
        assert!((4..12).contains(&sound), "{sound}");
    }
}
