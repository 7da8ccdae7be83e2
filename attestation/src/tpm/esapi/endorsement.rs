//! Endorsement keys: their templates, the sessions that satisfy their policies, their stored certificates.

use tss_esapi::abstraction::AsymmetricAlgorithmSelection;
use tss_esapi::constants::SessionType;
use tss_esapi::handles::AuthHandle;
use tss_esapi::interface_types::algorithm::HashingAlgorithm;
use tss_esapi::interface_types::ecc::EccCurve;
use tss_esapi::interface_types::key_bits::RsaKeyBits;
use tss_esapi::interface_types::session_handles::{AuthSession, PolicySession};
use tss_esapi::structures::{Digest, DigestList, SymmetricDefinition};
use tss_esapi::{Context, Error};

use crate::tpm::device::EkKind;

/// The digests of the two policies of which a SHA-384 endorsement key accepts either.
const POLICY_A_SHA384: [u8; 48] = [
    0x8b, 0xbf, 0x22, 0x66, 0x53, 0x7c, 0x17, 0x1c, 0xb5, 0x6e, 0x40, 0x3c, 0x4d, 0xc1, 0xd4, 0xb6,
    0x4f, 0x43, 0x26, 0x11, 0xdc, 0x38, 0x6e, 0x6f, 0x53, 0x20, 0x50, 0xc3, 0x27, 0x8c, 0x93, 0x0e,
    0x14, 0x3e, 0x8b, 0xb1, 0x13, 0x38, 0x24, 0xcc, 0xb4, 0x31, 0x05, 0x38, 0x71, 0xc6, 0xdb, 0x53,
];
const POLICY_C_SHA384: [u8; 48] = [
    0xd6, 0x03, 0x2c, 0xe6, 0x1f, 0x2f, 0xb3, 0xc2, 0x40, 0xeb, 0x3c, 0xf6, 0xa3, 0x32, 0x37, 0xef,
    0x2b, 0x6a, 0x16, 0xf4, 0x29, 0x3c, 0x22, 0xb4, 0x55, 0xe2, 0x61, 0xcf, 0xfd, 0x21, 0x7a, 0xd5,
    0xb4, 0x94, 0x7c, 0x2d, 0x73, 0xe6, 0x30, 0x05, 0xee, 0xd2, 0xdc, 0x2b, 0x35, 0x93, 0xd1, 0x65,
];

/// The template of an endorsement key.
pub(super) fn selection_of(kind: EkKind) -> AsymmetricAlgorithmSelection {
    match kind {
        EkKind::Rsa2048 => AsymmetricAlgorithmSelection::Rsa(RsaKeyBits::Rsa2048),
        EkKind::EccP256 => AsymmetricAlgorithmSelection::Ecc(EccCurve::NistP256),
        EkKind::EccP384 => AsymmetricAlgorithmSelection::Ecc(EccCurve::NistP384),
    }
}

/// A session that satisfies the policy of an endorsement key.
pub(super) fn endorsement_session(
    context: &mut Context,
    kind: EkKind,
) -> Result<AuthSession, Error> {
    let (symmetric, hash) = match kind {
        EkKind::Rsa2048 | EkKind::EccP256 => {
            (SymmetricDefinition::AES_128_CFB, HashingAlgorithm::Sha256)
        }
        EkKind::EccP384 => (SymmetricDefinition::AES_256_CFB, HashingAlgorithm::Sha384),
    };
    let session = context
        .start_auth_session(None, None, None, SessionType::Policy, symmetric, hash)?
        .ok_or(Error::WrapperError(
            tss_esapi::WrapperErrorKind::WrongValueFromTpm,
        ))?;
    let policy = PolicySession::try_from(session)?;
    context.execute_with_nullauth_session(|context| {
        context.policy_secret(
            policy,
            AuthHandle::Endorsement,
            Default::default(),
            Default::default(),
            Default::default(),
            None,
        )
    })?;
    if kind == EkKind::EccP384 {
        let mut either = DigestList::new();
        either.add(Digest::try_from(POLICY_A_SHA384.as_slice())?)?;
        either.add(Digest::try_from(POLICY_C_SHA384.as_slice())?)?;
        context.policy_or(policy, either)?;
    }
    Ok(session)
}

/// The certificates in a storage area, without the padding behind them.
pub(super) fn certificates(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    while let Some(length) = der_length(bytes) {
        let Some((certificate, rest)) = bytes.split_at_checked(length) else {
            break;
        };
        found.push(certificate.to_vec());
        bytes = rest;
    }
    found
}

/// The whole length of a DER sequence at the start of some bytes.
fn der_length(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [0x30, 0x81, a, ..] => Some(usize::from(*a) + 3),
        [0x30, 0x82, a, b, ..] => Some(usize::from(u16::from_be_bytes([*a, *b])) + 4),
        [0x30, a, ..] if *a < 0x80 => Some(usize::from(*a) + 2),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_behind_certificates_is_cut() {
        let stored = [0x30, 0x02, 1, 2, 0x30, 0x81, 1, 9, 0xff, 0xff];
        assert_eq!(
            certificates(&stored),
            [vec![0x30, 2, 1, 2], vec![0x30, 0x81, 1, 9]]
        );
        assert_eq!(certificates(&[0x30, 0x82, 0xff]), Vec::<Vec<u8>>::new());
        assert_eq!(
            certificates(&[0x30, 0x82, 0xff, 0xff, 1]),
            Vec::<Vec<u8>>::new()
        );
    }
}
