//! Constructs in the text itself: commands, hosts, variables, paths, imports, comments.
//!
//! The scan is one pass over the bytes, with a table of the bytes that can begin a construct. Code
//! blocks count like prose, except for imports: clients expand commands and variables there, too.

use std::collections::BTreeSet;
use std::ops::Range;

use brief_syntax::Span;
use memchr::memmem;

use super::fields::is_markdown;
use super::words::{ORDINARY, OUTSIDE, READERS, TEXTS};
use super::{Capability, FileScan};

/// The bytes that can begin a construct.
const STARTS: [bool; 256] = byte_set(b"!@:$~/<%");

/// Returns the table of the bytes that are in a list, so that a scan looks at each byte once.
pub const fn byte_set(bytes: &[u8]) -> [bool; 256] {
    let (mut set, mut index) = ([false; 256], 0);
    while index < bytes.len() {
        set[bytes[index] as usize] = true;
        index += 1;
    }
    set
}

/// The schemes of addresses on the network.
const NETWORK: &str = "http https ws wss ftp ftps sftp ssh git tcp udp smb ldap \
                       postgres postgresql mysql mongodb redis amqp srv";

/// The longest word, path or host, in characters; longer ones are cut.
const WORD: usize = 200;

/// Reports the constructs of a text.
pub(super) fn scan_prose(file: &mut FileScan, fences: &[Fence], is_skill: bool) {
    let source = std::sync::Arc::clone(&file.source);
    let text = source.text();
    let is_markdown = is_markdown(&file.file_extension());
    let is_template = file.file_extension() == "toml" || is_markdown;
    let (seen, names) = (BTreeSet::new(), BTreeSet::new());
    let mut scan = Prose { file, text, is_markdown, is_skill, fences, names, seen };
    scan.report_constructs(is_template);
    // Letters begin too many words for the table of bytes.
    let bytes = text.as_bytes();
    for word in ["env", "ENV"] {
        memmem::find_iter(bytes, word).for_each(|offset| scan.report_env_reader(offset));
    }
    for word in ["curl ", "wget "] {
        memmem::find_iter(bytes, word).for_each(|offset| scan.report_download(offset, word));
    }
    memmem::find_iter(bytes, "mcp__").for_each(|offset| scan.server_name(offset));
    scan.fenced_commands();
    scan.javascript_tools();
}

struct Prose<'p> {
    file: &'p mut FileScan,
    text: &'p str,
    is_markdown: bool,
    is_skill: bool,
    fences: &'p [Fence],
    /// The names of variables seen so far.
    names: BTreeSet<&'p str>,
    /// The facts reported so far: the same host occurs in many links.
    seen: BTreeSet<(Capability, String)>,
}

/// A code block and its info string.
#[derive(Debug)]
pub(super) struct Fence {
    pub(super) span: Range<usize>,
    info: Range<usize>,
    body: Range<usize>,
}

/// Returns the fenced blocks of a Markdown text.
pub(super) fn parse_fences(text: &str) -> Vec<Fence> {
    let mut found = Vec::new();
    if memmem::find(text.as_bytes(), b"```").is_none()
        && memmem::find(text.as_bytes(), b"~~~").is_none()
    {
        return found;
    }
    // The mark of the open block with its length, and the block as far as it is read.
    let mut open: Option<(char, usize, Fence)> = None;
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start_matches([' ', '\t', '>', '-']);
        let mark = trimmed.chars().next().filter(|mark| matches!(mark, '`' | '~'));
        let length = mark.map_or(0, |mark| trimmed.len() - trimmed.trim_start_matches(mark).len());
        let end = offset + line.len();
        if let Some(mark) = mark.filter(|_| length >= 3) {
            let after = trimmed[length..].trim();
            match open.take() {
                Some((known, least, fence))
                    if mark == known && length >= least && after.is_empty() =>
                {
                    found.push(fence.close_at(offset, end));
                }
                None if mark != '`' || !after.contains('`') => {
                    let at = offset + line.len() - trimmed.len() + length;
                    let info = at..offset + line.trim_end().len().max(at - offset);
                    open = Some((mark, length, Fence { span: offset..end, info, body: end..end }));
                }
                still_open => open = still_open,
            }
        }
        offset = end;
    }
    found.extend(open.map(|(.., fence)| fence.close_at(text.len(), text.len())));
    found
}

