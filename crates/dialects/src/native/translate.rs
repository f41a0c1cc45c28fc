//! The scope of a client's rule in the words of the portable format.
//!
//! Portable patterns are paths from the root with `*`, `**`, `?`, classes and braces, and case counts. Most
//! clients mean the same. Claude Code's lines of a `.gitignore` and Copilot's patterns at any depth are
//! spelled out; what takes files back has no word in the format and is returned as it was written.

use std::borrow::Cow;
use std::sync::Arc;

use brief_profiles::{ClientPlace, Form, PlaceShape, text};
use brief_syntax::Source;
use brief_syntax::glob::Glob;

use super::globs::{Semantics, expand_braces, from_workspace, split_at_commas, split_patterns};
use super::model::Use;
use super::parse::{ClientFile, parse_guide};

/// The most alternatives of one pattern.
const ALTERNATIVES: usize = 64;

/// The moment at which a client uses a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleUse {
    /// Always, or for the files of its patterns.
    Active,
    /// The model chooses it by its description.
    Listed,
    Manual,
    Never,
}

/// The scope of a client's rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleScope {
    /// The moment of its use.
    pub used: RuleUse,
    /// The patterns for the format, seen from the directory that holds the client's files; none for a rule
    /// that is for all files.
    pub patterns: Vec<String>,
    /// The patterns, as written, that the format cannot say.
    pub unsaid: Vec<String>,
    /// The field that holds the patterns.
    pub field: Option<&'static str>,
    /// The offset of the body.
    pub body_start: usize,
}

/// Reads the scope of a rule in a form.
pub fn rule_scope(form: Form, source: &Arc<Source>) -> RuleScope {
    let place = ClientPlace { path: text(""), key: text(""), shape: PlaceShape::File, form };
    let found = ClientFile { source: Arc::clone(source), real: None, below: String::new() };
    let guide = parse_guide(found, &place, &mut Vec::new());
    let used = match guide.use_ {
        Use::Active(_) | Use::Bridge(_) => RuleUse::Active,
        Use::Listed => RuleUse::Listed,
        Use::Manual => RuleUse::Manual,
        Use::Never(_) => RuleUse::Never,
    };
    let own = guide.scope.as_ref();
    let field = own.map(|own| own.field);
    let (patterns, unsaid) = own
        .map(|own| translate_patterns(own.globs.semantics, &own.globs.written))
        .unwrap_or_default();
    RuleScope { used, patterns, unsaid, field, body_start: guide.body_start }
}

/// Returns the patterns of a field as a client with a form reads them, in the words of the format, and those
/// that it cannot say. No patterns and none unsaid means all files.
pub fn portable_patterns(form: Form, values: &[&str]) -> (Vec<String>, Vec<String>) {
    let semantics = form_semantics(form);
    let written = values.iter().flat_map(|value| split_patterns(semantics, value));
    let written: Vec<String> = written.map(str::to_owned).collect();
    translate_patterns(semantics, &written)
}

/// Returns a portable pattern as a client with a form has to be told it.
///
/// Claude Code takes `src/**` for a `src` at any depth; with `/` before it, only the one at the root is meant.
pub fn client_pattern(form: Form, pattern: &str) -> Cow<'_, str> {
    let path = pattern.strip_suffix("/**").unwrap_or(pattern).trim_end_matches('/');
    let is_at_root = !path.contains('/') && !path.starts_with("**");
    match form_semantics(form) {
        Semantics::Claude if is_at_root => Cow::Owned(format!("/{pattern}")),
        _ => Cow::Borrowed(pattern),
    }
}

fn form_semantics(form: Form) -> Semantics {
    match form {
        Form::Claude | Form::Skill => Semantics::Claude,
        Form::Copilot => Semantics::Copilot,
        Form::Qwen | Form::Kiro => Semantics::Whole,
        _ => Semantics::Workspace,
    }
}

fn translate_patterns(semantics: Semantics, written: &[String]) -> (Vec<String>, Vec<String>) {
    let mut patterns: Vec<String> = Vec::new();
    let mut unsaid = Vec::new();
    for own in written {
        let found = match semantics {
            Semantics::Claude => translate_claude(own),
            Semantics::Copilot => translate_copilot(own),
            Semantics::Workspace | Semantics::Whole => translate_workspace(own),
        };
        match found {
            Translated::Said(said) if said.iter().all(|said| Glob::new(said).is_ok()) => {
                for said in said {
                    if !patterns.contains(&said) {
                        patterns.push(said);
                    }
                }
            }
            // One pattern that leaves nothing out makes the others needless.
            Translated::Everything => return (Vec::new(), Vec::new()),
            _ => unsaid.push(own.clone()),
        }
    }
    (patterns, unsaid)
}

