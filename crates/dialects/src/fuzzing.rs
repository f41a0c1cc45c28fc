//! Private parsers, exported for the targets in `fuzz/` only.

use std::sync::LazyLock;

use brief_syntax::yaml::Yaml;

use crate::agents::AgentValue;
use crate::agents::template::Template;
use crate::tasks::expand::{self, TextPart};
use crate::tasks::slash;

/// Splits a task text into its parts, each with its offset, and reads each path in it.
pub fn split_expansions(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    expand::split_text_parts(text).map(|placed| {
        if let TextPart::Path { path } = placed.part {
            expand::possible_paths(path).for_each(drop);
        }
        (placed.offset, placed.whole)
    })
}

/// Reads the slash commands of a text.
pub fn slash_calls(text: &[u8]) {
    drop(slash::split_slash_commands(text));
}

/// Parses a template and renders it with values of all kinds.
pub fn fuzz_template(text: &str) {
    static INPUT: LazyLock<AgentValue> = LazyLock::new(|| {
        let yaml = Yaml::parse(
            "a: {b: x, c: [1, 2]}\nl: [x, {y: z}, [1]]\ns: text\nn: 0\nf: false\nz: ~\n",
        );
        yaml.root().map_or(AgentValue::Null, AgentValue::from_yaml)
    });
    if let Ok(template) = Template::parse(text) {
        let _ = template.render(&INPUT);
    }
}
