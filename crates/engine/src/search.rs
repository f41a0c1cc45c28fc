//! Full-text search over all items of a project or of its sources, ranked.
//!
//! The ranking is BM25 over the words of an item's name, description, path and text. A word in a name says
//! more than one in a text, so it counts more. The index is built once for a catalog and answers from memory.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_syntax::render::path_below;
use serde::Serialize;

use crate::briefing::{Briefing, PlaceReport, first_line, place_below};

/// The weights of a word by where it stands.
const IN_NAME: f32 = 4.0;
const IN_DESCRIPTION: f32 = 2.0;
const IN_PATH: f32 = 1.0;
const IN_TEXT: f32 = 1.0;

/// The usual constants of BM25: the saturation of repeated words, and the weight of a text's length.
const SATURATION: f32 = 1.2;
const LENGTH_WEIGHT: f32 = 0.75;

/// The limit for the characters of an excerpt.
const EXCERPT: usize = 200;

/// The limit for the different words of a query.
const QUERY_WORDS: usize = 32;

/// The words of all items of a project.
#[derive(Debug, Default)]
pub struct SearchIndex {
    root: PathBuf,
    entries: Vec<SearchEntry>,
    /// The entries with each word, in order, each with the weight of the word in it.
    words: HashMap<Box<str>, Vec<(u32, f32)>>,
    mean_length: f32,
}

#[derive(Debug)]
struct SearchEntry {
    dialect: &'static str,
    kind: &'static str,
    name: String,
    path: Arc<Path>,
    line: usize,
    state: &'static str,
    description: String,
    text: String,
    length: f32,
}

/// An item that was found.
#[derive(Debug, Clone, Serialize)]
pub struct SearchHit<'i> {
    /// The dialect that it is written in.
    #[serde(rename = "format")]
    pub dialect: &'static str,
    /// Its kind, such as `rule` or `decision`.
    pub kind: &'static str,
    /// Its name, or its place in its file.
    pub name: &'i str,
    source: PlaceReport<'i>,
    /// Its state: active, listed or manual.
    pub state: &'static str,
    /// Its description, where the dialect has such a field.
    pub description: &'i str,
    /// Its rank; a higher one is better. Ranks of different queries cannot be compared.
    pub score: f32,
    /// The line of its text that has most of the words.
    pub excerpt: Cow<'i, str>,
}

impl SearchHit<'_> {
    /// Returns the file it stands in, below the root where it can be, and the line.
    pub fn path_and_line(&self) -> (&str, usize) {
        (&self.source.path, self.source.line)
    }

    /// Returns the place as people read it, relative to the root.
    pub fn location(&self) -> String {
        self.source.to_string()
    }
}

/// The answer to a query, as JSON.
#[derive(Debug, Serialize)]
pub struct SearchReport<'i> {
    /// The query.
    pub query: &'i str,
    /// The items that have any of its words, best first.
    pub items: Vec<SearchHit<'i>>,
}

/// A text that is not guidance of a project: an item of a source.
#[derive(Debug, Clone)]
pub struct SearchText<'t> {
    /// The dialect that it is written in.
    pub dialect: &'static str,
    /// Its kind, such as `rule` or `bundle`.
    pub kind: &'static str,
    /// Its name.
    pub name: &'t str,
    /// Its file.
    pub path: &'t Path,
    /// Its description.
    pub description: &'t str,
    /// Its text.
    pub text: &'t str,
}

