//! Certificates: what they say, and whether an authority vouches for them.
//!
//! The chain is checked by `webpki`, which the program has for TLS. It does not tell the names and the issuer of an
//! identity, and knows no certificate transparency, so these are read here.

use std::time::Duration;

use rustls_pki_types::{CertificateDer, SignatureVerificationAlgorithm, UnixTime};
use webpki::{EndEntityCert, KeyUsage, anchor_from_trusted_cert};

use super::der::{
    BIT_STRING, INTEGER, OBJECT, OCTET_STRING, SEQUENCE, UTF8_STRING, Value, encode_value,
    field_tag, parse_seconds,
};
use super::key::{HashKind, PublicKey};

/// The purposes of a certificate (RFC 5280).
pub(super) const CODE_SIGNING: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x03];
pub(super) const TIME_STAMPING: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x08];

const NAMES: &[u8] = &[0x55, 0x1d, 0x11];

/// The issuer of an identity, as Fulcio writes it: 1.3.6.1.4.1.57264.1.8, and the older 1.3.6.1.4.1.57264.1.1.
const ISSUER: &[u8] = &[0x2b, 0x06, 0x01, 0x04, 0x01, 0x83, 0xbf, 0x30, 0x01, 0x08];
const OLD_ISSUER: &[u8] = &[0x2b, 0x06, 0x01, 0x04, 0x01, 0x83, 0xbf, 0x30, 0x01, 0x01];

/// The kind of a name that is neither an address nor a URI: 1.3.6.1.4.1.57264.1.7.
const OTHER_NAME: &[u8] = &[0x2b, 0x06, 0x01, 0x04, 0x01, 0x83, 0xbf, 0x30, 0x01, 0x07];

/// The timestamps of certificate transparency (RFC 6962).
const TRANSPARENCY: &[u8] = &[0x2b, 0x06, 0x01, 0x04, 0x01, 0xd6, 0x79, 0x02, 0x04, 0x02];

static ALGORITHMS: &[&dyn SignatureVerificationAlgorithm] = &[
    webpki::ring::ECDSA_P256_SHA256,
    webpki::ring::ECDSA_P256_SHA384,
    webpki::ring::ECDSA_P384_SHA256,
    webpki::ring::ECDSA_P384_SHA384,
    webpki::ring::ED25519,
    webpki::ring::RSA_PKCS1_2048_8192_SHA256,
    webpki::ring::RSA_PKCS1_2048_8192_SHA384,
    webpki::ring::RSA_PKCS1_2048_8192_SHA512,
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Certificate {
    pub(super) der: Vec<u8>,
    pub(super) key: Option<PublicKey>,
    /// The first and the last second.
    pub(super) valid: (i64, i64),
    pub(super) issuer: Vec<u8>,
    pub(super) subject: Vec<u8>,
    key_der: Vec<u8>,
    extensions: Vec<(Vec<u8>, Vec<u8>)>,
    /// The part that is signed, without the timestamps of certificate transparency.
    before_logged: Vec<u8>,
}

/// A timestamp of certificate transparency.
pub(super) struct Logged<'c> {
    pub(super) log: &'c [u8],
    pub(super) milliseconds: u64,
    extensions: &'c [u8],
    signature: &'c [u8],
}

impl Certificate {
    /// Reads a certificate in DER.
    pub(crate) fn parse_der(der: &[u8]) -> Option<Certificate> {
        let mut parts = Value::parse_single(der, SEQUENCE)?.values();
        let signed = parts.next_tagged(SEQUENCE)?;
        parts.next_tagged(SEQUENCE)?;
        parts.next_tagged(BIT_STRING)?;
        let mut rest = signed.values();
        rest.next_tagged(field_tag(0));
        rest.next_tagged(INTEGER)?;
        rest.next_tagged(SEQUENCE)?;
        let issuer = rest.next_tagged(SEQUENCE)?.whole.to_owned();
        let mut valid = rest.next_tagged(SEQUENCE)?.values();
        let valid = (parse_seconds(valid.next()?)?, parse_seconds(valid.next()?)?);
        let subject = rest.next_tagged(SEQUENCE)?.whole.to_owned();
        let key = rest.next_tagged(SEQUENCE)?.whole;
        rest.next_tagged(0x81);
        rest.next_tagged(0x82);
        let head = &signed.content[..signed.content.len() - rest.0.len()];
        let (mut extensions, mut kept) = (Vec::new(), Vec::new());
        if let Some(list) = rest.next_tagged(field_tag(3)) {
            for extension in Value::parse_single(list.content, SEQUENCE)?.values() {
                let mut parts = Value::parse_single(extension.whole, SEQUENCE)?.values();
                let name = parts.next_tagged(OBJECT)?.content;
                parts.next_tagged(0x01);
                let content = parts.next_tagged(OCTET_STRING)?.content;
                if name != TRANSPARENCY {
                    kept.extend_from_slice(extension.whole);
                }
                extensions.push((name.to_owned(), content.to_owned()));
            }
        }
        let list = encode_value(field_tag(3), &encode_value(SEQUENCE, &kept)?)?;
        let before_logged = encode_value(SEQUENCE, &[head, &list].concat())?;
        Some(Certificate {
            der: der.to_owned(),
            key: PublicKey::parse_der(key),
            valid,
            issuer,
            subject,
            key_der: key.to_owned(),
            extensions,
            before_logged,
        })
    }

