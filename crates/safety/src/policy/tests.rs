//! Policies in memory: the rules, and that a broken file forbids everything.

use std::path::PathBuf;

use brief_system::MemorySystem;

use super::*;

const USER: &str = "/h/.config/brief/policy.toml";
const MACHINE: &str = "/machine/policy.toml";

fn system() -> MemorySystem {
    MemorySystem::new("/p").with_env("HOME", "/h").with_machine_directory("/machine")
}

fn user(text: &str) -> Policy {
    Policy::load(&system().with_file(USER, text)).unwrap()
}

fn forbids(policy: &Policy, address: &str) -> bool {
    policy.find_source_rule(&SourcePlace::of_address(address)).is_some()
}

#[test]
fn without_a_file_nothing_is_forbidden() {
    let policy = Policy::load(&system()).unwrap();
    assert_eq!(policy.files().len(), 0);
    assert!(!forbids(&policy, "https://github.com/a/b"));
    assert_eq!(policy.find_execution_rule(), None);
    assert_eq!(policy.required_items().count(), 0);
}

/// A pattern is host and path, with any transport and spelling, and everything below.
#[test]
fn sources_are_allowed_by_host_and_path() {
    let policy = user(
        "[sources]\nallow = [\"github.com/acme\", \"*.corp.example/team/*\", \"~/guidance\"]\n",
    );
    for address in [
        "https://github.com/acme/guidance",
        "https://GitHub.com/acme/guidance.git",
        "git@github.com:acme/guidance.git",
        "ssh://git@github.com:22/acme/guidance/",
        "https://git.corp.example/team/x",
        "file:///h/guidance/x",
    ] {
        assert!(!forbids(&policy, address), "{address}");
    }
    for address in [
        "https://github.com/acme-evil/guidance",
        "https://github.com.evil.example/acme/x",
        "https://evil.example/github.com/acme/x",
        "https://github.com@evil.example/acme/x",
        "https://github.com/acme/../evil/x",
        "https://github.com/acme/%2e%2e/evil",
        "https://corp.example/team/x",
        "https://git.corp.example/other/x",
        "file:///h/guidance-evil",
        "file:///tmp/x",
    ] {
        assert!(forbids(&policy, address), "{address}");
    }
    let none = user("[sources]\nallow = []\n");
    assert!(forbids(&none, "https://github.com/acme/guidance"));
}

/// Y08: every spelling of a host is that host, a pattern without a port stands for all ports, and `**` for every source.
#[test]
fn y08_a_pattern_means_what_it_appears_to_mean() {
    let policy = user(
        "[sources]\ndeny = [\"github.com/acme/experiments\", \"evil.example\", \"[::1]\", \"other.example:5000\"]\n",
    );
    for address in [
        "https://github.com./acme/experiments",
        "https://GITHUB.COM.:443/acme/experiments.git",
        "git@github.com.:acme/experiments",
        "ssh://git@github.com:2222/acme/experiments",
        "http://github.com:80/acme/experiments/x",
        "https://evil.example:8443/x",
        "https://evil.example.:8443/x",
        "evil.example:5000/x",
        "https://user@evil.example:1/x",
        "https://[::1]/x",
        "https://[::1]:8443/x",
        "https://other.example:5000/x",
        "https://other.example.:5000/x",
    ] {
        assert!(forbids(&policy, address), "{address}");
    }
    for address in
        ["https://github.com/acme/other", "https://evil.example.org/x", "https://other.example/x"]
    {
        assert!(!forbids(&policy, address), "{address}");
    }
    let policy = user(
        "[sources]\ndeny = [\"github.com\", \"127.0.0.1\", \"[::1]\", \"bücher.example\", \"xn--mnchen-3ya.de\"]\n",
    );
    for address in [
        "git@[github.com]:acme/x",
        "https://github.com:0443/acme/x",
        "https://ｇithub.com/acme/x",
        "https://user:word@GITHUB.com./acme/x",
        "https://127.1/x",
        "https://2130706433/x",
        "https://0x7f000001:8443/x",
        "https://0177.0.0.1/x",
        "https://[::ffff:127.0.0.1]/x",
        "ssh://git@[0:0:0:0:0:0:0:1]:22/x",
        "https://xn--bcher-kva.example/x",
        "https://BÜCHER.example./x",
        "https://bu\u{308}cher.example/x",
        "https://münchen.de/x",
        "127.1:5000/x",
    ] {
        assert!(forbids(&policy, address), "{address}");
    }
    assert!(
        !forbids(&policy, "https://127.0.0.2/x") && !forbids(&policy, "https://bucher.example/x")
    );
    let some = user("[sources]\nallow = [\"bücher.example\", \"127.0.0.1\"]\n");
    assert!(
        !forbids(&some, "https://xn--bcher-kva.example/x") && !forbids(&some, "https://127.1/x")
    );
    assert!(forbids(&some, "https://bu\u{308}cher.example/x"));
    let nothing = user("[sources]\ndeny = [\"**\"]\n");
    for address in ["https://github.com/a/b", "file:///srv/x", "localhost:5000/x", "file://%2e/x"] {
        assert!(forbids(&nothing, address), "{address}");
    }
    assert!(nothing.find_source_rule(&SourcePlace::Directory("/srv/x".into())).is_some());
    let all = user("[sources]\nallow = [\"**\"]\n");
    assert!(!forbids(&all, "https://github.com:8443/a/b") && !forbids(&all, "file:///srv/x"));
    let here = user("[sources]\nallow = [\"/srv\"]\n");
    assert!(!forbids(&here, "FILE://localhost/srv/x"));
    assert!(forbids(&here, "file:///srv/%2e%2e/etc/x"));
}

