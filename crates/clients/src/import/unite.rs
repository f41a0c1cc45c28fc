//! One item from the same text in several clients' files.
//!
//! Texts that differ in line ends and blank lines only are one. Texts that share most of their paragraphs are one with
//! variants: what some clients have and others have not stands between directives. Everything is held against the
//! originals again, and what would not come out as it was stays an item of its own, with the reason.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use brief_dialects::portable::ItemKind;
use brief_dialects::portable::directives;
use brief_dialects::portable::is_sound;
use brief_profiles::Form;

use crate::profile::Profiles;

use super::apart::{ProjectFiles, common_scope, render_original};
use super::item::{ImportedItem, Member};

/// The share of the longer text that two texts have in common, in percent, to be variants of one.
const VARIANT_SHARE: usize = 50;

/// The words of a note about two items with one text.
const APART: &str = "but is a separate item";

/// The clients of a member: one, or all that are not named.
const OTHERS: &str = "*";

/// Returns whether two texts are the same but for line ends and blank lines.
pub fn is_same_text(left: &str, right: &str) -> bool {
    left == right || normalize_text(left) == normalize_text(right)
}

/// Returns a text without blank lines and without blanks at the ends of lines.
fn normalize_text(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    for line in text.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
        normal.push_str(line);
        normal.push('\n');
    }
    normal
}

/// Returns the share, in percent, of the longer text's paragraphs that both have.
pub fn shared_percent(left: &str, right: &str) -> usize {
    let (left, right) = (trim_line_ends(left), trim_line_ends(right));
    let (left, right) = (split_pieces(&left), split_pieces(&right));
    let weight =
        |list: &[(&str, bool)]| list.iter().map(|(text, _)| text.trim().len()).sum::<usize>();
    let known: HashSet<&str> = left.iter().map(|(text, _)| text.trim()).collect();
    let both = right.iter().map(|(text, _)| text.trim()).filter(|text| known.contains(text));
    let both: usize = both.map(str::len).sum();
    let longer = weight(&left).max(weight(&right));
    (both.min(longer) * 100).checked_div(longer).unwrap_or_default()
}

/// Unites items that say the same. The order of the first ones stays.
pub(super) fn unite_items(
    items: Vec<ImportedItem>,
    profiles: &Profiles,
    files: &ProjectFiles<'_>,
) -> Vec<ImportedItem> {
    let clients = profiles.ids();
    // What is the same comes first, so that a variant finds all of it.
    let equal = |item: &ImportedItem| vec![normalize_text(&item.body)];
    let items = unite_by_keys(items, &equal, is_equal, profiles, &clients, files);
    unite_by_keys(items, &variant_keys, is_variant, profiles, &clients, files)
}

/// Unites items that have a key in common, where `compare` finds them alike. Others are never compared: a collection has
/// thousands.
fn unite_by_keys(
    items: Vec<ImportedItem>,
    keys: &dyn Fn(&ImportedItem) -> Vec<String>,
    compare: fn(&ImportedItem, &ImportedItem) -> Alike,
    profiles: &Profiles,
    clients: &[&str],
    files: &ProjectFiles<'_>,
) -> Vec<ImportedItem> {
    let mut united: Vec<ImportedItem> = Vec::new();
    let mut known: BTreeMap<(ItemKind, String), Vec<usize>> = BTreeMap::new();
    for mut item in items {
        let keys = keys(&item);
        let near: BTreeSet<usize> = keys
            .iter()
            .filter_map(|key| known.get(&(item.kind, key.clone())))
            .flatten()
            .copied()
            .collect();
        let mut apart = None;
        let mut joined = None;
        for place in near {
            let found = match compare(&united[place], &item) {
                Alike::Other => continue,
                Alike::Same => join_items(&united[place], &item, profiles, clients, files),
                Alike::Apart(reason) => Err(reason.to_owned()),
            };
            match found {
                Ok(found) => {
                    joined = Some((place, found));
                    break;
                }
                Err(reason) => {
                    apart =
                        apart.or_else(|| Some((render_original(&united[place], files), reason)));
                }
            }
        }
        let place = match joined {
            Some((place, joined)) => {
                united[place] = joined;
                place
            }
            None => {
                item.stays_apart(apart);
                united.push(item);
                united.len() - 1
            }
        };
        let kind = united[place].kind;
        for key in keys {
            known.entry((kind, key)).or_default().push(place);
        }
    }
    united
}

