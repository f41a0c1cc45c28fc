//! Texts with a form of their own: patterns, permission rules, tools, models, commands and paths.

use std::path::Path;

use brief_profiles::Reaction;
use brief_syntax::diagnostic::{Edit, Fix};
use brief_syntax::near_miss::{find_nearest, find_sure_match};
use brief_syntax::{Rule, Span, rules};
use brief_system::paths::clean_path;

use super::scripts;
use super::values::{FileCheck, Spot, describe_spot};
use brief_safety::capability::split_tools;

/// Unknown tools of one list that are reported one by one.
const MANY_TOOLS: usize = 3;

/// Checks a text of one of the forms that tables name.
pub(super) fn check_form(
    check: &mut FileCheck<'_>,
    form: &str,
    text: &str,
    span: Span,
    spot: Spot<'_>,
) {
    let mut value = FormValue { check, text, span, spot };
    match form {
        "regex" => value.check_regex(),
        "entry-regex" => value.with_reaction(Reaction::DropsEntry).check_regex(),
        "matcher" => value.check_matcher(false),
        "tool-matcher" => value.check_matcher(true),
        "allow-rule" => value.check_permission(true),
        "rule" => value.check_permission(false),
        "tool" => value.check_tool(text),
        "tools" => value.check_tools(),
        "model" => value.check_model(),
        "script" => scripts::check_script(check, text, span, spot),
        "url" => value.check_url(),
        "https" => value.check_https(),
        "permission-profile" => value.permission_profile(),
        "path" => value.check_path(),
        "md-path" => value.path_to(".md"),
        "json-path" => value.path_to(".json"),
        "relative-path" => _ = value.is_relative(),
        "extension-file" => value.extension_file(),
        "kebab" | "slug" | "word" | "title" => value.check_name(form),
        "color" => value.check_color(),
        "plugin-name" | "marketplace-name" => value.claude_name(form),
        "source" => value.check_source(),
        "provider-model" => value.provider_model(),
        "folder-name" => value.folder_name(),
        _ => {}
    }
}

/// A text with its place.
struct FormValue<'v, 'c> {
    check: &'v mut FileCheck<'c>,
    text: &'v str,
    span: Span,
    spot: Spot<'v>,
}

impl FormValue<'_, '_> {
    fn report(&mut self, rule: Rule, message: &str, help: &str) {
        self.check.report(rule, self.span, message, self.spot.reaction);
        if !help.is_empty() {
            self.check.add_advice(help.to_owned(), None);
        }
    }

    /// Reports a wrong value; `problem` follows the name of the field.
    fn report_wrong_value(&mut self, problem: &str, help: &str) {
        let message = format!("{} {problem}", describe_spot(self.spot));
        self.report(rules::client::WRONG_VALUE, &message, help);
    }

    /// Replaces the client's reaction to a wrong value.
    fn with_reaction(&mut self, reaction: Reaction) -> &mut Self {
        self.spot = self.spot.with_reaction(reaction);
        self
    }

    fn check_regex(&mut self) {
        // `*` stands for everything in most clients.
        if matches!(self.text, "" | "*") {
            return;
        }
        if let Some(problem) = regex_problem(self.text) {
            let help = match self.text.strip_prefix('*') {
                Some(rest) => format!("to match any text, write `.*{rest}`"),
                None => "fix the pattern, or escape the character with `\\`".to_owned(),
            };
            self.report_wrong_value(
                &format!("is not a valid regular expression: {problem}"),
                &help,
            );
        }
    }

    /// Claude Code's matchers: a list of exact names, or a regular expression when there is any other sign in it.
    fn check_matcher(&mut self, of_tools: bool) {
        if matches!(self.text.trim(), "" | "*") {
            return;
        }
        self.with_reaction(Reaction::IgnoresSilently);
        let is_listed = |letter: char| letter.is_ascii_alphanumeric() || "_|, -".contains(letter);
        if !self.text.chars().all(is_listed) {
            return self.check_regex();
        }
        if !of_tools {
            return;
        }
        for name in self.text.split(['|', ',']).map(str::trim).filter(|name| !name.is_empty()) {
            if let Some(server) = name.strip_prefix("mcp__").filter(|rest| !rest.contains("__")) {
                let message = format!("the matcher `{name}` is an exact name that matches no tool");
                let help = format!("to match all tools of the server, write `mcp__{server}__.*`");
                self.report(rules::client::NO_EFFECT, &message, &help);
            } else {
                self.check_tool(name);
            }
        }
    }

