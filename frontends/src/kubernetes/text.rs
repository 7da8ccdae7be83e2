//! Texts with rules of their own: names, labels, base64, quantities.

/// Whether a text is a label of DNS in lower case, as the names of containers and namespaces are.
pub fn is_dns_label(text: &str) -> bool {
    let edge =
        |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    let bytes = text.as_bytes();
    bytes.len() <= 63
        && edge(bytes.first())
        && edge(bytes.last())
        && bytes
            .iter()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-')
}

/// Whether a text is a label of DNS that starts with a letter, as the names of services are.
pub fn is_rfc1035_label(text: &str) -> bool {
    is_dns_label(text) && text.starts_with(|c: char| c.is_ascii_lowercase())
}

/// Whether a text is a name of DNS in lower case, as the names of most objects are.
pub fn is_dns_subdomain(text: &str) -> bool {
    text.len() <= 253 && !text.is_empty() && {
        // Only the whole is limited, not its parts.
        text.split('.').all(|part| {
            let part = part.as_bytes();
            let edge = |byte: Option<&u8>| {
                byte.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
            };
            edge(part.first())
                && edge(part.last())
                && part
                    .iter()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-')
        })
    }
}

/// Whether a text can be part of a path, as the names of roles are.
pub fn is_path_segment(text: &str) -> bool {
    !matches!(text, "" | "." | "..") && !text.contains(['/', '%'])
}

/// Whether a text may be the value of a label.
pub fn is_label_value(text: &str) -> bool {
    text.is_empty() || is_qualified_part(text)
}

fn is_qualified_part(text: &str) -> bool {
    let bytes = text.as_bytes();
    let edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    bytes.len() <= 63
        && edge(bytes.first())
        && edge(bytes.last())
        && bytes
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

/// Whether a text may be the key of a label: a name, or a domain, `/` and a name.
pub fn is_qualified_name(text: &str) -> bool {
    match text.split_once('/') {
        Some((domain, name)) => is_dns_subdomain(domain) && is_qualified_part(name),
        None => is_qualified_part(text),
    }
}

/// Whether a text may be a key of a ConfigMap or Secret.
pub fn is_data_key(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 253
        && text != "."
        && !text.starts_with("..")
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

/// Whether a text may be the name of a port: at most 15 characters, a letter among them.
pub fn is_port_name(text: &str) -> bool {
    text.len() <= 15
        && is_dns_label(text)
        && text.bytes().any(|b| b.is_ascii_lowercase())
        && !text.contains("--")
}

/// Whether a text may be the name of an environment variable: any printable ASCII but `=`.
pub fn is_variable_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|b| (b' '..=b'~').contains(&b) && b != b'=')
}

/// The same before Kubernetes 1.32: letters, digits, `-`, `_` and `.`, not starting with a digit.
pub fn is_old_variable_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

/// Whether a text is base64 with its padding; line breaks are let pass.
pub fn is_base64(text: &str) -> bool {
    let (mut count, mut padding) = (0_usize, 0_usize);
    for byte in text.bytes() {
        match byte {
            b'\r' | b'\n' => continue,
            b'=' => padding += 1,
            b'+' | b'/' => {}
            _ if byte.is_ascii_alphanumeric() => {}
            _ => return false,
        }
        if byte != b'=' && padding > 0 {
            return false;
        }
        count += 1;
    }
    count % 4 == 0 && padding <= 2
}

/// Whether a text is a number with a unit that is beyond exact comparison, which Kubernetes caps.
pub fn is_vast_quantity(text: &str) -> bool {
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '+' | '-')))
        .unwrap_or(text.len());
    let (Some(number), Some(unit)) = (text.get(..end), text.get(end..)) else {
        return false;
    };
    let number = number.strip_prefix(['+', '-']).unwrap_or(number);
    let digits = number.bytes().filter(u8::is_ascii_digit).count();
    let dots = number.bytes().filter(|b| *b == b'.').count();
    let known = matches!(
        unit,
        "" | "n"
            | "u"
            | "m"
            | "k"
            | "M"
            | "G"
            | "T"
            | "P"
            | "E"
            | "Ki"
            | "Mi"
            | "Gi"
            | "Ti"
            | "Pi"
            | "Ei"
    );
    let exponent = unit
        .strip_prefix(['e', 'E'])
        .is_some_and(|rest| rest.parse::<i32>().is_ok());
    digits > 0 && dots <= 1 && digits + dots == number.len() && (known || exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_rules_of_dns() {
        for good in ["a", "web-1", "1web"] {
            assert!(is_dns_label(good), "{good}");
        }
        for bad in ["", "-a", "a-", "A", "a.b", "a_b", &"a".repeat(64)] {
            assert!(!is_dns_label(bad), "{bad}");
        }
        assert!(is_rfc1035_label("web-1") && !is_rfc1035_label("1web"));
        assert!(is_dns_subdomain("a.b-c.1") && is_dns_subdomain(&"a".repeat(253)));
        for bad in ["", "a..b", "a.-b", "vttablet-{{uid}}", &"a".repeat(254)] {
            assert!(!is_dns_subdomain(bad), "{bad}");
        }
        assert!(is_path_segment("system:node") && !is_path_segment("a/b"));
    }

    #[test]
    fn labels_have_keys_and_values_of_63_characters() {
        for good in ["app", "app.kubernetes.io/name", "A_b.c-1"] {
            assert!(is_qualified_name(good), "{good}");
        }
        for bad in ["", "/a", "a/", "A/b", "a/b/c", "-a", "a b"] {
            assert!(!is_qualified_name(bad), "{bad}");
        }
        assert!(is_label_value("") && is_label_value("v1.2_3"));
        for bad in ["a b", "-a", "a-", &"a".repeat(64)] {
            assert!(!is_label_value(bad), "{bad}");
        }
    }

    #[test]
    fn ports_and_keys_have_names_of_their_own() {
        assert!(is_port_name("http-2") && is_port_name("80a"));
        for bad in ["", "8080", "HTTP", "a--b", "-a", "sixteen-letters-x"] {
            assert!(!is_port_name(bad), "{bad}");
        }
        assert!(is_data_key("tls.crt") && is_data_key(".dockerconfigjson"));
        for bad in ["", ".", "..a", "a/b"] {
            assert!(!is_data_key(bad), "{bad}");
        }
        assert!(
            is_variable_name("A.b-C")
                && is_old_variable_name("A.b-C")
                && !is_old_variable_name("1a")
                && !is_variable_name("A=b")
                && !is_variable_name("")
        );
    }

    #[test]
    fn base64_has_its_padding() {
        for good in ["", "YQ==", "YWI=", "YWJj", "YW\nJj"] {
            assert!(is_base64(good), "{good}");
        }
        for bad in ["a", "YQ", "YQ=a", "a b=", "Y===", "YWJj="] {
            assert!(!is_base64(bad), "{bad}");
        }
    }

    #[test]
    fn vast_quantities_are_quantities() {
        assert!(
            is_vast_quantity("1e90")
                && is_vast_quantity("99999999999999999999999999999999999999999Ei")
        );
        assert!(!is_vast_quantity("1GB") && !is_vast_quantity("") && !is_vast_quantity("1.2.3"));
    }
}
