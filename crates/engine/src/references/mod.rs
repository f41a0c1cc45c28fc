//! The things that texts name and the project does not have: files, targets of `make`, scripts, packages, versions.
//!
//! Guidance outlives the code that it was written for. A text is held to what it clearly says: in code, in a command,
//! in a sentence about what is needed. Placeholders, examples, patterns, outputs and files that are to be made are
//! left alone. How likely a finding is follows from the form of the words; history can make it certain.

mod commands;
mod history;
mod manifests;
mod paths;
#[cfg(test)]
mod tests;
mod versions;

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;

use brief_dialects::{GuidanceText, ProjectFiles};
use brief_syntax::diagnostic::{Edit, Fix};
use brief_syntax::markdown::{CodeBlock, Passage};
use brief_syntax::paths::{cleaned_below, slashed};
use brief_syntax::{Diagnostic, Root, Rule, Source, Span, System, rules};

use crate::catalog::ReadText;
use crate::links::is_elsewhere;

use self::commands::{CommandName, CommandTarget, Runner, read_line};
use self::manifests::{Lookup, Manifests};
use self::paths::PathIndex;

pub use history::{ProjectHistory, Removal, RemovedLine, StaleReport};

/// The limit for findings in one text; more are one mistake.
const REPORTED_PER_TEXT: usize = 50;

/// The likelihood that a text is out of date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Likelihood {
    /// It was there, and a change has removed it.
    Certain,
    /// The project has a place for it, and does not have it.
    Likely,
    /// The project does not have it.
    Possible,
}

impl Likelihood {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Likelihood::Certain => "certain",
            Likelihood::Likely => "likely",
            Likelihood::Possible => "possible",
        }
    }
}

/// The kind of a thing that a text names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReferenceKind {
    /// A target, script, task, package, feature.
    Target,
    /// A file or directory.
    Path,
    /// The destination of a link.
    Link,
    /// A version.
    Version,
}

impl ReferenceKind {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            ReferenceKind::Target => "target",
            ReferenceKind::Path => "path",
            ReferenceKind::Link => "link",
            ReferenceKind::Version => "version",
        }
    }
}

/// Something that a text names and the project does not have.
#[derive(Debug, Clone)]
pub struct StaleReference {
    /// The text.
    pub source: Arc<Source>,
    /// The place in it.
    pub span: Span,
    /// The kind of thing.
    pub kind: ReferenceKind,
    /// The name, as written.
    pub written: String,
    /// The problem, in one line.
    pub message: String,
    /// The advice.
    pub help: String,
    /// The likelihood that the text is out of date.
    pub likelihood: Likelihood,
    /// The text that should stand there, if it is known.
    pub replacement: Option<String>,
    /// The change that removed it, if history tells.
    pub removal: Option<Removal>,
    rule: Rule,
    trace: Trace,
}

impl StaleReference {
    /// Returns it as a problem of the text.
    pub fn diagnostic(&self) -> Diagnostic {
        let found = Diagnostic::new(self.rule, &self.source, self.span, self.message.clone());
        let found = found.with_help(self.help.clone());
        match &self.replacement {
            Some(replacement) => {
                let edits = vec![Edit::replace(self.span, replacement.clone())];
                found.with_fix(Fix::suggested(format!("write `{replacement}`"), edits))
            }
            None => found,
        }
    }
}

/// The places where history may tell of it.
#[derive(Debug, Clone, Default)]
struct Trace {
    /// Paths below the root that it may have had.
    paths: Vec<String>,
    /// The file that defined it, and the lines that did.
    line: Option<(String, DefiningLine)>,
    /// True if only history can tell that it is meant.
    is_needed: bool,
}