impl SearchIndex {
    /// Indexes texts, whose paths are below `root`.
    pub fn of_texts<'t>(
        root: &Path,
        texts: impl IntoIterator<Item = SearchText<'t>>,
    ) -> SearchIndex {
        let mut index = SearchIndex { root: root.to_owned(), ..SearchIndex::default() };
        for text in texts {
            let SearchText { dialect, kind, name, path, description, text } = text;
            index.add_entry(SearchEntry {
                dialect,
                kind,
                name: name.to_owned(),
                path: Arc::from(path),
                line: 1,
                state: "manual",
                description: description.to_owned(),
                text: text.to_owned(),
                length: 0.0,
            });
        }
        index.with_mean_length()
    }

    /// Indexes the items and decisions of a briefing about everything.
    pub fn from_briefing(briefing: &Briefing) -> SearchIndex {
        let mut index = SearchIndex { root: briefing.root().to_owned(), ..SearchIndex::default() };
        for item in briefing.items() {
            index.add_entry(SearchEntry {
                dialect: item.dialect,
                kind: item.kind,
                name: item.name.clone(),
                path: Arc::clone(&item.path),
                line: item.line,
                state: item.state.as_str(),
                description: item.description.clone(),
                text: item.content.clone(),
                length: 0.0,
            });
        }
        for bound in &briefing.decisions {
            let decision = &bound.decision;
            let mut text = format!("{}\n{}", decision.decision.trim_end(), decision.rationale);
            for alternative in &decision.alternatives {
                text.push_str(&format!(
                    "\n{}: {}",
                    alternative.option, alternative.reason_rejected
                ));
            }
            index.add_entry(SearchEntry {
                dialect: brief_dialects::structured::NAME,
                kind: "decision",
                name: first_line(&decision.decision).unwrap_or_default().to_owned(),
                path: Arc::clone(&bound.path),
                line: decision.line,
                state: "active",
                description: String::new(),
                text,
                length: 0.0,
            });
        }
        index.with_mean_length()
    }

    fn with_mean_length(mut self) -> SearchIndex {
        let total: f32 = self.entries.iter().map(|entry| entry.length).sum();
        self.mean_length = total / count_as_float(self.entries.len().max(1));
        self
    }

    fn add_entry(&mut self, mut entry: SearchEntry) {
        let number = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
        let path = path_below(&self.root, &entry.path).into_owned();
        let fields = [
            (entry.name.as_str(), IN_NAME),
            (&entry.description, IN_DESCRIPTION),
            (&path, IN_PATH),
            (&entry.text, IN_TEXT),
        ];
        for (text, weight) in fields {
            for word in split_words(text) {
                entry.length += weight;
                match self.words.get_mut(word.as_ref()) {
                    Some(holders) => match holders.last_mut() {
                        Some((newest, sum)) if *newest == number => *sum += weight,
                        _ => holders.push((number, weight)),
                    },
                    None => {
                        self.words.insert(word.into(), vec![(number, weight)]);
                    }
                }
            }
        }
        self.entries.push(entry);
    }

    /// Returns the items with any word of the query, best first, at most `limit`.
    pub fn find_hits(&self, query: &str, limit: usize) -> Vec<SearchHit<'_>> {
        let asked: BTreeSet<Cow<'_, str>> = split_words(query).take(QUERY_WORDS).collect();
        let count = count_as_float(self.entries.len());
        let mut scores: HashMap<u32, f32> = HashMap::new();
        for list in asked.iter().filter_map(|word| self.words.get(word.as_ref())) {
            let holders = count_as_float(list.len());
            let rarity = (1.0 + (count - holders + 0.5) / (holders + 0.5)).ln();
            for &(number, weight) in list {
                let Some(entry) = self.entries.get(number as usize) else { continue };
                let length = entry.length / self.mean_length.max(1.0);
                let damping = SATURATION * (1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * length);
                *scores.entry(number).or_default() +=
                    rarity * weight * (SATURATION + 1.0) / (weight + damping);
            }
        }
        let mut found: Vec<(u32, f32)> = scores.into_iter().collect();
        found.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
        let hit = |(number, score): (u32, f32)| {
            let entry = self.entries.get(number as usize)?;
            Some(SearchHit {
                dialect: entry.dialect,
                kind: entry.kind,
                name: &entry.name,
                source: place_below(&self.root, &entry.path, entry.line),
                state: entry.state,
                description: &entry.description,
                score,
                excerpt: choose_excerpt(&entry.text, &asked),
            })
        };
        found.into_iter().take(limit).filter_map(hit).collect()
    }
}

/// Returns a count for a formula.
#[expect(
    clippy::cast_precision_loss,
    reason = "the ranks of 16 million items may be off by one part in as many"
)]
fn count_as_float(count: usize) -> f32 {
    count as f32
}

/// Splits a text into words: letters and digits in lower case, without the `s` of a plural.
fn split_words(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let runs = text.split(|letter: char| !letter.is_alphanumeric()).filter(|run| !run.is_empty());
    runs.map(|run| {
        let is_lower = run.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        // `İ` in lower case has a mark that would end the word of a question.
        let lower =
            || run.to_lowercase().chars().filter(|letter| letter.is_alphanumeric()).collect();
        let word = if is_lower { Cow::Borrowed(run) } else { Cow::Owned(lower()) };
        let is_plural = word.len() > 3 && word.ends_with('s') && !word.ends_with("ss");
        match word {
            Cow::Borrowed(word) if is_plural => Cow::Borrowed(&word[..word.len() - 1]),
            Cow::Owned(mut word) if is_plural => {
                word.pop();
                Cow::Owned(word)
            }
            word => word,
        }
    })
}

