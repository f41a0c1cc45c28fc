//! Tables in a TOML file.
//!
//! The text is cut and joined where that is possible: a parser that writes the whole file anew would change its line
//! breaks. A table that its user has laid out in another way is left to the parser.

use std::fmt::Write as _;

use brief_dialects::portable::output::SharedEntry;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde_json::Value as Json;
use toml_edit::{DocumentMut, Item, Table};

use super::{EDITED, Merger};

/// Writes a table: its header, and a line for each field.
pub(crate) fn render_table(key: &str, name: &str, fields: &Json) -> String {
    let mut text = format!("[{key}.{}]\n", key_text(name));
    for (key, value) in fields.as_object().into_iter().flatten() {
        if let Some(value) = value_text(value) {
            let _ = writeln!(text, "{} = {value}", key_text(key));
        }
    }
    text
}

pub(super) fn merge_toml(merger: &mut Merger<'_>) -> Result<(), String> {
    merger.apply_edits("", |text| parse_document(text).map(drop), (set_entry, remove_entry))
}

/// Sets a table, unless the user has set it.
fn set_entry(
    merger: &mut Merger<'_>,
    text: &str,
    entry: &SharedEntry,
) -> Result<Option<String>, String> {
    let ours = OwnTable::from_entry(entry)?;
    let Some(present) = ours.find_present_value(text)? else {
        merger.merged.entries.push(entry.clone());
        return ours.append_to_text(text).map(Some);
    };
    let is_same = present == ours.value()?;
    let old = find_earlier_form(merger, &present, entry)?;
    let is_taken = merger.takes_over(entry, is_same, old.is_some());
    is_taken.then(|| ours.replace_in_text(text, old.as_ref())).transpose()
}

/// Removes a table of ours, if it is still there.
fn remove_entry(
    merger: &mut Merger<'_>,
    text: &str,
    entry: &SharedEntry,
) -> Result<Option<String>, String> {
    let ours = OwnTable::from_entry(entry)?;
    let Some(present) = ours.find_present_value(text)? else { return Ok(None) };
    match find_earlier_form(merger, &present, entry)? {
        Some(old) => ours.taken_out(text, &old).map(Some),
        None if merger.may_replace(entry, EDITED) => ours.rewrite_document(text, None).map(Some),
        None => Ok(None),
    }
}

/// Returns the earlier form of an entry that a value is.
fn find_earlier_form<'e>(
    merger: &Merger<'e>,
    present: &Json,
    entry: &SharedEntry,
) -> Result<Option<OwnTable<'e>>, String> {
    for before in merger.earlier_forms(entry) {
        let table = OwnTable::from_entry(before)?;
        if table.value()? == *present {
            return Ok(Some(table));
        }
    }
    Ok(None)
}

struct OwnTable<'e> {
    key: &'e str,
    name: &'e str,
    text: String,
}

