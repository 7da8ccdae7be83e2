//! Hardware addresses, equal whatever way they are written.

/// A hardware address of 48 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mac(u64);

/// Spellings with separators: how many groups, and how many digits each has. Zeros in front may be left out, as
/// netaddr, which OpenStack uses, reads them.
const GROUPS: [(&[char], usize, std::ops::RangeInclusive<usize>); 3] = [
    (&[':', '-'], 6, 1..=2),
    (&[':', '-', '.'], 3, 1..=4),
    (&[':', '-'], 2, 5..=6),
];

impl Mac {
    /// Reads a hardware address in any usual spelling: six bytes or two halves joined by `:` or `-`, three groups
    /// joined by `:`, `-` or `.`, or the bare digits.
    pub fn parse(text: &str) -> Option<Mac> {
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
        let Some(separator) = text.chars().find(|c| !c.is_ascii_hexdigit()) else {
            let bits = matches!(text.len(), 11 | 12).then(|| u64::from_str_radix(text, 16));
            return bits?.ok().map(Mac);
        };
        let count = text.split(separator).count();
        let (_, _, lengths) = GROUPS
            .iter()
            .find(|(separators, groups, _)| *groups == count && separators.contains(&separator))?;
        let width = 48 / count;
        let mut bits = 0;
        for part in text.split(separator) {
            if !(lengths.contains(&part.len()) && digits(part)) {
                return None;
            }
            bits = (bits << width) | u64::from_str_radix(part, 16).ok()?;
        }
        Some(Mac(bits))
    }

    /// The address as a number.
    pub fn bits(self) -> u64 {
        self.0
    }
}

/// The spelling that equal addresses share.
impl std::fmt::Display for Mac {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for byte in (0..6).rev() {
            let separator = if byte == 0 { "" } else { ":" };
            write!(f, "{:02x}{separator}", (self.0 >> (8 * byte)) & 0xff)?;
        }
        Ok(())
    }
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
            "fa:16:3e:0:0:1",
            "fa16.3e00.0001",
            "fa16:3e00:1",
            "fa163e-000001",
            "fa163e:00001",
            "FA163E000001",
        ] {
            let mac = Mac::parse(text).map(|mac| mac.to_string());
            assert_eq!(mac.as_deref(), Some("fa:16:3e:00:00:01"), "{text}");
        }
        assert_eq!(
            Mac::parse("a163e000001").unwrap().to_string(),
            "0a:16:3e:00:00:01"
        );
        for text in [
            "",
            "fa:16:3e:00:00",
            "fa:16:3e:00:00:0g",
            "fa:16:3e:00:00:001",
            "fa:16-3e:00:00:01",
            "fa:16:3e:00::01",
            "fa163e.000001",
            "fa:16:3e:00:00:01 ",
        ] {
            assert_eq!(Mac::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_shared_spelling_is_read_back(bits in 0u64..(1 << 48)) {
            prop_assert_eq!(Mac::parse(&Mac(bits).to_string()), Some(Mac(bits)));
        }

        #[test]
        fn zeros_in_front_of_a_group_do_not_matter(bytes in any::<[u8; 6]>()) {
            let short: Vec<String> = bytes.iter().map(|byte| format!("{byte:x}")).collect();
            let long: Vec<String> = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
            let mac = Mac::parse(&short.join(":"));
            prop_assert!(mac.is_some());
            prop_assert_eq!(mac, Mac::parse(&long.join("-")));
            prop_assert_eq!(mac, Mac::parse(&long.concat()));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,20}") {
            if let Some(mac) = Mac::parse(&text) {
                prop_assert!(mac.bits() < 1 << 48);
            }
        }
    }
}
