//! DNS names.

/// Whether a text is a DNS name, absolute (with a dot at its end) or relative: labels of at most 63 letters, digits,
/// `-` and `_`, at most 255 characters, and a last label that is not a number when there are several.
pub fn is_name(text: &str) -> bool {
    let name = text.strip_suffix('.').unwrap_or(text);
    if name.is_empty() || text.len() > 255 {
        return false;
    }
    let label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && label
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let numeric = |label: &str| label.bytes().all(|b| b.is_ascii_digit());
    name.split('.').all(label) && name.rsplit_once('.').is_none_or(|(_, last)| !numeric(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_legal_labels() {
        for text in ["host", "host-1.example.org", "example.org.", "1", "_srv.a"] {
            assert!(is_name(text), "{text}");
        }
        let long = "a".repeat(64);
        for text in ["", ".", "-host", "host-", "a..b", "10.0.0.1", "a b", &long] {
            assert!(!is_name(text), "{text}");
        }
    }
}
