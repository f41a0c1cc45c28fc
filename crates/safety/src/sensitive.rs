//! File names that are always kept out, whatever a configuration says.
//!
//! The document lists 30 patterns. They are read by their evident meaning: `.key` is the name
//! `.key` and every name with that ending (`server.key`), in any case, and a directory of that name
//! excludes everything below it. A second list of ours names files that hold secrets just as
//! surely. Spellings that some file systems take for the same name (`.env.`, `.e\u{200c}nv`,
//! `.env::$DATA`) are the same name here.
//!
//! Every channel that reads on behalf of a project asks this module, so it must not depend on the
//! hosted format.

use std::borrow::Cow;
use std::sync::LazyLock;

use brief_syntax::hidden::is_hidden;

pub const PATTERNS: [&str; 30] = [
    ".env",
    ".env.*",
    ".key",
    ".key.*",
    ".pem",
    ".pem.*",
    ".crt",
    ".crt.*",
    ".p12",
    ".p12.*",
    ".pfx",
    ".pfx.*",
    ".jks",
    ".jks.*",
    ".keystore",
    ".keystore.*",
    ".ppk",
    ".ppk.*",
    ".ssh/id_*",
    ".kdbx",
    ".kdbx.*",
    ".asc",
    ".asc.*",
    ".gpg",
    ".gpg.*",
    "credentials*",
    "*_key",
    "*_key.*",
    ".ovpn",
    ".ovpn.*",
];

/// Our additional list: file names, some with their directories. A `*` stands for any letters of
/// one name.
pub const EXTRA: [&str; 124] = [
    // Keys.
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ecdsa_sk",
    "id_ed25519",
    "id_ed25519_sk",
    "*_rsa",
    "*_ed25519",
    "*.p8",
    "*.jceks",
    "*.kwl",
    "*.keychain",
    "*.keychain-db",
    "*.keyring",
    "*.kubeconfig",
    "age/keys.txt",
    "keyrings/*",
    ".password-store/*",
    "private-keys-v1.d/*",
    "wallet.dat",
    "utc--*",
    // Accounts of services and clouds.
    "*-key.json",
    "client_secret*.json",
    "service-account*.json",
    "service_account*.json",
    "serviceaccount*.json",
    "*-service-account.json",
    "*-credentials.json",
    "*_credentials.json",
    "application_default_credentials.json",
    "*-adminsdk-*.json",
    "gcloud/access_tokens.db",
    "gcloud/legacy_credentials/*",
    ".aws/config",
    ".aws/sso/cache/*",
    ".aws/cli/cache/*",
    ".azure/*.json",
    "*token_cache*",
    "*token-cache*",
    "*tokencache*",
    "accesstokens.json",
    "oauth_creds.json",
    ".oci/config",
    ".aliyun/config.json",
    ".databrickscfg",
    ".fly/config.yml",
    "doctl/config.yaml",
    "hcloud/cli.toml",
    "scw/config.yaml",
    "netlify/config.json",
    "com.vercel.cli/auth.json",
    ".supabase/access-token",
    ".railway/config.json",
    "configstore/firebase-tools.json",
    ".wrangler/config/default.toml",
    "kaggle.json",
    "huggingface/token",
    "huggingface/stored_tokens",
    "local.settings.json",
    ".s3cfg",
    ".boto",
    "rclone.conf",
    // Clients of models.
    ".claude/.credentials.json",
    ".claude.json",
    ".codex/auth.json",
    ".factory/auth.json",
    "opencode/auth.json",
    "github-copilot/hosts.json",
    "github-copilot/apps.json",
    // Clusters, containers and infrastructure.
    ".docker/config.json",
    ".dockercfg",
    ".dockerconfigjson",
    "containers/auth.json",
    ".kube/config",
    "kubeconfig",
    "kubeconfig.yaml",
    "kubeconfig.yml",
    "kubernetes/admin.conf",
    "*.tfstate",
    "*.tfstate.backup",
    "*.tfvars",
    "*.tfvars.json",
    ".terraformrc",
    ".vault-token",
    ".vault_pass*",
    // Packages and repositories.
    ".npmrc",
    ".pypirc",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    "nuget/nuget.config",
    "pypoetry/auth.toml",
    ".composer/auth.json",
    "composer/auth.json",
    ".git-credentials",
    "gh/hosts.yml",
    "glab-cli/config.yml",
    ".config/hub",
    "tea/config.yml",
    // Passwords.
    ".netrc",
    "_netrc",
    ".authinfo",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".htpasswd",
    ".smbcredentials",
    ".msmtprc",
    ".fetchmailrc",
    ".vnc/passwd",
    "logins.json",
    "key3.db",
    "key4.db",
    "cookies.sqlite",
    "login data",
    "secrets.yaml",
    "secrets.yml",
    "secrets.json",
    "secrets.toml",
    // Histories of shells and interpreters.
    ".*_history",
    "fish_history",
    "consolehost_history.txt",
    ".histfile",
    ".lesshst",
];

