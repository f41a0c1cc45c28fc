//! The part of a project's `brief.toml` that concerns this format.

use toml_edit::{DocumentMut, Item};

/// The name of the configuration file.
pub const FILE_NAME: &str = "brief.toml";

/// Returns the clients of a configuration: the tables in `[clients]`. Invalid TOML has none; the
/// reader of the whole file reports it.
pub fn client_names(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let Ok(document) = text.parse::<DocumentMut>() else { return Vec::new() };
    let clients = document.get("clients").and_then(Item::as_table_like);
    let names = clients.into_iter().flat_map(|clients| clients.iter());
    names.map(|(name, _)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::client_names;

    #[test]
    fn tables_of_clients_are_clients() {
        assert_eq!(client_names(b"[clients.cursor]\nname = \"Cursor\"\n"), ["cursor"]);
        assert_eq!(client_names(b"[build]\nout = \"x\"\n"), [""; 0]);
        assert_eq!(client_names(b"not toml ["), [""; 0]);
    }
}
