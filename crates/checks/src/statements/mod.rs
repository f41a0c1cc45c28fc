//! The demands of the texts of a project, held against each other: demands that cannot both be followed, passages
//! that are said twice, and more instructions at once than are followed.
//!
//! Only texts that meet are compared: both active for one file, as the engine resolves it. The tree of files is asked only
//! when there is something to compare.

mod copies;
mod descriptions;
mod grammar;
mod meetings;
mod repeated;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_dialects::GuidanceText;
use brief_syntax::markdown::{Passage, ProseSection};
use brief_syntax::render::path_below;
use brief_syntax::{Diagnostic, Root, Severity, Source, Span, rules};
use brief_system::System;

use self::grammar::{Demand, Topic, parse_demands, read_command_demand};
use self::meetings::{HeaviestBriefing, Meeting, Meetings};
use self::repeated::PassagePrint;
use crate::audience::Audience;
use crate::texts::ReadText;
use crate::words::split_words;
use brief_engine::Catalog;

/// The number of instructions in one briefing from which on models leave some out.
const MOST_INSTRUCTIONS: usize = 150;

/// The limit for demands on one topic that are compared with each other.
const MOST_COMPARED: usize = 200;

/// The limit for contradictions in one project; more are one mistake.
const MOST_REPORTED: usize = 50;

/// The words of one text that count here.
#[derive(Debug)]
pub(crate) struct TextDemands {
    source: Arc<Source>,
    /// The file itself, whatever links lead to it.
    real: PathBuf,
    /// The first line of an entry; `None` for a file.
    line: Option<usize>,
    demands: Vec<StatedDemand>,
    instructions: usize,
    prints: Vec<PassagePrint>,
}

impl TextDemands {
    fn path(&self) -> &Path {
        self.source.path()
    }
}

/// A demand where it stands.
#[derive(Debug)]
struct StatedDemand {
    demand: Demand,
    span: Span,
    words: String,
    /// The languages and parts of a project that it is about.
    qualifiers: BTreeSet<String>,
    /// The headings above it that narrow it.
    section: Vec<String>,
}

impl StatedDemand {
    fn is_comparable(&self, other: &StatedDemand) -> bool {
        self.qualifiers == other.qualifiers && self.section == other.section
    }
}

/// The texts of a project, as they are read.
#[derive(Debug, Default)]
pub(crate) struct ProjectDemands {
    texts: Vec<TextDemands>,
}

impl ProjectDemands {
    pub(crate) fn add_text(&mut self, read: &ReadText<'_>, audience: Audience) {
        let ReadText { text, real, prose } = read;
        if audience != Audience::Here {
            return;
        }
        let mut said = TextDemands {
            source: Arc::clone(text.source),
            real: real.to_path_buf(),
            line: text.entry.map(|(_, line)| line),
            demands: Vec::new(),
            instructions: 0,
            prints: repeated::passage_prints(text, prose),
        };
        let tagged = tagged_examples(text.body());
        let is_tagged = |place: usize| tagged.iter().any(|span| span.range().contains(&place));
        for section in &prose.sections {
            let is_example = is_bad_example(&section.headings);
            for passage in &section.passages {
                let is_example = is_example || is_tagged(passage.source_start());
                said.add_passage(text, passage, section, is_example);
            }
            for block in section.blocks.iter().filter(|block| is_shell(&block.info)) {
                if !is_example && !is_tagged(block.content.start) {
                    said.add_block(text, block.content, &section.headings);
                }
            }
        }
        self.texts.push(said);
    }

