//! Which piece of the newer answer is which piece of the older one.
//!
//! A piece with a name of its own is known by it. Entries of a list have none, only a place that the
//! next insertion changes; they are known by their text, and one whose text was changed by how much of
//! it is left.

use std::collections::HashMap;
use std::path::Path;

use brief_dialects::{Name, State};

use super::ItemChangeKind;
use super::piece::DiffPiece;
use crate::repetition::{Text, count_common};

/// Pairs of entries whose texts are compared word by word; beyond it, places have to do.
const COMPARED: usize = 2_500;

/// The part of a text that must be left for it to count as the same one: half of the words of both.
const ALIKE: f64 = 0.5;

/// A change, with the piece before and after.
pub(super) type Pair<'c> = (ItemChangeKind, Option<DiffPiece<'c>>, Option<DiffPiece<'c>>);

/// Returns what is not the same in two answers.
pub(super) fn find_changed_pairs<'c>(
    before: Vec<DiffPiece<'c>>,
    after: Vec<DiffPiece<'c>>,
) -> Vec<Pair<'c>> {
    let matched = Matching::new(&before, &after).partners;
    let misplaced = find_misplaced(&before, &after, &matched);
    let mut after: Vec<Option<DiffPiece<'c>>> = after.into_iter().map(Some).collect();
    let mut found = Vec::new();
    for (index, old) in before.into_iter().enumerate() {
        let Some(new) = matched[index].and_then(|partner| after[partner].take()) else {
            found.push((ItemChangeKind::Removed, Some(old), None));
            continue;
        };
        let kind = if !same_text(&old, &new) {
            ItemChangeKind::Text
        } else if old.state != new.state {
            ItemChangeKind::State
        } else if piece_source(&old) != piece_source(&new) {
            ItemChangeKind::Moved
        } else if misplaced[index] {
            ItemChangeKind::Order
        } else {
            continue;
        };
        found.push((kind, Some(old), Some(new)));
    }
    found.extend(after.into_iter().flatten().map(|new| (ItemChangeKind::Added, None, Some(new))));
    found
}

type SourceOf<'c> = (&'static str, &'static str, &'c Path);

fn piece_source<'c>(piece: &DiffPiece<'c>) -> SourceOf<'c> {
    (piece.dialect, piece.kind, piece.path)
}

fn same_text(left: &DiffPiece<'_>, right: &DiffPiece<'_>) -> bool {
    Text::from_content(&left.text) == Text::from_content(&right.text)
        && Text::from_content(left.description) == Text::from_content(right.description)
}

struct Matching<'p, 'c> {
    before: &'p [DiffPiece<'c>],
    after: &'p [DiffPiece<'c>],
    /// For each old piece, the new one.
    partners: Vec<Option<usize>>,
    is_taken: Vec<bool>,
}