impl<'e> OwnTable<'e> {
    fn from_entry(entry: &'e SharedEntry) -> Result<OwnTable<'e>, String> {
        let SharedEntry::Keyed { key, name, json } = entry else {
            return Err("brief writes only tables into a TOML file".to_owned());
        };
        let fields: Json = serde_json::from_str(json).map_err(|error| error.to_string())?;
        Ok(OwnTable { key, name, text: render_table(key, name, &fields) })
    }

    /// Returns the value of the table of that name in a file.
    fn find_present_value(&self, text: &str) -> Result<Option<Json>, String> {
        let document = parse_document(text)?;
        let Some(tables) = document.get(self.key) else { return Ok(None) };
        let tables = tables.as_table_like().ok_or_else(|| self.not_a_table())?;
        Ok(tables.get(self.name).map(to_json))
    }

    fn value(&self) -> Result<Json, String> {
        Ok(self.find_present_value(&self.text)?.unwrap_or_default())
    }

    fn not_a_table(&self) -> String {
        format!("`{}` is not a table", self.key)
    }

    /// Returns the table with the line breaks of a file.
    fn text_for(&self, file: &str) -> String {
        let is_windows = file.find('\n').is_some_and(|at| file[..at].ends_with('\r'));
        if is_windows { self.text.replace('\n', "\r\n") } else { self.text.clone() }
    }

    /// Returns the file with the table at its end. The line break before it goes with it.
    fn append_to_text(&self, text: &str) -> Result<String, String> {
        let own = self.text_for(text);
        let line_break = if own.ends_with("\r\n") { "\r\n" } else { "\n" };
        let between = if text.is_empty() { "" } else { line_break };
        let longer = format!("{text}{between}{own}");
        let is_there = || Some(self.find_present_value(&longer).ok()?? == self.value().ok()?);
        if is_there() == Some(true) {
            return Ok(longer);
        }
        // The user's tables stand in one line.
        self.rewrite_document(text, Some(&self.text))
    }

    /// Returns the file with the table in the place of an earlier one.
    fn replace_in_text(&self, text: &str, old: Option<&OwnTable<'_>>) -> Result<String, String> {
        match old.and_then(|old| old.find_range(text)) {
            Some((start, end)) => {
                Ok(format!("{}{}{}", &text[..start], self.text_for(text), &text[end..]))
            }
            None => self.rewrite_document(text, Some(&self.text)),
        }
    }

    /// Returns the file without an earlier form of the table.
    fn taken_out(&self, text: &str, old: &OwnTable<'_>) -> Result<String, String> {
        let Some((start, end)) = old.find_range(text) else {
            return self.rewrite_document(text, None);
        };
        let before = &text[..start];
        let before = before.strip_suffix('\n').unwrap_or(before);
        let before = before.strip_suffix('\r').unwrap_or(before);
        let after = &text[end..];
        // A table before it must not run into the one after it.
        let joins = !before.is_empty()
            && !after.is_empty()
            && !before.ends_with('\n')
            && !after.starts_with(['\r', '\n']);
        Ok(format!("{}{after}", if joins { &text[..start] } else { before }))
    }

    /// Returns the place of the table as we have written it; `None` if it is not there once.
    fn find_range(&self, text: &str) -> Option<(usize, usize)> {
        let own = self.text_for(text);
        let mut places = text.match_indices(&own).filter(|(at, _)| {
            let is_line = *at == 0 || text[..*at].ends_with('\n');
            let after = text[at + own.len()..].trim_start_matches(['\r', '\n']);
            is_line && (after.is_empty() || after.starts_with(['[', '#']))
        });
        let (start, _) = places.next()?;
        places.next().is_none().then(|| (start, start + own.len()))
    }

    /// Returns the file as the parser writes it, with another table, or without it.
    fn rewrite_document(&self, text: &str, table: Option<&str>) -> Result<String, String> {
        let mut document = parse_document(text)?;
        match table {
            Some(table) => {
                let mut table = parse_document(table)?[self.key][self.name].clone();
                let tables = document.entry(self.key).or_insert_with(|| {
                    let mut tables = Table::new();
                    tables.set_implicit(true);
                    Item::Table(tables)
                });
                if tables.is_value() {
                    table = table.into_value().map_or(Item::None, Item::Value);
                }
                let tables = tables.as_table_like_mut().ok_or_else(|| self.not_a_table())?;
                tables.insert(self.name, table);
            }
            None => {
                if let Some(tables) = document.get_mut(self.key).and_then(Item::as_table_like_mut) {
                    tables.remove(self.name);
                    if tables.is_empty() {
                        document.remove(self.key);
                    }
                }
            }
        }
        Ok(document.to_string())
    }
}

fn parse_document(text: &str) -> Result<DocumentMut, String> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        format!("is not TOML: {}", error.message().replace('\n', ", "))
    })
}

/// Returns a value without its place and layout.
pub(crate) fn to_json(item: &Item) -> Json {
    let value = item.clone().into_value().ok();
    value.and_then(|value| Json::deserialize(value.into_deserializer()).ok()).unwrap_or_default()
}

fn key_text(key: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !key.is_empty() && key.bytes().all(is_bare) { key.to_owned() } else { text_of(key) }
}

/// JSON's escapes are TOML's, except that TOML wants the delete character escaped too.
fn text_of(text: &str) -> String {
    Json::from(text).to_string().replace('\u{7f}', "\\u007f")
}

