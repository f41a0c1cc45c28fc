//! Fields that grant, start or configure something: front matter, JSON, YAML and TOML.
//!
//! Clients spell the same field in many ways and nest it at any depth. So a field counts by its
//! name wherever it is, in any case and with any separators. A text that its parser refuses is read
//! line by line instead: another parser may be more tolerant.

use brief_syntax::Span;
use brief_syntax::front_matter::FrontMatter;
use brief_syntax::yaml::{Field, Mapping, Node, Value};

use super::{Capability, FileScan};

/// The limit of visited nodes: aliases can make a small text endless.
const NODES: usize = 400_000;

/// The names of the fields that mean a capability, in lower case and without separators.
const FIELD_NAMES: [(Capability, &str); 6] = [
    (
        Capability::Tools,
        "allowedtools tools allowtools coretools autoallowedtools toolsallowed addtools",
    ),
    (
        Capability::Permissions,
        "permissionmode permission permissions abilities approvalpolicy approvalmode defaultmode \
         sandboxmode sandbox autoapprove autoaccept alwaysallow yolo trust trusted \
         dangerouslyskippermissions bypasspermissions skipdangerousmodepermissionprompt \
         enableallprojectmcpservers enabledmcpjsonservers additionaldirectories",
    ),
    (Capability::Hooks, "hooks hook"),
    (Capability::McpServers, "mcpservers mcp mcpserver contextservers mcpconfig"),
    (
        Capability::Commands,
        "bootstrap startup apikeyhelper statusline awsauthrefresh awscredentialexport \
         otelheadershelper postinstall preinstall prepare postcreatecommand poststartcommand \
         postattachcommand oncreatecommand updatecontentcommand initializecommand setupcommand \
         worktreecreate runon onload onstart onfailure",
    ),
    (
        Capability::Variables,
        "env environment environmentvariables requiredenv requiredenvironment envvars passenv",
    ),
];

/// Returns the capability of a field by its name, in lower case and without separators.
fn find_capability(name: &str) -> Option<Capability> {
    let mut fields = FIELD_NAMES.iter();
    let field = fields.find(|(_, names)| names.split(' ').any(|known| known == name));
    field.map(|(capability, _)| *capability)
}

/// Returns whether the content of a field takes permissions away.
fn is_denial(name: &str) -> bool {
    matches!(name, "deny" | "denied" | "disallowedtools" | "excludetools" | "toolsdenied" | "ask")
}

fn is_read(_: &Field<'_>) -> bool {
    true
}

/// Returns whether a field of a hook may be run, sent or asked a model: it is no condition or option of the command.
fn is_command(field: &Field<'_>) -> bool {
    let Value::Scalar(text) = field.value.value() else { return true };
    match normalize_name(field.name()).as_str() {
        "type" | "matcher" | "timeout" | "timeoutsec" => false,
        "shell" => !matches!(text, "sh" | "bash" | "zsh" | "fish" | "pwsh" | "powershell" | "cmd"),
        _ => !matches!(text, "true" | "false") && text.parse::<f64>().is_err(),
    }
}

/// Returns whether a list has entries with a type, as servers and checks of a recipe of Goose are.
fn has_types(value: Node<'_>) -> bool {
    let Value::Sequence(list) = value.value() else { return false };
    list.iter().any(|node| match node.value() {
        Value::Mapping(server) => server.get("type").is_some(),
        _ => false,
    })
}

/// Returns whether a value grants nothing.
fn is_refusal(value: &str) -> bool {
    "deny ask false no off none never default plan prompt read-only"
        .split(' ')
        .any(|refusal| refusal == value)
}

/// Returns a name in lower case, without separators.
fn normalize_name(name: &str) -> String {
    let kept = name.chars().filter(|letter| !matches!(letter, '-' | '_' | ' ' | '.'));
    kept.flat_map(char::to_lowercase).collect()
}

/// Reports the fields of a file.
pub(super) fn scan_fields(file: &mut FileScan) {
    let ending = file.file_extension();
    let source = std::sync::Arc::clone(&file.source);
    match ending.as_str() {
        "toml" | "ini" | "conf" | "jsonc" | "json5" => by_lines(file, source.text(), 0),
        "json" | "yaml" | "yml" => by_tree(file, &FrontMatter::from_yaml_source(&source)),
        _ => {
            let front = FrontMatter::from_source(&source);
            let is_unclosed = front.header.is_none() && source.text().starts_with("---");
            if is_unclosed && is_markdown(&ending) {
                by_lines(file, source.text(), 0);
            }
            by_tree(file, &front);
        }
    }
    if file.name() == ".gitmodules" {
        scan_submodules(file, source.text());
    }
}

/// Returns whether an extension is one of Markdown.
pub(super) fn is_markdown(ending: &str) -> bool {
    matches!(ending, "md" | "mdc" | "markdown" | "mdx" | "txt" | "" | "cursorrules")
}

