//! The rules for front matter (§2.1, §3 and §8 of the document).

use brief_syntax::glob::Glob;
use brief_syntax::yaml::{Node, Value};
use brief_syntax::{Diagnostic, Edit, Fix, Rule, Severity, Span, near_miss, rules};

use super::model::{
    AgentMode, CAPABILITIES, ItemDocument, ItemKind, MODEL_ALIASES, NAME_LENGTH, SCHEMA,
    ToolCapability,
};
use super::parse::is_null;
use super::span_problem;

/// The longest description, and the longest that a client reads at every choice, in characters.
const DESCRIPTION_LENGTH: usize = 1024;
const SKILL_DESCRIPTION_LENGTH: usize = 200;

const RESERVED: [&str; 22] = [
    "aux", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9", "con", "lpt1",
    "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9", "nul", "prn",
];

/// Returns what clients read in different ways in a glob, and the advice for it.
fn doubtful_pattern(pattern: &str) -> Option<(&'static str, &'static str)> {
    let from_root = "write a pattern from the root of the project";
    let mut signs = pattern.chars();
    let has_drive =
        signs.next().is_some_and(|sign| sign.is_ascii_alphabetic()) && signs.next() == Some(':');
    let has_backslash = || {
        let mut after = pattern.split('\\').skip(1);
        after.any(|rest| rest.starts_with(|sign: char| sign.is_alphanumeric() || sign == '_'))
    };
    if pattern.starts_with('!') {
        let problem =
            "begins with `!`, which the format does not define: clients read it in different ways";
        return Some((problem, "write only patterns of files that the rule applies to"));
    }
    if pattern.split(['/', '{', '}', ',']).any(|part| part == "..")
        || pattern.starts_with('~')
        || has_drive
    {
        return Some(("points outside the project, so it matches no file", from_root));
    }
    if pattern.starts_with("./") {
        return Some((
            "begins with `./`, which some clients read as part of the name",
            "omit it: patterns start at the root",
        ));
    }
    if has_backslash() {
        return Some(("has a backslash, which does not separate names", "write `/` between names"));
    }
    if pattern.trim() != pattern {
        return Some((
            "begins or ends with a space, which is part of the pattern",
            "remove the space",
        ));
    }
    None
}

/// Returns whether a file of that name is impossible on some system.
pub(super) fn is_reserved(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().to_lowercase();
    RESERVED.binary_search(&stem.as_str()).is_ok()
}

/// The file or directory whose name an item's `name` must repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameHolder {
    Directory,
    File,
}

/// The front matter of one file and its diagnostics.
pub(super) struct ItemFields<'f> {
    pub(super) document: &'f ItemDocument,
    pub(super) clients: &'f [&'f str],
    pub(super) diagnostics: &'f mut Vec<Diagnostic>,
}

impl<'f> ItemFields<'f> {
    pub(super) fn report_problem(
        &mut self,
        rule: Rule,
        span: Span,
        message: impl Into<String>,
        help: &str,
    ) {
        self.diagnostics.push(span_problem(rule, &self.document.source, span, message, help));
    }

    pub(super) fn report_missing(&mut self, name: &str, help: &str) {
        let message = format!("the field `{name}` is missing");
        self.report_problem(rules::item::MISSING_FIELD, Span::default(), message, help);
    }

    pub(super) fn wrong_type(&mut self, name: &str, node: Node<'_>, wanted: &str) {
        let found = node.value().noun();
        let message = format!("`{name}` must be {wanted}, not {found}");
        self.report_problem(
            rules::item::WRONG_TYPE,
            node.span(),
            message,
            &format!("write {wanted}"),
        );
    }

    /// Returns whether the file begins with front matter that has fields (§3), and reports it
    /// otherwise.
    pub(super) fn begins_well(&mut self) -> bool {
        let header = self.document.front.header.as_ref();
        if header.is_some_and(|header| !header.leading_blank) && self.document.fields().is_some() {
            return true;
        }
        let message = "the file does not begin with frontmatter";
        let help = "begin with a line `---`, fields, and a line `---`";
        self.report_problem(rules::item::NO_FRONTMATTER, Span::default(), message, help);
        false
    }