/// A line that defines something.
#[derive(Debug, Clone)]
enum DefiningLine {
    Target(Runner, String),
    /// A line with both words.
    Words(&'static str, String),
}

impl DefiningLine {
    fn is(&self, line: &str) -> bool {
        let line = line.trim();
        match self {
            DefiningLine::Words(key, value) => line.contains(key) && line.contains(value.as_str()),
            DefiningLine::Target(Runner::Make | Runner::Just, name) => {
                let head = line.split(':').next().unwrap_or_default();
                line.contains(':')
                    && head.split_whitespace().any(|word| word.trim_start_matches('@') == name)
            }
            DefiningLine::Target(Runner::Package | Runner::Composer | Runner::Deno, name) => {
                line.starts_with(&format!("\"{name}\""))
            }
            DefiningLine::Target(Runner::Nox, name) => line.contains(&format!("def {name}(")),
            DefiningLine::Target(_, name) => {
                let quoted = format!("\"{name}\"");
                let rest = line.strip_prefix(name.as_str()).or_else(|| line.strip_prefix(&quoted));
                rest.is_some_and(|rest| rest.trim_start().starts_with(['=', ':']))
                    || line.contains(&quoted)
                    || line.contains(&format!(".{name}]"))
            }
        }
    }
}

/// Looks at the texts of one project.
pub(crate) struct ReferenceCheck<'c> {
    manifests: Manifests<'c>,
    index: PathIndex<'c>,
    seen: BTreeSet<u64>,
}

impl<'c> ReferenceCheck<'c> {
    pub(crate) fn new(system: &'c dyn System, root: &'c Root, files: &'c ProjectFiles) -> Self {
        let manifests = Manifests::new(system, root, files);
        let index = PathIndex::new(system, root, files);
        ReferenceCheck { manifests, index, seen: BTreeSet::new() }
    }

    /// Returns what a text names and the project does not have. A text that stands in two places is looked at once.
    pub(crate) fn check(&mut self, read: &ReadText<'_>) -> Vec<StaleReference> {
        let ReadText { text, real, prose } = read;
        let root = self.manifests.root.path();
        let path = text.source.path();
        let Some(below) = path.strip_prefix(root).ok().and_then(Path::parent) else {
            return Vec::new();
        };
        let directory = slashed(below);
        let body = text.body();
        // A link to a file, or to its directory, is the same text.
        let mut hasher = DefaultHasher::new();
        (real.parent(), body).hash(&mut hasher);
        if is_elsewhere(below) || !self.seen.insert(hasher.finish()) {
            return Vec::new();
        }
        let mut search = ReferenceSearch {
            check: self,
            text,
            real,
            directory,
            known: BTreeSet::new(),
            found: Vec::new(),
        };
        for section in prose.sections.iter().filter(|one| !paths::is_example(&one.headings)) {
            for passage in &section.passages {
                search.passage(passage);
            }
            for block in &section.blocks {
                search.block(body, block);
            }
        }
        search.found.truncate(REPORTED_PER_TEXT);
        search.found
    }

    /// Returns the problems of a text that are likely enough without history.
    pub(crate) fn check_likely(&mut self, text: &ReadText<'_>) -> Vec<Diagnostic> {
        let mut found = self.check(text);
        found.retain(|one| one.likelihood <= Likelihood::Likely && !one.trace.is_needed);
        found.iter().map(StaleReference::diagnostic).collect()
    }
}

/// The search for references in one text.
struct ReferenceSearch<'l, 'c> {
    check: &'l ReferenceCheck<'c>,
    text: &'l GuidanceText<'l>,
    /// Its file, with links followed.
    real: &'l Path,
    /// Its directory, `/`-separated below the root.
    directory: String,
    /// The names that were looked up.
    known: BTreeSet<String>,
    found: Vec<StaleReference>,
}

impl ReferenceSearch<'_, '_> {
    fn span(&self, start: usize, end: usize) -> Span {
        self.text.place(start, end)
    }

