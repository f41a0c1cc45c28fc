//! The search for what one text names: passage by passage, and line by line in blocks of shell.

mod passages;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use brief_dialects::GuidanceText;
use brief_profiles::BUILTIN;
use brief_syntax::markdown::{CodeBlock, Passage};
use brief_syntax::{Span, rules};
use brief_system::paths::{cleaned_below, to_slashed};

use super::commands::{CommandName, CommandTarget, Runner, ShellDirectory, read_line};
use super::manifests::Lookup;
use super::{
    DefiningLine, Likelihood, ReferenceCheck, ReferenceKind, StaleReference, Trace, paths, tools,
    versions,
};
use crate::audience::Audience;
use crate::texts::ReadText;

/// The number of paths of one text that begin in one other directory and are surely meant to.
const MOVED_TOGETHER: usize = 3;

/// The search for references in one text.
pub(super) struct ReferenceSearch<'l, 'c> {
    check: &'l ReferenceCheck<'c>,
    text: &'l GuidanceText<'l>,
    /// Its file, with links followed.
    real: &'l Path,
    audience: Audience,
    /// The directory of the skill that it is in, `/`-separated below the root.
    own: Option<String>,
    headings: Vec<String>,
    /// Its directory, `/`-separated below the root.
    directory: String,
    names_tool: bool,
    names_csharp: bool,
    /// The names that were looked up.
    known: BTreeSet<String>,
    found: Vec<StaleReference>,
}

impl<'l, 'c> ReferenceSearch<'l, 'c> {
    /// Begins to search a text. `own` is the directory of the skill that it is in, `directory` its own one.
    pub(super) fn new(
        check: &'l ReferenceCheck<'c>,
        read: &'l ReadText<'_>,
        audience: Audience,
        own: Option<String>,
        directory: String,
    ) -> Self {
        let headings = read.prose.sections.iter().flat_map(|one| &one.headings).cloned();
        ReferenceSearch {
            check,
            text: &read.text,
            real: read.real,
            audience,
            own,
            headings: headings.collect(),
            directory,
            names_tool: audience == Audience::Here && tools::may_name_tool(read.text.body()),
            names_csharp: audience == Audience::Here && versions::may_name_csharp(read.text.body()),
            known: BTreeSet::new(),
            found: Vec::new(),
        }
    }

    /// Returns what was found, once all was looked at.
    pub(super) fn into_found(mut self) -> Vec<StaleReference> {
        self.mark_moved();
        self.found
    }

    fn span(&self, start: usize, end: usize) -> Span {
        self.text.source_span(start, end)
    }

    /// Looks at the commands of a block of shell.
    pub(super) fn search_block(&mut self, body: &str, block: &CodeBlock) {
        let code = body.get(block.content.range()).unwrap_or_default();
        let language =
            block.info.split([' ', ',', '{']).next().unwrap_or_default().to_ascii_lowercase();
        let is_shell =
            ["sh", "bash", "shell", "zsh", "console", "terminal", "shell-session", "fish"]
                .contains(&language.as_str());
        let first = code.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        if !(is_shell || language.is_empty() && first.trim_start().starts_with("$ ")) {
            return;
        }
        let has_prompts = code.lines().any(|line| line.trim_start().starts_with("$ "));
        let mention = if self.is_of_readers(code) { Mention::OfAnother } else { Mention::Plain };
        let mut directory = ShellDirectory::new();
        let mut start = block.content.start;
        let mut is_wrong = false;
        for line in code.split_inclusive('\n') {
            let begin = start;
            start += line.len();
            let indent = line.len() - line.trim_start().len();
            let mut shown = line.trim();
            let mut offset = begin + indent;
            if let Some(comment) = shown.strip_prefix('#') {
                is_wrong = paths::is_wrong_way(comment);
                continue;
            }
            if let Some(command) = shown.strip_prefix("$ ") {
                offset += 2;
                shown = command;
            } else if has_prompts || shown.ends_with(':') {
                continue;
            }
            if is_wrong || paths::is_wrong_way(shown) {
                continue;
            }
            for command in read_line(shown, &mut directory) {
                self.check_command(&command, command.directory.as_deref(), offset, mention);
            }
            if let Some(place) = directory.known_directory() {
                self.search_words(shown, offset, &place);
            }
        }
    }

