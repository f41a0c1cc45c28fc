//! Sigstore's bundles: identities and keys, verified without a network against the files that say whom to trust.

use std::fs;
use std::path::PathBuf;

use brief_testkit::sigstore::{TestSignature, TestSigstore};
use brief_testkit::{Sandbox, needs};
use serde_json::Value;

use crate::artifact_trust::{one, outside, with_policy};
use crate::artifacts::{forget, locked, publish};
use crate::build::read_tree;
use crate::container_registry::{ContainerRegistry, Door, KEY_A};
use crate::project;

/// 2025-06-15T15:06:40Z.
const AT: u64 = 1_750_000_000;
const WORKFLOW: &str = "https://git.example/acme/guidance/release.yml";
const ISSUER: &str = "https://issuer.example";

fn by(identity: &str) -> TestSignature {
    TestSignature::new(identity, ISSUER, AT)
}

/// Publishes a skill with a bundle about it.
fn sign(
    publisher: &Sandbox,
    target: &str,
    text: &str,
    instance: &TestSigstore,
    wanted: &TestSignature,
) {
    let from = one(publisher, text);
    // The manifest, as another tool would fetch it: from a copy in a directory.
    let digest = publish(publisher, &layout(publisher, "unsigned"), &from, &[]);
    let blobs = publisher.outside_directory().join("unsigned/blobs/sha256");
    let manifest = fs::read(blobs.join(digest.trim_start_matches("sha256:"))).unwrap();
    let bundle = instance.create_bundle(&manifest, wanted).to_string();
    let file = outside(publisher, "bundle.json", &bundle);
    publish(publisher, target, &from, &["--bundle", &file]);
}

fn layout(beside: &Sandbox, name: &str) -> String {
    format!("oci-layout:{}", beside.outside_directory().join(name).display())
}

/// The first identity is remembered, with its issuer; another one is refused until it is accepted. The registry
/// cannot list what is about an artifact, so the tag that stands for the list is used; a directory is the same.
#[test]
fn another_identity_is_refused_until_it_is_accepted() {
    needs!(DockerRegistry);
    let project = project();
    let registry = ContainerRegistry::start(&project, Door::Open);
    let instance = TestSigstore::default();
    project.write("trusted_root.json", instance.trusted_root());
    for base in [registry.at("acme/identity"), layout(&project, "kept")] {
        let main = format!("{WORKFLOW}@refs/heads/main");
        sign(&project, &base, "One.", &instance, &by(&main));
        let output = project.run(&["add", &base, "--name", "own"]);
        assert_eq!(output.code, Some(0), "{output}");
        let first = format!("{main} {ISSUER}");
        assert!(
            locked(&project).contains(&format!("signer = \"{first}\"")),
            "{}",
            locked(&project)
        );

        let elsewhere = TestSignature { issuer: "https://other.example".to_owned(), ..by(&main) };
        let branch = by(&format!("{WORKFLOW}@refs/heads/other"));
        let second = "ann@example.com";
        for (number, wanted) in [elsewhere, branch, by(second)].iter().enumerate() {
            sign(&project, &base, &format!("Two {number}."), &instance, wanted);
            let before = read_tree(&project, "");
            let output = project.run(&["update"]);
            assert_eq!(output.code, Some(1), "{output}");
            let found = format!("is now signed by `{} {}`", wanted.identity, wanted.issuer);
            assert!(output.stderr.contains(&format!("was signed by `{first}`")), "{output}");
            assert!(output.stderr.contains(&found), "{output}");
            assert_eq!(read_tree(&project, ""), before);
        }
        let accepted = format!("{second} {ISSUER}");
        let output = project.run(&["update", "--accept-signer", &accepted]);
        assert_eq!(output.code, Some(0), "{output}");
        assert!(locked(&project).contains(&accepted), "{}", locked(&project));

        // Another machine verifies it again, and cannot without the root.
        forget(&project);
        assert_eq!(project.run(&["sync", "--frozen"]).code, Some(0));
        assert_eq!(project.run(&["sync", "--frozen", "--offline"]).code, Some(0));
        fs::remove_file(project.path().join("trusted_root.json")).unwrap();
        let output = project.run(&["sync", "--frozen"]);
        assert_eq!(output.code, Some(1), "{output}");
        assert!(output.stderr.contains("no trust root"), "{output}");
        // Neither with the root of another instance.
        project.write("trusted_root.json", TestSigstore::default().trusted_root());
        let output = project.run(&["sync", "--frozen"]);
        assert_eq!(output.code, Some(1), "{output}");
        assert!(
            output.stderr.contains("its transparency log is not in the trust root"),
            "{output}"
        );
        project.write("trusted_root.json", instance.trusted_root());
        assert_eq!(project.run(&["remove", "own"]).code, Some(0));
    }
}