/// Returns the line with most of the words; the first of several, and the first line if none has any.
fn choose_excerpt<'t>(text: &'t str, asked: &BTreeSet<Cow<'_, str>>) -> Cow<'t, str> {
    let mut best = ("", 0);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let held: BTreeSet<Cow<'_, str>> =
            split_words(line).filter(|word| asked.contains(word)).collect();
        if best.0.is_empty() || held.len() > best.1 {
            best = (line, held.len());
        }
    }
    match best.0.char_indices().nth(EXCERPT) {
        Some((end, _)) => Cow::Owned(format!("{}…", &best.0[..end])),
        None => Cow::Borrowed(best.0),
    }
}

#[cfg(test)]
mod tests {
    use brief_system::MemorySystem;

    use super::*;
    use crate::Project;

    fn index() -> SearchIndex {
        let system = MemorySystem::new("/p")
            .with_file("CLAUDE.md", "Be brief.\nMigrations run at night, never by day.\n")
            .with_file(
                ".claude/skills/migrate/SKILL.md",
                "---\nname: migrate\ndescription: Changes the schema of the database\n---\nStep one.\n",
            )
            .with_file(
                "AGENTS.yaml",
                "context:\n  - content: Prices are cents.\ndecisions:\n  - {decision: Use PostgreSQL., rationale: One database for all.}\n",
            );
        let briefing = Project::open(&system, "/p").unwrap().everything().resolve();
        SearchIndex::from_briefing(&briefing)
    }

    #[test]
    fn the_best_comes_first_and_the_line_is_shown() {
        let index = index();
        let found = index.find_hits("database schema", 10);
        assert_eq!((found[0].name, found[0].kind), ("migrate", "skill"));
        assert_eq!((found[1].kind, found[1].name), ("decision", "Use PostgreSQL."));
        assert_eq!(found[1].excerpt, "One database for all.");
        assert!(found[0].score > found[1].score);
        let found = index.find_hits("Migration", 10);
        assert_eq!(found[0].excerpt, "Migrations run at night, never by day.");
        assert_eq!(found[0].location(), "CLAUDE.md:1");
        assert_eq!(index.find_hits("PRICE", 10)[0].excerpt, "Prices are cents.");
    }

    #[test]
    fn texts_that_are_no_guidance_are_found_too() {
        let text = |name, text| SearchText {
            dialect: "items",
            kind: "agent",
            name,
            path: Path::new("/s/agents/x.md"),
            description: "",
            text,
        };
        let index = SearchIndex::of_texts(
            Path::new("/s"),
            [text("reviewer", "Reads code."), text("other", "Asks the reviewer.")],
        );
        let found = index.find_hits("reviewer", 10);
        assert_eq!((found[0].name, found[1].name), ("reviewer", "other"));
        assert_eq!(found[0].location(), "agents/x.md:1");
    }

    #[test]
    fn nothing_is_found_for_other_words_and_a_limit_holds() {
        let index = index();
        assert!(index.find_hits("", 10).is_empty() && index.find_hits("zebra ?!", 10).is_empty());
        assert_eq!(index.find_hits("database prices migration", 1).len(), 1);
    }

    #[test]
    fn words_are_lower_case_without_a_plural() {
        let of = |text| split_words(text).collect::<Vec<_>>();
        assert_eq!(
            of("Run tests_of-Größen, class 42!"),
            ["run", "test", "of", "größen", "class", "42"]
        );
        assert_eq!(of("İzmir"), of(&of("İzmir")[0]));
    }

    /// R1: any text can be indexed and asked for, and what is in it is found.
    #[test]
    fn every_word_of_a_text_finds_it() {
        arbtest::arbtest(|unstructured| {
            let text: String = unstructured.arbitrary()?;
            let item = split_words(&text).next().map(Cow::into_owned);
            let system = MemorySystem::new("/p").with_file("CLAUDE.md", &text);
            let briefing = Project::open(&system, "/p").unwrap().everything().resolve();
            let index = SearchIndex::from_briefing(&briefing);
            let held = briefing.active.iter().any(|found| found.content.trim() == text.trim());
            if let Some(word) = item.filter(|_| held) {
                assert_eq!(index.find_hits(&word, 5).len(), 1, "{word:?} in {text:?}");
            }
            Ok(())
        })
        .budget_ms(500);
    }
}
