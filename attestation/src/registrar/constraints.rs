//! Name constraints (RFC 5280, 4.2.1.10) of the certification authorities above a certificate.

use der::Encode as _;
use x509_cert::ext::pkix::NameConstraints;
use x509_cert::ext::pkix::constraints::name::GeneralSubtree;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::name::Name;

/// Whether all names of a certificate are inside what an authority above it allows.
pub(super) fn allows(
    constraints: &NameConstraints,
    subject: &Name,
    others: &[GeneralName],
) -> bool {
    let subject = GeneralName::DirectoryName(subject.clone());
    let names = std::iter::once(&subject)
        .filter(|_| !matches!(&subject, GeneralName::DirectoryName(name) if name.is_empty()))
        .chain(others);
    for name in names {
        let subtrees = |trees: &Option<Vec<GeneralSubtree>>| -> Vec<Option<bool>> {
            trees
                .iter()
                .flatten()
                .filter_map(|tree| within(name, &tree.base))
                .collect()
        };
        // A kind of name that cannot be compared is refused by both lists.
        if subtrees(&constraints.excluded_subtrees)
            .iter()
            .any(|inside| *inside != Some(false))
        {
            return false;
        }
        let permitted = subtrees(&constraints.permitted_subtrees);
        if !permitted.is_empty() && !permitted.contains(&Some(true)) {
            return false;
        }
    }
    true
}

/// Whether a name is within a subtree: nothing when they are of different kinds, and nothing inside
/// that when the kind cannot be compared.
fn within(name: &GeneralName, base: &GeneralName) -> Option<Option<bool>> {
    use GeneralName as G;
    if std::mem::discriminant(name) != std::mem::discriminant(base) {
        return None;
    }
    Some(match (name, base) {
        (G::DirectoryName(name), G::DirectoryName(base)) => Some(is_prefix(base, name)),
        (G::DnsName(name), G::DnsName(base)) => Some(host_within(name.as_str(), base.as_str())),
        (G::Rfc822Name(name), G::Rfc822Name(base)) => {
            let (name, base) = (name.as_str(), base.as_str());
            let host = name.rsplit_once('@').map_or("", |(_, host)| host);
            Some(if base.contains('@') {
                name.eq_ignore_ascii_case(base)
            } else if base.starts_with('.') {
                host_within(host, base)
            } else {
                host.eq_ignore_ascii_case(base)
            })
        }
        (G::UniformResourceIdentifier(name), G::UniformResourceIdentifier(base)) => {
            let host = name
                .as_str()
                .split_once("://")
                .map_or("", |(_, rest)| rest)
                .split(['/', '?', '#', ':'])
                .next()
                .unwrap_or("");
            let base = base.as_str();
            Some(if base.starts_with('.') {
                host_within(host, base)
            } else {
                host.eq_ignore_ascii_case(base)
            })
        }
        (G::IpAddress(name), G::IpAddress(base)) => {
            let (name, base) = (name.as_bytes(), base.as_bytes());
            let (address, mask) = base.split_at(base.len() / 2);
            Some(
                name.len() == address.len()
                    && name
                        .iter()
                        .zip(address)
                        .zip(mask)
                        .all(|((name, address), mask)| name & mask == address & mask),
            )
        }
        _ => None,
    })
}

/// Part by part, so that `O=Good` is no prefix of `O=Goodness`.
fn is_prefix(base: &Name, name: &Name) -> bool {
    if base.len() > name.len() && base.iter_rdn().count() > name.iter_rdn().count() {
        return false;
    }
    let mut parts = name.iter_rdn();
    base.iter_rdn().all(|expected| {
        parts.next().is_some_and(|part| {
            part == expected
                || matches!((part.to_der(), expected.to_der()), (Ok(a), Ok(b)) if a == b)
        })
    })
}

fn host_within(host: &str, base: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let base = base.to_ascii_lowercase();
    let bare = base.strip_prefix('.').unwrap_or(&base);
    if bare.is_empty() {
        return true;
    }
    (host == bare && !base.starts_with('.'))
        || host
            .strip_suffix(bare)
            .is_some_and(|before| before.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::str::FromStr as _;

    fn dns(name: &str) -> GeneralName {
        GeneralName::DnsName(der::asn1::Ia5String::new(name).unwrap())
    }

    fn folder(name: &str) -> GeneralName {
        GeneralName::DirectoryName(Name::from_str(name).unwrap())
    }

    fn only(base: GeneralName, permitted: bool) -> NameConstraints {
        let tree = Some(vec![GeneralSubtree {
            base,
            minimum: 0,
            maximum: None,
        }]);
        let (permitted_subtrees, excluded_subtrees) = if permitted {
            (tree, None)
        } else {
            (None, tree)
        };
        NameConstraints {
            permitted_subtrees,
            excluded_subtrees,
        }
    }

    #[test]
    fn directory_names_are_compared_part_by_part() {
        let inside = Name::from_str("CN=tpm,O=Good,C=DE").unwrap();
        let outside = Name::from_str("CN=tpm,O=Goodness,C=DE").unwrap();
        let good = folder("O=Good,C=DE");
        assert!(allows(&only(good.clone(), true), &inside, &[]));
        assert!(!allows(&only(good.clone(), true), &outside, &[]));
        assert!(!allows(&only(good.clone(), false), &inside, &[]));
        assert!(allows(&only(good, false), &outside, &[]));
    }

    #[test]
    fn alternative_names_count_as_much() {
        let subject = Name::from_str("CN=x").unwrap();
        let names = [dns("a.example.org"), dns("b.example.com")];
        assert!(!allows(&only(dns("example.org"), true), &subject, &names));
        assert!(allows(
            &only(dns("example.org"), true),
            &subject,
            &names[..1]
        ));
        assert!(!allows(&only(dns("example.com"), false), &subject, &names));
        assert!(
            allows(&only(dns("ample.org"), false), &subject, &names),
            "a host is compared label by label"
        );
    }

    #[test]
    fn a_kind_of_name_that_cannot_be_compared_is_refused() {
        let oid = der::asn1::ObjectIdentifier::new("1.2.3").unwrap();
        let id = GeneralName::RegisteredId(oid);
        let subject = Name::from_str("CN=x").unwrap();
        for permitted in [true, false] {
            let constraints = only(id.clone(), permitted);
            assert!(!allows(&constraints, &subject, std::slice::from_ref(&id)));
            assert!(allows(&constraints, &subject, &[dns("other.kind")]));
        }
    }
}