/// The list that a pattern is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// The document's list: always in force.
    Required,
    /// Our list: in force unless the user turns it off.
    Extra,
}

/// The pattern that keeps a path out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sensitive {
    pub pattern: &'static str,
    pub tier: Tier,
}

/// The kind of the last name of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaf {
    /// A file: both lists apply.
    File,
    /// A directory: only [`PATTERNS`] apply.
    Directory,
}

/// Returns the pattern that keeps the file at `path` out.
///
/// The path is relative to a directory whose own name does not count: a project may live in
/// `credentials-api/`. Both `/` and `\` separate names.
///
/// ```
/// use brief_safety::sensitive;
///
/// assert_eq!(sensitive::find_sensitive_pattern("deploy/Server.KEY").unwrap().pattern, ".key");
/// assert_eq!(sensitive::find_sensitive_pattern("docs/keyboard.md"), None);
/// ```
pub fn find_sensitive_pattern(path: &str) -> Option<Sensitive> {
    find_below("", path, Leaf::File)
}

/// Like [`find_sensitive_pattern`], for a path below the directory `above`. The names of `above` count only as the
/// directory part of patterns that have one: `id_x` below `.ssh` is `.ssh/id_*`.
pub fn find_below(above: &str, path: &str, leaf: Leaf) -> Option<Sensitive> {
    let mut names: Vec<Cow<'_, str>> = Vec::with_capacity(8);
    // No pattern names more than three directories.
    let nearest = above.rsplit(['/', '\\']).filter(|name| !name.is_empty()).take(3);
    names.extend(nearest.map(normalize_name));
    names.reverse();
    let start = names.len();
    push_names(&mut names, path, start);
    let required = (start..names.len()).find_map(|index| {
        let pair = index.checked_sub(1).and_then(|above| find_in_ssh(&names[above], &names[index]));
        pair.or_else(|| find_name(&names[index]))
    });
    if let Some(pattern) = required {
        return Some(Sensitive { pattern, tier: Tier::Required });
    }
    if leaf == Leaf::Directory || names.len() == start {
        return None;
    }
    let letter = names.last().and_then(|name| name.as_bytes().last());
    let likely =
        letter.into_iter().chain(b"*").flat_map(|&letter| &BY_LAST_LETTER[usize::from(letter)]);
    let listed = likely.filter(|&&index| ends_with(&names, EXTRA[index])).min();
    listed.map(|&index| Sensitive { pattern: EXTRA[index], tier: Tier::Extra })
}

/// The patterns of our list by their last letters: nearly every name differs from them there.
static BY_LAST_LETTER: LazyLock<Vec<Vec<usize>>> = LazyLock::new(|| {
    let mut patterns = vec![Vec::new(); 256];
    for (index, pattern) in EXTRA.iter().enumerate() {
        if let Some(&letter) = pattern.as_bytes().last() {
            patterns[usize::from(letter)].push(index);
        }
    }
    patterns
});