    /// Permission rules of Claude Code, by its own validator.
    fn check_permission(&mut self, allows: bool) {
        let rule = self.text.trim();
        if let Some((problem, help)) = rule_problem(rule, allows) {
            let message = format!("the permission rule `{}` has no effect: {problem}", self.text);
            return self.report(rules::client::NO_EFFECT, &message, help);
        }
        let tool = rule.split('(').next().unwrap_or(rule);
        if !tool.contains('*') {
            self.with_reaction(Reaction::IgnoresSilently).check_tool(tool);
        }
    }

    fn check_tools(&mut self) {
        // A list of YAML's kind in quotes, or a sentence, is another mistake.
        if !self.text.contains(['[', ']', '"', '\'']) {
            let names = split_tools(self.text).map(|name| (name, self.span));
            tool_names(self.check, names, self.spot);
        }
    }

    fn check_tool(&mut self, name: &str) {
        tool_names(self.check, std::iter::once((name, self.span)), self.spot);
    }

    /// A model that is one word has to be one of the client's own words; any other text may be the id of a model.
    fn check_model(&mut self) {
        let Some(known) = self.check.checks.lists.get("models") else { return };
        let is_word =
            !self.text.is_empty() && self.text.bytes().all(|byte| byte.is_ascii_alphabetic());
        if !is_word || known.contains_text(self.text) {
            return;
        }
        let known: Vec<&str> = known.iter().map(|one| &**one).collect();
        let message = format!("unknown model `{}`", self.text);
        let help = format!("use a model ID or one of {}", known.join(", "));
        self.with_reaction(Reaction::Accepts).report(rules::client::UNKNOWN_MODEL, &message, &help);
        if let Some(meant) = find_sure_match(self.text, &known) {
            let fix = self.check.rename_fix(self.span, meant);
            self.check.add_advice(format!("did you mean `{meant}`?"), Some(fix));
        }
    }

    /// A model with its provider, `provider/model`.
    fn provider_model(&mut self) {
        if !self.text.is_empty() && !self.text.contains(['/', '{']) {
            let message = format!("{} has no provider", describe_spot(self.spot));
            let rule = rules::client::UNKNOWN_MODEL;
            self.with_reaction(Reaction::Accepts).report(rule, &message, "write `provider/model`");
        }
    }

    fn check_url(&mut self) {
        let is_filled_in = self.text.contains("${") || self.text.contains("{env:");
        // As clients read it: `https:/example.com` is an address, too.
        let (scheme, rest) = self.text.split_once(':').unwrap_or_default();
        let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        let is_address = is_scheme && !rest.trim_start_matches('/').is_empty();
        if !is_filled_in && !is_address {
            self.report_wrong_value("must be a URL such as `https://example.com`", "");
        }
    }

    /// An address that has to be encrypted, because the hook decides what is allowed.
    fn check_https(&mut self) {
        self.check_url();
        if self.text.starts_with("http://") {
            self.report_wrong_value("must start with `https://`", "");
        }
    }

    /// A profile of Codex that others may extend.
    fn permission_profile(&mut self) {
        if self.text == ":danger-full-access" {
            let help = "extend `:workspace` or a profile of your own";
            self.report_wrong_value(&format!("must not be `{}`", self.text), help);
        }
    }

    /// Reports a path to nothing; it starts at `top`, such as the plugin.
    fn exists_below(&mut self, top: &str) {
        if !(self.check.is_there)(&clean_path(&self.check.base.join(self.text))) {
            let message =
                format!("{} names `{}`, which does not exist", describe_spot(self.spot), self.text);
            let help = format!("correct the path, which is relative to the {top}");
            self.report(rules::client::MISSING_FILE, &message, &help);
        }
    }

    /// Reports a path with steps upwards and returns whether it has some.
    fn leads_out_of(&mut self, top: &str) -> bool {
        let leads_out = self.text.split('/').any(|part| part == "..");
        if leads_out {
            self.report_wrong_value(
                &format!("points outside the {top}"),
                &format!("move the file into the {top}"),
            );
        }
        leads_out
    }

