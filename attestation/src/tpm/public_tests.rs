use super::*;
use crate::tpm::emulated::EmulatedTpm;
use crate::tpm::{AkKind, EkKind, Tpm};

fn ak() -> Public {
    let mut tpm = EmulatedTpm::from_seed([1; 32]);
    let blob = tpm.create_ak(EkKind::EccP256, AkKind::EccP256).unwrap();
    blob.public_area().unwrap()
}

fn rsa() -> Public {
    let mut modulus = vec![0x5a; 256];
    modulus[0] = 0xc3;
    modulus[255] = 0x01;
    Public {
        name_alg: HashAlg::Sha256,
        attributes: Attributes(0x0005_0072),
        auth_policy: Vec::new(),
        symmetric: None,
        scheme: Some((SignatureScheme::RsaSsa, HashAlg::Sha256)),
        key: PublicKey::Rsa { modulus },
    }
}

#[test]
fn keys_go_through_the_wire_and_no_cut_is_accepted() {
    for key in [ak(), rsa()] {
        let bytes = key.to_bytes();
        assert_eq!(Public::parse(&bytes), Ok(key));
        for length in 0..bytes.len() {
            assert!(Public::parse(&bytes[..length]).is_err(), "{length}");
        }
        let longer = [bytes.as_slice(), &[0]].concat();
        assert!(matches!(
            Public::parse(&longer),
            Err(StructureError::Trailing { extra: 1, .. })
        ));
    }
}

#[test]
fn a_name_changes_with_every_attribute() {
    let key = ak();
    let mut other = key.clone();
    other.attributes.0 ^= Attributes::RESTRICTED;
    assert_ne!(key.name(), other.name());
    assert_eq!(key.name()[..2], [0, 11]);
}

#[test]
fn only_restricted_signing_keys_of_the_tpm_attest() {
    assert_eq!(ak().check_attestation_key(), Ok(()));
    assert_eq!(rsa().check_attestation_key(), Ok(()));
    let without = [
        Attributes::FIXED_TPM,
        Attributes::FIXED_PARENT,
        Attributes::SENSITIVE_DATA_ORIGIN,
        Attributes::RESTRICTED,
        Attributes::SIGN,
    ];
    for attribute in without {
        let mut key = ak();
        key.attributes.0 &= !attribute;
        assert!(matches!(
            key.check_attestation_key(),
            Err(AttestationKeyError::Lacks(_))
        ));
    }
    let mut decrypts = ak();
    decrypts.attributes.0 |= Attributes::DECRYPT;
    assert_eq!(
        decrypts.check_attestation_key(),
        Err(AttestationKeyError::Decrypts)
    );
    for scheme in [
        None,
        Some((SignatureScheme::EcDsa, HashAlg::Sha1)),
        Some((SignatureScheme::RsaPss, HashAlg::Sha256)),
    ] {
        let mut key = ak();
        key.scheme = scheme;
        assert!(matches!(
            key.check_attestation_key(),
            Err(AttestationKeyError::Scheme(_))
        ));
    }
}

#[test]
fn odd_public_areas_are_refused_with_the_field_named() {
    type Change = fn(&mut Vec<u8>);
    let cases: [(Change, &str); 5] = [
        (|b| b[1] = 0x25, "type"),
        (|b| b[3] = 0x55, "name algorithm"),
        (|b| b[4] = 0x80, "attributes"),
        (|b| b[13] = 0x99, "scheme"),
        (|b| b[17] = 0x01, "key size"),
    ];
    for (change, field) in cases {
        let mut bytes = rsa().to_bytes();
        change(&mut bytes);
        let error = Public::parse(&bytes).unwrap_err().to_string();
        assert!(error.contains(field), "{field}: {error}");
    }
}

#[test]
fn a_signature_of_another_scheme_is_refused_before_any_arithmetic() {
    let signature = Signature {
        scheme: SignatureScheme::EcDsa,
        hash: HashAlg::Sha1,
        value: SignatureValue::Ecc {
            r: vec![1],
            s: vec![1],
        },
    };
    assert!(matches!(
        ak().verify(b"message", &signature),
        Err(SignatureError::Scheme { .. })
    ));
}
