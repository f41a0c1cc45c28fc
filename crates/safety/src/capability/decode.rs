//! Encoded blocks, and their decoded text.

use brief_syntax::Span;
use memchr::memmem;

use super::{Capability, FileScan};

/// The shortest reported run of base64 characters: longer than any digest.
const BASE64: usize = 180;

/// The shortest reported run of hexadecimal digits: longer than any digest.
const HEXADECIMAL: usize = 160;

/// The shortest line of a block that is broken into lines.
const LINE: usize = 56;

/// The number of decoded letters in a report.
const SHOWN: usize = 60;

/// Prefixes of images and fonts that are embedded in a text.
const EMBEDDED: [&str; 5] =
    ["data:image/", "data:font/", "data:audio/", "data:video/", "data:application/font"];

pub(super) fn scan_encoded_blocks(file: &mut FileScan) {
    let source = std::sync::Arc::clone(&file.source);
    let text = source.text();
    let bytes = text.as_bytes();
    let mut offset = 0;
    let mut first: Option<(Span, String)> = None;
    let mut count = 0;
    while let Some(window) = bytes.get(offset..offset + LINE) {
        // Search from the end: prose has a blank every few letters, so the scan skips to after the
        // last one.
        if let Some(other) = window.iter().rposition(|&byte| !is_base64(byte)) {
            offset += other + 1;
            continue;
        }
        let run = bytes[offset..].iter().position(|&byte| !is_base64(byte));
        let end = block_end(bytes, offset + run.unwrap_or(bytes.len() - offset));
        if let Some(what) = describe_block(&text[offset..end])
            && !is_embedded(text, offset)
        {
            count += 1;
            first.get_or_insert((Span::new(offset, end), what));
        }
        offset = end + 1;
    }
    // A file of icons has hundreds of blocks; one report is enough.
    if let Some((span, what)) = first {
        let more = if count > 1 { format!("{count} blocks, the first of ") } else { String::new() };
        file.add_finding(Capability::Encoded, span, &format!("{more}{what}"));
    }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
}

/// Returns the end of a block whose first line ends at `end` and continues with full lines.
fn block_end(bytes: &[u8], mut end: usize) -> usize {
    loop {
        let rest = &bytes[end..];
        let blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if blanks == 0 || blanks > 16 || !rest[..blanks].contains(&b'\n') {
            return end;
        }
        let length = rest[blanks..].iter().take_while(|&&byte| is_base64(byte)).count();
        if length < LINE {
            // The last line is shorter and contains nothing else.
            let after = rest.get(blanks + length);
            let is_last = length > 0 && after.is_none_or(|&byte| byte == b'\n' || byte == b'"');
            return if is_last { end + blanks + length } else { end };
        }
        end += blanks + length;
    }
}

fn is_embedded(text: &str, offset: usize) -> bool {
    let before = &text[text.ceil_char_boundary(offset.saturating_sub(64))..offset];
    EMBEDDED.iter().any(|kind| before.contains(kind))
}

/// Describes a block; `None` when it is short, or words instead of digits.
fn describe_block(block: &str) -> Option<String> {
    let digits: String = block.chars().filter(|letter| !letter.is_whitespace()).collect();
    let length = digits.len();
    if length >= HEXADECIMAL && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        let is_varied = digits.bytes().any(|byte| byte != digits.as_bytes()[0]);
        let bytes: Vec<u8> = digits
            .as_bytes()
            .chunks_exact(2)
            .filter_map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
            .collect();
        return is_varied.then(|| describe_encoding("hexadecimal", length, &bytes));
    }
    // Words have few capitals and digits; paths have slashes; horizontal rules repeat one
    // character.
    let count = |is: fn(&u8) -> bool| digits.bytes().filter(&is).count();
    let (upper, small, number) =
        (count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase), count(u8::is_ascii_digit));
    let slashes = count(|byte| matches!(byte, b'/' | b'-' | b'_'));
    let is_mixed = upper * 8 > length && small * 8 > length && number * 40 > length;
    if length < BASE64 || !is_mixed || slashes * 10 > length {
        return None;
    }
    Some(describe_encoding("base64", length, &decode_base64(&digits).unwrap_or_default()))
}

fn describe_encoding(encoding: &str, length: usize, bytes: &[u8]) -> String {
    let start: String = String::from_utf8_lossy(bytes).chars().take(SHOWN).collect();
    let is_text = !start.is_empty() && !start.contains('\u{fffd}');
    let content = if is_text { format!(": `{start}`") } else { String::new() };
    format!("{length} characters of {encoding}{content}")
}

/// Decodes base64 in either alphabet; `None` for other text.
pub(super) fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in text.trim_end_matches('=').bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.extend(u8::try_from(bits >> count & 0xff));
        }
    }
    Some(bytes)
}

/// Decodes the longest base64 word of a line, for a report.
pub(super) fn decoded_word(line: &str) -> Option<String> {
    let words = line.split(|letter: char| !letter.is_ascii() || !is_base64(letter as u8));
    let longest = words.filter(|word| word.len() >= 8).max_by_key(|word| word.len())?;
    let text = String::from_utf8(decode_base64(longest)?).ok()?;
    let is_shown = |letter: char| !letter.is_control() || letter.is_whitespace();
    let is_path = memmem::find(longest.as_bytes(), b"//").is_some();
    (!is_path && text.chars().all(is_shown)).then(|| text.chars().take(SHOWN).collect())
}
