//! Parsing and editing of manifests.

use std::sync::Arc;

use brief_dialects::portable::{ItemId, ItemKind};
use brief_syntax::Source;

use super::{EditError, Manifest, ManifestEdit, ManifestPlace, WantedItems};

fn read(text: &str) -> Result<Manifest, Vec<String>> {
    let source = Arc::new(Source::new("brief.toml", text));
    let problems = |found: Vec<brief_syntax::Diagnostic>| {
        let shown = found.into_iter().map(|found| {
            format!(
                "{}: {} ({})",
                found.position().line,
                found.message,
                found.help.unwrap_or_default()
            )
        });
        shown.collect()
    };
    Manifest::parse(&source).map_err(problems)
}

fn id(kind: ItemKind, name: &str) -> ItemId {
    ItemId { kind, name: name.to_owned() }
}

fn git(git: &str, reference: Option<&str>) -> ManifestPlace {
    ManifestPlace::Git {
        git: git.to_owned(),
        reference: reference.map(str::to_owned),
        subpath: None,
    }
}

#[test]
fn sources_are_read_in_order_of_their_names() {
    let manifest = read(
        "[sources.z]\ndirectory = \"../z\"\nall = true\nexclude = [\"rule/x\"]\n\
         [sources.a]\ngit = \"o/r\"\nref = \"v1\"\nsubpath = \"c\"\nbundles = [\"b\"]\nskills = [\"s\"]\n",
    )
    .unwrap();
    let [a, z] = manifest.sources.as_slice() else { panic!("{manifest:?}") };
    assert_eq!(a.name, "a");
    assert_eq!(a.wanted.items.iter().next(), Some(&id(ItemKind::Skill, "s")));
    assert!(a.wanted.bundles.contains("b"));
    assert_eq!(z.place, ManifestPlace::Directory("../z".to_owned()));
    assert!(z.wanted.all && z.wanted.exclude.contains(&id(ItemKind::Rule, "x")));
}

