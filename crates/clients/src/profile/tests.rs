//! Our own profiles, as files.

use std::path::Path;
use std::sync::Arc;

use brief_syntax::{Source, limits};
use brief_system::{Files, OsSystem};

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
        // A client of another vendor has none of these models: they are left out with a warning. Names of some would be a slip.
        let aliases = brief_dialects::portable::MODEL_ALIASES;
        let named = aliases.iter().filter(|alias| profile.models.contains_key(**alias)).count();
        let is_whole = named == aliases.len() || profile.models.is_empty();
        assert!(is_whole, "{} names {named} of {}", profile.id(), aliases.len());
    }
}

/// The program holds the keys of a client's file that are compiled. They say what the whole file says.
#[test]
fn a_built_in_client_is_compiled_as_its_file_says() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../profiles/clients");
    let files = OsSystem.open_dir(&directory).unwrap();
    for source in builtin_sources() {
        let name = source.path().file_name().unwrap();
        let text = files.read(name, limits::FILE_BYTES).unwrap();
        let path = directory.join(name);
        let whole = Arc::new(Source::new(path.clone(), String::from_utf8(text).unwrap()));
        for variant in [Variant::Client, Variant::Format] {
            let read = |source: &Arc<Source>| {
                read::client_file(source, &|_| variant, &mut Vec::new()).finish(&mut Vec::new())
            };
            assert_eq!(read(&source), read(&whole), "{}", path.display());
        }
    }
}
