//! Files that are called like a client's and lie where no client looks: collections for other projects, and
//! files in the wrong directory.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_profiles::Form;
use brief_syntax::walk::Visit;
use brief_syntax::{Diagnostic, Rule, Source, Span, limits, rules};
use brief_system::FileKind;

use crate::agent_format::{AgentFormat, format_of};
use crate::native;

use super::header;

/// The place of such a file, for the check of its header.
pub(super) const ANYWHERE: &str = "";

/// The ends of names that belong to one client, the form of each, and the directory that it is read from.
const ENDINGS: [(&str, Form, &str); 3] = [
    (".mdc", Form::Cursor, ".cursor/rules"),
    (".instructions.md", Form::Copilot, ".github/instructions"),
    (".agent.md", Form::Agent, ".github/agents"),
];

/// Returns whether a name is one of a client's files, wherever it lies.
pub(in crate::native) fn is_client_file(name: &str) -> bool {
    ENDINGS.iter().any(|(ending, ..)| name.len() > ending.len() && name.ends_with(ending))
}

/// The files found so far.
#[derive(Debug, Default)]
pub(crate) struct Strays {
    found: Vec<(Form, Arc<Source>)>,
    /// Links to nothing that are called like a client's file.
    dangling: Vec<PathBuf>,
    /// Files beside Copilot's instructions that are not called like them.
    unnamed: Vec<PathBuf>,
    /// The `.mdc` files that lie in `.cursor`, but not where Cursor looks. Others are a collection for other projects.
    misplaced: Vec<Arc<Source>>,
}

impl Strays {
    /// Looks for such files in a directory.
    pub(crate) fn visit(&mut self, visit: &Visit<'_>) {
        let entries = visit.entries().unwrap_or_default();
        for entry in entries.iter().filter(|entry| entry.kind == FileKind::Link) {
            let name = entry.name.to_string_lossy();
            let is_guidance = name.ends_with(".md") && native::is_beginning(&name);
            let path = visit.path().join(&entry.name);
            if is_guidance
                && let Err(error) = visit.system().resolve(&path)
                && error.kind() == io::ErrorKind::NotFound
            {
                self.dangling.push(path);
            }
        }
        for entry in entries.iter().filter(|entry| entry.kind == FileKind::File) {
            let Some(name) = entry.name.to_str() else { continue };
            if is_at(visit.slashed(), ".github/instructions")
                && Path::new(name).extension().is_some_and(|ending| ending == "md")
                && !name.ends_with(".instructions.md")
                && !super::is_document(name)
            {
                self.unnamed.push(visit.path_of(name));
            }
            let of_organization = is_organization_agent(visit, name);
            let ending = ENDINGS.iter().find(|(ending, ..)| name.ends_with(ending));
            let ending = ending.filter(|_| is_client_file(name));
            let ending = ending.or(ENDINGS.last().filter(|_| of_organization));
            let Some((_, form, home)) = ending else { continue };
            if is_at(visit.slashed(), home) || self.found.len() == limits::NATIVE_FILES {
                continue;
            }
            let Ok(bytes) = visit.read_file(name) else { continue };
            let source = Arc::new(Source::from_bytes(visit.path_of(name), bytes));
            match form {
                Form::Agent => {
                    let is_read = visit.slashed().split('/').any(|name| name.starts_with('.'));
                    if is_read || format_of(&source) != AgentFormat::Copilot {
                        continue;
                    }
                }
                Form::Cursor => {
                    if visit.slashed().rsplit('/').next() == Some(".cursor") {
                        self.misplaced.push(Arc::clone(&source));
                    }
                    // Rules of tasks may be called so: what Cursor would make of their fields does not matter.
                    if is_at(visit.slashed(), ".agents/rules") {
                        continue;
                    }
                }
                _ => {}
            }
            self.found.push((*form, source));
        }
    }

    /// Passes the path of each to `tell`.
    pub(crate) fn each_file<'s>(&'s self, tell: &mut dyn FnMut(&'s Path)) {
        let sources = self.found.iter().map(|(_, source)| source);
        let sources = sources.chain(&self.misplaced);
        sources.for_each(|source| tell(source.path()));
        self.dangling.iter().chain(&self.unnamed).for_each(|path| tell(path));
    }

    /// Instructions that others are built from need no `applyTo`; among ones that have it, it is missing.
    fn keep_expected_scopes(&self, found: &mut Vec<Diagnostic>) {
        let mut directories: BTreeSet<&Path> = BTreeSet::new();
        for (form, source) in &self.found {
            if *form == Form::Copilot && header::has_field(source, "applyTo") {
                directories.extend(source.path().parent());
            }
        }
        found.retain(|found| {
            found.rule != rules::client::NO_APPLY_TO
                || found.path().parent().is_some_and(|above| directories.contains(above))
        });
    }

    /// Returns what is wrong with them.
    pub(super) fn check_strays(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for (form, source) in &self.found {
            found.extend(super::of_file(*form, ANYWHERE, source));
        }
        self.keep_expected_scopes(&mut found);
        let problem = |rule: Rule, source: &Arc<Source>, message: &str, help: &str| {
            Diagnostic::new(rule, source, Span::empty_at(0), message).with_help(help)
        };
        let unread = |path: &PathBuf| Arc::new(Source::without_text(path));
        found.extend(self.unnamed.iter().map(|path| {
            let message =
                "no client reads this file: Copilot reads only `.instructions.md` files here";
            let help = "rename it to end in `.instructions.md`, or move it";
            problem(rules::client::UNREAD_FILE, &unread(path), message, help)
        }));
        found.extend(self.dangling.iter().map(|path| {
            let message = "the target of this link does not exist";
            let help = "fix the link; names are case-sensitive on most systems";
            problem(rules::client::UNREADABLE, &unread(path), message, help)
        }));
        found.extend(self.misplaced.iter().map(|source| {
            let message = "Cursor reads `.mdc` files from `.cursor/rules` only";
            problem(rules::client::UNREAD_FILE, source, message, "move it to `.cursor/rules`")
        }));
        found
    }
}

/// Returns whether a file is an agent that Copilot gives to a whole organization: `agents/*.md` in the
/// repository `.github-private`.
fn is_organization_agent(visit: &Visit<'_>, name: &str) -> bool {
    visit.slashed() == "agents"
        && visit.root().file_name().is_some_and(|root| root == ".github-private")
        && Path::new(name).extension().is_some_and(|ending| ending == "md")
        && !super::is_document(name)
}

/// Returns whether a directory is `home` of some directory of the project, or lies in it.
fn is_at(slashed: &str, home: &str) -> bool {
    let way = format!("/{slashed}/");
    way.contains(&format!("/{home}/"))
}