/// A workflow that signs its tags has another identity for each, and is one signer.
#[test]
fn tags_of_one_workflow_are_one_signer() {
    let project = project();
    let (instance, base) = (TestSigstore::default(), layout(&project, "kept"));
    project.write("trusted_root.json", instance.trusted_root());
    sign(&project, &base, "One.", &instance, &by(&format!("{WORKFLOW}@refs/tags/v1")));
    assert_eq!(project.run(&["add", &base]).code, Some(0));
    assert!(
        locked(&project).contains("@refs/tags/* https://issuer.example\""),
        "{}",
        locked(&project)
    );
    sign(&project, &base, "Two.", &instance, &by(&format!("{WORKFLOW}@refs/tags/v2")));
    assert_eq!(project.run(&["update"]).code, Some(0));
    sign(&project, &base, "Three.", &instance, &by(&format!("{WORKFLOW}@refs/heads/main")));
    assert_eq!(project.run(&["update"]).code, Some(1));
}

fn root_of_user(project: &Sandbox, instance: &TestSigstore) -> PathBuf {
    let directory = project.home().join(".config/brief");
    fs::create_dir_all(&directory).unwrap();
    let path = directory.join("trusted_root.json");
    fs::write(&path, instance.trusted_root()).unwrap();
    path
}

fn is_untouched(project: &Sandbox) -> bool {
    let keeps = |path: &String| path.starts_with(".brief/") || path == "trusted_root.json";
    read_tree(project, "").keys().all(keeps)
}

