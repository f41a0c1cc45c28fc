//! The addresses of pages: a link for every state, the same way forth and back.
//!
//! All links are relative, so that a page can lie behind a token, or in a directory on disk.

use std::collections::{BTreeMap, BTreeSet};

use brief_engine::{Action, Timing};
use brief_registry::fleet::FleetState;
use brief_syntax::markdown::decoded_destination;
use brief_syntax::text::percent_encoded;
use brief_system::hash::sha256;

/// The days of receipts, unless the address says otherwise.
pub(super) const DAYS: u64 = 30;

/// The question of a page about a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct FileQuestion {
    /// The clients beside each other; those of the project if there are none.
    pub(super) clients: Vec<String>,
    pub(super) action: Option<Action>,
    pub(super) timing: Option<Timing>,
    /// The client whose briefing is shown as its model gets it.
    pub(super) reader: Option<String>,
}

/// The address of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PageAddress {
    /// The project, or a directory of it, `/`-separated below the root.
    Project {
        directory: String,
        page: usize,
    },
    /// A file; a directory ends with a `/`.
    File {
        path: String,
        question: FileQuestion,
    },
    /// An item, by its identity, with the commits of its file or without: a long history takes git its time.
    Item {
        id: String,
        has_history: bool,
    },
    Matrix {
        page: usize,
    },
    /// The difference between two revisions; without a second one, from the first to the working tree.
    Change {
        from: String,
        to: String,
    },
    /// The receipts of some days, about anything or about a word.
    Sessions {
        days: u64,
        about: String,
        page: usize,
    },
    Registry,
    /// The repositories of a fleet, in one state or in any.
    Fleet {
        state: Option<FleetState>,
        page: usize,
    },
    /// The items with some words.
    Search {
        query: String,
        page: usize,
    },
}

impl PageAddress {
    pub(super) fn first_page() -> PageAddress {
        PageAddress::Project { directory: String::new(), page: 1 }
    }

    pub(super) fn directory(path: &str) -> PageAddress {
        PageAddress::Project { directory: path.to_owned(), page: 1 }
    }

    pub(super) fn file(path: &str) -> PageAddress {
        PageAddress::File { path: path.to_owned(), question: FileQuestion::default() }
    }

    pub(super) fn item(id: &str) -> PageAddress {
        PageAddress::Item { id: id.to_owned(), has_history: false }
    }

    /// Reads an address: the path after the token, and the query. `None` if there is no such page.
    pub(super) fn parse(path: &str, query: &str) -> Option<PageAddress> {
        let fields = QueryFields::parse(query);
        let (kind, rest) = path.split_once('/').unwrap_or((path, ""));
        let rest = decoded_destination(rest);
        let is_plain = !rest.contains(['\0', char::REPLACEMENT_CHARACTER]);
        let rest = is_plain.then_some(rest)?;
        let page = fields.number_value("page").unwrap_or(1).max(1);
        Some(match (kind, rest.as_str()) {
            ("", "") => PageAddress::Project { directory: String::new(), page },
            ("directory", directory) if !directory.is_empty() && is_inside(directory) => {
                PageAddress::Project { directory: directory.trim_end_matches('/').to_owned(), page }
            }
            ("file", path) if is_inside(path) => {
                let question = FileQuestion {
                    clients: fields.all_values("client"),
                    action: fields.first_value("on").and_then(parse_action),
                    timing: fields.first_value("when").and_then(parse_timing),
                    reader: fields.first_value("as").map(str::to_owned),
                };
                PageAddress::File { path: path.to_owned(), question }
            }
            ("item", id) if !id.is_empty() => PageAddress::Item {
                id: id.to_owned(),
                has_history: fields.first_value("history") == Some("shown"),
            },
            ("matrix", "") => PageAddress::Matrix { page },
            ("change", "") => PageAddress::Change {
                from: fields.text_value("from").unwrap_or("HEAD").to_owned(),
                to: fields.text_value("to").unwrap_or_default().to_owned(),
            },
            ("sessions", "") => PageAddress::Sessions {
                days: fields.number_value("days").map_or(DAYS, |days| days as u64),
                about: fields.text_value("about").unwrap_or_default().to_owned(),
                page,
            },
            ("registry", "") => PageAddress::Registry,
            ("fleet", "") => {
                let state = fields.first_value("state").and_then(fleet_state);
                PageAddress::Fleet { state, page }
            }
            ("search", "") => {
                let query = fields.text_value("q").unwrap_or_default().to_owned();
                PageAddress::Search { query, page }
            }
            _ => return None,
        })
    }

    /// Returns the part of a long list that the page shows, from 1.
    fn page_number(&self) -> usize {
        match self {
            PageAddress::Project { page, .. }
            | PageAddress::Matrix { page }
            | PageAddress::Sessions { page, .. }
            | PageAddress::Fleet { page, .. }
            | PageAddress::Search { page, .. } => *page,
            _ => 1,
        }
    }

