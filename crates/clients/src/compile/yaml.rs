//! Front matter as YAML that all readers parse alike.
//!
//! Clients read YAML 1.2, YAML 1.1 or a dialect of their own with a field per line. So each value stands on
//! one line, lists and mappings are blocks, and a text is quoted as soon as any reader could take it for
//! something else: `yes`, `1_000`, `12:30` and `2026-01-01` are texts to us, and not to a reader of YAML 1.1.

use brief_syntax::yaml::{Node, Value as Read, Yaml};

/// A YAML value to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum YamlValue {
    /// A number, boolean or null, as it is written.
    Bare(String),
    /// A text, quoted if needed.
    Text(String),
    List(Vec<YamlValue>),
    Map(Map),
}

/// The fields of a mapping, in order.
pub(crate) type Map = Vec<(YamlValue, YamlValue)>;

impl YamlValue {
    pub(crate) fn from_text(text: impl Into<String>) -> YamlValue {
        YamlValue::Text(text.into())
    }

    pub(crate) fn from_texts<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> YamlValue {
        YamlValue::List(texts.into_iter().map(YamlValue::from_text).collect())
    }

    pub(crate) fn null() -> YamlValue {
        YamlValue::Bare("null".to_owned())
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self, YamlValue::Bare(word) if word == "null")
    }
}

/// Returns a value as text, whatever it looks like to YAML.
pub(crate) fn text_of(value: &YamlValue) -> Option<&str> {
    match value {
        YamlValue::Text(text) | YamlValue::Bare(text) => Some(text.trim()),
        YamlValue::List(_) | YamlValue::Map(_) => None,
    }
}

/// Returns the parts of a list, or of a text with commas outside of braces.
pub(crate) fn parts_of(value: &YamlValue) -> Option<Vec<String>> {
    match value {
        YamlValue::List(list) => list.iter().map(|part| text_of(part).map(str::to_owned)).collect(),
        YamlValue::Text(text) | YamlValue::Bare(text) => Some(split_at_commas(text)),
        YamlValue::Map(_) => None,
    }
}

