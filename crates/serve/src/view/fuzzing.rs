//! Addresses with any letters, for [`crate::fuzzing`]: a link on any page can name one.

use super::address::PageAddress;

/// Reads an address. What is read has one address, which stays inside of the project.
pub(crate) fn fuzz_address(line: &str) {
    let (path, query) = line.split_once('?').unwrap_or((line, ""));
    let Some(found) = PageAddress::parse(path, query) else { return };
    if let PageAddress::File { path, .. } | PageAddress::Project { directory: path, .. } = &found {
        assert!(!path.split('/').any(|name| name == ".."), "{path}");
        assert!(!path.starts_with('/') && !path.contains('\0'), "{path}");
    }
    let (path, query) = found.path_and_query();
    assert!(path.is_ascii() && query.is_ascii(), "{path}?{query}");
    assert!(!path.contains([' ', '\n', '"', '<', '>']), "{path}");
    let again = PageAddress::parse(&path, &query).expect("an address that we write is one");
    assert_eq!(again.path_and_query(), (path, query));
    if !matches!(found, PageAddress::Item { .. }) {
        let name = found.export_file_name();
        assert!(name.is_ascii() && !name.contains(".."), "{name}");
    }
}
