//! Clients that a project describes itself, in `.brief/clients/NAME.toml`.
//!
//! Such a file has the keys of our own. It adds a client; it cannot change one that is built in, because then
//! a project could keep guidance from the clients of everybody who opens it.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use brief_syntax::near_miss::find_nearest;
use brief_syntax::{Diagnostic, Source, Span, limits, rules};
use brief_system::{Dir, Files};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use toml_edit::{Array, ArrayOfTables, Document, Item, Key, Table, Value, value};

use crate::{BUILTIN, Client, KnownClients, Text};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownClient {
    /// The name that was typed.
    pub name: String,
    /// A similar name of a client.
    pub near: Option<String>,
    pub known: Vec<String>,
    /// The problem of the project's own file for it.
    pub problem: Option<String>,
}

impl fmt::Display for UnknownClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown client `{}`", self.name)
    }
}

impl std::error::Error for UnknownClient {}

impl UnknownClient {
    /// Makes the error for a name that is not among those of clients.
    pub fn new(name: &str, known: &[&str]) -> UnknownClient {
        let near = find_nearest(name, known).map(str::to_owned);
        let known = known.iter().map(|name| (*name).to_owned()).collect();
        UnknownClient { name: name.to_owned(), near, known, problem: None }
    }

    /// Returns the advice for a person or a model.
    pub fn hint(&self) -> String {
        if let Some(problem) = &self.problem {
            return format!("`{DIRECTORY}/{}.toml` cannot be used: {problem}", self.name);
        }
        let known = format!("known clients: {}", self.known.join(", "));
        match &self.near {
            Some(near) => format!("did you mean `{near}`? {known}"),
            None => known,
        }
    }
}

/// Refuses a client that is neither built in nor described by the project at `root`.
pub fn known_client(files: &dyn Files, root: &Path, name: &str) -> Result<(), UnknownClient> {
    if BUILTIN.find_client(name).is_some() {
        return Ok(());
    }
    let own = OwnClients::read_project(files, root);
    let known = own.known_clients();
    if known.find_client(name).is_some() {
        return Ok(());
    }
    let is_its =
        |problem: &&Diagnostic| problem.path().file_stem().is_some_and(|stem| stem == name);
    let problem = own.diagnostics.iter().find(is_its).map(|problem| problem.message.clone());
    Err(UnknownClient { problem, ..UnknownClient::new(name, &known.names()) })
}

/// The directory of a project's own clients.
pub const DIRECTORY: &str = ".brief/clients";

/// The most clients that a project describes.
const MOST_CLIENTS: usize = 32;

/// The clients of a project's own files, and what is wrong with the files.
#[derive(Debug, Default)]
pub struct OwnClients {
    /// The clients whose files are right, by name.
    pub clients: Vec<Client>,
    /// All files that were read, by name.
    pub sources: Vec<Arc<Source>>,
    pub diagnostics: Vec<Diagnostic>,
}

impl OwnClients {
    /// Reads the clients that a project describes. `top` is its root, at `root`.
    pub fn read(top: &dyn Dir, root: &Path) -> OwnClients {
        let mut own = OwnClients::default();
        let Ok(directory) = top.open_dir_below(Path::new(DIRECTORY)) else { return own };
        let mut entries = directory.first_entries(MOST_CLIENTS).unwrap_or_default();
        entries.sort_unstable();
        for entry in entries {
            let path = root.join(DIRECTORY).join(&entry.name);
            if path.extension().is_none_or(|extension| extension != "toml") {
                continue;
            }
            match directory.read(&entry.name, limits::FILE_BYTES) {
                Ok(bytes) => own.add_source(Arc::new(Source::from_bytes(path, bytes))),
                Err(error) => {
                    let source = Arc::new(Source::without_text(&path));
                    let message = format!("cannot read the client file: {error}");
                    own.diagnostics.push(client_problem(&source, Span::default(), message));
                }
            }
        }
        own
    }

    /// Reads the clients of the project at `root`.
    pub fn read_project(system: &dyn Files, root: &Path) -> OwnClients {
        match system.open_root(root) {
            Ok((top, path)) => OwnClients::read(top.as_ref(), &path),
            Err(_) => OwnClients::default(),
        }
    }

