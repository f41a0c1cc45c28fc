//! Names of keys, as pages know them.

use serde_json::{Value, json};

/// A key that is pressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    name: String,
    code: String,
    number: u32,
    /// The typed text; empty for keys that type nothing.
    text: String,
    modifiers: u32,
}

/// Names, code and number of keys that type nothing, or a control character.
const NAMED: [(&str, &str, u32, &str); 16] = [
    ("Enter", "Enter", 13, "\r"),
    ("Tab", "Tab", 9, "\t"),
    ("Escape", "Escape", 27, ""),
    ("Backspace", "Backspace", 8, ""),
    ("Delete", "Delete", 46, ""),
    ("Insert", "Insert", 45, ""),
    ("ArrowLeft", "ArrowLeft", 37, ""),
    ("ArrowUp", "ArrowUp", 38, ""),
    ("ArrowRight", "ArrowRight", 39, ""),
    ("ArrowDown", "ArrowDown", 40, ""),
    ("Home", "Home", 36, ""),
    ("End", "End", 35, ""),
    ("PageUp", "PageUp", 33, ""),
    ("PageDown", "PageDown", 34, ""),
    ("Space", "Space", 32, " "),
    ("ContextMenu", "ContextMenu", 93, ""),
];

const MODIFIERS: [(&str, u32); 4] = [("Alt", 1), ("Control", 2), ("Meta", 4), ("Shift", 8)];

impl Key {
    /// Parses `Enter`, `a`, `F5` or `Control+A`.
    pub(super) fn parse(written: &str) -> Option<Key> {
        let mut modifiers = 0;
        let mut rest = written;
        while let Some((name, after)) = rest.split_once('+').filter(|(_, after)| !after.is_empty())
        {
            let known = MODIFIERS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
            modifiers |= known?.1;
            rest = after;
        }
        let types = modifiers & !8 == 0;
        if let Some((name, code, number, text)) =
            NAMED.iter().find(|(name, ..)| name.eq_ignore_ascii_case(rest))
        {
            let key = if *name == "Space" { " " } else { *name };
            let text = if types { (*text).to_owned() } else { String::new() };
            return Some(Key {
                name: key.to_owned(),
                code: (*code).to_owned(),
                number: *number,
                text,
                modifiers,
            });
        }
        let function = rest.strip_prefix(['F', 'f']).and_then(|number| number.parse::<u32>().ok());
        if let Some(number) = function.filter(|number| (1..=12).contains(number)) {
            let name = format!("F{number}");
            return Some(Key {
                name: name.clone(),
                code: name,
                number: 111 + number,
                text: String::new(),
                modifiers,
            });
        }
        let mut letters = rest.chars();
        let letter = letters.next().filter(|letter| !letter.is_control())?;
        if letters.next().is_some() {
            return None;
        }
        let upper = letter.to_ascii_uppercase();
        let code = match upper {
            'A'..='Z' => format!("Key{upper}"),
            '0'..='9' => format!("Digit{upper}"),
            _ => String::new(),
        };
        let number = if upper.is_ascii_alphanumeric() { u32::from(upper) } else { 0 };
        let text = if types { letter.to_string() } else { String::new() };
        Some(Key { name: letter.to_string(), code, number, text, modifiers })
    }

    /// Returns the parameters of the two events: down and up.
    pub(super) fn events(&self) -> [Value; 2] {
        let event = |kind: &str| {
            json!({
                "type": kind, "key": self.name, "code": self.code, "modifiers": self.modifiers,
                "windowsVirtualKeyCode": self.number, "nativeVirtualKeyCode": self.number,
            })
        };
        let mut down = event(if self.text.is_empty() { "rawKeyDown" } else { "keyDown" });
        if !self.text.is_empty() {
            down["text"] = json!(self.text);
        }
        // Without it, a browser on some systems takes `Control+A` for a key of the page only.
        if self.modifiers == 2 && self.code == "KeyA" {
            down["commands"] = json!(["selectAll"]);
        }
        [down, event("keyUp")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_names_and_modifiers() {
        let enter = Key::parse("enter").unwrap();
        assert_eq!((enter.name.as_str(), enter.number, enter.text.as_str()), ("Enter", 13, "\r"));
        let all = Key::parse("Control+a").unwrap();
        assert_eq!((all.code.as_str(), all.modifiers, all.text.as_str()), ("KeyA", 2, ""));
        assert_eq!(Key::parse("+").unwrap().text, "+");
        assert_eq!(Key::parse("ä").unwrap().text, "ä");
        assert_eq!(Key::parse("F12").unwrap().number, 123);
        assert_eq!(Key::parse("Shift+Tab").unwrap().modifiers, 8);
        for none in ["", "Entr", "F13", "Ctrl+a", "ab", "\u{1}", "Control+"] {
            assert_eq!(Key::parse(none), None, "{none}");
        }
    }
}
