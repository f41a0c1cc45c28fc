//! An instance of Sigstore for tests: an authority, a log of certificates, a transparency log and an authority for times,
//! with keys of their own. It writes what the documents of Sigstore say, and shares no code with the verifier.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};

/// The parts of names of algorithms and extensions, in DER.
const EC_P256: &[u8] =
    b"\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07";
const ECDSA_SHA256: &[u8] = b"\x30\x0a\x06\x08\x2a\x86\x48\xce\x3d\x04\x03\x02";
const SHA256_NAME: &[u8] = b"\x30\x0b\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01";
const FULCIO: &[u8] = b"\x2b\x06\x01\x04\x01\x83\xbf\x30\x01";
const TIMESTAMP: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x09\x10\x01\x04";

/// A value in DER.
fn encode_der(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    let length = match content.len() {
        short @ 0..=0x7f => vec![u8::try_from(short).unwrap_or_default()],
        long => {
            let digits: Vec<u8> =
                long.to_be_bytes().into_iter().skip_while(|digit| *digit == 0).collect();
            [&[0x80 | u8::try_from(digits.len()).unwrap_or_default()][..], &digits].concat()
        }
    };
    [&[tag][..], &length, &content].concat()
}

fn hash(bytes: &[u8]) -> Vec<u8> {
    digest(&SHA256, bytes).as_ref().to_vec()
}

fn encode_base64(bytes: impl AsRef<[u8]>) -> String {
    STANDARD.encode(bytes)
}

fn encode_hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Writes seconds since 1970 as `YYYYMMDDHHMMSSZ`.
fn render_calendar_time(seconds: u64) -> String {
    let (mut days, rest) = (seconds / 86_400, seconds % 86_400);
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let mut month = 1;
    for length in [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year}{month:02}{:02}{hour:02}{minute:02}{second:02}Z", days + 1)
}

fn encode_time(seconds: u64) -> Vec<u8> {
    encode_der(0x18, &[render_calendar_time(seconds).as_bytes()])
}

/// Writes seconds since 1970 as `YYYY-MM-DDTHH:MM:SSZ`.
pub fn render_time(seconds: u64) -> String {
    let text = render_calendar_time(seconds);
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default().to_owned();
    let (date, clock) =
        ([part(0, 4), part(4, 6), part(6, 8)], [part(8, 10), part(10, 12), part(12, 14)]);
    format!("{}T{}Z", date.join("-"), clock.join(":"))
}

fn encode_extension(name: &[u8], is_critical: bool, content: &[u8]) -> Vec<u8> {
    let critical: &[u8] = if is_critical { b"\x01\x01\xff" } else { b"" };
    encode_der(0x30, &[&encode_der(6, &[name]), critical, &encode_der(4, &[content])])
}

fn encode_name(text: &str) -> Vec<u8> {
    let common =
        encode_der(0x30, &[b"\x06\x03\x55\x04\x03", &encode_der(0x0c, &[text.as_bytes()])]);
    encode_der(0x30, &[&encode_der(0x31, &[&common])])
}

fn encode_pem(label: &str, der: &[u8]) -> String {
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", encode_base64(der))
}

struct TestKey(EcdsaKeyPair);

impl TestKey {
    fn new() -> TestKey {
        let (random, kind) = (SystemRandom::new(), &ECDSA_P256_SHA256_ASN1_SIGNING);
        let made = EcdsaKeyPair::generate_pkcs8(kind, &random);
        let made = made.expect("the system has random numbers");
        TestKey(EcdsaKeyPair::from_pkcs8(kind, made.as_ref(), &random).expect("was just made"))
    }

    fn public_key(&self) -> Vec<u8> {
        encode_der(0x30, &[EC_P256, &encode_der(3, &[&[0], self.0.public_key().as_ref()])])
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        let signature = self.0.sign(&SystemRandom::new(), message);
        signature.expect("the system has random numbers").as_ref().to_vec()
    }

    /// Signs the body of a certificate.
    fn sign_certificate(&self, body: &[u8]) -> Vec<u8> {
        encode_der(0x30, &[body, ECDSA_SHA256, &encode_der(3, &[&[0], &self.sign(body)])])
    }
}

/// The body of a certificate for the holder of a key.
fn certificate_body(
    subject: &str,
    key: &TestKey,
    valid: (u64, u64),
    extensions: &[Vec<u8>],
) -> Vec<u8> {
    let period = encode_der(0x30, &[&encode_time(valid.0), &encode_time(valid.1)]);
    let list: Vec<u8> = extensions.concat();
    let holder = if subject.is_empty() { encode_der(0x30, &[]) } else { encode_name(subject) };
    encode_der(
        0x30,
        &[
            b"\xa0\x03\x02\x01\x02\x02\x01\x07",
            ECDSA_SHA256,
            &encode_name("authority"),
            &period,
            &holder,
            &key.public_key(),
            &encode_der(0xa3, &[&encode_der(0x30, &[&list])]),
        ],
    )
}