    /// Adds the client of one file.
    pub fn add_source(&mut self, source: Arc<Source>) {
        match parse_client(&source) {
            Ok(client) => {
                // What two clients say differently of one place is said of the second.
                let mut clients = self.clients.clone();
                clients.push(client);
                match BUILTIN.with_clients(clients.clone()) {
                    Ok(_) => self.clients = clients,
                    Err(message) => {
                        self.diagnostics.push(client_problem(&source, Span::default(), message));
                    }
                }
            }
            Err(problems) => self.diagnostics.extend(problems),
        }
        self.sources.push(source);
    }

    /// Returns the clients that are known in the project.
    pub fn known_clients(&self) -> Cow<'static, KnownClients> {
        match BUILTIN.with_clients(self.clients.clone()) {
            Ok(known) if !self.clients.is_empty() => Cow::Owned(known),
            _ => Cow::Borrowed(&BUILTIN),
        }
    }

    /// Returns the files of the clients that items are compiled for.
    pub fn compiled_sources(&self) -> impl Iterator<Item = &Arc<Source>> {
        let is_compiled = |source: &&Arc<Source>| {
            let stem = source.path().file_stem();
            let mut clients = self.clients.iter().filter(|client| client.source.is_some());
            clients.any(|client| stem.is_some_and(|stem| stem == &*client.id))
        };
        self.sources.iter().filter(is_compiled)
    }
}

