//! Texts with a form of their own: patterns, permission rules, tools, models, commands and paths.

use std::path::Path;

use brief_profiles::Reaction;
use brief_syntax::diagnostic::{Edit, Fix};
use brief_syntax::near_miss::{nearest, slip};
use brief_syntax::paths::cleaned;
use brief_syntax::{Span, rules};

use super::scripts;
use super::values::{FileCheck, Spot, called};

/// Unknown tools of one list that are reported one by one.
const MANY_TOOLS: usize = 3;

/// Checks a text of one of the forms that tables name.
pub(super) fn check(check: &mut FileCheck<'_>, form: &str, text: &str, span: Span, spot: Spot<'_>) {
    match form {
        "regex" => regex(check, text, span, spot),
        "entry-regex" => regex(check, text, span, spot.reacting(Reaction::DropsEntry)),
        "matcher" => matcher(check, text, span, spot, false),
        "tool-matcher" => matcher(check, text, span, spot, true),
        "allow-rule" => permission(check, text, span, spot, true),
        "rule" => permission(check, text, span, spot, false),
        "tool" => tool(check, text, span, spot),
        "tools" => tools(check, text, span, spot),
        "model" => model(check, text, span),
        "script" => scripts::check(check, text, span, spot),
        "url" => url(check, text, span, spot),
        "https" => https(check, text, span, spot),
        "permission-profile" => permission_profile(check, text, span, spot),
        "path" => path(check, text, span, spot),
        "md-path" => path_to(check, ".md", text, span, spot),
        "json-path" => path_to(check, ".json", text, span, spot),
        "relative-path" => _ = is_relative(check, text, span, spot),
        "extension-file" => extension_file(check, text, span, spot),
        "kebab" | "slug" | "word" | "title" => name(check, form, text, span, spot),
        "color" => color(check, text, span, spot),
        "plugin-name" | "marketplace-name" => claude_name(check, form, text, span, spot),
        "source" => source(check, text, span, spot),
        "provider-model" => provider_model(check, text, span, spot),
        "folder-name" => folder_name(check, text, span, spot),
        _ => {}
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
                    return Some("it ends in a backslash");
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
                    return Some("a `)` closes nothing");
                }
                open -= 1;
                may_repeat = true;
            }
            '|' | '^' => may_repeat = false,
            '*' | '+' | '?' if !may_repeat => return Some("there is nothing to repeat"),
            '*' | '+' | '?' => {
                letters.next_if(|next| *next == '?');
                may_repeat = false;
            }
            _ => may_repeat = true,
        }
    }
    if in_class {
        return Some("a `[` is not closed");
    }
    (open > 0).then_some("a `(` is not closed")
}

fn regex(check: &mut FileCheck<'_>, text: &str, span: Span, spot: Spot<'_>) {
    // `*` stands for everything in most clients.
    if matches!(text, "" | "*") {
        return;
    }
    if let Some(problem) = regex_problem(text) {
        let message = format!("{} is not a regular expression: {problem}", called(spot));
        check.report(rules::client::WRONG_VALUE, span, &message, spot.reaction);
        let help = match text.strip_prefix('*') {
            Some(rest) => format!("any text is `.*`: `.*{rest}`"),
            None => "correct the pattern, or put `\\` before the sign".to_owned(),
        };
        check.advise(help, None);
    }
}