    /// Returns the path and the query of the address.
    pub(super) fn path_and_query(&self) -> (String, String) {
        let mut fields = Vec::new();
        // A field that says what the page does anyway is left out.
        let mut add = |name: &str, value: Option<&str>| {
            let value = value.filter(|value| !value.is_empty());
            fields.extend(value.map(|value| format!("{name}={}", encoded_field(value))));
        };
        let path = match self {
            PageAddress::Project { directory, .. } if directory.is_empty() => String::new(),
            PageAddress::Project { directory, .. } => {
                format!("directory/{}", percent_encoded(directory))
            }
            PageAddress::File { path, question } => {
                question.clients.iter().for_each(|client| add("client", Some(client)));
                add("on", question.action.map(Action::as_str));
                add("when", question.timing.map(Timing::as_str));
                add("as", question.reader.as_deref());
                format!("file/{}", percent_encoded(path))
            }
            PageAddress::Item { id, has_history } => {
                add("history", has_history.then_some("shown"));
                format!("item/{}", percent_encoded(id))
            }
            PageAddress::Matrix { .. } => "matrix".to_owned(),
            PageAddress::Change { from, to } => {
                add("from", Some(from));
                add("to", Some(to));
                "change".to_owned()
            }
            PageAddress::Sessions { days, about, .. } => {
                add("days", (*days != DAYS).then(|| days.to_string()).as_deref());
                add("about", Some(about));
                "sessions".to_owned()
            }
            PageAddress::Registry => "registry".to_owned(),
            PageAddress::Fleet { state, .. } => {
                add("state", state.map(FleetState::as_str));
                "fleet".to_owned()
            }
            PageAddress::Search { query, .. } => {
                add("q", Some(query));
                "search".to_owned()
            }
        };
        add("page", (self.page_number() > 1).then(|| self.page_number().to_string()).as_deref());
        (path, fields.join("&"))
    }

    /// Returns the name of the page's file in an export. Names of the project's files are hashed: not every system has
    /// every name.
    pub(super) fn export_file_name(&self) -> String {
        let name = match self {
            PageAddress::Project { directory, .. } if directory.is_empty() => "index".to_owned(),
            PageAddress::Project { directory, .. } => {
                format!("directory/{}", short_hash(directory))
            }
            PageAddress::File { path, .. } => format!("file/{}", short_hash(path)),
            PageAddress::Item { id, .. } => format!("item/{id}"),
            PageAddress::Matrix { .. } => "matrix".to_owned(),
            PageAddress::Change { .. } => "change".to_owned(),
            PageAddress::Sessions { .. } => "sessions".to_owned(),
            PageAddress::Registry => "registry".to_owned(),
            PageAddress::Fleet { state, .. } => {
                format!("fleet/{}", state.map_or("all", FleetState::as_str))
            }
            PageAddress::Search { .. } => "search".to_owned(),
        };
        match self.page_number() {
            1 => format!("{name}.html"),
            part => format!("{name}-{part}.html"),
        }
    }
}

/// Returns the beginning of a text's hash.
pub(super) fn short_hash(text: &str) -> String {
    sha256(text.as_bytes()).chars().take(12).collect()
}

/// Returns whether a path has only names, none of which leads up.
fn is_inside(path: &str) -> bool {
    let path = path.strip_suffix('/').filter(|path| !path.is_empty()).unwrap_or(path);
    path.is_empty() || path.split('/').all(|name| !matches!(name, "" | "." | ".."))
}

fn parse_action(word: &str) -> Option<Action> {
    [Action::Read, Action::Edit, Action::Create].into_iter().find(|one| one.as_str() == word)
}

fn fleet_state(word: &str) -> Option<FleetState> {
    FleetState::ALL.into_iter().find(|state| state.as_str() == word)
}

fn parse_timing(word: &str) -> Option<Timing> {
    [Timing::Before, Timing::After].into_iter().find(|one| one.as_str() == word)
}

fn encoded_field(value: &str) -> String {
    // A field of a query has no `/` in the eyes of a form.
    percent_encoded(value).replace('/', "%2F")
}

struct QueryFields(BTreeMap<String, Vec<String>>);

impl QueryFields {
    fn parse(query: &str) -> QueryFields {
        let mut fields: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let decoded = |text: &str| decoded_destination(&text.replace('+', " "));
            fields.entry(decoded(name)).or_default().push(decoded(value));
        }
        QueryFields(fields)
    }

    fn first_value(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.first().map(String::as_str)
    }

    /// Returns a field that is not empty.
    fn text_value(&self, name: &str) -> Option<&str> {
        self.first_value(name).map(str::trim).filter(|text| !text.is_empty())
    }

    fn all_values(&self, name: &str) -> Vec<String> {
        let mut all = self.0.get(name).cloned().unwrap_or_default();
        all.retain(|value| !value.is_empty());
        all.dedup();
        all
    }

    fn number_value(&self, name: &str) -> Option<usize> {
        self.first_value(name)?.parse().ok()
    }
}

