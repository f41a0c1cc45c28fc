//! Expressions for the values that may stand in a place of a client's file.
//!
//! ```text
//! text · number · integer · boolean · list · table · any · null      the kinds of values; `empty` is a list without elements
//! 'auto' | 'manual' | true                                           values, and alternatives
//! integer 1.. · number >0 · text 1..64                               bounds: of a number, or of a text's length
//! list of text · map of text                                         what each element is
//! @server                                                            a table or a type with a name
//! #regex                                                             a form that code knows
//! ```

/// The values that may stand in a place.
#[derive(Debug, Clone, PartialEq)]
pub enum Expected {
    Any,
    Null,
    Text(Bounds),
    Number(Bounds),
    Integer(Bounds),
    Boolean,
    Literal(String),
    Flag(bool),
    List(Box<Expected>),
    EmptyList,
    /// A table with any keys.
    Map(Box<Expected>),
    /// The table or the type of that name.
    Named(String),
    /// A text of a form that code knows.
    Form(String),
    Either(Vec<Expected>),
}

/// The bounds of a number, or of the length of a text in characters.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bounds {
    pub least: Option<f64>,
    pub most: Option<f64>,
    /// True if it has to be more than `least`.
    pub is_above: bool,
}

impl Bounds {
    /// Returns whether a number lies within.
    pub fn contains(self, number: f64) -> bool {
        let is_enough = match self.least {
            Some(least) if self.is_above => number > least,
            Some(least) => number >= least,
            None => true,
        };
        is_enough && self.most.is_none_or(|most| number <= most)
    }

    fn parse(text: &str) -> Option<Bounds> {
        let number = |text: &str| match text {
            "" => Some(None),
            text => text.parse().ok().map(Some),
        };
        if let Some(least) = text.strip_prefix('>') {
            return Some(Bounds { least: number(least)?, most: None, is_above: true });
        }
        let (least, most) = text.split_once("..")?;
        Some(Bounds { least: number(least)?, most: number(most)?, is_above: false })
    }
}

impl Expected {
    pub fn parse(text: &str) -> Result<Expected, String> {
        let mut alternatives = Vec::new();
        for part in text.split('|') {
            alternatives.push(Expected::parse_alternative(part.trim())?);
        }
        match alternatives.len() {
            1 => Ok(alternatives.remove(0)),
            _ => Ok(Expected::Either(alternatives)),
        }
    }

    fn parse_alternative(text: &str) -> Result<Expected, String> {
        if let Some(of) = text.strip_prefix("list of ") {
            return Ok(Expected::List(Box::new(Expected::parse_alternative(of)?)));
        }
        if let Some(of) = text.strip_prefix("map of ") {
            return Ok(Expected::Map(Box::new(Expected::parse_alternative(of)?)));
        }
        if let Some(literal) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
            return Ok(Expected::Literal(literal.to_owned()));
        }
        if let Some(name) = text.strip_prefix('@') {
            return Ok(Expected::Named(name.to_owned()));
        }
        if let Some(form) = text.strip_prefix('#') {
            return Ok(Expected::Form(form.to_owned()));
        }
        let (word, bounds) = match text.split_once(' ') {
            Some((word, bounds)) => {
                (word, Bounds::parse(bounds).ok_or_else(|| format!("`{bounds}` is not a range"))?)
            }
            None => (text, Bounds::default()),
        };
        Ok(match word {
            "any" => Expected::Any,
            "null" => Expected::Null,
            "text" => Expected::Text(bounds),
            "number" => Expected::Number(bounds),
            "integer" => Expected::Integer(bounds),
            "boolean" => Expected::Boolean,
            "true" => Expected::Flag(true),
            "false" => Expected::Flag(false),
            "list" => Expected::List(Box::new(Expected::Any)),
            "empty" => Expected::EmptyList,
            "table" => Expected::Map(Box::new(Expected::Any)),
            other => return Err(format!("`{other}` is not a kind of value")),
        })
    }

    /// Returns the names of tables and types in it.
    pub fn names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        match self {
            Expected::Named(name) => Box::new(std::iter::once(name.as_str())),
            Expected::List(of) | Expected::Map(of) => of.names(),
            Expected::Either(all) => Box::new(all.iter().flat_map(Expected::names)),
            _ => Box::new(std::iter::empty()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Bounds, Expected};

    #[test]
    fn an_expression_is_read() {
        let seconds = Bounds { least: Some(0.0), most: None, is_above: true };
        assert_eq!(Expected::parse("number >0"), Ok(Expected::Number(seconds)));
        let name = Bounds { least: Some(1.0), most: Some(64.0), is_above: false };
        assert_eq!(Expected::parse("text 1..64"), Ok(Expected::Text(name)));
        let texts = Expected::List(Box::new(Expected::Text(Bounds::default())));
        let either = Expected::Either(vec![texts, Expected::Literal("all".to_owned())]);
        assert_eq!(Expected::parse("list of text | 'all'"), Ok(either));
        assert!(Expected::parse("txt").is_err());
        assert!(Expected::parse("text few").is_err());
    }

    #[test]
    fn bounds_hold() {
        let positive = Bounds { least: Some(0.0), most: None, is_above: true };
        assert!(positive.contains(0.5) && !positive.contains(0.0));
        let percent = Bounds { least: Some(0.0), most: Some(100.0), is_above: false };
        assert!(percent.contains(0.0) && percent.contains(100.0) && !percent.contains(101.0));
    }
}
