//! One finding for each cause.
//!
//! A mistake that was made once shows in many places: the same dead link in every copy of a paragraph, one wrong directory
//! before all sources of a list, a habit of naming. It is one thing to do, and is one finding, with its other places.

use std::collections::HashMap;

use brief_syntax::diagnostic::OtherPlace;
use brief_syntax::{Diagnostic, Rule, Severity, rules};

/// The number of findings of one kind that have one cause, although their values differ.
const ALIKE: usize = 4;

/// The number of findings of one rule in one file that have one cause.
const ALIKE_IN_FILE: usize = 3;

/// Rules whose values say which file breaks them, and not why.
const HABITS: [Rule; 15] = [
    rules::client::UNKNOWN_EVENT,
    rules::item::NOT_A_FILE,
    rules::capability::BINARY,
    rules::item::INVALID_NAME,
    rules::item::NAME_MISMATCH,
    rules::item::MISSING_FIELD,
    rules::client::MISSING_FIELD,
    rules::client::SKILL_STANDARD,
    rules::client::RESERVED_NAME,
    rules::client::AGENT_FIELD_MISSING,
    rules::client::SKILL_FIELD_MISSING,
    rules::client::CURSOR_GLOBS,
    rules::guidance::COPIES_DIFFER,
    rules::guidance::REPEATED_TEXT,
    rules::guidance::VAGUE_DESCRIPTION,
];

/// Rules about files of an item that do not travel with it, one finding for each file.
const CONTENTS: [Rule; 2] = [rules::item::NOT_A_FILE, rules::capability::BINARY];

/// The number of files of one item that have one cause.
const ALIKE_IN_ITEM: usize = 2;

/// Areas of published formats. Their findings are about one sentence of a document and one place, where other tools expect
/// them; only a habit of a whole collection is one finding.
const FORMATS: [&str; 5] = ["agents-yaml/", "context-dir/", "tasks/", "agent-file/", "item/"];

/// The number of findings about a format that are a habit.
const HABITUAL: usize = 10;

/// The number of findings of one rule that are about copies of one file.
const COPIES: usize = 3;

/// The number of lines at the beginning of two files that are equal in copies.
const COMPARED_LINES: usize = 20;

/// Folds findings with one cause into the first of them, which keeps the places of the others. The order stays.
pub(crate) fn fold_causes(found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let found = fold_findings(found, |_| ALIKE_IN_ITEM, content_key);
    // What one commit has removed, in one text; the text of a file that stands elsewhere, in each copy of it.
    let found = fold_findings(found, |_| 2, removal_key);
    let found = fold_findings(
        found,
        |_| 2,
        |one| {
            let is_repeated = one.rule == rules::guidance::REPEATED_TEXT;
            // What it repeats; the clients that get both stand behind it.
            is_repeated.then(|| one.message.split(';').next().unwrap_or_default().to_owned())
        },
    );
    // The same words anywhere; the same words about other values; the same rule in one file; copies of one file.
    let found = fold_findings(found, least_for_format(2), |one| Some(one.message.clone()));
    let found = fold_findings(found, least_for_format(ALIKE), |one| {
        let kept = usize::from(!HABITS.contains(&one.rule));
        Some(without_values(&one.message, kept))
    });
    let found = fold_findings(
        found,
        |_| 2,
        |one| {
            // Two names of one sentence, such as two targets that are both gone.
            let is_reference = one.code().starts_with("guidance/missing-");
            let line = one.source.line_number(one.span.start);
            let shape = without_values(&one.message, 0);
            is_reference.then(|| format!("{}\0{line}\0{shape}", one.path().display()))
        },
    );
    let found = fold_findings(found, least_for_format(ALIKE_IN_FILE), |one| {
        let shape = without_values(&one.message, 0);
        Some(format!("{}\0{shape}", one.path().display()))
    });
    // Skills that were copied from somewhere else lead out of their directories.
    let found = fold_findings(found, least_for_format(ALIKE), |one| {
        let leads_out =
            one.rule == rules::client::BROKEN_LINK && one.message.contains("points outside");
        let skills = one.path().parent()?.parent()?.display().to_string();
        leads_out.then(|| format!("{skills}\0{}", without_values(&one.message, 0)))
    });
    fold_findings(
        found,
        |_| COPIES,
        |one| {
            let directory = one.path().parent()?.file_name()?.to_string_lossy();
            let lines = one.source.text().split_inclusive('\n').take(COMPARED_LINES);
            Some(format!("{directory}\0{}\0{}", one.message, lines.collect::<String>()))
        },
    )
}