/// Returns the names by which two variants of a text are found.
fn variant_keys(item: &ImportedItem) -> Vec<String> {
    let title = find_title(item).map(|title| format!("# {title}"));
    let about = is_about_all(item).then(|| "CLAUDE.md".to_owned());
    std::iter::once(item.name.clone()).chain(title).chain(about).collect()
}

/// The result of comparing the texts of two items.
enum Alike {
    Other,
    /// They could be one item.
    Same,
    /// They say the same and stay two, for a reason.
    Apart(&'static str),
}

/// Two files of one client are one only byte for byte, with the same fields: each has to come back as it was.
fn is_equal(left: &ImportedItem, right: &ImportedItem) -> Alike {
    let differs = |own: &Member| {
        let is_other = |other: &&Member| other.body != own.body || other.header != own.header;
        right
            .members
            .iter()
            .filter(|other| other.client == own.client)
            .any(|other| is_other(&other))
    };
    if left.kind == ItemKind::Skill || !is_same_text(&left.body, &right.body) {
        Alike::Other
    } else if left.members.iter().any(differs) {
        Alike::Apart("one client has both, with different fields")
    } else {
        Alike::Same
    }
}

fn is_variant(left: &ImportedItem, right: &ImportedItem) -> Alike {
    let has_client = |member: &Member| right.members.iter().any(|own| own.client == member.client);
    let is_near = |own: &Member| shared_percent(&own.body, &right.body) >= VARIANT_SHARE;
    if left.kind == ItemKind::Skill
        || left.members.iter().any(has_client)
        || !left.members.iter().any(is_near)
    {
        return Alike::Other;
    }
    Alike::Same
}

/// Returns whether an item was a file such as `CLAUDE.md`.
fn is_about_all(item: &ImportedItem) -> bool {
    item.members.iter().all(|member| matches!(member.form, Form::Instructions | Form::Legacy))
}

fn find_title(item: &ImportedItem) -> Option<&str> {
    item.body.lines().find_map(|line| line.strip_prefix("# ")).map(str::trim)
}

impl ImportedItem {
    /// Says why it is not one item with another that has its text.
    fn stays_apart(&mut self, apart: Option<(String, String)>) {
        let is_said = self.notes.iter().any(|note| note.message.contains(APART));
        if let Some((other, reason)) = apart.filter(|_| !is_said) {
            self.add_note(None, format!("repeats much of {other}, {APART}: {reason}"));
        }
    }
}

/// Makes one item of two, or gives the reason why they stay two.
fn join_items(
    left: &ImportedItem,
    right: &ImportedItem,
    profiles: &Profiles,
    clients: &[&str],
    files: &ProjectFiles<'_>,
) -> Result<ImportedItem, String> {
    const UNSAYABLE: &str = "the format cannot express both in one item";
    let mut joined = left.clone();
    joined.scope = common_scope(left, right, profiles, files)?;
    joined.members.extend(right.members.iter().cloned());
    joined.notes.extend(right.notes.iter().cloned());
    joined.notes.dedup();
    if left.unsaid.contains(&"description") && !right.unsaid.contains(&"description") {
        joined.description.clone_from(&right.description);
    }
    joined.unsaid.retain(|field| right.unsaid.contains(field));
    for (key, value) in &right.fields {
        if !joined.fields.iter().any(|(own, _)| own == key) {
            joined.fields.push((key.clone(), value.clone()));
        }
    }
    let is_for_all = joined.members.iter().any(|member| member.client.is_none());
    joined.clients.clear();
    if !is_for_all {
        let named = joined.members.iter().filter_map(|member| member.client.clone());
        joined.clients = named.collect::<BTreeSet<String>>().into_iter().collect();
    }
    let is_variant =
        joined.members.iter().any(|own| !is_same_text(&own.body, &left.members[0].body));
    if is_variant {
        joined.body = render_variants(&joined.members).ok_or(UNSAYABLE)?;
        joined.is_verbatim = true;
        let is_whole = |member: &Member| {
            let client = member
                .client
                .as_deref()
                .unwrap_or_else(|| find_unnamed_client(&joined.members, clients));
            is_same_text(
                &directives::render_client_body(&joined.body, client, clients),
                &member.body,
            )
        };
        if !joined.members.iter().all(is_whole) {
            return Err(UNSAYABLE.to_owned());
        }
    } else if !left.is_verbatim && right.is_verbatim {
        joined.body.clone_from(&right.body);
        joined.is_verbatim = true;
    }
    joined.settle_all(profiles, clients);
    if is_sound(&joined.to_portable_item(), clients) {
        Ok(joined)
    } else {
        Err(UNSAYABLE.to_owned())
    }
}

/// Returns a client that no member names.
fn find_unnamed_client<'c>(members: &[Member], clients: &[&'c str]) -> &'c str {
    let is_named =
        |client: &&&str| members.iter().any(|member| member.client.as_deref() == Some(**client));
    clients.iter().find(|client| !is_named(client)).copied().unwrap_or(OTHERS)
}

