//! The index of a remote folder: a JSON list of names, or a page of links as web servers make it.

use brief_syntax::limits;
use brief_syntax::markdown::decoded_destination;
use serde_json::Value;

/// The longest name of a file.
const LONGEST: usize = 255;

/// The names in an index.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct FolderIndex {
    /// The names of command files, sorted.
    pub(crate) names: Vec<String>,
    /// Entries that do not name a file in the folder.
    pub(crate) problems: Vec<String>,
}

impl FolderIndex {
    /// Reads an index of the folder at `path`, the part of its address after the host.
    pub(crate) fn parse(text: &str, path: &str) -> Result<FolderIndex, String> {
        let mut index = FolderIndex::default();
        match text.trim_start().chars().next() {
            Some('[') => index.read_json(text)?,
            Some('{') => return Err("its index is a JSON object, not a list of names".to_owned()),
            _ => index.read_links(text, path),
        }
        index.names.sort();
        index.names.dedup();
        if index.names.len() > limits::AGENT_COMMANDS {
            let most = limits::AGENT_COMMANDS;
            return Err(format!("its index has {} commands, more than {most}", index.names.len()));
        }
        Ok(index)
    }

    /// Reads names, or objects with a name as nginx writes them.
    fn read_json(&mut self, text: &str) -> Result<(), String> {
        let entries: Vec<Value> = serde_json::from_str(text)
            .map_err(|error| format!("its index is not a JSON list: {error}"))?;
        for entry in &entries {
            let is_directory = entry["type"] == "directory";
            match entry.as_str().or_else(|| entry["name"].as_str()) {
                Some(name) if !is_directory => self.add_name(name),
                Some(_) => {}
                None => self.problems.push("an entry of its index is not a name".to_owned()),
            }
        }
        Ok(())
    }

    fn read_links(&mut self, text: &str, path: &str) {
        for link in LinkAddresses(text) {
            let link = link.split(['?', '#']).next().unwrap_or_default();
            // The whole path of a file in the folder is as good as its name.
            let link = link.strip_prefix("./").or_else(|| link.strip_prefix(path)).unwrap_or(link);
            let has_scheme = link.split('/').next().is_some_and(|first| first.contains(':'));
            // A page has other links, too; only what looks like a command is judged.
            if !has_scheme && link.strip_suffix(".md").is_some() {
                self.add_name(&decoded_destination(link));
            }
        }
    }

    /// Adds a name of a command; leaves out files of other kinds, as in a folder on disk.
    fn add_name(&mut self, name: &str) {
        let is_hidden = name.starts_with('.') && !name.contains('/');
        if is_hidden || name.strip_suffix(".md").is_none() {
            return;
        }
        let is_plain = !name.contains(['/', '\\']) && !name.chars().any(char::is_control);
        if is_plain && name.len() <= LONGEST {
            self.names.push(name.to_owned());
        } else if self.problems.len() < limits::PROBLEMS_PER_FILE {
            let shown: String = name.chars().take(100).collect();
            self.problems
                .push(format!("`{}` is not the name of a file in it", shown.escape_debug()));
        }
    }
}

/// The addresses of the links of a page, with entities decoded.
struct LinkAddresses<'t>(&'t str);

impl Iterator for LinkAddresses<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        loop {
            let start = self.0.find('<')?;
            let rest = &self.0[start + 1..];
            if let Some(comment) = rest.strip_prefix("!--") {
                self.0 = comment.split_once("-->").map_or("", |(_, after)| after);
                continue;
            }
            let end = tag_end(rest);
            let tag = &rest[..end];
            self.0 = &rest[end..];
            let is_link = tag.get(..2).is_some_and(|start| {
                start.starts_with(['a', 'A'])
                    && start.ends_with(|letter: char| letter.is_ascii_whitespace())
            });
            if let Some(address) = is_link.then(|| find_attribute(tag, "href")).flatten() {
                return Some(decode_entities(address));
            }
        }
    }
}

/// Returns the length of a tag up to its `>`, which quoted values may contain.
fn tag_end(tag: &str) -> usize {
    let mut quote = None;
    for (place, letter) in tag.char_indices() {
        match (quote, letter) {
            (None, '>') => return place,
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), letter) if open == letter => quote = None,
            _ => {}
        }
    }
    tag.len()
}

