//! The compiler of portable items and the readers of sessions, through their public face.
#![expect(clippy::unwrap_used, reason = "a test stops where something is not as it should be")]

mod appendix;
mod bodies;
mod commands;
mod fields;
mod install;
mod matrix;
mod places;
mod profiles;
mod sessions;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use brief_clients::compile::{Compiled, OutputContent, compile_for};
use brief_clients::profile::{Profile, ProfileOptions, ProfileSettings, Profiles, Section};
use brief_dialects::portable::output::Outputs;
use brief_dialects::portable::{self, Registry};
use brief_profiles::OwnClients;
use brief_syntax::{Root, Source};
use brief_system::MemorySystem;

/// A registry in memory, with the clients that it is compiled for.
struct Shop {
    registry: Registry,
    profiles: Profiles,
    options: ProfileOptions,
}

impl Shop {
    /// A registry of these files.
    fn new(files: &[(&str, &str)]) -> Shop {
        Shop::configured("", files)
    }

    /// A registry of these files with a `brief.toml`.
    fn configured(configuration: &str, files: &[(&str, &str)]) -> Shop {
        let source = Arc::new(Source::new("/r/brief.toml", configuration));
        let profiles =
            Profiles::with_overrides(&source, &OwnClients::default(), Section::Build).unwrap();
        let options =
            ProfileSettings::parse_section(Section::Build, &source, &profiles).unwrap().options;
        let mut system = MemorySystem::new("/r");
        for (path, content) in files {
            system = system.with_file(path, content);
        }
        let root = Root::open(&system, Path::new("/r")).unwrap();
        let registry = portable::read_registry(&system, &root, &profiles.ids());
        Shop { registry, profiles, options }
    }

    /// Compiles the only item for the clients of the document and of the configuration.
    fn compile(&self) -> Compiled {
        let [item] = self.registry.items.as_slice() else { panic!("one item") };
        assert!(item.is_valid(), "{:?}", item.diagnostics());
        let profiles: Vec<&Profile> =
            self.profiles.iter().filter(|profile| profile.is_usual()).collect();
        compile_for(item, &profiles, &self.options, &self.profiles.ids())
    }

    /// Returns the text of the only item's output at a path.
    fn text(&self, path: &str) -> String {
        let compiled = self.compile();
        let file = compiled.files.iter().find(|file| file.path == path);
        match file.map(|file| &file.content) {
            Some(OutputContent::Text(text)) => text.clone(),
            other => panic!("`{path}` is {other:?} among {:?}", self.paths()),
        }
    }

    /// Returns the front matter of the only item's output at a path.
    fn header(&self, path: &str) -> String {
        let text = self.text(path);
        let (header, _) = text.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
        format!("{header}\n")
    }

    /// Returns what follows the front matter of the only item's output at a path.
    fn body(&self, path: &str) -> String {
        let text = self.text(path);
        text.split_once("\n---\n").unwrap().1.to_owned()
    }

    /// Returns the paths of the only item's outputs.
    fn paths(&self) -> Vec<String> {
        self.compile().files.into_iter().map(|file| file.path).collect()
    }

    /// Returns the codes and messages of what got lost.
    fn losses(&self) -> Vec<(&'static str, String)> {
        let diagnostics = self.compile().diagnostics.into_iter();
        diagnostics.map(|found| (found.code(), found.message)).collect()
    }
}

const RULE: &str = ".claude/rules/x.md";
const SKILL: &str = ".claude/skills/x/SKILL.md";
const AGENT: &str = ".claude/agents/x.md";

/// A rule `x` with more fields and a body.
fn rule(fields: &str, body: &str) -> Shop {
    Shop::new(&[("rules/x/RULE.md", &document(fields, body))])
}

/// A skill `x` with more fields and a body.
fn skill(fields: &str, body: &str) -> Shop {
    Shop::new(&[("skills/x/SKILL.md", &document(fields, body))])
}

/// An agent `x` with more fields and a body.
fn agent(fields: &str) -> Shop {
    Shop::new(&[("agents/x/AGENT.md", &document(fields, "## You\n"))])
}

/// The options that make outputs those of the document's tables, where a client does otherwise (ruling G13).
const BY_THE_DOCUMENT: &str = "[build]\nprofile = \"format\"\n";

/// An agent `x` with more fields, as the document's tables have it.
fn agent_by_the_document(fields: &str) -> Shop {
    let source = document(fields, "## You\n");
    Shop::configured(BY_THE_DOCUMENT, &[("agents/x/AGENT.md", &source)])
}

fn document(fields: &str, body: &str) -> String {
    format!(
        "---\nschema: 1\nname: x\ndescription: Does things\nlicense: MIT\n{fields}---\n\n{body}"
    )
}

static NO_FILES: BTreeSet<String> = BTreeSet::new();
static NO_TEXTS: BTreeMap<String, String> = BTreeMap::new();
static NO_SCOPES: BTreeMap<String, Vec<String>> = BTreeMap::new();

/// Returns the state of an empty project.
fn no_outputs() -> Outputs<'static> {
    Outputs {
        files: &NO_FILES,
        clients: &[],
        present: &NO_FILES,
        texts: &NO_TEXTS,
        scopes: &NO_SCOPES,
    }
}
