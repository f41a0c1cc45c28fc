//! The tables of checks that are built in, each parsed when it is first needed.

use std::sync::OnceLock;

use crate::checks::ClientChecks;

/// The tables as the build script writes them: a line with a name and paths, each after a tab, and a line of JSON.
static TABLES: &str = include_str!(concat!(env!("OUT_DIR"), "/checks"));

/// The checks of one client, parsed on demand.
#[derive(Debug)]
pub struct CheckSheet {
    /// The name of the client on our command line; `standard` for the open standard of skills.
    pub client: &'static str,
    /// The places of its files.
    pub paths: Vec<&'static str>,
    json: &'static str,
    parsed: OnceLock<Option<ClientChecks>>,
}

impl CheckSheet {
    /// Returns the sheets of all clients that have one.
    pub fn all_sheets() -> &'static [CheckSheet] {
        static ALL: OnceLock<Vec<CheckSheet>> = OnceLock::new();
        ALL.get_or_init(|| {
            let mut lines = TABLES.lines();
            let mut sheets = Vec::new();
            while let (Some(head), Some(json)) = (lines.next(), lines.next()) {
                let mut words = head.split('\t');
                let client = words.next().unwrap_or_default();
                let parsed = OnceLock::new();
                sheets.push(CheckSheet { client, paths: words.collect(), json, parsed });
            }
            sheets
        })
    }

    pub fn checks(&self) -> Option<&ClientChecks> {
        self.parsed.get_or_init(|| serde_json::from_str(self.json).ok()).as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::CheckSheet;

    #[test]
    fn every_sheet_is_read_and_names_its_client() {
        for sheet in CheckSheet::all_sheets() {
            let checks = sheet.checks().expect(sheet.client);
            assert!(!checks.files.is_empty(), "{}", sheet.client);
            let is_known = crate::BUILTIN.find_client(sheet.client).is_some();
            assert!(is_known || sheet.client == "standard", "{}", sheet.client);
        }
    }
}
