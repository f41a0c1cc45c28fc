//! Artifacts of other tools: read where their kind is known, refused with its name elsewhere.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use brief_testkit::Sandbox;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::artifacts::skill;
use crate::build::read_tree;
use crate::project;

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const GZIP: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// A directory with the image layout, as another tool would write it.
struct Kept(PathBuf);

impl Kept {
    fn beside(project: &Sandbox) -> Kept {
        let directory = project.outside_directory().join("kept");
        fs::create_dir_all(directory.join("blobs/sha256")).unwrap();
        fs::write(directory.join("oci-layout"), "{\"imageLayoutVersion\": \"1.0.0\"}").unwrap();
        Kept(directory)
    }

    fn address(&self) -> String {
        format!("oci-layout:{}", self.0.display())
    }

    fn put(&self, media_type: &str, bytes: &[u8]) -> Value {
        let digits = brief_system::hash::sha256(bytes);
        fs::write(self.0.join("blobs/sha256").join(&digits), bytes).unwrap();
        json!({"mediaType": media_type, "digest": format!("sha256:{digits}"), "size": bytes.len()})
    }

    /// A layer with one file.
    fn file(&self, title: &str, text: &str) -> Value {
        let mut layer = self.put("text/markdown", text.as_bytes());
        layer["annotations"] = json!({"org.opencontainers.image.title": title});
        layer
    }

    fn manifest(&self, kind: &str, layers: &[Value]) -> Value {
        let config = self.put("application/vnd.oci.empty.v1+json", b"{}");
        let text = json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "artifactType": kind,
            "config": config,
            "layers": layers,
        });
        self.put(MANIFEST, text.to_string().as_bytes())
    }

    /// Sets the tag.
    fn tag(&self, descriptor: &Value) {
        let mut entry = descriptor.clone();
        entry["annotations"] = json!({"org.opencontainers.image.ref.name": "latest"});
        let index = json!({"schemaVersion": 2, "manifests": [entry]});
        fs::write(self.0.join("index.json"), index.to_string()).unwrap();
    }
}