    /// Compares the texts that meet.
    pub(crate) fn check_demands(
        &self,
        catalog: &Catalog,
        system: &dyn System,
        root: &Root,
    ) -> Vec<Diagnostic> {
        let mut found = descriptions::check_descriptions(catalog, root);
        found.extend(copies::check_copies(catalog, system, root));
        let contradictions = self.find_contradictions();
        let repetitions = repeated::find_shared_passages(&self.texts);
        let instructions: usize = self.texts.iter().map(|text| text.instructions).sum();
        if contradictions.is_empty() && repetitions.is_empty() && instructions <= MOST_INSTRUCTIONS
        {
            return found;
        }
        let Some(meetings) = Meetings::from_catalog(catalog, system, root) else { return found };
        let mut reported: BTreeSet<(usize, usize, &Topic)> = BTreeSet::new();
        for (left, right, topic, first, second) in contradictions {
            if found.len() >= MOST_REPORTED {
                break;
            }
            let (one, other) = (&self.texts[left], &self.texts[right]);
            let Some(meeting) = meetings.of_texts(one, other) else { continue };
            // A narrower text may set something else for its files, but cannot lift a ban.
            let is_ban = first.demand.is_ban || second.demand.is_ban;
            if (!is_ban && !meeting.is_alike) || !reported.insert((left, right, topic)) {
                continue;
            }
            found.push(contradiction_diagnostic(root, one, other, (first, second), &meeting));
        }
        found.extend(repeated::check_repetitions(&self.texts, &repetitions, &meetings, root));
        if instructions > MOST_INSTRUCTIONS {
            found.extend(self.too_many(&meetings));
        }
        found
    }

    /// Returns the pairs of demands that contradict each other.
    fn find_contradictions(&self) -> Vec<(usize, usize, &Topic, &StatedDemand, &StatedDemand)> {
        let mut by_topic: BTreeMap<&Topic, Vec<(usize, &StatedDemand)>> = BTreeMap::new();
        for (index, text) in self.texts.iter().enumerate() {
            for said in &text.demands {
                by_topic.entry(&said.demand.topic).or_default().push((index, said));
            }
        }
        let mut found = Vec::new();
        for (topic, mut all) in by_topic {
            all.truncate(MOST_COMPARED);
            for (place, (left, first)) in all.iter().enumerate() {
                for (right, second) in &all[place + 1..] {
                    if first.demand.contradicts(&second.demand) && first.is_comparable(second) {
                        found.push((*left, *right, topic, *first, *second));
                    }
                }
            }
        }
        found
    }

    /// Reports a briefing with more instructions than models follow.
    fn too_many(&self, meetings: &Meetings<'_>) -> Option<Diagnostic> {
        let HeaviestBriefing { file, client, counts } = meetings.find_heaviest(&self.texts)?;
        let sum: usize = counts.iter().map(|(_, count)| count).sum();
        if sum <= MOST_INSTRUCTIONS {
            return None;
        }
        let (largest, own) = counts.iter().max_by_key(|(_, count)| *count)?;
        let source = &self.texts[*largest].source;
        let texts = counts.iter().filter(|(_, count)| *count > 0).count();
        let message = format!(
            "{client} gets {sum} instructions at once for `{file}`, from {}; {own} of them are in this file",
            brief_syntax::text::format_count(texts, "item"),
        );
        let help = "move guidance for only some files into items with patterns, and rarely needed guidance into a skill";
        let span =
            Span::empty_at(self.texts[*largest].demands.first().map_or(0, |said| said.span.start));
        Some(
            Diagnostic::new(rules::guidance::TOO_MANY_INSTRUCTIONS, source, span, message)
                .with_help(help),
        )
    }
}

fn is_shell(info: &str) -> bool {
    let language = info.split([' ', ',', '{']).next().unwrap_or_default().to_ascii_lowercase();
    ["sh", "bash", "shell", "zsh", "console"].contains(&language.as_str())
}

impl TextDemands {
    fn add_passage(
        &mut self,
        text: &GuidanceText<'_>,
        passage: &Passage,
        section: &ProseSection,
        is_example: bool,
    ) {
        for (start, sentence) in passage.sentences() {
            // A comment behind code is about that line.
            let is_comment = start > 0 && is_comment(sentence);
            self.instructions += usize::from(!passage.is_heading && is_instruction(sentence));
            if is_example || is_comment {
                continue;
            }
            let lead = sentence.len() - sentence.trim_start().len();
            let words = sentence.trim();
            let inner = passage.source_span(start + lead, start + lead + words.len());
            for demand in parse_demands(passage, sentence) {
                self.demands.push(StatedDemand {
                    demand,
                    span: text.source_span(inner.start, inner.end),
                    words: words.trim_end_matches(['.', ';', ':', '!']).to_owned(),
                    qualifiers: collect_qualifiers(&section.headings, words),
                    section: narrowing_headings(&section.headings),
                });
            }
        }
    }

