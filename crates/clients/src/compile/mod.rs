//! From one item to the files of a client.
//!
//! Pure: an item and a profile in, paths and texts out. What lies beside an item is named, not read;
//! [`crate::build`] copies it. The order is that of the document: the body as the client gets it, the
//! heading, the links, and the layout last.

mod body;
mod clients;
mod fields;
mod needs;
mod reach;
#[cfg(test)]
mod tests;
mod yaml;

use brief_dialects::portable::{Item, Kind};
use brief_syntax::{Diagnostic, Span};

use crate::profile::{Layout, Options, Profile, Sharing};

use body::Bodies;

pub use clients::{Clients, UnknownClient};
pub use needs::LeftOut;

pub use brief_dialects::portable::output::{Compiled, Content, OutputFile};

/// Compiles an item for one client; `clients` are all that exist.
///
/// A client that the item is not for, or that has nothing of its kind, gets no files.
pub fn compile(item: &Item, profile: &Profile, options: &Options, clients: &[&str]) -> Compiled {
    compile_for(item, &[profile], options, clients)
}

/// Compiles an item for several clients. What is the same for some of them is worked out once, and a
/// file that several of them share is there once.
pub fn compile_for(
    item: &Item,
    profiles: &[&Profile],
    options: &Options,
    clients: &[&str],
) -> Compiled {
    let mut compiled = Compiled::default();
    let mut bodies = Bodies::default();
    for profile in profiles.iter().filter(|profile| item.is_for(profile.id())) {
        let one = Compiler { item, profile, options, clients };
        one.run(&mut bodies, &mut compiled);
    }
    compiled
}

/// One item for one client.
struct Compiler<'c> {
    item: &'c Item,
    profile: &'c Profile,
    options: &'c Options,
    clients: &'c [&'c str],
}

impl Compiler<'_> {
    fn run(&self, bodies: &mut Bodies, compiled: &mut Compiled) {
        let Some(layout) = self.profile.layout(self.item.kind()) else { return };
        let scope = self.options.scope;
        let path = layout.path_in(scope).fill(self.item.name());
        let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
        let files = layout.files_in(scope).map(|files| files.fill(self.item.name()));
        let files = files.as_deref().unwrap_or(directory);
        let header = self.front_matter(layout, &mut compiled.diagnostics);
        let place = body::Place { path: &path, directory, files };
        let body = self.body(&place, bodies, &mut compiled.diagnostics);
        if let Some(most) = layout.most_characters {
            self.check_length(&body, most, &mut compiled.diagnostics);
        }
        let text = format!("---\n{header}---\n{body}");
        if self.options.sharing == Sharing::Shared && self.is_shared(layout, &text, compiled) {
            return;
        }
        add(compiled, OutputFile { path: path.clone(), content: Content::Text(text) });
        for file in self.item.files() {
            let path = format!("{files}/{}", file.path);
            add(compiled, OutputFile { path, content: Content::Copy(file.path.clone()) });
        }
    }

    /// Returns whether the client finds this very file where another one's was put.
    ///
    /// Only skills: not everything that goes by the client's name reads other clients' rules and agents.
    fn is_shared(&self, layout: &Layout, text: &str, compiled: &Compiled) -> bool {
        let places = layout.also_read_in(self.options.scope);
        self.item.kind() == Kind::Skill
            && places.iter().any(|place| {
                let path = place.fill(self.item.name());
                let is_same =
                    |content: &Content| matches!(content, Content::Text(own) if own == text);
                compiled.files.iter().any(|file| file.path == path && is_same(&file.content))
            })
    }

    fn check_length(&self, body: &str, most: usize, diagnostics: &mut Vec<Diagnostic>) {
        let length = body.trim().chars().count();
        if length > most {
            let message = format!(
                "the body has {length} characters; {} takes {most} of {}",
                self.profile.name(),
                self.item.kind().folder()
            );
            diagnostics.push(
                self.warning("portable/body-too-long", Span::default(), message)
                    .with_help("move parts of it to files beside it"),
            );
        }
    }

    fn warning(&self, code: &'static str, span: Span, message: String) -> Diagnostic {
        Diagnostic::warning(code, self.item.document().source(), span, message)
    }
}

/// Adds a file, unless another client has the same one already.
fn add(compiled: &mut Compiled, file: OutputFile) {
    if !compiled.files.contains(&file) {
        compiled.files.push(file);
    }
}