/// Claude Code's matchers: a list of exact names, or a regular expression when there is any other sign in it.
fn matcher(check: &mut FileCheck<'_>, text: &str, span: Span, spot: Spot<'_>, of_tools: bool) {
    if matches!(text.trim(), "" | "*") {
        return;
    }
    let is_list = text.chars().all(|letter| {
        letter.is_ascii_alphanumeric() || matches!(letter, '_' | '|' | ',' | ' ' | '-')
    });
    if !is_list {
        regex(check, text, span, spot.reacting(Reaction::IgnoresSilently));
        return;
    }
    if !of_tools {
        return;
    }
    for name in text.split(['|', ',']).map(str::trim).filter(|name| !name.is_empty()) {
        if let Some(server) = name.strip_prefix("mcp__").filter(|rest| !rest.contains("__")) {
            let message = format!("the matcher `{name}` is one exact name, which no tool has");
            let reaction = Reaction::IgnoresSilently;
            check.report(rules::client::NO_EFFECT, span, &message, reaction);
            check.advise(format!("all tools of the server are `mcp__{server}__.*`"), None);
        } else {
            tool(check, name, span, spot.reacting(Reaction::IgnoresSilently));
        }
    }
}

/// Permission rules of Claude Code, by its own validator.
fn permission(check: &mut FileCheck<'_>, text: &str, span: Span, spot: Spot<'_>, allows: bool) {
    let rule = text.trim();
    let problem = rule_problem(rule, allows);
    if let Some((problem, help)) = problem {
        let message = format!("the permission rule `{text}` has no effect: {problem}");
        check.report(rules::client::NO_EFFECT, span, &message, spot.reaction);
        check.advise(help.to_owned(), None);
        return;
    }
    let tool_name = rule.split('(').next().unwrap_or(rule);
    if !tool_name.contains('*') {
        tool(check, tool_name, span, spot.reacting(Reaction::IgnoresSilently));
    }
}

fn rule_problem(rule: &str, allows: bool) -> Option<(&'static str, &'static str)> {
    if rule.is_empty() {
        return Some(("it is empty", "name a tool, such as `Bash(git status)`"));
    }
    let (tool, inside) = match rule.split_once('(') {
        None if rule.contains(')') => {
            return Some(("a `)` closes nothing", "write `Tool(pattern)`"));
        }
        None => (rule, None),
        Some((tool, rest)) => match rest.strip_suffix(')') {
            None => return Some(("its `(` is not closed at the end", "write `Tool(pattern)`")),
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
            "names of tools begin with a capital letter",
            "write the tool as the client calls it",
        ));
    }
    match (tool, inside) {
        (_, Some("")) => {
            Some(("the parentheses are empty", "leave them out, or write a pattern in them"))
        }
        ("Bash", Some(":*")) => {
            Some(("there is nothing before `:*`", "write `Bash`, or `Bash(git:*)`"))
        }
        ("WebFetch", Some(inside)) if !inside.starts_with("domain:") && !inside.contains("://") => {
            Some(("`WebFetch` takes a domain", "write `WebFetch(domain:example.com)`"))
        }
        _ => None,
    }
}

/// Splits a list of tools at commas and blanks outside of parentheses.
fn listed_tools(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut start, mut depth) = (0, 0_usize);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' | ' ' | '\n' | '\t' if depth == 0 => {
                found.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&text[start..]);
    found.into_iter().map(str::trim).filter(|name| !name.is_empty()).collect()
}

fn tools(check: &mut FileCheck<'_>, text: &str, span: Span, spot: Spot<'_>) {
    // A list of YAML's kind in quotes, or a sentence, is another mistake.
    if !text.contains(['[', ']', '"', '\'']) {
        let names = listed_tools(text);
        tool_names(check, names.into_iter().map(|name| (name, span)), spot);
    }
}

fn tool(check: &mut FileCheck<'_>, text: &str, span: Span, spot: Spot<'_>) {
    tool_names(check, std::iter::once((text, span)), spot);
}

