//! The capabilities of an item, read from its files: its possible effects on a machine or an agent.
//!
//! Every file of an item goes through [`Inventory::scan_file`]. Nothing is executed or fetched, so the
//! same bytes always give the same list. A finding is a fact with its place and leaves the
//! judgment to the reader: a skill may bring a script. Only [`Capability::is_blocking`] names what an
//! installation refuses.

mod bytes;
mod decode;
mod fields;
mod injection;
mod names;
mod prose;
#[cfg(test)]
mod tests;
mod words;

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use brief_syntax::hidden::{self, HiddenClass, HiddenText};
use brief_syntax::text::{fold_line, visible_line};
use brief_syntax::{Diagnostic, Rule, Source, Span, limits, rules};
use brief_system::Permission;

use fields::is_markdown;
pub use fields::split_tools;
pub use names::is_guidance;
pub use prose::byte_set;

/// A possible effect of an item, or content that a reviewer cannot see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Capability {
    /// Invisible characters, characters that change the reading direction, and bytes that are not
    /// UTF-8.
    HiddenText,
    /// Archives, bytecode, programs and other bytes that a review cannot show.
    Opaque,
    /// Text that turns an agent against its user.
    Injection,
    /// Control characters of ASCII and Latin-1, which a terminal acts on.
    ControlCharacters,
    /// Long blocks of base64 or hexadecimal digits.
    Encoded,
    /// Commands that run when a text is read or an agent starts.
    Commands,
    /// Bundled code: scripts, programs, JavaScript tools.
    Scripts,
    /// Commands that run at events of a client.
    Hooks,
    /// Servers that a client starts or connects to.
    McpServers,
    /// Modes and rules that let a client act without approval.
    Permissions,
    /// Tools that an agent may use.
    Tools,
    OutsidePaths,
    /// Other files that are included in the text.
    Imports,
    Variables,
    Hosts,
    /// Comments that an agent reads and a rendered page hides.
    Comments,
}

impl Capability {
    /// All capabilities, the most severe first.
    pub const ALL: [Capability; 16] = [
        Capability::HiddenText,
        Capability::Opaque,
        Capability::Injection,
        Capability::ControlCharacters,
        Capability::Encoded,
        Capability::Commands,
        Capability::Scripts,
        Capability::Hooks,
        Capability::McpServers,
        Capability::Permissions,
        Capability::Tools,
        Capability::OutsidePaths,
        Capability::Imports,
        Capability::Variables,
        Capability::Hosts,
        Capability::Comments,
    ];

    /// Returns the name that users type and `brief.lock` records.
    pub const fn as_str(self) -> &'static str {
        self.rule().code().split_at("capability/".len()).1
    }

    /// Finds a capability by its name, which may be an old one.
    pub fn from_name(name: &str) -> Option<Capability> {
        let name = if name == "opaque" { "binary" } else { name };
        Capability::ALL.into_iter().find(|capability| capability.as_str() == name)
    }

    /// Returns whether an installation refuses it until the user accepts the item's content.
    pub fn is_blocking(self) -> bool {
        matches!(self, Capability::HiddenText | Capability::Opaque)
    }

    /// Returns the rule that its diagnostics break.
    pub const fn rule(self) -> Rule {
        FACTS[self as usize].0
    }

    /// Returns the start of a message, before the evidence.
    fn message_prefix(self) -> &'static str {
        FACTS[self as usize].1
    }
}

/// The rule of each capability and the start of its messages, in the order of [`Capability::ALL`].
const FACTS: [(Rule, &str); 16] = [
    (rules::capability::HIDDEN_TEXT, "text that readers cannot see"),
    (rules::capability::BINARY, "content that reviewers cannot see"),
    (rules::capability::INJECTION, "text that turns an agent against its user"),
    (rules::capability::CONTROL_CHARACTERS, "a control character"),
    (rules::capability::ENCODED, "an encoded block"),
    (rules::capability::COMMANDS, "a command that runs by itself"),
    (rules::capability::SCRIPTS, "bundled code"),
    (rules::capability::HOOKS, "a command that runs on an event"),
    (rules::capability::MCP_SERVERS, "an MCP server"),
    (rules::capability::PERMISSIONS, "a granted permission"),
    (rules::capability::TOOLS, "an allowed tool"),
    (rules::capability::OUTSIDE_PATHS, "a path outside the project"),
    (rules::capability::IMPORTS, "an imported file"),
    (rules::capability::VARIABLES, "an environment variable"),
    (rules::capability::HOSTS, "a network host"),
    (rules::capability::COMMENTS, "a comment that is not rendered"),
];

impl fmt::Display for Capability {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The longest evidence, in characters.
const EVIDENCE: usize = 120;

/// A capability and the place that proves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapabilityFinding {
    pub capability: Capability,
    /// The evidence: the command, the host, the name. One line, without hidden characters.
    pub evidence: String,
    pub source: Arc<Source>,
    /// The place in the file; empty for the whole file.
    pub span: Span,
}

impl CapabilityFinding {
    /// Formats the fact without its place, for `brief.lock`.
    pub fn render_fact(&self) -> String {
        // Quotation marks and backslashes would need escapes, and every tool call reads the lock.
        let evidence = self.evidence.replace('"', "'").replace('\\', "/");
        format!("{} {evidence}", self.capability)
    }

