//! The files of a project that belong to one installed item, and the client of each.
//!
//! An item is compiled once for each client, so a project has several copies. They count as one
//! item (ruling G14): a client gets its own copy and no other. The locks name the files of each
//! item. Nothing is trusted, written or removed because of them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use brief_profiles::{BUILTIN, Client, ItemOutput, Text};

use crate::dependencies::LockedDependency;
use crate::locked::{LockProblem, LockedContents, LockedFiles, locked_contents};
use crate::native;
use crate::portable::{CLIENTS, ItemId, ItemKind};

/// The name of the lock.
pub(crate) const LOCK_NAME: &str = "brief.lock";

/// The installed items of a project.
#[derive(Debug, Default)]
pub struct Installed {
    items: Vec<InstalledItem>,
    /// Every file of an item: its index in `items`, and the index of its copy, if it is one.
    files: HashMap<PathBuf, (usize, Option<usize>)>,
    /// The packages that the project has chosen, each with the directory of its lock.
    dependencies: Vec<(PathBuf, LockedDependency)>,
}

/// One item, with a copy for each client that it was compiled for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledItem {
    pub kind: ItemKind,
    pub name: String,
    /// The copies, in order of preference.
    pub copies: Vec<ClientCopy>,
    /// The clients of the item, where one of them shares the copy of another.
    pub shared_by: Vec<String>,
}

/// The copy of an item for one client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientCopy {
    /// The client of this copy.
    pub client: Cow<'static, str>,
    /// The file, absolute.
    pub path: PathBuf,
    /// The file below the lock's directory, with `/`.
    pub slashed: String,
}

/// A file of an installed item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstalledPiece<'i> {
    pub item: &'i InstalledItem,
    /// The index of the item, which tells it from others with its name.
    pub index: usize,
    /// The copy, if the file is one; `None` for a supporting file.
    pub copy: Option<&'i ClientCopy>,
}

impl Installed {
    /// Returns whether no item is installed.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns the number of installed files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Returns the items in the order of the locks.
    pub fn items(&self) -> &[InstalledItem] {
        &self.items
    }

    /// Returns the packages that the project has chosen, each with the directory of its lock.
    pub fn dependencies(&self) -> impl Iterator<Item = (&Path, &LockedDependency)> {
        self.dependencies.iter().map(|(directory, locked)| (directory.as_path(), locked))
    }

    /// Returns the item that a file belongs to.
    pub fn find_piece(&self, path: &Path) -> Option<InstalledPiece<'_>> {
        let &(index, copy) = self.files.get(path)?;
        let item = &self.items[index];
        Some(InstalledPiece { item, index, copy: copy.map(|copy| &item.copies[copy]) })
    }

    /// Adds the items of a lock, with their files below a directory.
    pub fn add_lock(&mut self, directory: &Path, lock: &str) -> Result<(), LockProblem> {
        let LockedContents { items, dependencies } = locked_contents(lock)?;
        self.dependencies.extend(dependencies.into_iter().map(|one| (directory.to_owned(), one)));
        for LockedFiles { kind, name, clients: shared_by, files } in items {
            let index = self.items.len();
            let mut copies: Vec<(usize, ClientCopy)> = Vec::new();
            let mut beside = Vec::new();
            for slashed in files {
                let path = directory.join(&slashed);
                match client_of(kind, &name, &slashed) {
                    Some((rank, client)) if is_text(&slashed) || is_table(&slashed) => {
                        copies.push((rank, ClientCopy { client, path, slashed }));
                    }
                    _ if is_text(&slashed) => beside.push(path),
                    _ => {}
                }
            }
            copies.sort_by_key(|(rank, _)| *rank);
            let copies: Vec<ClientCopy> = copies.into_iter().map(|(_, copy)| copy).collect();
            for (place, copy) in copies.iter().enumerate() {
                self.files.insert(copy.path.clone(), (index, Some(place)));
            }
            self.files.extend(beside.into_iter().map(|path| (path, (index, None))));
            self.items.push(InstalledItem { kind, name, copies, shared_by });
        }
        Ok(())
    }
}

impl InstalledItem {
    /// Returns the existing copy for a client: its own, else one that it reads. Without a client it
    /// is the preferred copy. `None` when all copies are for other clients.
    pub fn copy_for(
        &self,
        client: Option<&str>,
        is_there: impl Fn(&Path) -> bool,
    ) -> Option<&ClientCopy> {
        let mut there = self.copies.iter().filter(|copy| is_there(&copy.path));
        let Some(client) = client else { return there.next() };
        let there: Vec<&ClientCopy> = there.collect();
        let variant = variant_of(client);
        let is_own = |copy: &&&ClientCopy| {
            let is_shared = self.shared_by.iter().any(|client| client == variant);
            copy.client == variant
                || is_shared
                    && outputs_of(self.kind).any(|(client, template)| {
                        client == variant && is_copy(template, &self.name, &copy.slashed)
                    })
        };
        let own = there.iter().find(is_own);
        // A client of the document without a copy is not in the item's audience, unless the lock
        // says that it shares one. Other clients have no copies, but some of them read those of
        // others.
        let may_read =
            !CLIENTS.contains(&variant) || self.shared_by.iter().any(|client| client == variant);
        let is_read =
            |copy: &&&ClientCopy| may_read && native::client_reads_file(client, &copy.slashed);
        own.or_else(|| there.iter().find(is_read)).copied()
    }
}

