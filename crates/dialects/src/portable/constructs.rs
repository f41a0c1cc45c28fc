//! Constructs that only one client understands (§5.3 to §5.5 of the document).

use brief_syntax::Span;
use brief_syntax::markdown::Outline;

use brief_safety::capability::byte_set;

/// A part of a body that only one client understands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Construct {
    pub(super) span: Span,
    pub(super) what: &'static str,
    /// The client that understands it.
    pub(super) client: &'static str,
    pub(super) weight: Weight,
}

/// The severity of a construct that another client reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// The document forbids it (§5.5).
    Forbidden,
    /// The document advises against it: one client's name of a tool (§5.3).
    ToolName,
    /// The document advises against it: the internal name of an MCP tool (§4).
    McpName,
}

/// Tool names that only Claude Code has.
const CLAUDE_TOOLS: [&str; 8] =
    ["Read", "Write", "Edit", "Bash", "Grep", "Glob", "WebFetch", "WebSearch"];

/// The beginning of Copilot's reference to a tool.
const TOOL_REFERENCE: &[u8] = b"#tool:";

/// The bytes that can begin a construct.
const STARTS: [bool; 256] = byte_set(b"$!@#uUmRWEBG");

/// Finds every construct in a body, in order.
pub(super) fn find_constructs(body: &str, outline: &Outline) -> Vec<Construct> {
    let mut found = Vec::new();
    let bytes = body.as_bytes();
    // The ends of long names, so that the scan does not start again within them.
    let (mut reference_end, mut name_end) = (0, 0);
    for (offset, byte) in body.bytes().enumerate() {
        // Nearly every byte ends here, after one table lookup.
        if !STARTS[usize::from(byte)] {
            continue;
        }
        let rest = &body.as_bytes()[offset..];
        let before = offset.checked_sub(1).map(|at| bytes[at]);
        let construct = match byte {
            b'$' => match_variable(rest, before),
            b'!' => match_shell_command(rest, before),
            b'@' => match_import(rest, before),
            b'#' if offset >= reference_end => match_reference(rest, before),
            b'u' | b'U' => match_thinking(rest, before),
            b'm' if offset >= name_end => mcp_name(rest, before),
            b'R' | b'W' | b'E' | b'B' | b'G' => tool_name(body, offset),
            _ => None,
        };
        let Some((length, what, client, weight)) = construct else { continue };
        match byte {
            b'#' => reference_end = offset + length,
            b'm' => name_end = offset + length,
            _ => {}
        }
        // Clients fill in variables and commands also in code. `$1` belongs to awk, sed and shells
        // there.
        let is_digit = byte == b'$' && rest.get(1).is_some_and(u8::is_ascii_digit);
        let works_in_code = matches!(byte, b'$' | b'!') && !is_digit;
        // A name in inline code is still a name that the text tells a reader to use (§4, §5.3), and no syntax.
        let is_name = weight == Weight::McpName || rest.starts_with(TOOL_REFERENCE);
        let is_named = is_name && outline.is_inline_code(body, offset);
        let weight = match weight {
            Weight::Forbidden if is_named => Weight::ToolName,
            weight => weight,
        };
        if works_in_code || weight == Weight::ToolName || is_named || !outline.is_opaque(offset) {
            found.push(Construct {
                span: Span::new(offset, offset + length),
                what,
                client,
                weight,
            });
        }
    }
    found
}

type ConstructMatch = (usize, &'static str, &'static str, Weight);

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// Finds `$ARGUMENTS`, `$0`, `$1` of Claude Code, `${workspaceFolder}` and `${file}` of Copilot.
fn match_variable(rest: &[u8], before: Option<u8>) -> Option<ConstructMatch> {
    if before == Some(b'\\') {
        return None;
    }
    let claude = |length| Some((length, "a variable", "claude", Weight::Forbidden));
    if let Some(after) = rest.strip_prefix(b"$ARGUMENTS") {
        return (!after.first().is_some_and(|&next| is_word(next))).then(|| claude(10)).flatten();
    }
    for name in [b"${workspaceFolder}".as_slice(), b"${file}"] {
        if rest.starts_with(name) {
            return Some((name.len(), "a variable", "copilot", Weight::Forbidden));
        }
    }
    // The document's forms, but not the prices `$1.50`, `$1,000` and `$100` (ruling P3).
    match rest {
        [b'$', b'0' | b'1', after @ ..] => {
            let is_price =
                after.first().is_some_and(|&next| is_word(next) || matches!(next, b'.' | b','));
            (!is_price).then(|| claude(2)).flatten()
        }
        _ => None,
    }
}

/// Finds `` !`command` `` of Claude Code.
fn match_shell_command(rest: &[u8], before: Option<u8>) -> Option<ConstructMatch> {
    let inner = rest.strip_prefix(b"!`")?;
    let end = inner.iter().position(|&byte| matches!(byte, b'`' | b'\n'))?;
    let is_command = inner[end] == b'`' && end > 0 && !before.is_some_and(is_word);
    is_command.then_some((end + 3, "a shell command", "claude", Weight::Forbidden))
}

/// Finds `@path/to/file` of Claude Code, but no mention (`@alice`) and no address.
fn match_import(rest: &[u8], before: Option<u8>) -> Option<ConstructMatch> {
    if before.is_some_and(|byte| !byte.is_ascii_whitespace() && byte != b'(') {
        return None;
    }
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./~".contains(byte);
    let length = rest[1..].iter().position(|byte| !is_part(byte)).unwrap_or(rest.len() - 1);
    let mut path = &rest[1..=length];
    while let Some((b'.', shorter)) = path.split_last() {
        path = shorter;
    }
    let looks_like_a_path =
        path.contains(&b'/') && path.len() > 1 || path.iter().skip(1).any(|byte| *byte == b'.');
    looks_like_a_path.then_some((path.len() + 1, "a file import", "claude", Weight::Forbidden))
}

