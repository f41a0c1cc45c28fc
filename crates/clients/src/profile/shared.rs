//! Files that a client shares with its user, and what has to stand in them.
//!
//! Some clients find what was written only when a file of the user names it. Which file, and what to put
//! there, is data of the profile like everything else.

use brief_dialects::portable::toml::{TomlEntry, TomlProblem};

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
    /// The entry.
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
    /// Returns all names.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.usual.as_str()).chain(self.others.iter().map(String::as_str))
    }
}

const LISTING_KEYS: [&str; 9] =
    ["file", "or", "list", "value", "home-file", "home-or", "home-value", "schema", "setting"];
const MENTION_KEYS: [&str; 6] = ["file", "unless", "intro", "line", "loaded", "setting"];
const BRIDGE_KEYS: [&str; 5] = ["from", "file", "or", "text", "setting"];

/// Reads the table `shared` of a kind.
pub(super) fn listing(entry: &TomlEntry<'_>) -> Result<ListEntry, TomlProblem> {
    let (mut usual, mut others, mut home, mut home_others) = (None, Vec::new(), None, Vec::new());
    let (mut list, mut value, mut home_value) = (None, None, None);
    let (mut schema, mut setting) = (None, None);
    for entry in entry.table()?.entries() {
        match entry.key {
            "file" => usual = Some(file(&entry)?),
            "or" => others = files(&entry)?,
            "list" => list = Some(entry.text()?.to_owned()),
            "value" => value = Some(entry.text()?.to_owned()),
            "home-file" => home = Some(file(&entry)?),
            "home-or" => home_others = files(&entry)?,
            "home-value" => home_value = Some(entry.text()?.to_owned()),
            "schema" => schema = Some(entry.text()?.to_owned()),
            "setting" => setting = Some(self::setting(&entry)?),
            _ => return Err(entry.unknown(&LISTING_KEYS)),
        }
    }
    let (Some(usual), Some(list), Some(value)) = (usual, list, value) else {
        let help = "name the file, the list in it, and what has to stand there";
        return Err(entry.wrong("it lacks `file`, `list` or `value`", help));
    };
    let home_value = home_value.unwrap_or_else(|| value.clone());
    let home_files = home.map(|usual| SharedFiles { usual, others: home_others });
    let files = SharedFiles { usual, others };
    Ok(ListEntry { files, home_files, list, value, home_value, schema, setting })
}

/// Reads the table `mention` of a kind.
pub(super) fn mention(entry: &TomlEntry<'_>) -> Result<Mention, TomlProblem> {
    let (mut usual, mut unless, mut intro, mut line) = (None, Vec::new(), None, None);
    let (mut is_loaded, mut setting) = (true, None);
    for entry in entry.table()?.entries() {
        match entry.key {
            "file" => usual = Some(file(&entry)?),
            "loaded" => {
                let problem = || entry.wrong("this is not `true` or `false`", "");
                is_loaded = entry.item.as_bool().ok_or_else(problem)?;
            }
            "unless" => unless = files(&entry)?,
            "intro" => intro = Some(self::line(&entry)?),
            "line" => line = Some(self::line(&entry)?),
            "setting" => setting = Some(self::setting(&entry)?),
            _ => return Err(entry.unknown(&MENTION_KEYS)),
        }
    }
    let (Some(file), Some(line)) = (usual, line) else {
        let help = "name the file, and the line for each output, with `{path}`";
        return Err(entry.wrong("it lacks `file` or `line`", help));
    };
    Ok(Mention { file, unless, intro, line, is_loaded, setting })
}

/// Reads the table `bridge`.
pub(super) fn bridge(entry: &TomlEntry<'_>) -> Result<Bridge, TomlProblem> {
    let (mut from, mut usual, mut others, mut text) = (None, None, Vec::new(), None);
    let mut setting = None;
    for entry in entry.table()?.entries() {
        match entry.key {
            "from" => from = Some(file(&entry)?),
            "file" => usual = Some(file(&entry)?),
            "or" => others = files(&entry)?,
            "text" => text = Some(line(&entry)?),
            "setting" => setting = Some(self::setting(&entry)?),
            _ => return Err(entry.unknown(&BRIDGE_KEYS)),
        }
    }
    let (Some(from), Some(usual), Some(text)) = (from, usual, text) else {
        let help = "name the file to be read, the file that is read, and what has to stand there";
        return Err(entry.wrong("it lacks `from`, `file` or `text`", help));
    };
    Ok(Bridge { from, files: SharedFiles { usual, others }, text, setting })
}

fn file(entry: &TomlEntry<'_>) -> Result<String, TomlProblem> {
    let text = entry.text()?;
    checked(entry, text)?;
    Ok(text.to_owned())
}

/// Reads a list of paths below the project.
pub(super) fn files(entry: &TomlEntry<'_>) -> Result<Vec<String>, TomlProblem> {
    let texts = entry.texts()?;
    texts.iter().try_for_each(|text| checked(entry, text))?;
    Ok(texts)
}

fn checked(entry: &TomlEntry<'_>, text: &str) -> Result<(), TomlProblem> {
    path::problem(text).map_or(Ok(()), |problem| {
        Err(entry.wrong(problem, "write a path like `client.json`, below the project"))
    })
}

fn line(entry: &TomlEntry<'_>) -> Result<String, TomlProblem> {
    let text = entry.text()?;
    if text.trim().is_empty() || text.contains(['\n', '\r']) {
        return Err(entry.wrong("this is no line", "write one line, such as `@{path}`"));
    }
    Ok(text.to_owned())
}

fn setting(entry: &TomlEntry<'_>) -> Result<String, TomlProblem> {
    let text = entry.text()?;
    let is_word = !text.is_empty()
        && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'));
    if !is_word || super::settings::KEYS.contains(&text) {
        let help = "use a-z, 0-9 and hyphens, and none of the keys that are there already";
        return Err(entry.wrong("this can be no key of `[install]`", help));
    }
    Ok(text.to_owned())
}
