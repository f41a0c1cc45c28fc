//! A block of lines between markers, in a Markdown file.
//!
//! The markers are comments in the style of the tasks' markers, with another label, so that both can be in
//! one file. A line break precedes the block in any case and is removed with it: so the text before it is
//! unchanged once the block is gone.

use brief_dialects::portable::output::{MergedOutput, SharedEntry};
use brief_syntax::markdown::Outline;

use super::{EDITED, FOREIGN, Merger};

/// The lines around a block.
#[derive(Clone, Copy)]
struct Markers {
    begin: &'static str,
    end: &'static str,
}

const MARKDOWN: Markers = Markers { begin: "<!-- brief:import -->", end: "<!-- /brief:import -->" };
const YAML: Markers = Markers { begin: "# brief:import", end: "# /brief:import" };

/// Returns the markers of a file, by its name. An ignore file has comments like YAML.
fn choose_markers(path: &str) -> Markers {
    let is_hashed = is_yaml(path) || path.ends_with("ignore");
    if is_hashed { YAML } else { MARKDOWN }
}

fn is_yaml(path: &str) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    matches!(ending, "yml" | "yaml" | "roomodes")
}

/// Returns the first key of a block in YAML that the user has set, too: one file cannot have both.
fn double_key<'b>(text: &str, wanted: &'b str, block: Option<&ImportBlock>) -> Option<&'b str> {
    let keys = |line: &'b str| {
        let is_top = !line.starts_with([' ', '-', '#']);
        line.split_once(':').filter(|_| is_top).map(|(key, _)| key)
    };
    let outside = match block {
        Some(block) => [&text[..block.start], &text[block.end..]],
        None => [text, ""],
    };
    let is_there = |key: &&str| {
        let mut lines = outside.into_iter().flat_map(str::lines);
        lines.any(|line| {
            line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(':'))
        })
    };
    wanted.lines().filter_map(keys).find(is_there)
}

