//! Private parsers, exported for the targets in `fuzz/` only.

use std::sync::LazyLock;

use brief_syntax::yaml::Yaml;

use crate::agents::AgentValue;
use crate::agents::template::Template;
use crate::tasks::expand::{self, TextPart};
use crate::tasks::slash;

/// Splits a task text into its parts, each with its offset, and reads each path in it.
pub fn expansions(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    expand::parts(text).map(|placed| {
        if let TextPart::Path { path } = placed.part {
            expand::readings(path).for_each(drop);
        }
        (placed.offset, placed.whole)
    })
}

/// Reads the slash commands of a text.
pub fn slash_calls(text: &[u8]) {
    drop(slash::pieces(text));
}

/// Parses a template and renders it with values of all kinds.
pub fn template(text: &str) {
    static INPUT: LazyLock<AgentValue> = LazyLock::new(|| {
        let yaml = Yaml::parse(
            "a: {b: x, c: [1, 2]}\nl: [x, {y: z}, [1]]\ns: text\nn: 0\nf: false\nz: ~\n",
        );
        yaml.root().map_or(AgentValue::Null, AgentValue::of)
    });
    if let Ok(template) = Template::parse(text) {
        let _ = template.render(&INPUT);
    }
}
