//! The layouts of other tools that keep guidance for several clients.
//!
//! rulesync 17, ruler 0.3 and apm 0.35 (sources and runs of 2026-11-15). Their files have the fields of some client, or
//! fields of their own that name clients.

use brief_dialects::portable::ItemKind;
use brief_profiles::Form;

use crate::compile::yaml::{Map, YamlValue, parts_of};

use super::collect::join_path;
use super::found::ImportCandidate;
use super::header::key_of;

/// A directory of a tool: the tool, the directory, the ending, the kind, the form, and the client whose fields its files
/// have.
type PeerPlace = (&'static str, &'static str, &'static str, ItemKind, Form, Option<&'static str>);

const PLACES: [PeerPlace; 14] = [
    ("rulesync", ".rulesync/rules/", ".md", ItemKind::Rule, Form::Continue, None),
    ("rulesync", ".rulesync/subagents/", ".md", ItemKind::Agent, Form::Agent, None),
    ("rulesync", ".rulesync/commands/", ".md", ItemKind::Command, Form::Plain, None),
    ("rulesync", ".rulesync/skills/", "/SKILL.md", ItemKind::Skill, Form::Skill, None),
    ("ruler", ".ruler/skills/", "/SKILL.md", ItemKind::Skill, Form::Skill, None),
    ("ruler", ".ruler/agents/", ".md", ItemKind::Agent, Form::Agent, Some("claude")),
    ("ruler", ".ruler/", ".md", ItemKind::Rule, Form::Plain, None),
    (
        "apm",
        ".apm/instructions/",
        ".instructions.md",
        ItemKind::Rule,
        Form::Copilot,
        Some("copilot"),
    ),
    ("apm", ".apm/agents/", ".agent.md", ItemKind::Agent, Form::Agent, Some("copilot")),
    ("apm", ".apm/chatmodes/", ".chatmode.md", ItemKind::Agent, Form::Agent, Some("copilot")),
    ("apm", ".apm/prompts/", ".prompt.md", ItemKind::Command, Form::Plain, Some("copilot")),
    ("apm", ".apm/context/", ".md", ItemKind::Rule, Form::Plain, None),
    ("apm", ".apm/skills/", "/SKILL.md", ItemKind::Skill, Form::Skill, None),
    ("ai-rules", "ai-rules/", ".md", ItemKind::Rule, Form::Continue, None),
];

/// Names of clients in rulesync, ruler and apm, where they differ from ours.
const NAMES: [(&str, &str); 15] = [
    ("claudecode", "claude"),
    ("claudecode-legacy", "claude"),
    ("codexcli", "codex"),
    ("geminicli", "gemini"),
    ("qwencode", "qwen"),
    ("copilotcli", "copilot"),
    ("augmentcode", "augment"),
    ("factorydroid", "droid"),
    ("kilo", "kilo"),
    ("antigravity-ide", "antigravity"),
    ("devin", "windsurf"),
    ("gemini-cli", "gemini"),
    ("kilocode", "kilo"),
    ("vscode", "copilot"),
    ("github-copilot", "copilot"),
];

/// Returns the directories of other tools' files.
pub(super) fn peer_directories() -> impl Iterator<Item = &'static str> {
    PLACES.iter().map(|(_, directory, ..)| directory.trim_end_matches('/'))
}

/// Recognizes a file of another tool by its path.
pub(super) fn recognize_peer_file(about: &str, rest: &str) -> Option<ImportCandidate> {
    // Every part of every path is asked about, and nearly none begins like one of the places.
    let first = rest.as_bytes().first();
    if PLACES.iter().all(|(_, directory, ..)| directory.as_bytes().first() != first) {
        return None;
    }
    let (peer, kind, form, client, inside) =
        PLACES.iter().find_map(|&(peer, directory, ending, kind, form, client)| {
            let inside = rest.strip_prefix(directory)?.strip_suffix(ending)?;
            let is_one = !inside.is_empty()
                && (peer != "ruler" || kind != ItemKind::Rule || !inside.starts_with("skills/"));
            is_one.then_some((peer, kind, form, client, inside))
        })?;
    let stem = inside.rsplit('/').next().unwrap_or(inside).to_owned();
    let above = rest.rsplit_once('/').map_or("", |(above, _)| above);
    let directory = (kind == ItemKind::Skill).then(|| join_path(about, above));
    let (client, about) = (client.map(str::to_owned), about.to_owned());
    Some(ImportCandidate { client, kind, form, about, stem, directory, peer: Some(peer) })
}

/// The clients and blocks that the fields of rulesync name.
#[derive(Debug, Default)]
pub(super) struct Targets {
    /// The clients; all, if there are none.
    pub(super) clients: Vec<String>,
    /// The fields for single clients.
    pub(super) blocks: Vec<(String, Map)>,
    /// Names that we know no client for.
    pub(super) unknown: Vec<String>,
}

/// Returns our name of a client that rulesync names.
pub(super) fn resolve_client_name(name: &str, clients: &[&str]) -> Option<String> {
    let known = NAMES.iter().find(|(own, _)| *own == name).map_or(name, |(_, ours)| ours);
    clients.contains(&known).then(|| known.to_owned())
}

/// Reads `targets` and the blocks of clients, and takes them out of the fields.
pub(super) fn extract_targets(fields: &mut Map, clients: &[&str]) -> Targets {
    let mut targets = Targets::default();
    let ours = |name: &str| resolve_client_name(name, clients);
    fields.retain(|(key, value)| {
        let name = key_of(key);
        match (name, value) {
            ("targets", value) => {
                for target in
                    parts_of(value).unwrap_or_default().iter().filter(|target| *target != "*")
                {
                    match ours(target) {
                        Some(client) if !targets.clients.contains(&client) => {
                            targets.clients.push(client);
                        }
                        Some(_) => {}
                        None => targets.unknown.push(target.clone()),
                    }
                }
                false
            }
            (name, YamlValue::Map(block)) => match ours(name) {
                Some(client) => {
                    targets.blocks.push((client, block.clone()));
                    false
                }
                None => true,
            },
            _ => true,
        }
    });
    targets
}
