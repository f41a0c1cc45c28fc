//! All clients, and the places that they read, each once.

use super::constant::{List, Text, text};
use super::{Client, ClientRead, Form, PlaceFacts};

/// The clients that are known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KnownClients {
    pub clients: List<Client>,
    /// The places that they read in every directory of a project, in the order in which equally general files
    /// are delivered.
    pub project: List<ClientPlace>,
    /// The same below the home directory.
    pub home: List<ClientPlace>,
    /// The first bytes of the names that places of a project begin with: one bit for each ASCII character.
    pub(crate) first_bytes: u128,
}

/// A place where client files lie, whichever clients read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientPlace {
    /// The path below the directory that it is about.
    pub path: Text,
    /// The path as clients' files write it: with `/` at its end for a directory that may be a file, too.
    pub key: Text,
    pub shape: PlaceShape,
    /// The form of files there.
    pub form: Form,
}

/// The shape of a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlaceShape {
    File,
    Tree(FileNames),
    /// A directory of directories with a `SKILL.md` each.
    Skills,
}

/// The files of a directory that count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileNames {
    /// The endings of their names.
    pub endings: List<Text>,
    /// True if directories in it are entered.
    pub is_deep: bool,
    /// The directories in it that are not entered.
    pub skipped: List<Text>,
    /// The ending of names that look right and are not read, with the reason.
    pub look_alike: Option<(Text, Text)>,
}

/// The directory that the places of a plugin lie in: they are found by the client's settings.
const PLUGIN: &str = "PLUGIN/";

impl KnownClients {
    /// Collects the places that clients read. The error says what two of them say differently.
    pub fn from_clients(clients: Vec<Client>) -> Result<KnownClients, String> {
        KnownClients::default().with_clients(clients)
    }

    /// Adds clients, and the places that only they read.
    pub fn with_clients(&self, mut clients: Vec<Client>) -> Result<KnownClients, String> {
        let project = collect_places(&self.project, &clients, |client| &client.reads)?;
        let home = collect_places(&self.home, &clients, |client| &client.home_reads)?;
        for client in &mut clients {
            client.reads = without_facts(&client.reads);
            client.home_reads = without_facts(&client.home_reads);
        }
        clients.extend(self.clients.iter().cloned());
        clients.sort_by(|left, right| left.id.cmp(&right.id));
        let first_bytes = project.iter().filter_map(|place| place.path.bytes().next());
        let first_bytes = first_bytes.fold(0, |all, byte| all | byte_bit(byte));
        Ok(KnownClients {
            clients: clients.into(),
            project: project.into(),
            home: home.into(),
            first_bytes,
        })
    }

    /// Returns the client of a name or alias.
    pub fn find_client(&self, name: &str) -> Option<&Client> {
        self.clients.iter().find(|client| client.find_name(name).is_some())
    }

    /// Returns whether a client has a hook that delivers to it.
    pub fn has_hook(&self, name: &str) -> bool {
        self.find_client(name).is_some_and(|client| client.hook.is_some())
    }

    /// Returns all names and aliases, sorted.
    pub fn names(&self) -> Vec<&str> {
        let names = self
            .clients
            .iter()
            .flat_map(|client| std::iter::once(&client.id).chain(&client.aliases));
        let mut names: Vec<&str> = names.map(|name| &**name).collect();
        names.sort_unstable();
        names
    }

    /// Returns the clients whose own files a project has, by name; `is_there` is asked about paths at its top.
    pub fn clients_in_project(&self, is_there: impl Fn(&str) -> bool) -> Vec<&str> {
        self.with_sign(is_there, |client| &client.signs)
    }

    /// Returns the clients that a user has, by name; `is_there` is asked about paths below the home directory.
    pub fn shown_at_home(&self, is_there: impl Fn(&str) -> bool) -> Vec<&str> {
        self.with_sign(is_there, |client| &client.home_signs)
    }

    fn with_sign(
        &self,
        is_there: impl Fn(&str) -> bool,
        signs: impl Fn(&Client) -> &List<Text>,
    ) -> Vec<&str> {
        let is_shown = |client: &&Client| signs(client).iter().any(|sign| is_there(sign));
        self.clients.iter().filter(is_shown).map(|client| &*client.id).collect()
    }

    /// Returns whether a name in a directory is where any of the places of a project begin.
    pub fn is_beginning(&self, name: &str) -> bool {
        name.bytes().next().is_some_and(|byte| self.first_bytes & byte_bit(byte) != 0)
            && self.project.iter().any(|place| place.first_name() == name)
    }
}

fn byte_bit(byte: u8) -> u128 {
    1_u128.checked_shl(u32::from(byte)).unwrap_or_default()
}

impl ClientPlace {
    /// Returns the first name of the path: what to look for in a directory.
    pub fn first_name(&self) -> &str {
        self.path.split('/').next().unwrap_or(&self.path)
    }

