//! Comments that take a finding back, with a reason.
//!
//! `brief-ignore CODE: REASON` stands on the line of the finding or on the line above it, `brief-ignore-file CODE: REASON`
//! anywhere in the file. Several codes have commas between them. It stands behind `#`, `//` or `<!--`, as the language of the
//! file has it. Without a reason it takes nothing back, and a finding about hidden text is never taken back.

use std::collections::HashMap;
use std::path::PathBuf;

use brief_syntax::Diagnostic;

const WORD: &str = "brief-ignore";

/// One comment.
#[derive(Debug, PartialEq, Eq)]
struct Suppression {
    /// The line, from 1; `None` for the whole file.
    line: Option<usize>,
    codes: Vec<String>,
    has_reason: bool,
}

impl Suppression {
    fn is_about(&self, code: &str, line: usize) -> bool {
        let is_here = self.line.is_none_or(|place| place == line || place + 1 == line);
        is_here && self.codes.iter().any(|named| named == code)
    }
}

/// Removes the findings that a comment takes back, and returns how many. One whose comment lacks a reason stays and
/// says so.
pub(crate) fn take_back(diagnostics: &mut Vec<Diagnostic>) -> usize {
    let before = diagnostics.len();
    let mut known: HashMap<PathBuf, Vec<Suppression>> = HashMap::new();
    diagnostics.retain_mut(|diagnostic| {
        // The author of a hidden text may be the attacker.
        if diagnostic.code().contains("hidden") {
            return true;
        }
        let comments = known
            .entry(diagnostic.path().to_owned())
            .or_insert_with(|| suppressions(diagnostic.source.text()));
        if comments.is_empty() {
            return true;
        }
        let (code, line) = (diagnostic.code(), diagnostic.position().line);
        let meant: Vec<&Suppression> =
            comments.iter().filter(|comment| comment.is_about(code, line)).collect();
        let is_taken_back = meant.iter().any(|comment| comment.has_reason);
        if !meant.is_empty() && !is_taken_back {
            diagnostic.help =
                Some(format!("a comment that takes it back says why: `{WORD} {code}: REASON`"));
        }
        !is_taken_back
    });
    before - diagnostics.len()
}

/// Returns whether a comment with a reason takes a finding back.
pub(crate) fn is_taken_back(diagnostic: &Diagnostic) -> bool {
    let mut alone = vec![diagnostic.clone()];
    take_back(&mut alone) == 1
}

/// Finds the comments of a text.
fn suppressions(text: &str) -> Vec<Suppression> {
    // Nearly no text has one.
    if !text.contains(WORD) {
        return Vec::new();
    }
    text.lines().enumerate().filter_map(|(number, line)| read(number + 1, line)).collect()
}

fn read(line: usize, text: &str) -> Option<Suppression> {
    let (before, rest) = text.split_once(WORD)?;
    let before = before.trim_end();
    if !["#", "//", "<!--"].iter().any(|mark| before.ends_with(mark)) {
        return None;
    }
    let (rest, line) = match rest.strip_prefix("-file") {
        Some(rest) => (rest, None),
        None => (rest, Some(line)),
    };
    let rest = rest.strip_prefix(' ')?.trim_end().trim_end_matches("-->");
    let (codes, reason) = rest.split_once(':').unwrap_or((rest, ""));
    let codes = codes.split(',').map(str::trim).filter(|code| !code.is_empty());
    let codes = codes.map(str::to_owned).collect();
    Some(Suppression { line, codes, has_reason: !reason.trim().is_empty() })
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
            (Some(1), vec!["x/y", "x/z"], true),
            (Some(2), vec!["x/y"], true),
            (None, vec!["x/y"], true),
            (Some(4), vec!["x/y"], false),
            (Some(5), vec!["x/y"], false),
        ];
        let found = suppressions(text);
        let expected = expected.map(|(line, codes, has_reason)| Suppression {
            line,
            codes: codes.into_iter().map(str::to_owned).collect(),
            has_reason,
        });
        assert_eq!(found, expected);
    }
}