/// Reads a client's file. Each problem names the line, and the way out.
pub fn parse_client(source: &Arc<Source>) -> Result<Client, Vec<Diagnostic>> {
    let text = source.text();
    let wrong = |span: Option<std::ops::Range<usize>>, message: String| {
        let span = span.map_or(Span::default(), |range| Span::new(range.start, range.end));
        client_problem(source, span, message)
    };
    let document = Document::parse(text).map_err(|error| {
        vec![wrong(error.span(), format!("the file is not valid TOML: {}", error.message()))]
    })?;
    let mut problems = Vec::new();
    // Each key by itself, so that one mistake does not hide the next.
    for (key, item) in document.iter() {
        let place = document.key(key).and_then(Key::span);
        for part in split_elements(item) {
            let mut table = required_keys();
            table.insert(key, part);
            if let Err(error) = deserialize_client(table) {
                let span = error.span().or_else(|| place.clone());
                problems.push(wrong(span, format!("`{key}`: {}", error.message())));
            }
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut client = deserialize_client(document.as_table().clone())
        .map_err(|error| vec![wrong(None, error.message().to_owned())])?;
    problems.extend(check_client(source, &client).into_iter().map(|(place, message)| {
        let start = text.find(&format!("\"{place}\"")).unwrap_or_default();
        wrong(Some(start..start + place.len() + 2), message)
    }));
    if client.outputs().next().is_some() {
        client.source = Some(Text::from(text.to_owned()));
    }
    if problems.is_empty() { Ok(client) } else { Err(problems) }
}

fn deserialize_client(table: Table) -> Result<Client, toml_edit::de::Error> {
    Client::deserialize(Value::from(table.into_inline_table()).into_deserializer())
}

/// Returns the elements of a list one by one, and anything else as it is.
fn split_elements(item: &Item) -> Vec<Item> {
    if let Some(list) = item.as_array().filter(|list| !list.is_empty()) {
        list.iter().map(|element| value(Array::from_iter([element.clone()]))).collect()
    } else if let Some(tables) = item.as_array_of_tables() {
        let one = |table: &Table| Item::ArrayOfTables(ArrayOfTables::from_iter([table.clone()]));
        tables.iter().map(one).collect()
    } else {
        vec![item.clone()]
    }
}

/// The keys that every client has.
fn required_keys() -> Table {
    let seen = Table::from_iter([("how", value("documents")), ("date", value("2026-01-01"))]);
    Table::from_iter([("id", value("x")), ("name", value("x")), ("seen", Item::Table(seen))])
}

fn client_problem(source: &Arc<Source>, span: Span, message: String) -> Diagnostic {
    Diagnostic::new(rules::item::INVALID_CONFIG, source, span, message)
        .with_help("run `brief schema client` to print the keys; docs/clients has valid examples")
}

/// Returns whether a text has a-z, 0-9 and hyphens only, as names of clients and settings do.
pub fn is_plain_word(text: &str) -> bool {
    let is_part = |byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    !text.is_empty() && text.bytes().all(is_part)
}

/// Returns the values that are wrong, each with the reason.
fn check_client(source: &Source, client: &Client) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let id = &*client.id;
    if !is_plain_word(id) {
        found.push((
            id.to_owned(),
            "a client's `id` can contain only a-z, 0-9 and hyphens".to_owned(),
        ));
    } else if source.path().file_stem().is_none_or(|stem| stem != id) {
        found.push((id.to_owned(), format!("the file of this client must be named `{id}.toml`")));
    }
    for name in std::iter::once(&client.id).chain(&client.aliases) {
        if BUILTIN.find_client(name).is_some() {
            let message = format!(
                "`{name}` is built in; change single keys of it in `[clients.{name}]` of brief.toml"
            );
            found.push((name.to_string(), message));
        }
    }
    if let Some(other) = &client.items_of
        && !crate::COMPILED.contains(&&**other)
    {
        let near = find_nearest(other, &crate::COMPILED);
        let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        found.push((other.to_string(), format!("items are not compiled for `{other}`{hint}")));
    }
    let reads = client.reads.iter().chain(&client.home_reads);
    let paths = reads.flat_map(|read| std::iter::once(&read.path).chain(read.unless.paths()));
    let directories = client.directories.iter().map(|directory| &directory.path);
    for path in paths
        .chain(directories)
        .chain(&client.signs)
        .chain(&client.home_signs)
        .chain(&client.ignores)
    {
        let is_name = |name: &str| !matches!(name, "" | "." | "..") && !name.contains(['\\', ':']);
        if !path.trim_end_matches('/').split('/').all(is_name) {
            found.push((path.to_string(), format!("`{path}` is not a plain relative path")));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const RIGHT: &str = "id = \"acme\"\nname = \"Acme\"\n\
                         seen = { how = \"documents\", date = \"2026-11-16\" }\n";

    fn problems(text: &str) -> Vec<String> {
        let source = Arc::new(Source::new("acme.toml", text));
        let found = parse_client(&source).err().unwrap_or_default();
        found.iter().map(|one| format!("{}: {}", one.position().line, one.message)).collect()
    }

    #[test]
    fn every_problem_has_a_line() {
        assert_eq!(problems(RIGHT), [""; 0]);
        let found = problems(&format!(
            "{RIGHT}reads = [\n  {{ path = \"A.md\", seat = [] }},\n  {{ path = \"B.md\", form = \"rst\" }},\n]\n\
             sings = []\n"
        ));
        let expected = [
            ("5: ", "unknown field `seat`"),
            ("6: ", "unknown variant `rst`"),
            ("8: ", "unknown field `sings`"),
        ];
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        for (found, (line, message)) in found.iter().zip(expected) {
            assert!(found.starts_with(line) && found.contains(message), "{found}");
        }
    }

    #[test]
    fn a_client_that_is_built_in_stays_as_it_is() {
        for (text, message) in [
            (RIGHT.replace("acme", "claude"), "`claude` is built in"),
            (RIGHT.replace("acme", "other"), "must be named `other.toml`"),
            (RIGHT.replace("acme", "A b"), "can contain only a-z, 0-9 and hyphens"),
            (format!("{RIGHT}aliases = [\"codex\"]\n"), "`codex` is built in"),
            (format!("{RIGHT}reads = [{{ path = \"../x\" }}]\n"), "not a plain relative path"),
            (format!("{RIGHT}signs = [\"/etc\"]\n"), "not a plain relative path"),
            (format!("{RIGHT}items-of = \"cluade\"\n"), "did you mean `claude`?"),
            ("id = \"acme\"\n".to_owned(), "missing field `name`"),
            ("id = [".to_owned(), "the file is not valid TOML"),
        ] {
            let found = problems(&text);
            assert!(found.iter().any(|found| found.contains(message)), "{text}: {found:?}");
        }
    }

    #[test]
    fn an_own_client_is_known_beside_ours() {
        let mut own = OwnClients::default();
        let text =
            format!("{RIGHT}reads = [{{ path = \"ACME.md\" }}, {{ path = \"AGENTS.md\" }}]\n");
        own.add_source(Arc::new(Source::new("acme.toml", text)));
        let known = own.known_clients();
        assert!(known.find_client("acme").is_some() && known.find_client("claude").is_some());
        assert_eq!(known.project.len(), BUILTIN.project.len() + 1);
        assert!(known.is_beginning("ACME.md") && !BUILTIN.is_beginning("ACME.md"));
        let other = format!("{RIGHT}reads = [{{ path = \"AGENTS.md\", form = \"cursor\" }}]\n");
        let mut own = OwnClients::default();
        own.add_source(Arc::new(Source::new("acme.toml", other)));
        assert!(own.diagnostics[0].message.contains("disagree on what `AGENTS.md` is"));
    }
}
