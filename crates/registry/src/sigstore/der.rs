//! A reader of DER, as far as certificates and timestamps need it (X.690, definite lengths in their shortest form).

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
pub(super) const fn field(number: u8) -> u8 {
    0xa0 | number
}

/// One value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Value<'d> {
    pub(super) tag: u8,
    pub(super) content: &'d [u8],
    /// The content with its tag and length.
    pub(super) whole: &'d [u8],
}

impl<'d> Value<'d> {
    /// Reads bytes that are one value of this kind, and nothing else.
    pub(super) fn only(bytes: &'d [u8], tag: u8) -> Option<Value<'d>> {
        let mut rest = Values(bytes);
        let value = rest.one(tag)?;
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
    pub(super) fn one(&mut self, tag: u8) -> Option<Value<'d>> {
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
        let (&tag, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first()?;
        // Tags of several bytes do not occur here.
        if tag & 0x1f == 0x1f {
            return None;
        }
        let (length, rest) = match first {
            0..=0x7f => (usize::from(first), rest),
            0x81..=0x84 => {
                let (digits, rest) = rest.split_at_checked(usize::from(first - 0x80))?;
                let length = digits.iter().fold(0, |sum, digit| sum << 8 | usize::from(*digit));
                let is_short = length >= 0x80 && digits.first() != Some(&0);
                (is_short.then_some(length)?, rest)
            }
            _ => return None,
        };
        let (content, after) = rest.split_at_checked(length)?;
        let whole = self.0.get(..self.0.len() - after.len())?;
        self.0 = after;
        Some(Value { tag, content, whole })
    }
}

/// Writes a value.
pub(super) fn encoded(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len();
    let mut bytes = vec![tag];
    match u8::try_from(length) {
        Ok(short @ 0..=0x7f) => bytes.push(short),
        _ => {
            let digits = length.to_be_bytes();
            let skipped = digits.iter().take_while(|digit| **digit == 0).count();
            bytes.push(0x80 | u8::try_from(digits.len() - skipped).unwrap_or(8));
            bytes.extend(&digits[skipped..]);
        }
    }
    bytes.extend_from_slice(content);
    bytes
}

/// Reads a time as seconds since 1970: `YYMMDDHHMMSSZ`, or with four digits of the year and parts of a second.
pub(super) fn seconds(value: Value<'_>) -> Option<i64> {
    let text = std::str::from_utf8(value.content).ok()?.strip_suffix('Z')?;
    let text = match value.tag {
        UTC_TIME => {
            // RFC 5280: 50 and above belong to the last century.
            let century = if text.get(..2)? < "50" { "20" } else { "19" };
            format!("{century}{text}")
        }
        TIME => text.split_once('.').map_or(text, |(whole, _)| whole).to_owned(),
        _ => return None,
    };
    if text.len() != 14 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let written = format!(
        "{}-{}-{}T{}:{}:{}Z",
        &text[..4],
        &text[4..6],
        &text[6..8],
        &text[8..10],
        &text[10..12],
        &text[12..]
    );
    let time = humantime::parse_rfc3339(&written).ok()?;
    let since = time.duration_since(std::time::SystemTime::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_secs()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_one_form() {
        for length in [0, 1, 0x7f, 0x80, 0xff, 0x100, 0xffff, 0x1_0000] {
            let bytes = encoded(OCTET_STRING, &vec![7; length]);
            assert_eq!(Value::only(&bytes, OCTET_STRING).unwrap().content.len(), length);
        }
        for wrong in [&[0x04, 0x81, 0x01, 0][..], &[0x04, 0x82, 0, 0x80], &[0x04, 0x80], &[0x04, 2]]
        {
            assert_eq!(Values(wrong).next(), None, "{wrong:?}");
        }
    }

    #[test]
    fn times() {
        let read = |tag, text: &str| seconds(Value { tag, content: text.as_bytes(), whole: &[] });
        assert_eq!(read(UTC_TIME, "231114221320Z"), Some(1_700_000_000));
        assert_eq!(read(TIME, "20231114221320.123Z"), Some(1_700_000_000));
        assert_eq!(read(UTC_TIME, "700101000000Z"), Some(0));
        for wrong in ["231114221320", "231314221320Z", "2311142213Z", "+31114221320Z", ""] {
            assert_eq!(read(UTC_TIME, wrong), None, "{wrong}");
        }
    }
}
