//! Requests of a program for more than the text for the model.
//!
//! A client that gets structured content shows that to its model instead of the text, and cuts it. So the JSON comes only to
//! programs that ask for it, and without what was left out unless they want that, too.

use serde_json::{Map, Value as Json};

/// The name of the argument that asks for JSON.
pub(super) const JSON: &str = "json";

/// The name of the argument that asks for what was left out.
pub(super) const LEFT_OUT: &str = "skipped";

/// The request of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct JsonWish {
    is_wanted: bool,
    has_left_out: bool,
}

impl JsonWish {
    /// Takes the arguments about the JSON out of those of a call. The error is a message.
    pub(super) fn take_arguments(arguments: &mut Map<String, Json>) -> Result<JsonWish, String> {
        let mut flag = |name: &str| match arguments.shift_remove(name) {
            None | Some(Json::Null) => Ok(false),
            Some(Json::Bool(flag)) => Ok(flag),
            Some(_) => Err(format!("`{name}` must be `true` or `false`")),
        };
        Ok(JsonWish { is_wanted: flag(JSON)?, has_left_out: flag(LEFT_OUT)? })
    }

    /// Returns the JSON that was asked for.
    pub(super) fn filter_json(self, mut json: Json) -> Option<Json> {
        if let Some(list) = json.get_mut(LEFT_OUT).filter(|_| !self.has_left_out) {
            *list = Json::Array(Vec::new());
        }
        self.is_wanted.then_some(json)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(arguments: &Json) -> Option<Json> {
        let Json::Object(mut arguments) = arguments.clone() else { panic!("an object") };
        let wish = JsonWish::take_arguments(&mut arguments).unwrap();
        assert_eq!(Json::Object(arguments), json!({"path": "a"}));
        wish.filter_json(json!({"items": [1], "skipped": [2, 3]}))
    }

    /// L06: models get the text; the JSON is for programs that ask for it, and is small.
    #[test]
    fn the_json_is_for_those_who_ask() {
        assert_eq!(asked(&json!({"path": "a"})), None);
        assert_eq!(asked(&json!({"path": "a", "skipped": true})), None);
        let short = json!({"items": [1], "skipped": []});
        assert_eq!(asked(&json!({"path": "a", "json": true})), Some(short));
        let whole = json!({"items": [1], "skipped": [2, 3]});
        assert_eq!(asked(&json!({"path": "a", "json": true, "skipped": true})), Some(whole));
        let Json::Object(mut wrong) = json!({"json": 1}) else { panic!("an object") };
        assert!(JsonWish::take_arguments(&mut wrong).is_err());
    }
}