    /// A path in a plugin, to something that has to be there.
    fn check_path(&mut self) {
        if self.is_relative() {
            self.exists_below("plugin");
        }
    }

    /// A path in a plugin to a file of one kind.
    fn path_to(&mut self, ending: &str) {
        if self.text.starts_with("./") && !self.text.ends_with(ending) {
            let problem = format!("must name a file that ends in `{ending}`, not `{}`", self.text);
            return self.report_wrong_value(&problem, &format!("name each `{ending}` file"));
        }
        self.check_path();
    }

    /// A file of an extension of Gemini CLI.
    fn extension_file(&mut self) {
        if !self.leads_out_of("extension") && !self.text.is_empty() {
            self.exists_below("extension");
        }
    }

    /// Reports a path that leaves the plugin, or begins otherwise than `./`.
    fn is_relative(&mut self) -> bool {
        let text = self.text;
        if self.leads_out_of("plugin") {
            return false;
        }
        if text == "." || text.starts_with("./") {
            return true;
        }
        self.report_wrong_value("must start with `./`", "");
        let is_plain = !text.is_empty() && !text.starts_with(['/', '~', '$']);
        let fix = (is_plain && !text.contains([':', '\\']))
            .then(|| self.check.rename_fix(self.span, &format!("./{text}")));
        self.check.add_advice(format!("write `./{text}`"), fix);
        false
    }

    fn check_name(&mut self, form: &str) {
        let text = self.text;
        let (signs, has_capitals, allowed) = match form {
            "kebab" => ("-", false, "a-z, 0-9 and hyphens"),
            "slug" => ("-_", false, "a-z, 0-9, `-` and `_`"),
            "title" => ("-_.: ", true, "letters, digits, spaces, `-`, `_`, `.` and `:`"),
            _ => ("-", true, "letters, digits and hyphens"),
        };
        let is_right = |letter: char| {
            letter.is_ascii_alphanumeric() && (has_capitals || !letter.is_ascii_uppercase())
                || signs.contains(letter)
        };
        if text.is_empty() || !text.chars().all(is_right) {
            self.report_wrong_value(&format!("may contain only {allowed}, not `{text}`"), "");
        } else if form == "kebab"
            && (text.starts_with('-') || text.ends_with('-') || text.contains("--"))
        {
            self.report_wrong_value(
                &format!("must not start or end with a hyphen or contain two in a row: `{text}`"),
                "",
            );
        } else if form == "title" && !text.starts_with(|first: char| first.is_ascii_alphanumeric())
        {
            self.report_wrong_value(&format!("must start with a letter or a digit: `{text}`"), "");
        }
    }

    /// The name of a skill: that of its directory.
    fn folder_name(&mut self) {
        // `shop:review` is in a namespace on purpose, for clients that know them.
        if let Some((space, name)) = self.text.split_once(':')
            && !space.is_empty()
            && !name.is_empty()
        {
            return;
        }
        let before = self.check.found.len();
        self.check_name("kebab");
        let folder = self.check.source.path().parent().and_then(Path::file_name);
        let Some(folder) = folder.and_then(|folder| folder.to_str()) else { return };
        let text = self.text;
        if text != folder && self.check.found.len() == before {
            let problem = format!("must be `{folder}`, the name of its directory, not `{text}`");
            self.report_wrong_value(&problem, "give the skill and its directory the same name");
        }
    }

    /// The name of a plugin or a marketplace of Claude Code.
    fn claude_name(&mut self, form: &str) {
        let text = self.text;
        let is_plugin = form == "plugin-name";
        let has_separator = text.contains(['/', '\\']) || text == "..";
        if text.is_empty() || text.contains(char::is_whitespace) || !is_plugin && has_separator {
            let kebab = text.trim().replace([' ', '/', '\\'], "-").to_lowercase();
            let problem = "must not be empty, and must not contain spaces or a path";
            return self.report_wrong_value(problem, &format!("write `{kebab}`"));
        }
        let list = if is_plugin { "reserved-plugins" } else { "reserved-marketplaces" };
        let lists = &self.check.checks.lists;
        let is_reserved = lists.get(list).is_some_and(|names| {
            names.iter().any(|name| match name.strip_suffix('*') {
                Some(beginning) => text.starts_with(beginning),
                None => **name == *text,
            })
        });
        // The names are reserved for them.
        let mut makers = lists.get("reserved-for").into_iter().flatten();
        let source = self.check.source.text();
        if is_reserved && !makers.any(|maker| source.contains(&format!("\"{maker}\""))) {
            if is_plugin {
                self.with_reaction(Reaction::Warns);
            }
            let message = format!("the name `{text}` is reserved");
            self.report(rules::client::RESERVED_NAME, &message, "choose another name");
        }
    }