    /// Returns a field that has a value.
    pub(super) fn field(&self, name: &str) -> Option<Node<'f>> {
        self.document.field(name).filter(|node| !is_null(*node))
    }

    fn require_field(&mut self, name: &str, help: &str) -> Option<Node<'f>> {
        let node = self.field(name);
        if node.is_none() {
            self.report_missing(name, help);
        }
        node
    }

    /// Returns a required field that is a text, with its place.
    fn required_text(&mut self, name: &str, help: &str) -> Option<(&'f str, Span)> {
        let node = self.require_field(name, help)?;
        if node.as_str().is_none() {
            self.wrong_type(name, node, "a string");
        }
        Some((node.as_str()?, node.span()))
    }

    /// §8.1: refuses a newer schema and one that was never published.
    pub(super) fn check_schema(&mut self) {
        let Some(node) = self.require_field("schema", "add `schema: 1`") else { return };
        let plain = node.as_str().filter(|_| node.is_plain());
        let digits = plain.filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        // A number that overflows is newer than any schema.
        let number = digits.map(|text| text.parse().unwrap_or(u64::MAX));
        match number {
            Some(version) if (1..=SCHEMA).contains(&version) => {}
            Some(version) if version > SCHEMA => {
                let path = self.document.source.path().display();
                let version = digits.unwrap_or_default();
                let message = format!(
                    "{path} needs schema {version} of the format; this version of brief supports \
                     schema {SCHEMA}"
                );
                let help = "upgrade brief";
                self.report_problem(rules::item::UNSUPPORTED_SCHEMA, node.span(), message, help);
            }
            _ => {
                let shown = node.as_str().unwrap_or(node.value().noun());
                let message = format!("`{shown}` is not a format version");
                let help = "write `schema: 1`";
                self.report_problem(rules::item::INVALID_SCHEMA, node.span(), message, help);
            }
        }
    }

    /// §2.1 and §2.2: a name has letters, digits and hyphens, and equals that of the directory or
    /// file.
    pub(super) fn check_item_name(&mut self, expected: &str, named: NameHolder) {
        let named_text = self.required_text("name", "add a name: every item needs one");
        let Some((name, span)) = named_text else { return };
        self.check_name(name, span);
        if name != expected {
            let (place, shown) = match named {
                NameHolder::Directory => ("directory", expected.to_owned()),
                NameHolder::File => ("file", format!("{expected}.bundle.md")),
            };
            let message = format!("the name is `{name}`, but the {place} is named `{shown}`");
            let help = format!("use the same name for the {place} and the field");
            self.report_problem(rules::item::NAME_MISMATCH, span, message, &help);
        }
    }

    /// §2.1: checks a name, also one in a bundle's list. Letters outside ASCII are invalid, even
    /// look-alikes.
    pub(super) fn check_name(&mut self, name: &str, span: Span) {
        if let Some(problem) = name_problem(name) {
            let message = format!("`{name}` is not a valid name: {problem}");
            let help = "use a-z, 0-9 and hyphens between them, 64 at most";
            self.report_problem(rules::item::INVALID_NAME, span, message, help);
        }
    }

    /// §3.1 and §3.3. The length counts characters after YAML is decoded.
    pub(super) fn check_description(&mut self, kind: ItemKind) {
        let help = "say what it does and when to use it";
        let Some((text, span)) = self.required_text("description", help) else { return };
        let length = text.chars().count();
        if text.trim().is_empty() {
            self.report_missing("description", help);
        } else if length > DESCRIPTION_LENGTH {
            let message = format!(
                "the description has {length} characters; the limit is {DESCRIPTION_LENGTH}"
            );
            let help = "shorten it, and move the rest to the body";
            self.report_problem(rules::item::DESCRIPTION_TOO_LONG, span, message, help);
        } else if kind == ItemKind::Skill && length > SKILL_DESCRIPTION_LENGTH {
            let message = format!(
                "the description has {length} characters; clients read it at every choice, so about \
                 {SKILL_DESCRIPTION_LENGTH} are enough"
            );
            let help = "begin with when to use it, and move the rest to the body";
            self.report_problem(rules::item::LONG_SKILL_DESCRIPTION, span, message, help);
        }
    }

    /// §3.1 and §3.6: `license`, `audience`, `metadata`.
    pub(super) fn check_common_fields(&mut self) {
        match self.document.field("license") {
            None => {
                let message = "the field `license` is missing";
                let help = "add an SPDX identifier, or `proprietary`";
                self.report_problem(rules::item::NO_LICENSE, Span::default(), message, help);
            }
            Some(node) if !is_null(node) && node.as_str().is_none() => {
                self.wrong_type("license", node, "a string");
            }
            Some(_) => {}
        }
        self.check_audience();
        self.check_client_blocks();
        let Some(node) = self.field("metadata") else { return };
        let Value::Mapping(metadata) = node.value() else {
            return self.wrong_type("metadata", node, "a mapping");
        };
        if let Some(version) = metadata.get("version").filter(|node| !is_null(*node)) {
            self.check_version(version);
        }
    }

    fn check_version(&mut self, node: Node<'_>) {
        let Some(text) = node.as_str() else {
            return self.wrong_type("version", node, "a string such as `\"1.0.0\"`");
        };
        if node.is_plain() && text.parse::<f64>().is_ok() {
            let quoted = format!("\"{text}\"");
            let message = format!("YAML reads `version: {text}` as a number, not as a version");
            let (rule, source) = (rules::item::UNQUOTED_VERSION, &self.document.source);
            let help = format!("write `{quoted}`");
            let diagnostic = span_problem(rule, source, node.span(), message, help);
            let fix = Fix::safe("quote the version", vec![Edit::replace(node.span(), quoted)]);
            self.diagnostics.push(diagnostic.with_fix(fix));
        } else if semver::Version::parse(text).is_err() {
            let message = format!("`{text}` is not a semantic version");
            let help = "write three numbers, as in `\"1.0.0\"`";
            self.report_problem(rules::item::VERSION_NOT_SEMVER, node.span(), message, help);
        }
    }

    /// §3.5: what a block of a client contains is its author's, and is not judged. Only a name that leads to another
    /// directory is refused, because a client may take a name for a part of a path (ruling P8).
    fn check_client_blocks(&mut self) {
        for client in self.clients {
            let block = self.document.field(client).map(Node::value);
            let Some(Value::Mapping(block)) = block else { continue };
            let Some(node) = block.get("name") else { continue };
            let Some(name) = node.as_str().filter(|name| leads_elsewhere(name)) else { continue };
            let message = format!("the name `{name}` for {client} points to another directory");
            let help = "write a name without `/`, `\\` and `..`";
            self.report_problem(rules::item::PASSTHROUGH_CONFLICT, node.span(), message, help);
        }
    }

    /// §3.1: a list of known clients, at least one.
    fn check_audience(&mut self) {
        // Bundles have no audience.
        let node = self.field("audience").filter(|_| !self.clients.is_empty());
        let Some(node) = node else { return };
        let Value::Sequence(list) = node.value() else {
            return self.wrong_type("audience", node, "a list of clients");
        };
        if list.is_empty() {
            let message = "no client gets the item: the audience is empty";
            let help = "add a client, or remove the field to include all";
            self.report_problem(rules::item::EMPTY_AUDIENCE, node.span(), message, help);
        }
        for entry in list.iter() {
            match entry.as_str() {
                Some(name) if self.clients.contains(&name) => {}
                Some(name) => {
                    let unknown = unknown_client(self.document, name, entry.span(), self.clients);
                    self.diagnostics.push(unknown);
                }
                None => self.wrong_type("audience", entry, "a list of clients"),
            }
        }
    }

    pub(super) fn check_rule(&mut self) {
        let Some(node) = self.field("scope") else { return };
        let Value::Mapping(scope) = node.value() else {
            return self.wrong_type("scope", node, "a mapping with `paths`");
        };
        let Some(paths) = scope.get("paths").filter(|node| !is_null(*node)) else { return };
        for (pattern, node) in self.collect_texts("scope.paths", paths) {
            self.check_pattern(pattern, node.span());
            let Some(place) = comma_place(pattern) else { continue };
            let message = format!("`{pattern}` has a comma, where some clients split patterns");
            let (rule, source) = (rules::item::COMMA_IN_PATTERN, &self.document.source);
            self.diagnostics.push(match place {
                // A client that joins patterns with commas would read two of them, possibly `**`.
                CommaPlace::Outside => {
                    let message = format!("{message}: it would match other files");
                    let help = "write one pattern for each path; `?` stands for a comma in a name";
                    span_problem(rule, source, node.span(), message, help)
                }
                CommaPlace::Inside => {
                    let help = "write one pattern for each alternative";
                    span_problem(rule, source, node.span(), message, help)
                        .with_severity(Severity::Warning)
                }
            });
        }
    }

    /// §3.2: reports a pattern that is not a glob, and one that clients read in different ways.
    fn check_pattern(&mut self, pattern: &str, span: Span) {
        let (severity, problem, help) = match Glob::new(pattern) {
            _ if pattern.trim().is_empty() => (
                Severity::Error,
                "is empty: one client would load the rule for every file".to_owned(),
                "write a pattern, or omit `scope`",
            ),
            Err(error) => (
                Severity::Error,
                format!("is not a valid glob: {}", error.problem()),
                "write a pattern such as `src/**/*.ts`",
            ),
            Ok(_) => match doubtful_pattern(pattern) {
                Some((problem, help)) => (Severity::Warning, problem.to_owned(), help),
                None => return,
            },
        };
        let rule = rules::item::INVALID_PATTERN;
        self.report_problem(rule, span, format!("`{pattern}` {problem}"), help);
        if let Some(found) = self.diagnostics.last_mut() {
            found.severity = severity;
        }
    }

    /// Returns the strings of a list, and reports other values.
    pub(super) fn collect_texts<'n>(
        &mut self,
        name: &str,
        node: Node<'n>,
    ) -> Vec<(&'n str, Node<'n>)> {
        let mut texts = Vec::new();
        let Value::Sequence(list) = node.value() else {
            self.wrong_type(name, node, "a list of strings");
            return texts;
        };
        for node in list.iter() {
            match node.as_str() {
                Some(text) => texts.push((text, node)),
                None => self.wrong_type(name, node, "a list of strings"),
            }
        }
        texts
    }

    /// R20: a name may have two hyphens in a row here, but not in the open standard.
    pub(super) fn check_skill(&mut self) {
        let Some(node) = self.document.field("name") else { return };
        if node.as_str().is_some_and(|name| name.contains("--")) {
            let message = "the open standard for skills does not allow two hyphens in a row";
            let help = "some clients will not load it; use one hyphen";
            self.report_problem(rules::item::DOUBLE_HYPHEN, node.span(), message, help);
        }
    }

    pub(super) fn check_agent(&mut self) {
        self.agent_mode();
        self.agent_model();
        if let Some(node) = self.field("tools") {
            for (tool, node) in self.collect_texts("tools", node) {
                self.check_tool(tool, node);
            }
        }
        if let Some(node) = self.field("preload-skills") {
            self.collect_texts("preload-skills", node);
        }
    }

    fn agent_mode(&mut self) {
        let Some(node) = self.field("mode") else { return };
        let names = AgentMode::ALL.map(AgentMode::as_str);
        match node.as_str().map(|text| (text, AgentMode::from_name(text))) {
            None => self.wrong_type("mode", node, "a string"),
            Some((text, None)) => {
                let message = format!("unknown mode `{text}`");
                let help = near_miss::suggest_nearest(text, &names);
                let help = help.unwrap_or_else(|| format!("known modes: {}", names.join(", ")));
                self.report_problem(rules::item::INVALID_MODE, node.span(), message, &help);
            }
            Some((text, Some(AgentMode::Primary | AgentMode::All)))
                if self.reaches_beyond("opencode") =>
            {
                let message = format!("only opencode supports `mode: {text}`");
                let help = format!("write it as `opencode: {{mode: {text}}}`");
                self.report_problem(rules::item::MODE_NOT_PORTABLE, node.span(), message, &help);
            }
            Some(_) => {}
        }
    }

    /// Returns whether other clients get the item, too.
    fn reaches_beyond(&self, client: &str) -> bool {
        let audience = self.document.field_list("audience");
        audience.is_none_or(|audience| audience.iter().any(|name| *name != client))
    }

    pub(super) fn agent_model(&mut self) {
        let Some(node) = self.field("model") else { return };
        match node.as_str() {
            None => self.wrong_type("model", node, "a string"),
            // Full model names belong to a client and are passed on.
            Some(model) if MODEL_ALIASES.contains(&model) || model.contains(['/', '.', '-']) => {}
            Some(model) => {
                let message = format!("`{model}` is not a model name that every client supports");
                let help = format!("use {}, or a full model name", MODEL_ALIASES.join(", "));
                self.report_problem(rules::item::UNKNOWN_MODEL, node.span(), message, &help);
            }
        }
    }

    /// R35: reports one client's tool name, which no other client knows.
    fn check_tool(&mut self, tool: &str, node: Node<'_>) {
        if ToolCapability::from_name(tool).is_some() {
            return;
        }
        let names = CAPABILITIES.map(|capability| capability.0);
        let plain: String = tool.chars().filter(char::is_ascii_alphanumeric).collect();
        let same = names.iter().find(|name| name.replace('-', "").eq_ignore_ascii_case(&plain));
        let near = same.copied().or_else(|| near_miss::find_nearest(tool, &names));
        let message = format!("unknown capability `{tool}`");
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!(
                "known capabilities: {}; put a client's own tools into its block",
                names.join(", ")
            ),
        };
        self.report_problem(rules::item::UNKNOWN_TOOL, node.span(), message, &help);
    }
}

