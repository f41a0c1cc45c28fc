//! Items that were written for one client: a file each.
//!
//! The client itself, and others that read its files, get the file byte for byte. For the rest the file becomes a
//! portable item, as `brief import` makes it, and is compiled like any other.

use brief_dialects::portable::{ItemKind, PortableItem};
use brief_profiles::{BUILTIN, Form, PlaceShape};
use brief_syntax::{Diagnostic, Span, rules};

use crate::import::{OriginalFile, import_file};
use crate::profile::{Profile, ProfileOptions, Profiles};

use super::{Compiled, OutputContent, OutputFile, add_file, compile_for};

/// Compiles an item that was written for the client `written_for`; `clients` are the names of all known clients.
pub(super) fn compile_foreign_item(
    item: &PortableItem,
    written_for: &str,
    profiles: &[&Profile],
    options: ProfileOptions,
    clients: &[&str],
) -> Compiled {
    let mut compiled = Compiled::default();
    let builtin = Profiles::builtin();
    let own = profiles.iter().copied().find(|profile| profile.id() == written_for);
    let own = own.or_else(|| builtin.get(written_for));
    let own_path = own.and_then(|own| output_path(item, own, options));
    let mut others = Vec::new();
    for profile in profiles.iter().copied().filter(|profile| item.is_for(profile.id())) {
        match output_path(item, profile, options) {
            Some(path) if profile.id() == written_for || Some(&path) == own_path.as_ref() => {
                let text = item.document().source().text().to_owned();
                add_file(&mut compiled, OutputFile { path, content: OutputContent::Text(text) });
            }
            Some(_) => others.push(profile),
            // The client has no items of the kind.
            None => {}
        }
    }
    if !others.is_empty() {
        convert_item(item, own, &others, options, clients, &mut compiled);
    }
    compiled
}

/// Returns the path of an item for a client.
fn output_path(item: &PortableItem, profile: &Profile, options: ProfileOptions) -> Option<String> {
    Some(profile.layout(item.kind())?.path_in(options.scope).fill(item.name()))
}

fn convert_item(
    item: &PortableItem,
    own: Option<&Profile>,
    others: &[&Profile],
    options: ProfileOptions,
    clients: &[&str],
    compiled: &mut Compiled,
) {
    let source = item.document().source();
    let form = file_form(item.kind(), own.map(Profile::id));
    let original = OriginalFile {
        client: own,
        kind: item.kind(),
        form,
        about: "",
        stem: item.name(),
        peer: None,
        source,
    };
    let mut imported = match import_file(&original, clients) {
        Ok(imported) => imported,
        Err(refusal) => {
            let names: Vec<&str> = others.iter().map(|profile| profile.name()).collect();
            let message =
                format!("cannot convert the {} for {}: {refusal}", item.id(), names.join(", "));
            let problem =
                Diagnostic::new(rules::item::NOT_CONVERTED, source, Span::default(), message);
            compiled.diagnostics.push(problem.with_help("its own client gets it unchanged"));
            return;
        }
    };
    item.name().clone_into(&mut imported.name);
    imported.clients.clear();
    compiled.notes.extend(imported.notes.iter().map(ToString::to_string));
    for (client, block) in &imported.blocks {
        let stays = |field: &str| format!("`{field}`: only {client} has this field");
        compiled.notes.extend(block.field_names().map(stays));
    }
    let mut more = compile_for(&imported.to_portable_item(), others, &options, clients);
    for problem in &mut more.diagnostics {
        // The item exists only here; its file is what a user can look at.
        (problem.source, problem.span, problem.fix) = (source.clone(), Span::default(), None);
    }
    for file in more.files {
        // A file that some client reads as it is comes first.
        if !compiled.files.iter().any(|known| known.path == file.path) {
            compiled.files.push(file);
        }
    }
    compiled.diagnostics.append(&mut more.diagnostics);
}

/// Returns the form of a client's files of a kind.
fn file_form(kind: ItemKind, client: Option<&str>) -> Form {
    match kind {
        ItemKind::Skill => Form::Skill,
        ItemKind::Agent => Form::Agent,
        ItemKind::Command => Form::Plain,
        ItemKind::Rule => {
            let client = client.and_then(|client| BUILTIN.find_client(client));
            let reads = client.into_iter().flat_map(|client| client.reads.iter());
            let mut places = reads
                .filter_map(|read| BUILTIN.project.iter().find(|place| place.key == read.path));
            let is_rules = |form: Form| {
                !matches!(form, Form::Skill | Form::Agent | Form::Instructions | Form::Legacy)
            };
            let found = places
                .find(|place| is_rules(place.form) && matches!(place.shape, PlaceShape::Tree(_)));
            found.map_or(Form::Plain, |place| place.form)
        }
    }
}
