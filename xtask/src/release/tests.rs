//! The parts of a release that need no build.

use std::fs;

use super::*;

const CHANGELOG: &str = "\
# Changelog

## [Unreleased]

Later.

## [0.1.0] - 2026-11-20

The first release.

### Added

- Everything.

## [0.0.1]

- Less.
";

#[test]
fn the_notes_are_the_section_of_the_version() {
    assert_eq!(
        release_notes(CHANGELOG, "0.1.0").unwrap(),
        "The first release.\n\n### Added\n\n- Everything.\n"
    );
    assert_eq!(release_notes(CHANGELOG, "0.0.1").unwrap(), "- Less.\n");
    assert!(release_notes(CHANGELOG, "0.1").unwrap_err().contains("no section"));
    assert!(
        release_notes("## [1.0.0]\n\n## [0.9.0]\n- A.\n", "1.0.0").unwrap_err().contains("empty")
    );
}

/// A signature is that of the key, over the checksums: `openssl` would say the same.
#[test]
fn the_checksums_are_signed_with_the_key() {
    let scratch = tempfile::tempdir().unwrap();
    // The test key of RFC 8410, section 10.3.
    let key = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n";
    let public = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n";
    fs::write(scratch.path().join("key.pem"), key).unwrap();
    fs::write(scratch.path().join(SUMS), "00  a\n").unwrap();
    let step = sign_sums(scratch.path(), &scratch.path().join("key.pem")).unwrap();
    assert!(
        matches!(&step, Step::Done(text) if text.starts_with("signature: SHA256SUMS.sig by sha256:")),
        "{step:?}"
    );
    assert_eq!(fs::read_to_string(scratch.path().join("release-key.pem")).unwrap(), public);
    assert_eq!(fs::read(scratch.path().join("SHA256SUMS.sig")).unwrap().len(), 64);
    fs::write(scratch.path().join("key.pem"), "nothing").unwrap();
    assert!(sign_sums(scratch.path(), &scratch.path().join("key.pem")).is_err());
}

#[test]
fn what_is_left_depends_on_the_signature() {
    let signed = remaining_steps("0.1.0", Path::new("out"), true);
    assert!(signed.contains("git tag -s v0.1.0") && signed.contains("SHA256SUMS.sig"), "{signed}");
    assert!(remaining_steps("0.1.0", Path::new("out"), false).contains("`--key FILE`"));
}