    /// The source of a plugin as a path of the marketplace.
    fn check_source(&mut self) {
        // With a `pluginRoot`, a bare name is a directory in it.
        if !self.text.starts_with('.') && self.check.source.text().contains("\"pluginRoot\"") {
            return;
        }
        if self.is_relative() {
            // The client's own check takes a path to nothing.
            self.with_reaction(Reaction::Accepts).exists_below("marketplace");
        }
    }

    fn check_color(&mut self) {
        const NAMES: [&str; 7] =
            ["primary", "secondary", "accent", "success", "warning", "error", "info"];
        let is_hex = self
            .text
            .strip_prefix('#')
            .is_some_and(|hex| hex.len() == 6 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
        if !is_hex && !NAMES.contains(&self.text) {
            self.report_wrong_value(&format!("must be `#rrggbb` or {}", NAMES.join(", ")), "");
        }
    }
}

/// Returns why no engine takes a regular expression. What some engines take is not reported.
fn regex_problem(pattern: &str) -> Option<&'static str> {
    let mut open = 0_usize;
    let mut in_class = false;
    let mut may_repeat = false;
    let mut letters = pattern.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => {
                if letters.next().is_none() {
                    return Some("trailing backslash");
                }
                may_repeat = true;
            }
            ']' if in_class => {
                in_class = false;
                may_repeat = true;
            }
            _ if in_class => {}
            '[' => {
                in_class = true;
                letters.next_if_eq(&'^');
                // The engines differ about a bracket that comes first.
                letters.next_if_eq(&']');
            }
            '(' => {
                open += 1;
                may_repeat = false;
                if letters.next_if_eq(&'?').is_some() {
                    letters.next();
                }
            }
            ')' => {
                if open == 0 {
                    return Some("unmatched `)`");
                }
                open -= 1;
                may_repeat = true;
            }
            '|' | '^' => may_repeat = false,
            '*' | '+' | '?' if !may_repeat => return Some("nothing to repeat"),
            '*' | '+' | '?' => {
                letters.next_if(|next| *next == '?');
                may_repeat = false;
            }
            _ => may_repeat = true,
        }
    }
    if in_class {
        return Some("unclosed `[`");
    }
    (open > 0).then_some("unclosed `(`")
}

fn rule_problem(rule: &str, allows: bool) -> Option<(&'static str, &'static str)> {
    if rule.is_empty() {
        return Some(("empty rule", "name a tool, such as `Bash(git status)`"));
    }
    let (tool, inside) = match rule.split_once('(') {
        None if rule.contains(')') => {
            return Some(("unmatched `)`", "write `Tool(pattern)`"));
        }
        None => (rule, None),
        Some((tool, rest)) => match rest.strip_suffix(')') {
            None => return Some(("no `)` at the end", "write `Tool(pattern)`")),
            Some(inside) => (tool, Some(inside)),
        },
    };
    let is_mcp = tool.starts_with("mcp__");
    if is_mcp && inside.is_some() {
        return Some(("rules for MCP tools take no parentheses", "write `mcp__server__tool`"));
    }
    if allows && tool.contains('*') && !is_mcp {
        return Some(("`*` in the name of a tool allows nothing", "name the tool"));
    }
    let first = tool.chars().next();
    if !tool.contains(['_', '*']) && first.is_some_and(|first| first.is_ascii_lowercase()) {
        return Some((
            "tool names start with a capital letter",
            "use the client's name for the tool",
        ));
    }
    match (tool, inside) {
        (_, Some("")) => Some(("empty parentheses", "remove them, or write a pattern in them")),
        ("Bash", Some(":*")) => Some(("nothing before `:*`", "write `Bash`, or `Bash(git:*)`")),
        ("WebFetch", Some(inside)) if !inside.starts_with("domain:") && !inside.contains("://") => {
            Some(("`WebFetch` takes a domain", "write `WebFetch(domain:example.com)`"))
        }
        _ => None,
    }
}

