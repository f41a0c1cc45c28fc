//! The parameters: values for `${name}`.

/// Parameters by name; the last of equal names counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parameters {
    values: Vec<(String, Vec<u8>)>,
}

/// Returns the name of a parameter in the environment of a command.
pub fn environment_name(parameter: &str) -> String {
    format!("BRIEF_PARAM_{parameter}")
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("failed to parse parameter '{text}': expected key=value")]
pub struct ParameterError {
    text: String,
}

impl Parameters {
    /// Adds a parameter as typed: `key=value`. The value is taken literally.
    pub fn add_text(&mut self, text: &[u8]) -> Result<(), ParameterError> {
        let error = || ParameterError { text: String::from_utf8_lossy(text).into_owned() };
        let at = memchr::memchr(b'=', text).ok_or_else(error)?;
        let key = str::from_utf8(&text[..at]).map_err(|_| error())?.trim();
        if key.is_empty() {
            return Err(error());
        }
        self.values.push((key.to_owned(), text[at + 1..].to_vec()));
        Ok(())
    }

    /// Returns the value for a name: an exact match, else one that differs in case only.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.find(name).map(|(_, value)| value)
    }

    /// Returns the parameter for a name, as given.
    pub(super) fn find(&self, name: &str) -> Option<(&str, &[u8])> {
        let mut named = self.values.iter().rev();
        let exact = named.find(|(key, _)| key == name);
        let lower = name.to_lowercase();
        let found =
            exact.or_else(|| self.values.iter().rev().find(|(key, _)| key.to_lowercase() == lower));
        found.map(|(key, value)| (key.as_str(), value.as_slice()))
    }

    /// Returns the names and values, as given.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.values.iter().map(|(key, value)| (key.as_str(), value.as_slice()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_taken_as_they_are() {
        let mut parameters = Parameters::default();
        for text in [
            "a=1",
            "a=2",
            "url=http://x/?a=1&b=2",
            "empty=",
            "quoted=\"x\"",
            "path=C:\\temp\\x",
            "B=upper",
        ] {
            parameters.add_text(text.as_bytes()).unwrap();
        }
        for (name, value) in [
            ("a", "2"),
            ("A", "2"),
            ("url", "http://x/?a=1&b=2"),
            ("empty", ""),
            ("quoted", "\"x\""),
            ("path", "C:\\temp\\x"),
            ("b", "upper"),
        ] {
            assert_eq!(parameters.get(name), Some(value.as_bytes()), "{name}");
        }
        assert_eq!(parameters.get("c"), None);
        for text in ["foo", "=v", " =v"] {
            assert!(parameters.add_text(text.as_bytes()).is_err(), "{text}");
        }
    }
}
