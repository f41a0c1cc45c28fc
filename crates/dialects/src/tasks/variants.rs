//! Installed rules and skills in a prompt: one copy each, the agent's own (ruling G14).
//!
//! An installed item has a copy for each client in a search root, some of them in locations of
//! rules. The agent's copy may be in another location, so it is read by its path.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use brief_system::FileKind;

use crate::installed::{ClientCopy, Installed, InstalledItem};

use super::library::Library;
use super::model::{CodingAgent, TaskDocument, TaskFileKind};
use super::prompt::{OmittedDocument, PromptReason};

/// The installed files in the search roots, by paths without links.
#[derive(Debug, Default)]
pub struct FromElsewhere {
    /// Every installed file: its author is not the user.
    pub files: BTreeSet<PathBuf>,
    /// The items of the files.
    pub items: Installed,
}

impl Library<'_> {
    /// Returns the files of a kind, in order, with one copy of each installed item; and the other
    /// copies.
    pub(super) fn documents_for(
        &self,
        kind: TaskFileKind,
        namespace: Option<&str>,
        agent: Option<CodingAgent>,
    ) -> (Vec<TaskDocument>, Vec<OmittedDocument>) {
        let found = self.read_documents(kind, namespace, &|_| true);
        let installed = &self.elsewhere.items;
        if installed.is_empty() {
            return (found, Vec::new());
        }
        let client = agent.map(CodingAgent::as_str);
        let mut missing: BTreeMap<usize, &ClientCopy> = BTreeMap::new();
        if client.is_none() {
            // Without an agent the first copy is taken.
            let pieces =
                found.iter().filter_map(|document| installed.find_piece(&document.real_path));
            for piece in pieces.filter(|piece| as_document(piece.item) == Some(kind)) {
                if let Some(copy) = piece.copy {
                    missing.entry(piece.index).or_insert(copy);
                }
            }
        }
        for (index, item) in installed.items().iter().enumerate() {
            if as_document(item) == Some(kind) && !missing.contains_key(&index) {
                let copy = item.copy_for(client, |path| self.is_file(path));
                missing.extend(copy.map(|copy| (index, copy)));
            }
        }
        let chosen: BTreeSet<&Path> = missing.values().map(|copy| copy.path.as_path()).collect();
        let (mut documents, mut left_out) = (Vec::new(), Vec::new());
        let mut later: BTreeMap<PathBuf, TaskDocument> = BTreeMap::new();
        let mut order: Vec<Result<TaskDocument, usize>> = Vec::new();
        let mut met: BTreeSet<usize> = BTreeSet::new();
        for document in found {
            let Some(piece) = installed.find_piece(&document.real_path) else {
                order.push(Ok(document));
                continue;
            };
            // The first copy determines the position of the item.
            if missing.contains_key(&piece.index) && met.insert(piece.index) {
                order.push(Err(piece.index));
            }
            if chosen.contains(document.real_path.as_path()) {
                later.insert(document.real_path.clone(), document);
                continue;
            }
            let reason = match piece.copy {
                Some(copy) => {
                    PromptReason::OtherVariant { client: copy.client.clone().into_owned() }
                }
                None => PromptReason::Beside { item: piece.item.name.clone() },
            };
            left_out.push(OmittedDocument { document, reason });
        }
        order.extend(missing.keys().filter(|index| !met.contains(index)).map(|&index| Err(index)));
        for place in order {
            let document = match place {
                Ok(document) => Some(document),
                Err(index) => missing.get(&index).and_then(|copy| {
                    let read = || self.document_at(kind, &copy.path);
                    let mut document = later.remove(&copy.path).or_else(read)?;
                    installed.items()[index].name.clone_into(&mut document.stem);
                    Some(document)
                }),
            };
            documents.extend(document);
        }
        (documents, left_out)
    }

    fn is_file(&self, path: &Path) -> bool {
        self.system().resolve(path).is_ok_and(|found| found.kind == FileKind::File)
    }
}

/// Returns the kind of an item in a prompt; agents and commands have none.
fn as_document(item: &InstalledItem) -> Option<TaskFileKind> {
    match item.kind.as_str() {
        "rule" => Some(TaskFileKind::Rule),
        "skill" => Some(TaskFileKind::Skill),
        _ => None,
    }
}
