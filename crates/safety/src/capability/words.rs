//! Word lists for the constructs of a text.

/// Variables that every shell has, and those for the arguments of a text.
pub(super) const ORDINARY: [&str; 26] = [
    "ARGS",
    "ARGUMENTS",
    "BASH",
    "BASH_SOURCE",
    "BASH_VERSION",
    "COLUMNS",
    "CWD",
    "DISPLAY",
    "EDITOR",
    "EUID",
    "FUNCNAME",
    "HOME",
    "HOSTNAME",
    "IFS",
    "LANG",
    "LINENO",
    "OLDPWD",
    "OSTYPE",
    "PATH",
    "PIPESTATUS",
    "PWD",
    "RANDOM",
    "SECONDS",
    "SHELL",
    "TERM",
    "USER",
];

/// Directories outside any project. `/tmp`, `/dev/null` and interpreters are part of ordinary
/// commands.
pub(super) const OUTSIDE: [&str; 19] = [
    "/etc/",
    "/root/",
    "/home/",
    "/Users/",
    "/var/",
    "/proc/",
    "/sys/",
    "/opt/",
    "/usr/local/",
    "/Library/",
    "/Applications/",
    "/boot/",
    "/mnt/",
    "/srv/",
    "/private/",
    "/dev/tcp/",
    "/dev/udp/",
    "/dev/mem",
    "/run/",
];

/// Extensions of files that texts import by their name alone.
pub(super) const TEXTS: [&str; 33] = [
    "adoc", "bash", "c", "cfg", "conf", "cpp", "cs", "css", "csv", "env", "go", "h", "html", "ini",
    "java", "js", "json", "jsonc", "jsx", "kt", "md", "mdc", "mdx", "py", "rb", "rs", "sh", "toml",
    "ts", "tsx", "txt", "yaml", "yml",
];

/// Expressions that read a variable, before and after `env`; its name follows, possibly in
/// quotation marks.
pub(super) const READERS: [(&str, &str); 12] = [
    ("process.", "env."),
    ("process.", "env["),
    ("import.meta.", "env."),
    ("os.", "environ["),
    ("os.", "environ.get("),
    ("os.get", "env("),
    ("get", "env("),
    ("Deno.", "env.get("),
    ("Bun.", "env."),
    ("", "ENV["),
    ("", "ENV.fetch("),
    ("", "env::var("),
];