/// Returns the diagnostic for an unknown client.
pub(super) fn unknown_client(
    document: &ItemDocument,
    name: &str,
    span: Span,
    clients: &[&str],
) -> Diagnostic {
    let message = format!("unknown client `{name}`");
    let help = match near_miss::find_nearest(name, clients) {
        Some(near) => format!("did you mean `{near}`? known clients: {}", clients.join(", ")),
        None => format!("known clients: {}", clients.join(", ")),
    };
    span_problem(rules::item::UNKNOWN_CLIENT, &document.source, span, message, help)
}

/// Returns the reason why a name is invalid.
pub fn name_problem(name: &str) -> Option<&'static str> {
    let is_part = |character: char| matches!(character, 'a'..='z' | '0'..='9' | '-');
    if name.is_empty() {
        Some("is empty")
    } else if !name.chars().all(is_part) {
        Some("has characters other than a-z, 0-9 and `-`")
    } else if name.starts_with('-') || name.ends_with('-') {
        Some("begins or ends with a hyphen")
    } else if name.len() > NAME_LENGTH {
        Some("is longer than 64 characters")
    } else if is_reserved(name) {
        Some("is not a valid file name on Windows")
    } else {
        None
    }
}

/// Returns whether a name is a path to another directory.
fn leads_elsewhere(name: &str) -> bool {
    matches!(name.trim(), "." | "..") || name.contains(['/', '\\', '\0'])
}

/// The position of a comma in a pattern.
enum CommaPlace {
    Inside,
    Outside,
}

/// Returns where a pattern has commas: outside braces, or only inside. A client that splits at commas reads `{a,b}`
/// as two patterns.
fn comma_place(pattern: &str) -> Option<CommaPlace> {
    let mut depth = 0_usize;
    let mut place = None;
    for character in pattern.chars() {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => return Some(CommaPlace::Outside),
            ',' => place = Some(CommaPlace::Inside),
            _ => {}
        }
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_letters_digits_and_hyphens() {
        for name in ["a", "a-b", "a--b", "0", &"a".repeat(64)] {
            assert_eq!(name_problem(name), None, "{name}");
        }
        for name in [
            "",
            "Bad",
            "a_b",
            "a.b",
            "é",
            "a b",
            "-a",
            "a-",
            "-",
            &"a".repeat(65),
            "con",
            "../x",
            "a/b",
            "nul",
        ] {
            assert!(name_problem(name).is_some(), "{name}");
        }
    }

    #[test]
    fn reserved_names_are_sorted_and_found_with_extensions() {
        assert!(RESERVED.is_sorted());
        assert!(is_reserved("CON") && is_reserved("nul.txt") && !is_reserved("console"));
    }
}