    fn find_extension(&self, name: &[u8]) -> Option<&[u8]> {
        let mut all = self.extensions.iter().filter(|(own, _)| own == name);
        let found = all.next()?;
        all.next().is_none().then_some(found.1.as_slice())
    }

    /// Returns the one name that the certificate is for: an address, a URI, or a user's name.
    pub(super) fn identity(&self) -> Option<String> {
        let mut names = Value::parse_single(self.find_extension(NAMES)?, SEQUENCE)?.values();
        let name = names.next()?;
        let text = match name.tag {
            0x81 | 0x86 => name.content,
            0xa0 => {
                let mut parts = name.values();
                parts.next_tagged(OBJECT).filter(|kind| kind.content == OTHER_NAME)?;
                Value::parse_single(parts.next_tagged(field_tag(0))?.content, UTF8_STRING)?.content
            }
            _ => return None,
        };
        let is_only = names.0.is_empty();
        plain_text(text).filter(|_| is_only)
    }

    /// Returns the issuer that vouches for the identity.
    pub(super) fn identity_issuer(&self) -> Option<String> {
        match self.find_extension(ISSUER) {
            Some(text) => plain_text(Value::parse_single(text, UTF8_STRING)?.content),
            None => plain_text(self.find_extension(OLD_ISSUER)?),
        }
    }

    /// Checks that a chain of certificates, the last of which is trusted, vouches for this one at a time.
    pub(super) fn is_vouched_for(
        &self,
        chain: &[Certificate],
        usage: &'static [u8],
        at: i64,
    ) -> bool {
        let Some((root, between)) = chain.split_last() else { return false };
        let is_valid = |one: &Certificate| (one.valid.0..=one.valid.1).contains(&at);
        // The checker takes the name and key of a root, and not its dates.
        if !chain.iter().all(is_valid) {
            return false;
        }
        let root = CertificateDer::from(root.der.as_slice());
        let own = CertificateDer::from(self.der.as_slice());
        let between: Vec<CertificateDer<'_>> =
            between.iter().map(|one| CertificateDer::from(one.der.as_slice())).collect();
        let (Ok(anchor), Ok(own), Ok(seconds)) =
            (anchor_from_trusted_cert(&root), EndEntityCert::try_from(&own), u64::try_from(at))
        else {
            return false;
        };
        let time = UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        let usage = KeyUsage::required(usage);
        own.verify_for_usage(ALGORITHMS, &[anchor], &between, time, usage, None, None).is_ok()
    }

    /// Returns the timestamps of logs of certificates.
    pub(super) fn parse_log_timestamps(&self) -> Option<Vec<Logged<'_>>> {
        let list = Value::parse_single(self.find_extension(TRANSPARENCY)?, OCTET_STRING)?.content;
        let mut rest = split_counted(&mut &*list)?;
        let mut found = Vec::new();
        while !rest.is_empty() {
            let mut one = split_counted(&mut rest)?;
            let (version, after) = one.split_first()?;
            let (log, after) = after.split_at_checked(32)?;
            let (time, after) = after.split_first_chunk::<8>()?;
            one = after;
            let extensions = split_counted(&mut one)?;
            // SHA-256 with ECDSA, the only pair that logs use.
            one = one.strip_prefix(&[4, 3])?;
            let signature = split_counted(&mut one)?;
            if *version == 0 && one.is_empty() {
                let milliseconds = u64::from_be_bytes(*time);
                found.push(Logged { log, milliseconds, extensions, signature });
            }
        }
        Some(found)
    }

    /// Returns whether a log has signed that it knows this certificate of an issuer.
    pub(super) fn is_logged_by(
        &self,
        logged: &Logged<'_>,
        key: &PublicKey,
        issuer: &Certificate,
    ) -> bool {
        let length = u32::try_from(self.before_logged.len()).unwrap_or(u32::MAX).to_be_bytes();
        let extensions = u16::try_from(logged.extensions.len()).unwrap_or(u16::MAX).to_be_bytes();
        let message = [
            // The version, the kind of signature, the time, and the kind of entry: a certificate before it was logged.
            &[0, 0][..],
            &logged.milliseconds.to_be_bytes(),
            &[0, 1],
            &HashKind::Sha256.hash_bytes(&issuer.key_der),
            &length[1..],
            &self.before_logged,
            &extensions,
            logged.extensions,
        ];
        key.has_signed(&message.concat(), logged.signature)
    }
}

/// Takes bytes that follow their count in two bytes.
fn split_counted<'b>(bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
    let (count, rest) = bytes.split_first_chunk::<2>()?;
    let (own, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*count)))?;
    *bytes = rest;
    Some(own)
}

/// Returns a text without blanks and control characters, which names could be hidden with.
fn plain_text(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    let is_plain = !text.is_empty() && text.chars().all(|one| one.is_ascii_graphic());
    is_plain.then(|| text.to_owned())
}
