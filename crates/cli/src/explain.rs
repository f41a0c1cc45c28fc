//! The answer of `brief lint --explain`: the page of a rule.

use brief_syntax::near_miss;
use brief_syntax::rules::{self, RulePage};

use crate::error::{CommandError, Result};

/// Codes that are shown when one is not known.
const NEAREST: usize = 3;

/// Returns the page of a rule, as Markdown.
pub(crate) fn render_rule_page(code: &str) -> Result<String> {
    if let Some(page) = RulePage::find_by_code(code) {
        return Ok(page.to_string());
    }
    let codes: Vec<&str> = rules::rule_codes().collect();
    let near: Vec<String> = near_miss::nearest_few(code, &codes, NEAREST)
        .into_iter()
        .map(|code| format!("`{code}`"))
        .collect();
    let error = CommandError::refused(format!("unknown rule `{code}`"));
    Err(if near.is_empty() {
        error.with_hint("use the name in brackets, as in `error[yaml/duplicate-key]`")
    } else {
        error.with_hint(format!("did you mean {}?", near.join(" or ")))
    })
}
