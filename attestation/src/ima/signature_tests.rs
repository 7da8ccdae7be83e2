//! A signature that a kernel logged, and signatures made here.

use super::*;
use crate::ima::{LogWriter, Reader, Templates};
use p256::ecdsa::signature::hazmat::PrehashSigner as _;
use p256::ecdsa::{Signature, SigningKey};
use p256::pkcs8::EncodePublicKey as _;

const LOGGED: &[u8] = include_bytes!("../../tests/data/ima-signature/signature");
const CERTIFICATE: &str = include_str!("../../tests/data/ima-signature/certificate.pem");
/// The SHA-256 digest of the program that was signed.
const PROGRAM: &str = "sha256:d75ff01e9cc54d93711a487c6ff8e42ac23b66630d3cccbdf226ee9274aa7f5b";

/// The bytes of a log with one entry of some fields.
fn log(template: &str, fields: &[&[u8]]) -> Vec<u8> {
    let data: Vec<u8> = fields
        .iter()
        .flat_map(|field| {
            [
                &u32::try_from(field.len()).unwrap().to_le_bytes()[..],
                field,
            ]
            .concat()
        })
        .collect();
    let hash = HashAlg::Sha1.hash(&[&data]);
    let mut bytes = 10_u32.to_le_bytes().to_vec();
    bytes.extend(hash.as_bytes());
    bytes.extend(u32::try_from(template.len()).unwrap().to_le_bytes());
    bytes.extend(template.as_bytes());
    bytes.extend(u32::try_from(data.len()).unwrap().to_le_bytes());
    bytes.extend(data);
    bytes
}

fn vouched(keyring: &Keyring, template: &str, digest: &[u8], signature: &[u8]) -> bool {
    let bytes = log(template, &[digest, b"/usr/bin/tool\0", signature]);
    let templates = Templates::default();
    let entry = Reader::new(&bytes, HashAlg::Sha1, &templates).next();
    // What is not of a kind that kernels log is not read at all.
    entry
        .unwrap()
        .is_ok_and(|entry| keyring.vouches_for(&entry))
}

fn field(kind: &str, digest: &Digest) -> Vec<u8> {
    [
        format!("{kind}{}:\0", digest.alg()).as_bytes(),
        digest.as_bytes(),
    ]
    .concat()
}

fn operator() -> Keyring {
    let mut keyring = Keyring::default();
    keyring.add_pem(CERTIFICATE).unwrap();
    keyring
}

#[test]
fn a_signature_that_a_kernel_logged_is_accepted() {
    let program: Digest = PROGRAM.parse().unwrap();
    assert!(vouched(
        &operator(),
        "ima-sig",
        &field("", &program),
        LOGGED
    ));
    assert!(!vouched(
        &Keyring::default(),
        "ima-sig",
        &field("", &program),
        LOGGED
    ));
    let other = HashAlg::Sha256.hash(&[b"another program"]);
    assert!(!vouched(&operator(), "ima-sig", &field("", &other), LOGGED));
    assert!(!vouched(&operator(), "ima-sig", &field("", &program), b""));
}

#[test]
fn no_changed_byte_of_a_signature_is_accepted() {
    let program = field("", &PROGRAM.parse().unwrap());
    for place in 0..LOGGED.len() {
        let mut changed = LOGGED.to_vec();
        changed[place] ^= 1;
        assert!(
            !vouched(&operator(), "ima-sig", &program, &changed),
            "byte {place}"
        );
        assert!(
            !vouched(&operator(), "ima-sig", &program, &LOGGED[..place]),
            "{place} bytes"
        );
    }
    let longer = [LOGGED, &[0]].concat();
    assert!(!vouched(&operator(), "ima-sig", &program, &longer));
}

