//! Helpers of the tests: a project in memory with one agent, and findings as plain text.

use std::path::Path;

use brief_dialects::agents::{Agent, AgentOptions, Loaded, load_agent};
use brief_syntax::Severity;
use brief_system::MemorySystem;

/// The file of most tests' agent.
pub(crate) const PATH: &str = "/p/agents/dev_x.agent.md";

/// A project `/p` of a user whose home is `/home/u`.
pub(crate) fn project() -> MemorySystem {
    MemorySystem::new("/p").with_dir("/home/u").with_env("HOME", "/home/u")
}

/// A project with one agent.
pub(crate) fn with_agent(text: &str) -> MemorySystem {
    project().with_file(PATH, text)
}

/// Reads an agent of `/p`.
pub(crate) fn loaded_from(system: &MemorySystem, path: &str) -> Loaded {
    load_agent(system, Path::new(path), &AgentOptions { root: Some(Path::new("/p")), fetched: &[] })
}

/// Reads a text as the agent of a project that has nothing else.
pub(crate) fn loaded(text: &str) -> Loaded {
    loaded_from(&with_agent(text), PATH)
}

/// The agent, which must be valid.
pub(crate) fn agent(text: &str) -> Agent {
    let loaded = loaded(text);
    loaded.agent().unwrap_or_else(|| panic!("{text}: {:?}", findings(&loaded))).clone()
}

/// The agent of a header and the body `# T`.
pub(crate) fn with_header(header: &str) -> Agent {
    agent(&headed(header))
}

/// A header above the body `# T`.
pub(crate) fn headed(header: &str) -> String {
    format!("---\n{header}\n---\n# T\n")
}

/// The findings: `line code message`, without the prefix that codes must have.
pub(crate) fn findings(loaded: &Loaded) -> Vec<String> {
    let shown = loaded.diagnostics().iter().map(|found| {
        let code = found.code().strip_prefix("agent-file/").unwrap();
        format!("{} {code} {}", found.position().line, found.message)
    });
    shown.collect()
}

/// The codes of the errors, each with its line.
pub(crate) fn errors(text: &str) -> Vec<String> {
    of_severity(&loaded(text), Severity::Error)
}

/// The codes of the warnings, each with its line, of a text that must be valid.
pub(crate) fn warnings(text: &str) -> Vec<String> {
    let loaded = loaded(text);
    assert!(loaded.agent().is_some(), "{text}: {:?}", findings(&loaded));
    of_severity(&loaded, Severity::Warning)
}

/// The codes of one severity, each with its line.
pub(crate) fn of_severity(loaded: &Loaded, severity: Severity) -> Vec<String> {
    let found = loaded.diagnostics().iter().filter(|found| found.severity == severity);
    let shown = found.map(|found| {
        let code = found.code().strip_prefix("agent-file/").unwrap();
        format!("{} {code}", found.position().line)
    });
    shown.collect()
}

/// The help of the only finding.
pub(crate) fn help(text: &str) -> String {
    let loaded = loaded(text);
    assert_eq!(loaded.diagnostics().len(), 1, "{text}: {:?}", findings(&loaded));
    loaded.diagnostics()[0].help.clone().unwrap()
}
