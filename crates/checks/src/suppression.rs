//! Comments that take a finding back, with a reason.
//!
//! `brief-ignore CODE: REASON` stands on the line of the finding or on the line above it, `brief-ignore-file CODE: REASON`
//! anywhere in the file. Several codes have commas between them. It stands behind `#`, `//` or `<!--`, as the language of the
//! file has it. Without a reason it takes nothing back, and a finding about hidden text is never taken back.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use brief_syntax::{Diagnostic, Source, Span, rules};

/// The word that begins such a comment.
pub(crate) const WORD: &str = "brief-ignore";

#[derive(Debug, PartialEq, Eq)]
struct Suppression {
    /// The line, from 1; `None` for the whole file.
    line: Option<usize>,
    /// The line that it stands on.
    place: usize,
    codes: Vec<String>,
    has_reason: bool,
    /// The codes that a finding had.
    used: Vec<String>,
}

impl Suppression {
    fn is_about(&self, code: &str, line: usize) -> bool {
        let is_here = self.line.is_none_or(|place| place == line || place + 1 == line);
        is_here && self.codes.iter().any(|named| rules::current_code(named) == code)
    }
}

/// The comments of some texts.
#[derive(Debug, Default)]
pub(crate) struct Suppressions {
    files: BTreeMap<PathBuf, (Arc<Source>, Vec<Suppression>)>,
}

impl Suppressions {
    /// Reads the comments of a text.
    pub(crate) fn read_comments(&mut self, source: &Arc<Source>) {
        if !self.files.contains_key(source.path()) {
            let comments = parse_suppressions(source.text());
            self.files.insert(source.path().to_owned(), (Arc::clone(source), comments));
        }
    }

    /// Removes the findings that a comment takes back, and returns how many. One whose comment lacks a reason stays and
    /// says so.
    pub(crate) fn take_back(&mut self, diagnostics: &mut Vec<Diagnostic>) -> usize {
        let before = diagnostics.len();
        // Nearly no file has a comment, and the findings of a file come together.
        let mut without: Option<Arc<Source>> = None;
        diagnostics.retain_mut(|diagnostic| {
            let is_same = |last: &Arc<Source>| Arc::ptr_eq(last, &diagnostic.source);
            // The author of a hidden text may be the attacker.
            if without.as_ref().is_some_and(is_same) || diagnostic.code().contains("hidden") {
                return true;
            }
            self.read_comments(&diagnostic.source);
            let Some((_, comments)) = self.files.get_mut(diagnostic.path()) else { return true };
            if comments.is_empty() {
                without = Some(Arc::clone(&diagnostic.source));
                return true;
            }
            let (code, line) = (diagnostic.code(), diagnostic.position().line);
            let (mut is_meant, mut is_taken_back) = (false, false);
            for comment in comments.iter_mut().filter(|comment| comment.is_about(code, line)) {
                comment.used.push(code.to_owned());
                is_meant = true;
                is_taken_back |= comment.has_reason;
            }
            if is_meant && !is_taken_back {
                diagnostic.help = Some(format!(
                    "to suppress this, add a reason to the comment: `{WORD} {code}: REASON`"
                ));
            }
            !is_taken_back
        });
        before - diagnostics.len()
    }

    /// Returns the comments that took nothing back; `is_checked` tells of a code whether the run looks for it.
    pub(crate) fn unused_diagnostics(&self, is_checked: impl Fn(&str) -> bool) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for (source, comments) in self.files.values() {
            for comment in comments {
                let is_used =
                    |code: &str| comment.used.iter().any(|used| *used == rules::current_code(code));
                for code in comment.codes.iter().filter(|code| !is_used(code)) {
                    let is_known =
                        rules::rule_codes().any(|known| known == rules::current_code(code));
                    // A stand-in of a text about such comments.
                    if is_known && !is_checked(&rules::current_code(code))
                        || code.contains(|letter: char| letter.is_ascii_uppercase())
                    {
                        continue;
                    }
                    let line = source.line_span(comment.place);
                    let at = source.slice(line).find(code.as_str()).unwrap_or(0);
                    let span = Span::new(line.start + at, line.start + at + code.len());
                    let problem =
                        if is_known { "suppresses nothing" } else { "names an unknown rule" };
                    let message = format!("`{WORD} {code}` {problem}");
                    let rule = rules::guidance::UNUSED_IGNORE;
                    found.push(
                        Diagnostic::new(rule, source, span, message)
                            .with_help("remove the rule, or the comment"),
                    );
                }
            }
        }
        found
    }
}

/// Returns whether a comment with a reason takes a finding back.
pub(crate) fn is_taken_back(diagnostic: &Diagnostic) -> bool {
    Suppressions::default().take_back(&mut vec![diagnostic.clone()]) == 1
}

/// Finds the comments of a text.
fn parse_suppressions(text: &str) -> Vec<Suppression> {
    // Nearly no text has one.
    if !text.contains(WORD) {
        return Vec::new();
    }
    let mut in_fence = false;
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let start = line.trim_start();
        in_fence ^= start.starts_with("```") || start.starts_with("~~~");
        // A comment in a fence is an example of one.
        found.extend(parse_suppression(number + 1, line).filter(|_| !in_fence));
    }
    found
}

fn parse_suppression(line: usize, text: &str) -> Option<Suppression> {
    let (before, rest) = text.split_once(WORD)?;
    let before = before.trim_end();
    if !["#", "//", "<!--"].iter().any(|mark| before.ends_with(mark)) {
        return None;
    }
    let place = line;
    let (rest, line) = match rest.strip_prefix("-file") {
        Some(rest) => (rest, None),
        None => (rest, Some(line)),
    };
    let rest = rest.strip_prefix(' ')?.trim_end().trim_end_matches("-->");
    let (codes, reason) = rest.split_once(':').unwrap_or((rest, ""));
    let codes = codes.split(',').map(str::trim).filter(|code| !code.is_empty());
    let codes = codes.map(str::to_owned).collect();
    Some(Suppression {
        line,
        place,
        codes,
        has_reason: !reason.trim().is_empty(),
        used: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_of_all_languages_are_read() {
        let text = "a # brief-ignore x/y, x/z: made by a generator\n\
                    <!-- brief-ignore x/y: moved tomorrow -->\n\
                    // brief-ignore-file x/y: one day\n\
                    # brief-ignore x/y\n\
                    <!-- brief-ignore x/y: -->\n\
                    the word brief-ignore x/y: in prose\n\
                    # brief-ignored x/y: another word\n";
        let expected = [
            (Some(1), 1, vec!["x/y", "x/z"], true),
            (Some(2), 2, vec!["x/y"], true),
            (None, 3, vec!["x/y"], true),
            (Some(4), 4, vec!["x/y"], false),
            (Some(5), 5, vec!["x/y"], false),
        ];
        let found = parse_suppressions(text);
        let expected = expected.map(|(line, place, codes, has_reason)| Suppression {
            line,
            place,
            codes: codes.into_iter().map(str::to_owned).collect(),
            has_reason,
            used: Vec::new(),
        });
        assert_eq!(found, expected);
    }
}
