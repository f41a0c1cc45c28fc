//! Accounts, signers, policies and hostile registries: refused, explained, and nothing is written.

use std::fs;

use brief_testkit::{Fault, Sandbox, needs, write_program};

use crate::artifacts::{forget, locked, publish, skill, source};
use crate::build::read_tree;
use crate::container_registry::{ContainerRegistry, Door, KEY_A, KEY_B, Proxy, Trouble};
use crate::kill_matrix::in_process;
use crate::project;

pub(crate) fn one(project: &Sandbox, text: &str) -> String {
    source(project, "source", &[("skills/hello/SKILL.md", &skill("hello", text))])
}

pub(crate) fn outside(project: &Sandbox, name: &str, text: &str) -> String {
    let path = project.outside_directory().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The files of docker and its helpers; `YW5uOndvcmQ=` is `ann:word`.
#[test]
fn accounts_are_those_of_container_tools() {
    needs!(DockerRegistry);
    let first = project();
    let registry = ContainerRegistry::start(&first, Door::Accounts);
    let proxy = Proxy::to(registry.port);
    let (base, host) = (proxy.at("acme/one"), format!("127.0.0.1:{}", proxy.port));
    let from = one(&first, "Hello.");
    let output = first.run(&["registry", "publish", &base, "--from", &from]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("login required, and no credentials found"), "{output}");

    let wrong = format!("{{\"auths\": {{\"{host}\": {{\"auth\": \"YW5uOnNlY3JldA==\"}}}}}}");
    outside(&first, "wrong/config.json", &wrong);
    let right = format!("{{\"auths\": {{\"{host}\": {{\"auth\": \"YW5uOndvcmQ=\"}}}}}}");
    outside(&first, "right/config.json", &right);
    let helper = format!("{{\"credHelpers\": {{\"{host}\": \"own\"}}}}");
    outside(&first, "helper/config.json", &helper);
    let script = format!(
        "#!/bin/sh\nread host\ntest \"$1\" = get && test \"$host\" = {host} && \
         printf '{{\"Username\": \"ann\", \"Secret\": \"word\"}}'\n"
    );
    write_program(&first.outside_directory().join("bin/docker-credential-own"), script);

    let top = first.outside_directory();
    let place = |name: &str| top.join(name).to_str().unwrap().to_owned();
    let project = project().with_env("DOCKER_CONFIG", &place("wrong"));
    let output = project.run(&["registry", "publish", &base, "--from", &from]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("the registry denied access to"), "{output}");
    assert!(!output.stderr.contains("secret") && !output.stderr.contains("YW5u"), "{output}");

    let project = crate::project().with_env("DOCKER_CONFIG", &place("right"));
    publish(&project, &base, &from, &[]);
    assert_eq!(project.run(&["add", &base]).code, Some(0));
    // The account is in no file of ours.
    for text in
        read_tree(&project, "").into_values().chain(read_tree(&project, "../home").into_values())
    {
        assert!(!String::from_utf8_lossy(&text).contains("YW5u"));
    }
    proxy.decide(|_, _| Trouble::None);
    assert_eq!(project.run(&["update"]).code, Some(0));
    let head = "HEAD /v2/acme/one/manifests/latest";
    assert_eq!(proxy.requests(), [head.to_owned(), format!("{head} with an account")]);

    let path = format!("{}:/usr/bin:/bin", place("bin"));
    let project =
        crate::project().with_env("DOCKER_CONFIG", &place("helper")).with_env("PATH", &path);
    assert_eq!(project.run(&["add", &base]).code, Some(0));
}

/// A registry that wants a token: the account goes to the server that it names, the token to the registry, and neither to
/// the place of a layer.
#[test]
fn a_token_is_asked_for_with_the_account() {
    needs!(DockerRegistry);
    let first = project();
    let registry = ContainerRegistry::start(&first, Door::Open);
    let (proxy, tokens, other) =
        (Proxy::to(registry.port), Proxy::to(registry.port), Proxy::to(registry.port));
    let base = proxy.at("acme/one");
    let from = one(&first, "Hello.");
    publish(&first, &base, &from, &[]);
    let config =
        format!("{{\"auths\": {{\"127.0.0.1:{}\": {{\"auth\": \"YW5uOndvcmQ=\"}}}}}}", proxy.port);
    outside(&first, "docker/config.json", &config);
    let place = first.outside_directory().join("docker");
    let project = project().with_env("DOCKER_CONFIG", place.to_str().unwrap());

    let (token_port, other_port) = (tokens.port, other.port);
    proxy.decide(move |number, line| match line.split_once("/v2/") {
        _ if number == 0 => {
            let field = format!(
                "www-authenticate: Bearer realm=\"http://127.0.0.1:{token_port}/token\",service=\"own\"\r\n"
            );
            Trouble::status("401 Unauthorized", &field, b"")
        }
        Some((_, rest)) if rest.contains("/blobs/") => {
            let field = format!("location: http://127.0.0.1:{other_port}/v2/{rest}\r\n");
            Trouble::status("307 Temporary Redirect", &field, b"")
        }
        _ => Trouble::None,
    });
    tokens.decide(|_, _| Trouble::status("200 OK", "", b"{\"token\": \"abc\"}"));
    let output = project.run(&["add", &base]);
    assert_eq!(output.code, Some(0), "{output}");
    let asked = "GET /token?service=own&scope=repository%3Aacme%2Fone%3Apull with an account";
    assert_eq!(tokens.requests(), [asked]);
    let requests = proxy.requests();
    assert!(!requests[0].contains("account"), "{requests:?}");
    assert!(requests[1..].iter().all(|line| line.ends_with(" with an account")), "{requests:?}");
    let elsewhere = other.requests();
    assert!(elsewhere.len() == 1 && !elsewhere[0].contains("account"), "{elsewhere:?}");

    // A server of tokens that refuses is told, without the password.
    forget(&project);
    tokens.decide(|_, _| Trouble::status("403 Forbidden", "", b""));
    proxy.decide(move |_, _| {
        let field =
            format!("www-authenticate: Bearer realm=\"http://127.0.0.1:{token_port}/token\"\r\n");
        Trouble::status("401 Unauthorized", &field, b"")
    });
    let output = project.run(&["update", "--check"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("the token server answered 403 Forbidden"), "{output}");
    assert!(!output.stderr.contains("word"), "{output}");
}

/// The first signer is remembered; another one, or none, is refused until it is accepted. The registry has no
/// list of signatures, so the tag that stands for it is used.
#[test]
fn another_signer_is_refused_until_it_is_accepted() {
    needs!(DockerRegistry);
    let project = project();
    let registry = ContainerRegistry::start(&project, Door::Open);
    let (a, b) = (outside(&project, "a.pem", KEY_A), outside(&project, "b.pem", KEY_B));
    let kept = format!("oci-layout:{}", project.outside_directory().join("kept").display());
    for base in [registry.at("acme/signed"), kept] {
        let from = one(&project, "One.");
        let digest = publish(&project, &base, &from, &["--sign", &a]);
        let output = project.run(&["add", &base, "--name", "own"]);
        assert_eq!(output.code, Some(0), "{output}");
        let signer = |text: &str| {
            let start = text.find("signer = \"").map_or_else(|| panic!("{text}"), |at| at + 10);
            text[start..start + 71].to_owned()
        };
        let first = signer(&locked(&project));

        one(&project, "Two.");
        publish(&project, &base, &from, &["--sign", &b]);
        let before = read_tree(&project, "");
        let output = project.run(&["update"]);
        assert_eq!(output.code, Some(1), "{output}");
        assert!(
            output.stderr.contains(&format!("was signed by `{first}` but is now signed by")),
            "{output}"
        );
        assert_eq!(read_tree(&project, ""), before);
        let second = output.stderr.split("now signed by `").nth(1).unwrap()[..71].to_owned();
        assert_ne!(first, second);
        // What to paste is said, and each signer once.
        assert!(output.stderr.contains(&format!("`--accept-signer '{second}'`")), "{output}");
        assert_eq!(output.stderr.matches(&second).count(), 2, "{output}");
        let list = project.run(&["list"]);
        assert!(list.stdout.contains(&format!("own is signed by {first}\n")), "{list}");
        // The first signer in the option changes nothing.
        assert_eq!(project.run(&["update", "--accept-signer", &first]).code, Some(1));
        let output = project.run(&["update", "--accept-signer", &second]);
        assert_eq!(output.code, Some(0), "{output}");
        assert_eq!(signer(&locked(&project)), second);

        one(&project, "Three.");
        publish(&project, &base, &from, &[]);
        let before = read_tree(&project, "");
        let output = project.run(&["update"]);
        assert_eq!(output.code, Some(1), "{output}");
        assert!(output.stderr.contains("but is now not signed"), "{output}");
        assert_eq!(read_tree(&project, ""), before);
        // A signature that comes later counts.
        publish(&project, &base, &from, &["--sign", &b]);
        let output = project.run(&["update"]);
        assert_eq!(output.code, Some(0), "{output}");

        // The lock still restores on another machine, and a lock with another signer does not.
        forget(&project);
        assert_eq!(project.run(&["sync", "--frozen"]).code, Some(0));
        let lock = project.read("brief.lock");
        project.write("brief.lock", lock.replace(&second, &first));
        forget(&project);
        assert_eq!(project.run(&["sync", "--frozen"]).code, Some(1));
        project.write("brief.lock", lock);
        assert_eq!(project.run(&["remove", "own"]).code, Some(0));
        assert!(digest.starts_with("sha256:"));
    }
}

pub(crate) fn with_policy(project: Sandbox, text: &str) -> Sandbox {
    let directory = project.home().join(".config/brief");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("policy.toml"), text).unwrap();
    project
}

/// A policy demands signers, registries, digests and an age; what does not comply is refused before it is written.
#[test]
fn a_policy_decides_about_artifacts() {
    needs!(DockerRegistry);
    let publisher = project();
    let registry = ContainerRegistry::start(&publisher, Door::Open);
    let base = registry.at("acme/policy");
    let from = one(&publisher, "One.");
    let (a, b) = (outside(&publisher, "a.pem", KEY_A), outside(&publisher, "b.pem", KEY_B));
    let digest = publish(&publisher, &base, &from, &[]);
    let output = publisher.run(&[
        "registry",
        "publish",
        &base,
        "--from",
        &from,
        "--sign",
        &a,
        "--dry-run",
        "--json",
    ]);
    let signer = output.json()["signer"].as_str().unwrap().to_owned();

    let host = format!("127.0.0.1:{}", registry.port);
    let required = format!("[oci.signers]\n\"{host}/acme/*\" = [\"{signer}\"]\n");
    for (policy, address, said) in [
        (required.as_str(), base.clone(), "requires a signature by"),
        ("[oci]\nregistries = [\"*.acme.example\"]\n", base.clone(), "allows only the registries"),
        ("[oci]\ndigests-only = true\n", base.clone(), "allows only artifacts with a digest"),
        (
            "[oci]\nminimum-age = \"3d\"\n",
            base.clone(),
            "requires artifacts to be at least `3d` old",
        ),
    ] {
        let project = with_policy(project(), policy);
        let output = project.run(&["add", &address]);
        assert_eq!(output.code, Some(1), "{policy}: {output}");
        assert!(output.stderr.contains(said), "{policy}: {output}");
        let written = read_tree(&project, "");
        assert!(written.keys().all(|path| path.starts_with(".brief/")), "{:?}", written.keys());
    }
    let project = with_policy(project(), "[oci]\ndigests-only = true\n");
    let output = project.run(&["add", &format!("{base}@{digest}")]);
    assert_eq!(output.code, Some(0), "{output}");

    // A signature by another key is not enough, the right one is.
    publish(&publisher, &base, &from, &["--sign", &b]);
    let project = with_policy(crate::project(), &required);
    assert_eq!(project.run(&["add", &base]).code, Some(1));
    publish(&publisher, &base, &from, &["--sign", &a]);
    let output = project.run(&["add", &base]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(locked(&project).contains(&signer), "{}", locked(&project));
}

/// A registry that lists signatures is asked once, and the tag that stands for the list is not.
#[test]
fn a_registry_with_a_list_of_signatures_is_asked_for_it() {
    needs!(DockerRegistry);
    let project = project();
    let registry = ContainerRegistry::start(&project, Door::Open);
    let proxy = Proxy::to(registry.port);
    let base = proxy.at("acme/listed");
    let key = outside(&project, "a.pem", KEY_A);
    let digest = publish(&project, &base, &one(&project, "Hello."), &["--sign", &key]);
    let tag = proxy.requests().into_iter().find(|line| line.contains("/manifests/sha256-"));
    let tag = tag.unwrap().rsplit('/').next().unwrap().to_owned();
    assert_eq!(tag, digest.replace(':', "-"));
    // The same list, from where newer registries have it.
    let list = registry.manifest("acme/listed", &tag);
    proxy.decide(move |_, line| {
        let is_list = line.contains("/referrers/");
        if is_list { Trouble::status("200 OK", "", &list) } else { Trouble::None }
    });
    let output = project.run(&["add", &base]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(locked(&project).contains("signer = \"sha256:44e0b346"), "{}", locked(&project));
    let requests = proxy.requests();
    assert!(
        requests.iter().any(|line| line.ends_with(&format!("/referrers/{digest}"))),
        "{requests:?}"
    );
    assert!(!requests.iter().any(|line| line.contains(&tag)), "{requests:?}");
    // The tag, the manifest, the layer, the list, the signature's manifest and its bundle.
    assert_eq!(requests.len(), 6, "{requests:?}");
}

/// Manifests that are too large, of other kinds, or lead elsewhere.
#[test]
fn hostile_registries_are_refused() {
    needs!(DockerRegistry);
    let project = project();
    let registry = ContainerRegistry::start(&project, Door::Open);
    let proxy = Proxy::to(registry.port);
    let base = proxy.at("acme/one");
    let from = one(&project, "Hello.");
    publish(&project, &base, &from, &[]);
    let other = Proxy::to(registry.port);

    let document = |text: &str| Trouble::status("200 OK", "", text.as_bytes());
    let config = "\"config\": {\"mediaType\": \"application/vnd.oci.image.config.v1+json\", \
                  \"digest\": \"sha256:0000000000000000000000000000000000000000000000000000000000000000\", \"size\": 2}";
    let image = format!("{{\"schemaVersion\": 2, {config}, \"layers\": []}}");
    let unknown =
        "{\"schemaVersion\": 2, \"artifactType\": \"application/vnd.acme.pie\", \"layers\": []}";
    let large = format!("{{\"schemaVersion\": 2, \"x\": \"{}\"}}", "a".repeat(50 * 1024 * 1024));
    let elsewhere =
        format!("location: http://127.0.0.1:{}/v2/acme/one/manifests/latest\r\n", other.port);
    // Without a digest in the answer to `HEAD` the manifest itself is read.
    let cases = [
        (document(&image), "is a container image"),
        (document(unknown), "unknown artifact type `application/vnd.acme.pie`"),
        (document(&large), "the manifest has more than 4194304 bytes"),
        (document("[]"), "invalid manifest"),
        (document("{\"schemaVersion\": 1}"), "unsupported manifest version 1"),
        (Trouble::status("307 Temporary Redirect", &elsewhere, b""), "brief does not follow it"),
    ];
    for (trouble, said) in cases {
        forget(&project);
        proxy.decide(move |_, line| match line.contains("/manifests/") {
            true if line.starts_with("HEAD") => Trouble::status("200 OK", "", b""),
            true => trouble.clone(),
            false => Trouble::None,
        });
        let output = project.run(&["add", &base]);
        assert_eq!(output.code, Some(1), "{said}: {output}");
        assert!(output.stderr.contains(said), "{said}: {output}");
        let written = read_tree(&project, "");
        assert!(written.keys().all(|path| path.starts_with(".brief/")), "{:?}", written.keys());
    }
    assert_eq!(other.requests(), Vec::<String>::new());

    // The content of a layer may lie elsewhere; its digest is checked, and no account goes there.
    forget(&project);
    let port = other.port;
    proxy.decide(move |_, line| {
        match line.split_once("/v2/").filter(|_| line.contains("/blobs/")) {
            Some((_, rest)) => {
                let field = format!("location: http://127.0.0.1:{port}/v2/{rest}\r\n");
                Trouble::status("307 Temporary Redirect", &field, b"")
            }
            None => Trouble::None,
        }
    });
    let output = project.run(&["add", &base]);
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(other.requests().len(), 1, "{:?}", other.requests());
    assert!(!other.requests()[0].contains("account"));
}

/// Killed at every step, the program comes to the same state the next time, and the cache keeps nothing half.
#[test]
fn a_killed_run_leaves_no_half_artifact() {
    let publisher = project();
    let kept = publisher.outside_directory().join("kept");
    let address = format!("oci-layout:{}", kept.display());
    let from = one(&publisher, "Hello.");
    publish(&publisher, &address, &from, &[]);
    let add = ["add", address.as_str(), "--client", "claude"];
    let whole = project();
    assert_eq!(whole.run(&add).code, Some(0));
    let expected = read_tree(&whole, ".claude");
    let steps = in_process(&project(), &add, Fault::None).steps.len();
    assert!(steps > 30, "{steps}");
    for at in 0..steps {
        let project = project();
        in_process(&project, &add, Fault::Dies { at });
        let output = project.run(&add);
        assert_eq!(output.code, Some(0), "step {at}: {output}");
        assert_eq!(read_tree(&project, ".claude"), expected, "step {at}");
        let cache = read_tree(&project, "../home/.cache");
        let is_staged = |path: &String| path.split('/').any(|part| part.starts_with(".brief-"));
        assert!(!cache.keys().any(is_staged), "step {at}: {:?}", cache.keys());
    }
}
