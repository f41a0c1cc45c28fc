//! Signed timestamps (RFC 3161): the time of a signature, by an authority of the trust root.

use super::certificate::{Certificate, TIME_STAMPING};
use super::der::{
    INTEGER, OBJECT, OCTET_STRING, SEQUENCE, SET, TIME, Value, Values, field, seconds,
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
    pub(super) fn read(der: &'t [u8], about: &[u8]) -> Option<SignedTime<'t>> {
        let mut answer = Value::only(der, SEQUENCE)?.values();
        let status = answer.one(SEQUENCE)?.values().one(INTEGER)?;
        // Granted, or granted with changes.
        if !matches!(status.content, [0 | 1]) {
            return None;
        }
        let mut token = answer.one(SEQUENCE)?.values();
        token.one(OBJECT).filter(|kind| kind.content == SIGNED_DATA)?;
        let mut data = Value::only(token.one(field(0))?.content, SEQUENCE)?.values();
        data.one(INTEGER)?;
        data.one(SET)?;
        let mut enclosed = data.one(SEQUENCE)?.values();
        enclosed.one(OBJECT).filter(|kind| kind.content == TIMESTAMP)?;
        let content = Value::only(enclosed.one(field(0))?.content, OCTET_STRING)?.content;
        data.one(field(0));
        data.one(field(1));
        let mut signers = data.one(SET)?.values();
        let signer = signers.one(SEQUENCE)?.values();
        let mut facts = Value::only(content, SEQUENCE)?.values();
        facts.one(INTEGER)?;
        facts.one(OBJECT)?;
        let mut imprint = facts.one(SEQUENCE)?.values();
        let hash = hash_of(imprint.one(SEQUENCE)?)?;
        if imprint.one(OCTET_STRING)?.content != hash.of(about) || !signers.0.is_empty() {
            return None;
        }
        facts.one(INTEGER)?;
        let seconds = seconds(facts.one(TIME)?)?;
        Some(SignedTime { seconds, content, signer })
    }

    /// Returns whether an authority, whose chain begins with its own certificate, has signed it.
    pub(super) fn is_signed_by(&self, chain: &[Certificate]) -> bool {
        self.check(chain).is_some()
    }

    fn check(&self, chain: &[Certificate]) -> Option<()> {
        let (own, above) = chain.split_first()?;
        let is_trusted = match above {
            [] => (own.valid.0..=own.valid.1).contains(&self.seconds),
            above => own.is_vouched_for(above, TIME_STAMPING, self.seconds),
        };
        let mut signer = self.signer.clone();
        signer.one(INTEGER)?;
        // The name of the signer, which the chain names too.
        signer.next()?;
        let hash = hash_of(signer.one(SEQUENCE)?)?;
        let attributes = signer.one(field(0))?;
        signer.one(SEQUENCE)?;
        let signature = signer.one(OCTET_STRING)?.content;
        let attribute = |name: &[u8]| {
            attributes.values().find_map(|one| {
                let mut parts = one.values();
                parts.one(OBJECT).filter(|own| own.content == name)?;
                parts.one(SET)?.values().next()
            })
        };
        let is_about = attribute(CONTENT_TYPE)?.content == TIMESTAMP
            && attribute(MESSAGE_DIGEST)?.content == hash.of(self.content);
        // They are signed as a set, although they have another tag here.
        let mut message = attributes.whole.to_owned();
        *message.first_mut()? = SET;
        let key = own.key.as_ref()?;
        (is_trusted && is_about && key.has_signed_by(hash, &message, signature)).then_some(())
    }
}

fn hash_of(algorithm: Value<'_>) -> Option<HashKind> {
    let name = algorithm.values().one(OBJECT)?.content;
    match name.strip_prefix(HASH)? {
        [1] => Some(HashKind::Sha256),
        [2] => Some(HashKind::Sha384),
        [3] => Some(HashKind::Sha512),
        _ => None,
    }
}
