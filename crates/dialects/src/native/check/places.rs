//! Files that a client reads, or does not read, because of where they are: nested files that one above hides, and pages
//! about rules that are loaded as rules.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use brief_profiles::{BUILTIN, Client, ClientRead, Form, PlaceShape, Unless};
use brief_syntax::text::format_count;
use brief_syntax::{Diagnostic, Span, rules};
use brief_system::paths::to_slashed;

use crate::ProjectFiles;
use crate::answer::Owner;
use crate::native::clients::{has_any, read_of};
use crate::native::model::{Folder, Guide, Use};
use crate::native::modes;
use crate::native::settings::Setting;

/// The number of files that a message names.
const NAMED: usize = 3;

/// Reports files in directories below that a client leaves out because of a file at the top: once for each client. The
/// `settings` are the user's and those of the project.
pub(super) fn check_hidden(
    folders: &[&Folder],
    settings: &[&Setting],
    project: &ProjectFiles,
) -> Vec<Diagnostic> {
    let Some(top) = folders.iter().find(|folder| folder.directory.is_empty()) else {
        return Vec::new();
    };
    let guides = folders.iter().flat_map(|folder| &folder.guides);
    let imported: BTreeSet<&Path> =
        guides.flat_map(|guide| &guide.imports).map(std::path::PathBuf::as_path).collect();
    let mut found = Vec::new();
    for client in &BUILTIN.clients {
        let mode = modes::in_force(client, settings.iter().copied());
        let is_read_anyway =
            |read: &ClientRead| mode.is_some_and(|mode| mode.always.contains(&read.path));
        let reads = client.reads.iter().filter(|read| !read.path.contains('/'));
        for read in reads.filter(|read| !is_read_anyway(read)) {
            let Unless::AtStartOrBeside(hiding) = &read.unless else { continue };
            let is_hiding = |guide: &&Guide| {
                let path = guide.place.as_ref().map(|place| &place.path);
                // What is one user's own hides nothing from the others.
                path.is_some_and(|path| hiding.contains(path) && !path.contains(".local."))
            };
            let Some(first) = top.guides.iter().find(is_hiding) else { continue };
            let below = folders.iter().filter(|folder| {
                !folder.directory.is_empty()
                    && !folder.directory.split('/').any(|name| name.starts_with('.'))
                    && !has_any(&folder.present, hiding)
                    && !is_in_skill(&folder.directory, project)
                    && !super::is_elsewhere(
                        Path::new(&folder.directory).join(&*read.path).as_path(),
                    )
            });
            let hidden = below.filter(|folder| {
                folder.guides.iter().any(|guide| {
                    guide.place.as_ref().is_some_and(|place| place.path == read.path)
                        && !imported.contains(guide.path())
                        && !guide.content().trim().is_empty()
                })
            });
            let hidden: Vec<String> =
                hidden.map(|folder| format!("`{}/{}`", folder.directory, read.path)).collect();
            found.extend((!hidden.is_empty()).then(|| hidden_files(client, read, first, &hidden)));
        }
    }
    found
}

/// Returns whether a directory is that of a skill, or lies in one: its files are parts of the skill.
fn is_in_skill(directory: &str, project: &ProjectFiles) -> bool {
    let mut above = Path::new(directory).ancestors();
    above.any(|above| {
        let entry = to_slashed(&above.join("SKILL.md"));
        project.files.binary_search(&entry).is_ok()
    })
}

fn hidden_files(
    client: &Client,
    read: &ClientRead,
    first: &Guide,
    hidden: &[String],
) -> Diagnostic {
    let (named, more) = hidden.split_at(hidden.len().min(NAMED));
    let more = if more.is_empty() { "" } else { ", …" };
    let name = first.path().file_name().unwrap_or_default().to_string_lossy();
    let message = format!(
        "{} does not read {} below this `{name}`: {}{more}",
        client.name,
        format_count(hidden.len(), &format!("`{}` file", read.path)),
        named.join(", "),
    );
    let help = format!(
        "add a `{name}` with the line `@{}` next to each, or run `brief hook install {}` to deliver them",
        read.path, client.id,
    );
    Diagnostic::new(rules::client::HIDDEN_FILE, &first.source, Span::empty_at(0), message)
        .with_help(help)
}

/// Reports pages about rules that a client loads as rules, always: once for each directory.
pub(super) fn check_pages(folder: &Folder) -> Vec<Diagnostic> {
    let mut pages: BTreeMap<&Path, Vec<&Guide>> = BTreeMap::new();
    for guide in folder.guides.iter().filter(|guide| is_loaded_page(guide)) {
        pages.entry(guide.path().parent().unwrap_or(guide.path())).or_default().push(guide);
    }
    let found = pages.into_values().filter_map(|pages| {
        let first = pages.first()?;
        let place = first.place.as_ref()?;
        let mut clients = BUILTIN.clients.iter();
        let client = clients.find(|client| read_of(client, Owner::Project, place).is_some())?;
        let names: Vec<String> =
            pages.iter().map(|page| format!("`{}`", file_name(page))).collect();
        let message = format!(
            "{} loads this page as a rule in every session: {} in `{}`",
            client.name,
            names.join(", "),
            place.path,
        );
        let help = "move pages for people out of the directory, or add a pattern to the page";
        let source = Arc::clone(&first.source);
        let rule = rules::client::PAGE_AS_RULE;
        Some(Diagnostic::new(rule, &source, Span::empty_at(0), message).with_help(help))
    });
    found.collect()
}

fn file_name(guide: &Guide) -> String {
    guide.path().file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Names of pages about the other files of a directory.
const PAGES: [&str; 7] =
    ["readme", "template", "rule-template", "changelog", "contributing", "license", "example"];

/// Returns whether a guide of a directory of rules is always loaded, and is called like a page about the others.
fn is_loaded_page(guide: &Guide) -> bool {
    let Some(place) = &guide.place else { return false };
    let is_rule = matches!(place.shape, PlaceShape::Tree(_))
        && !matches!(place.form, Form::Agent | Form::Skill);
    let name = file_name(guide);
    let stem = name.split('.').next().unwrap_or(&name).to_ascii_lowercase();
    let is_page = stem.starts_with('_') || PAGES.contains(&stem.as_str());
    is_rule && is_page && guide.scope.is_none() && matches!(guide.use_, Use::Active(_))
}