/// A policy demands an identity. The root of the project does not count for it, that of the user does.
#[test]
fn a_policy_demands_an_identity() {
    let publisher = project();
    let (instance, base) = (TestSigstore::default(), layout(&publisher, "kept"));
    sign(&publisher, &base, "One.", &instance, &by(&format!("{WORKFLOW}@refs/heads/main")));
    let kept = publisher.outside_directory().join("kept");
    let policy = |rule: &str| format!("[oci.signers]\n\"{}\" = [{rule}]\n", kept.display());
    let right = format!("{{ identity = \"{WORKFLOW}@*\", issuer = \"{ISSUER}\" }}");

    let own = with_policy(project(), &policy(&right));
    own.write("trusted_root.json", instance.trusted_root());
    let output = own.run(&["add", &base]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("but not of this machine"), "{output}");
    assert!(is_untouched(&own));
    let path = root_of_user(&own, &instance);
    assert_eq!(own.run(&["add", &base]).code, Some(0));
    // A root that cannot be read stops everything that would ask it.
    fs::write(&path, "{}").unwrap();
    let output = own.run(&["sync"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("trusted_root.json`: missing field"), "{output}");

    for (rule, said) in [
        (right.replace(ISSUER, "https://other.example"), "requires a signature by"),
        (right.replace("guidance", "other"), "requires a signature by"),
        // The end of the signer, before and after the signature of 2025-06-15.
        (right.replace(" }", ", not-after = 2025-06-14 }"), "may sign until 2025-06-14T23:59:59Z"),
        (right.replace(" }", ", not-before = 2025-06-16 }"), "may sign from 2025-06-16T00:00:00Z"),
    ] {
        let own = with_policy(project(), &policy(&rule));
        root_of_user(&own, &instance);
        let output = own.run(&["add", &base]);
        assert_eq!(output.code, Some(1), "{rule}: {output}");
        assert!(output.stderr.contains(said), "{rule}: {output}");
        assert!(is_untouched(&own));
    }
    // It has ended since, and the log vouches for the time.
    let own = with_policy(project(), &policy(&right.replace(" }", ", not-after = 2025-06-15 }")));
    root_of_user(&own, &instance);
    assert_eq!(own.run(&["add", &base]).code, Some(0));
}

/// A key has no log that tells the time of its signature, so its end counts from today.
#[test]
fn a_key_ends_on_the_day_that_the_policy_names() {
    let publisher = project();
    let base = layout(&publisher, "kept");
    let (from, key) = (one(&publisher, "One."), outside(&publisher, "a.pem", KEY_A));
    publish(&publisher, &base, &from, &["--sign", &key]);
    let signer = "sha256:44e0b346882148d95e4a7a0d62ba86731d3de381f1403d15d1572b6abdaa1ae5";
    let kept = publisher.outside_directory().join("kept");
    for (end, code, said) in [
        (
            "2020-01-31",
            1,
            format!("`{signer}` may sign until 2020-01-31T23:59:59Z, but it is signed 20"),
        ),
        ("2999-12-31", 0, String::new()),
    ] {
        let rule = format!("{{ key = \"{signer}\", not-after = {end} }}");
        let policy = format!("[oci.signers]\n\"{}\" = [{rule}]\n", kept.display());
        let own = with_policy(project(), &policy);
        let output = own.run(&["add", &base]);
        assert_eq!(output.code, Some(code), "{output}");
        assert!(output.stderr.contains(&said), "{output}");
        assert_eq!(is_untouched(&own), code == 1);
    }
}

/// A certificate that had expired when it signed does not count: a note where nothing is demanded, refused elsewhere.
#[test]
fn an_expired_certificate_does_not_count() {
    let project = project();
    let (instance, base) = (TestSigstore::default(), layout(&project, "kept"));
    project.write("trusted_root.json", instance.trusted_root());
    let good = by("ann@example.com");
    let expired = TestSignature { valid: (AT - 7200, AT - 3600), ..good.clone() };
    let dates = "its certificate is valid from 2025-06-15T13:06:40Z to 2025-06-15T14:06:40Z, \
                 but the signature is dated 2025-06-15T15:06:40Z";
    sign(&project, &base, "One.", &instance, &expired);
    let output = project.run(&["add", &base]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stderr.contains(&format!("brief ignores a signature: {dates}")), "{output}");
    assert!(!locked(&project).contains("signer"), "{}", locked(&project));

    sign(&project, &base, "Two.", &instance, &good);
    assert_eq!(project.run(&["update"]).code, Some(0));
    sign(&project, &base, "Three.", &instance, &expired);
    let before = read_tree(&project, "");
    let output = project.run(&["update"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains(&format!("is now not signed: {dates}")), "{output}");
    assert_eq!(read_tree(&project, ""), before);

    let policy = format!(
        "[oci.signers]\n\"{}\" = [{{ identity = \"ann@example.com\", issuer = \"{ISSUER}\" }}]\n",
        project.outside_directory().join("kept").display()
    );
    let own = with_policy(crate::project(), &policy);
    root_of_user(&own, &instance);
    let output = own.run(&["add", &base]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains(&format!("its signature is not accepted: {dates}")), "{output}");
    assert!(is_untouched(&own));
}

/// A bundle with a plain key names the key, and does not hold it: `trusted_keys.pem` does.
#[test]
fn a_bundle_of_a_key_needs_the_key() {
    let project = project();
    let base = layout(&project, "kept");
    let (from, key) = (one(&project, "One."), outside(&project, "a.pem", KEY_A));
    let output =
        project.run(&["registry", "publish", &base, "--from", &from, "--sign", &key, "--json"]);
    let blobs = project.outside_directory().join("kept/blobs/sha256");
    let read = |digest: &Value| {
        let digits = digest.as_str().unwrap().trim_start_matches("sha256:").to_owned();
        fs::read_to_string(blobs.join(digits)).unwrap()
    };
    let manifest: Value = serde_json::from_str(&read(&output.json()["signature"])).unwrap();
    let layer = &manifest["layers"][0];
    assert_eq!(manifest["artifactType"], "application/vnd.dev.sigstore.bundle.v0.3+json");
    assert_eq!(layer["mediaType"], "application/vnd.dev.sigstore.bundle.v0.3+json");
    let bundle = outside(&project, "bundle.json", &read(&layer["digest"]));
    let public =
        layer["annotations"]["dev.brief.signature/public-key"].as_str().unwrap().to_owned();

    // As another tool would push it.
    let other = layout(&project, "other");
    publish(&project, &other, &from, &["--bundle", &bundle]);
    let output = project.run(&["add", &other, "--dry-run"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stderr.contains("its key is not one of `trusted_keys.pem`"), "{output}");
    let keys = format!("-----BEGIN PUBLIC KEY-----\n{public}\n-----END PUBLIC KEY-----\n");
    project.write("trusted_keys.pem", keys);
    let output = project.run(&["add", &other]);
    assert_eq!(output.code, Some(0), "{output}");
    let signer = "sha256:44e0b346882148d95e4a7a0d62ba86731d3de381f1403d15d1572b6abdaa1ae5";
    assert!(locked(&project).contains(signer), "{}", locked(&project));
    project.write("trusted_keys.pem", "nonsense");
    let output = project.run(&["sync"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("is not a list of public keys"), "{output}");

    // A bundle about something else is not published.
    let from = one(&project, "Two.");
    let output =
        project.run(&["registry", "publish", &other, "--from", &from, "--bundle", &bundle]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("its statement has a different subject"), "{output}");
}