/// An archive without its end.
fn archived(files: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (path, text) in files {
        let mut header = [0; 512];
        let mut field = |at: usize, text: &str| {
            header[at..at + text.len()].copy_from_slice(text.as_bytes());
        };
        field(0, path);
        field(100, "0000644");
        field(108, "0000000");
        field(116, "0000000");
        field(124, &format!("{:011o}", text.len()));
        field(136, "00000000000");
        field(148, "        ");
        field(156, "0");
        field(257, "ustar");
        field(263, "00");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        archive.extend_from_slice(&header);
        archive.extend_from_slice(text.as_bytes());
        archive.resize(archive.len().next_multiple_of(512), 0);
    }
    archive
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// An archive, compressed.
fn packed(files: &[(&str, &str)]) -> Vec<u8> {
    compressed(&[archived(files), vec![0; 1024]].concat())
}

/// Each kind that is known, in each of its forms: one file for each layer, a compressed archive, the kind in the config
/// alone, and an index of one artifact for each platform.
#[test]
fn skills_of_other_tools_are_read() {
    let kinds = [
        "application/vnd.agentskills.skill.v1",
        "application/vnd.agentskills.skill.v1+json",
        "application/vnd.agent.skill.v1+json",
        "application/vnd.cncf.skill.manifest.v1+json",
        "dev.toolhive.skills.v1",
    ];
    for kind in kinds {
        let text = skill("kept", "Hello.");
        for form in 0..4 {
            let project = project();
            let kept = Kept::beside(&project);
            let files = [kept.file("SKILL.md", &text), kept.file("notes/more.md", "More.")];
            let archive = packed(&[("SKILL.md", &text), ("notes/more.md", "More.")]);
            let archive = [kept.put(GZIP, &archive)];
            kept.tag(&match form {
                0 => kept.manifest(kind, &files),
                1 => kept.manifest(kind, &archive),
                2 => {
                    let config = kept.put(kind, b"{}");
                    let text = json!({"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": archive});
                    kept.put(MANIFEST, text.to_string().as_bytes())
                }
                _ => {
                    let mut other = archive.clone();
                    other[0]["annotations"] = json!({"platform": "other"});
                    let both = [kept.manifest(kind, &archive), kept.manifest(kind, &other)];
                    let text = json!({"schemaVersion": 2, "mediaType": INDEX, "artifactType": kind, "manifests": both});
                    kept.put(INDEX, text.to_string().as_bytes())
                }
            });
            let output = project.run(&["add", &kept.address(), "--client", "claude"]);
            assert_eq!(output.code, Some(0), "{kind}, form {form}: {output}");
            let written = project.read(".claude/skills/kept/SKILL.md");
            assert!(written.contains("Hello."), "{kind}, form {form}: {written}");
            assert_eq!(
                project.read(".claude/skills/kept/notes/more.md"),
                "More.",
                "{kind}, form {form}"
            );
        }
    }
}

/// Refused, with the name of the kind or the reason, and nothing is written.
#[test]
fn other_kinds_and_contradictions_are_refused() {
    let project = project();
    let kept = Kept::beside(&project);
    let kind = "application/vnd.agentskills.skill.v1";
    let text = skill("kept", "Hello.");
    let good = kept.file("SKILL.md", &text);
    let archive = packed(&[("SKILL.md", &text)]);
    let index = |parts: &[Value]| {
        let text = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": parts});
        kept.put(INDEX, text.to_string().as_bytes())
    };
    let titled = |title: &str| [good.clone(), kept.file(title, "Evil.")];
    // 300 members of 16 MB each: 4.8 GB from 5 MB.
    let large = "\0".repeat(16 * 1024 * 1024 - 1024);
    let bomb = compressed(&archived(&[("large", &large)])).repeat(300);
    assert!(bomb.len() < 8 * 1024 * 1024, "{}", bomb.len());
    let manifest = |layers: &[Value]| kept.manifest(kind, layers);
    let nested = index(&[index(&[manifest(std::slice::from_ref(&good))])]);
    let cases = [
        (
            kept.manifest("application/vnd.acme.pie", std::slice::from_ref(&good)),
            "type `application/vnd.acme.pie`",
        ),
        (
            manifest(&[kept.put("application/vnd.acme.crumb", b"x")]),
            "type `application/vnd.acme.crumb`",
        ),
        (
            manifest(&[kept.put("application/vnd.oci.image.layer.v1.tar+zstd", &archive)]),
            "type `application/vnd.oci.image.layer.v1.tar+zstd`",
        ),
        (manifest(&titled("../../evil")), "points outside its directory"),
        (manifest(&titled("/etc/evil")), "points outside its directory"),
        (manifest(&titled(".git/config")), "points outside its directory"),
        (
            manifest(&[kept.put(GZIP, &packed(&[("SKILL.md", &text), ("../evil", "x")]))]),
            "points outside its directory",
        ),
        // Two items of one name.
        (
            index(&[
                manifest(std::slice::from_ref(&good)),
                manifest(&[kept.file("SKILL.md", &skill("kept", "Bye."))]),
            ]),
            "contains `skills/kept/SKILL.md` twice",
        ),
        (manifest(&titled("SKILL.md/below")), "both as a file and as a directory"),
        (nested, "has a nested index"),
        (manifest(&[good.clone(), kept.put(GZIP, &bomb)]), "bytes when unpacked"),
    ];
    for (descriptor, said) in cases {
        kept.tag(&descriptor);
        let output = project.run(&["add", &kept.address()]);
        assert_eq!(output.code, Some(1), "{said}: {output}");
        assert!(output.stderr.contains(said), "{said}: {output}");
        let written = read_tree(&project, "");
        assert!(
            written.keys().all(|path| path.starts_with(".brief/")),
            "{said}: {:?}",
            written.keys()
        );
    }
    assert!(!Path::new("/etc/evil").exists());
}