/// Checks the names of tools. Where many are unknown, the list is for another client, which is said once.
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
    if unknown.len() > MANY_TOOLS {
        let shown: Vec<String> =
            unknown.iter().take(MANY_TOOLS).map(|(name, _)| format!("`{name}`")).collect();
        let more = unknown.len() - MANY_TOOLS;
        let message = format!("there are no tools {} and {more} more", shown.join(", "));
        check.report(rules::client::UNKNOWN_TOOL, unknown[0].1, &message, spot.reaction);
        check.advise("write the tools as this client calls them".to_owned(), None);
        return;
    }
    for (name, span) in unknown {
        let message = format!("there is no tool `{name}`");
        check.report(rules::client::UNKNOWN_TOOL, span, &message, spot.reaction);
        if let Some(meant) = slip(name, &known) {
            let mut places = check.source.slice(span).match_indices(name).map(|(start, _)| start);
            let place = places.next().filter(|_| places.next().is_none());
            let fix = place.map(|start| {
                let start = span.start + start;
                let edit = Edit::replace(Span::new(start, start + name.len()), meant);
                Fix::safe(format!("write `{meant}`"), vec![edit])
            });
            check.advise(format!("did you mean `{meant}`?"), fix);
        } else if let Some(near) = nearest(name, &known) {
            check.advise(format!("did you mean `{near}`?"), None);
        }
    }
}

/// A model that is one word has to be one of the client's own words; any other text may be the id of a model.
fn model(check: &mut FileCheck<'_>, text: &str, span: Span) {
    let Some(known) = check.checks.lists.get("models") else { return };
    let is_word = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    if !is_word || known.has(text) {
        return;
    }
    let message = format!("there is no model `{text}`");
    check.report(rules::client::UNKNOWN_MODEL, span, &message, Reaction::Accepts);
    let known: Vec<&str> = known.iter().map(|one| &**one).collect();
    match slip(text, &known) {
        Some(meant) => {
            let fix = check.rename(span, meant);
            check.advise(format!("did you mean `{meant}`?"), Some(fix));
        }
        None => check.advise(format!("its words are {}", known.join(", ")), None),
    }
}

/// A model with its provider, `provider/model`.
fn provider_model(check: &mut FileCheck<'_>, text: &str, span: Span, spot: Spot<'_>) {
    if !text.is_empty() && !text.contains('/') && !text.contains('{') {
        let message = format!("{} names no provider", called(spot));
        check.report(rules::client::UNKNOWN_MODEL, span, &message, Reaction::Accepts);
        check.advise("write `provider/model`".to_owned(), None);
    }
}

fn url(check: &mut FileCheck<'_>, text: &str, span: Span, spot: Spot<'_>) {
    let is_filled_in = text.contains("${") || text.contains("{env:");
    // As clients read it: `https:/example.com` is an address, too.
    let (scheme, rest) = text.split_once(':').unwrap_or_default();
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    if is_filled_in || is_scheme && !rest.trim_start_matches('/').is_empty() {
        return;
    }
    let message = format!("{} has to be an address such as `https://example.com`", called(spot));
    check.report(rules::client::WRONG_VALUE, span, &message, spot.reaction);
}

/// An address that has to be encrypted, because the hook decides what is allowed.
fn https(check: &mut FileCheck<'_>, text: &str, span: Span, spot: Spot<'_>) {
    url(check, text, span, spot);
    if text.starts_with("http://") {
        let message = format!("{} has to begin with `https://`", called(spot));
        check.report(rules::client::WRONG_VALUE, span, &message, spot.reaction);
    }
}

/// A profile of Codex that others may extend.
fn permission_profile(check: &mut FileCheck<'_>, text: &str, span: Span, spot: Spot<'_>) {
    if text == ":danger-full-access" {
        let message = format!("{} may not be `{text}`", called(spot));
        check.report(rules::client::WRONG_VALUE, span, &message, spot.reaction);
        check.advise("extend `:workspace` or a profile of your own".to_owned(), None);
    }
}

/// A path in a plugin, to something that has to be there.
fn path(check: &mut FileCheck<'_>, text: &str, span: Span, spot: Spot<'_>) {
    if is_relative(check, text, span, spot) && !(check.is_there)(&cleaned(&check.base.join(text))) {
        let message = format!("{} names `{text}`, which is not there", called(spot));
        check.report(rules::client::MISSING_FILE, span, &message, spot.reaction);
        check.advise("correct the path; it starts at the plugin".to_owned(), None);
    }
}

