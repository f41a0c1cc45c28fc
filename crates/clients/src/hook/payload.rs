//! The fields of a hook's JSON that we use.
//!
//! A payload can be large (`Write` carries the whole file), so all other fields are skipped without being
//! stored, and a field with an unexpected type counts as absent.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Payload<'p> {
    #[serde(borrow, deserialize_with = "text")]
    pub(super) session_id: Option<Cow<'p, str>>,
    #[serde(borrow, deserialize_with = "text")]
    pub(super) agent_id: Option<Cow<'p, str>>,
    #[serde(borrow, deserialize_with = "text")]
    pub(super) hook_event_name: Option<Cow<'p, str>>,
    #[serde(borrow, deserialize_with = "text")]
    pub(super) tool_name: Option<Cow<'p, str>>,
    #[serde(borrow, deserialize_with = "text")]
    pub(super) cwd: Option<Cow<'p, str>>,
    #[serde(borrow, deserialize_with = "text")]
    pub(super) permission_mode: Option<Cow<'p, str>>,
    #[serde(borrow)]
    pub(super) tool_input: PayloadFields<'p>,
    #[serde(borrow)]
    pub(super) tool_response: PayloadFields<'p>,
    /// The client's own name, or the reason why a conversation starts. Some clients use this field and
    /// those below.
    #[serde(borrow, deserialize_with = "text")]
    pub(super) source: Option<Cow<'p, str>>,
    #[serde(borrow, deserialize_with = "text")]
    pub(super) event: Option<Cow<'p, str>>,
    #[serde(borrow)]
    pub(super) input: PayloadFields<'p>,
    pub(super) include_decisions: PayloadFlag,
}

/// The texts of a tool's input or response that tell what it touches.
#[derive(Debug, Default)]
pub(super) struct PayloadFields<'p> {
    /// The texts that were there, in the order of [`KEYS`].
    texts: [Option<Cow<'p, str>>; KEYS.len()],
}

/// The keys of the texts that are kept. All others are skipped: one of them is the content of a file.
const KEYS: [&str; 6] = ["file_path", "notebook_path", "path", "command", "input", "type"];

impl PayloadFields<'_> {
    /// Returns the text with this key.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        let index = KEYS.iter().position(|known| *known == key)?;
        self.texts[index].as_deref()
    }
}

/// A boolean; every other value is `false`.
#[derive(Debug, Default)]
pub(super) struct PayloadFlag(pub(super) bool);

fn text<'de: 'p, 'p, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Cow<'p, str>>, D::Error> {
    Ok(match deserializer.deserialize_any(Any)? {
        Scalar::Text(text) => Some(text),
        Scalar::Flag(_) | Scalar::Other => None,
    })
}

impl<'de> Deserialize<'de> for PayloadFlag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(PayloadFlag(matches!(deserializer.deserialize_any(Any)?, Scalar::Flag(true))))
    }
}

/// A value of which only texts and booleans matter.
enum Scalar<'p> {
    Text(Cow<'p, str>),
    Flag(bool),
    Other,
}

impl<'de: 'p, 'p> Deserialize<'de> for Scalar<'p> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any)
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Scalar<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_string<E>(self, text: String) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Text(Cow::Owned(text)))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Flag(flag))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Other)
    }

    fn visit_unit<E>(self) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Scalar<'de>, A::Error> {
        while sequence.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scalar<'de>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other)
    }
}

impl<'de: 'p, 'p> Deserialize<'de> for PayloadFields<'p> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = PayloadFields<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PayloadFields<'de>, A::Error> {
        let mut fields = PayloadFields::default();
        while let Some(Scalar::Text(key)) = map.next_key::<Scalar<'de>>()? {
            let Some(index) = KEYS.iter().position(|known| *known == key) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            fields.texts[index] = match map.next_value::<Scalar<'de>>()? {
                Scalar::Text(text) => Some(text),
                Scalar::Flag(_) | Scalar::Other => None,
            };
        }
        Ok(fields)
    }

    fn visit_str<E>(self, _: &str) -> Result<PayloadFields<'de>, E> {
        Ok(PayloadFields::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<PayloadFields<'de>, E> {
        Ok(PayloadFields::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<PayloadFields<'de>, E> {
        Ok(PayloadFields::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<PayloadFields<'de>, E> {
        Ok(PayloadFields::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<PayloadFields<'de>, E> {
        Ok(PayloadFields::default())
    }

    fn visit_unit<E>(self) -> Result<PayloadFields<'de>, E> {
        Ok(PayloadFields::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<PayloadFields<'de>, A::Error> {
        while sequence.next_element::<IgnoredAny>()?.is_some() {}
        Ok(PayloadFields::default())
    }
}
