//! The name of a host, in the one spelling that is compared.
//!
//! Programs that connect take many spellings for one host: capitals, a final dot, an address as one number, in hexadecimal or
//! octal, a long form of IPv6, letters of other scripts. What has no certain form is not guessed.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Returns the one spelling of a host, or of a pattern for hosts; `None` if it cannot be told which host it is.
pub(super) fn host_name(written: &str) -> Option<String> {
    let written = written.trim_end_matches('.');
    if let Some(inside) = written.strip_prefix('[') {
        let inside = inside.strip_suffix(']')?;
        return match inside.parse::<Ipv6Addr>() {
            Ok(address) => Some(match address.to_ipv4_mapped() {
                Some(address) => address.to_string(),
                None => format!("[{address}]"),
            }),
            // ssh takes brackets around a name, too.
            Err(_) if inside.contains([':', '[', ']']) => None,
            Err(_) => host_name(inside),
        };
    }
    if let Some(address) = number_of(written) {
        return Some(address.to_string());
    }
    let labels: Option<Vec<String>> = written.split('.').map(ascii_label).collect();
    labels.map(|labels| labels.join("."))
}

/// Reads an address as `inet_aton` does: one to four numbers, of which the last one fills the rest.
fn number_of(text: &str) -> Option<Ipv4Addr> {
    let numbers: Option<Vec<u32>> = text.split('.').map(read_number).collect();
    let numbers = numbers?;
    let (last, first) = numbers.split_last()?;
    if first.len() > 3 || first.iter().any(|number| *number > 255) {
        return None;
    }
    let room = 32 - 8 * u32::try_from(first.len()).ok()?;
    if u64::from(*last) >= 1 << room {
        return None;
    }
    let high = first.iter().enumerate().fold(0, |sum, (at, number)| sum | number << (24 - 8 * at));
    Some(Ipv4Addr::from_bits(high | last))
}

fn read_number(text: &str) -> Option<u32> {
    let (digits, base) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some("") => ("0", 16),
        Some(digits) => (digits, 16),
        None if text.len() > 1 && text.starts_with('0') => (text, 8),
        None => (text, 10),
    };
    if digits.starts_with('+') { None } else { u32::from_str_radix(digits, base).ok() }
}

/// Returns a label in the form of the domain name system, in lower case.
fn ascii_label(label: &str) -> Option<String> {
    let lower = label.to_lowercase();
    if lower.is_ascii() {
        return Some(lower);
    }
    // A label that is also a pattern has no form in ASCII.
    let is_plain = |letter: char| {
        letter.is_ascii_alphanumeric() || letter == '-' || is_letter_of_one_form(letter)
    };
    if !lower.chars().all(is_plain) {
        return None;
    }
    Some(format!("xn--{}", encode_punycode(&lower)?))
}

/// Returns whether a small letter has one spelling only: no width, ligature, mark or style makes another one of it.
fn is_letter_of_one_form(letter: char) -> bool {
    matches!(letter,
        'ß'..='ö' | 'ø'..='ÿ' | 'ā'..='ı' | 'ĵ'..='ľ' | 'ł'..='ň' | 'ŋ'..='ž' | 'ά'..='ώ' | 'а'..='џ' | 'ѡ'..='ҁ'
        | 'ҋ'..='ԯ' | 'א'..='ת' | 'ء'..='ي' | 'ก'..='ะ' | 'ぁ'..='ゖ' | 'ァ'..='ヺ' | 'ー' | '一'..='鿿' | '가'..='힣')
}

