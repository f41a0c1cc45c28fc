//! Who owns an item: the owner that it names, or else that of its file in `CODEOWNERS`.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_checks::reviews::read_code_owners;
use brief_dialects::stewardship::read_stewards;
use brief_syntax::code_owners::CodeOwners;
use brief_syntax::{Source, limits};
use brief_system::System;

/// The owners of the items of a project. Each file is read once.
pub struct OwnerLookup<'s> {
    system: &'s dyn System,
    root: PathBuf,
    code_owners: CodeOwners,
    /// The owners that files name, each with its lines.
    named: BTreeMap<String, Vec<(RangeInclusive<usize>, String)>>,
}

impl<'s> OwnerLookup<'s> {
    pub fn read(system: &'s dyn System, root: &Path) -> OwnerLookup<'s> {
        let code_owners = read_code_owners(system, root);
        OwnerLookup { system, root: root.to_owned(), code_owners, named: BTreeMap::new() }
    }

    /// Returns the owners of the item at a line of a file below the root, with `/`; none if nobody owns it.
    pub fn find_owners(&mut self, path: &str, line: usize) -> Vec<String> {
        let (system, root) = (self.system, &self.root);
        let named = self
            .named
            .entry(path.to_owned())
            .or_insert_with(|| read_named(system, &root.join(path)));
        let own = named.iter().find(|(lines, _)| lines.contains(&line)).map(|(_, owner)| owner);
        match own {
            Some(owner) => vec![owner.clone()],
            None => self.code_owners.find_owners(path).to_vec(),
        }
    }
}

fn read_named(system: &dyn System, path: &Path) -> Vec<(RangeInclusive<usize>, String)> {
    let Ok(bytes) = system.read(path, limits::FILE_BYTES) else { return Vec::new() };
    let source = Arc::new(Source::from_bytes(path, bytes));
    let stewards = read_stewards(&source).into_iter();
    let named = stewards.filter_map(|steward| {
        let (first, last) = (steward.span.start, steward.span.end.saturating_sub(1));
        let lines = source.line_number(first)..=source.line_number(last.max(first));
        Some((lines, steward.owner?))
    });
    named.collect()
}