/// A path in a plugin to a file of one kind.
fn path_to(check: &mut FileCheck<'_>, ending: &str, text: &str, span: Span, spot: Spot<'_>) {
    if text.starts_with("./") && !text.ends_with(ending) {
        let message =
            format!("{} names a file that ends in `{ending}`, not `{text}`", called(spot));
        check.report(rules::client::WRONG_VALUE, span, &message, spot.reaction);
        check.advise(format!("name each `{ending}` file"), None);
        return;
    }
    path(check, text, span, spot);
}

/// A file of an extension of Gemini CLI.
fn extension_file(check: &mut FileCheck<'_>, text: &str, span: Span, spot: Spot<'_>) {
    if text.split('/').any(|part| part == "..") {
        let message = format!("{} leads out of the extension", called(spot));
        check.report(rules::client::WRONG_VALUE, span, &message, spot.reaction);
        check.advise("put the file into the extension".to_owned(), None);
    } else if !text.is_empty() && !(check.is_there)(&cleaned(&check.base.join(text))) {
        let message = format!("{} names `{text}`, which is not there", called(spot));
        check.report(rules::client::MISSING_FILE, span, &message, spot.reaction);
        check.advise("correct the path; it starts at the extension".to_owned(), None);
    }
}

/// Reports a path that leaves the plugin, or begins otherwise than `./`.
fn is_relative(check: &mut FileCheck<'_>, text: &str, span: Span, spot: Spot<'_>) -> bool {
    if text.split('/').any(|part| part == "..") {
        let message = format!("{} leads out of the plugin", called(spot));
        check.report(rules::client::WRONG_VALUE, span, &message, spot.reaction);
        check.advise("put the file into the plugin".to_owned(), None);
        return false;
    }
    if text == "." || text.starts_with("./") {
        return true;
    }
    let message = format!("{} has to begin with `./`", called(spot));
    check.report(rules::client::WRONG_VALUE, span, &message, spot.reaction);
    let is_plain = !text.is_empty() && !text.starts_with(['/', '~', '$']);
    let fix =
        (is_plain && !text.contains([':', '\\'])).then(|| check.rename(span, &format!("./{text}")));
    check.advise(format!("write `./{text}`"), fix);
    false
}

fn name(check: &mut FileCheck<'_>, form: &str, text: &str, span: Span, spot: Spot<'_>) {
    let (is_right, wanted): (fn(u8) -> bool, _) = match form {
        "kebab" => (
            |byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-',
            "a-z, 0-9 and hyphens",
        ),
        "slug" => (
            |byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte),
            "a-z, 0-9, `-` and `_`",
        ),
        "title" => (
            |byte| byte.is_ascii_alphanumeric() || b"-_.: ".contains(&byte),
            "letters, digits, spaces, `-`, `_`, `.` and `:`",
        ),
        _ => (|byte| byte.is_ascii_alphanumeric() || byte == b'-', "letters, digits and hyphens"),
    };
    if text.is_empty() || !text.bytes().all(is_right) {
        let message = format!("{} may have {wanted} only, not `{text}`", called(spot));
        check.report(rules::client::WRONG_VALUE, span, &message, spot.reaction);
    } else if form == "kebab"
        && (text.starts_with('-') || text.ends_with('-') || text.contains("--"))
    {
        let message = format!("{} has a hyphen at an end or two in a row: `{text}`", called(spot));
        check.report(rules::client::WRONG_VALUE, span, &message, spot.reaction);
    } else if form == "title" && !text.starts_with(|first: char| first.is_ascii_alphanumeric()) {
        let message = format!("{} has to begin with a letter or a digit: `{text}`", called(spot));
        check.report(rules::client::WRONG_VALUE, span, &message, spot.reaction);
    }
}