/// Returns whether a client has its own copy of an item among the written files.
pub fn has_own_copy(id: &ItemId, client: &str, paths: &[&str]) -> bool {
    let owner = |path: &&str| client_of(id.kind, &id.name, path).map(|(_, client)| client);
    paths.iter().filter_map(owner).any(|owner| owner == variant_of(client))
}

/// Returns the name under which items are compiled for a client: the programs of one vendor that
/// share their files share the copies, too.
fn variant_of(client: &str) -> &str {
    match BUILTIN.find_client(client) {
        Some(known) => known.items_of.as_ref().unwrap_or(&known.id),
        None => client,
    }
}

/// Returns where clients find items of a kind, in order of preference for a question without a client:
/// the path in a project, and the one below the home directory.
fn outputs_of(kind: ItemKind) -> impl Iterator<Item = (&'static str, &'static Text)> {
    let output = move |client: &'static Client| -> Option<&'static ItemOutput> {
        match kind {
            ItemKind::Rule => client.rule.as_ref(),
            ItemKind::Skill => client.skill.as_ref(),
            ItemKind::Agent => client.agent.as_ref(),
            ItemKind::Command => client.command.as_ref(),
        }
    };
    let clients = || BUILTIN.clients.iter();
    let usual = clients().filter(|client| client.is_usual());
    let all = usual.chain(clients().filter(|client| !client.is_usual()));
    let outputs = all.filter_map(move |client| Some((client, output(client)?)));
    outputs.flat_map(|(client, output)| {
        std::iter::once(&output.path)
            .chain(output.home.other_path())
            .map(|path| (&*client.id, path))
    })
}

/// Returns whether a path is where an output goes.
fn is_copy(template: &str, name: &str, path: &str) -> bool {
    let (before, after) = template.split_once("{name}").unwrap_or((template, ""));
    path.strip_prefix(before).and_then(|rest| rest.strip_suffix(after)) == Some(name)
}

/// Returns the preference and the client of a copy; `None` for a supporting file.
fn client_of(kind: ItemKind, name: &str, path: &str) -> Option<(usize, Cow<'static, str>)> {
    let mut known = outputs_of(kind).enumerate();
    let is_it = |template: &Text| is_copy(template, name, path);
    if let Some((rank, (client, _))) = known.find(|(_, (_, template))| is_it(template)) {
        return Some((rank, Cow::Borrowed(client)));
    }
    // A client of the project's configuration: its directory has the client's name, and the file
    // the item's.
    let (first, rest) = path.strip_prefix('.')?.split_once('/')?;
    let of_known = |(_, template): (_, &Text)| {
        template.strip_prefix('.').and_then(|path| path.split('/').next()) == Some(first)
    };
    if ItemKind::ALL.into_iter().flat_map(outputs_of).any(of_known) {
        return None;
    }
    let (directory, file) = rest.rsplit_once('/').unwrap_or(("", rest));
    let is_own_directory = directory.rsplit('/').next() == Some(name);
    let is_copy = match file.strip_prefix(name) {
        Some(ending) => ending.starts_with('.') && !is_own_directory,
        None => is_own_directory && file == kind.entrypoint(),
    };
    is_copy.then(|| (usize::MAX, Cow::Owned(first.to_owned())))
}

fn is_text(path: &str) -> bool {
    let extension = Path::new(path).extension();
    extension.is_some_and(|extension| extension == "md" || extension == "mdc")
}