    /// Describes the place that a client reads.
    fn from_read(client: &Client, read: &ClientRead, facts: &PlaceFacts) -> ClientPlace {
        let path = read.path.trim_end_matches('/');
        let form = facts.form.unwrap_or_else(|| usual_form(path));
        let shape = match form {
            Form::Skill => PlaceShape::Skills,
            Form::Instructions | Form::Legacy => PlaceShape::File,
            _ if facts.file => PlaceShape::File,
            _ => {
                let endings = facts.endings.first().cloned().unwrap_or(text(".md"));
                let reason = format!("{} reads only `{}` files here", &*client.name, &*endings);
                PlaceShape::Tree(FileNames {
                    endings: match &*facts.endings {
                        [] => vec![endings].into(),
                        _ => facts.endings.clone(),
                    },
                    is_deep: facts.deep,
                    skipped: facts.skipped.clone(),
                    look_alike: facts.look_alike.clone().map(|ending| (ending, Text::from(reason))),
                })
            }
        };
        ClientPlace { path: Text::from(path.to_owned()), key: read.path.clone(), shape, form }
    }
}

/// Returns the form that files at a path have when no client says otherwise.
fn usual_form(path: &str) -> Form {
    match path.rsplit_once('/') {
        Some((_, "skills" | "skill")) => Form::Skill,
        Some((_, "agents" | "agent")) => Form::Agent,
        _ => Form::Instructions,
    }
}

/// Returns the places that are known, and after them those that clients read besides.
fn collect_places(
    known: &[ClientPlace],
    clients: &[Client],
    reads: impl Fn(&Client) -> &[ClientRead],
) -> Result<Vec<ClientPlace>, String> {
    // A place that is known was described.
    let known = known.iter().map(|place| (0, place.clone(), true));
    let mut found: Vec<(u16, ClientPlace, bool)> = known.collect();
    let old = found.len();
    for client in clients {
        for read in reads(client).iter().filter(|read| !read.path.starts_with(PLUGIN)) {
            let facts = read.facts.as_deref().cloned().unwrap_or_default();
            let says = read.facts.is_some();
            let rank = facts.rank.unwrap_or(u16::MAX);
            let place = ClientPlace::from_read(client, read, &facts);
            match found.iter_mut().find(|(_, known, _)| known.key == place.key) {
                None => found.push((rank, place, says)),
                Some(known) if !known.2 => *known = (rank, place, says),
                Some((_, known, _)) if says && *known != place => {
                    let (id, path) = (&client.id, &read.path);
                    return Err(format!("{id} and another client disagree on what `{path}` is"));
                }
                Some(_) => {}
            }
        }
    }
    found[old..]
        .sort_by(|(left, one, _), (right, other, _)| (left, &one.path).cmp(&(right, &other.path)));
    let places: Vec<ClientPlace> = found.into_iter().map(|(_, place, _)| place).collect();
    for client in clients {
        for path in reads(client).iter().flat_map(|read| read.unless.paths()) {
            if !places.iter().any(|place| place.key == *path) {
                return Err(format!("{}: no client reads `{path}`", client.id));
            }
        }
    }
    Ok(places)
}

/// The places hold them from now on.
fn without_facts(reads: &[ClientRead]) -> List<ClientRead> {
    let plain = |read: &ClientRead| ClientRead { facts: None, ..read.clone() };
    reads.iter().map(plain).collect::<Vec<_>>().into()
}

#[cfg(test)]
mod tests {
    use crate::BUILTIN;

    /// A fact about a client carries the version or the documents, and the day.
    #[test]
    fn every_fact_has_a_day() {
        for client in &BUILTIN.clients {
            let date = &*client.seen.date;
            assert!(date.len() == "2026-11-16".len() && date.starts_with("20"), "{}", &*client.id);
            let is_run = client.seen.how == crate::Evidence::Run;
            assert_eq!(client.seen.version.is_some(), is_run, "{}", &*client.id);
        }
    }

    #[test]
    fn the_files_of_a_project_show_its_clients() {
        assert_eq!(BUILTIN.clients_in_project(|path| path == "AGENTS.md"), Vec::<&str>::new());
        assert_eq!(
            BUILTIN.clients_in_project(|path| path.starts_with(".c")),
            ["claude", "cline", "codex", "continue", "crush", "cursor"]
        );
    }

    /// Places that several clients read stand once, in the order in which their files are delivered.
    #[test]
    fn a_place_stands_once() {
        let paths: Vec<&str> = BUILTIN.project.iter().map(|place| &*place.key).collect();
        let agents = paths.iter().position(|path| *path == "AGENTS.md");
        let claude = paths.iter().position(|path| *path == "CLAUDE.md");
        assert!(agents < claude && agents.is_some());
        let mut unique = paths.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), paths.len());
    }
}