/// Returns the item of a finding about one of its files.
fn content_key(one: &Diagnostic) -> Option<String> {
    if !CONTENTS.contains(&one.rule) {
        return None;
    }
    let path = one.path().to_string_lossy();
    // Either the finding is at the entry file, or its message has the path below the item, perhaps not all of it.
    let below = one.message.split('`').nth(1).unwrap_or_default().trim_end_matches('…');
    let item = path.rfind(below).filter(|_| !below.is_empty()).map_or(&*path, |at| &path[..at]);
    Some(item.to_owned())
}

/// Returns the text and the commit of a finding about something that the commit has removed.
fn removal_key(one: &Diagnostic) -> Option<String> {
    let help = one.help.as_deref().filter(|_| one.code().starts_with("guidance/missing-"))?;
    let (_, commit) = help.rsplit_once(" in ").filter(|(before, _)| before.ends_with("removed"))?;
    Some(format!("{}\0{commit}", one.path().display()))
}

/// Returns how many findings have one cause: a habit of a whole collection if they are about a format, else `least`.
fn least_for_format(least: usize) -> impl Fn(Rule) -> usize {
    move |rule| {
        let is_of_format =
            FORMATS.iter().any(|area| rule.code().starts_with(area)) && !CONTENTS.contains(&rule);
        if is_of_format { HABITUAL } else { least }
    }
}

/// Folds findings of one rule and severity with the same key, if there are at least `least` of them.
fn fold_findings(
    found: Vec<Diagnostic>,
    least: impl Fn(Rule) -> usize,
    key: impl Fn(&Diagnostic) -> Option<String>,
) -> Vec<Diagnostic> {
    type Cause = (Rule, Severity, String);
    // What hides text from a reader is shown at each place.
    let is_folded = |one: &Diagnostic| !one.code().contains("hidden");
    let cause = |one: &Diagnostic| -> Option<Cause> {
        Some((one.rule, one.severity, key(one).filter(|_| is_folded(one))?))
    };
    let causes: Vec<Option<Cause>> = found.iter().map(cause).collect();
    let mut counts: HashMap<&Cause, usize> = HashMap::new();
    for (cause, one) in causes.iter().zip(&found) {
        if let Some(cause) = cause {
            *counts.entry(cause).or_default() += 1 + one.also.len();
        }
    }
    let mut folded: Vec<Diagnostic> = Vec::with_capacity(found.len());
    let mut firsts: HashMap<&Cause, usize> = HashMap::new();
    for (cause, mut one) in causes.iter().zip(found) {
        let Some(cause) = cause.as_ref().filter(|cause| counts[cause] >= least(cause.0)) else {
            folded.push(one);
            continue;
        };
        match firsts.get(cause).and_then(|&first| folded.get_mut(first)) {
            Some(first) => {
                let mut others = std::mem::take(&mut one.also);
                let Diagnostic { source, span, message, .. } = one;
                first.also.push(OtherPlace { source, span, message });
                first.also.append(&mut others);
            }
            None => {
                firsts.insert(cause, folded.len());
                folded.push(one);
            }
        }
    }
    folded
}

