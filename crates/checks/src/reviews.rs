//! Guidance that somebody wanted to look at again by a date that is over.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::SystemTime;

use brief_dialects::stewardship::{REVIEW_BY, read_stewards};
use brief_engine::{Catalog, System};
use brief_syntax::code_owners::{CODE_OWNERS_PATHS, CodeOwners};
use brief_syntax::{Diagnostic, limits, rules};

/// Reads the owners of a repository's files; nobody owns anything in one without such a file.
pub fn read_code_owners(system: &dyn System, root: &Path) -> CodeOwners {
    let paths = CODE_OWNERS_PATHS.into_iter().map(|path| root.join(path));
    let bytes = paths.into_iter().find_map(|path| system.read(&path, limits::FILE_BYTES).ok());
    bytes.map(|bytes| CodeOwners::parse(&String::from_utf8_lossy(&bytes))).unwrap_or_default()
}

/// Reports the reviews that are overdue today, and dates that are none.
pub(crate) fn check_reviews(
    system: &dyn System,
    root: &Path,
    catalog: &Catalog,
) -> Vec<Diagnostic> {
    let today = format_day(system.now());
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut code_owners = None;
    catalog.each_source(&mut |source| {
        if !source.text().contains(REVIEW_BY) || !seen.insert(source.path().to_owned()) {
            return;
        }
        for steward in read_stewards(source) {
            let Some((date, span)) = steward.review_by else { continue };
            if !is_date(&date) {
                let message = format!("`{REVIEW_BY}` is not a date: `{date}`");
                let rule = rules::guidance::INVALID_REVIEW_DATE;
                found.push(Diagnostic::new(rule, source, span, message));
            } else if date < today {
                let code_owners = code_owners.get_or_insert_with(|| read_code_owners(system, root));
                let below = source.path().strip_prefix(root).unwrap_or(source.path());
                let below = below.to_string_lossy().replace('\\', "/");
                let owners = match steward.owner {
                    Some(owner) => owner,
                    None => code_owners.find_owners(&below).join(", "),
                };
                let owners =
                    if owners.is_empty() { String::new() } else { format!(" (owner: {owners})") };
                let message =
                    format!("the review of this guidance is overdue since {date}{owners}");
                found.push(Diagnostic::new(rules::guidance::OVERDUE_REVIEW, source, span, message));
            }
        }
    });
    found
}

/// Returns whether a text is a day of the calendar, as `2027-01-31`.
fn is_date(text: &str) -> bool {
    text.len() == "2027-01-31".len()
        && humantime::parse_rfc3339(&format!("{text}T00:00:00Z")).is_ok()
}

/// Returns the day of a time, in UTC: dates compare as texts.
fn format_day(time: SystemTime) -> String {
    let mut text = humantime::format_rfc3339_seconds(time).to_string();
    text.truncate("2027-01-31".len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_a_day_of_the_calendar() {
        for good in ["2027-01-31", "2028-02-29", "2000-02-29"] {
            assert!(is_date(good), "{good}");
        }
        for bad in [
            "",
            "2027-1-31",
            "2027-02-29",
            "2027-13-01",
            "2027-00-10",
            "2027-01-00",
            "soon",
            "2027-01-31T00:00",
            "+027-01-31",
            "1900-02-29",
        ] {
            assert!(!is_date(bad), "{bad}");
        }
    }
}
