//! Comments that except a line from a rule: `brief-allow ID until 2027-01-31: reason`.
//!
//! The mark of a comment depends on the language, so anything may stand before the words.

use super::{Finding, FindingPlace};

/// The word that begins an exception.
const WORD: &str = "brief-allow";

/// The lines at the beginning of a file in which an exception is for findings about the whole file.
const HEAD: usize = 10;

/// An exception as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleException {
    /// The rule that it names.
    pub rule: String,
    /// The line that it is on, from 1.
    pub line: usize,
    pub state: ExceptionState,
}

/// Whether an exception applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExceptionState {
    Valid,
    /// Its last day, which is over.
    Expired(String),
    /// What is missing or wrong.
    Invalid(&'static str),
}

/// Returns the exceptions in a text. `today` is a date such as `2026-11-20`.
pub fn find_exceptions(text: &str, today: &str) -> Vec<RuleException> {
    if memchr::memmem::find(text.as_bytes(), WORD.as_bytes()).is_none() {
        return Vec::new();
    }
    let lines = text.lines().enumerate();
    lines.filter_map(|(index, line)| parse_exception(line, index + 1, today)).collect()
}

/// Returns the exception that a finding is under, if there is one.
pub fn find_exception<'e>(
    exceptions: &'e [RuleException],
    rule: &str,
    finding: &Finding,
) -> Option<&'e RuleException> {
    let is_near = |exception: &&RuleException| match &finding.place {
        FindingPlace::Line { line: Some(line), .. } => {
            exception.line == *line || exception.line + 1 == *line
        }
        FindingPlace::File { .. } => exception.line <= HEAD,
        _ => false,
    };
    exceptions.iter().filter(|exception| exception.rule == rule).find(is_near)
}

fn parse_exception(line: &str, number: usize, today: &str) -> Option<RuleException> {
    let (_, rest) = line.split_once(WORD)?;
    let mut words = rest.strip_prefix([' ', '\t'])?.trim_start().splitn(2, char::is_whitespace);
    let rule = words.next().filter(|rule| !rule.is_empty())?.trim_end_matches(':').to_owned();
    let rest = words.next().unwrap_or_default().trim_start();
    let state = judge_exception(rest, today);
    Some(RuleException { rule, line: number, state })
}

fn judge_exception(rest: &str, today: &str) -> ExceptionState {
    let Some(rest) = rest.strip_prefix("until ") else {
        return ExceptionState::Invalid("has no date");
    };
    let (date, reason) = match rest.split_once(':') {
        Some((date, reason)) => (date.trim(), reason),
        None => (rest.split_whitespace().next().unwrap_or_default(), ""),
    };
    if !is_date(date) {
        return ExceptionState::Invalid("has no date such as `2027-01-31`");
    }
    let reason = reason.trim().trim_end_matches("*/").trim_end_matches("-->").trim();
    if reason.is_empty() {
        return ExceptionState::Invalid("has no reason");
    }
    // Dates of this form are in the order of their texts.
    if date < today { ExceptionState::Expired(date.to_owned()) } else { ExceptionState::Valid }
}

/// Returns whether a text is a date, `YYYY-MM-DD`.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let number = |text: &str, digits: usize| -> Option<u32> {
        let is_number = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse().ok())?
    };
    number(year, 4).is_some()
        && number(month, 2).is_some_and(|month| (1..=12).contains(&month))
        && number(day, 2).is_some_and(|day| (1..=31).contains(&day))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(text: &str) -> Vec<(String, usize, ExceptionState)> {
        let found = find_exceptions(text, "2026-11-20").into_iter();
        found.map(|one| (one.rule, one.line, one.state)).collect()
    }

    #[test]
    fn an_exception_has_a_rule_a_date_and_a_reason() {
        let valid = [("no-antd".to_owned(), 2, ExceptionState::Valid)];
        assert_eq!(states("a\n// brief-allow no-antd until 2027-01-31: no other picker\n"), valid);
        assert_eq!(states("a\n<!-- brief-allow no-antd until 2026-11-20: today -->"), valid);
        let state = |text: &str| states(text).remove(0).2;
        let expired = ExceptionState::Expired("2026-11-19".to_owned());
        assert_eq!(state("# brief-allow a until 2026-11-19: x"), expired);
        for text in [
            "brief-allow a",
            "brief-allow a: reason",
            "brief-allow a until 2027-1-31: x",
            "brief-allow a until 2027-13-01: x",
            "brief-allow a until 2027-01-31",
            "/* brief-allow a until 2027-01-31: */",
        ] {
            assert!(matches!(state(text), ExceptionState::Invalid(_)), "{text}");
        }
        assert!(states("brief-allowed a\nbrief-allow\n").is_empty());
    }
}
