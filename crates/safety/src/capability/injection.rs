//! Text that turns an agent against its user.
//!
//! No list of phrases finds every attack, so this one stays short and precise. Each form does harm
//! in any surroundings. A text that quotes it as an example, in code or in quotation marks, is not
//! reported, unless the form works in code, too.

use brief_syntax::Span;
use memchr::memmem;

use super::decode::decoded_word;
use super::fields::is_markdown;
use super::prose::{Fence, is_code, is_in_quotes, is_ordinary_comment, line_start};
use super::{Capability, FileScan};

/// Reports the forms of injection in a text.
pub(super) fn scan_injections(file: &mut FileScan, fences: &[Fence]) {
    if !is_markdown(&file.file_extension()) {
        return;
    }
    let source = std::sync::Arc::clone(&file.source);
    let text = source.text();
    let small = text.to_ascii_lowercase();
    let mut scan = Injection { file, text, small: &small, fences };
    scan.report_comments();
    scan.report_overrides();
    scan.report_concealment();
    scan.report_piped_data();
    scan.report_replication();
    scan.report_exfiltration();
    scan.report_links();
    scan.spoofed_hosts();
    scan.report_envelopes();
}

struct Injection<'i> {
    file: &'i mut FileScan,
    text: &'i str,
    /// The text in ASCII lower case, with the same offsets.
    small: &'i str,
    fences: &'i [Fence],
}

/// Verbs that override earlier instructions.
const OVERRIDES: [&str; 5] = ["ignore ", "disregard ", "forget ", "override ", "bypass "];

const OVERRIDDEN: [&str; 10] = [
    "previous instruction",
    "prior instruction",
    "above instruction",
    "earlier instruction",
    "preceding instruction",
    "system prompt",
    "previous prompt",
    "prior prompt",
    "safety instruction",
    "your instructions",
];

/// Phrases before and after `the user` that conceal something.
const CONCEALMENT: [(&str, &str); 20] = [
    ("do not tell ", ""),
    ("don't tell ", ""),
    ("never tell ", ""),
    ("without telling ", ""),
    ("do not inform ", ""),
    ("don't inform ", ""),
    ("without informing ", ""),
    ("do not mention this to ", ""),
    ("don't mention this to ", ""),
    ("do not let ", " know"),
    ("don't let ", " know"),
    ("without ", " knowing"),
    ("without ", "'s knowledge"),
    ("hide this from ", ""),
    ("keep this from ", ""),
    ("do not reveal this to ", ""),
    ("do not alert ", ""),
    ("don't alert ", ""),
    ("do not notify ", ""),
    ("don't notify ", ""),
];

/// Verbs that change a machine.
const ACTS: [&str; 17] = [
    "run ", "execute", "install", "send", "upload", "delete", "download", "curl", "wget", "modify",
    "write", "add ", "push", "commit", "read ", "copy", "fetch",
];

/// Programs that execute their input.
const INTERPRETERS: [&str; 16] = [
    "sh",
    "bash",
    "zsh",
    "dash",
    "ksh",
    "fish",
    "python",
    "python3",
    "node",
    "perl",
    "ruby",
    "php",
    "iex",
    "invoke-expression",
    "osascript",
    "source",
];

const FETCHING: [&str; 6] =
    ["curl ", "wget ", "iwr ", "irm ", "invoke-webrequest ", "invoke-restmethod "];

/// Programs and functions that decode.
const DECODING: [&str; 9] = [
    "base64 -d",
    "base64 --decode",
    "base64 -di",
    "xxd -r",
    "openssl base64 -d",
    "openssl enc -d",
    "atob(",
    "b64decode(",
    "frombase64string(",
];

/// Verbs that send data away.
const SENDING: [&str; 9] = [
    "send ",
    "upload ",
    "post ",
    "exfiltrate ",
    "transmit ",
    "forward ",
    "leak ",
    "email ",
    "curl ",
];

/// Files and variables with secrets.
const SECRETS: [&str; 16] = [
    "~/.aws",
    "~/.ssh",
    "id_rsa",
    "id_ed25519",
    ".env ",
    ".env file",
    "~/.netrc",
    "~/.npmrc",
    "~/.config/gh",
    "~/.kube",
    "~/.gnupg",
    "/etc/shadow",
    "/etc/passwd",
    "private key",
    "environment variables",
    "keychain",
];

/// Schemes of links that execute code or read files.
const SCHEMES: [&str; 5] = ["javascript:", "vbscript:", "data:text/html", "file:///", "command:"];

/// Tags of roles and system messages that clients use themselves.
const ENVELOPES: [&str; 10] = [
    "<|im_start|>",
    "<|im_end|>",
    "<|system|>",
    "<|endoftext|>",
    "<system-reminder>",
    "</system-reminder>",
    "[/inst]",
    "<<sys>>",
    "<system>",
    "</system>",
];

