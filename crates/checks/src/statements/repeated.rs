//! Passages that two texts share, word for word or nearly.
//!
//! A whole text that is the same in two places is delivered once ([`crate::repetition`]). What a client loads by itself it
//! loads twice, and a part of a text is never dropped.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash, Hasher};

use brief_dialects::GuidanceText;
use brief_syntax::markdown::Prose;
use brief_syntax::render::path_below;
use brief_syntax::text::format_count;
use brief_syntax::{Diagnostic, Root, Span, rules};

use super::TextDemands;
use super::meetings::Meetings;
use crate::words::split_words;
use brief_engine::estimate_tokens;
use brief_engine::repetition::count_common;

/// The number of words from which on a passage counts.
const FEWEST_WORDS: usize = 8;

/// The number of words in a row that are compared.
const SHINGLE: usize = 3;

/// The number of hashes that stand for a passage when others like it are looked for.
const SKETCH: usize = 6;

/// The part of their words in a row that two passages share, in percent, if they say the same.
const ALIKE: usize = 70;

/// The cost from which on a repetition is reported, in tokens.
const FEWEST_TOKENS: usize = 100;

/// The same for the main texts of two clients, which often say the same on purpose.
const FEWEST_OF_MAINS: usize = 1000;

/// The limit for passages with a common hash; more are a phrase that all texts have.
const MOST_ALIKE: usize = 40;

/// A passage as it is compared.
#[derive(Debug)]
pub(super) struct PassagePrint {
    span: Span,
    tokens: usize,
    /// The hashes of its words in a row, sorted.
    shingles: Vec<u64>,
}

impl PassagePrint {
    fn is_like(&self, other: &PassagePrint) -> bool {
        let shared = count_common(&self.shingles, &other.shingles);
        let all = self.shingles.len() + other.shingles.len() - shared;
        shared * 100 >= all * ALIKE
    }
}

/// Reads the passages of a text.
pub(super) fn passage_prints(text: &GuidanceText<'_>, prose: &Prose) -> Vec<PassagePrint> {
    let print = |passage: &brief_syntax::markdown::Passage| {
        let lower = passage.text.to_lowercase();
        let words: Vec<&str> = lower
            .split(|letter: char| !letter.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect();
        if words.len() < FEWEST_WORDS {
            return None;
        }
        let hash = |words: &[&str]| {
            let mut hasher = DefaultHasher::new();
            words.hash(&mut hasher);
            hasher.finish()
        };
        let shingles: BTreeSet<u64> = words.windows(SHINGLE).map(hash).collect();
        let inner = passage.source_span(0, passage.text.len());
        Some(PassagePrint {
            span: text.source_span(inner.start, inner.end),
            tokens: estimate_tokens(&passage.text),
            shingles: shingles.into_iter().collect(),
        })
    };
    prose.passages().filter_map(print).collect()
}

/// The passages that two texts share.
#[derive(Debug)]
pub(super) struct SharedPassages {
    left: usize,
    right: usize,
    tokens: usize,
    /// The passages of the right one, by their index, and the first of the left one.
    passages: Vec<usize>,
    first: usize,
}

/// Finds the pairs of texts that share enough.
pub(super) fn find_shared_passages(texts: &[TextDemands]) -> Vec<SharedPassages> {
    let mut by_hash: HashMap<u64, Vec<(usize, usize)>> = HashMap::new();
    for (index, text) in texts.iter().enumerate() {
        for (place, print) in text.prints.iter().enumerate() {
            for &hash in print.shingles.iter().take(SKETCH) {
                by_hash.entry(hash).or_default().push((index, place));
            }
        }
    }
    let mut found: BTreeMap<(usize, usize), BTreeMap<usize, usize>> = BTreeMap::new();
    for alike in by_hash.values().filter(|alike| (2..=MOST_ALIKE).contains(&alike.len())) {
        for (at, &(left, first)) in alike.iter().enumerate() {
            for &(right, second) in &alike[at + 1..] {
                if left != right && texts[left].real != texts[right].real {
                    let known = found.entry((left, right)).or_default();
                    if !known.contains_key(&second)
                        && texts[left].prints[first].is_like(&texts[right].prints[second])
                    {
                        known.insert(second, first);
                    }
                }
            }
        }
    }
    let shared = found.into_iter().filter_map(|((left, right), passages)| {
        let tokens = passages.keys().map(|&place| texts[right].prints[place].tokens).sum();
        let first = *passages.values().next()?;
        let passages = passages.into_keys().collect();
        Some(SharedPassages { left, right, tokens, passages, first })
    });
    let least = |shared: &SharedPassages| {
        let names = [shared.left, shared.right].map(|at| texts[at].path().file_name());
        let is_main = |name: Option<&OsStr>| {
            name.and_then(OsStr::to_str).is_some_and(|name| MAINS.contains(&name))
        };
        let is_of_two = names[0] != names[1] && names.into_iter().all(is_main);
        if is_of_two { FEWEST_OF_MAINS } else { FEWEST_TOKENS }
    };
    shared.filter(|shared| shared.tokens >= least(shared)).collect()
}

/// The main texts of clients.
const MAINS: [&str; 9] = split_words(
    "AGENTS.md CLAUDE.md GEMINI.md QWEN.md WARP.md copilot-instructions.md .cursorrules \
     .windsurfrules .clinerules",
);

/// Reports the shared passages of texts that one client loads.
pub(super) fn check_repetitions(
    texts: &[TextDemands],
    pairs: &[SharedPassages],
    meetings: &Meetings<'_>,
    root: &Root,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut reported = BTreeSet::new();
    for shared in pairs {
        let (left, right) = (&texts[shared.left], &texts[shared.right]);
        let Some(meeting) =
            meetings.of_texts(left, right).filter(|meeting| !meeting.clients.is_empty())
        else {
            continue;
        };
        // One finding for each text; the others are the same passages again.
        if !reported.insert(shared.right) {
            continue;
        }
        let first = &right.prints[shared.passages[0]];
        let line = left.source.line_number(left.prints[shared.first].span.start);
        let message = format!(
            "duplicates ~{} tokens of {}:{line}, in {} from here on; {}",
            shared.tokens,
            path_below(root.path(), left.path()),
            format_count(shared.passages.len(), "passage"),
            meeting.shown,
        );
        let help = "keep the text in one file, and import or link it from the other";
        found.push(
            Diagnostic::new(rules::guidance::REPEATED_TEXT, &right.source, first.span, message)
                .with_help(help),
        );
    }
    found
}
