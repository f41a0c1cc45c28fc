//! Files that a client shares with its user, and what has to stand in them.
//!
//! Some clients find what was written only when a file of the user names it. Which file, and what to put
//! there, is data of the profile like everything else.

use brief_profiles::is_plain_word;
use brief_syntax::toml::{TableReader, TomlEntry, TomlProblem};

use super::path;

/// An entry in a list of a file, without which the client does not read outputs of a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListEntry {
    /// The file in a project, and its other spellings.
    pub files: SharedFiles,
    /// The file of a user's own, below the home directory; `None` when nothing is needed there.
    pub home_files: Option<SharedFiles>,
    /// The key of the list.
    pub list: String,
    pub value: String,
    /// The entry in a user's own file.
    pub home_value: String,
    /// The address of the schema that a new file begins with.
    pub schema: Option<String>,
    /// The key in `[install]` that turns it off.
    pub setting: Option<String>,
}

/// Lines of a file, one for each output of a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// The file in a project.
    pub file: String,
    /// The files that keep it from being made: a client would no longer read them.
    pub unless: Vec<String>,
    /// The line before the others.
    pub intro: Option<String>,
    /// The line for one output; `{path}` stands for its path, `{name}` for the item's name, `{scope}` for the
    /// files that it is for.
    pub line: String,
    /// False if the client does not load the outputs: its model sees the line, and may open them.
    pub is_loaded: bool,
    /// The key in `[install]` that turns it off.
    pub setting: Option<String>,
}

/// A file that makes a client read another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bridge {
    /// The file to be read.
    pub from: String,
    /// The file that the client does read, and its other spellings.
    pub files: SharedFiles,
    /// True if nothing is needed where none of these files is there.
    pub is_for_present: bool,
    /// The text of the line; `{path}` stands for the path of the file to be read.
    pub text: String,
    /// The key in `[install]` that turns it off.
    pub setting: Option<String>,
}

/// A file that may have other names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedFiles {
    /// The usual one, which is made when there is none.
    pub usual: String,
    /// The others; one that is there is used when the usual one is not.
    pub others: Vec<String>,
}

impl SharedFiles {
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.usual.as_str()).chain(self.others.iter().map(String::as_str))
    }
}

/// Reads the table `shared` of a kind.
pub(super) fn parse_listing(entry: &TomlEntry<'_>) -> Result<ListEntry, TomlProblem> {
    let mut keys = TableReader::new(entry.table()?.entries());
    let usual = keys.get("file", parse_file);
    let others = keys.get("or", parse_files).unwrap_or_default();
    let list = keys.get("list", TomlEntry::owned_text);
    let value = keys.get("value", TomlEntry::owned_text);
    let home = keys.get("home-file", parse_file);
    let home_others = keys.get("home-or", parse_files).unwrap_or_default();
    let home_value = keys.get("home-value", TomlEntry::owned_text);
    let schema = keys.get("schema", TomlEntry::owned_text);
    let setting = keys.get("setting", parse_setting);
    keys.finish()?;
    let (Some(usual), Some(list), Some(value)) = (usual, list, value) else {
        let help = "name the file, the list in it, and the value to add";
        return Err(entry.value_problem("lacks `file`, `list` or `value`", help));
    };
    let home_value = home_value.unwrap_or_else(|| value.clone());
    let home_files = home.map(|usual| SharedFiles { usual, others: home_others });
    let files = SharedFiles { usual, others };
    Ok(ListEntry { files, home_files, list, value, home_value, schema, setting })
}

/// Reads the table `mention` of a kind.
pub(super) fn parse_mention(entry: &TomlEntry<'_>) -> Result<Mention, TomlProblem> {
    let mut keys = TableReader::new(entry.table()?.entries());
    let file = keys.get("file", parse_file);
    let unless = keys.get("unless", parse_files).unwrap_or_default();
    let intro = keys.get("intro", parse_line);
    let line = keys.get("line", parse_line);
    let is_loaded = keys.get("loaded", TomlEntry::flag).unwrap_or(true);
    let setting = keys.get("setting", parse_setting);
    keys.finish()?;
    let (Some(file), Some(line)) = (file, line) else {
        let help = "name the file and the line for each output, with `{path}`";
        return Err(entry.value_problem("lacks `file` or `line`", help));
    };
    Ok(Mention { file, unless, intro, line, is_loaded, setting })
}

pub(super) fn parse_bridge(entry: &TomlEntry<'_>) -> Result<Bridge, TomlProblem> {
    let mut keys = TableReader::new(entry.table()?.entries());
    let (from, usual) = (keys.get("from", parse_file), keys.get("file", parse_file));
    let others = keys.get("or", parse_files).unwrap_or_default();
    let text = keys.get("text", parse_line);
    let setting = keys.get("setting", parse_setting);
    let is_for_present = keys.get("if-present", TomlEntry::flag).unwrap_or(false);
    keys.finish()?;
    let (Some(from), Some(usual), Some(text)) = (from, usual, text) else {
        let help =
            "name the file to include, the file that the client reads, and the text to add to it";
        return Err(entry.value_problem("lacks `from`, `file` or `text`", help));
    };
    Ok(Bridge { from, files: SharedFiles { usual, others }, is_for_present, text, setting })
}

fn parse_file(entry: &TomlEntry<'_>) -> Result<String, TomlProblem> {
    let text = entry.text()?;
    check_file_path(entry, text)?;
    Ok(text.to_owned())
}

/// Reads a list of paths below the project.
pub(super) fn parse_files(entry: &TomlEntry<'_>) -> Result<Vec<String>, TomlProblem> {
    let texts = entry.text_list()?;
    texts.iter().try_for_each(|text| check_file_path(entry, text))?;
    Ok(texts)
}

fn check_file_path(entry: &TomlEntry<'_>, text: &str) -> Result<(), TomlProblem> {
    path::find_path_problem(text).map_or(Ok(()), |problem| {
        Err(entry.value_problem(problem, "write a path like `client.json`, below the project"))
    })
}

fn parse_line(entry: &TomlEntry<'_>) -> Result<String, TomlProblem> {
    let text = entry.text()?;
    if text.trim().is_empty() || text.contains(['\n', '\r']) {
        return Err(
            entry.value_problem("is not a single line", "write one line, such as `@{path}`")
        );
    }
    Ok(text.to_owned())
}

fn parse_setting(entry: &TomlEntry<'_>) -> Result<String, TomlProblem> {
    let text = entry.text()?;
    if !is_plain_word(text) || super::settings::KEYS.contains(&text) {
        let help = "use a-z, 0-9 and hyphens, and no existing key";
        return Err(entry.value_problem("cannot be a key of `[install]`", help));
    }
    Ok(text.to_owned())
}