/// The parts of a self-replicating instruction: a verb, a quantifier, a guidance file, and a place
/// elsewhere.
const SPREADING: [&str; 8] =
    ["add ", "append ", "copy ", "write ", "insert ", "put ", "paste ", "replicate "];
const QUANTIFIERS: [&str; 4] = ["every ", "each ", "all ", "any other "];
const GUIDANCE_FILES: [&str; 7] = [
    "agents.md",
    "claude.md",
    "gemini.md",
    "skill.md",
    "copilot-instructions",
    ".cursorrules",
    "settings.json",
];
const ELSEWHERE: [&str; 9] = [
    "you find",
    "you see",
    "you can find",
    "on this machine",
    "other project",
    "other repositor",
    "in the home",
    "you encounter",
    "you have access",
];

/// The greatest distance in bytes between quantifier and file.
const NEAR: usize = 48;

impl Injection<'_> {
    fn add_injection(&mut self, start: usize, end: usize, form: &str) {
        let end = end.min(self.text.len());
        let shown = self.text.get(start..end).unwrap_or_default().trim();
        let evidence = format!("{form}: {shown}");
        self.file.add_finding(Capability::Injection, Span::new(start, end), &evidence);
    }

    /// Returns the bounds of the line around an offset.
    fn line_bounds(&self, offset: usize) -> (usize, usize) {
        let start = line_start(self.text, offset);
        let end = self.text[offset..].find('\n').map_or(self.text.len(), |at| offset + at);
        (start, end)
    }

    /// Returns whether the form at an offset is an example: in code or in quotation marks.
    fn is_quoted(&self, offset: usize) -> bool {
        if is_code(self.text, self.fences, offset) {
            return true;
        }
        let (start, _) = self.line_bounds(offset);
        let before = &self.text[start..offset];
        let is_table = before.trim_start().starts_with('|');
        is_table || is_in_quotes(self.text, offset) || before.ends_with('\'')
    }

    /// Returns the offsets of a phrase, which is in lower case.
    fn phrase_offsets(&self, phrase: &str) -> Vec<usize> {
        let places = memmem::find_iter(self.small.as_bytes(), phrase);
        places.filter(|at| self.begins_word(*at)).collect()
    }

    fn begins_word(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map(|before| self.small.as_bytes()[before]);
        before.is_none_or(|byte| !byte.is_ascii_alphanumeric())
    }

    /// Reports comments with instructions: a rendered page does not show them.
    fn report_comments(&mut self) {
        for start in memmem::find_iter(self.text.as_bytes(), b"<!--") {
            if is_code(self.text, self.fences, start) {
                continue;
            }
            let inner = &self.small[start + 4..];
            let end = memmem::find(inner.as_bytes(), b"-->").unwrap_or(inner.len());
            let comment = &inner[..end];
            let has = |words: &[&str]| has_any(comment, words);
            let gives_orders = has(&OVERRIDES)
                && (has(&OVERRIDDEN) || comment.contains("instructions"))
                || CONCEALMENT
                    .iter()
                    .any(|(first, last)| comment.contains(&format!("{first}the user{last}")))
                || has(&SENDING) && has(&SECRETS)
                || has(&["curl ", "wget "]) && comment.contains('|')
                || has(&ENVELOPES);
            if gives_orders && !is_ordinary_comment(comment.trim()) {
                self.add_injection(start, start + 4 + end + 3, "orders in a comment");
            }
        }
    }

    /// Reports `ignore all previous instructions`.
    fn report_overrides(&mut self) {
        for object in ["instruction", "prompt"] {
            for at in self.phrase_offsets(object) {
                let start = self.small.floor_char_boundary(at.saturating_sub(48));
                let end = self.small.floor_char_boundary(at + 16);
                let around = self.small[start..end].replace('\n', " ");
                let verb = OVERRIDES.iter().find_map(|verb| around[..at - start].rfind(verb));
                let Some(verb) = verb else { continue };
                let between = &around[verb..];
                let is_object = has_any(between, &OVERRIDDEN);
                let is_sentence = between[..at - start - verb].contains(['.', ';', ':', '`', '"']);
                // Instructions against the attack mention the phrase, too.
                let (line, _) = self.line_bounds(start + verb);
                let before = &self.small[line..start + verb];
                let warnings =
                    ["never ", "not ", "n't ", "attempt", "such as", "like ", "if ", "to "];
                let is_warning = has_any(before, &warnings);
                if is_object && !is_sentence && !is_warning && !self.is_quoted(start + verb) {
                    self.add_injection(
                        start + verb,
                        at + object.len(),
                        "it sets instructions aside",
                    );
                }
            }
        }
    }

    fn report_concealment(&mut self) {
        for at in self.phrase_offsets("the user") {
            let (line, end) = self.line_bounds(at);
            let (before, after) = (&self.small[line..at], &self.small[at + 8..end]);
            let phrase = CONCEALMENT
                .iter()
                .find(|(first, last)| before.ends_with(first) && after.starts_with(last));
            let Some((first, _)) = phrase else { continue };
            // Staying silent about a detail is harmless; acting without the user's knowledge is
            // not.
            let before = &before[..before.len() - first.len()];
            if has_any(before, &ACTS) && !self.is_quoted(at) {
                self.add_injection(line, end, "it acts behind the user's back");
            }
        }
        for at in self.phrase_offsets("secretly ") {
            let (line, end) = self.line_bounds(at);
            let is_act = ACTS.iter().any(|act| self.small[at + 9..].starts_with(act.trim_end()));
            if is_act && !self.is_quoted(at) {
                self.add_injection(line, end, "it acts behind the user's back");
            }
        }
    }

    /// Reports downloaded or decoded data that is piped into an interpreter.
    fn report_piped_data(&mut self) {
        let bytes = self.small.as_bytes();
        let mut places: Vec<usize> = memchr::memchr_iter(b'|', bytes).collect();
        for mark in ["curl", "wget"] {
            let opens =
                |at: &usize| at.checked_sub(1).is_some_and(|at| matches!(bytes[at], b'(' | b'`'));
            places.extend(memmem::find_iter(bytes, mark).filter(opens));
        }
        for mark in ["atob(", "b64decode(", "base64string("] {
            places.extend(memmem::find_iter(bytes, mark));
        }
        let mut lines: Vec<(usize, usize)> =
            places.into_iter().map(|at| self.line_bounds(at)).collect();
        lines.sort_unstable();
        lines.dedup();
        for (start, end) in lines {
            let line = &self.small[start..end];
            let (is_fetch, is_decoding) = (has_any(line, &FETCHING), has_any(line, &DECODING));
            if !is_fetch && !is_decoding {
                continue;
            }
            // In a sentence or a table, each code span is a command by itself.
            let mut pieces = line.split('`').filter(|piece| has_source(piece));
            let is_table = line.trim_start().starts_with('|') && !line.contains('`');
            let runs = !is_table && pieces.any(pipes_to_interpreter)
                || is_fetch && has_download_substitution(line)
                || is_decoding
                    && has_any(line, &["eval(", "exec(", "iex ", "invoke-expression", "function("]);
            if !runs {
                continue;
            }
            if is_decoding {
                let said = decoded_word(&self.text[start..end]);
                let said = said.map(|text| format!(" (`{text}`)")).unwrap_or_default();
                self.add_injection(start, end, &format!("it runs what it decodes{said}"));
            } else if self.is_unasked(start, end) {
                self.add_injection(start, end, "it runs what it downloads");
            }
        }
    }

    /// Returns whether a download and its execution are suspicious. Installers are documented as
    /// commands in code blocks, over TLS; an order in a sentence is not, and plain HTTP can be
    /// forged on the way.
    fn is_unasked(&self, start: usize, end: usize) -> bool {
        let line = &self.small[start..end];
        let is_open = line.contains("http://") && !line.contains("http://localhost");
        let has_scheme = line.contains("https://");
        let orders = ["run ", "execute ", "before ", "first", "always", "must", "silently"];
        let orders = has_any(line, &orders);
        let fence = self.fences.iter().any(|fence| fence.span.contains(&start));
        is_open
            || !fence && orders && !line.contains("install")
            || !has_scheme && !fence && line.contains("curl ")
    }

    /// Reports a self-replicating instruction: `add this to every CLAUDE.md you find`.
    fn report_replication(&mut self) {
        for file in GUIDANCE_FILES {
            for at in memmem::find_iter(self.small.as_bytes(), file) {
                let (line, end) = self.line_bounds(at);
                let near = self.small.floor_char_boundary(line.max(at.saturating_sub(NEAR)));
                for word in QUANTIFIERS {
                    let Some(start) = self.word_in(near, at, word) else { continue };
                    let (before, after) = (&self.small[line..start], &self.small[start..end]);
                    let is_order = has_any(before, &SPREADING) && has_any(after, &ELSEWHERE);
                    if is_order && !self.is_quoted(start) {
                        self.add_injection(line, end, "it makes an agent spread it");
                    }
                }
            }
        }
    }

    /// Returns the last offset between two at which a word begins.
    fn word_in(&self, start: usize, end: usize, word: &str) -> Option<usize> {
        let mut places = self.small[start..end].rmatch_indices(word).map(|(at, _)| start + at);
        places.find(|at| self.begins_word(*at))
    }

    /// Reports `send ~/.aws/credentials to http://host`.
    fn report_exfiltration(&mut self) {
        let mut last = 0;
        for at in memmem::find_iter(self.small.as_bytes(), "http") {
            let (line, end) = self.line_bounds(at);
            if at < last {
                continue;
            }
            last = end;
            let secret = SECRETS.iter().find_map(|secret| self.small[line..end].find(secret));
            let Some(start) = secret.map(|secret| line + secret) else { continue };
            let (before, after) = (&self.small[line..start], &self.small[start..end]);
            let has_target = after.contains(" to http")
                || after.contains(" http://")
                || before.contains("://") && before.contains("curl ");
            let is_warning = has_any(before, &["never ", "not ", "n't ", "avoid "]);
            let is_sent = has_any(before, &SENDING);
            if is_sent && has_target && !is_warning && !self.is_quoted(start) {
                self.add_injection(line, end, "it sends secrets away");
            }
        }
    }

    /// Reports links that execute code, read files, or show another host than they lead to.
    fn report_links(&mut self) {
        for start in memmem::find_iter(self.text.as_bytes(), b"](") {
            if is_code(self.text, self.fences, start) {
                continue;
            }
            let target = self.small[start + 2..].trim_start_matches(['<', ' ', '\t']);
            let skipped = self.small.len() - start - 2 - target.len();
            let end = target.find([')', ' ', '\n', '>']).unwrap_or(target.len());
            // A browser ignores tabs and line breaks in a scheme.
            let target = &target[..end];
            if SCHEMES.iter().any(|scheme| target.starts_with(scheme)) {
                let start = start + 2;
                self.add_injection(
                    start,
                    start + skipped + end,
                    "a link that runs code or reads a file",
                );
            }
        }
    }

    /// Reports `http://github.com@evil.example/`: the apparent host is a user name.
    fn spoofed_hosts(&mut self) {
        for at in memchr::memchr_iter(b'@', self.small.as_bytes()) {
            let before = &self.small[self.small.floor_char_boundary(at.saturating_sub(128))..at];
            let user = before.rsplit(['/', ' ', '\n', '"', '\'', '`', '(', '<', '@']).next();
            let user = user.unwrap_or_default();
            let above = &before[..before.len() - user.len()];
            let is_address = above.ends_with("http://") || above.ends_with("https://");
            let name = user.split(':').next().unwrap_or_default();
            let looks_like_host = name.rsplit_once('.').is_some_and(|(_, last)| last.len() > 1);
            if is_address && looks_like_host && !is_code(self.text, self.fences, at) {
                let (_, end) = self.line_bounds(at);
                self.add_injection(at - user.len(), end, "a link that shows another host");
            }
        }
    }

    /// Reports texts that imitate a client's own messages.
    fn report_envelopes(&mut self) {
        for at in memchr::memchr2_iter(b'<', b'[', self.small.as_bytes()) {
            if !ENVELOPES.iter().any(|mark| self.small[at..].starts_with(mark)) {
                continue;
            }
            let (line, end) = self.line_bounds(at);
            let is_mark = |letter| matches!(letter, ' ' | '\t' | '>' | '-' | '*' | '#');
            if self.small[line..at].chars().all(is_mark) && !self.is_quoted(at) {
                self.add_injection(at, end, "a mark of a client's own messages");
            }
        }
    }
}