/// Returns the value of an attribute of a tag.
fn find_attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let mut rest = tag.split_once(|letter: char| letter.is_ascii_whitespace())?.1;
    loop {
        rest = rest.trim_start();
        let end = rest
            .find(|letter: char| letter == '=' || letter.is_ascii_whitespace())
            .unwrap_or(rest.len());
        let (found, after) = rest.split_at(end);
        if rest.is_empty() {
            return None;
        }
        let Some(value) = after.trim_start().strip_prefix('=') else {
            // A lone `=` is no attribute, and has to be passed.
            rest = if end == 0 { after.get(1..)? } else { after };
            continue;
        };
        let value = value.trim_start();
        let (value, after) = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => value[1..].split_once(quote).unwrap_or((&value[1..], "")),
            _ => {
                let end =
                    value.find(|letter: char| letter.is_ascii_whitespace()).unwrap_or(value.len());
                value.split_at(end)
            }
        };
        if found.eq_ignore_ascii_case(name) {
            return Some(value);
        }
        rest = after;
    }
}

/// Replaces the entities that servers write into addresses.
fn decode_entities(text: &str) -> String {
    let mut whole = text.to_owned();
    for (entity, letter) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&#x27;", "'"),
        ("&amp;", "&"),
    ] {
        whole = whole.replace(entity, letter);
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let index = FolderIndex::parse(text, "/commands/").unwrap();
        assert_eq!(index.problems, Vec::<String>::new(), "{text}");
        index.names
    }

    /// As Python 3.11 writes it.
    const PYTHON: &str = "<!DOCTYPE HTML>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
        <title>Directory listing for /commands/</title>\n</head>\n<body>\n<h1>Directory listing for /commands/</h1>\n\
        <hr>\n<ul>\n<li><a href=\"a%20b%26c.md\">a b&amp;c.md</a></li>\n<li><a href=\"sub/\">sub/</a></li>\n\
        <li><a href=\"test.md\">test.md</a></li>\n<li><a href=\"x.txt\">x.txt</a></li>\n</ul>\n<hr>\n</body>\n</html>\n";

    /// As nginx 1.22 writes it.
    const NGINX: &str = "<html>\r\n<head><title>Index of /commands/</title></head>\r\n<body>\r\n\
        <h1>Index of /commands/</h1><hr><pre><a href=\"../\">../</a>\r\n<a href=\"sub/\">sub/</a>  17-Nov-2026 12:00  -\r\n\
        <a href=\"a%20b%26c.md\">a b&amp;c.md</a>  17-Nov-2026 12:00  5\r\n<a href=\"test.md\">test.md</a>  17-Nov-2026  5\r\n\
        </pre><hr></body>\r\n</html>\r\n";

    #[test]
    fn pages_of_servers_name_their_files() {
        assert_eq!(names(PYTHON), ["a b&c.md", "test.md"]);
        assert_eq!(names(NGINX), ["a b&c.md", "test.md"]);
        let apache = "<a href=\"?C=N;O=D\">Name</a><A HREF='/commands/z.md'>z</A><a class=x href=y.md>y</a>\
            <!-- <a href=\"no.md\"> --><abbr href=\"no.md\"></abbr><a href=\"https://other.example/o.md\">o</a><a name=x>";
        assert_eq!(names(apache), ["y.md", "z.md"]);
        assert_eq!(names(""), Vec::<String>::new());
    }

    #[test]
    fn lists_of_names_are_names_or_objects() {
        assert_eq!(
            names("[\"b.md\", \"a.md\", \"a.md\", \"x.txt\", \".hidden.md\", \".md\"]"),
            ["a.md", "b.md"]
        );
        let nginx = "[{\"name\": \"sub.md\", \"type\": \"directory\"}, {\"name\": \"a.md\", \"type\": \"file\", \"size\": 1}]";
        assert_eq!(names(nginx), ["a.md"]);
        for wrong in ["{\"names\": []}", "[\"a.md\"", "[1"] {
            assert!(FolderIndex::parse(wrong, "/").is_err(), "{wrong}");
        }
    }

    #[test]
    fn names_that_climb_are_problems_and_others_stay() {
        for text in [
            "[\"../a.md\", \"ok.md\", 1, null, \"x/../../a.md\", \"/etc/a.md\", \"a\\\\b.md\", \"a\\u0000.md\"]",
            "<a href='../a.md'><a href='ok.md'><a href='%2e%2e%2fa.md'><a href='/other/a.md'><a href='x/a.md'>\
             <a href='//other.example/a.md'><a href='%00.md'>",
        ] {
            let index = FolderIndex::parse(text, "/commands/").unwrap();
            assert_eq!(index.names, ["ok.md"], "{text}");
            assert!(index.problems.len() >= 5, "{index:?}");
        }
        let long = format!("[\"{}.md\"]", "x".repeat(300));
        assert_eq!(FolderIndex::parse(&long, "/").unwrap().problems.len(), 1);
    }

    #[test]
    fn ten_thousand_names_are_too_many() {
        let names: Vec<String> = (0..10_000).map(|number| format!("\"c{number}.md\"")).collect();
        let error = FolderIndex::parse(&format!("[{}]", names.join(",")), "/").unwrap_err();
        assert_eq!(error, "its index has 10000 commands, more than 1000");
    }
}