/// Adds the normalized names of a path. `..` removes the name before it, but none of the first
/// `floor`.
fn push_names<'p>(names: &mut Vec<Cow<'p, str>>, path: &'p str, floor: usize) {
    for name in path.split(['/', '\\']) {
        match name {
            ".." if names.len() > floor => {
                names.pop();
            }
            "" | "." | ".." => {}
            name => names.push(normalize_name(name)),
        }
    }
}

/// Normalizes a name: drops case, invisible characters, trailing dots and blanks, and the name of
/// an alternate data stream.
fn normalize_name(name: &str) -> Cow<'_, str> {
    let usual =
        |byte: u8| matches!(byte, b'!'..=b'~') && byte != b':' && !byte.is_ascii_uppercase();
    if name.bytes().all(|byte| usual(byte) || byte == b' ') && !name.ends_with(['.', ' ']) {
        return Cow::Borrowed(name);
    }
    let visible = name.chars().filter(|&character| !is_hidden(character));
    // Upper case first: a file system without case reads `ſ` as `s` and the Kelvin sign as `k`.
    let folded: String =
        visible.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect();
    let stem = match folded.find(':') {
        Some(colon) if colon > 0 => &folded[..colon],
        _ => &folded,
    };
    let trimmed = stem.trim_end_matches(['.', ' ']);
    Cow::Owned(if trimmed.is_empty() { folded } else { trimmed.to_owned() })
}

/// Finds the pattern of a dot and this word.
fn find_extension(word: &str) -> Option<usize> {
    const WORDS: [(&str, usize); 13] = [
        ("env", 0),
        ("key", 2),
        ("pem", 4),
        ("crt", 6),
        ("p12", 8),
        ("pfx", 10),
        ("jks", 12),
        ("keystore", 14),
        ("ppk", 16),
        ("kdbx", 19),
        ("asc", 21),
        ("gpg", 23),
        ("ovpn", 28),
    ];
    WORDS.iter().find(|(known, _)| *known == word).map(|&(_, index)| index)
}

fn find_name(name: &str) -> Option<&'static str> {
    let is_credentials = || name.starts_with("credentials").then_some("credentials*");
    // Most names of directories have neither of these marks, and every other pattern has one.
    if !name.bytes().any(|byte| matches!(byte, b'.' | b'_')) {
        return is_credentials();
    }
    let mut words = name.split('.').skip(1).peekable();
    while let Some(word) = words.next() {
        if let Some(index) = find_extension(word) {
            return Some(PATTERNS[index + usize::from(words.peek().is_some())]);
        }
    }
    let is_key = || name.ends_with("_key").then_some("*_key");
    let is_key_of = || (name.contains('_') && name.contains("_key.")).then_some("*_key.*");
    is_credentials().or_else(is_key).or_else(is_key_of)
}

fn find_in_ssh(directory: &str, name: &str) -> Option<&'static str> {
    (directory == ".ssh" && name.starts_with("id_")).then_some(".ssh/id_*")
}

