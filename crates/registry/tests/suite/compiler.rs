//! Two clients of the tests' own. Items become files of each, and one client has a shared file that lists its rules.

use std::collections::BTreeSet;

use brief_dialects::portable::output::{
    Compiled, Compiler, Merge, MergedOutput, OutputContent, OutputFile, Outputs, SharedEntry,
    SharedFile,
};
use brief_dialects::portable::{ItemKind, PortableItem};

/// The clients that items are compiled for.
pub(crate) const CLIENTS: [&str; 2] = ["claude", "opencode"];

/// The file of the second client that other tools and the user write to, too.
const SHARED: &str = "opencode.json";

/// The directory of rules that the shared file names.
const LISTED: &str = ".agents/rules/";

/// Compiles an item to a file for each client: its text, and its supporting files as they are.
#[derive(Debug)]
pub(crate) struct TestCompiler;

/// Returns the entry file of an item and the directory of its other files.
fn places(item: &PortableItem, client: &str) -> (String, String) {
    let (name, folder) = (item.name(), item.kind().folder());
    match (client, item.kind()) {
        (_, ItemKind::Skill) => {
            let top = if client == "claude" { ".claude" } else { ".agents" };
            (format!("{top}/skills/{name}/SKILL.md"), format!("{top}/skills/{name}"))
        }
        ("claude", _) => {
            (format!(".claude/{folder}/{name}.md"), format!(".claude/{folder}/{name}"))
        }
        (_, ItemKind::Agent) => {
            (format!(".opencode/agents/{name}.md"), format!(".opencode/agents/{name}"))
        }
        _ => (format!("{LISTED}{name}/RULE.md"), format!("{LISTED}{name}")),
    }
}

impl Compiler for TestCompiler {
    fn clients(&self) -> Vec<&str> {
        CLIENTS.to_vec()
    }

    fn fingerprint(&self) -> &'static str {
        "test"
    }

    fn compile(&self, item: &PortableItem, clients: &[&str]) -> Compiled {
        let mut files = Vec::new();
        for client in clients {
            let (entry, directory) = places(item, client);
            let text = item.document().source().text().to_owned();
            files.push(OutputFile { path: entry, content: OutputContent::Text(text) });
            files.extend(item.files().iter().map(|file| OutputFile {
                path: format!("{directory}/{}", file.path),
                content: OutputContent::Copy(file.path.clone()),
            }));
        }
        Compiled { files, ..Compiled::default() }
    }

    fn could_write(&self, path: &str) -> bool {
        [".claude/", ".agents/", ".opencode/"].iter().any(|top| path.starts_with(top))
    }

    fn could_share(&self, path: &str) -> bool {
        path == SHARED
    }

    fn watched_paths(&self) -> Vec<String> {
        Vec::new()
    }

    fn list_shared_files(&self, project: &Outputs<'_>) -> Vec<SharedFile> {
        let has_rules =
            |files: &BTreeSet<String>| files.iter().any(|path| path.starts_with(LISTED));
        if !has_rules(project.files) {
            return Vec::new();
        }
        let (key, value) = ("instructions".to_owned(), format!("{LISTED}**"));
        vec![SharedFile {
            path: SHARED.to_owned(),
            entries: vec![SharedEntry::Listed { key, value }],
        }]
    }

    /// Keeps each entry as a line of its own after the opening brace.
    fn merge_entries(&self, request: &Merge<'_>) -> Result<MergedOutput, String> {
        let line = |entry: &SharedEntry| format!("  // {}\n", entry.name());
        let mut text = request.text.unwrap_or("{\n}\n").to_owned();
        for entry in request.before {
            text = text.replacen(&line(entry), "", 1);
        }
        let rest = text.strip_prefix("{\n").ok_or("there is no opening brace")?;
        let added: String = request.wanted.iter().map(line).collect();
        let text = format!("{{\n{added}{rest}");
        let text = (text != "{\n}\n").then_some(text);
        Ok(MergedOutput { text, entries: request.wanted.to_vec(), kept: Vec::new() })
    }
}
