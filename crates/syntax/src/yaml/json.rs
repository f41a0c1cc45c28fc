//! A YAML tree as JSON, by the core schema of YAML 1.2.

use serde::ser::{Serialize, Serializer};

use super::{Node, Value};

impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.value() {
            Value::Null | Value::Broken(_) => serializer.serialize_unit(),
            Value::Scalar(text) if self.is_plain() => serialize_plain(text, serializer),
            Value::Scalar(text) => serializer.serialize_str(text),
            Value::Sequence(list) => serializer.collect_seq(list.iter()),
            Value::Mapping(mapping) => {
                let fields = mapping.effective_fields().into_iter();
                serializer.collect_map(fields.map(|field| (field.name(), field.value)))
            }
        }
    }
}

/// Serializes an unquoted word: a boolean, a number, or text.
fn serialize_plain<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    match text {
        "true" | "True" | "TRUE" => return serializer.serialize_bool(true),
        "false" | "False" | "FALSE" => return serializer.serialize_bool(false),
        _ => {}
    }
    let begins_number =
        text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first));
    let of_base = |prefix: &str, base| {
        text.strip_prefix(prefix).and_then(|digits| u64::from_str_radix(digits, base).ok())
    };
    if !begins_number {
        return serializer.serialize_str(text);
    }
    if let Ok(number) = text.parse::<i64>() {
        return serializer.serialize_i64(number);
    }
    if let Some(number) = of_base("0x", 16).or_else(|| of_base("0o", 8)) {
        return serializer.serialize_u64(number);
    }
    let is_number = |character: char| character.is_ascii_digit() || "+-.eE".contains(character);
    match text.parse::<f64>() {
        // JSON has no infinity, which Rust parses.
        Ok(number) if number.is_finite() && text.chars().all(is_number) => {
            serializer.serialize_f64(number)
        }
        _ => serializer.serialize_str(text),
    }
}

#[cfg(test)]
mod tests {
    use crate::yaml::Yaml;

    #[test]
    fn plain_words_have_types_and_quoted_ones_are_text() {
        let yaml = Yaml::parse(
            "a: 1\nb: '1'\nc: true\nd: yes\ne: ~\nf: [1.5, 1e3, 0x1f, .inf, 1.2.3, -a, +7]\ng: {k: v}\n",
        );
        let json = serde_json::to_string(&yaml.root().unwrap()).unwrap();
        assert_eq!(
            json,
            r#"{"a":1,"b":"1","c":true,"d":"yes","e":null,"f":[1.5,1000.0,31,".inf","1.2.3","-a",7],"g":{"k":"v"}}"#
        );
    }
}