#[test]
fn every_typo_is_named_with_its_line_and_a_way_out() {
    let found = read(
        "[source.a]\ngit = \"o/r\"\n[sources.b]\ngti = \"o/r\"\n[sources.c]\ndirectory = 1\n\
         [sources.d]\ngit = \"x\"\nexclude = [\"skil/a\", \"b\"]\nskills = [\"Bad_Name\"]\n",
    )
    .unwrap_err();
    let expected = [
        "1: unknown key `source` (did you mean `sources`?)",
        "4: unknown key `sources.b.gti` (did you mean `git`?)",
        "3: `sources.b` has no address (write `git = \"…\"`, `oci = \"…\"` or `directory = \"…\"`)",
        "6: `sources.c.directory` must be a string (write it in quotes)",
        "5: `sources.c` has no address (write `git = \"…\"`, `oci = \"…\"` or `directory = \"…\"`)",
        "9: `sources.d.exclude`: unknown kind `skil` (did you mean `skill/a`?)",
        "10: `sources.d.skills`: `Bad_Name` has characters other than a-z, 0-9 and `-` ()",
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_source_is_added_at_the_end_and_comments_stay() {
    let text = "# mine\n[install]\nclients = [\"claude\"] # only this\n";
    let wanted = WantedItems { items: [id(ItemKind::Skill, "s")].into(), ..WantedItems::default() };
    let want = ManifestEdit::Want {
        source: "guidance".to_owned(),
        place: git("o/r", Some("v1")),
        wanted,
        clients: None,
    };
    let edited = ManifestEdit::apply_edits(text, std::slice::from_ref(&want)).unwrap();
    let expected = "# mine\n[install]\nclients = [\"claude\"] # only this\n\n\
                    [sources.guidance]\ngit = \"o/r\"\nref = \"v1\"\nskills = [\"s\"]\n";
    assert_eq!(edited, expected);
    assert_eq!(ManifestEdit::apply_edits(&edited, &[want]).unwrap(), expected);
}

#[test]
fn lists_keep_their_layout_and_their_comments() {
    let text =
        "[sources.g]\ngit = \"o/r\" # ours\nskills = [\n  \"a\", # first\n  \"b\", # second\n]\n";
    let wanted = WantedItems { items: [id(ItemKind::Skill, "c")].into(), ..WantedItems::default() };
    let source = || "g".to_owned();
    let want = ManifestEdit::Want {
        source: source(),
        place: git("o/r", Some("v2")),
        wanted,
        clients: None,
    };
    let edited = ManifestEdit::apply_edits(text, &[want]).unwrap();
    assert_eq!(
        edited,
        "[sources.g]\ngit = \"o/r\" # ours\nskills = [\n  \"a\", # first\n  \"b\", # second\n  \"c\",\n]\nref = \"v2\"\n"
    );
    let dropped = ManifestEdit::apply_edits(
        text,
        &[ManifestEdit::DropItem { source: source(), item: id(ItemKind::Skill, "b") }],
    );
    let dropped = dropped.unwrap();
    assert!(dropped.contains("# first") && dropped.contains("# second"), "{dropped}");
    assert!(!dropped.contains("\"b\""), "{dropped}");
    assert!(read(&dropped).is_ok(), "{dropped}");
}

#[test]
fn a_source_of_which_nothing_is_wanted_goes() {
    let text = "[build]\nh1 = \"never\"\n\n[sources.g]\ngit = \"o/r\"\nbundles = [\"b\"]\n";
    let edit = ManifestEdit::DropBundle { source: "g".to_owned(), bundle: "b".to_owned() };
    assert_eq!(ManifestEdit::apply_edits(text, &[edit]).unwrap(), "[build]\nh1 = \"never\"\n");
}

#[test]
fn what_is_left_out_comes_back_when_it_is_asked_for() {
    let text = "[sources.g]\ngit = \"o/r\"\nall = true\n";
    let source = || "g".to_owned();
    let exclude = ManifestEdit::Exclude { source: source(), item: id(ItemKind::Rule, "x") };
    let without = ManifestEdit::apply_edits(text, &[exclude]).unwrap();
    assert!(without.contains("exclude = [\"rule/x\"]"), "{without}");
    let wanted = WantedItems { items: [id(ItemKind::Rule, "x")].into(), ..WantedItems::default() };
    let want =
        ManifestEdit::Want { source: source(), place: git("o/r", None), wanted, clients: None };
    assert_eq!(ManifestEdit::apply_edits(&without, &[want]).unwrap(), text);
}

#[test]
fn comments_alone_stay_at_the_beginning() {
    let wanted = WantedItems { all: true, ..WantedItems::default() };
    let source = || "s".to_owned();
    let want =
        ManifestEdit::Want { source: source(), place: git("o/r", None), wanted, clients: None };
    assert_eq!(
        ManifestEdit::apply_edits("# Mine.\n", &[want]).unwrap(),
        "# Mine.\n\n[sources.s]\ngit = \"o/r\"\nall = true\n"
    );
    let drop = ManifestEdit::DropSource { source: source() };
    assert_eq!(ManifestEdit::apply_edits("# Mine.\n\n", &[drop]).unwrap(), "# Mine.\n\n");
}

/// Another version of a source is the same source; another address is not.
#[test]
fn a_source_does_not_take_the_place_of_another_one() {
    let text = "[sources.s]\ngit = \"o/r\"\nref = \"v1\"\nall = true\n";
    let want = |place| {
        let wanted = WantedItems { all: true, ..WantedItems::default() };
        ManifestEdit::apply_edits(
            text,
            &[ManifestEdit::Want { source: "s".to_owned(), place, wanted, clients: None }],
        )
    };
    assert!(want(git("o/r", Some("v2"))).unwrap().contains("v2"));
    let taken = Err(EditError::Taken("s".to_owned()));
    assert_eq!(want(git("p/r", Some("v1"))), taken);
    assert_eq!(want(ManifestPlace::Directory("../r".to_owned())), taken);
}
