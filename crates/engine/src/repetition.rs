//! The same text is delivered once, however many places it stands in.
//!
//! It stays where it is most specific, because what is general goes first when there is no room.
//! What the client loads by itself is not delivered at all, wherever else it stands.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{Hash, Hasher};

use brief_dialects::{LeftOut, Origin, Reason, Resolution, State};
use brief_syntax::text::hash_lines;

/// Leaves out what is said already, also by `client` itself.
pub(crate) fn remove_repetitions<'s>(answer: &mut Resolution<'s>, client: Option<&'s str>) {
    let mut loaded: HashMap<Text<'s>, Origin<'s>> = HashMap::new();
    for LeftOut { dialect, path, line, content, reason, .. } in &answer.left_out {
        if matches!(reason, Reason::LoadedByClient { .. }) && !content.trim().is_empty() {
            let origin = Origin { dialect, path, line: *line };
            loaded.entry(Text::from_content(content)).or_insert(origin);
        }
    }
    // From the back: the most specific place is found first.
    let mut delivered: HashMap<Text<'s>, usize> = HashMap::with_capacity(answer.items.len());
    let mut reasons: HashMap<usize, Reason<'s>> = HashMap::new();
    let mut read_twice: Vec<usize> = Vec::new();
    for index in (0..answer.items.len()).rev() {
        let applied = &answer.items[index];
        if applied.item.state != State::Active || applied.item.content.trim().is_empty() {
            continue;
        }
        let text = Text::from_content(applied.item.content);
        if let (Some(client), Some(&origin)) = (client, loaded.get(&text)) {
            // A file of one format that a client's own file imports is read as both, and is one item.
            if (origin.path, origin.line) == (applied.item.path, applied.item.line) {
                read_twice.push(index);
            } else {
                reasons.insert(index, Reason::SameTextLoaded { client, origin });
            }
            continue;
        }
        match delivered.entry(text) {
            Entry::Vacant(place) => {
                place.insert(index);
            }
            Entry::Occupied(mut place) => {
                let kept = *place.get();
                let (one, other) = (answer.items[kept].origin(), applied.origin());
                if (one.path, one.line) == (other.path, other.line) {
                    read_twice.push(index);
                    continue;
                }
                // Of equally general places the first one counts.
                let level = answer.items[index].item.level;
                let (kept, repeated) = if answer.items[kept].item.level == level {
                    place.insert(index);
                    (index, kept)
                } else {
                    (kept, index)
                };
                reasons.insert(repeated, Reason::SameText { origin: answer.items[kept].origin() });
                // The longer list is kept: there may be thousands of places.
                let mut also = std::mem::take(&mut answer.items[repeated].also);
                also.push(answer.items[repeated].origin());
                also.append(&mut answer.items[kept].also);
                answer.items[kept].also = also;
            }
        }
    }
    if reasons.is_empty() && read_twice.is_empty() {
        return;
    }
    let mut kept = Vec::with_capacity(answer.items.len());
    let mut out = Vec::new();
    for (index, applied) in std::mem::take(&mut answer.items).into_iter().enumerate() {
        match reasons.remove(&index) {
            None if read_twice.contains(&index) => {}
            None => kept.push(applied),
            Some(reason) => out.push(applied.leave_out(reason)),
        }
    }
    for applied in &mut kept {
        applied.also.sort_by_key(|origin| (origin.path, origin.line));
    }
    // A repetition of something that was itself found to be one names the place that is left.
    let places: HashMap<(&std::path::Path, usize), Origin<'s>> = kept
        .iter()
        .flat_map(|applied| {
            let origin = applied.origin();
            applied.also.iter().map(move |also| ((also.path, also.line), origin))
        })
        .collect();
    for left_out in &mut out {
        if let Reason::SameText { origin } = &mut left_out.reason
            && let Some(&delivered) = places.get(&(left_out.path, left_out.line))
        {
            *origin = delivered;
        }
    }
    answer.items = kept;
    answer.left_out.append(&mut out);
    answer.left_out.sort_by_key(|left_out| left_out.level);
}

/// Returns how many values two sorted lists have in common.
pub fn count_common<T: Ord>(left: &[T], right: &[T]) -> usize {
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    let mut common = 0;
    while let (Some(one), Some(other)) = (left.peek(), right.peek()) {
        let order = one.cmp(other);
        common += usize::from(order.is_eq());
        if order.is_le() {
            left.next();
        }
        if order.is_ge() {
            right.next();
        }
    }
    common
}

/// A text as a reader sees it: blank lines around it and blanks at the ends of lines make no
/// difference.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'s> {
    content: &'s str,
    /// Taken once: one text is looked up in a table for each client, and hashing it was half of `brief tokens`.
    hash: u64,
}

impl<'s> Text<'s> {
    pub(crate) fn from_content(content: &'s str) -> Text<'s> {
        let content = content.trim_start_matches(['\n', '\r']).trim_end();
        Text { content, hash: hash_lines(content) }
    }

    fn lines(&self) -> impl Iterator<Item = &'s str> {
        self.content.lines().map(str::trim_end)
    }
}

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && (self.content == other.content || self.lines().eq(other.lines()))
    }
}

impl Eq for Text<'_> {}

impl Hash for Text<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}
