//! Our own profiles, as files.

use std::sync::Arc;

use brief_syntax::Source;

use super::{BUILTIN, read};

/// What is wrong with our own files would otherwise be passed over.
#[test]
fn nothing_is_wrong_with_our_own_files() {
    for (name, text) in BUILTIN {
        let mut diagnostics = Vec::new();
        let source = Arc::new(Source::new(name, text));
        let profile = read::builtin(&source, &mut diagnostics).finish(&mut diagnostics);
        assert_eq!(diagnostics, [], "{name}");
        let profile = profile.unwrap();
        assert_eq!(format!("{}.toml", profile.id()), name);
        for alias in brief_dialects::portable::MODEL_ALIASES {
            assert!(profile.models.contains_key(alias), "{name} has no name for {alias}");
        }
    }
}