/// Returns a message without the values in backticks or quotes, except for the first `kept`, and without numbers beside them.
fn without_values(message: &str, kept: usize) -> String {
    let mut text = String::new();
    for (index, part) in message.split(['`', '"']).enumerate() {
        if index % 2 == 0 {
            text.extend(part.chars().filter(|letter| !letter.is_ascii_digit()));
        } else if index / 2 < kept {
            text.push_str(part);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use brief_syntax::{Source, Span};

    use super::*;

    fn finding(rule: Rule, path: &str, message: &str) -> Diagnostic {
        let source = Arc::new(Source::new(path, "text"));
        Diagnostic::new(rule, &source, Span::empty_at(0), message)
    }

    fn shown(found: Vec<Diagnostic>) -> Vec<String> {
        let folded = fold_causes(found);
        folded.iter().map(|one| format!("{} +{}", one.message, one.also.len())).collect()
    }

    #[test]
    fn the_same_words_are_one_finding() {
        let link = rules::client::BROKEN_LINK;
        let found = ["a", "b", "c"].map(|path| finding(link, path, "file not found: `../x.md`"));
        let other = finding(link, "c", "file not found: `y.md`");
        let found = found.into_iter().chain([other]).collect();
        assert_eq!(shown(found), ["file not found: `../x.md` +2", "file not found: `y.md` +0"]);
    }

    #[test]
    fn copies_of_a_file_are_one_finding() {
        let rule = rules::item::MISSING_FIELD;
        let message = "the field `description` is missing";
        let backups = ["backup-1/a/SKILL.md", "backup-2/a/SKILL.md", "backup-3/a/SKILL.md"];
        let found = backups.map(|path| finding(rule, path, message)).to_vec();
        assert_eq!(shown(found), ["the field `description` is missing +2"]);
        // Another directory is another skill.
        let others = ["a/SKILL.md", "b/SKILL.md", "c/SKILL.md"];
        let found = others.map(|path| finding(rule, path, message)).to_vec();
        assert_eq!(shown(found).len(), 3);
    }

    #[test]
    fn files_that_do_not_travel_are_one_finding_for_each_item() {
        let rule = rules::item::NOT_A_FILE;
        let links = |items: &[&str]| -> Vec<Diagnostic> {
            let link = |(at, item): (usize, &&str)| {
                let message = format!("`{at}.py` is a symbolic link, which does not travel");
                finding(rule, &format!("{item}/SKILL.md"), &message)
            };
            items.iter().enumerate().map(link).collect()
        };
        assert_eq!(shown(links(&["a", "a", "b"])).len(), 2);
        assert_eq!(shown(links(&["a", "b", "c", "d"])).len(), 1);
        let rule = rules::capability::BINARY;
        let binaries = ["target/a", "target/b", "other/c"].map(|path| {
            let message = format!("content that a review does not show: `{path}`: a program");
            finding(rule, &format!("skills/x/{path}"), &message)
        });
        assert_eq!(shown(binaries.to_vec()).len(), 1);
    }

    #[test]
    fn many_of_one_kind_are_one_finding() {
        let rule = rules::item::INVALID_NAME;
        let names = |count: usize| -> Vec<Diagnostic> {
            let finding =
                |at| finding(rule, &format!("{at}"), &format!("`{at}` is not a valid name"));
            (0..count).map(finding).collect()
        };
        assert_eq!(shown(names(3)).len(), 3);
        assert_eq!(shown(names(30)), ["`0` is not a valid name +29"]);
        // Two names of one line have one cause, and two of two lines have two.
        let targets = ["a", "b"].map(|name| {
            let message = format!("unknown make target `{name}`: not defined in `Makefile`");
            finding(rules::guidance::MISSING_TARGET, "CLAUDE.md", &message)
        });
        assert_eq!(shown(targets.to_vec()).len(), 1);
        let source = Arc::new(Source::new("CLAUDE.md", "a\nb"));
        let mut apart = targets.to_vec();
        for (at, one) in apart.iter_mut().enumerate() {
            (one.source, one.span) = (Arc::clone(&source), Span::empty_at(2 * at));
        }
        assert_eq!(shown(apart).len(), 2);
        // Other links have other causes, unless one file has them all.
        let links = |path: &dyn Fn(usize) -> String| -> Vec<Diagnostic> {
            let link = |at| {
                let message = format!("file not found: `{at}.md`");
                finding(rules::client::BROKEN_LINK, &path(at), &message)
            };
            (0..5).map(link).collect()
        };
        assert_eq!(shown(links(&|at| format!("{at}"))).len(), 5);
        assert_eq!(shown(links(&|_| "a".to_owned())), ["file not found: `0.md` +4"]);
    }
}
