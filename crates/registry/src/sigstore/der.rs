//! Values in DER, one after the other. The crate `der` reads and writes them; certificates and timestamps are taken apart
//! here, because the part of them that is signed is needed byte for byte.

use der::asn1::{AnyRef, GeneralizedTime, UtcTime};
use der::{Decode, Encode, Reader, SliceReader, Tag};

pub(super) const INTEGER: u8 = 0x02;
pub(super) const BIT_STRING: u8 = 0x03;
pub(super) const OCTET_STRING: u8 = 0x04;
pub(super) const OBJECT: u8 = 0x06;
pub(super) const UTF8_STRING: u8 = 0x0c;
pub(super) const UTC_TIME: u8 = 0x17;
pub(super) const TIME: u8 = 0x18;
pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const SET: u8 = 0x31;

/// The tag of a field with a number of its own.
pub(super) const fn field_tag(number: u8) -> u8 {
    0xa0 | number
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Value<'d> {
    pub(super) tag: u8,
    pub(super) content: &'d [u8],
    /// The content with its tag and length.
    pub(super) whole: &'d [u8],
}

impl<'d> Value<'d> {
    /// Reads bytes that are one value of this kind, and nothing else.
    pub(super) fn parse_single(bytes: &'d [u8], tag: u8) -> Option<Value<'d>> {
        let mut rest = Values(bytes);
        let value = rest.next_tagged(tag)?;
        rest.0.is_empty().then_some(value)
    }

    /// Returns the values in it.
    pub(super) fn values(self) -> Values<'d> {
        Values(self.content)
    }
}

/// Values that follow each other.
#[derive(Debug, Clone)]
pub(super) struct Values<'d>(pub(super) &'d [u8]);

impl<'d> Values<'d> {
    /// Takes the next value if it is of this kind.
    pub(super) fn next_tagged(&mut self, tag: u8) -> Option<Value<'d>> {
        let mut rest = self.clone();
        let value = rest.next().filter(|value| value.tag == tag)?;
        *self = rest;
        Some(value)
    }
}

impl<'d> Iterator for Values<'d> {
    type Item = Value<'d>;

    /// Takes the next value; `None` at the end and where the bytes are not DER.
    fn next(&mut self) -> Option<Value<'d>> {
        let whole = SliceReader::new(self.0).ok()?.tlv_bytes().ok()?;
        let content = AnyRef::try_from(whole).ok()?.value();
        let tag = *whole.first()?;
        self.0 = self.0.get(whole.len()..)?;
        Some(Value { tag, content, whole })
    }
}

pub(super) fn encode_value(tag: u8, content: &[u8]) -> Option<Vec<u8>> {
    AnyRef::new(Tag::from_der(&[tag]).ok()?, content).ok()?.to_der().ok()
}

/// Reads a time as seconds since 1970. Parts of a second, which RFC 3161 allows, are left out.
pub(super) fn parse_seconds(value: Value<'_>) -> Option<i64> {
    let whole = match value.content.split(|byte| *byte == b'.').collect::<Vec<_>>()[..] {
        [whole, parts] if value.tag == TIME && parts.ends_with(b"Z") => [whole, b"Z"].concat(),
        _ => value.content.to_vec(),
    };
    let any = AnyRef::new(Tag::from_der(&[value.tag]).ok()?, &whole).ok()?;
    let since = match value.tag {
        UTC_TIME => any.decode_as::<UtcTime>().ok()?.to_unix_duration(),
        TIME => any.decode_as::<GeneralizedTime>().ok()?.to_unix_duration(),
        _ => return None,
    };
    i64::try_from(since.as_secs()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_one_form() {
        for length in [0, 1, 0x7f, 0x80, 0xff, 0x100, 0xffff, 0x1_0000] {
            let bytes = encode_value(OCTET_STRING, &vec![7; length]).unwrap();
            assert_eq!(Value::parse_single(&bytes, OCTET_STRING).unwrap().content.len(), length);
        }
        for wrong in [&[0x04, 0x81, 0x01, 0][..], &[0x04, 0x82, 0, 0x80], &[0x04, 0x80], &[0x04, 2]]
        {
            assert_eq!(Values(wrong).next(), None, "{wrong:?}");
        }
    }

    #[test]
    fn times() {
        let read =
            |tag, text: &str| parse_seconds(Value { tag, content: text.as_bytes(), whole: &[] });
        assert_eq!(read(UTC_TIME, "231114221320Z"), Some(1_700_000_000));
        assert_eq!(read(TIME, "20231114221320.123Z"), Some(1_700_000_000));
        assert_eq!(read(UTC_TIME, "700101000000Z"), Some(0));
        for wrong in ["231114221320", "231314221320Z", "2311142213Z", "+31114221320Z", ""] {
            assert_eq!(read(UTC_TIME, wrong), None, "{wrong}");
        }
    }
}
