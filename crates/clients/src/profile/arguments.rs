//! The syntax in which a client's commands take arguments.

use brief_dialects::portable::toml::{TomlEntry, TomlProblem};

/// The client's words for arguments. What it has no words for is a problem of the build.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ArgumentForms {
    /// All arguments as one text, such as `$ARGUMENTS`.
    pub all: Option<String>,
    /// One argument; `{n}` stands for its number, `{name}` for its name and `{NAME}` for that in capitals.
    pub one: Option<String>,
    /// The number of the first argument.
    pub first: usize,
    /// A dollar sign that is text, where the client would take it for an argument.
    pub dollar: Option<String>,
}

impl ArgumentForms {
    /// Returns the client's words for one argument; `position` counts from 1.
    pub fn one(&self, position: usize, name: Option<&str>) -> Option<String> {
        let number = (self.first + position).saturating_sub(1).to_string();
        let name = name.map_or_else(|| format!("argument{position}"), str::to_owned);
        let capitals = name.to_uppercase().replace('-', "_");
        let form = self.one.as_ref()?.replace("{n}", &number);
        Some(form.replace("{name}", &name).replace("{NAME}", &capitals))
    }
}

const KEYS: [&str; 4] = ["all", "one", "first", "dollar"];

/// Reads the table `arguments` of a command.
pub(super) fn forms(entry: &TomlEntry<'_>) -> Result<ArgumentForms, TomlProblem> {
    let mut forms = ArgumentForms { first: 1, ..ArgumentForms::default() };
    for entry in entry.table()?.entries() {
        match entry.key {
            "all" => forms.all = Some(entry.text()?.to_owned()),
            "one" => forms.one = Some(entry.text()?.to_owned()),
            "dollar" => forms.dollar = Some(entry.text()?.to_owned()),
            "first" => {
                let problem = || entry.wrong("an argument cannot have this number", "write 0 or 1");
                let number =
                    entry.item.as_integer().and_then(|number| usize::try_from(number).ok());
                forms.first = number.filter(|number| *number < 2).ok_or_else(problem)?;
            }
            _ => return Err(entry.unknown(&KEYS)),
        }
    }
    Ok(forms)
}