fn by_tree(file: &mut FileScan, front: &FrontMatter) {
    let Some(header) = &front.header else { return };
    // Other readers repair a broken header in other ways.
    if !front.diagnostics.is_empty() {
        let source = std::sync::Arc::clone(&file.source);
        by_lines(file, source.slice(header.span), header.span.start);
    }
    let Some(root) = header.yaml.root() else { return };
    let is_mapping = matches!(root.value(), Value::Mapping(_));
    if is_mapping && header.yaml.syntax_error().is_some() {
        return;
    }
    let mut walk = FieldWalk { file, left: NODES };
    walk.walk_node(root);
    if is_mapping && walk.left == 0 {
        let evidence = "fields that are too many to be read";
        walk.file.add_finding(Capability::Opaque, header.span, evidence);
    }
}

/// Reads fields line by line, for a text that is not a tree.
fn by_lines(file: &mut FileScan, text: &str, start: usize) {
    let mut offset = start;
    for line in text.split_inclusive('\n') {
        let span = Span::new(offset, offset + line.trim_end().len());
        offset += line.len();
        let trimmed = line.trim().trim_start_matches(['-', '[', '{', '"', '\'', ' ']);
        let end = trimmed.find([':', '=', ']', '"', '\'']).unwrap_or(trimmed.len());
        let name = trimmed[..end].trim();
        // `[mcp_servers.files]` is a table in a table.
        let names = name.split('.').take(4).map(normalize_name);
        let found = names.into_iter().find_map(|name| find_capability(&name));
        if let Some(capability) = found.filter(|_| !name.is_empty()) {
            file.add_finding(capability, span, line.trim());
        }
    }
}

/// Reports the repositories of a `.gitmodules`, whose content a review of this one does not show.
fn scan_submodules(file: &mut FileScan, text: &str) {
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        if let Some(url) = line.trim().strip_prefix("url") {
            let url = url.trim_start_matches([' ', '=', '\t']).trim();
            let span = Span::new(offset, offset + line.trim_end().len());
            file.add_finding(Capability::Opaque, span, &format!("a Git submodule: {url}"));
        }
        offset += line.len();
    }
}

struct FieldWalk<'w> {
    file: &'w mut FileScan,
    left: usize,
}

