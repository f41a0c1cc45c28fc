//! The syntax in which a client's commands take arguments.

use std::borrow::Cow;

use brief_syntax::toml::{TableReader, TomlEntry, TomlProblem};

/// The client's words for arguments. What it has no words for is a problem of the build.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ArgumentForms {
    /// All arguments as one text, such as `$ARGUMENTS`.
    pub all: Option<String>,
    /// One argument; `{n}` stands for its number, `{name}` for its name, `{NAME}` for that in capitals and `{word}` for that with
    /// `_` in place of `-`.
    pub one: Option<String>,
    /// The number of the first argument.
    pub first: usize,
    /// A dollar sign that is text, where the client would take it for an argument.
    pub dollar: Option<String>,
    /// Texts that the client would expand, and how each is written as text.
    pub literal: Vec<(String, String)>,
}

impl ArgumentForms {
    /// Returns the client's words for one argument; `position` counts from 1.
    pub fn render_argument(&self, position: usize, name: Option<&str>) -> Option<String> {
        let number = (self.first + position).saturating_sub(1).to_string();
        let name = name.map_or_else(|| format!("argument{position}"), str::to_owned);
        let word = name.replace('-', "_");
        let form = self.one.as_ref()?.replace("{n}", &number).replace("{word}", &word);
        Some(form.replace("{name}", &name).replace("{NAME}", &word.to_uppercase()))
    }

    /// Returns a text in which the client expands nothing.
    pub fn escape_text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut output = String::new();
        let mut copied = 0;
        let mut at = 0;
        while at < text.len() {
            let known = self.literal.iter().find(|(own, _)| text[at..].starts_with(own.as_str()));
            if let Some((own, written)) = known {
                output.push_str(&text[copied..at]);
                output.push_str(written);
                at += own.len();
                copied = at;
            } else {
                at += text[at..].chars().next().map_or(1, char::len_utf8);
            }
        }
        if copied == 0 {
            return Cow::Borrowed(text);
        }
        output.push_str(&text[copied..]);
        Cow::Owned(output)
    }
}

/// Reads the table `arguments` of a command.
pub(super) fn parse_argument_forms(entry: &TomlEntry<'_>) -> Result<ArgumentForms, TomlProblem> {
    let mut keys = TableReader::new(entry.table()?.entries());
    let forms = ArgumentForms {
        all: keys.get("all", TomlEntry::owned_text),
        one: keys.get("one", TomlEntry::owned_text),
        first: keys.get("first", parse_first_number).unwrap_or(1),
        dollar: keys.get("dollar", TomlEntry::owned_text),
        literal: keys.get("literal", TomlEntry::pairs).unwrap_or_default(),
    };
    keys.finish().map(|()| forms)
}

fn parse_first_number(entry: &TomlEntry<'_>) -> Result<usize, TomlProblem> {
    let number = entry.item.as_integer().and_then(|number| usize::try_from(number).ok());
    let problem = || entry.invalid_value("an argument cannot have this number", "write 0 or 1");
    number.filter(|number| *number < 2).ok_or_else(problem)
}
