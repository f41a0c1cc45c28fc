//! `required-version` of `brief.toml`: the oldest `brief` that understands a project.
//!
//! A newer `brief.toml` may have keys that an older program does not know. So this key is looked at first, and an older
//! program says one thing only.

use std::sync::Arc;

use brief_syntax::toml::{self, Table, TomlEntry, TomlProblem};
use brief_syntax::{Diagnostic, Source, rules};

/// The key, at the top of the file.
pub(super) const KEY: &str = "required-version";

/// The version of this program.
const OWN: &str = env!("CARGO_PKG_VERSION");

/// Returns the problem of a project that requires a newer program; `None` for every other project.
pub fn find_newer_requirement(configuration: &Arc<Source>) -> Option<Diagnostic> {
    find_newer_than(configuration, OWN)
}

fn find_newer_than(configuration: &Arc<Source>, own: &str) -> Option<Diagnostic> {
    if !configuration.text().contains(KEY) {
        return None;
    }
    let document = toml::parse_toml(configuration, &mut Vec::new())?;
    let top = Table { source: configuration, content: document.as_table(), prefix: "" };
    let entry = top.entries().find(|entry| entry.key == KEY)?;
    let required = parse_requirement(&entry).ok()?;
    if numbers(own)? >= required {
        return None;
    }
    let span = entry.span;
    let wanted = required.map(|number| number.to_string()).join(".");
    let message = format!("this project requires brief {wanted} or later; this is {own}");
    let problem = Diagnostic::new(rules::item::INVALID_CONFIG, configuration, span, message);
    Some(problem.with_help("update brief"))
}

/// Parses the value, such as `">=0.2"`.
pub(super) fn parse_requirement(entry: &TomlEntry<'_>) -> Result<[u64; 3], TomlProblem> {
    let text = entry.text()?;
    let version = text.trim().strip_prefix(">=").map(str::trim_start).and_then(numbers);
    version.ok_or_else(|| {
        let problem = format!("`{text}` is not a requirement");
        entry.invalid_value(&problem, "write the oldest version, as in `\">=0.1\"`")
    })
}

/// Returns the numbers of a version, of which the later ones may be missing.
fn numbers(version: &str) -> Option<[u64; 3]> {
    let mut numbers = [0; 3];
    let plain = version.split(['-', '+']).next()?;
    let parts: Vec<&str> = plain.split('.').collect();
    if parts.len() > numbers.len() {
        return None;
    }
    for (number, part) in numbers.iter_mut().zip(parts) {
        let is_plain = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        *number = part.parse().ok().filter(|_| is_plain)?;
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Manifest;

    fn found(text: &str, own: &str) -> Option<String> {
        let source = Arc::new(Source::new("/p/brief.toml", text));
        find_newer_than(&source, own).map(|found| found.message)
    }

    #[test]
    fn an_older_program_says_one_line() {
        for (required, own, is_new_enough) in [
            (">=0.1", "0.1.0", true),
            (">=0.1.0", "0.1.0-dev", true),
            (">= 0.2", "0.1.9", false),
            (">=1", "0.9.9", false),
            (">=0.1.1", "0.1.0", false),
            (">=0.1", "1.0.0", true),
        ] {
            let text = format!("required-version = \"{required}\"\n[of-a-later-version]\nx = 1\n");
            assert_eq!(found(&text, own).is_none(), is_new_enough, "{required} {own}");
        }
        assert_eq!(
            found("required-version = \">=0.2\"\n", "0.1.0").as_deref(),
            Some("this project requires brief 0.2.0 or later; this is 0.1.0")
        );
    }

    /// Nothing else of the file is judged by a program that is too old for it.
    #[test]
    fn a_newer_project_is_one_problem() {
        let text = "required-version = \">=999\"\n[new-section]\n[sources.a]\nnew = true\n";
        let problems = Manifest::parse(&Arc::new(Source::new("/p/brief.toml", text))).unwrap_err();
        assert_eq!(problems.len(), 1, "{problems:?}");
    }

    #[test]
    fn a_wrong_requirement_is_a_problem() {
        for value in ["\"0.1\"", "\"^0.1\"", "\">=0.1.2.3\"", "\">=x\"", "1", "\">=\""] {
            let text = format!("required-version = {value}\n");
            let source = Arc::new(Source::new("/p/brief.toml", text));
            assert!(Manifest::parse(&source).is_err(), "{value}");
        }
        let good = Arc::new(Source::new("/p/brief.toml", "required-version = \">=0.1\"\n"));
        assert_eq!(Manifest::parse(&good), Ok(Manifest::default()));
    }
}
