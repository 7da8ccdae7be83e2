//! Hardware addresses, equal whatever way they are written.

/// Reads a MAC address in any of the usual spellings: six pairs joined by `:` or `-`, three groups of four
/// joined by `.`, or twelve digits.
pub fn parse(text: &str) -> Option<u64> {
    let separator = text
        .bytes()
        .find(|byte| !byte.is_ascii_hexdigit())
        .map(char::from);
    let groups: (usize, usize) = match separator {
        None => (1, 12),
        Some(':' | '-') => (6, 2),
        Some('.') => (3, 4),
        Some(_) => return None,
    };
    let mut bits: u64 = 0;
    let mut count = 0;
    let parts: Vec<&str> = match separator {
        None => vec![text],
        Some(separator) => text.split(separator).collect(),
    };
    for part in parts {
        let digits = part.len() == groups.1 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !digits {
            return None;
        }
        bits = (bits << (4 * groups.1)) | u64::from_str_radix(part, 16).ok()?;
        count += 1;
    }
    (count == groups.0).then_some(bits)
}

/// The spelling that equal addresses share.
pub fn canonical(bits: u64) -> String {
    let pairs: Vec<String> = (0..6)
        .rev()
        .map(|byte| format!("{:02x}", (bits >> (8 * byte)) & 0xff))
        .collect();
    pairs.join(":")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_spelling_is_one_address() {
        for text in [
            "FA:16:3e:00:00:01",
            "fa-16-3e-00-00-01",
            "fa16.3e00.0001",
            "FA163E000001",
        ] {
            assert_eq!(
                canonical(parse(text).unwrap()),
                "fa:16:3e:00:00:01",
                "{text}"
            );
        }
        for text in [
            "",
            "fa:16:3e:00:00",
            "fa:16:3e:00:00:0g",
            "fa:16:3e:00:00:001",
            "fa:16-3e:00:00:01",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_shared_spelling_is_read_back(bits in 0u64..(1 << 48)) {
            prop_assert_eq!(parse(&canonical(bits)), Some(bits));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,20}") {
            if let Some(bits) = parse(&text) {
                prop_assert!(bits < 1 << 48);
            }
        }
    }
}