/// Finds `#tool:name` and `#file:path` of Copilot.
fn match_reference(rest: &[u8], before: Option<u8>) -> Option<ConstructMatch> {
    if before.is_some_and(is_word) {
        return None;
    }
    for (prefix, what) in [(TOOL_REFERENCE, "a tool reference"), (b"#file:", "a file reference")] {
        if let Some(after) = rest.strip_prefix(prefix) {
            let is_end = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'`';
            let length = after.iter().position(is_end).unwrap_or(after.len());
            let is_there = length > 0;
            return is_there.then_some((prefix.len() + length, what, "copilot", Weight::Forbidden));
        }
    }
    None
}

/// Finds `ultrathink` of Claude Code.
fn match_thinking(rest: &[u8], before: Option<u8>) -> Option<ConstructMatch> {
    const WORD: &[u8] = b"ultrathink";
    let word = rest.get(..WORD.len())?;
    let is_whole =
        !before.is_some_and(is_word) && !rest.get(WORD.len()).is_some_and(|&b| is_word(b));
    (is_whole && word.eq_ignore_ascii_case(WORD)).then_some((
        WORD.len(),
        "a trigger for extended thinking",
        "claude",
        Weight::Forbidden,
    ))
}

/// Finds `mcp__server__tool`, Claude Code's internal name.
fn mcp_name(rest: &[u8], before: Option<u8>) -> Option<ConstructMatch> {
    let after = rest.strip_prefix(b"mcp__")?;
    let length =
        after.iter().position(|&byte| !is_word(byte) && byte != b'-').unwrap_or(after.len());
    let is_name =
        !before.is_some_and(is_word) && after[..length].windows(2).any(|two| two == b"__");
    is_name.then_some((5 + length, "an internal MCP tool name", "claude", Weight::McpName))
}

/// Finds "the `Read` tool" and "the Read tool".
fn tool_name(body: &str, offset: usize) -> Option<ConstructMatch> {
    let rest = &body[offset..];
    let name = CLAUDE_TOOLS.into_iter().find(|name| rest.starts_with(name))?;
    let after = rest[name.len()..].strip_prefix('`').unwrap_or(&rest[name.len()..]);
    let after = after.strip_prefix(' ')?;
    let word: String = after.chars().take_while(char::is_ascii_alphanumeric).collect();
    let before = body[..offset].strip_suffix('`').unwrap_or(&body[..offset]);
    let begins = before.is_empty() || before.ends_with(|last: char| !last.is_alphanumeric());
    (begins && matches!(word.as_str(), "tool" | "tools")).then_some((
        name.len(),
        "a client's own tool name",
        "claude",
        Weight::ToolName,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(body: &str) -> Vec<String> {
        let constructs = find_constructs(body, &Outline::parse(body));
        constructs.into_iter().map(|found| body[found.span.range()].to_owned()).collect()
    }

    /// §5.5: each construct of the table.
    #[test]
    fn every_construct_is_found() {
        for (body, construct) in [
            ("Use $ARGUMENTS here", "$ARGUMENTS"),
            ("Use $0 here", "$0"),
            ("Use $1", "$1"),
            ("```sh\necho $ARGUMENTS\n```\n", "$ARGUMENTS"),
            ("In ${workspaceFolder}/x", "${workspaceFolder}"),
            ("In ${file}.", "${file}"),
            ("Now: !`git status`", "!`git status`"),
            ("See @docs/a.md for it", "@docs/a.md"),
            ("See @README.md.", "@README.md"),
            ("Use #tool:read to", "#tool:read"),
            ("See #file:src/a.ts", "#file:src/a.ts"),
            ("then ultrathink about it", "ultrathink"),
            ("call mcp__github__create_issue", "mcp__github__create_issue"),
            ("Use the `Read` tool to", "Read"),
            ("Use the Bash tool.", "Bash"),
            ("Use `#tool:read`.", "#tool:read"),
            ("Use `mcp__github__create_issue`.", "mcp__github__create_issue"),
        ] {
            assert_eq!(found(body), [construct], "{body}");
        }
    }

    /// The scan does not start again within a name, which would take quadratic time.
    #[test]
    fn a_long_name_is_found_once() {
        for body in ["#file:a#file:b#tool:c", "mcp__a__b-mcp__c__d"] {
            assert_eq!(found(body), [body]);
        }
    }

    #[test]
    fn what_only_looks_like_one_is_none() {
        for body in [
            "It costs $100 or $1.50",
            "Price $5, or $9 for two; $1,000 in all",
            "`awk '{print $1}'` shows it",
            "```sh\nawk '{print $1}' | sed s/$0//\n```",
            "\\$1 is escaped",
            "wow! `code`",
            "ping @alice, mail a@b.example",
            "`@docs/a.md` in code, `#file:a.md` too",
            "```text\n#tool:read and mcp__github__create_issue\n```\n",
            "# file: a heading",
            "ultrathinking",
            "GitHub:create_issue and mcp_server",
            "Read the file. Use the tools.",
            "${HOME} and $HOME",
        ] {
            assert_eq!(found(body), [""; 0], "{body}");
        }
    }
}