    fn passage(&mut self, passage: &Passage) {
        for version in versions::named_versions(passage) {
            self.version(passage, &version);
        }
        if passage.codes.is_empty() {
            return;
        }
        let sentences = OnceCell::new();
        // One sentence may hold thousands of codes, and is judged once.
        let mut judged = (usize::MAX, false, false);
        for code in &passage.codes {
            let commands = read_line(&code.text, &mut None);
            // The path of a link is looked at with the links.
            let is_path = commands.is_empty()
                && !code.text.contains(' ')
                && !code.is_linked
                && paths::is_path(&code.text);
            if commands.is_empty() && !is_path {
                continue;
            }
            let sentences = sentences.get_or_init(|| passage.sentences());
            let index = sentences.partition_point(|(start, _)| *start <= code.at).saturating_sub(1);
            if judged.0 != index {
                let sentence = sentences.get(index).map_or("", |(_, sentence)| *sentence);
                let is_gone = paths::tells_it_is_gone(sentence);
                judged = (index, is_gone, paths::is_to_be_made(sentence));
            }
            let (_, is_gone, is_made) = judged;
            if is_gone {
                continue;
            }
            let start = code.span.start;
            for command in &commands {
                self.command(command, start, is_made);
            }
            if is_path {
                let span = self.span(start, start + code.text.len());
                self.path_at(&code.text, &code.text, span, is_made);
            }
        }
    }