fn split_at_commas(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let parts = text.split(|letter| {
        match letter {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// The limit for nesting. Parsed values exceed it only through aliases.
const DEPTH: usize = 128;

/// Converts a value from a file, types unchanged. Values below the nesting limit are left out.
pub(crate) fn of_node(node: Node<'_>) -> YamlValue {
    convert_node(node, DEPTH)
}

fn convert_node(node: Node<'_>, depth: usize) -> YamlValue {
    let nothing = YamlValue::null;
    let Some(below) = depth.checked_sub(1) else { return nothing() };
    match node.value() {
        Read::Null | Read::Broken(_) => nothing(),
        Read::Scalar(text) if node.is_plain() => {
            parse_bare_value(text).unwrap_or_else(|| YamlValue::from_text(text))
        }
        Read::Scalar(text) => YamlValue::from_text(text),
        Read::Sequence(list) => {
            YamlValue::List(list.iter().map(|item| convert_node(item, below)).collect())
        }
        Read::Mapping(mapping) => {
            let fields = mapping.effective_fields().into_iter();
            // A client cannot ask for a key that is a list or a mapping.
            let fields = fields.filter(|field| field.key.as_str().is_some());
            YamlValue::Map(
                fields
                    .map(|field| (convert_node(field.key, below), convert_node(field.value, below)))
                    .collect(),
            )
        }
    }
}

/// Returns the value of an unquoted word by the core schema of YAML 1.2, in a form that YAML 1.1 reads alike;
/// `None` for a text.
fn parse_bare_value(text: &str) -> Option<YamlValue> {
    let written = match text {
        "true" | "True" | "TRUE" => "true".to_owned(),
        "false" | "False" | "FALSE" => "false".to_owned(),
        _ => parse_number(text)?,
    };
    Some(YamlValue::Bare(written))
}

fn parse_number(text: &str) -> Option<String> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let all = |text: &str, is: fn(&char) -> bool| !text.is_empty() && text.chars().all(|c| is(&c));
    let signed = sign.len() + digits.len() < text.len() || !sign.is_empty();
    if matches!(digits, ".inf" | ".Inf" | ".INF") {
        return Some(format!("{sign}.inf"));
    }
    if matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Some(".nan".to_owned());
    }
    // Octal numbers differ between the two versions, so they are written in decimal.
    for (prefix, base) in [("0o", 8), ("0x", 16)] {
        if let Some(digits) = digits.strip_prefix(prefix).filter(|_| !signed) {
            return u128::from_str_radix(digits, base).ok().map(|number| number.to_string());
        }
    }
    if all(digits, char::is_ascii_digit) {
        let digits = digits.trim_start_matches('0');
        return Some(format!("{sign}{}", if digits.is_empty() { "0" } else { digits }));
    }
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (digits, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_number = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || whole.len() + fraction.len() == 0 {
        return None;
    }
    let whole = if whole.is_empty() { "0" } else { whole };
    let fraction = if fraction.is_empty() { "0" } else { fraction };
    let exponent = match exponent {
        None => String::new(),
        Some(exponent) => {
            let digits = exponent.trim_start_matches(['+', '-']);
            if exponent.len() - digits.len() > 1 || !all(digits, char::is_ascii_digit) {
                return None;
            }
            let sign = if exponent.starts_with('-') { '-' } else { '+' };
            format!("e{sign}{digits}")
        }
    };
    Some(format!("{sign}{whole}.{fraction}{exponent}"))
}

/// Merges one mapping over another: its values win, mappings are merged, lists and texts replaced. New fields
/// come last, in their own order. `null` takes a field away.
pub(crate) fn merge_maps(under: &mut Map, over: Map) {
    for (key, value) in over {
        if value.is_null() && under.iter().any(|(existing, _)| *existing == key) {
            under.retain(|(existing, _)| *existing != key);
            continue;
        }
        match under.iter_mut().find(|(existing, _)| *existing == key) {
            Some((_, YamlValue::Map(fields))) if matches!(value, YamlValue::Map(_)) => {
                if let YamlValue::Map(over) = value {
                    merge_maps(fields, over);
                }
            }
            Some((_, existing)) => *existing = value,
            None => under.push((key, value)),
        }
    }
}

/// Writes a mapping, a field per line.
pub(crate) fn render_yaml(fields: &Map) -> String {
    let mut output = String::new();
    write_fields(&mut output, fields, 0);
    output
}

/// Writes a mapping with a text as its last field. A text of several lines stands in lines as they are: a client may render
/// the file as a template before it reads it, which takes no escapes.
pub(crate) fn write_with_text(fields: &Map, key: &str, text: &str) -> String {
    let mut output = String::new();
    write_in_lines(&mut output, fields, 0);
    write_lines(&mut output, key, text, 0);
    output
}

fn write_in_lines(output: &mut String, fields: &Map, depth: usize) {
    for field in fields {
        match field {
            (YamlValue::Text(key), YamlValue::Text(text)) if text.contains('\n') => {
                write_lines(output, key, text, depth);
            }
            (key, YamlValue::Map(below)) if !below.is_empty() => {
                write_indent(output, depth);
                write_scalar(output, key);
                output.push_str(":\n");
                write_in_lines(output, below, depth + 1);
            }
            field => write_fields(output, std::slice::from_ref(field), depth),
        }
    }
}

/// Writes a field whose text stands in lines as they are, where YAML can say it so.
fn write_lines(output: &mut String, key: &str, text: &str, depth: usize) {
    let chomp = match text.len() - text.trim_end_matches('\n').len() {
        0 => "-",
        1 => "",
        _ => "+",
    };
    let mut block = String::new();
    write_text(&mut block, key);
    let name = block.len();
    block.push_str(&format!(": |{chomp}\n"));
    for line in text.split_inclusive('\n') {
        if line != "\n" {
            block.push_str("  ");
        }
        block.push_str(line);
    }
    if !text.ends_with('\n') {
        block.push('\n');
    }
    // A first line with blanks before it, or a control character, is another text in a block.
    let read = Yaml::parse(&block);
    let is_same = match read.root().map(Node::value) {
        Some(Read::Mapping(fields)) => fields.get(key).and_then(Node::as_str) == Some(text),
        _ => false,
    };
    if !is_same || !read.problems().is_empty() {
        block.truncate(name);
        block.push_str(": ");
        write_text(&mut block, text);
        block.push('\n');
    }
    for line in block.split_inclusive('\n') {
        if line != "\n" {
            write_indent(output, depth);
        }
        output.push_str(line);
    }
}

fn write_fields(output: &mut String, fields: &[(YamlValue, YamlValue)], depth: usize) {
    for (index, (key, value)) in fields.iter().enumerate() {
        // The first field of a mapping in a list follows the dash.
        if index > 0 || !output.ends_with("- ") {
            write_indent(output, depth);
        }
        write_scalar(output, key);
        output.push(':');
        write_value(output, value, depth);
    }
}

/// Writes the value after a key.
fn write_value(output: &mut String, value: &YamlValue, depth: usize) {
    match value {
        YamlValue::List(list) if !list.is_empty() => {
            output.push('\n');
            write_list(output, list, depth + 1);
        }
        YamlValue::Map(fields) if !fields.is_empty() => {
            output.push('\n');
            write_fields(output, fields, depth + 1);
        }
        _ => {
            output.push(' ');
            write_scalar(output, value);
            output.push('\n');
        }
    }
}

fn write_list(output: &mut String, list: &[YamlValue], depth: usize) {
    for (index, value) in list.iter().enumerate() {
        if index > 0 || !output.ends_with("- ") {
            write_indent(output, depth);
        }
        output.push_str("- ");
        match value {
            YamlValue::List(list) if !list.is_empty() => write_list(output, list, depth + 1),
            YamlValue::Map(fields) if !fields.is_empty() => write_fields(output, fields, depth + 1),
            _ => {
                write_scalar(output, value);
                output.push('\n');
            }
        }
    }
}

fn write_indent(output: &mut String, depth: usize) {
    for _ in 0..depth {
        output.push_str("  ");
    }
}

fn write_scalar(output: &mut String, value: &YamlValue) {
    match value {
        YamlValue::Bare(text) => output.push_str(text),
        YamlValue::Text(text) => write_text(output, text),
        YamlValue::List(_) => output.push_str("[]"),
        YamlValue::Map(_) => output.push_str("{}"),
    }
}

fn write_text(output: &mut String, text: &str) {
    if is_plain(text) {
        debug_assert!(!needs_quotes(text) && text.chars().all(is_printable), "{text:?} is plain");
        output.push_str(text);
    } else if !text.chars().all(is_printable) {
        write_escaped(output, text);
    } else if !needs_quotes(text) {
        output.push_str(text);
    } else if text.contains(['"', '\\']) {
        output.push('\'');
        output.push_str(&text.replace('\'', "''"));
        output.push('\'');
    } else {
        output.push('"');
        output.push_str(text);
        output.push('"');
    }
}

/// Returns whether a character needs no escape between quotes, on one line.
pub(crate) fn is_printable(character: char) -> bool {
    !character.is_control()
        && !matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn write_escaped(output: &mut String, text: &str) {
    output.push('"');
    for character in text.chars() {
        match character {
            '"' => output.push_str("\\\""),
            '\\' => output.push_str("\\\\"),
            '\n' => output.push_str("\\n"),
            '\r' => output.push_str("\\r"),
            '\t' => output.push_str("\\t"),
            character if is_printable(character) => output.push(character),
            character => output.push_str(&format!("\\u{:04x}", u32::from(character))),
        }
    }
    output.push('"');
}

/// Returns whether a text is a word or a sentence that no reader takes for anything else: most keys and values are,
/// and a build writes thousands of them.
fn is_plain(text: &str) -> bool {
    let is_letter =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'/' | b',');
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return false };
    // The words that mean something have at most five letters.
    bytes.len() > LONGEST_WORD
        && first.is_ascii_alphabetic()
        && *last != b' '
        && bytes.iter().all(|&byte| is_letter(byte) || matches!(byte, b' ' | b'.' | b'(' | b')'))
}

/// The length of the longest word with a meaning in YAML.
const LONGEST_WORD: usize = "false".len();

/// Returns whether some reader would take an unquoted text for something else.
fn needs_quotes(text: &str) -> bool {
    let Some(first) = text.chars().next() else { return true };
    // One look at each byte: headers have long descriptions, and a build writes thousands of them. A no-break space is
    // `c2 a0`.
    let is_mark = |pair: &[u8]| matches!(pair, b": " | b" #" | b"\xc2\xa0");
    first.is_whitespace()
        || text.ends_with(|last: char| last.is_whitespace() || last == ':')
        || "-?:,[]{}#&*!|>'\"%@`".contains(first)
        || text.as_bytes().windows(2).any(is_mark)
        || is_word_of_yaml(text)
        || looks_like_a_number(text)
}

/// Returns whether a text has a special meaning in YAML 1.1 or 1.2.
fn is_word_of_yaml(text: &str) -> bool {
    const WORDS: [&str; 13] =
        ["~", "null", "true", "false", "yes", "no", "on", "off", "y", "n", "<<", "=", "..."];
    text.len() <= LONGEST_WORD && WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Returns whether a text looks like a number, time or date, including those of YAML 1.1: `0b1`, `1_000`,
/// `1:30`, `2026-01-01T00:00:00Z`.
fn looks_like_a_number(text: &str) -> bool {
    let rest = text.trim_start_matches(['+', '-']);
    if rest.eq_ignore_ascii_case(".inf") || rest.eq_ignore_ascii_case(".nan") {
        return true;
    }
    rest.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && text
            .chars()
            .all(|character| character.is_ascii_hexdigit() || "xXoO_:.+-tTzZ ".contains(character))
}