/// Encodes a label (RFC 3492).
fn encode_punycode(label: &str) -> Option<String> {
    const BASE: u32 = 36;
    const FIRST: u32 = 1;
    const LAST: u32 = 26;
    let digit = |value: u32| {
        char::from_digit(value, BASE).map(|digit| match value {
            // The letters come before the digits.
            0..26 => char::from(b'a' + u8::try_from(value).unwrap_or_default()),
            _ => char::from_digit(value - 26, 10).unwrap_or(digit),
        })
    };
    let mut encoded: String = label.chars().filter(char::is_ascii).collect();
    let basic = u32::try_from(encoded.len()).ok()?;
    if basic > 0 {
        encoded.push('-');
    }
    let (mut next, mut delta, mut bias, mut handled) = (128_u32, 0_u32, 72_u32, basic);
    let total = u32::try_from(label.chars().count()).ok()?;
    while handled < total {
        let least = label.chars().map(u32::from).filter(|code| *code >= next).min()?;
        delta = delta.checked_add((least - next).checked_mul(handled + 1)?)?;
        next = least;
        for code in label.chars().map(u32::from) {
            if code < next {
                delta = delta.checked_add(1)?;
            }
            if code != next {
                continue;
            }
            let (mut rest, mut at) = (delta, BASE);
            loop {
                let threshold = at.saturating_sub(bias).clamp(FIRST, LAST);
                if rest < threshold {
                    break;
                }
                encoded.push(digit(threshold + (rest - threshold) % (BASE - threshold))?);
                rest = (rest - threshold) / (BASE - threshold);
                at += BASE;
            }
            encoded.push(digit(rest)?);
            bias = adapt_bias(delta, handled + 1, handled == basic);
            delta = 0;
            handled += 1;
        }
        delta = delta.checked_add(1)?;
        next += 1;
    }
    Some(encoded)
}

/// Adapts the bias of the encoding.
fn adapt_bias(delta: u32, count: u32, is_first: bool) -> u32 {
    let mut delta = if is_first { delta / 700 } else { delta / 2 };
    delta += delta / count;
    let mut steps = 0;
    while delta > 455 {
        delta /= 35;
        steps += 36;
    }
    steps + 36 * delta / (delta + 38)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 3492, and names that are registered.
    #[test]
    fn names_of_other_scripts_have_their_registered_form() {
        for (written, registered) in [
            ("bücher.example", "xn--bcher-kva.example"),
            ("BÜCHER.Example.", "xn--bcher-kva.example"),
            ("münchen.de", "xn--mnchen-3ya.de"),
            ("例え.jp", "xn--r8jz45g.jp"),
            ("почемужеонинеговорятпорусски", "xn--b1abfaaepdrnnbgefbadotcwatmq2g4l"),
            ("他们为什么不说中文", "xn--ihqwcrb4cv8a8dqg056pqjye"),
            (
                "세계의모든사람들이한국어를이해한다면얼마나좋을까",
                "xn--989aomsvi5e83db1d2a355cv1e0vak1dwrv93d5xbh15a0dt30a5jpsd879ccm6fea98c",
            ),
            ("faß.de", "xn--fa-hia.de"),
            ("*.bücher.example", "*.xn--bcher-kva.example"),
        ] {
            assert_eq!(host_name(written).as_deref(), Some(registered), "{written}");
        }
        // Another program may take these for ASCII, or for another name.
        for unclear in [
            "ｇithub.com",
            "ⓖithub.com",
            "𝗀ithub.com",
            "bu\u{308}cher.example",
            "ﬁ.example",
            "ŀ.cat",
            "a。b",
            "*ü.example",
        ] {
            assert_eq!(host_name(unclear), None, "{unclear}");
        }
    }

    #[test]
    fn addresses_have_one_form() {
        for written in [
            "127.0.0.1",
            "127.1",
            "2130706433",
            "0x7f000001",
            "0177.0.0.1",
            "0x7f.1",
            "127.0.1",
            "127.0.0.1.",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "017700000001",
        ] {
            assert_eq!(host_name(written).as_deref(), Some("127.0.0.1"), "{written}");
        }
        for written in ["[::1]", "[0:0:0:0:0:0:0:1]", "[0000::0001]", "[::0.0.0.1]"] {
            assert_eq!(host_name(written).as_deref(), Some("[::1]"), "{written}");
        }
        for name in ["1.2.3.4.5", "256.1.1.1.example", "0xg.example", "4294967296", "1.+2", "a.1"] {
            assert_eq!(host_name(name).as_deref(), Some(name), "{name}");
        }
        assert_eq!(host_name("[GitHub.com]").as_deref(), Some("github.com"));
        assert_eq!(host_name("[::1%25lo]"), None);
    }
}