/// A part of a text that clients have or have not: a paragraph, or a point of a list.
#[derive(Debug, Clone)]
struct TextPart {
    text: String,
    /// True if the next part follows without a blank line.
    is_tight: bool,
    /// The members that have it.
    of: BTreeSet<usize>,
}

fn split_parts(text: &str) -> Vec<TextPart> {
    let text = trim_line_ends(text);
    let part = |(text, is_tight): (&str, bool)| TextPart {
        text: text.to_owned(),
        is_tight,
        of: BTreeSet::new(),
    };
    split_pieces(&text).into_iter().map(part).collect()
}

/// Splits a text into paragraphs and points of lists, each with whether the next one follows without a blank line.
fn split_pieces(text: &str) -> Vec<(&str, bool)> {
    let is_point = |line: &str| {
        let line = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
        ["- ", "* ", "+ ", ". ", ") "].iter().any(|mark| line.starts_with(mark))
    };
    let mut pieces = Vec::new();
    for paragraph in split_blocks(text) {
        if paragraph.lines().all(is_point) {
            pieces.extend(paragraph.lines().map(|line| (line, true)));
            if let Some((_, is_tight)) = pieces.last_mut() {
                *is_tight = false;
            }
        } else {
            pieces.push((paragraph.trim_end(), false));
        }
    }
    pieces
}

/// Returns a body with directives, from which each member gets its own; `None` when no list of clients says it.
fn render_variants(members: &[Member]) -> Option<String> {
    let mut merged: Vec<TextPart> = Vec::new();
    for (number, member) in members.iter().enumerate() {
        let mut own = split_parts(&member.body);
        for part in &mut own {
            part.of.insert(number);
        }
        let mut next = Vec::new();
        let (mut at, mut done) = (0, 0);
        for (place, taken) in longest_common_subsequence(&merged, &own) {
            next.extend(merged[at..place].iter().cloned());
            next.extend(own[done..taken].iter().cloned());
            let mut part = merged[place].clone();
            part.of.insert(number);
            part.is_tight |= own[taken].is_tight;
            next.push(part);
            (at, done) = (place + 1, taken + 1);
        }
        next.extend(merged[at..].iter().cloned());
        next.extend(own[done..].iter().cloned());
        merged = next;
    }
    let mut body = String::new();
    // The blank line below a header.
    if members.iter().all(|member| member.body.starts_with(['\n', '\r'])) {
        body.push('\n');
    }
    let mut open: Option<String> = None;
    let mut end = "\n\n";
    for part in &merged {
        let readers = if part.of.len() == members.len() {
            None
        } else {
            Some(render_reader_list(members, &part.of)?)
        };
        if open != readers {
            if open.is_some() {
                body.push_str(&format!("<!-- @endclient -->{end}"));
            }
            if let Some(readers) = &readers {
                body.push_str(&format!("<!-- @client:{readers} -->{end}"));
            }
            open.clone_from(&readers);
        }
        end = if part.is_tight { "\n" } else { "\n\n" };
        body.push_str(&part.text);
        body.push_str(end);
    }
    if open.is_some() {
        body.push_str("<!-- @endclient -->\n");
    }
    body.truncate(body.trim_end().len());
    body.push('\n');
    Some(body)
}

