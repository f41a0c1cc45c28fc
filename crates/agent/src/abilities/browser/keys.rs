//! Names of keys, as pages know them.

use serde_json::{Value, json};

/// A key that is pressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PressedKey {
    name: String,
    code: String,
    number: u32,
    /// The typed text; empty for keys that type nothing.
    text: String,
    modifiers: u32,
}

/// Names and numbers of keys that type nothing, a blank, or a control character. The name is also the code.
const NAMED: [(&str, u32, &str); 16] = [
    ("Enter", 13, "\r"),
    ("Tab", 9, "\t"),
    ("Escape", 27, ""),
    ("Backspace", 8, ""),
    ("Delete", 46, ""),
    ("Insert", 45, ""),
    ("ArrowLeft", 37, ""),
    ("ArrowUp", 38, ""),
    ("ArrowRight", 39, ""),
    ("ArrowDown", 40, ""),
    ("Home", 36, ""),
    ("End", 35, ""),
    ("PageUp", 33, ""),
    ("PageDown", 34, ""),
    ("Space", 32, " "),
    ("ContextMenu", 93, ""),
];

const MODIFIERS: [(&str, u32); 4] = [("Alt", 1), ("Control", 2), ("Meta", 4), ("Shift", 8)];

impl PressedKey {
    /// Parses `Enter`, `a`, `F5` or `Control+A`.
    pub(super) fn parse(written: &str) -> Option<PressedKey> {
        let mut modifiers = 0;
        let mut rest = written;
        while let Some((name, after)) = rest.split_once('+').filter(|(_, after)| !after.is_empty())
        {
            let known = MODIFIERS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
            modifiers |= known?.1;
            rest = after;
        }
        let key = |name: &str, code: String, number: u32, text: &str| {
            let types = modifiers & !8 == 0;
            let text = if types { text.to_owned() } else { String::new() };
            Some(PressedKey { name: name.to_owned(), code, number, text, modifiers })
        };
        let named = NAMED.into_iter().find(|(name, ..)| name.eq_ignore_ascii_case(rest));
        if let Some((code, number, text)) = named {
            let name = if code == "Space" { " " } else { code };
            return key(name, code.to_owned(), number, text);
        }
        let function = rest.strip_prefix(['F', 'f']).and_then(|number| number.parse::<u32>().ok());
        if let Some(number) = function.filter(|number| (1..=12).contains(number)) {
            let name = format!("F{number}");
            return key(&name, name.clone(), 111 + number, "");
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
        key(&letter.to_string(), code, number, &letter.to_string())
    }

    /// Returns the parameters of the two events: down and up.
    pub(super) fn key_events(&self) -> [Value; 2] {
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
        let enter = PressedKey::parse("enter").unwrap();
        assert_eq!((enter.name.as_str(), enter.number, enter.text.as_str()), ("Enter", 13, "\r"));
        let all = PressedKey::parse("Control+a").unwrap();
        assert_eq!((all.code.as_str(), all.modifiers, all.text.as_str()), ("KeyA", 2, ""));
        assert_eq!(PressedKey::parse("+").unwrap().text, "+");
        assert_eq!(PressedKey::parse("ä").unwrap().text, "ä");
        assert_eq!(PressedKey::parse("F12").unwrap().number, 123);
        assert_eq!(PressedKey::parse("Shift+Tab").unwrap().modifiers, 8);
        for none in ["", "Entr", "F13", "Ctrl+a", "ab", "\u{1}", "Control+"] {
            assert_eq!(PressedKey::parse(none), None, "{none}");
        }
    }
}