    /// Returns whether a block of a skill shows commands of a project: some run nothing of the skill, and no word of the block
    /// is a file of it.
    fn is_of_readers(&self, code: &str) -> bool {
        let Some(own) = self.own.as_ref().filter(|_| self.audience != Audience::Here) else {
            return false;
        };
        let words = |line: &'_ str| -> Vec<String> {
            line.split_whitespace().map(|word| word.trim_matches(['"', '\'']).to_owned()).collect()
        };
        let files = &self.check.manifests.files.files;
        let exists =
            |word: &String| files.binary_search(&to_slashed(&Path::new(own).join(word))).is_ok();
        let lines = code.lines().map(str::trim);
        let commands: Vec<_> =
            lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(words).collect();
        let runs_own =
            |words: &Vec<String>| words.iter().take(4).any(|word| self.is_beside_the_skill(word));
        !commands.iter().flatten().any(exists) && !commands.iter().all(runs_own)
    }

    /// Looks at the words of a command that look like files of the project.
    fn search_words(&mut self, line: &str, offset: usize, directory: &str) {
        let mut previous = "";
        for word in line.split([' ', '\t']) {
            let start = word.as_ptr().addr() - line.as_ptr().addr();
            let is_output =
                [">", ">>", "-o", "--output", "--out", "touch", "mkdir", "-p", "cp", "mv"]
                    .contains(&previous);
            previous = word;
            let trimmed = word.trim_matches(['"', '\'', ';', ',']);
            let lead = word.len() - word.trim_start_matches(['"', '\'']).len();
            if !is_output && !trimmed.starts_with('-') {
                let place = match directory {
                    "" => trimmed.to_owned(),
                    directory => format!("{directory}/{trimmed}"),
                };
                let start = offset + start + lead;
                let span = self.span(start, start + trimmed.len());
                // Only history tells a file of the project from any other.
                if paths::is_path(trimmed) {
                    self.path_at(trimmed, &place, span, Mention::InShell);
                }
            }
        }
    }

    /// Looks at a command that is given in `place`, as written.
    fn check_command(
        &mut self,
        command: &CommandName,
        place: Option<&str>,
        offset: usize,
        mention: Mention,
    ) {
        if place.is_some_and(|place| place.contains(['$', '<', '~', '`', '{'])) {
            return;
        }
        let span = self.span(offset + command.span.start, offset + command.span.end);
        match &command.named {
            CommandTarget::Target(runner, name) => {
                self.check_target(*runner, name, place, span, mention);
            }
            CommandTarget::File(path) => {
                let from = command.directory.as_deref().filter(|place| *place != "*");
                let place = from.map_or(path.clone(), |place| format!("{place}/{path}"));
                let known = self.found.len();
                self.path_at(path, &place, span, mention);
                let is_clear = mention == Mention::Plain
                    && match self.audience {
                        Audience::Here => true,
                        _ => self.is_beside_the_skill(path),
                    };
                // A command that runs it is clear enough.
                if let Some(found) = self.found.get_mut(known..).and_then(<[_]>::first_mut)
                    && is_clear
                    && found.trace.elsewhere.is_none()
                {
                    found.likelihood = Likelihood::Likely;
                    found.trace.is_needed = false;
                }
            }
        }
    }

    /// Returns whether a path begins with a directory that the skill of the text has.
    fn is_beside_the_skill(&self, path: &str) -> bool {
        let first = path.trim_start_matches("./").split('/').next().unwrap_or_default();
        let directories = &self.check.manifests.files.directories;
        self.own.as_ref().is_some_and(|own| {
            let place = if own.is_empty() { first.to_owned() } else { format!("{own}/{first}") };
            directories.binary_search(&place).is_ok()
        })
    }

    fn check_target(
        &mut self,
        runner: Runner,
        name: &str,
        place: Option<&str>,
        span: Span,
        mention: Mention,
    ) {
        if self.audience == Audience::Readers || !self.known.insert(format!("{runner:?} {name}")) {
            return;
        }
        let directory = match place {
            Some("*") | None => paths::outside_of_client(&self.directory).to_owned(),
            Some(place) => {
                let from_here = cleaned_below(&Path::new(&self.directory).join(place));
                let from_top = cleaned_below(Path::new(place));
                let exists = |path: &Path| {
                    path.as_os_str().is_empty()
                        || self
                            .check
                            .manifests
                            .files
                            .directories
                            .binary_search(&to_slashed(path))
                            .is_ok()
                };
                match (from_here.filter(|path| exists(path)), from_top.filter(|path| exists(path)))
                {
                    (Some(path), _) | (None, Some(path)) => to_slashed(&path),
                    // A directory of another project.
                    (None, None) => return,
                }
            }
        };
        if self.check.index.may_be_in_submodule(Path::new(&directory)) {
            return;
        }
        let facts = runner.facts();
        let found = self.check.manifests.look_up(runner, name, &directory);
        let (manifest, near, message) = match found {
            Lookup::There => return,
            Lookup::Elsewhere { .. } if place == Some("*") => return,
            Lookup::Elsewhere { manifest, other } => {
                let noun = facts.noun;
                let message =
                    format!("`{manifest}` does not define the {noun} `{name}`; `{other}` does");
                (Some((manifest, false)), None, message)
            }
            Lookup::Missing { manifest, near } => {
                let noun = facts.noun;
                let message = format!("unknown {noun} `{name}`: not defined in `{manifest}`");
                (Some((manifest, true)), near, message)
            }
            Lookup::NoManifest => {
                let noun = facts.noun;
                (None, None, format!("unknown {noun} `{name}`: no file in the project defines one"))
            }
        };
        let help = match &near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "correct the command, or remove it".to_owned(),
        };
        // Nothing in the project defines it, and the text is about the project.
        let is_clear = self.audience == Audience::Here
            && mention != Mention::Illustration
            && manifest.as_ref().is_some_and(|(_, is_missing)| *is_missing);
        let is_needed = mention == Mention::Illustration
            || manifest.as_ref().is_none_or(|(_, is_missing)| !is_missing);
        let ceiling = match mention {
            _ if !is_clear || runner.facts().is_of_user => Likelihood::Possible,
            Mention::Plain => Likelihood::Certain,
            _ => Likelihood::Likely,
        };
        let line =
            manifest.map(|(manifest, _)| (manifest, DefiningLine::Target(runner, name.to_owned())));
        self.found.push(StaleReference {
            source: Arc::clone(self.text.source),
            span,
            kind: ReferenceKind::Target,
            written: name.to_owned(),
            message,
            help,
            likelihood: if is_clear { Likelihood::Likely } else { Likelihood::Possible },
            replacement: near,
            removal: None,
            rule: rules::guidance::MISSING_TARGET,
            trace: Trace { line, is_needed, ..Trace::new(ceiling) },
        });
    }

    fn check_version(&mut self, passage: &Passage, named: &versions::NamedVersion) {
        let wanted =
            versions::find_wanted_version(&self.check.manifests, named.runtime, &self.directory);
        let Some(wanted) = wanted else { return };
        let Some(problem) = versions::find_version_disagreement(named, &wanted) else { return };
        let written = passage.text.get(named.place.0..named.place.1).unwrap_or_default().to_owned();
        let line = (wanted.file, DefiningLine::Words(wanted.key, written.clone()));
        let trace = Trace { line: Some(line), ..Trace::new(Likelihood::Likely) };
        self.old_version(passage, named.place, written, &problem, trace);
    }

    fn check_csharp(&mut self, passage: &Passage) {
        let Some((version, place)) = versions::current_csharp(passage) else { return };
        let problem = versions::csharp_disagreement(&self.check.manifests, version);
        let Some(problem) = problem else { return };
        let trace = Trace::new(Likelihood::Likely);
        self.old_version(passage, place, version.to_string(), &problem, trace);
    }

    fn old_version(
        &mut self,
        passage: &Passage,
        place: (usize, usize),
        written: String,
        problem: &str,
        trace: Trace,
    ) {
        let inner = passage.source_span(place.0, place.1);
        let span = self.span(inner.start, inner.end);
        if self.audience != Audience::Here
            || self.text.source.slice(span) != written
            || !self.known.insert(format!("v {problem}"))
        {
            return;
        }
        self.found.push(StaleReference {
            source: Arc::clone(self.text.source),
            span,
            kind: ReferenceKind::Version,
            message: format!("the text says {written}, but {problem}"),
            written,
            help:
                "write the version that the project requires, or refer to the file that states it"
                    .to_owned(),
            likelihood: Likelihood::Likely,
            replacement: None,
            removal: None,
            rule: rules::guidance::OLD_VERSION,
            trace,
        });
    }

    fn check_tool(&mut self, passage: &Passage, named: &tools::NamedTool) {
        let manifests = &self.check.manifests;
        if self.known.contains(&format!("t {}", named.tool)) {
            return;
        }
        let replaced = self.check.replaced.get_or_init(|| tools::replaced_tools(manifests));
        let Some((tool, other, file)) = replaced.iter().find(|(tool, ..)| *tool == named.tool)
        else {
            return;
        };
        self.known.insert(format!("t {tool}"));
        let inner = passage.source_span(named.place.0, named.place.1);
        self.found.push(StaleReference {
            source: Arc::clone(self.text.source),
            span: self.span(inner.start, inner.end),
            kind: ReferenceKind::Tool,
            message: if other == file {
                format!("the project does not use `{tool}`: it has `{file}`")
            } else {
                format!("the project does not use `{tool}`: `{file}` names `{other}`")
            },
            written: (*tool).to_owned(),
            help: "name the tool that the project uses, or only the command that runs it"
                .to_owned(),
            likelihood: Likelihood::Likely,
            replacement: None,
            removal: None,
            rule: rules::guidance::OTHER_TOOL,
            trace: Trace::new(Likelihood::Likely),
        });
    }

    /// Looks a path up; `place` is where it leads from the directory that the text is for.
    fn path_at(&mut self, written: &str, place: &str, span: Span, mention: Mention) {
        let is_own = self.is_beside_the_skill(written);
        if self.audience == Audience::Readers && !is_own
            || !self.known.insert(paths::place_key(written))
        {
            return;
        }
        let files = [self.text.source.path(), self.real];
        let Some(missing) = self.check.index.find_missing(written, place, files) else { return };
        let is_here = self.audience == Audience::Here && !paths::is_of_a_user(written);
        let owner = if is_own && self.own.is_some() { "skill" } else { "project" };
        let mut found = StaleReference {
            source: Arc::clone(self.text.source),
            span,
            kind: ReferenceKind::Path,
            written: written.to_owned(),
            message: format!("the {owner} has no `{written}`"),
            help: "correct the path, or remove it".to_owned(),
            likelihood: Likelihood::Possible,
            replacement: None,
            removal: None,
            rule: rules::guidance::MISSING_PATH,
            trace: Trace {
                paths: missing.places,
                guesses: missing.guesses,
                is_of_skill: is_own && self.own.is_some(),
                is_needed: mention != Mention::Plain || is_read_by_client(written),
                ..Trace::new(match mention {
                    _ if !is_here => Likelihood::Possible,
                    Mention::Plain => Likelihood::Certain,
                    Mention::InShell | Mention::OfAnother => Likelihood::Likely,
                    Mention::ToBeMade | Mention::Illustration => Likelihood::Possible,
                })
            },
        };
        if let [other] = &missing.elsewhere[..] {
            // The text says where it begins, or may mean the like of each directory.
            if !is_here || mention != Mention::Plain || self.names_base(other, written) {
                return;
            }
            found.message =
                format!("file not found: `{written}`; the only file of this name is `{other}`");
            found.help = format!("write `{other}`");
            found.replacement = Some(other.clone());
            found.trace.elsewhere = Some(other.clone());
            found.trace.ceiling = Likelihood::Likely;
        } else if !missing.elsewhere.is_empty() {
            return;
        } else if let Some(other) = missing.moved.filter(|_| is_here && mention == Mention::Plain) {
            found.help = format!("did you mean `{other}`?");
            found.likelihood = Likelihood::Likely;
            found.replacement = Some(other);
        }
        self.found.push(found);
    }

    /// Returns whether the text names the directory that a path begins in: in words, in a heading, or by its own name.
    fn names_base(&self, path: &str, end: &str) -> bool {
        let Some(base) = paths::base_of(path, end) else { return true };
        let name = base.rsplit('/').next().unwrap_or(base).to_lowercase();
        let own = self.text.source.path().to_string_lossy().to_lowercase();
        let text = self.text.source.text();
        // As written from the directory that the text is about, or in short.
        let project = paths::outside_of_client(&self.directory);
        let below = base.strip_prefix(project).map(|below| below.trim_start_matches('/'));
        let shorter = base.match_indices('/').map(|(at, _)| &base[at + 1..]);
        let mut shorter = shorter.filter(|short| short.contains(['/', '-', '_']));
        text.contains(base)
            || below.is_some_and(|below| !below.is_empty() && text.contains(&format!("{below}/")))
            || shorter.any(|short| text.contains(short))
            || own.contains(&name)
            || self.headings.iter().any(|heading| heading.to_lowercase().contains(&name))
    }

    /// Several paths that all begin in one other directory have moved there: that is no accident. If that directory is
    /// right below the text's own one, such as a package's `src`, they are short for it, and only history can say more.
    fn mark_moved(&mut self) {
        let own = &self.directory;
        let is_right_below = |base: &str| {
            let below = if own.is_empty() {
                Some(base)
            } else {
                base.strip_prefix(own.as_str()).and_then(|below| below.strip_prefix('/'))
            };
            below.is_some_and(|below| !below.contains('/'))
        };
        let base = |found: &StaleReference| -> Option<String> {
            let other = found.trace.elsewhere.as_ref()?;
            paths::base_of(other, &found.written)
                .filter(|base| !is_right_below(base))
                .map(str::to_owned)
        };
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for base in self.found.iter().filter_map(base) {
            *counts.entry(base).or_default() += 1;
        }
        for found in &mut self.found {
            let count = base(found).and_then(|base| counts.get(&base).copied());
            if count.is_some_and(|count| count >= MOVED_TOGETHER) {
                found.likelihood = Likelihood::Likely;
            }
        }
    }
}

/// Returns whether a path is a file that clients look for: a text that names it may be about clients.
fn is_read_by_client(path: &str) -> bool {
    let path = path.trim_start_matches("./").trim_end_matches('/');
    BUILTIN.clients.iter().any(|client| client.signs.iter().any(|sign| &**sign == path))
}

/// The way in which a sentence names something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mention {
    Plain,
    /// As a word of a command, which may be anything.
    InShell,
    /// In words that may be about another place: from a directory, of a user, made by a build.
    OfAnother,
    /// As something to be made, or as one of many.
    ToBeMade,
    /// As an example of how something is written.
    Illustration,
}

impl Mention {
    fn from_sentence(sentence: &str) -> Mention {
        if paths::is_to_be_made(sentence) {
            Mention::ToBeMade
        } else if paths::tells_of_another_place(sentence) {
            Mention::OfAnother
        } else {
            Mention::Plain
        }
    }
}
