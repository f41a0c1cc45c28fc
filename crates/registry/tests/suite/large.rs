//! Much to install, and little memory for it.

use std::fs;

use brief_testkit::snapshot::{render_item, write_files};
use brief_testkit::{Fault, Faulty};

use crate::scene::{Action, Scene, act, healthy, tree};

/// Bytes of which more are never in memory for one file.
const PIECE: usize = 1024 * 1024;

const MANIFEST: &str = "[install]\nlayout = \"separate\"\n\n[sources.s]\ndirectory = \"../source\"\nall = true\nclients = [\"claude\", \"opencode\"]\n";

/// The files are handed on by pieces, so memory does not grow with their sizes.
#[test]
fn a_large_file_is_written_by_pieces() {
    let bytes: Vec<u8> = (0..5_u32 * 1024 * 1024)
        .map(|index| if index % 64 == 0 { b'\n' } else { b'a' + index.to_le_bytes()[1] % 26 })
        .collect();
    let scene = Scene::new(Action::Sync, |base| {
        write_files(&base.join("project"), &[("brief.toml", MANIFEST)]);
        write_files(
            &base.join("source"),
            &[("skills/good/SKILL.md", &render_item("good", "text"))],
        );
        fs::write(base.join("source/skills/good/large.txt"), &bytes).unwrap();
    });
    let base = scene.copy("large");
    let system = Faulty::new(healthy(&base), Fault::None);
    scene.act(&system, &base).unwrap();
    assert!(system.largest_write() <= PIECE, "{}", system.largest_write());
    for place in [".claude", ".agents"] {
        let path = base.join("project").join(place).join("skills/good/large.txt");
        assert!(fs::read(path).unwrap() == bytes, "{place}");
    }
}

#[test]
fn three_thousand_files_are_installed_and_removed() {
    let scene = Scene::new(Action::Sync, |base| {
        write_files(
            &base.join("project"),
            &[("brief.toml", &MANIFEST.replace(", \"opencode\"", ""))],
        );
        write_files(
            &base.join("source"),
            &[("skills/good/SKILL.md", &render_item("good", "text"))],
        );
        let files = base.join("source/skills/good/files");
        fs::create_dir(&files).unwrap();
        for number in 0..3_000 {
            fs::write(files.join(format!("{number}.txt")), "text\n").unwrap();
        }
    });
    let base = scene.copy("many");
    scene.act(&healthy(&base), &base).unwrap();
    let is_one = |path: &&String| path.starts_with(".claude/skills/good/files/");
    // The directory itself is listed, too.
    assert_eq!(tree(&base).keys().filter(is_one).count(), 3_001);
    let system = Faulty::new(healthy(&base), Fault::None);
    scene.act(&system, &base).unwrap();
    assert!(system.steps().len() < 20, "nothing was left to do: {:?}", system.steps());
    act(&healthy(&base), &base, &Action::Clean).unwrap();
    assert!(!base.join("project/.claude").exists());
}
