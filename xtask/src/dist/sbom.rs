//! The bill of materials: everything that is linked into the program, with its license.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use toml_edit::DocumentMut;

use super::{NAME, Release, read_file};
use crate::workspace_root;

/// A part of the program that others wrote.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Component {
    pub(super) name: String,
    /// Empty for what the building system brings.
    pub(super) version: String,
    pub(super) license: String,
    /// The directory of its source; `None` for what the building system brings.
    pub(super) directory: Option<PathBuf>,
    checksum: Option<String>,
    repository: Option<String>,
    /// The components that it uses, by reference.
    uses: BTreeSet<String>,
}

impl Component {
    /// Returns a part that no registry of crates has.
    pub(super) fn without_registry(name: &str, license: &str) -> Component {
        Component {
            name: name.to_owned(),
            version: String::new(),
            license: license.to_owned(),
            directory: None,
            checksum: None,
            repository: None,
            uses: BTreeSet::new(),
        }
    }

    fn reference(&self) -> String {
        match &self.directory {
            Some(_) => crate_reference(&self.name, &self.version),
            None => format!("pkg:generic/{}", self.name),
        }
    }

    fn to_json(&self) -> Value {
        let mut object = json!({
            "type": "library",
            "bom-ref": self.reference(),
            "name": self.name,
            "purl": self.reference(),
            "licenses": [{"expression": self.license}],
        });
        if !self.version.is_empty() {
            object["version"] = json!(self.version);
        }
        if let Some(sum) = &self.checksum {
            object["hashes"] = json!([{"alg": "SHA-256", "content": sum}]);
        }
        if let Some(url) = &self.repository {
            object["externalReferences"] = json!([{"type": "vcs", "url": url}]);
        }
        object
    }
}

fn crate_reference(name: &str, version: &str) -> String {
    format!("pkg:cargo/{name}@{version}")
}

/// Makes `brief-VERSION-TARGET.cdx.json` (`CycloneDX` 1.5).
pub(super) fn build_sbom(release: &Release) -> (String, Vec<u8>) {
    let version = &release.version;
    let program = json!({
        "type": "application",
        "bom-ref": format!("pkg:generic/{NAME}@{version}"),
        "name": NAME,
        "version": version,
        "purl": format!("pkg:generic/{NAME}@{version}"),
        "licenses": [{"expression": "MIT OR Apache-2.0"}],
        "hashes": [{"alg": "SHA-256", "content": brief_system::hash::sha256(&release.program)}],
    });
    let components: Vec<Value> = release.components.iter().map(Component::to_json).collect();
    let uses =
        |component: &Component| json!({"ref": component.reference(), "dependsOn": component.uses});
    let dependencies: Vec<Value> = release.components.iter().map(uses).collect();
    let bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": program},
        "components": components,
        "dependencies": dependencies,
    });
    let name = format!("brief-{version}-{}.cdx.json", release.platform.triple);
    (name, format!("{bill:#}\n").into_bytes())
}

/// Returns the crates from registries that the program for a target is linked from, sorted.
pub(super) fn list_linked_crates(target: &str) -> Result<Vec<Component>, String> {
    // The features of the programs alone: a test of another member may ask for more. All that `brief` has is in `brief-agent`, too.
    let tree =
        ["tree", "--package=brief-agent-cli", "--edges=normal,no-proc-macro", "--prefix=none"];
    let tree = run_cargo(&[&tree[..], &["--format={p}", "--locked", "--target", target]].concat())?;
    let tree = String::from_utf8_lossy(&tree).into_owned();
    let words = tree.lines().map(|line| line.split(' '));
    let chosen: BTreeSet<(&str, &str)> = words
        .filter_map(|mut words| Some((words.next()?, words.next()?.strip_prefix('v')?)))
        .collect();
    let metadata = ["metadata", "--format-version=1", "--locked", "--filter-platform", target];
    let metadata: Value =
        serde_json::from_slice(&run_cargo(&metadata)?).map_err(|error| error.to_string())?;
    let sums = read_checksums()?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut components = BTreeMap::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let (name, version) = (text(&package["name"]), text(&package["version"]));
        if package["source"].is_null() || !chosen.contains(&(name.as_str(), version.as_str())) {
            continue;
        }
        let license = text(&package["license"]).replace('/', " OR ");
        if license.is_empty() {
            return Err(format!("{name} {version} names no license"));
        }
        let manifest = PathBuf::from(text(&package["manifest_path"]));
        components.insert(
            text(&package["id"]),
            Component {
                checksum: sums.get(&(name.clone(), version.clone())).cloned(),
                directory: manifest.parent().map(Path::to_owned),
                repository: package["repository"].as_str().map(str::to_owned),
                uses: BTreeSet::new(),
                license,
                name,
                version,
            },
        );
    }
    let references: BTreeMap<String, String> =
        components.iter().map(|(id, component)| (id.clone(), component.reference())).collect();
    for node in metadata["resolve"]["nodes"].as_array().into_iter().flatten() {
        let Some(component) = components.get_mut(&text(&node["id"])) else { continue };
        let used = node["dependencies"].as_array().into_iter().flatten();
        component.uses = used.filter_map(|id| references.get(&text(id)).cloned()).collect();
    }
    let mut components: Vec<Component> = components.into_values().collect();
    components.sort_unstable();
    Ok(components)
}

/// Returns the SHA-256 of each crate file, from `Cargo.lock`.
fn read_checksums() -> Result<BTreeMap<(String, String), String>, String> {
    let lock = read_file(&workspace_root().join("Cargo.lock"))?;
    let lock: DocumentMut =
        String::from_utf8_lossy(&lock).parse().map_err(|error| format!("Cargo.lock: {error}"))?;
    let packages = lock.get("package").and_then(|packages| packages.as_array_of_tables());
    let sums = packages.into_iter().flatten().filter_map(|package| {
        let field = |name: &str| Some(package.get(name)?.as_str()?.to_owned());
        Some(((field("name")?, field("version")?), field("checksum")?))
    });
    Ok(sums.collect())
}

fn run_cargo(args: &[&str]) -> Result<Vec<u8>, String> {
    let mut command = Command::new(env!("CARGO"));
    let output = command.args(args).current_dir(workspace_root()).output();
    let output = output.map_err(|error| format!("cargo cannot be started: {error}"))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(format!("cargo {args:?}: {}", String::from_utf8_lossy(&output.stderr)))
}
