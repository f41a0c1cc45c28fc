//! Signed timestamps (RFC 3161): the time of a signature, by an authority of the trust root.

use super::certificate::{Certificate, TIME_STAMPING};
use super::der::{
    INTEGER, OBJECT, OCTET_STRING, SEQUENCE, SET, TIME, Value, Values, field_tag, parse_seconds,
};
use super::key::HashKind;

const SIGNED_DATA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02];
const TIMESTAMP: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x10, 0x01, 0x04];
const CONTENT_TYPE: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x03];
const MESSAGE_DIGEST: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x04];

/// The beginning of the names of hash functions; the last byte is the function.
const HASH: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02];

/// A timestamp whose content is not verified yet.
pub(super) struct SignedTime<'t> {
    pub(super) seconds: i64,
    content: &'t [u8],
    signer: Values<'t>,
}

impl<'t> SignedTime<'t> {
    /// Reads the answer of an authority about some bytes.
    pub(super) fn parse_der(der: &'t [u8], about: &[u8]) -> Option<SignedTime<'t>> {
        let mut answer = Value::parse_single(der, SEQUENCE)?.values();
        let status = answer.next_tagged(SEQUENCE)?.values().next_tagged(INTEGER)?;
        // Granted, or granted with changes.
        if !matches!(status.content, [0 | 1]) {
            return None;
        }
        let mut token = answer.next_tagged(SEQUENCE)?.values();
        token.next_tagged(OBJECT).filter(|kind| kind.content == SIGNED_DATA)?;
        let mut data =
            Value::parse_single(token.next_tagged(field_tag(0))?.content, SEQUENCE)?.values();
        data.next_tagged(INTEGER)?;
        data.next_tagged(SET)?;
        let mut enclosed = data.next_tagged(SEQUENCE)?.values();
        enclosed.next_tagged(OBJECT).filter(|kind| kind.content == TIMESTAMP)?;
        let content =
            Value::parse_single(enclosed.next_tagged(field_tag(0))?.content, OCTET_STRING)?.content;
        data.next_tagged(field_tag(0));
        data.next_tagged(field_tag(1));
        let mut signers = data.next_tagged(SET)?.values();
        let signer = signers.next_tagged(SEQUENCE)?.values();
        let mut facts = Value::parse_single(content, SEQUENCE)?.values();
        facts.next_tagged(INTEGER)?;
        facts.next_tagged(OBJECT)?;
        let mut imprint = facts.next_tagged(SEQUENCE)?.values();
        let hash = hash_of(imprint.next_tagged(SEQUENCE)?)?;
        if imprint.next_tagged(OCTET_STRING)?.content != hash.hash_bytes(about)
            || !signers.0.is_empty()
        {
            return None;
        }
        facts.next_tagged(INTEGER)?;
        let seconds = parse_seconds(facts.next_tagged(TIME)?)?;
        Some(SignedTime { seconds, content, signer })
    }

    /// Returns whether an authority, whose chain begins with its own certificate, has signed it.
    pub(super) fn is_signed_by(&self, chain: &[Certificate]) -> bool {
        self.check_signature(chain).is_some()
    }

    fn check_signature(&self, chain: &[Certificate]) -> Option<()> {
        let (own, above) = chain.split_first()?;
        let is_trusted = match above {
            [] => (own.valid.0..=own.valid.1).contains(&self.seconds),
            above => own.is_vouched_for(above, TIME_STAMPING, self.seconds),
        };
        let mut signer = self.signer.clone();
        signer.next_tagged(INTEGER)?;
        // The name of the signer, which the chain names too.
        signer.next()?;
        let hash = hash_of(signer.next_tagged(SEQUENCE)?)?;
        let attributes = signer.next_tagged(field_tag(0))?;
        signer.next_tagged(SEQUENCE)?;
        let signature = signer.next_tagged(OCTET_STRING)?.content;
        let attribute = |name: &[u8]| {
            attributes.values().find_map(|one| {
                let mut parts = one.values();
                parts.next_tagged(OBJECT).filter(|own| own.content == name)?;
                parts.next_tagged(SET)?.values().next()
            })
        };
        let is_about = attribute(CONTENT_TYPE)?.content == TIMESTAMP
            && attribute(MESSAGE_DIGEST)?.content == hash.hash_bytes(self.content);
        // They are signed as a set, although they have another tag here.
        let mut message = attributes.whole.to_owned();
        *message.first_mut()? = SET;
        let key = own.key.as_ref()?;
        (is_trusted && is_about && key.has_signed_by(hash, &message, signature)).then_some(())
    }
}

fn hash_of(algorithm: Value<'_>) -> Option<HashKind> {
    let name = algorithm.values().next_tagged(OBJECT)?.content;
    match name.strip_prefix(HASH)? {
        [1] => Some(HashKind::Sha256),
        [2] => Some(HashKind::Sha384),
        [3] => Some(HashKind::Sha512),
        _ => None,
    }
}
