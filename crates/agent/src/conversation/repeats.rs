//! Detects calls that a model repeats.

use std::collections::BTreeMap;

use brief_syntax::limits;
use serde_json::Value as Json;

/// Counts equal calls of one turn: same tool and arguments, in any spelling.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    counts: BTreeMap<(String, String), usize>,
}

impl Repeats {
    /// Counts a call and returns whether it was made too often.
    pub(super) fn is_too_often(&mut self, name: &str, arguments: &str) -> bool {
        // Spaces make no difference; the order of fields may, and numbers keep their spelling.
        let arguments = match serde_json::from_str::<Json>(arguments) {
            Ok(json) => json.to_string(),
            Err(_) => arguments.trim().to_owned(),
        };
        let count = self.counts.entry((name.trim().to_lowercase(), arguments)).or_default();
        *count += 1;
        *count > limits::AGENT_SAME_CALLS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_call_in_other_spelling_is_the_same() {
        let mut repeats = Repeats::default();
        for (name, arguments) in [("a", "{\"x\":1}"), ("A", "{ \"x\" : 1 }"), ("a", "{\"x\":1}\n")]
        {
            assert!(!repeats.is_too_often(name, arguments));
        }
        assert!(!repeats.is_too_often("a", "{\"x\":2}"));
        assert!(!repeats.is_too_often("b", "{\"x\":1}"));
        assert!(repeats.is_too_often("a", "{\"x\":1}"));
    }
}