/// A denial wins over an allow list, in any case of letters.
#[test]
fn a_denial_wins() {
    let policy = user(
        "[sources]\nallow = [\"github.com/**\"]\ndeny = [\"https://github.com/evil/*\", \"/tmp\"]\n",
    );
    for address in ["https://github.com/Evil/x", "git@github.com:EVIL/x", "file:///tmp/x"] {
        assert!(forbids(&policy, address), "{address}");
    }
    assert!(!forbids(&policy, "https://github.com/evilish/x"));
    let found =
        policy.find_source_rule(&SourcePlace::of_address("https://github.com/evil/x")).unwrap();
    assert_eq!(
        found.to_string(),
        format!("the policy `{USER}:3` denies `https://github.com/evil/*`")
    );
}

/// Both files only tighten: each prohibition and each requirement of either holds.
#[test]
fn each_file_can_only_forbid_more() {
    let texts = [
        "execution = \"never\"\n[sources]\nallow = [\"github.com/a/*\", \"github.com/b/*\"]\n[required]\nrules = [\"house\"]\n",
        "execution = \"trusted\"\n[sources]\nallow = [\"github.com/b/*\", \"github.com/c/*\"]\n[capabilities]\nnever = [\"hooks\"]\n[required]\nskills = [\"review\"]\n",
    ];
    for [machine, user] in [[texts[0], texts[1]], [texts[1], texts[0]]] {
        let system = system().with_file(MACHINE, machine).with_file(USER, user);
        let policy = Policy::load(&system).unwrap();
        assert_eq!(policy.files().collect::<Vec<_>>(), [Path::new(MACHINE), Path::new(USER)]);
        for (address, is_forbidden) in [("a", true), ("b", false), ("c", true)] {
            let address = format!("https://github.com/{address}/x");
            assert_eq!(forbids(&policy, &address), is_forbidden, "{address}");
        }
        assert!(policy.find_execution_rule().is_some());
        assert!(policy.find_capability_rule(Capability::Hooks).is_some());
        assert!(policy.find_capability_rule(Capability::Tools).is_none());
        let mut required: Vec<String> =
            policy.required_items().map(|(item, _)| item.to_string()).collect();
        required.sort_unstable();
        assert_eq!(required, ["rule `house`", "skill `review`"]);
    }
}

/// A policy file in the project has no effect, wherever it lies.
#[test]
fn a_project_has_no_policy() {
    let system =
        ["policy.toml", ".brief/policy.toml", ".config/brief/policy.toml", "brief/policy.toml"]
            .into_iter()
            .fold(system(), |system, path| system.with_file(path, "execution = \"never\"\n"));
    assert_eq!(Policy::load(&system).unwrap(), Policy::default());
}

/// A file that cannot be read or understood is an error with its place, never an empty policy.
#[test]
fn a_policy_that_cannot_be_followed_is_an_error() {
    for (text, line) in [
        ("[sources\n", 1),
        ("execution = \"nevr\"\n", 1),
        ("\nexecution = false\n", 2),
        ("[sources]\nalow = []\n", 2),
        ("[sources]\nallow = \"github.com\"\n", 2),
        ("[sources]\ndeny = [\"acme/x\"]\n", 2),
        ("[sources]\ndeny = [\"github.com/[\"]\n", 2),
        ("sorces = []\n", 1),
        ("[capabilities]\nnever = [\"hook\"]\n", 2),
        ("[capabilities]\nallow = [\"hooks\"]\n", 2),
        ("[required]\nbundles = [\"x\"]\n", 2),
    ] {
        for path in [USER, MACHINE] {
            let error = Policy::load(&system().with_file(path, text)).unwrap_err();
            let place = format!("cannot apply the policy `{path}:{line}`: ");
            assert!(error.to_string().starts_with(&place), "{text}: {error}");
        }
    }
    let bytes = system().with_file(USER, b"execution = \"\xff\"\n");
    // A configuration directory that is not mounted: the file, or all above it, is a broken link.
    let directory = Path::new(MACHINE).parent().unwrap().to_str().unwrap();
    let (file, above) = (
        system().with_link(USER, "/nowhere/policy.toml"),
        system().with_link(directory, "/nowhere"),
    );
    for system in [system().with_fifo(USER), system().with_dir(USER), bytes, file, above] {
        let error = Policy::load(&system).unwrap_err();
        assert!(matches!(error, PolicyError::Unreadable { .. }), "{error}");
    }
}

#[test]
fn required_items_have_a_kind_and_a_place() {
    let policy = user("[required]\nagents = [\"a\"]\nskills = [\"s\"]\n");
    let required: Vec<(RequiredItem, usize)> =
        policy.required_items().map(|(item, decision)| (item.clone(), decision.line)).collect();
    let item = |kind, name: &str| RequiredItem { kind, name: name.to_owned() };
    assert_eq!(required, [(item("agent", "a"), 2), (item("skill", "s"), 3)]);
    assert_eq!(policy.files().next(), Some(PathBuf::from(USER).as_path()));
}