/// A signature to be made.
#[derive(Debug, Clone)]
pub struct TestSignature {
    /// The address or URI of the signer.
    pub identity: String,
    /// The issuer of the identity.
    pub issuer: String,
    /// The time of the signature, in seconds since 1970.
    pub at: u64,
    /// The first and the last second of the certificate.
    pub valid: (u64, u64),
    /// True for the second generation of logs, which signs no times: an authority does.
    pub is_stamped: bool,
    /// True for a plain key, whose name and not whose certificate is in the bundle.
    pub has_key: bool,
    /// True if the artifact itself is signed, and not a statement about it.
    pub is_plain: bool,
}

impl TestSignature {
    /// Describes a signature at a time, with a certificate that is valid for ten minutes.
    pub fn new(identity: &str, issuer: &str, at: u64) -> TestSignature {
        let (identity, issuer) = (identity.to_owned(), issuer.to_owned());
        let valid = (at - 300, at + 300);
        let (is_stamped, has_key, is_plain) = (false, false, false);
        TestSignature { identity, issuer, at, valid, is_stamped, has_key, is_plain }
    }
}

/// The instance.
pub struct TestSigstore {
    authority: TestKey,
    certificates: TestKey,
    log: TestKey,
    clock: TestKey,
    /// The first and, if there is one, the last second of the authority in the trust root.
    pub authority_valid: (u64, Option<u64>),
}

impl Default for TestSigstore {
    fn default() -> TestSigstore {
        TestSigstore {
            authority: TestKey::new(),
            certificates: TestKey::new(),
            log: TestKey::new(),
            clock: TestKey::new(),
            authority_valid: (1_600_000_000, None),
        }
    }
}

impl TestSigstore {
    /// A certificate of the authority for itself.
    fn root_certificate(&self) -> Vec<u8> {
        let is_authority = encode_extension(b"\x55\x1d\x13", true, b"\x30\x03\x01\x01\xff");
        let valid = (1_500_000_000, 4_000_000_000);
        self.authority.sign_certificate(&certificate_body(
            "authority",
            &self.authority,
            valid,
            &[is_authority],
        ))
    }

    fn clock_certificate(&self) -> Vec<u8> {
        let usage = encode_extension(
            b"\x55\x1d\x25",
            true,
            b"\x30\x0a\x06\x08\x2b\x06\x01\x05\x05\x07\x03\x08",
        );
        let valid = (1_500_000_000, 4_000_000_000);
        self.authority.sign_certificate(&certificate_body("clock", &self.clock, valid, &[usage]))
    }

    /// Returns the trust root.
    pub fn trusted_root(&self) -> String {
        let log = |key: &TestKey| {
            json!({
                "baseUrl": "https://log.example",
                "hashAlgorithm": "SHA2_256",
                "publicKey": {
                    "rawBytes": encode_base64(key.public_key()),
                    "keyDetails": "PKIX_ECDSA_P256_SHA_256",
                    "validFor": {"start": "2020-01-01T00:00:00Z"},
                },
                "logId": {"keyId": encode_base64(hash(&key.public_key()))},
            })
        };
        let mut period = json!({"start": render_time(self.authority_valid.0)});
        if let Some(end) = self.authority_valid.1 {
            period["end"] = Value::from(render_time(end));
        }
        let chain = |chain: &[Vec<u8>]| {
            let list = chain.iter().map(|one| json!({"rawBytes": encode_base64(one)}));
            json!({"certificates": list.collect::<Vec<Value>>()})
        };
        json!({
            "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
            "tlogs": [log(&self.log)],
            "certificateAuthorities": [{
                "uri": "https://authority.example",
                "certChain": chain(&[self.root_certificate()]),
                "validFor": period,
            }],
            "ctlogs": [log(&self.certificates)],
            "timestampAuthorities": [{
                "uri": "https://clock.example",
                "certChain": chain(&[self.clock_certificate(), self.root_certificate()]),
                "validFor": {"start": "2020-01-01T00:00:00Z"},
            }],
        })
        .to_string()
    }

