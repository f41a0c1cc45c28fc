//! A fleet as a table: a row for each item of each repository, with the same columns and types in every format.

use std::borrow::Cow;

use brief_registry::fleet::{FleetItem, FleetMember, FleetSource, Judgment};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::FleetReport;

/// A value of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum FleetCell<'f> {
    Text(Option<Cow<'f, str>>),
    /// True, false or not known.
    Flag(Option<bool>),
    /// A number, or not known.
    Number(Option<usize>),
}

/// The columns of the table, in their order.
const COLUMNS: [&str; 20] = [
    "repository",
    "commit",
    "states",
    "guidance",
    "tokens",
    "over_budget",
    "kind",
    "item",
    "version",
    "sha256",
    "source",
    "place",
    "ref",
    "locked",
    "signer",
    "unsigned",
    "behind",
    "drifted",
    "owners",
    "problem",
];

/// A row of a table: an item of a repository, or a repository without items.
pub struct FleetRow<'f> {
    /// The values, in the order of the columns.
    cells: [FleetCell<'f>; COLUMNS.len()],
}

impl Serialize for FleetRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.cells.len()))?;
        for (name, cell) in COLUMNS.iter().zip(&self.cells) {
            map.serialize_entry(name, cell)?;
        }
        map.end()
    }
}

impl FleetRow<'_> {
    /// Returns the line for a program that reads one JSON object per line.
    pub fn json_line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the names of the columns as a line of CSV.
    pub fn csv_header() -> String {
        COLUMNS.join(",")
    }

    /// Returns the line of CSV (RFC 4180). A text that a table program would take for a formula begins with an apostrophe.
    pub fn csv_line(&self) -> String {
        let fields = self.cells.iter().map(|cell| match cell {
            FleetCell::Text(text) => quote_cell(text.as_deref().unwrap_or_default()),
            FleetCell::Flag(flag) => flag.map_or(String::new(), |flag| flag.to_string()),
            FleetCell::Number(number) => number.map_or(String::new(), |number| number.to_string()),
        });
        fields.collect::<Vec<_>>().join(",")
    }
}

fn quote_cell(text: &str) -> String {
    let text = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        format!("'{text}")
    } else {
        text.to_owned()
    };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

impl FleetReport {
    /// Returns the rows, by repository and item. A repository without items is one row.
    pub fn rows(&self) -> impl Iterator<Item = FleetRow<'_>> {
        self.members().iter().flat_map(move |(member, judged)| {
            let numbers: Vec<Option<usize>> = match member.facts.items.len() {
                0 => vec![None],
                count => (0..count).map(Some).collect(),
            };
            numbers.into_iter().map(move |number| self.build_row(member, judged, number))
        })
    }

    fn build_row<'f>(
        &'f self,
        member: &'f FleetMember,
        judged: &'f Judgment,
        number: Option<usize>,
    ) -> FleetRow<'f> {
        let facts = &member.facts;
        let item: Option<&FleetItem> = number.and_then(|number| facts.items.get(number));
        let source = item.and_then(|item| facts.find_source(&item.source));
        let text = |text: Option<&'f str>| FleetCell::Text(text.map(Cow::Borrowed));
        let states: Vec<&str> = judged.states.iter().map(|state| state.as_str()).collect();
        let owned = |text: String| FleetCell::Text(Some(Cow::Owned(text)));
        FleetRow {
            cells: [
                owned(self.member_name(member)),
                text(member.commit.as_deref()),
                owned(states.join(" ")),
                FleetCell::Flag(Some(facts.has_guidance)),
                FleetCell::Number(facts.tokens),
                FleetCell::Flag(judged.is_over_budget),
                text(item.map(|item| item.kind.as_str())),
                text(item.map(|item| item.name.as_str())),
                text(item.and_then(|item| item.version.as_deref())),
                text(item.map(|item| item.sha256.as_str())),
                text(item.map(|item| item.source.as_str())),
                text(source.map(|source| source.address.as_str())),
                text(source.and_then(|source| source.reference.as_deref())),
                text(source.and_then(|source| source.commit.as_deref())),
                text(source.and_then(|source| source.signer.as_deref())),
                FleetCell::Flag(source.map(FleetSource::is_unsigned)),
                FleetCell::Flag(number.and_then(|number| *judged.items.get(number)?)),
                FleetCell::Flag(item.map(|item| item.is_drifted)),
                owned(facts.owners.join(" ")),
                text(member.problem.as_deref()),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::quote_cell;

    #[test]
    fn a_field_is_quoted_as_the_document_says() {
        for (given, expected) in [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("two\nlines", "\"two\nlines\""),
            ("=1+1", "'=1+1"),
            ("@x,y", "\"'@x,y\""),
        ] {
            assert_eq!(quote_cell(given), expected);
        }
    }
}