fn has_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

/// Returns whether a command downloads or decodes something.
fn has_source(command: &str) -> bool {
    has_any(command, &FETCHING) || has_any(command, &DECODING)
}

/// Returns whether a line executes the output of a download: `sh -c "$(curl …)"`.
fn has_download_substitution(line: &str) -> bool {
    ["$(curl", "$(wget", "<(curl", "<(wget", "`curl", "`wget"].iter().any(|form| {
        line.find(form).is_some_and(|at| {
            let before = line[..at].trim_end_matches(['"', '\'', ' ']);
            let runners = ["sh -c", "eval", "source", "bash", "sh", " ."];
            runners.iter().any(|runner| before.ends_with(runner))
        })
    })
}

/// Returns whether a command pipes a download or decoded data into an interpreter.
fn pipes_to_interpreter(line: &str) -> bool {
    let mut parts = line.split('|');
    let mut before = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let trim = ['`', '"', '\'', ')', '(', '&', ';', '.', ','];
        let mut words = part.split_whitespace().map(|word| word.trim_matches(trim));
        let is_prefix =
            |word: &&str| matches!(*word, "sudo" | "env" | "&" | "" | "-e" | "xargs" | "exec");
        let program = words.find(|word| !is_prefix(word)).unwrap_or_default();
        let program = program.rsplit('/').next().unwrap_or(program);
        let digits = |letter: char| letter.is_ascii_digit() || letter == '.';
        let program = program.trim_end_matches(digits);
        if has_source(&before) && INTERPRETERS.contains(&program) {
            return true;
        }
        before.push('|');
        before.push_str(part);
    }
    false
}