/// The name of a skill: that of its directory.
fn folder_name(check: &mut FileCheck<'_>, text: &str, span: Span, spot: Spot<'_>) {
    let before = check.found.len();
    name(check, "kebab", text, span, spot);
    let folder = check.source.path().parent().and_then(Path::file_name);
    let Some(folder) = folder.and_then(|folder| folder.to_str()) else { return };
    if text != folder && check.found.len() == before {
        let own = called(spot);
        let message =
            format!("{own} has to be `{folder}`, as its directory is called, not `{text}`");
        check.report(rules::client::WRONG_VALUE, span, &message, spot.reaction);
        check.advise("give both the same name".to_owned(), None);
    }
}

/// The name of a plugin or a marketplace of Claude Code.
fn claude_name(check: &mut FileCheck<'_>, form: &str, text: &str, span: Span, spot: Spot<'_>) {
    let is_plugin = form == "plugin-name";
    let has_separator = text.contains(['/', '\\']) || text.split('/').any(|part| part == "..");
    if text.is_empty() || text.contains(char::is_whitespace) || !is_plugin && has_separator {
        let message =
            format!("{} may have no blanks and no path in it, and is not empty", called(spot));
        check.report(rules::client::WRONG_VALUE, span, &message, spot.reaction);
        let kebab = text.trim().replace([' ', '/', '\\'], "-").to_lowercase();
        check.advise(format!("write `{kebab}`"), None);
        return;
    }
    let list = if is_plugin { "reserved-plugins" } else { "reserved-marketplaces" };
    let lists = &check.checks.lists;
    let is_reserved = lists.get(list).is_some_and(|names| {
        names.iter().any(|name| match name.strip_suffix('*') {
            Some(beginning) => text.starts_with(beginning),
            None => **name == *text,
        })
    });
    // The names are reserved for them.
    let mut makers = lists.get("reserved-for").into_iter().flatten();
    let is_maker = makers.any(|maker| check.source.text().contains(&format!("\"{maker}\"")));
    if is_reserved && !is_maker {
        let message = format!("the name `{text}` is reserved");
        let reaction = if is_plugin { Reaction::Warns } else { spot.reaction };
        check.report(rules::client::RESERVED_NAME, span, &message, reaction);
        check.advise("choose another name".to_owned(), None);
    }
}

/// The source of a plugin as a path of the marketplace.
fn source(check: &mut FileCheck<'_>, text: &str, span: Span, spot: Spot<'_>) {
    // With a `pluginRoot`, a bare name is a directory in it.
    if !text.starts_with('.') && check.source.text().contains("\"pluginRoot\"") {
        return;
    }
    // The client's own check takes a path to nothing.
    if is_relative(check, text, span, spot) && !(check.is_there)(&cleaned(&check.base.join(text))) {
        let message = format!("{} names `{text}`, which is not there", called(spot));
        check.report(rules::client::MISSING_FILE, span, &message, Reaction::Accepts);
        check.advise("correct the path; it starts at the marketplace".to_owned(), None);
    }
}

/// A colour of opencode.
fn color(check: &mut FileCheck<'_>, text: &str, span: Span, spot: Spot<'_>) {
    const NAMES: [&str; 7] =
        ["primary", "secondary", "accent", "success", "warning", "error", "info"];
    let is_hex = text
        .strip_prefix('#')
        .is_some_and(|hex| hex.len() == 6 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
    if !is_hex && !NAMES.contains(&text) {
        let message = format!("{} may be `#rrggbb` or {}", called(spot), NAMES.join(", "));
        check.report(rules::client::WRONG_VALUE, span, &message, spot.reaction);
    }
}

#[cfg(test)]
mod tests {
    use super::{listed_tools, regex_problem, rule_problem};

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

    #[test]
    fn a_list_of_tools_is_split() {
        assert_eq!(
            listed_tools("Read, Bash(git add:*, x) Grep"),
            ["Read", "Bash(git add:*, x)", "Grep"]
        );
    }
}
