//! EK certificates: what leads to a manufacturer, and everything that must not.
#![expect(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

use std::str::FromStr as _;

use der::Encode as _;
use locus_attestation::clock::Timestamp;
use locus_attestation::registrar::{
    EkError, EkIdentity, EkKey, RevocationError, SignatureError, TrustStore,
};
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, CertifiedIssuer,
    CustomExtension, DistinguishedName, DnType, GeneralSubtree, IsCa, KeyIdMethod, KeyPair,
    KeyUsagePurpose, NameConstraints, RevokedCertParams, SerialNumber,
};
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::name::Name;

const NOW: Timestamp = Timestamp::from_secs(1_800_000_000);
const MANUFACTURER: &str = "id:4c4f4355";

type Authority = CertifiedIssuer<'static, KeyPair>;

fn name(common: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::OrganizationName, "Maker");
    name.push(DnType::CommonName, common);
    name
}

fn authority_params(common: &str, depth: BasicConstraints) -> CertificateParams {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name = name(common);
    params.is_ca = IsCa::Ca(depth);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params.not_before = rcgen::date_time_ymd(2020, 1, 1);
    params.not_after = rcgen::date_time_ymd(2040, 1, 1);
    params
}

fn root() -> Authority {
    let params = authority_params("Root", BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

fn below(params: CertificateParams, issuer: &Authority) -> Authority {
    CertifiedIssuer::signed_by(params, KeyPair::generate().unwrap(), issuer).unwrap()
}

fn utf8(text: &str) -> String {
    let digits: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    format!("#0c{:02x}{digits}", text.len())
}

fn tpm_names(manufacturer: &str) -> CustomExtension {
    let text = format!(
        "2.23.133.2.3={},2.23.133.2.2={},2.23.133.2.1={}",
        utf8("id:00070055"),
        utf8("Model 7"),
        utf8(manufacturer)
    );
    let names = SubjectAltName(vec![GeneralName::DirectoryName(
        Name::from_str(&text).unwrap(),
    )]);
    let mut extension = CustomExtension::from_oid_content(&[2, 5, 29, 17], names.to_der().unwrap());
    extension.set_criticality(true);
    extension
}

/// tcg-kp-EKCertificate.
fn ek_usage() -> CustomExtension {
    let der = vec![0x30, 7, 6, 5, 0x67, 0x81, 5, 8, 1];
    CustomExtension::from_oid_content(&[2, 5, 29, 37], der)
}

fn leaf_params() -> CertificateParams {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name = DistinguishedName::new();
    params.is_ca = IsCa::ExplicitNoCa;
    params.key_usages = vec![KeyUsagePurpose::KeyAgreement];
    params.not_before = rcgen::date_time_ymd(2020, 1, 1);
    params.not_after = rcgen::date_time_ymd(2040, 1, 1);
    params.serial_number = Some(SerialNumber::from(4711_u64));
    params.custom_extensions = vec![tpm_names(MANUFACTURER), ek_usage()];
    params
}

fn leaf(params: &CertificateParams, issuer: &Authority) -> Vec<u8> {
    let key = KeyPair::generate().unwrap();
    params.signed_by(&key, issuer).unwrap().der().to_vec()
}

fn trusting(root: &Authority) -> TrustStore {
    let mut store = TrustStore::new();
    store.add_root(MANUFACTURER, root.der()).unwrap();
    store
}

fn validate(store: &TrustStore, leaf: &[u8], chain: &[&Authority]) -> Result<EkIdentity, EkError> {
    let chain: Vec<Vec<u8>> = chain.iter().map(|one| one.der().to_vec()).collect();
    store.validate_ek(leaf, &chain, NOW)
}

#[test]
fn a_certificate_leads_to_its_manufacturer() {
    let root = root();
    let middle = below(
        authority_params("Middle", BasicConstraints::Constrained(0)),
        &root,
    );
    let leaf = leaf(&leaf_params(), &middle);
    let store = trusting(&root);
    let identity = validate(&store, &leaf, &[&middle]).unwrap();
    assert_eq!(identity.tpm.manufacturer, MANUFACTURER);
    assert_eq!(identity.tpm.model, "Model 7");
    assert_eq!(identity.tpm.manufacturer_letters(), "LOCU");
    assert!(!identity.tpm.is_software());
    assert!(matches!(identity.key, EkKey::Ec { bits: 256, .. }));
    assert_eq!(identity.serial, "1267");
    // Padding from NV, and an intermediate that is stored instead of sent.
    let mut stored = store.clone();
    stored.add_intermediate(middle.der()).unwrap();
    let padded = [&leaf[..], &[0xff; 100]].concat();
    assert_eq!(validate(&stored, &padded, &[]).unwrap(), identity);
}

#[test]
fn nobody_is_trusted_who_is_not_a_root() {
    let root = root();
    let middle = below(
        authority_params("Middle", BasicConstraints::Constrained(0)),
        &root,
    );
    let leaf = leaf(&leaf_params(), &middle);
    assert!(matches!(
        validate(&trusting(&root), &leaf, &[]),
        Err(EkError::UnknownIssuer { .. })
    ));
    assert!(matches!(
        validate(&TrustStore::new(), &leaf, &[&middle, &root]),
        Err(EkError::UnknownIssuer { .. })
    ));
}

/// A root of the same name with another key: what an attacker would send along.
#[test]
fn a_name_is_no_proof() {
    let (honest, impostor) = (root(), root());
    let forged = leaf(&leaf_params(), &impostor);
    for sent in [&[][..], &[&impostor]] {
        assert!(matches!(
            validate(&trusting(&honest), &forged, sent),
            Err(EkError::Signature {
                error: SignatureError::Wrong,
                ..
            })
        ));
    }
}

#[test]
fn every_flipped_bit_is_noticed() {
    let root = root();
    let store = trusting(&root);
    let leaf = leaf(&leaf_params(), &root);
    assert!(validate(&store, &leaf, &[]).is_ok());
    for place in 0..leaf.len() {
        let mut changed = leaf.clone();
        changed[place] ^= 1;
        assert!(validate(&store, &changed, &[]).is_err(), "byte {place}");
    }
}

#[test]
fn time_is_checked_on_the_whole_path() {
    let root = root();
    let mut expired = authority_params("Old", BasicConstraints::Unconstrained);
    expired.not_after = rcgen::date_time_ymd(2021, 1, 1);
    let expired = below(expired, &root);
    let leaf_below = leaf(&leaf_params(), &expired);
    assert!(matches!(
        validate(&trusting(&root), &leaf_below, &[&expired]),
        Err(EkError::Validity(subject)) if subject.contains("Old")
    ));
    let mut future = leaf_params();
    future.not_before = rcgen::date_time_ymd(2039, 1, 1);
    let future = leaf(&future, &root);
    assert!(matches!(
        validate(&trusting(&root), &future, &[]),
        Err(EkError::Validity(_))
    ));
}

#[test]
fn only_authorities_issue_certificates() {
    let root = root();
    let mut plain = authority_params("Plain", BasicConstraints::Unconstrained);
    plain.is_ca = IsCa::ExplicitNoCa;
    let plain = below(plain, &root);
    let forged = leaf(&leaf_params(), &plain);
    assert!(matches!(
        validate(&trusting(&root), &forged, &[&plain]),
        Err(EkError::NotAnAuthority(_))
    ));
    let mut unsigned = authority_params("No signing", BasicConstraints::Unconstrained);
    unsigned.key_usages = vec![KeyUsagePurpose::CrlSign];
    let unsigned = below(unsigned, &root);
    let forged = leaf(&leaf_params(), &unsigned);
    assert!(matches!(
        validate(&trusting(&root), &forged, &[&unsigned]),
        Err(EkError::NotAnAuthority(_))
    ));
    // One authority too many below a limit on the path's length.
    let first = below(
        authority_params("First", BasicConstraints::Constrained(0)),
        &root,
    );
    let second = below(
        authority_params("Second", BasicConstraints::Unconstrained),
        &first,
    );
    let deep = leaf(&leaf_params(), &second);
    assert!(matches!(
        validate(&trusting(&root), &deep, &[&first, &second]),
        Err(EkError::NotAnAuthority(subject)) if subject.contains("First")
    ));
}

#[test]
fn an_authority_cannot_leave_its_name_constraints() {
    let root = root();
    let constrained = |organisation: &str| {
        let mut permitted = DistinguishedName::new();
        permitted.push(DnType::OrganizationName, organisation);
        let mut params = authority_params("Constrained", BasicConstraints::Unconstrained);
        params.name_constraints = Some(NameConstraints {
            permitted_subtrees: vec![GeneralSubtree::DirectoryName(permitted)],
            excluded_subtrees: Vec::new(),
        });
        below(params, &root)
    };
    let mut inside = leaf_params();
    inside.distinguished_name = name("EK");
    // The identifiers of the TPM are a directory name as well, and outside of every organisation.
    let authority = constrained("Maker");
    let refused = leaf(&inside, &authority);
    assert!(matches!(
        validate(&trusting(&root), &refused, &[&authority]),
        Err(EkError::NameConstraints(_))
    ));
}

#[test]
fn a_certificate_for_another_purpose_is_refused() {
    let root = root();
    let store = trusting(&root);
    let mut signing = leaf_params();
    signing.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    let mut web = leaf_params();
    web.custom_extensions = vec![tpm_names(MANUFACTURER)];
    web.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ServerAuth];
    let mut authority = leaf_params();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    for params in [signing, web, authority] {
        let certificate = leaf(&params, &root);
        assert!(matches!(
            validate(&store, &certificate, &[]),
            Err(EkError::Purpose(_))
        ));
    }
    let mut nameless = leaf_params();
    nameless.custom_extensions = vec![ek_usage()];
    let nameless = leaf(&nameless, &root);
    assert_eq!(
        validate(&store, &nameless, &[]),
        Err(EkError::NoTpmIdentity)
    );
    let mut other = leaf_params();
    other.custom_extensions = vec![tpm_names("id:49465800"), ek_usage()];
    let other = leaf(&other, &root);
    assert_eq!(
        validate(&store, &other, &[]),
        Err(EkError::Manufacturer {
            tpm: "id:49465800".to_owned(),
            root: MANUFACTURER.to_owned()
        })
    );
    let mut critical = leaf_params();
    let mut strange = CustomExtension::from_oid_content(&[1, 2, 3, 4], vec![5, 0]);
    strange.set_criticality(true);
    critical.custom_extensions.push(strange);
    let critical = leaf(&critical, &root);
    assert!(matches!(
        validate(&store, &critical, &[]),
        Err(EkError::CriticalExtension { oid, .. }) if oid == "1.2.3.4"
    ));
}

fn revocation_list(issuer: &Authority, serials: &[u64], until: i32) -> Vec<u8> {
    let params = CertificateRevocationListParams {
        this_update: rcgen::date_time_ymd(2026, 1, 1),
        next_update: rcgen::date_time_ymd(until, 1, 1),
        crl_number: SerialNumber::from(1_u64),
        issuing_distribution_point: None,
        revoked_certs: serials
            .iter()
            .map(|serial| RevokedCertParams {
                serial_number: SerialNumber::from(*serial),
                revocation_time: rcgen::date_time_ymd(2026, 1, 1),
                reason_code: None,
                invalidity_date: None,
            })
            .collect(),
        key_identifier_method: KeyIdMethod::Sha256,
    };
    params.signed_by(issuer).unwrap().der().to_vec()
}

#[test]
fn a_revocation_list_is_believed_and_must_be_current() {
    let (root, impostor) = (root(), root());
    let certificate = leaf(&leaf_params(), &root);
    let with = |list: Vec<u8>| {
        let mut store = trusting(&root);
        store.add_revocation_list(&list).unwrap();
        validate(&store, &certificate, &[]).map_err(|error| match error {
            EkError::Revocation { error, .. } => error,
            other => panic!("{other}"),
        })
    };
    assert!(with(revocation_list(&root, &[1], 2030)).is_ok());
    assert_eq!(
        with(revocation_list(&root, &[1, 4711], 2030)).unwrap_err(),
        RevocationError::Revoked
    );
    assert_eq!(
        with(revocation_list(&root, &[], 2027)).unwrap_err(),
        RevocationError::Stale
    );
    assert_eq!(
        with(revocation_list(&impostor, &[], 2030)).unwrap_err(),
        RevocationError::Signature(SignatureError::Wrong)
    );
}

#[test]
fn circles_and_crowds_come_to_an_end() {
    let root = root();
    let one = below(
        authority_params("One", BasicConstraints::Unconstrained),
        &root,
    );
    let two = below(
        authority_params("Two", BasicConstraints::Unconstrained),
        &one,
    );
    let certificate = leaf(&leaf_params(), &two);
    // Nobody is trusted: every path must be given up.
    let stranger = trusting(&crate::root());
    let crowd: Vec<&Authority> = std::iter::repeat_n([&one, &two], 8).flatten().collect();
    assert!(validate(&stranger, &certificate, &crowd).is_err());
    let crowd: Vec<&Authority> = std::iter::repeat_n(&one, 17).collect();
    assert_eq!(
        validate(&stranger, &certificate, &crowd),
        Err(EkError::TooMany)
    );
}