fn ends_with(names: &[Cow<'_, str>], pattern: &str) -> bool {
    // A pattern that ends with a star has another letter in which nearly every name differs.
    let from_end =
        |place: usize| names.len().checked_sub(place).map(|index| names[index].as_bytes());
    let differs = match pattern.as_bytes() {
        [.., letter, b'/', b'*'] => from_end(2).and_then(<[u8]>::last) != Some(letter),
        [letter, .., b'*'] if *letter != b'*' => {
            from_end(1).and_then(<[u8]>::first) != Some(letter)
        }
        _ => false,
    };
    if differs {
        return false;
    }
    let mut names = names.iter().rev();
    pattern.rsplit('/').all(|part| names.next().is_some_and(|name| matches_pattern(name, part)))
}

/// Returns whether a name matches a pattern with stars.
fn matches_pattern(name: &str, pattern: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return name == pattern };
    // No pattern has more than two stars, which may stand for nothing.
    if name.len() + 2 < pattern.len() {
        return false;
    }
    let Some(mut name) = name.strip_prefix(start) else { return false };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return name.ends_with(part);
        }
        let Some(at) = name.find(part) else { return false };
        name = &name[at + part.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_leads_to_its_own_patterns() {
        for pattern in PATTERNS {
            let name = pattern.replace('*', "x");
            assert_eq!(find_sensitive_pattern(&name).map(|found| found.pattern), Some(pattern));
        }
        for pattern in EXTRA {
            let found = find_sensitive_pattern(&pattern.replace('*', "x"));
            assert!(found.is_some(), "{pattern}");
            // `fits` relies on it.
            assert!(pattern.matches('*').count() <= 2, "{pattern}");
            let shortest = pattern.replace('*', "");
            assert!(
                pattern.ends_with("/*") || find_sensitive_pattern(&shortest).is_some(),
                "{pattern}"
            );
        }
    }

    /// X02, X16: credentials of clients, clouds and tools, as they lie in a home directory.
    #[test]
    fn credentials_of_clients_and_clouds_are_known() {
        for path in [
            ".claude/.credentials.json",
            ".codex/auth.json",
            ".gemini/oauth_creds.json",
            ".config/github-copilot/apps.json",
            ".local/share/opencode/auth.json",
            ".m2/settings.xml",
            ".netrc",
            ".npmrc",
            ".pypirc",
            ".docker/config.json",
            ".kube/config",
            ".config/gcloud/access_tokens.db",
            ".config/gcloud/application_default_credentials.json",
            ".aws/sso/cache/0af1.json",
            ".azure/msal_token_cache.json",
            ".config/gh/hosts.yml",
            ".python_history",
            ".node_repl_history",
            ".psql_history",
            ".local/share/fish/fish_history",
            ".local/share/keyrings/login.keyring",
            ".password-store/mail",
            "client_secret.json",
            "client_secret_123.apps.googleusercontent.com.json",
            "gcp-key.json",
            "Service-Account-Prod.json",
            "shop-firebase-adminsdk-x1.json",
            "AuthKey_ABC.p8",
            "deploy_ed25519",
            ".cargo/credentials.toml",
            ".gradle/gradle.properties",
        ] {
            assert!(find_sensitive_pattern(path).is_some(), "{path}");
        }
    }

    /// Ordinary files of projects stay visible, even with similar names.
    #[test]
    fn ordinary_names_are_not_hidden() {
        for path in [
            "src/auth.json",
            "locales/en/auth.json",
            "config.json",
            "settings.xml",
            "gradle.properties",
            "config/config.yaml",
            "hosts.yml",
            "docs/history.md",
            "CHANGELOG_history.md",
            "src/token.rs",
            "design/tokens.json",
            "src/tokenizer.json",
            "keyboard.json",
            "public-keys.md",
            "cookies.md",
            "service.json",
            "client.json",
            ".claude/settings.json",
            ".codex/config.toml",
            ".aws/README.md",
            ".github/hosts.yml",
            "docs/keyrings.md",
            "login.ts",
            "id_ed25519.pub",
            "src/rsa.rs",
        ] {
            assert_eq!(find_sensitive_pattern(path), None, "{path}");
        }
    }

    #[test]
    fn names_above_do_not_count_except_as_the_directory_of_a_pattern() {
        assert_eq!(find_below("credentials", "a.md", Leaf::File), None);
        let found = find_below("home/.ssh", "id_notes.md", Leaf::File);
        assert_eq!(found.map(|found| found.pattern), Some(".ssh/id_*"));
    }

    #[test]
    fn spellings_of_one_name_are_one_name() {
        for name in
            [".ENV", ".env. ", ".e\u{200c}nv", ".env::$DATA", "x\\.env", ".\u{212a}ey", "a.aſc"]
        {
            assert!(find_sensitive_pattern(name).is_some(), "{name:?}");
        }
        for name in ["environment.md", "keys.md", ".envoy", "ssh/id_cards.md", "..", "...", ""] {
            assert_eq!(find_sensitive_pattern(name), None, "{name:?}");
        }
    }
}
