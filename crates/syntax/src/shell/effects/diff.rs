//! The files of a unified diff that `git apply` or `patch` is given as its input.

use std::iter::Peekable;
use std::str::Lines;

use crate::shell::ShellWord;

use super::FileUse;
use super::programs::parse_command_words;

/// The name of a file that is not there.
const NO_FILE: &str = "/dev/null";

/// Options of `git apply` that only look at a patch.
const LOOKS: [&str; 4] = ["check", "stat", "numstat", "summary"];

/// Returns the files that `git apply` changes.
pub(super) fn collect_apply_effects(
    words: &[ShellWord],
    input: Option<&str>,
) -> Vec<(String, FileUse)> {
    let given =
        parse_command_words(words, "pC", &["directory", "exclude", "include", "whitespace"]);
    let is_plain = given.operands.iter().all(|operand| *operand == Some("-"));
    let looks = LOOKS.iter().any(|option| given.options.has_option('\0', option));
    let (false, true, Some(input)) = (looks, is_plain, input) else { return Vec::new() };
    if words.iter().any(|word| word.literal().is_none_or(|text| text.starts_with("--directory"))) {
        return Vec::new();
    }
    let strip = parse_strip_count(words).unwrap_or(1);
    collect_diff_effects(input, strip, given.options.has_option('R', "reverse"))
}

/// Returns the files that `patch` changes: the one that it names, or those of its input.
pub(super) fn collect_patch_effects(
    words: &[ShellWord],
    input: Option<&str>,
) -> Vec<(String, FileUse)> {
    let given = parse_command_words(
        words,
        "BDFVYdgioprz",
        &["strip", "fuzz", "reject-file", "suffix", "prefix"],
    );
    let is_elsewhere = ["directory", "input", "output", "dry-run"];
    let is_elsewhere = is_elsewhere.iter().any(|option| given.options.has_option('\0', option))
        || ['d', 'i', 'o'].iter().any(|letter| given.options.has_option(*letter, ""));
    if is_elsewhere || words.iter().any(|word| word.literal().is_none()) {
        return Vec::new();
    }
    if let Some(file) = given.operands.first() {
        return file.map(|file| (file.to_owned(), FileUse::Edit)).into_iter().collect();
    }
    // Without `-p` it takes the whole name if its directories are there, as they are in a diff that was made here.
    let strip = parse_strip_count(words).unwrap_or(0);
    input.map_or_else(Vec::new, |input| {
        collect_diff_effects(input, strip, given.options.has_option('R', "reverse"))
    })
}

/// Returns the number of directories that are cut off, if an option gives it.
fn parse_strip_count(words: &[ShellWord]) -> Option<usize> {
    let mut words = words.iter().filter_map(ShellWord::literal);
    while let Some(word) = words.next() {
        let number = match word {
            "-p" | "--strip" => words.next(),
            _ => word.strip_prefix("-p").or_else(|| word.strip_prefix("--strip=")),
        };
        if let Some(number) = number {
            return number.parse().ok();
        }
    }
    None
}

/// Returns the files that a diff changes, in order.
fn collect_diff_effects(diff: &str, strip: usize, is_reversed: bool) -> Vec<(String, FileUse)> {
    let mut lines = diff.lines().peekable();
    let mut found = Vec::new();
    while let Some(line) = lines.next() {
        if let Some(old) = line.strip_prefix("--- ")
            && let Some(new) = lines.peek().and_then(|next| next.strip_prefix("+++ "))
        {
            let (old, new) = if is_reversed { (new, old) } else { (old, new) };
            found.extend(parse_change(parse_file_name(old), parse_file_name(new), strip));
            lines.next();
            skip_hunks(&mut lines);
        } else if let Some(from) = line.strip_prefix("rename from ") {
            found.push((from.to_owned(), FileUse::Delete));
        } else if let Some(to) = line.strip_prefix("rename to ") {
            found.push((to.to_owned(), FileUse::Create));
        }
    }
    found
}

/// Skips the hunks of a file, whose lines may look like headers.
fn skip_hunks(lines: &mut Peekable<Lines<'_>>) {
    while let Some((old, new)) = lines.peek().and_then(|line| parse_hunk(line)) {
        lines.next();
        let (mut old, mut new) = (old, new);
        while old > 0 || new > 0 {
            let Some(line) = lines.next() else { return };
            match line.as_bytes().first() {
                Some(b'-') => old = old.saturating_sub(1),
                Some(b'+') => new = new.saturating_sub(1),
                Some(b'\\') => {}
                _ => (old, new) = (old.saturating_sub(1), new.saturating_sub(1)),
            }
        }
        while lines.peek().is_some_and(|line| line.starts_with('\\')) {
            lines.next();
        }
    }
}

/// Returns the numbers of lines of a hunk, before and after.
fn parse_hunk(line: &str) -> Option<(u32, u32)> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let count =
        |range: &str| range.split_once(',').map_or(Some(1), |(_, count)| count.parse().ok());
    Some((count(old)?, count(new)?))
}

/// Returns the name in a header, without the time that may follow it.
fn parse_file_name(header: &str) -> &str {
    header.split('\t').next().unwrap_or_default().trim_end()
}

fn parse_change(old: &str, new: &str, strip: usize) -> Option<(String, FileUse)> {
    let (name, how) = match (old, new) {
        (NO_FILE, new) => (new, FileUse::Create),
        (old, NO_FILE) => (old, FileUse::Delete),
        (_, new) => (new, FileUse::Edit),
    };
    // A quoted name has escapes.
    let mut parts = name.split('/');
    let is_plain = !name.starts_with('"') && !name.contains(['$', '`']);
    let cut = parts.by_ref().take(strip).count();
    let rest: Vec<&str> = parts.collect();
    (is_plain && cut == strip && !rest.is_empty()).then(|| (rest.join("/"), how))
}