/// Returns whether a copy may have this form: Codex has its agents in TOML.
fn is_table(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "toml")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn installed(items: &[(&str, &str, &[&str])]) -> Installed {
        shared(items, "")
    }

    fn shared(items: &[(&str, &str, &[&str])], clients: &str) -> Installed {
        let mut lock = "version = 1\n".to_owned();
        for (kind, name, files) in items {
            lock.push_str(&format!(
                "\n[[item]]\nkind = \"{kind}\"\nname = \"{name}\"\n{clients}files = [\n"
            ));
            files.iter().for_each(|file| lock.push_str(&format!("  \"{file} 0a\",\n")));
            lock.push_str("]\n");
        }
        let mut installed = Installed::default();
        installed.add_lock(Path::new("/p"), &lock).unwrap();
        installed
    }

    fn chosen(installed: &Installed, client: Option<&str>) -> Option<String> {
        let copy = installed.items()[0].copy_for(client, |_| true);
        copy.map(|copy| copy.slashed.clone())
    }

    /// U20: the copies of one item are one item, each with its client.
    #[test]
    fn a_lock_names_the_item_and_the_client_of_each_text() {
        let installed = installed(&[
            ("skill", "pdf", &[".claude/skills/pdf/SKILL.md", ".claude/skills/pdf/run.py"]),
            ("rule", "go", &[".claude/rules/go.md", ".agents/rules/go/more.md"]),
        ]);
        let at = |path: &str| {
            let piece = installed.find_piece(Path::new(path))?;
            let client = piece.copy.map(|copy| copy.client.clone().into_owned());
            Some((piece.item.kind, piece.item.name.clone(), client))
        };
        let claude = || Some("claude".to_owned());
        assert_eq!(
            at("/p/.claude/skills/pdf/SKILL.md"),
            Some((ItemKind::Skill, "pdf".to_owned(), claude()))
        );
        assert_eq!(at("/p/.claude/rules/go.md"), Some((ItemKind::Rule, "go".to_owned(), claude())));
        assert_eq!(
            at("/p/.agents/rules/go/more.md"),
            Some((ItemKind::Rule, "go".to_owned(), None))
        );
        assert_eq!(at("/p/.claude/skills/pdf/run.py"), None, "a program is no guidance");
    }

    /// U20: a client gets its own copy, never another's; without a client the preferred one.
    #[test]
    fn who_asks_gets_the_copy_of_its_client() {
        let all = installed(&[(
            "rule",
            "go",
            &[
                ".agents/rules/go/RULE.md",
                ".claude/rules/go.md",
                ".github/instructions/go.instructions.md",
            ],
        )]);
        for (client, path) in [
            (None, Some(".claude/rules/go.md")),
            (Some("claude"), Some(".claude/rules/go.md")),
            (Some("copilot"), Some(".github/instructions/go.instructions.md")),
            (Some("copilot-cli"), Some(".github/instructions/go.instructions.md")),
            (Some("opencode"), Some(".agents/rules/go/RULE.md")),
            (Some("codex"), None),
        ] {
            assert_eq!(chosen(&all, client).as_deref(), path, "{client:?}");
        }
        let one = installed(&[("rule", "go", &[".claude/rules/go.md"])]);
        assert_eq!(chosen(&one, Some("opencode")), None, "`audience: [claude]`");
    }

    /// L07: a copy in TOML is one, too, and other files in TOML are none.
    #[test]
    fn a_copy_in_toml_is_one_of_its_client() {
        let files: &[&str] =
            &[".claude/agents/x.md", ".codex/agents/x.toml", ".agents/agents/x/settings.toml"];
        let both = installed(&[("agent", "x", files)]);
        for (client, path) in [
            (Some("claude"), Some(".claude/agents/x.md")),
            (Some("codex"), Some(".codex/agents/x.toml")),
            (Some("gemini"), None),
        ] {
            assert_eq!(chosen(&both, client).as_deref(), path, "{client:?}");
        }
        assert!(both.find_piece(Path::new("/p/.agents/agents/x/settings.toml")).is_none());
    }

    /// With `layout = "shared"` a client reads the copy of another one, and the lock says so.
    #[test]
    fn a_copy_that_a_client_shares_is_its_own() {
        for (kind, path, others) in [
            ("skill", ".claude/skills/pdf/SKILL.md", ["copilot", "opencode"].as_slice()),
            ("rule", ".claude/rules/pdf.md", &["copilot"]),
        ] {
            let items: &[(&str, &str, &[&str])] = &[(kind, "pdf", &[path])];
            let clients =
                format!("clients = [\n  \"claude\",\n  \"{}\",\n]\n", others.join("\",\n  \""));
            let (alone, shared) = (installed(items), shared(items, &clients));
            for client in others {
                assert_eq!(chosen(&shared, Some(client)).as_deref(), Some(path), "{client}");
                assert_eq!(chosen(&alone, Some(client)), None, "`audience: [claude]`");
            }
            assert_eq!(chosen(&shared, Some("codex")), None);
        }
    }

    /// A client that only `brief.toml` defines has its own copy, too.
    #[test]
    fn a_client_of_the_project_is_known_by_its_directory() {
        let files: &[&str] = &[".cursor/rules/go.mdc", ".claude/rules/go.md", ".x/go/RULE.md"];
        let own = installed(&[("rule", "go", files)]);
        assert_eq!(chosen(&own, Some("cursor")).as_deref(), Some(".cursor/rules/go.mdc"));
        assert_eq!(chosen(&own, Some("x")).as_deref(), Some(".x/go/RULE.md"));
        assert_eq!(chosen(&own, Some("windsurf")), None);
    }
}