impl<'p, 'c> Matching<'p, 'c> {
    fn new(before: &'p [DiffPiece<'c>], after: &'p [DiffPiece<'c>]) -> Self {
        let (partners, is_taken) = (vec![None; before.len()], vec![false; after.len()]);
        let mut matching = Matching { before, after, partners, is_taken };
        matching.by_key(|piece| match piece.name {
            Name::Text(name) => Some((piece_source(piece), name)),
            _ => None,
        });
        matching.by_key(|piece| Some((piece_source(piece), piece_texts(piece))));
        matching.by_likeness();
        matching.by_key(|piece| match piece.name {
            Name::Entry { list, index } => Some((piece_source(piece), list, index)),
            _ => None,
        });
        // The same text from elsewhere.
        matching.by_key(|piece| Some(piece_texts(piece)));
        matching
    }

    /// Matches what has the same key, in order.
    fn by_key<K: std::hash::Hash + Eq>(&mut self, key: impl Fn(&'p DiffPiece<'c>) -> Option<K>) {
        let mut waiting: HashMap<K, Vec<usize>> = HashMap::new();
        for (index, piece) in self.after.iter().enumerate().rev() {
            if !self.is_taken[index]
                && let Some(key) = key(piece)
            {
                waiting.entry(key).or_default().push(index);
            }
        }
        for (index, piece) in self.before.iter().enumerate() {
            if self.partners[index].is_none()
                && let Some(partner) =
                    key(piece).and_then(|key| waiting.get_mut(&key)).and_then(Vec::pop)
            {
                self.set_partner(index, partner);
            }
        }
    }

    fn set_partner(&mut self, index: usize, partner: usize) {
        self.partners[index] = Some(partner);
        self.is_taken[partner] = true;
    }

    /// Matches entries of one list that have most words in common, the most alike first.
    fn by_likeness(&mut self) {
        let is_entry = |piece: &DiffPiece<'_>| matches!(piece.name, Name::Entry { .. });
        let old: Vec<usize> = (0..self.before.len())
            .filter(|&index| self.partners[index].is_none() && is_entry(&self.before[index]))
            .collect();
        let new: Vec<usize> = (0..self.after.len())
            .filter(|&index| !self.is_taken[index] && is_entry(&self.after[index]))
            .collect();
        if old.len() * new.len() > COMPARED {
            return;
        }
        let old_words: Vec<_> =
            old.iter().map(|&index| sorted_words(&self.before[index])).collect();
        let new_words: Vec<_> = new.iter().map(|&index| sorted_words(&self.after[index])).collect();
        let mut scores = Vec::new();
        for (&index, old) in old.iter().zip(&old_words) {
            for (&partner, new) in new.iter().zip(&new_words) {
                if piece_source(&self.before[index]) == piece_source(&self.after[partner]) {
                    scores.push((word_similarity(old, new), index, partner));
                }
            }
        }
        scores.retain(|&(score, ..)| score >= ALIKE);
        scores.sort_by(|left, right| right.0.total_cmp(&left.0));
        for (_, index, partner) in scores {
            if self.partners[index].is_none() && !self.is_taken[partner] {
                self.set_partner(index, partner);
            }
        }
    }
}

fn piece_texts<'p>(piece: &'p DiffPiece<'_>) -> (Text<'p>, Text<'p>) {
    (Text::from_content(&piece.text), Text::from_content(piece.description))
}

/// Returns the words of a piece, sorted.
fn sorted_words<'p>(piece: &'p DiffPiece<'_>) -> Vec<&'p str> {
    let mut words: Vec<&str> = piece.text.split_whitespace().collect();
    words.sort_unstable();
    words
}

/// Returns the part of the words of both that is in both.
#[expect(clippy::cast_precision_loss, reason = "no text has as many words as a float has digits")]
fn word_similarity(left: &[&str], right: &[&str]) -> f64 {
    let all = left.len() + right.len();
    2.0 * count_common(left, right) as f64 / all.max(1) as f64
}

/// Returns which of the old pieces in the briefing left their place among the others: all but the most
/// that kept their order.
fn find_misplaced(
    before: &[DiffPiece<'_>],
    after: &[DiffPiece<'_>],
    partners: &[Option<usize>],
) -> Vec<bool> {
    let is_in = |index: usize, partner: usize| {
        before[index].state == State::Active && after[partner].state == State::Active
    };
    let kept: Vec<(usize, usize)> = partners
        .iter()
        .enumerate()
        .filter_map(|(index, partner)| partner.map(|partner| (index, partner)))
        .filter(|&(index, partner)| is_in(index, partner))
        .collect();
    // The longest increasing run: for each length, the run that ends lowest.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = Vec::with_capacity(kept.len());
    for (place, &(_, partner)) in kept.iter().enumerate() {
        let length = ends.partition_point(|&end| kept[end].1 < partner);
        previous.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if length == ends.len() {
            ends.push(place);
        } else {
            ends[length] = place;
        }
    }
    let mut misplaced = vec![false; before.len()];
    for &(index, _) in &kept {
        misplaced[index] = true;
    }
    let mut place = ends.last().copied();
    while let Some(here) = place {
        misplaced[kept[here].0] = false;
        place = previous[here];
    }
    misplaced
}
