//! A policy file of arbitrary bytes, for [`crate::fuzzing`].

use std::path::Path;

use super::{Policy, PolicyError, SourcePlace, read};

/// Reads a file and asks it for decisions. Checks that every decision and every problem has a line
/// of the file, and that no list allows an ambiguous address.
pub(crate) fn fuzz_policy(bytes: &[u8]) {
    let lines = bytes.split(|&byte| byte == b'\n').count();
    let layer =
        read::parse_layer(Path::new("/policy.toml"), bytes.to_vec(), Some(Path::new("/home/u")));
    let policy = match layer {
        Ok(layer) => Policy { layers: vec![layer] },
        Err(PolicyError::Invalid { line, .. }) => {
            assert!((1..=lines).contains(&line), "line {line} of {lines}");
            return;
        }
        Err(PolicyError::Unreadable { .. }) => return,
    };
    let has_list = policy.layers.iter().any(|layer| layer.allow.is_some());
    assert!(!has_list || policy.find_source_rule(&SourcePlace::Unclear).is_some());
    let sources = ["https://github.com/acme/guidance", "git@host.example:a/b.git", "file:///srv/g"];
    let decisions = sources
        .iter()
        .filter_map(|address| policy.find_source_rule(&SourcePlace::of_address(address)))
        .chain(policy.find_execution_rule())
        .chain(policy.required_items().map(|(_, decision)| decision));
    for decision in decisions {
        assert!((1..=lines).contains(&decision.line), "{decision}");
    }
}