    fn add_block(&mut self, text: &GuidanceText<'_>, content: Span, headings: &[String]) {
        let code = text.body().get(content.range()).unwrap_or_default();
        let mut start = content.start;
        for line in code.split_inclusive('\n') {
            let begin = start;
            start += line.len();
            let words = line.trim();
            let words = words.strip_prefix("$ ").unwrap_or(words);
            // A comment may say anything about the command below it.
            if words.starts_with('#') {
                return;
            }
            let Some(demand) = read_command_demand(words).filter(|_| !words.contains('#')) else {
                continue;
            };
            if self.demands.iter().any(|said| said.demand == demand) {
                continue;
            }
            let at = begin + line.find(words).unwrap_or(0);
            self.demands.push(StatedDemand {
                demand,
                span: text.source_span(at, at + words.len()),
                words: words.to_owned(),
                qualifiers: collect_qualifiers(headings, ""),
                section: narrowing_headings(headings),
            });
        }
    }
}

/// Returns whether a sentence is a comment of a programming language.
fn is_comment(sentence: &str) -> bool {
    ["//", "# ", "-- ", "/*", "<!--"].iter().any(|mark| sentence.trim_start().starts_with(mark))
}

/// Tags around what shows how something is done, or should not be.
const EXAMPLE_TAGS: [&str; 8] = split_words(
    "example examples bad-example bad_example incorrect invalid anti-pattern good-example",
);

/// Returns the parts of a text between lines with `<example …>` and `</example>`.
fn tagged_examples(body: &str) -> Vec<Span> {
    let mut found = Vec::new();
    let mut open: Option<(&str, usize)> = None;
    let mut start = 0;
    for line in body.split_inclusive('\n') {
        let (begin, words) = (start, line.trim());
        start += line.len();
        let Some(tag) = words.strip_prefix('<') else { continue };
        match open {
            Some((name, first)) => {
                let rest = tag.strip_prefix('/').and_then(|tag| tag.strip_prefix(name));
                if rest.is_some_and(|rest| rest.starts_with('>')) {
                    found.push(Span::new(first, begin));
                    open = None;
                }
            }
            None => {
                let name = tag.split([' ', '>']).next().unwrap_or_default();
                open = EXAMPLE_TAGS.contains(&name).then_some((name, start));
            }
        }
    }
    found
}

/// Returns whether headings announce what should not be done, or one case of many.
fn is_bad_example(headings: &[String]) -> bool {
    const WORDS: [&str; 11] = split_words(
        "example bad wrong don't anti-pattern avoid never not legacy migration template",
    );
    headings.iter().any(|heading| {
        let lower = heading.to_lowercase();
        lower
            .split(|letter: char| !letter.is_alphanumeric() && letter != '-' && letter != '\'')
            .any(|part| {
                WORDS.contains(&part)
                    || part.strip_suffix('s').is_some_and(|part| WORDS.contains(&part))
            })
    })
}

/// Headings that do not narrow what stands below them, word by word.
const GENERAL: [&str; 64] = split_words(
    "code coding style styles conventions convention setup commands command testing tests test \
     guidelines guideline rules rule development general important formatting format package \
     management manager build building standards standard workflow instructions project \
     repository and the for best practices naming quality overview quick start key core \
     principles critical requirements essential agents ai agent notes common dependencies \
     install installation tooling tools guide instruction do dos & linting",
);