impl Fence {
    fn close_at(self, body_end: usize, end: usize) -> Fence {
        Fence { span: self.span.start..end, body: self.body.start..body_end, ..self }
    }
}

/// Returns the offset at which the line around another one begins.
pub(super) fn line_start(text: &str, offset: usize) -> usize {
    text[..offset].rfind('\n').map_or(0, |at| at + 1)
}

/// Returns whether an offset is in a code block or a code span.
pub(super) fn is_code(text: &str, fences: &[Fence], offset: usize) -> bool {
    let place = fences.partition_point(|fence| fence.span.end <= offset);
    if fences.get(place).is_some_and(|fence| fence.span.contains(&offset)) {
        return true;
    }
    let before = &text.as_bytes()[line_start(text, offset)..offset];
    memchr::memchr_iter(b'`', before).count() % 2 == 1
}

/// Returns whether an offset is between quotation marks of its line.
pub(super) fn is_in_quotes(text: &str, offset: usize) -> bool {
    let before = &text[line_start(text, offset)..offset];
    before.matches('“').count() > before.matches('”').count()
        || before.matches('"').count() % 2 == 1
}

/// Returns whether an address at `start` is an XML namespace, which is a name that nothing connects to: the
/// value of `xmlns`, or the beginning of a full name, `"{http://…}tag"`.
fn is_namespace(text: &str, start: usize) -> bool {
    if text[..start].ends_with("\"{") || text[..start].ends_with("'{") {
        return true;
    }
    let before = text[..start].strip_suffix(['"', '\'']).and_then(|text| text.strip_suffix('='));
    let attribute = before.and_then(|text| text.rsplit(char::is_whitespace).next());
    attribute.is_some_and(|name| name == "xmlns" || name.starts_with("xmlns:"))
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// Returns the length of a variable name.
fn name_length(rest: &[u8]) -> usize {
    let is_part = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    let length = rest.iter().take(WORD).position(|byte| !is_part(byte));
    length.unwrap_or(rest.len().min(WORD))
}

/// Returns the path at the start of a text: up to a blank, a quotation mark or a bracket.
fn path_of(rest: &str) -> &str {
    let is_end = |letter: char| letter.is_whitespace() || "\"'`)]><,;|".contains(letter);
    let end = rest.find(is_end).unwrap_or(rest.len());
    rest[..rest.floor_char_boundary(end.min(WORD))].trim_end_matches(['.', ':', '*', '_'])
}

impl<'p> Prose<'p> {
    fn add_finding(&mut self, capability: Capability, span: Range<usize>, evidence: &str) {
        if self.seen.insert((capability, evidence.to_owned())) {
            self.file.add_finding(capability, Span::new(span.start, span.end), evidence);
        }
    }

    fn report_constructs(&mut self, is_template: bool) {
        let bytes = self.text.as_bytes();
        let mut skip = 0;
        for (offset, &byte) in bytes.iter().enumerate() {
            // Nearly every byte ends here, after one table lookup.
            if !STARTS[usize::from(byte)] || offset < skip {
                continue;
            }
            let before = offset.checked_sub(1).map(|at| bytes[at]);
            match byte {
                b'!' if is_template => self.report_command(offset),
                b'@' => self.report_import(offset, before),
                b':' if bytes[offset..].starts_with(b"://") => skip = self.report_url(offset),
                b':' if before == Some(b'C') => {
                    let drive = offset - 1;
                    self.report_outside_path(drive, drive.checked_sub(1).map(|at| bytes[at]));
                }
                b'$' => self.shell_variable(offset, before),
                b'%' => self.windows_variable(offset),
                b'~' | b'/' => self.report_outside_path(offset, before),
                b'<' if bytes[offset..].starts_with(b"<!--") => self.report_comment(offset),
                _ => {}
            }
        }
    }

    /// Reports `` !`command` `` of Claude Code, opencode and task files, and `!{command}` of Gemini's commands.
    ///
    /// Claude Code expands it in a skill at the beginning of a line or after white space (2.1.325). In commands
    /// and rules it counts everywhere, because opencode and task files expand it there, also where Markdown sees
    /// the end of a code span.
    fn report_command(&mut self, offset: usize) {
        let rest = &self.text[offset + 1..];
        let close = match rest.as_bytes().first() {
            Some(b'`') => '`',
            Some(b'{') if !self.is_markdown => '}',
            _ => return,
        };
        let stands_alone = self.text[..offset].chars().next_back().is_none_or(char::is_whitespace);
        if self.is_skill && !stands_alone {
            return;
        }
        let inner = &rest[1..];
        let end = inner.find(close);
        if let Some(end) = end.filter(|&end| !inner[..end].trim().is_empty() && end < 4_096) {
            self.add_finding(Capability::Commands, offset..offset + end + 3, inner[..end].trim());
        }
    }

    /// Reports a code block that opens with `` ```! ``: each line is executed.
    fn fenced_commands(&mut self) {
        let text = self.text;
        for fence in self.fences {
            if text[fence.info.clone()].trim().starts_with('!') {
                let command = text[fence.body.clone()].trim();
                self.add_finding(Capability::Commands, fence.span.clone(), command);
            }
        }
    }

    /// Reports the JavaScript tools of agent files: a code block below the heading `Tools`.
    fn javascript_tools(&mut self) {
        if !self.file.name().ends_with(".agent.md") {
            return;
        }
        let found = self.fences.iter().find(|fence| {
            let info = self.text[fence.info.clone()].trim();
            let language = info.split([' ', ',', '{']).next().unwrap_or_default();
            matches!(language, "js" | "javascript" | "mjs" | "ts" | "typescript" | "jsx")
        });
        if let Some(fence) = found {
            let evidence = format!("{}: tools in JavaScript", self.file.slashed);
            self.add_finding(Capability::Scripts, fence.span.clone(), &evidence);
        }
    }

    /// Reports `@path/to/file`, but no mention (`@alice`), address or package (`@scope/name`).
    fn report_import(&mut self, offset: usize, before: Option<u8>) {
        let is_start = before.is_none_or(|byte| byte.is_ascii_whitespace() || byte == b'(');
        if !self.is_markdown || !is_start {
            return;
        }
        let path = path_of(&self.text[offset + 1..]);
        let path = path.trim_end_matches(['.', '!', '?', '}']);
        let name = path.rsplit('/').next().unwrap_or_default();
        let is_rooted = path.starts_with(['/', '~', '.']) && path.len() > 1;
        let is_alone = name.len() == path.len();
        let has_ending = name.rsplit_once('.').is_some_and(|(stem, ending)| {
            // A decorator has dots, too: `@pytest.mark.asyncio`.
            let is_known = !is_alone || TEXTS.contains(&ending.to_ascii_lowercase().as_str());
            !stem.is_empty()
                && ending.len() <= 8
                && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
                && is_known
        });
        // A quoted path is an example of what a user types. A path outside the project counts all
        // the same.
        let is_example = || is_in_quotes(self.text, offset) && !is_outside(path);
        if !(is_rooted || has_ending) || is_code(self.text, self.fences, offset) || is_example() {
            return;
        }
        let span = offset..offset + 1 + path.len();
        if is_outside(path) {
            self.add_finding(Capability::OutsidePaths, span.clone(), path);
        }
        self.add_finding(Capability::Imports, span, path);
    }

    /// Reports the host of `https://host/path`. Returns the offset after the host.
    fn report_url(&mut self, offset: usize) -> usize {
        let before = &self.text.as_bytes()[..offset];
        let scheme = before.iter().rev().take(10).take_while(|byte| byte.is_ascii_alphabetic());
        let start = offset - scheme.count();
        let scheme = self.text[start..offset].to_ascii_lowercase();
        let rest = &self.text[offset + 3..];
        let is_end = |letter: char| letter.is_whitespace() || "/\"'`)]><,?#\\}|*".contains(letter);
        let authority = &rest[..rest.find(is_end).unwrap_or(rest.len())];
        let is_network = NETWORK.split(' ').any(|known| known == scheme);
        let host = authority.rsplit('@').next().unwrap_or(authority);
        let host = host.trim_end_matches(['.', ':', '!', ';']).to_ascii_lowercase();
        let is_host = host.bytes().any(|byte| byte.is_ascii_alphanumeric())
            && host.len() <= WORD
            && !host.contains(['$', '{', '%', '(']);
        if is_network && is_host && !is_namespace(self.text, start) {
            self.add_finding(Capability::Hosts, start..offset + 3 + authority.len(), &host);
        }
        offset + 3 + authority.len()
    }

    /// Reports the host of `curl host/path` and `wget host`, which have no scheme.
    fn report_download(&mut self, offset: usize, name: &str) {
        if self.is_in_word(offset) {
            return;
        }
        let line = self.text[offset + name.len()..].lines().next().unwrap_or_default();
        let mut at = offset + name.len();
        for word in line.split(' ').take(12) {
            let bare = path_of(word.trim_start_matches(['"', '\'']));
            let host = bare.split('/').next().unwrap_or_default();
            let is_host = host.contains('.')
                && !host.starts_with(['-', '.', '$'])
                && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:".contains(&byte))
                && host.rsplit('.').next().is_some_and(|last| {
                    last.len() > 1 && last.bytes().any(|byte| byte.is_ascii_alphabetic())
                });
            if is_host && !is_file_name(bare) {
                let host = host.to_ascii_lowercase();
                self.add_finding(Capability::Hosts, at..at + word.len(), &host);
            }
            if word.contains(['|', '`', ';']) {
                break;
            }
            at += word.len() + 1;
        }
    }

    /// Reports `process.env.NAME` and `os.environ["NAME"]`. `offset` is that of `env`.
    fn report_env_reader(&mut self, offset: usize) {
        let found = READERS.iter().find_map(|(before, after)| {
            let rest = self.text[offset..].strip_prefix(after)?;
            self.text[..offset].ends_with(before).then_some(rest)
        });
        if let Some(rest) = found {
            let rest = rest.trim_start_matches(['"', '\'', '`', ' ']);
            let (name, after) = rest.split_at(name_length(rest.as_bytes()));
            let after = after.trim_start_matches(['"', '\'', '`', ']', ' ']);
            // `os.environ["NAME"] = value` only sets a variable.
            let is_set = after.starts_with('=') && !after.starts_with("==");
            if !is_set {
                self.report_variable(offset, name);
            }
        }
    }

    /// Reports `$NAME`, `${NAME}` and `$env:NAME`.
    fn shell_variable(&mut self, offset: usize, before: Option<u8>) {
        if before == Some(b'\\') {
            return;
        }
        let rest = &self.text[offset + 1..];
        let rest = rest.strip_prefix('{').unwrap_or(rest);
        let rest = rest.strip_prefix("env:").unwrap_or(rest);
        let name = &rest[..name_length(rest.as_bytes())];
        let follows = rest.as_bytes().get(name.len());
        // `${ENV['NAME']}` reads `NAME`.
        let is_table = name == "ENV" && follows == Some(&b'[');
        // `${NAME="one|other"}` in prose is a choice that the reader makes.
        // `"$NAME":` is a key of JSON.
        let is_key = before == Some(b'"') && rest[name.len()..].starts_with("\":");
        let is_choice = rest[name.len()..].starts_with("=\"")
            && self.is_markdown
            && !is_code(self.text, self.fences, offset);
        if is_choice {
            self.names.insert(name);
        }
        if !is_table && !is_key && !follows.is_some_and(|&byte| is_word(byte)) {
            self.report_variable(offset, name);
        }
    }

    fn windows_variable(&mut self, offset: usize) {
        let rest = &self.text[offset + 1..];
        let name = &rest[..name_length(rest.as_bytes())];
        if rest[name.len()..].starts_with('%') && name.len() > 3 {
            self.report_variable(offset, name);
        }
    }

    fn report_variable(&mut self, offset: usize, name: &'p str) {
        if !self.names.insert(name) {
            return;
        }
        let is_name =
            name.len() > 2 && name.starts_with(|letter: char| letter.is_ascii_uppercase());
        // `$VAR` and `${ENV_VAR_NAME}` are placeholders.
        let is_placeholder = name.split('_').all(|word| {
            matches!(word, "ENV" | "VAR" | "VARIABLE" | "NAME" | "VALUE" | "MY" | "YOUR" | "SOME")
        });
        if is_name
            && !is_placeholder
            && ORDINARY.binary_search(&name).is_err()
            && !self.is_assigned(name)
        {
            self.add_finding(Capability::Variables, offset..offset + name.len() + 1, name);
        }
    }

    /// Returns whether the text assigns the variable a value of its own.
    fn is_assigned(&self, name: &str) -> bool {
        let assignment = format!("{name}=");
        memmem::find_iter(self.text.as_bytes(), assignment.as_bytes()).any(|at| {
            let before = self.text[line_start(self.text, at)..at].trim();
            let is_start = matches!(before, "" | "local" | "readonly" | "declare" | "export");
            let line = self.text[at..].lines().next().unwrap_or_default();
            let value = line[assignment.len().min(line.len())..].trim();
            is_start && !value.is_empty() && !value.contains(name)
        })
    }

    /// Reports `~/path`, `/etc/path` and `C:\path`.
    fn report_outside_path(&mut self, offset: usize, before: Option<u8>) {
        if before.is_some_and(|byte| {
            is_word(byte) || matches!(byte, b'/' | b'.' | b'~' | b'}' | b'-' | b'*' | b':' | b'@')
        }) {
            return;
        }
        let path = path_of(&self.text[offset..]);
        // `C:\path\to\file` is a placeholder.
        let is_placeholder =
            (path.contains("path/to") || path.contains("path\\to")) && !path.contains("..");
        if is_outside(path) && !is_placeholder {
            self.add_finding(Capability::OutsidePaths, offset..offset + path.len(), path);
        }
    }

    fn report_comment(&mut self, offset: usize) {
        if !self.is_markdown || is_code(self.text, self.fences, offset) {
            return;
        }
        let inner = &self.text[offset + 4..];
        let end = memmem::find(inner.as_bytes(), b"-->").unwrap_or(inner.len());
        let comment = inner[..end].trim();
        if !is_ordinary_comment(comment) {
            self.add_finding(Capability::Comments, offset..offset + 4 + end, comment);
        }
    }

    /// Returns whether the letter before an offset belongs to the same word.
    fn is_in_word(&self, offset: usize) -> bool {
        self.text[..offset].bytes().next_back().is_some_and(is_word)
    }

    fn server_name(&mut self, offset: usize) {
        let rest = &self.text[offset + 5..];
        let end = memmem::find(&rest.as_bytes()[..rest.len().min(WORD)], b"__");
        if let Some(end) = end.filter(|_| !self.is_in_word(offset)) {
            let name = &rest[..end];
            let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
            if !name.is_empty() && name.bytes().all(is_name) {
                self.add_finding(Capability::McpServers, offset..offset + 5 + end, name);
            }
        }
    }
}

/// Returns whether an argument of `curl` is an output file.
fn is_file_name(word: &str) -> bool {
    let endings =
        ["json", "sh", "txt", "html", "zip", "gz", "tar", "md", "py", "log", "xml", "pdf"];
    !word.contains('/') && endings.contains(&word.rsplit('.').next().unwrap_or_default())
}

fn is_outside(path: &str) -> bool {
    let below_home = path.strip_prefix("~/").is_some_and(|rest| !rest.is_empty());
    let is_drive = path.strip_prefix("C:").is_some_and(|rest| rest.starts_with(['\\', '/']));
    let is_root = OUTSIDE.iter().any(|directory| path.starts_with(directory));
    let climbs = path.starts_with("../../..");
    below_home || is_drive && path.len() > 4 || is_root || climbs
}

/// Returns whether a comment is a directive of a tool or the mark of a generator.
pub(super) fn is_ordinary_comment(comment: &str) -> bool {
    const TOOLS: [&str; 16] = [
        "@client",
        "@endclient",
        "markdownlint-",
        "prettier-ignore",
        "textlint-",
        "vale ",
        "cspell",
        "eslint-",
        "toc",
        "/toc",
        "omit from toc",
        "tocstop",
        "more",
        "spdx",
        "copyright",
        "lint ",
    ];
    let small = comment.to_ascii_lowercase();
    let words = small.split_whitespace().count();
    words < 3 || TOOLS.iter().any(|tool| small.starts_with(tool))
}