    /// A certificate for an identity, with the timestamp of the log of certificates.
    fn leaf_certificate(&self, key: &TestKey, wanted: &TestSignature) -> Vec<u8> {
        let is_address = wanted.identity.contains('@') && !wanted.identity.contains("://");
        let kind = if is_address { 0x81 } else { 0x86 };
        let names = encode_der(0x30, &[&encode_der(kind, &[wanted.identity.as_bytes()])]);
        let issuer = encode_der(0x0c, &[wanted.issuer.as_bytes()]);
        let mut extensions = vec![
            encode_extension(
                b"\x55\x1d\x25",
                false,
                b"\x30\x0a\x06\x08\x2b\x06\x01\x05\x05\x07\x03\x03",
            ),
            encode_extension(b"\x55\x1d\x11", true, &names),
            encode_extension(&[FULCIO, &[8]].concat(), false, &issuer),
        ];
        let before = certificate_body("", key, wanted.valid, &extensions);
        let stamp = (wanted.at * 1000).to_be_bytes();
        let length = u32::try_from(before.len()).unwrap_or_default().to_be_bytes();
        let issuer_key = hash(&self.authority.public_key());
        let message =
            [&[0, 0][..], &stamp, &[0, 1], &issuer_key, &length[1..], &before, &[0, 0]].concat();
        let counted = |bytes: &[u8]| {
            let count = u16::try_from(bytes.len()).unwrap_or_default().to_be_bytes();
            [&count[..], bytes].concat()
        };
        let log = hash(&self.certificates.public_key());
        let signature = counted(&self.certificates.sign(&message));
        let logged = [&[0][..], &log, &stamp, &[0, 0], &[4, 3], &signature].concat();
        let list = encode_der(4, &[&counted(&counted(&logged))]);
        extensions.push(encode_extension(
            b"\x2b\x06\x01\x04\x01\xd6\x79\x02\x04\x02",
            false,
            &list,
        ));
        self.authority.sign_certificate(&certificate_body("", key, wanted.valid, &extensions))
    }

    /// A signed time about some bytes.
    fn sign_timestamp(&self, about: &[u8], at: u64) -> Vec<u8> {
        let facts = encode_der(
            0x30,
            &[
                b"\x02\x01\x01\x06\x02\x2a\x03",
                &encode_der(0x30, &[SHA256_NAME, &encode_der(4, &[&hash(about)])]),
                b"\x02\x01\x05",
                &encode_time(at),
            ],
        );
        let attribute = |name: &[u8], value: &[u8]| {
            encode_der(0x30, &[&encode_der(6, &[name]), &encode_der(0x31, &[value])])
        };
        let attributes = [
            attribute(b"\x2a\x86\x48\x86\xf7\x0d\x01\x09\x03", &encode_der(6, &[TIMESTAMP])),
            attribute(b"\x2a\x86\x48\x86\xf7\x0d\x01\x09\x04", &encode_der(4, &[&hash(&facts)])),
        ]
        .concat();
        let signature = self.clock.sign(&encode_der(0x31, &[&attributes]));
        let signer = encode_der(
            0x30,
            &[
                b"\x02\x01\x01",
                &encode_der(0x30, &[&encode_name("authority"), b"\x02\x01\x07"]),
                SHA256_NAME,
                &encode_der(0xa0, &[&attributes]),
                ECDSA_SHA256,
                &encode_der(4, &[&signature]),
            ],
        );
        let enclosed = encode_der(
            0x30,
            &[&encode_der(6, &[TIMESTAMP]), &encode_der(0xa0, &[&encode_der(4, &[&facts])])],
        );
        let hashes = encode_der(0x31, &[SHA256_NAME]);
        let data =
            encode_der(0x30, &[b"\x02\x01\x03", &hashes, &enclosed, &encode_der(0x31, &[&signer])]);
        let signed_data = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02";
        let token = encode_der(0x30, &[signed_data, &encode_der(0xa0, &[&data])]);
        encode_der(0x30, &[b"\x30\x03\x02\x01\x00", &token])
    }

    /// Signs an artifact, and returns the bundle.
    pub fn create_bundle(&self, artifact: &[u8], wanted: &TestSignature) -> Value {
        self.bundle_and_key(artifact, wanted).0
    }

