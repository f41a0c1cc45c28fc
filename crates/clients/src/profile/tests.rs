//! Our own profiles, as files.

use super::{FieldRule, FieldValue, From, Variant, builtin_sources, read};

/// Without this test, mistakes in the built-in profiles would be passed over.
#[test]
fn nothing_is_wrong_with_our_own_files() {
    let sources = builtin_sources().into_iter();
    let both = sources.flat_map(|source| {
        [Variant::Client, Variant::Format].map(|variant| (source.clone(), variant))
    });
    for (source, variant) in both {
        let mut diagnostics = Vec::new();
        let draft = read::client_file(&source, &|_| variant, &mut diagnostics);
        let profile = draft.finish(&mut diagnostics);
        assert_eq!(diagnostics, []);
        let profile = profile.unwrap();
        let has_model =
            |rule: &FieldRule| matches!(rule.value, FieldValue::Item { from: From::Model, .. });
        let mut layouts = profile.layouts();
        if !layouts.any(|(_, layout)| layout.fields.iter().any(has_model)) {
            continue;
        }
        for alias in brief_dialects::portable::MODEL_ALIASES {
            assert!(profile.models.contains_key(alias), "{} has no name for {alias}", profile.id());
        }
    }
}
