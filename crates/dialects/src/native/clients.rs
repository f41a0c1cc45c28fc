//! The facts about clients, asked in the words of this dialect.

use brief_profiles::{BUILTIN, Client, ClientPlace, ClientRead, Form, KnownClients, Scoping, Text};

use crate::answer::Owner;

/// Returns the places of an owner.
pub(super) fn client_places(known: &KnownClients, owner: Owner) -> &[ClientPlace] {
    match owner {
        Owner::User => &known.home,
        Owner::Project => &known.project,
    }
}

/// Returns the places that a client reads of an owner.
pub(super) fn reads_of(client: &Client, owner: Owner) -> &[ClientRead] {
    match owner {
        Owner::User => &client.home_reads,
        Owner::Project => &client.reads,
    }
}

/// Returns how a client reads a place.
pub(super) fn read_of<'c>(
    client: &'c Client,
    owner: Owner,
    place: &ClientPlace,
) -> Option<&'c ClientRead> {
    reads_of(client, owner).iter().find(|read| read.path == place.key)
}

/// Returns whether a client may load what the fields of a file leave out.
pub(super) fn goes_by_itself(client: &Client) -> bool {
    let mut reads = client.reads.iter().chain(&client.home_reads);
    reads.any(|read| matches!(read.scoping, Scoping::Ignored | Scoping::CopilotCli))
}

/// Returns whether any client follows `@path` in the files of a place.
pub(super) fn has_imports(known: &KnownClients, place: &ClientPlace) -> bool {
    let name = place.path.rsplit('/').next().unwrap_or(&place.path);
    known.clients.iter().any(|client| client.loading.imports.contains_text(name))
}

/// Returns the word for a file of a form in an answer.
pub(super) fn form_label(form: Form) -> &'static str {
    match form {
        Form::Instructions => "instructions",
        Form::Skill => "skill",
        Form::Agent => "agent",
        _ => "rule",
    }
}

/// Returns whether one of some paths is in a list.
pub(super) fn has_any(present: &[Text], paths: &[Text]) -> bool {
    paths.iter().any(|path| present.contains(path))
}

/// Returns whether a name in a directory is where any of the places of a project begin.
pub fn is_beginning(name: &str) -> bool {
    BUILTIN.is_beginning(name) || super::settings::is_beginning(name)
}