    /// Signs an artifact, and returns the bundle and the public key in DER.
    pub fn bundle_and_key(&self, artifact: &[u8], wanted: &TestSignature) -> (Value, Vec<u8>) {
        let key = TestKey::new();
        let (verifier, label) = if wanted.has_key {
            (key.public_key(), "PUBLIC KEY")
        } else {
            (self.leaf_certificate(&key, wanted), "CERTIFICATE")
        };
        let statement = json!({
            "_type": "https://in-toto.io/Statement/v1",
            "subject": [{"digest": {"sha256": encode_hex(&hash(artifact))}}],
            "predicateType": "https://sigstore.dev/cosign/sign/v1",
            "predicate": {},
        });
        let (payload, kind) = (statement.to_string(), "application/vnd.in-toto+json");
        let message = if wanted.is_plain {
            artifact.to_owned()
        } else {
            format!("DSSEv1 {} {kind} {} {payload}", kind.len(), payload.len()).into_bytes()
        };
        let signature = key.sign(&message);
        let (kind_of_entry, version, spec) = if wanted.is_stamped {
            let field = if wanted.has_key { "publicKey" } else { "x509Certificate" };
            let verifier = json!({field: {"rawBytes": encode_base64(&verifier)}});
            let data = json!({"algorithm": "SHA2_256", "digest": encode_base64(hash(&message))});
            let signed = json!({"content": encode_base64(&signature), "verifier": verifier});
            let spec = json!({"hashedRekordV002": {"data": data, "signature": signed}});
            ("hashedrekord", "0.0.2", spec)
        } else if wanted.is_plain {
            let hash = json!({"algorithm": "sha256", "value": encode_hex(&hash(&message))});
            let verifier = json!({"content": encode_base64(encode_pem(label, &verifier))});
            let signed = json!({"content": encode_base64(&signature), "publicKey": verifier});
            ("hashedrekord", "0.0.1", json!({"data": {"hash": hash}, "signature": signed}))
        } else {
            let hash =
                json!({"algorithm": "sha256", "value": encode_hex(&hash(payload.as_bytes()))});
            let verifier = encode_base64(encode_pem(label, &verifier));
            let signed = json!({"signature": encode_base64(&signature), "verifier": verifier});
            ("dsse", "0.0.1", json!({"payloadHash": hash, "signatures": [signed]}))
        };
        let entry = json!({"apiVersion": version, "kind": kind_of_entry, "spec": spec}).to_string();
        let (index, log) = (1, hash(&self.log.public_key()));
        // A tree of two entries, of which ours is the second.
        let beside = hash(b"\0another entry");
        let leaf = hash(&[&[0], entry.as_bytes()].concat());
        let root = hash(&[&[1], &beside[..], &leaf].concat());
        let note = format!("log.example\n2\n{}\n", encode_base64(&root));
        let signed = [&log[..4], &self.log.sign(note.as_bytes())].concat();
        let checkpoint = format!("{note}\n\u{2014} log.example {}\n", encode_base64(signed));
        let mut logged = json!({
            "logIndex": index.to_string(),
            "logId": {"keyId": encode_base64(&log)},
            "kindVersion": {"kind": kind_of_entry, "version": version},
            "inclusionProof": {
                "logIndex": index.to_string(),
                "rootHash": encode_base64(&root),
                "treeSize": "2",
                "hashes": [encode_base64(&beside)],
                "checkpoint": {"envelope": checkpoint},
            },
            "canonicalizedBody": encode_base64(&entry),
        });
        let mut material = if wanted.has_key {
            json!({"publicKey": {"hint": encode_base64(hash(&verifier))}})
        } else {
            json!({"certificate": {"rawBytes": encode_base64(&verifier)}})
        };
        if wanted.is_stamped {
            let stamp = json!({"signedTimestamp": encode_base64(self.sign_timestamp(&signature, wanted.at))});
            material["timestampVerificationData"] = json!({"rfc3161Timestamps": [stamp]});
        } else {
            let promise = format!(
                "{{\"body\":\"{}\",\"integratedTime\":{},\"logID\":\"{}\",\"logIndex\":{index}}}",
                encode_base64(&entry),
                wanted.at,
                encode_hex(&log),
            );
            logged["integratedTime"] = Value::from(wanted.at.to_string());
            logged["inclusionPromise"] =
                json!({"signedEntryTimestamp": encode_base64(self.log.sign(promise.as_bytes()))});
        }
        material["tlogEntries"] = json!([logged]);
        let mut bundle = json!({
            "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
            "verificationMaterial": material,
        });
        if wanted.is_plain {
            let digest = json!({"algorithm": "SHA2_256", "digest": encode_base64(hash(artifact))});
            bundle["messageSignature"] =
                json!({"messageDigest": digest, "signature": encode_base64(&signature)});
        } else {
            bundle["dsseEnvelope"] = json!({
                "payload": encode_base64(&payload),
                "payloadType": kind,
                "signatures": [{"sig": encode_base64(&signature)}],
            });
        }
        (bundle, key.public_key())
    }
}
