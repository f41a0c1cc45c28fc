//! Our own profiles, as files.

use std::sync::Arc;

use brief_syntax::Source;

use super::{BUILTIN, Variant, read};

/// What is wrong with our own files would otherwise be passed over.
#[test]
fn nothing_is_wrong_with_our_own_files() {
    let both =
        BUILTIN.into_iter().flat_map(|file| [Variant::Client, Variant::Format].map(|v| (file, v)));
    for ((name, text), variant) in both {
        let mut diagnostics = Vec::new();
        let source = Arc::new(Source::new(name, text));
        let draft = read::builtin(&source, &|_| variant, &mut diagnostics);
        let profile = draft.finish(&mut diagnostics);
        assert_eq!(diagnostics, [], "{name}");
        let profile = profile.unwrap();
        assert_eq!(format!("{}.toml", profile.id()), name);
        for alias in brief_dialects::portable::MODEL_ALIASES {
            assert!(profile.models.contains_key(alias), "{name} has no name for {alias}");
        }
    }
}

/// Who looks for installed items knows the places of these profiles, and no others.
#[test]
fn installed_items_are_looked_for_where_our_own_files_put_them() {
    use std::collections::BTreeSet;

    use brief_dialects::portable::OUTPUTS;

    use super::{Profiles, Scope};

    let mut places = BTreeSet::new();
    for profile in Profiles::builtin().iter() {
        for (kind, layout) in profile.layouts() {
            for scope in [Scope::Project, Scope::Home] {
                let path = layout.path_in(scope).fill("{}");
                places.insert((kind, profile.id().to_owned(), path));
            }
        }
    }
    let known =
        OUTPUTS.iter().map(|&(kind, client, path)| (kind, client.to_owned(), path.to_owned()));
    assert_eq!(places, known.collect());
}