/// Checks the names of tools. Names that are like none of the client's are one finding; where many are unknown, the list is
/// for another client.
pub(super) fn tool_names<'n>(
    check: &mut FileCheck<'_>,
    names: impl Iterator<Item = (&'n str, Span)>,
    spot: Spot<'_>,
) {
    let Some(known) = check.checks.lists.get("tools") else { return };
    let is_known = |name: &str| {
        known.iter().any(|one| match one.strip_suffix('*') {
            Some(beginning) if !beginning.is_empty() => name.starts_with(beginning),
            _ => **one == *name,
        })
    };
    let names = names.map(|(text, span)| (text.split('(').next().unwrap_or(text).trim(), span));
    let unknown: Vec<(&str, Span)> = names.filter(|(name, _)| !is_known(name)).collect();
    let known: Vec<&str> =
        known.iter().map(|one| &**one).filter(|one| !one.contains('*')).collect();
    let has_near = |(name, _): &(&str, Span)| find_nearest(name, &known).is_some();
    let (mut single, mut alike): (Vec<_>, Vec<_>) = if unknown.len() > MANY_TOOLS {
        (Vec::new(), unknown)
    } else {
        unknown.into_iter().partition(has_near)
    };
    if let [first, _, ..] = alike[..] {
        let shown: Vec<String> =
            alike.iter().take(MANY_TOOLS).map(|(name, _)| format!("`{name}`")).collect();
        let more = match alike.len().saturating_sub(MANY_TOOLS) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let message = format!("unknown tools {}{more}", shown.join(", "));
        check.report_several(rules::client::UNKNOWN_TOOL, first.1, &message, spot.reaction);
        check.add_advice("use this client's names for the tools".to_owned(), None);
    } else {
        single.append(&mut alike);
    }
    for (name, span) in single {
        let message = format!("unknown tool `{name}`");
        check.report(rules::client::UNKNOWN_TOOL, span, &message, spot.reaction);
        if let Some(meant) = find_sure_match(name, &known) {
            let mut places = check.source.slice(span).match_indices(name).map(|(start, _)| start);
            let place = places.next().filter(|_| places.next().is_none());
            let fix = place.map(|start| {
                let start = span.start + start;
                let edit = Edit::replace(Span::new(start, start + name.len()), meant);
                Fix::safe(format!("write `{meant}`"), vec![edit])
            });
            check.add_advice(format!("did you mean `{meant}`?"), fix);
        } else if let Some(near) = find_nearest(name, &known) {
            check.add_advice(format!("did you mean `{near}`?"), None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{regex_problem, rule_problem};

    #[test]
    fn a_pattern_that_no_engine_takes() {
        for wrong in ["*.py", "Edit(", "Edit)", "[abc", "a|*", "x\\", "(?:a"] {
            assert!(regex_problem(wrong).is_some(), "{wrong}");
        }
        for right in [
            "Edit|Write",
            ".*",
            "mcp__.*__write.*",
            "^(?!Bash)",
            "[]a]",
            "a{2,}",
            "\\(",
            "(?<n>a)+?",
        ] {
            assert_eq!(regex_problem(right), None, "{right}");
        }
    }

    #[test]
    fn rules_without_effect() {
        for wrong in
            ["", "Bash()", "Bash(", "mcp__x(y)", "bash", "Bash(:*)", "WebFetch(example.com)"]
        {
            assert!(rule_problem(wrong, true).is_some(), "{wrong}");
        }
        assert!(rule_problem("B*", true).is_some());
        for right in [
            "Bash",
            "Bash(git:*)",
            "Bash(git *)",
            "Read(./a/**)",
            "WebFetch(domain:x.com)",
            "mcp__a",
            "mcp__a__b",
            "mcp__a__*",
            "Bash(echo (a))",
        ] {
            assert_eq!(rule_problem(right, true), None, "{right}");
        }
    }
}
