//! Codes that rules had before version 0.1, which comments, baselines and `--explain` may still name.
//!
//! They are accepted for one release; remove this module with the release after it.

use std::borrow::Cow;

/// Areas that have another name now.
const AREAS: [(&str, &str); 5] = [
    ("structured/", "agents-yaml/"),
    ("hosted/", "context-dir/"),
    ("native/", "client/"),
    ("portable/", "item/"),
    ("agents/", "agent-file/"),
];

/// Rules whose own name changed, in their present area.
const NAMES: [(&str, &str); 12] = [
    ("agents-yaml/dead-glob", "agents-yaml/unused-pattern"),
    ("context-dir/dead-glob", "context-dir/unused-pattern"),
    ("client/dead-glob", "client/unused-pattern"),
    ("agent-file/dead-ability", "agent-file/unused-ability"),
    ("capability/opaque", "capability/binary"),
    ("item/no-front-matter", "item/no-frontmatter"),
    ("item/override-front-matter", "item/override-frontmatter"),
    ("context-dir/outside-mount", "context-dir/outside-workspace"),
    ("context-dir/workdir-outside-mounted", "context-dir/cwd-outside-workspace"),
    ("item/shared-place", "item/shared-location"),
    ("item/output-stale", "item/output-outdated"),
    ("item/bundle-circle", "item/bundle-cycle"),
];

/// Returns the present code of a rule: the code itself unless it is an old one.
pub fn current_code(code: &str) -> Cow<'_, str> {
    let moved = AREAS.iter().find_map(|(old, new)| {
        let name = code.strip_prefix(old)?;
        Some(format!("{new}{name}"))
    });
    let code = moved.map_or(Cow::Borrowed(code), Cow::Owned);
    match NAMES.iter().find(|(old, _)| *old == code) {
        Some((_, new)) => Cow::Borrowed(new),
        None => code,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::rule_codes;

    /// A present code stays, and an old one becomes one that exists.
    #[test]
    fn old_codes_become_codes_that_exist() {
        for code in rule_codes() {
            assert_eq!(current_code(code), code);
        }
        for (old, new) in NAMES {
            assert!(!rule_codes().any(|code| code == old), "{old} is still a code");
            assert!(rule_codes().any(|code| code == new), "{new} is no code");
        }
        for (old, new) in [
            ("structured/invalid-on", "agents-yaml/invalid-on"),
            ("hosted/dead-glob", "context-dir/unused-pattern"),
            ("native/cursor-globs", "client/cursor-globs"),
            ("portable/comma-in-pattern", "item/comma-in-pattern"),
            ("agents/unknown-key", "agent-file/unknown-key"),
            ("guidance/missing-path", "guidance/missing-path"),
        ] {
            assert_eq!(current_code(old), new);
            assert!(rule_codes().any(|code| code == new), "{new} is no code");
        }
    }
}