/// The form of links between pages.
#[derive(Debug, Clone)]
pub(super) enum LinkForm<'j> {
    /// By a server, which knows every page.
    Served,
    /// As files; these are there.
    Exported(&'j BTreeSet<String>),
}

/// The links of one page to others.
#[derive(Debug, Clone)]
pub(super) struct PageLinks<'j> {
    form: LinkForm<'j>,
    depth: usize,
}

impl<'j> PageLinks<'j> {
    /// Returns the links of the page at `address`.
    pub(super) fn from_address(address: &PageAddress, form: LinkForm<'j>) -> PageLinks<'j> {
        let path = match form {
            LinkForm::Served => address.path_and_query().0,
            LinkForm::Exported(_) => address.export_file_name(),
        };
        PageLinks { form, depth: path.matches('/').count() }
    }

    /// Returns the links of a page that was asked for at a path without a page.
    pub(super) fn from_path(path: &str) -> PageLinks<'static> {
        PageLinks { form: LinkForm::Served, depth: path.matches('/').count() }
    }

    /// Returns whether pages are served, and so may ask and change.
    pub(super) fn is_served(&self) -> bool {
        matches!(self.form, LinkForm::Served)
    }

    /// Returns the address of a file beside the pages, such as the style sheet.
    pub(super) fn link_to_file(&self, name: &str) -> String {
        format!("{}{name}", "../".repeat(self.depth))
    }

    /// Returns the way to a page; `None` if it is not there.
    pub(super) fn link_to_page(&self, address: &PageAddress) -> Option<String> {
        match self.form {
            LinkForm::Served => {
                let (path, query) = address.path_and_query();
                let way = match self.link_to_file(&path) {
                    way if way.is_empty() => "./".to_owned(),
                    way => way,
                };
                Some(if query.is_empty() { way } else { format!("{way}?{query}") })
            }
            LinkForm::Exported(there) => {
                let path = address.export_file_name();
                there.contains(&path).then(|| self.link_to_file(&path))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_kind() -> Vec<PageAddress> {
        let question = FileQuestion {
            clients: vec!["claude".into(), "cursor".into()],
            action: Some(Action::Edit),
            timing: Some(Timing::After),
            reader: Some("claude".into()),
        };
        vec![
            PageAddress::first_page(),
            PageAddress::Project { directory: "a b/ü?#%".into(), page: 3 },
            PageAddress::File { path: "a&b/c=d+e.rs".into(), question },
            PageAddress::file("src/"),
            PageAddress::file(""),
            PageAddress::item("0123456789ab"),
            PageAddress::Item { id: "0123456789ab".into(), has_history: true },
            PageAddress::Matrix { page: 2 },
            PageAddress::Change { from: "main".into(), to: "feature/x".into() },
            PageAddress::Change { from: "HEAD".into(), to: String::new() },
            PageAddress::Sessions { days: 7, about: "a b&c".into(), page: 1 },
            PageAddress::Registry,
            PageAddress::Fleet { state: None, page: 3 },
            PageAddress::Fleet { state: Some(FleetState::OverBudget), page: 1 },
            PageAddress::Search { query: "tests & \"more\" + <b>".into(), page: 2 },
        ]
    }

    #[test]
    fn an_address_is_read_as_it_was_written() {
        for address in every_kind() {
            let (path, query) = address.path_and_query();
            assert_eq!(
                PageAddress::parse(&path, &query).as_ref(),
                Some(&address),
                "{path}?{query}"
            );
        }
    }

    #[test]
    fn no_address_leads_out_of_the_project() {
        for path in [
            "file/../x",
            "file/%2e%2e/x",
            "file/a//b",
            "file//etc/passwd",
            "file/a/..%2f..",
            "directory/..",
            "directory/a/./b",
            "file/%00",
            "file/%ff",
            "nothing",
            "matrix/x",
        ] {
            assert_eq!(PageAddress::parse(path, ""), None, "{path}");
        }
    }

    #[test]
    fn links_are_relative() {
        let links = PageLinks::from_address(&PageAddress::file("src/a.rs"), LinkForm::Served);
        assert_eq!(links.link_to_page(&PageAddress::first_page()).as_deref(), Some("../../"));
        assert_eq!(links.link_to_page(&PageAddress::Registry).as_deref(), Some("../../registry"));
        let top = PageLinks::from_address(&PageAddress::first_page(), LinkForm::Served);
        assert_eq!(top.link_to_page(&PageAddress::first_page()).as_deref(), Some("./"));
        let there = BTreeSet::from(["index.html".to_owned()]);
        let item = PageLinks::from_address(&PageAddress::item("ab"), LinkForm::Exported(&there));
        assert_eq!(item.link_to_page(&PageAddress::first_page()).as_deref(), Some("../index.html"));
        assert_eq!(item.link_to_page(&PageAddress::Registry), None);
    }
}