/// A signature as `evmctl` would make it with an elliptic curve.
fn sign(key: &SigningKey, head: [u8; 3], message: &Digest) -> Vec<u8> {
    let point = key.verifying_key().to_sec1_point(false);
    let id = HashAlg::Sha1.hash(&[point.as_bytes()]);
    let signature: Signature = key.sign_prehash(message.as_bytes()).unwrap();
    let signature = signature.to_der();
    let size = u16::try_from(signature.as_bytes().len()).unwrap();
    [
        &head[..],
        &id.as_bytes()[16..],
        &size.to_be_bytes(),
        signature.as_bytes(),
    ]
    .concat()
}

#[test]
fn elliptic_curves_and_merkle_trees_are_understood_and_not_confused() {
    let key = SigningKey::from_slice(&[7; 32]).unwrap();
    let mut keyring = operator();
    keyring
        .add_pem(
            &key.verifying_key()
                .to_public_key_pem(p256::pkcs8::LineEnding::LF)
                .unwrap(),
        )
        .unwrap();
    let digest = HashAlg::Sha256.hash(&[b"program"]);
    let content = sign(&key, [3, 2, 4], &digest);
    assert!(vouched(&keyring, "ima-sig", &field("", &digest), &content));
    assert!(vouched(
        &keyring,
        "ima-sigv2",
        &field("ima:", &digest),
        &content
    ));
    // The same digest of a Merkle tree is another thing.
    assert!(!vouched(
        &keyring,
        "ima-sigv2",
        &field("verity:", &digest),
        &content
    ));
    let tree = HashAlg::Sha256.hash(&[&[6, 4], digest.as_bytes()]);
    let verity = sign(&key, [6, 3, 4], &tree);
    assert!(vouched(
        &keyring,
        "ima-sigv2",
        &field("verity:", &digest),
        &verity
    ));
    assert!(!vouched(
        &keyring,
        "ima-sigv2",
        &field("ima:", &digest),
        &verity
    ));
    assert!(!vouched(
        &keyring,
        "ima-sigv2",
        &field("ima:", &tree),
        &verity
    ));
    // Hashes that can be forged, versions and types that do not exist.
    for head in [
        [3, 2, 2],
        [3, 1, 4],
        [3, 3, 4],
        [6, 2, 4],
        [4, 2, 4],
        [3, 2, 5],
    ] {
        assert!(
            !vouched(
                &keyring,
                "ima-sig",
                &field("", &digest),
                &sign(&key, head, &digest)
            ),
            "{head:?}"
        );
    }
}

#[test]
fn a_violation_is_vouched_for_by_nobody() {
    let program: Digest = PROGRAM.parse().unwrap();
    let mut bytes = log(
        "ima-sig",
        &[&field("", &program), b"/usr/bin/tool\0", LOGGED],
    );
    bytes[4..24].fill(0);
    let templates = Templates::default();
    let entry = Reader::new(&bytes, HashAlg::Sha1, &templates)
        .next()
        .unwrap()
        .unwrap();
    assert!(!operator().vouches_for(&entry));
    // Entries without a field for signatures are nobody's business either.
    let mut writer = LogWriter::new(HashAlg::Sha1, &[]);
    writer.ng(program, "/usr/bin/tool").unwrap();
    let entry = Reader::new(writer.log(), HashAlg::Sha1, &templates)
        .next()
        .unwrap()
        .unwrap();
    assert!(!operator().vouches_for(&entry));
}

#[test]
fn a_file_without_keys_is_no_keyring() {
    let mut keyring = Keyring::default();
    assert_eq!(keyring.add_pem("nothing"), Err(KeyringError::Empty));
    let broken = CERTIFICATE.replace("MII", "MIJ");
    assert!(matches!(
        keyring.add_pem(&broken),
        Err(KeyringError::Unreadable { number: 1, .. })
    ));
    keyring
        .add_pem(&format!("{CERTIFICATE}\n{CERTIFICATE}"))
        .unwrap();
    assert_eq!(keyring.0.len(), 2);
}