/// A pattern in the words of the format.
enum Translated {
    Said(Vec<String>),
    Everything,
    Unsayable,
}

impl Translated {
    fn from_pattern(pattern: String) -> Translated {
        match pattern.as_str() {
            "**" | "**/*" | "**/**" => Translated::Everything,
            _ => Translated::Said(vec![pattern]),
        }
    }
}

fn translate_workspace(pattern: &str) -> Translated {
    let rest = from_workspace(pattern);
    match rest.strip_suffix('/') {
        _ if rest.starts_with('!') || rest.is_empty() || split_at_commas(rest).count() > 1 => {
            Translated::Unsayable
        }
        Some(directory) => Translated::from_pattern(format!("{directory}/**")),
        None => Translated::from_pattern(rest.to_owned()),
    }
}

/// A pattern without `/` is meant at any depth by VS Code and by Copilot's command line. With one, the command
/// line starts at the root, as the format does; VS Code finds it deeper, too.
fn translate_copilot(pattern: &str) -> Translated {
    let rest = pattern.strip_prefix("./").unwrap_or(pattern);
    if pattern.starts_with(['!', '/']) || rest.is_empty() {
        return Translated::Unsayable;
    }
    match rest.strip_prefix("**") {
        _ if rest == "*" => Translated::Everything,
        _ if rest.contains('/') => Translated::from_pattern(rest.to_owned()),
        // Two stars mean more than one only between slashes.
        Some(after) if !after.is_empty() => Translated::from_pattern(format!("**/*{after}")),
        Some(_) => Translated::Everything,
        None => Translated::from_pattern(format!("**/{rest}")),
    }
}

fn translate_claude(pattern: &str) -> Translated {
    let expanded = if pattern.contains('{') && !has_plain_braces(pattern) {
        let (expanded, is_cut) = expand_braces(pattern, ALTERNATIVES);
        if is_cut {
            return Translated::Unsayable;
        }
        expanded
    } else {
        vec![pattern.to_owned()]
    };
    let mut said = Vec::new();
    for line in &expanded {
        match translate_gitignore(line) {
            Translated::Said(patterns) => said.extend(patterns),
            other => return other,
        }
    }
    Translated::Said(said)
}

/// Returns whether braces mean the same in the format. They do not where an alternative contains a `/`, begins the
/// pattern, or stands in the last name for more than its ending.
fn has_plain_braces(pattern: &str) -> bool {
    let last = pattern.rsplit('/').next().unwrap_or(pattern);
    let is_odd = |part: &str| part.contains(['/', '{', ' ']);
    !pattern.contains('\\')
        && !pattern.starts_with('{')
        && !inside_braces(pattern).any(is_odd)
        && (!last.contains('{') || last.contains(".{"))
}

/// Returns the texts between braces.
fn inside_braces(pattern: &str) -> impl Iterator<Item = &str> {
    pattern.split('{').skip(1).map(|rest| rest.split('}').next().unwrap_or(rest))
}

