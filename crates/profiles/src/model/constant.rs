//! Texts and lists that are constants of the program or were read at run time.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Deserializer};

/// A text that is a constant or was read.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(from = "String")]
pub struct Text(Cow<'static, str>);

pub const fn text(constant: &'static str) -> Text {
    Text(Cow::Borrowed(constant))
}

impl From<String> for Text {
    fn from(read: String) -> Text {
        Text(Cow::Owned(read))
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self)
    }
}

/// Prints the call that makes it: the build script writes constants with it.
impl fmt::Debug for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "text({:?})", self.0)
    }
}

/// A list that is a constant or was read. A file may leave its key out, which means an empty list.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "Option<Vec<T>>", bound = "T: Clone + Deserialize<'de>")]
pub struct List<T: Clone + 'static>(Cow<'static, [T]>);

pub const fn list<T: Clone>(constant: &'static [T]) -> List<T> {
    List(Cow::Borrowed(constant))
}

impl<T: Clone> From<Option<Vec<T>>> for List<T> {
    fn from(read: Option<Vec<T>>) -> List<T> {
        read.unwrap_or_default().into()
    }
}

impl<T: Clone> From<Vec<T>> for List<T> {
    fn from(read: Vec<T>) -> List<T> {
        List(Cow::Owned(read))
    }
}

/// Reads a list whose key a file must have.
pub(crate) fn required<'de, D, T>(deserializer: D) -> Result<List<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Clone + Deserialize<'de>,
{
    Vec::deserialize(deserializer).map(List::from)
}

impl<T: Clone> Default for List<T> {
    fn default() -> List<T> {
        list(&[])
    }
}

impl<T: Clone> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'l, T: Clone> IntoIterator for &'l List<T> {
    type Item = &'l T;
    type IntoIter = std::slice::Iter<'l, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

/// Prints the call that makes it: the build script writes constants with it.
impl<T: Clone + fmt::Debug> fmt::Debug for List<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("list(const { &")?;
        formatter.debug_list().entries(self).finish()?;
        formatter.write_str(" })")
    }
}

impl List<Text> {
    /// Returns whether a text is in the list.
    pub fn contains_text(&self, wanted: &str) -> bool {
        self.iter().any(|text| **text == *wanted)
    }
}