/// Returns the list of a directive for some members.
fn render_reader_list(members: &[Member], of: &BTreeSet<usize>) -> Option<String> {
    let named = |is_in: bool| {
        let chosen =
            members.iter().enumerate().filter(move |(number, _)| of.contains(number) == is_in);
        chosen.filter_map(|(_, member)| member.client.clone()).collect::<BTreeSet<String>>()
    };
    let is_for_others = members
        .iter()
        .enumerate()
        .any(|(number, member)| of.contains(&number) && member.client.is_none());
    let (inside, outside) = (named(true), named(false));
    // Two files of one client that differ cannot be told apart.
    if !inside.is_disjoint(&outside) {
        return None;
    }
    if is_for_others {
        let list: Vec<String> = outside.iter().map(|client| format!("!{client}")).collect();
        return (!list.is_empty()).then(|| list.join(","));
    }
    (!inside.is_empty()).then(|| inside.into_iter().collect::<Vec<_>>().join(","))
}

/// Returns the longest common subsequence of paragraphs, as pairs of places.
fn longest_common_subsequence(merged: &[TextPart], own: &[TextPart]) -> Vec<(usize, usize)> {
    let (rows, columns) = (merged.len(), own.len());
    let mut lengths = vec![0_u32; (rows + 1) * (columns + 1)];
    let at = |row: usize, column: usize| row * (columns + 1) + column;
    let is_same = |row: usize, column: usize| merged[row].text.trim() == own[column].text.trim();
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            lengths[at(row, column)] = if is_same(row, column) {
                lengths[at(row + 1, column + 1)] + 1
            } else {
                lengths[at(row + 1, column)].max(lengths[at(row, column + 1)])
            };
        }
    }
    let (mut row, mut column, mut pairs) = (0, 0, Vec::new());
    while row < rows && column < columns {
        if is_same(row, column) {
            pairs.push((row, column));
            (row, column) = (row + 1, column + 1);
        } else if lengths[at(row + 1, column)] >= lengths[at(row, column + 1)] {
            row += 1;
        } else {
            column += 1;
        }
    }
    pairs
}

/// Splits a text at its blank lines; a fence is one part.
pub fn split_paragraphs(text: &str) -> Vec<String> {
    split_blocks(&trim_line_ends(text)).into_iter().map(|block| format!("{block}\n")).collect()
}

/// Returns a text without blanks at the ends of its lines.
fn trim_line_ends(text: &str) -> Cow<'_, str> {
    let is_trimmed =
        !text.contains('\r') && text.lines().all(|line| !line.ends_with(char::is_whitespace));
    if is_trimmed {
        return Cow::Borrowed(text);
    }
    let mut trimmed = String::with_capacity(text.len());
    for line in text.lines() {
        trimmed.push_str(line.trim_end());
        trimmed.push('\n');
    }
    Cow::Owned(trimmed)
}

/// Splits a trimmed text at its blank lines; a fence is one part.
fn split_blocks(text: &str) -> Vec<&str> {
    let mut blocks = Vec::new();
    let mut block: Option<(usize, usize)> = None;
    let mut fence: Option<&str> = None;
    let mut next = 0;
    for line in text.lines() {
        let (start, end) = (next, next + line.len());
        next = end + 1;
        let content = line.trim_start();
        match fence {
            Some(mark) if content.starts_with(mark) => fence = None,
            Some(_) => {}
            None => fence = ["```", "~~~"].into_iter().find(|mark| content.starts_with(mark)),
        }
        if fence.is_none() && line.is_empty() {
            blocks.extend(block.take().map(|(start, end)| &text[start..end]));
        } else {
            block = Some((block.map_or(start, |(start, _)| start), end));
        }
    }
    blocks.extend(block.map(|(start, end)| &text[start..end]));
    blocks
}