fn translate_gitignore(line: &str) -> Translated {
    // A comment, or what takes files back.
    if line.starts_with(['#', '!']) || line.contains('\\') {
        return Translated::Unsayable;
    }
    let is_below = line.ends_with("/**");
    let line = line.strip_suffix("/**").unwrap_or(line);
    let is_only_directory = line.ends_with('/');
    let line = line.strip_suffix('/').unwrap_or(line);
    let is_directory = is_below || is_only_directory;
    if line.is_empty() {
        return Translated::Said(Vec::new());
    }
    let is_anchored = line.contains('/');
    let path = line.strip_prefix('/').unwrap_or(line);
    let start = if is_anchored { "" } else { "**/" };
    let (above, last) = path.rsplit_once('/').unwrap_or(("", path));
    // Everything directly in a directory is everything in it: directories count with what is in them.
    if matches!(last, "*" | "**") {
        let above = above.strip_suffix("/**").unwrap_or(above);
        return match above {
            _ if is_only_directory => Translated::Unsayable,
            "" | "**" => Translated::Everything,
            // `a/**` is `a`, too.
            _ => Translated::from_pattern(format!("{above}/**/*")),
        };
    }
    // A name with an ending is a file's. Any other may be a directory, which stands for what is in it.
    let is_file = !is_directory && last.get(1..).is_some_and(|rest| rest.contains('.'));
    if is_file {
        return Translated::from_pattern(format!("{start}{path}"));
    }
    // `a/**` is the file `a`, too; `a*/**` is not.
    let inside = |end: &str| format!("{start}{path}/{end}");
    if is_only_directory {
        Translated::Said(vec![inside("**/*")])
    } else if last.contains(['*', '?', '[']) {
        Translated::Said(vec![format!("{start}{path}"), inside("**")])
    } else {
        Translated::Said(vec![inside("**")])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::globs::Globs;
    use brief_syntax::{Span, TargetKind};

    /// Returns whether the client, and whether the format, takes each path to be covered.
    fn both(semantics: Semantics, pattern: &str, paths: &[&str]) -> Option<(Vec<bool>, Vec<bool>)> {
        let globs = Globs::parse(semantics, [(pattern, Span::empty_at(0))], &mut Vec::new());
        let written = [pattern.to_owned()];
        let (patterns, unsaid) = translate_patterns(semantics, &written);
        if !unsaid.is_empty() {
            return None;
        }
        let of_format: Vec<Glob> = patterns.iter().map(|own| Glob::new(own).unwrap()).collect();
        let own = |path: &&str| {
            globs
                .as_ref()
                .is_none_or(|globs| globs.find_covering_pattern(path, TargetKind::File).is_some())
        };
        let said =
            |path: &&str| of_format.is_empty() || of_format.iter().any(|glob| glob.matches(path));
        Some((paths.iter().map(own).collect(), paths.iter().map(said).collect()))
    }

    const PATHS: [&str; 16] = [
        "a",
        "a.ts",
        "src/a.ts",
        "src/b/a.ts",
        "lib/src/a.ts",
        "x/src/b/c.md",
        "b/a.ts",
        "src",
        "test_a",
        "test_a/x",
        "x/test_a.py",
        "makefile",
        "x/makefile",
        ".github/a.md",
        "x/.github/b",
        "b/c/a",
    ];

    /// Every pattern of Claude Code's that the format can say covers the same files in both.
    #[test]
    fn the_words_of_claude_code() {
        let parts = [
            "src",
            "*.ts",
            "**",
            "*",
            "a",
            "b",
            "test_*",
            "makefile",
            ".github",
            "{a,b}",
            "{src,b/c}",
            "*.{ts,md}",
        ];
        let mut patterns: Vec<String> = Vec::new();
        for one in parts {
            for start in ["", "/", "**/"] {
                for end in ["", "/", "/**", "/*", "/**/*", "/*.ts"] {
                    patterns.push(format!("{start}{one}{end}"));
                    patterns.extend(parts.map(|two| format!("{start}{one}/{two}{end}")));
                }
            }
        }
        let mut said = 0;
        for pattern in &patterns {
            // What says nothing alone is told apart by the whole list.
            let Some((own, of_format)) = both(Semantics::Claude, pattern, &PATHS) else { continue };
            assert_eq!(
                own,
                of_format,
                "{pattern} {:?}",
                translate_patterns(Semantics::Claude, std::slice::from_ref(pattern))
            );
            said += 1;
        }
        assert!(said > 2_000, "{said} of {}", patterns.len());
    }

    #[test]
    fn the_words_of_others() {
        for pattern in [
            "*.ts",
            "**/*.ts",
            "src/**",
            "./src/*.ts",
            "/src/**",
            "src/",
            "**/b/**",
            "*",
            "**",
            "{a,b}/**",
        ] {
            let (own, of_format) = both(Semantics::Workspace, pattern, &PATHS).unwrap();
            assert_eq!(own, of_format, "{pattern}");
        }
        for pattern in ["*.ts", "**/*.ts", "**.ts", "*", "**", "**/*", "a.ts", "**/src/**"] {
            let (own, of_format) = both(Semantics::Copilot, pattern, &PATHS).unwrap();
            assert_eq!(own, of_format, "{pattern}");
        }
        for pattern in ["!a", "/a"] {
            assert!(both(Semantics::Copilot, pattern, &PATHS).is_none());
        }
    }

    /// A portable pattern, told to Claude Code, covers there what it says.
    #[test]
    fn a_pattern_told_to_a_client_says_the_same() {
        for pattern in
            ["src/**", "*.ts", "src/*.ts", "**/*.ts", "**/src/**", "src/b/**", "{src,b}/**"]
        {
            let told = client_pattern(Form::Claude, pattern);
            let (own, _) = both(Semantics::Claude, &told, &PATHS).unwrap();
            let glob = Glob::new(pattern).unwrap();
            let said: Vec<bool> = PATHS.iter().map(|path| glob.matches(path)).collect();
            assert_eq!(own, said, "{pattern} as {told}");
        }
    }
}