impl FieldWalk<'_> {
    fn count_step(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left > 0
    }

    fn walk_node(&mut self, node: Node<'_>) {
        if !self.count_step() {
            return;
        }
        match node.value() {
            Value::Mapping(mapping) => self.walk_mapping(mapping),
            Value::Sequence(list) => list.iter().for_each(|node| self.walk_node(node)),
            _ => {}
        }
    }

    fn walk_mapping(&mut self, mapping: Mapping<'_>) {
        for field in mapping.fields() {
            if !self.count_step() {
                return;
            }
            let name = normalize_name(field.name());
            if is_denial(&name) {
                continue;
            }
            let is_servers = name == "servers" && self.file.name().contains("mcp")
                || name == "extensions" && has_types(field.value);
            // A recipe of Goose runs them after each answer.
            let is_checks = name == "checks" && has_types(field.value);
            let capability = match (is_servers, is_checks) {
                (true, _) => Some(Capability::McpServers),
                (_, true) => Some(Capability::Commands),
                _ => find_capability(&name),
            };
            match capability {
                Some(Capability::Tools) => self.report_tools(field.value),
                Some(Capability::Permissions) => self.report_permissions(field.name(), field.value),
                Some(Capability::Hooks) => self.report_hooks(field.name(), field.value),
                Some(Capability::McpServers) => self.report_servers(field.value),
                Some(Capability::Variables) => self.report_variables(field.value),
                Some(capability) => {
                    self.walk_leaves(field.value, is_read, &mut |walk, node, text| {
                        let evidence = format!("{}: {text}", field.name());
                        walk.file.add_finding(capability, node.span(), &evidence);
                    });
                }
                None => self.walk_node(field.value),
            }
        }
    }

    /// Calls `tell` with every text below a node, in the fields that `is_wanted` allows.
    fn walk_leaves(
        &mut self,
        node: Node<'_>,
        is_wanted: fn(&Field<'_>) -> bool,
        tell: &mut dyn FnMut(&mut Self, Node<'_>, &str),
    ) {
        if !self.count_step() {
            return;
        }
        match node.value() {
            Value::Scalar(text) => tell(self, node, text),
            Value::Sequence(list) => {
                list.iter().for_each(|node| self.walk_leaves(node, is_wanted, tell));
            }
            Value::Mapping(mapping) => {
                let fields = mapping.fields().filter(is_wanted);
                fields.for_each(|field| self.walk_leaves(field.value, is_wanted, tell));
            }
            Value::Null | Value::Broken(_) => {}
        }
    }

    /// Reads the forms of a tool list: `Bash(git:*), Read`, a list of strings, or a mapping of
    /// names to `true`.
    fn report_tools(&mut self, node: Node<'_>) {
        match node.value() {
            Value::Scalar(text) => {
                split_tools(text).for_each(|tool| self.report_tool(node.span(), tool));
            }
            Value::Sequence(list) => {
                for node in list.iter() {
                    match node.value() {
                        Value::Scalar(text) => self.report_tool(node.span(), text),
                        _ => self.walk_node(node),
                    }
                }
            }
            Value::Mapping(mapping) => {
                for field in mapping.fields() {
                    match field.value.value() {
                        Value::Scalar(value) if is_refusal(value) => {}
                        _ => {
                            self.report_tool(field.key.span(), field.name());
                            self.walk_node(field.value);
                        }
                    }
                }
            }
            Value::Null | Value::Broken(_) => {}
        }
    }

    fn report_tool(&mut self, span: Span, tool: &str) {
        let tool = tool.trim();
        self.file.add_finding(Capability::Tools, span, tool);
        if let Some(server) = tool.strip_prefix("mcp__").and_then(|rest| rest.split("__").next()) {
            self.file.add_finding(Capability::McpServers, span, server);
        }
    }

    fn report_permissions(&mut self, name: &str, node: Node<'_>) {
        if !self.count_step() {
            return;
        }
        match node.value() {
            Value::Scalar(text) if is_refusal(text) => {}
            Value::Scalar(text) => {
                self.file.add_finding(
                    Capability::Permissions,
                    node.span(),
                    &format!("{name}: {text}"),
                );
            }
            Value::Sequence(list) => {
                list.iter().for_each(|node| self.report_permissions(name, node));
            }
            Value::Mapping(mapping) => {
                for field in
                    mapping.fields().filter(|field| !is_denial(&normalize_name(field.name())))
                {
                    self.report_permissions(&format!("{name}.{}", field.name()), field.value);
                }
            }
            Value::Null | Value::Broken(_) => {}
        }
    }

    /// Reports every text of a hook, because each can be part of the command.
    fn report_hooks(&mut self, name: &str, node: Node<'_>) {
        let Value::Mapping(mapping) = node.value() else {
            return self.walk_leaves(node, is_read, &mut |walk, node, text| {
                walk.file.add_finding(Capability::Hooks, node.span(), &format!("{name}: {text}"));
            });
        };
        for field in mapping.fields() {
            let event = field.name();
            let mut has_command = false;
            self.walk_leaves(field.value, is_command, &mut |walk, node, text| {
                has_command = true;
                walk.file.add_finding(Capability::Hooks, node.span(), &format!("{event}: {text}"));
            });
            if !has_command {
                self.file.add_finding(Capability::Hooks, field.key.span(), event);
            }
        }
    }

    fn report_servers(&mut self, node: Node<'_>) {
        if !self.count_step() {
            return;
        }
        match node.value() {
            Value::Scalar(text) => self.file.add_finding(Capability::McpServers, node.span(), text),
            Value::Sequence(list) => list.iter().for_each(|node| self.report_servers(node)),
            Value::Mapping(mapping) => {
                // Either one server without a name or a mapping of names to servers.
                let own_keys = ["command", "url", "cmd", "uri", "type"];
                if own_keys.iter().any(|key| mapping.get(key).is_some()) {
                    let name = mapping.get("name").and_then(Node::as_str).unwrap_or_default();
                    return self.report_server(name, node.span(), mapping);
                }
                for field in mapping.fields() {
                    let (name, span) = (field.name(), field.key.span());
                    match field.value.value() {
                        Value::Mapping(server) => self.report_server(name, span, server),
                        _ => self.file.add_finding(Capability::McpServers, span, name),
                    }
                }
            }
            Value::Null | Value::Broken(_) => {}
        }
    }

    fn report_server(&mut self, name: &str, span: Span, server: Mapping<'_>) {
        let mut words = Vec::new();
        for key in ["command", "cmd", "args", "url", "uri", "serverUrl", "httpUrl"] {
            if let Some(node) = server.get(key) {
                self.walk_leaves(node, is_read, &mut |_, _, text| words.push(text.to_owned()));
            }
        }
        let separator = if name.is_empty() || words.is_empty() { "" } else { ": " };
        let evidence = format!("{name}{separator}{}", words.join(" "));
        self.file.add_finding(Capability::McpServers, span, &evidence);
        // Its environment, and the tools that it may use without approval.
        self.walk_mapping(server);
    }

    /// Reads a mapping of names to values, or a list of names.
    fn report_variables(&mut self, node: Node<'_>) {
        match node.value() {
            Value::Mapping(mapping) => {
                for field in mapping.fields() {
                    self.file.add_finding(Capability::Variables, field.key.span(), field.name());
                }
            }
            Value::Sequence(list) => {
                for node in list.iter() {
                    let name = match node.value() {
                        Value::Mapping(mapping) => mapping.get("name").and_then(Node::as_str),
                        _ => node.as_str(),
                    };
                    self.file.add_finding(
                        Capability::Variables,
                        node.span(),
                        name.unwrap_or_default(),
                    );
                }
            }
            Value::Scalar(text) => self.file.add_finding(Capability::Variables, node.span(), text),
            Value::Null | Value::Broken(_) => {}
        }
    }
}

/// Splits `Bash(git add:*, git rm:*), Read Grep` at commas and blanks outside of parentheses.
pub fn split_tools(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    let tools = text.split(move |letter| {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && matches!(letter, ',' | ' ' | '\n' | '\t')
    });
    tools.map(str::trim).filter(|tool| !tool.is_empty())
}