    /// Converts the finding to a diagnostic.
    pub fn to_diagnostic(&self) -> Diagnostic {
        let CapabilityFinding { capability, evidence, source, span } = self;
        // What stands before the reason is the path of the file.
        let shown = match evidence.split_once(": ") {
            Some((path, reason)) if *capability == Capability::Opaque => {
                format!("`{path}`: {reason}")
            }
            None if *capability == Capability::Opaque && evidence.ends_with('…') => {
                format!("`{evidence}`")
            }
            _ => evidence.clone(),
        };
        let message = format!("{}: {shown}", capability.message_prefix());
        Diagnostic::new(capability.rule(), source, *span, message)
    }
}

/// The capabilities of one item, each fact once, at its first place.
#[derive(Debug, Clone)]
pub struct Inventory {
    /// True for a skill or an agent, which clients expand in fewer places than commands and rules.
    is_skill: bool,
    findings: Vec<CapabilityFinding>,
    known: BTreeSet<(Capability, String)>,
}

impl Inventory {
    /// Starts the list of an item of this kind: `skill`, `agent`, `rule`, `command` and so on.
    pub fn new(kind: &str) -> Inventory {
        let is_skill = matches!(kind, "skill" | "agent");
        Inventory { is_skill, findings: Vec::new(), known: BTreeSet::new() }
    }

    /// Reads one more file: `slashed` is its path below the item, `path` its real path.
    pub fn scan_file(
        &mut self,
        slashed: &str,
        path: &Path,
        content: Vec<u8>,
        permission: Permission,
    ) {
        let mut file = FileScan::new(slashed, path, content);
        bytes::scan_bytes(&mut file, permission);
        if file.is_text {
            if hidden::hidden_characters(file.source.text()).next().is_some() {
                file.report_hidden_text(Capability::HiddenText, HiddenClass::hides_message);
                file.report_hidden_text(Capability::ControlCharacters, |class| {
                    !class.hides_message()
                });
            }
            fields::scan_fields(&mut file);
            let is_markdown = is_markdown(&file.file_extension());
            let fences =
                if is_markdown { prose::parse_fences(file.source.text()) } else { Vec::new() };
            prose::scan_prose(&mut file, &fences, self.is_skill);
            injection::scan_injections(&mut file, &fences);
            decode::scan_encoded_blocks(&mut file);
        }
        self.add_findings(file.findings);
    }

    /// Records an unreadable file as opaque.
    pub fn add_unreadable(&mut self, slashed: &str, path: &Path, why: &str) {
        let mut file = FileScan::new(slashed, path, Vec::new());
        file.add_finding(Capability::Opaque, Span::default(), &format!("{slashed}: {why}"));
        self.add_findings(file.findings);
    }

    fn add_findings(&mut self, findings: Vec<CapabilityFinding>) {
        for found in findings {
            if self.known.insert((found.capability, found.evidence.clone())) {
                self.findings.push(found);
            }
        }
    }

    /// Returns the findings, the most severe capabilities first, each in the order of its files. More of them than the
    /// limit are content that reviewers cannot see.
    pub fn finish(mut self) -> Vec<CapabilityFinding> {
        let count = self.findings.len();
        if let Some(first) = self.findings.first().filter(|_| count > limits::ITEM_CAPABILITIES) {
            let evidence = format!("{count} capabilities, more than {}", limits::ITEM_CAPABILITIES);
            let (capability, source) = (Capability::Opaque, Arc::clone(&first.source));
            self.findings.push(CapabilityFinding {
                capability,
                evidence,
                source,
                span: Span::default(),
            });
        }
        self.findings.sort_by_key(|found| found.capability);
        self.findings
    }
}

/// Formats findings for `brief.lock`, sorted.
pub fn render_facts(findings: &[CapabilityFinding]) -> Vec<String> {
    let mut facts: Vec<String> = findings.iter().map(CapabilityFinding::render_fact).collect();
    facts.sort_unstable();
    facts.dedup();
    facts
}

/// One file during the scan.
struct FileScan {
    /// The path below the item, with `/`.
    slashed: String,
    source: Arc<Source>,
    /// The bytes, if they are not text.
    content: Vec<u8>,
    is_text: bool,
    findings: Vec<CapabilityFinding>,
}

impl FileScan {
    fn new(slashed: &str, path: &Path, content: Vec<u8>) -> FileScan {
        let is_text = !bytes::is_binary(&content);
        let (source, content) = if is_text {
            (Source::from_bytes(path, content), Vec::new())
        } else {
            (Source::without_text(path), content)
        };
        let (slashed, source) = (slashed.to_owned(), Arc::new(source));
        FileScan { slashed, source, content, is_text, findings: Vec::new() }
    }

    fn name(&self) -> &str {
        self.slashed.rsplit('/').next().unwrap_or(&self.slashed)
    }

    /// Returns the extension in lower case.
    fn file_extension(&self) -> String {
        let name = self.name();
        name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default()
    }

    /// Reports hidden characters of the wanted classes, once.
    fn report_hidden_text(&mut self, capability: Capability, is_wanted: fn(HiddenClass) -> bool) {
        if let Some(found) = HiddenText::find_of(self.source.text(), is_wanted) {
            let at = found.first.offset;
            let span = Span::new(at, at + found.first.character.len_utf8());
            self.add_finding(capability, span, &found.message());
        }
    }

    fn add_finding(&mut self, capability: Capability, span: Span, evidence: &str) {
        let evidence = fold_line(&visible_line(evidence), EVIDENCE);
        if evidence.is_empty() {
            return;
        }
        let source = Arc::clone(&self.source);
        self.findings.push(CapabilityFinding { capability, evidence, source, span });
    }
}
