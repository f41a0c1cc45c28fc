//! The arguments in a client's command, in our words.

use brief_dialects::portable::arguments::{Argument, MOST_ARGUMENTS, find_arguments};

use crate::profile::ArgumentForms;

/// Returns the body of a command with the format's words for arguments, and their names.
///
/// The caller compiles it again: a body that would come out otherwise stays the client's own.
pub(super) fn convert_arguments(body: &str, forms: &ArgumentForms) -> (String, Vec<String>) {
    let mut names: Vec<String> = Vec::new();
    let mut output = String::with_capacity(body.len());
    let mut rest = body;
    while let Some(offset) = rest.find(['$', '{', '\\']) {
        output.push_str(&rest[..offset]);
        rest = &rest[offset..];
        let (length, text) = next(rest, forms, &mut names);
        output.push_str(&text);
        rest = &rest[length..];
    }
    output.push_str(rest);
    (output, names)
}

/// Returns the length of what a text begins with, and what it is in the format.
fn next(text: &str, forms: &ArgumentForms, names: &mut Vec<String>) -> (usize, String) {
    let literal = forms.literal.iter().find(|(_, written)| text.starts_with(written.as_str()));
    if let Some((own, written)) = literal {
        return (written.len(), own.clone());
    }
    if let Some((length, position)) = parse_argument(text, forms, names) {
        return (length, format!("${position}"));
    }
    let all = forms.all.as_deref().filter(|all| text.starts_with(all));
    if let Some(all) = all {
        let after = text[all.len()..].chars().next();
        if !all.ends_with(char::is_alphanumeric)
            || !after.is_some_and(|letter| letter.is_alphanumeric() || letter == '_')
        {
            return (all.len(), "$ARGUMENTS".to_owned());
        }
    }
    let dollar =
        forms.dollar.as_deref().filter(|dollar| dollar.len() > 1 && text.starts_with(dollar));
    let length = dollar.map_or_else(|| text.chars().next().map_or(1, char::len_utf8), str::len);
    let is_dollar = dollar.is_some() || text.starts_with('$');
    let reads_as_argument = || {
        let plain = format!("${}", &text[length..]);
        matches!(find_arguments(&plain, 0).first(), Some((span, argument)) if span.start == 0 && *argument != Argument::Dollar)
    };
    let is_escaped = is_dollar && reads_as_argument();
    (length, if is_escaped { "\\$" } else { &text[..length] }.to_owned())
}

/// Returns the length of one argument at the start of a text, and its position from 1.
fn parse_argument(
    text: &str,
    forms: &ArgumentForms,
    names: &mut Vec<String>,
) -> Option<(usize, usize)> {
    let form = forms.one.as_deref()?;
    for (mark, is_number) in
        [("{n}", true), ("{name}", false), ("{NAME}", false), ("{word}", false)]
    {
        let Some((before, after)) = form.split_once(mark) else { continue };
        let inside = text.strip_prefix(before)?;
        let is_part = |letter: char| {
            letter.is_ascii_digit()
                || !is_number && (letter.is_ascii_alphabetic() || "-_".contains(letter))
        };
        let end = inside.find(|letter| !is_part(letter)).unwrap_or(inside.len());
        let (word, rest) = inside.split_at(end);
        if word.is_empty() || !rest.starts_with(after) {
            return None;
        }
        let length = before.len() + end + after.len();
        if is_number {
            let position = (word.parse::<usize>().ok()? + 1).checked_sub(forms.first)?;
            return (1..=MOST_ARGUMENTS).contains(&position).then_some((length, position));
        }
        // The word for all arguments looks like a name.
        if forms.all.as_deref() == Some(&text[..length]) {
            return None;
        }
        let name = word.to_ascii_lowercase().replace('_', "-");
        let position = names.iter().position(|own| *own == name).unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        });
        return (position < MOST_ARGUMENTS).then_some((length, position + 1));
    }
    None
}
