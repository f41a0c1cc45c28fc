//! Packages that a project has chosen: what is installed now, beside what was accepted.
//!
//! `brief sync` records the version, the files and the capabilities of each. A later version is listed by
//! itself as long as it can do no more; one that gained something waits until a user has seen it. The
//! same version with another content is not what was accepted, and waits, too.

use std::path::Path;

use brief_system::System;

use super::model::{LockedDependency, Package, ShippedFile, ShippedKind, is_plain};
use super::package_base::PackageBase;
use super::search::{Packages, find_installed_package};
use super::text::{PackageContent, ShippedText, read_texts};

/// A chosen package, as it is installed now.
#[derive(Debug)]
pub(super) struct ChosenPackage {
    pub(super) package: Package,
    pub(super) texts: Vec<ShippedText>,
    /// True for what was accepted and for a version that can do no more; any other waits for a user.
    pub(super) is_offered: bool,
    pub(super) reason: String,
}

/// Looks at one chosen package, and into no other. The error has the notes about a package that is not
/// installed, or lies where it is not read.
pub(super) fn resolve_chosen_package(
    system: &dyn System,
    root: &Path,
    directory: &Path,
    locked: &LockedDependency,
) -> Result<ChosenPackage, Vec<String>> {
    let base = PackageBase::new(system, root);
    let id = &locked.id;
    let owner = match locked.from.as_str() {
        _ if !is_plain(&id.name) => return Err(Vec::new()),
        "" => directory.to_owned(),
        from if is_plain(from) => directory.join(from),
        _ => return Err(Vec::new()),
    };
    let found =
        find_installed_package(&base, &owner, (id.ecosystem, &id.name), |environment, found| {
            let accepted = found.iter().position(|package| package.id.version == id.version);
            let package = found.into_iter().nth(accepted.unwrap_or(0))?;
            Some(compare_with_lock(system, environment, package, locked))
        });
    found.ok_or_else(|| base.finish().0)
}

fn compare_with_lock(
    system: &dyn System,
    environment: &dyn Packages,
    mut package: Package,
    locked: &LockedDependency,
) -> ChosenPackage {
    package.files =
        locked.files.iter().filter_map(|(path, _)| find_shipped_file(&package, path)).collect();
    let texts = read_texts(system, &package);
    let hashes = texts.iter().map(|text| (&text.file.slashed, &text.sha256));
    let is_same = hashes.eq(locked.files.iter().map(|(path, sha256)| (path, sha256)));
    if is_same {
        let reason = format!("the project offers {}", package.id);
        return ChosenPackage { package, texts, is_offered: true, reason };
    }
    environment.search_guidance(&mut package);
    let content = PackageContent::read(system, &package);
    let capabilities = content.capabilities();
    let gained = capabilities.iter().find(|fact| !locked.capabilities.contains(fact));
    let (id, version) = (&package.id, &locked.id.version);
    let is_same_version = id.version == *version;
    let reason = match gained {
        _ if is_same_version => format!("the content of {id} differs from the accepted content"),
        None => format!(
            "the project offers {id}, which has no more capabilities than the accepted {version}"
        ),
        Some(fact) => format!("{id} has more capabilities than the accepted {version}: {fact}"),
    };
    let is_offered = !is_same_version && gained.is_none();
    ChosenPackage { package, texts: content.texts, is_offered, reason }
}

/// Returns a recorded file, if it is one that a package can ship: a record may have been edited.
fn find_shipped_file(package: &Package, path: &str) -> Option<ShippedFile> {
    if !is_plain(path) {
        return None;
    }
    // A distribution of Python lies in a directory beside others.
    let below = package.code.iter().find_map(|code| {
        let code = code.strip_prefix(&package.directory).ok()?;
        let below = Path::new(path).strip_prefix(code).ok()?;
        below.to_str()
    });
    let kind = ShippedKind::from_path(below?)?;
    Some(ShippedFile { kind, slashed: path.to_owned() })
}
