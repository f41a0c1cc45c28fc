//! Private parsers, exported for the targets in `fuzz/` only.

use std::sync::LazyLock;

use brief_syntax::Diagnostic;
use brief_syntax::yaml::Yaml;

use crate::agents::{AgentValue, fuzzing as agents};
use crate::native;
use crate::policy::fuzzing as policy;
use crate::tasks::fuzzing as tasks;

/// Splits a task text into its parts, each with its offset.
pub fn expansions(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    tasks::expansions(text)
}

/// Reads the slash commands of a text.
pub fn slash_calls(text: &[u8]) {
    tasks::slash_calls(text);
}

/// Parses a template and renders it with values of all kinds.
pub fn template(text: &str) {
    static INPUT: LazyLock<AgentValue> = LazyLock::new(|| {
        let yaml = Yaml::parse(
            "a: {b: x, c: [1, 2]}\nl: [x, {y: z}, [1]]\ns: text\nn: 0\nf: false\nz: ~\n",
        );
        yaml.root().map_or(AgentValue::Null, AgentValue::of)
    });
    agents::template(text, &INPUT);
}

/// Checks a text as each of the clients' own files.
pub fn client_files(text: &str) -> Vec<Diagnostic> {
    native::check_as_each(text)
}

/// Reads a policy file and asks it about sources and execution.
pub fn policy(bytes: &[u8]) {
    policy::read(bytes);
}
