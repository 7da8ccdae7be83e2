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

/// The template of an endorsement key.
pub(super) fn selection_of(kind: EkKind) -> AsymmetricAlgorithmSelection {
    match kind {
        EkKind::Rsa2048 => AsymmetricAlgorithmSelection::Rsa(RsaKeyBits::Rsa2048),
        EkKind::EccP256 => AsymmetricAlgorithmSelection::Ecc(EccCurve::NistP256),
        EkKind::EccP384 => AsymmetricAlgorithmSelection::Ecc(EccCurve::NistP384),
        EkKind::EccP521 => AsymmetricAlgorithmSelection::Ecc(EccCurve::NistP521),
        EkKind::Rsa3072 => AsymmetricAlgorithmSelection::Rsa(RsaKeyBits::Rsa3072),
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
        EkKind::EccP384 | EkKind::Rsa3072 => {
            (SymmetricDefinition::AES_256_CFB, HashingAlgorithm::Sha384)
        }
        EkKind::EccP521 => (SymmetricDefinition::AES_256_CFB, HashingAlgorithm::Sha512),
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
    if let Some(alternatives) = kind.alternatives() {
        let mut either = DigestList::new();
        for policy in alternatives {
            either.add(Digest::try_from(policy)?)?;
        }
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