    /// Looks at the commands of a block of shell.
    fn block(&mut self, body: &str, block: &CodeBlock) {
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
        let mut directory = None;
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
                self.command(&command, offset, false);
            }
            self.words(shown, offset, directory.as_deref());
        }
    }

    /// Looks at the words of a command that look like files of the project.
    fn words(&mut self, line: &str, offset: usize, directory: Option<&str>) {
        if directory.is_some_and(|place| place.contains(['$', '<', '~', '*'])) {
            return;
        }
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
                let place =
                    directory.map_or(trimmed.to_owned(), |place| format!("{place}/{trimmed}"));
                let start = offset + start + lead;
                let span = self.span(start, start + trimmed.len());
                // Only history tells a file of the project from any other.
                if paths::is_path(trimmed) {
                    self.path_at(trimmed, &place, span, true);
                }
            }
        }
    }

    fn command(&mut self, command: &CommandName, offset: usize, is_made: bool) {
        let place = command.directory.as_deref();
        if place.is_some_and(|place| place.contains(['$', '<', '~', '`', '{'])) {
            return;
        }
        let span = self.span(offset + command.span.start, offset + command.span.end);
        match &command.named {
            CommandTarget::Target(runner, name) => self.target(*runner, name, place, span),
            CommandTarget::File(path) => {
                let from = place.filter(|place| *place != "*");
                let place = from.map_or(path.clone(), |place| format!("{place}/{path}"));
                let known = self.found.len();
                self.path_at(path, &place, span, is_made);
                // A command that runs it is clear enough.
                if let Some(found) = self.found.get_mut(known..).and_then(<[_]>::first_mut)
                    && !is_made
                    && !self.text.is_skill
                {
                    found.likelihood = Likelihood::Likely;
                    found.trace.is_needed = false;
                }
            }
        }
    }

    fn target(&mut self, runner: Runner, name: &str, place: Option<&str>, span: Span) {
        if !self.known.insert(format!("{runner:?} {name}")) {
            return;
        }
        let directory = match place {
            Some("*") | None => self.directory.clone(),
            Some(place) => {
                let from_here = cleaned_below(&Path::new(&self.directory).join(place));
                let from_top = cleaned_below(Path::new(place));
                let exists = |path: &Path| {
                    self.check.manifests.files.directories.binary_search(&slashed(path)).is_ok()
                };
                match (from_here.filter(|path| exists(path)), from_top.filter(|path| exists(path)))
                {
                    (Some(path), _) | (None, Some(path)) => slashed(&path),
                    // A directory of another project.
                    (None, None) => return,
                }
            }
        };
        let facts = runner.facts();
        let (manifest, near, likelihood) =
            match self.check.manifests.look_up(runner, name, &directory) {
                Lookup::There => return,
                Lookup::Elsewhere { .. } if place == Some("*") => return,
                Lookup::Elsewhere { manifest } => (Some(manifest), None, None),
                Lookup::Missing { manifest, near } => {
                    (Some(manifest), near, Some(Likelihood::Likely))
                }
                Lookup::NoManifest => (None, None, None),
            };
        let noun = facts.noun;
        let message = match &manifest {
            Some(manifest) => format!("`{name}` is not a {noun}: `{manifest}` does not define it"),
            None => format!("`{name}` is not a {noun}: no file of the project defines one"),
        };
        let help = match &near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "correct the command, or remove it".to_owned(),
        };
        let is_needed = likelihood.is_none();
        let likelihood = match likelihood {
            Some(likely) if !self.text.is_skill => likely,
            _ => Likelihood::Possible,
        };
        let line =
            manifest.map(|manifest| (manifest, DefiningLine::Target(runner, name.to_owned())));
        let usual = facts.manifests.iter().filter(|_| line.is_none());
        let paths = usual.map(|name| (*name).to_owned()).collect();
        self.found.push(StaleReference {
            source: Arc::clone(self.text.source),
            span,
            kind: ReferenceKind::Target,
            written: name.to_owned(),
            message,
            help,
            likelihood,
            replacement: near,
            removal: None,
            rule: rules::guidance::MISSING_TARGET,
            trace: Trace { paths, line, is_needed },
        });
    }

    fn version(&mut self, passage: &Passage, named: &versions::NamedVersion) {
        let wanted = versions::wanted(&self.check.manifests, named.runtime, &self.directory);
        let Some(wanted) = wanted else { return };
        let Some(problem) = versions::disagreement(named, &wanted) else { return };
        let inner = passage.span(named.place.0, named.place.1);
        let span = self.span(inner.start, inner.end);
        let written = passage.text.get(named.place.0..named.place.1).unwrap_or_default().to_owned();
        if self.text.is_skill
            || self.text.source.slice(span) != written
            || !self.known.insert(format!("v {written}"))
        {
            return;
        }
        self.found.push(StaleReference {
            source: Arc::clone(self.text.source),
            span,
            kind: ReferenceKind::Version,
            message: format!("the text says {written}, and {problem}"),
            written: written.clone(),
            help: "name the version that the project asks for, or leave it to the file".to_owned(),
            likelihood: Likelihood::Likely,
            replacement: None,
            removal: None,
            rule: rules::guidance::OLD_VERSION,
            trace: Trace {
                line: Some((wanted.file, DefiningLine::Words(wanted.key, written))),
                ..Trace::default()
            },
        });
    }

    /// Looks a path up; `place` is where it leads from the directory that the text is for.
    fn path_at(&mut self, written: &str, place: &str, span: Span, is_made: bool) {
        if !self.known.insert(written.to_owned()) {
            return;
        }
        let Some(missing) =
            self.check.index.missing(written, place, [self.text.source.path(), self.real])
        else {
            return;
        };
        let moved = missing.moved.filter(|_| !is_made && !self.text.is_skill);
        let help = match &moved {
            Some(other) => format!("did you mean `{other}`?"),
            None => "correct the path, or remove it".to_owned(),
        };
        self.found.push(StaleReference {
            source: Arc::clone(self.text.source),
            span,
            kind: ReferenceKind::Path,
            written: written.to_owned(),
            message: format!("the project has no `{written}`"),
            help,
            likelihood: if moved.is_some() { Likelihood::Likely } else { Likelihood::Possible },
            replacement: moved,
            removal: None,
            rule: rules::guidance::MISSING_PATH,
            trace: Trace { paths: missing.places, line: None, is_needed: is_made },
        });
    }
}