pub(super) fn merge_block(merger: &mut Merger<'_>) -> Result<(), String> {
    let request = merger.request;
    let text = request.text.unwrap_or_default();
    merger.merged.text = request.text.map(str::to_owned);
    let wanted = match request.wanted {
        [] => None,
        [SharedEntry::Block { text }] => Some(text.as_str()),
        _ => return Err("needs more than one block".to_owned()),
    };
    let before: Vec<&str> = request
        .before
        .iter()
        .filter_map(|entry| match entry {
            SharedEntry::Block { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let markers = choose_markers(request.path);
    let is_yaml = is_yaml(request.path);
    if is_yaml && text.trim_start().starts_with(['{', '[']) {
        return Err("is JSON, which cannot contain a marked block".to_owned());
    }
    let found = find_block(text, markers)?;
    let needed = wanted.filter(|wanted| is_yaml && !contains_lines(text, wanted, found.as_ref()));
    if let Some(wanted) = needed
        && let Some(key) = double_key(text, wanted, found.as_ref())
    {
        let lines = wanted.lines().filter(|line| line.starts_with(' ')).map(str::trim);
        let lines: Vec<String> = lines.map(|line| format!("`{line}`")).collect();
        return Err(format!("`{key}` belongs to the user; add {} to it", lines.join(", ")));
    }
    let Some(block) = found else {
        if let Some(wanted) = wanted.filter(|wanted| !contains_lines(text, wanted, None)) {
            merger.merged = append_block(text, wanted, markers);
        }
        return Ok(());
    };
    let inside = block.content(text);
    // If the user's text already has these lines, our block is not needed.
    let wanted = wanted.filter(|wanted| !contains_lines(text, wanted, Some(&block)));
    let entry = |text: &str| SharedEntry::Block { text: text.to_owned() };
    match (wanted, before.first().copied()) {
        // The block is not ours, so it stays.
        (None, None) => {}
        (Some(wanted), _) if inside == wanted => merger.merged.entries.push(entry(wanted)),
        _ if before.contains(&inside.as_str()) => {
            merger.merged = replace_block(text, &block, wanted, markers);
        }
        (_, first) => {
            let name = entry(wanted.or(first).unwrap_or_default());
            let reason = if first.is_some() { EDITED } else { FOREIGN };
            if merger.may_replace(&name, reason) {
                merger.merged = replace_block(text, &block, wanted, markers);
            } else if wanted.is_some() {
                // It may become ours again.
                merger.merged.entries.extend(first.map(entry));
            }
        }
    }
    Ok(())
}

/// A block of ours, with its markers and the line break after it.
struct ImportBlock {
    start: usize,
    content_start: usize,
    content_end: usize,
    end: usize,
}

impl ImportBlock {
    /// Returns the text between the markers, with plain line breaks.
    fn content(&self, text: &str) -> String {
        let content = text[self.content_start..self.content_end].replace("\r\n", "\n");
        content.strip_suffix('\n').unwrap_or(&content).to_owned()
    }
}

/// Finds the block. Unpaired markers are an error.
fn find_block(text: &str, markers: Markers) -> Result<Option<ImportBlock>, String> {
    let Markers { begin, end } = markers;
    let mut begins = Vec::new();
    let mut ends = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let place = (start, start + line.len());
        match line.trim_end() {
            line if line == begin => begins.push(place),
            line if line == end => ends.push(place),
            _ => {}
        }
        start += line.len();
    }
    match (begins.as_slice(), ends.as_slice()) {
        ([], []) => Ok(None),
        (&[first], &[last]) if first.1 <= last.0 => Ok(Some(ImportBlock {
            start: first.0,
            content_start: first.1,
            content_end: last.0,
            end: last.1,
        })),
        ([_], []) => Err(format!("`{begin}` has no `{end}` after it; remove that line")),
        ([], [_]) => Err(format!("`{end}` has no `{begin}` before it; remove that line")),
        _ => Err(format!("expected one pair of `{begin}` and `{end}`; remove the other lines")),
    }
}

/// Returns whether the user's own prose of a Markdown file has each line.
pub(crate) fn has_lines_of_user(text: &str, wanted: &str) -> bool {
    let block = find_block(text, MARKDOWN).ok().flatten();
    contains_lines(text, wanted, block.as_ref())
}

/// Returns whether the prose of a file already has each line, outside our block. Each counts as a whole word,
/// as imports are read.
fn contains_lines(text: &str, wanted: &str, block: Option<&ImportBlock>) -> bool {
    let mut outline = None;
    let mut is_there = |line: &str| {
        text.match_indices(line).any(|(at, found)| {
            let is_apart = |neighbor: Option<char>| neighbor.is_none_or(char::is_whitespace);
            let is_ours = block.is_some_and(|block| (block.start..block.end).contains(&at));
            !is_ours
                && is_apart(text[..at].chars().next_back())
                && is_apart(text[at + found.len()..].chars().next())
                && !outline.get_or_insert_with(|| Outline::parse(text)).is_opaque(at)
        })
    };
    wanted.lines().all(|line| {
        let longer = line.strip_prefix('@').map(|path| format!("@./{path}"));
        is_there(line) || longer.is_some_and(|longer| is_there(&longer))
    })
}

/// Returns the file with the block at its end.
fn append_block(text: &str, wanted: &str, markers: Markers) -> MergedOutput {
    // A final carriage return would merge with a plain line break.
    let is_windows = text.find('\n').is_some_and(|at| text[..at].ends_with('\r'));
    let line_break = if is_windows || text.ends_with('\r') { "\r\n" } else { "\n" };
    let between = if text.is_empty() { "" } else { line_break };
    let text = format!("{text}{between}{}", render_block(wanted, line_break, markers));
    let entries = vec![SharedEntry::Block { text: wanted.to_owned() }];
    MergedOutput { text: Some(text), entries, kept: Vec::new() }
}

/// Returns the file with the block replaced or removed.
fn replace_block(
    text: &str,
    block: &ImportBlock,
    wanted: Option<&str>,
    markers: Markers,
) -> MergedOutput {
    let (before, after) = (&text[..block.start], &text[block.end..]);
    let Some(wanted) = wanted else {
        let shorter = before.strip_suffix('\n').unwrap_or(before);
        let shorter =
            shorter.strip_suffix('\r').filter(|_| before.ends_with('\n')).unwrap_or(shorter);
        // The lines before and after the block must not become one.
        let joins = !after.is_empty() && !shorter.is_empty() && !shorter.ends_with('\n');
        let text = format!("{}{after}", if joins { before } else { shorter });
        return MergedOutput {
            text: (!text.is_empty()).then_some(text),
            ..MergedOutput::default()
        };
    };
    let is_windows = text[block.start..block.content_start].ends_with("\r\n");
    let written = render_block(wanted, if is_windows { "\r\n" } else { "\n" }, markers);
    let entries = vec![SharedEntry::Block { text: wanted.to_owned() }];
    MergedOutput { text: Some(format!("{before}{written}{after}")), entries, kept: Vec::new() }
}

fn render_block(wanted: &str, line_break: &str, markers: Markers) -> String {
    let lines = [markers.begin].into_iter().chain(wanted.lines()).chain([markers.end]);
    lines.flat_map(|line| [line, line_break]).collect()
}