/// TOML has no word for nothing, so what is nothing is left out.
fn value_text(value: &Json) -> Option<String> {
    Some(match value {
        Json::Null => return None,
        Json::Bool(flag) => flag.to_string(),
        Json::Number(number) => number.to_string(),
        Json::String(text) => text_of(text),
        Json::Array(values) => {
            let values: Vec<String> = values.iter().filter_map(value_text).collect();
            format!("[{}]", values.join(", "))
        }
        Json::Object(fields) => {
            let field = |(key, value): (&String, &Json)| {
                Some(format!("{} = {}", key_text(key), value_text(value)?))
            };
            let fields: Vec<String> = fields.iter().filter_map(field).collect();
            if fields.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", fields.join(", ")) }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Ask, block, listed, new_file};
    use super::*;

    fn server(name: &str, json: &str) -> SharedEntry {
        let key = "mcp_servers".to_owned();
        SharedEntry::Keyed { key, name: name.to_owned(), json: json.to_owned() }
    }

    const FILES: &str = r#"{"command":"mcp-files","args":["--root","a \"b\""],"env":{"A":"1"}}"#;

    /// A table that is added and removed leaves the file as it was, byte for byte, whatever its line breaks and comments.
    #[test]
    fn what_is_put_into_toml_can_be_taken_out() {
        let (files, web) = (server("files", FILES), server("web", r#"{"url":"https://x.test"}"#));
        for text in [
            "",
            "model = \"o\"\n",
            "model = \"o\"",
            "# mine\r\nmodel = \"o\"\r\n\r\n[mcp_servers.db]\r\ncommand = \"db\" # theirs\r\n",
            "\u{feff}model = 'o' # x\n\n\n",
            "[mcp_servers]\n\n[mcp_servers.db]\ncommand = \"db\"\n[mcp_servers.db.env]\nA = \"1\"\n",
            "s = '''\n[mcp_servers.web]\nurl = \"https://x.test\"\n'''\n",
            "[a]\nb = 1\n# the end",
        ] {
            let wanted = [files.clone(), web.clone()];
            let added = Ask::toml(text).get(&wanted);
            assert_eq!((added.entries.as_slice(), added.kept.len()), (&wanted[..], 0), "{text}");
            let longer = added.text.unwrap();
            let document: toml_edit::DocumentMut =
                longer.trim_start_matches('\u{feff}').parse().unwrap();
            assert_eq!(document["mcp_servers"]["files"]["args"][1].as_str(), Some("a \"b\""));
            let again = Ask::toml(&longer).before(&wanted).get(&wanted);
            assert_eq!(again.text.as_deref(), Some(longer.as_str()), "{text}");
            // One by one, in either order.
            for (first, second) in [(&files, &web), (&web, &files)] {
                let one = Ask::toml(&longer).before(&wanted).get(std::slice::from_ref(first));
                let one = one.text.unwrap();
                assert!(
                    one.parse::<toml_edit::DocumentMut>().is_ok() || one.starts_with('\u{feff}')
                );
                let none = Ask::toml(&one).before(std::slice::from_ref(first)).get(&[]);
                let none = none.text.unwrap_or_default();
                assert_eq!(none, text, "{second:?}\n{one}");
            }
        }
        assert_eq!(
            new_file("a.toml", std::slice::from_ref(&files), None).entries,
            std::slice::from_ref(&files)
        );
        let alone = new_file("a.toml", std::slice::from_ref(&files), None).text.unwrap();
        assert_eq!(Ask::toml(&alone).before(&[files]).get(&[]).text, None);
    }

    /// A table belongs to its author; one of ours is replaced in its place, and one that was laid out anew is still ours.
    #[test]
    fn a_table_of_the_user_stays() {
        let (old, new) = (server("a", r#"{"command":"x"}"#), server("a", r#"{"command":"y"}"#));
        let theirs = "[mcp_servers.a]\ncommand = \"own\"\n";
        let merged = Ask::toml(theirs).get(std::slice::from_ref(&new));
        assert_eq!(merged.text.as_deref(), Some(theirs));
        assert_eq!(merged.kept, [("mcp_servers.a".to_owned(), super::super::FOREIGN)]);
        let merged = Ask::toml(theirs).before(std::slice::from_ref(&old)).get(&[]);
        assert_eq!(
            (merged.text.as_deref(), merged.kept[0].1),
            (Some(theirs), super::super::EDITED)
        );
        let forced = Ask::toml(theirs).forced().get(std::slice::from_ref(&new));
        assert_eq!(forced.text.as_deref(), Some("[mcp_servers.a]\ncommand = \"y\"\n"));

        let ours = "a = 1\n\n[mcp_servers.a]\ncommand = \"x\"\n\n[z]\nb = 2\n";
        let merged =
            Ask::toml(ours).before(std::slice::from_ref(&old)).get(std::slice::from_ref(&new));
        assert_eq!(merged.text.unwrap(), ours.replace("\"x\"", "\"y\""));
        let laid_out = "mcp_servers.a = { command = 'x' }\nz = 1 # mine\n";
        let merged = Ask::toml(laid_out).before(std::slice::from_ref(&old)).get(&[]);
        assert_eq!(merged.text.as_deref(), Some("z = 1 # mine\n"));
        let inline = "mcp_servers = { b = { command = \"b\" } }\n";
        let merged = Ask::toml(inline).get(std::slice::from_ref(&new)).text.unwrap();
        let document: toml_edit::DocumentMut = merged.parse().unwrap();
        assert_eq!(document["mcp_servers"]["a"]["command"].as_str(), Some("y"), "{merged}");
        for text in ["mcp_servers = 1\n", "= =", "[mcp_servers\n"] {
            assert!(Ask::toml(text).want(std::slice::from_ref(&new)).is_err(), "{text}");
        }
        let line = [block("x")];
        assert!(Ask::toml("").want(&line).is_err());
        assert!(Ask::toml("").want(&[listed()]).is_err());
    }
}