/// Returns the headings that narrow what stands below them.
fn narrowing_headings(headings: &[String]) -> Vec<String> {
    let is_general = |heading: &&String| {
        let lower = heading.to_lowercase();
        lower.split_whitespace().all(|word| {
            let word = word.trim_matches(|letter: char| !letter.is_alphanumeric() && letter != '&');
            word.is_empty()
                || GENERAL.contains(&word)
                || word.chars().all(|letter| letter.is_ascii_digit())
        })
    };
    // The title of a text names the project.
    headings
        .iter()
        .skip(1)
        .filter(|heading| !is_general(heading))
        .map(|heading| heading.to_lowercase())
        .collect()
}

/// Languages and parts of projects that a demand may be about.
const PARTS: [&str; 52] = split_words(
    "python typescript javascript ts js tsx jsx rust go golang java kotlin swift ruby php c++ \
     c# css scss html sql yaml json markdown shell bash react vue svelte angular frontend \
     front-end backend back-end server client docs documentation api database e2e integration \
     unit cli mobile ios android web graphql terraform docker ci",
);

fn collect_qualifiers(headings: &[String], words: &str) -> BTreeSet<String> {
    // A command names programs, and not what it is about; a path does.
    let spoken: Vec<&str> = words
        .split('`')
        .enumerate()
        .filter(|(at, part)| at % 2 == 0 || part.contains('/'))
        .map(|(_, part)| part)
        .collect();
    let all = headings.iter().map(String::as_str).chain(spoken);
    let split = |text: &str| -> Vec<String> {
        let lower = text.to_lowercase();
        let is_mark = |letter: char| letter.is_whitespace() || ",()`*:;\"".contains(letter);
        lower.split(is_mark).map(|word| word.trim_end_matches(['.', '/']).to_owned()).collect()
    };
    let is_part = |word: &String| {
        PARTS.contains(&word.as_str())
            || word.contains('/')
            || word.starts_with('.') && word.len() > 1
    };
    all.flat_map(split).filter(is_part).collect()
}

/// Words that begin an instruction.
const IMPERATIVES: [&str; 58] = split_words(
    "use add write create run include avoid never always do don't ensure keep make follow \
     prefer check test update read see import export define place put name document handle \
     return commit verify review remove delete move set call wrap throw mock provide implement \
     apply maintain validate limit treat start stop ask report must should only no consider \
     leave",
);

fn is_instruction(sentence: &str) -> bool {
    let lower = sentence.trim().to_lowercase();
    let behind = lower.split_once(": ").filter(|(label, _)| label.split_whitespace().count() <= 3);
    let begins = |text: &str| {
        let first = text
            .split(|letter: char| letter.is_whitespace() || letter == ',')
            .next()
            .unwrap_or_default();
        IMPERATIVES.contains(&first)
    };
    begins(&lower)
        || behind.is_some_and(|(_, rest)| begins(rest))
        || [" must ", " should ", " never ", " always ", " do not ", " don't "]
            .iter()
            .any(|word| lower.contains(word))
}

fn contradiction_diagnostic(
    root: &Root,
    one: &TextDemands,
    other: &TextDemands,
    (first, second): (&StatedDemand, &StatedDemand),
    meeting: &Meeting,
) -> Diagnostic {
    let line = one.source.line_number(first.span.start);
    let place = if one.path() == other.path() {
        format!("line {line}")
    } else {
        format!("{}:{line}", path_below(root.path(), one.path()))
    };
    let who =
        if one.path() == other.path() { String::new() } else { format!("; {}", meeting.shown) };
    let noun = first.demand.topic.noun();
    let message = format!(
        "`{}` contradicts `{}` in {place} ({noun}){who}",
        strip_backticks(&second.words),
        strip_backticks(&first.words)
    );
    let found =
        Diagnostic::new(rules::guidance::CONTRADICTION, &other.source, second.span, message)
            .with_help("keep one of them, or say which files each one applies to");
    if meeting.is_loaded { found } else { found.with_severity(Severity::Note) }
}

/// Returns words that can stand between backticks.
fn strip_backticks(words: &str) -> String {
    words.replace('`', "")
}

#[cfg(test)]
mod tests;
