//! Semantic versions, ordered as semver.org says.

use std::cmp::Ordering;

/// A semantic version, build metadata left out because it has no rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    numbers: [u64; 3],
    /// Identifiers of the pre-release; empty for a release.
    pre: Vec<String>,
}

impl Version {
    /// Reads `1.2.3-rc.1+build`; a leading `v` and missing trailing numbers, which tags often have, are accepted.
    pub fn parse(text: &str) -> Option<Version> {
        let text = text.strip_prefix(['v', 'V']).unwrap_or(text);
        let text = text.split_once('+').map_or(text, |(version, _)| version);
        let (core, pre) = match text.split_once('-') {
            Some((core, pre)) => (core, pre.split('.').map(str::to_owned).collect()),
            None => (text, Vec::new()),
        };
        let legal = |id: &String| {
            !id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        };
        if !pre.iter().all(legal) {
            return None;
        }
        let mut numbers = [0; 3];
        let mut parts = core.split('.');
        let mut count = 0;
        for (slot, part) in numbers.iter_mut().zip(&mut parts) {
            let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            *slot = digits.then(|| part.parse().ok()).flatten()?;
            count += 1;
        }
        (count > 0 && parts.next().is_none()).then_some(Version { numbers, pre })
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let pre = || match (self.pre.is_empty(), other.pre.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => self
                .pre
                .iter()
                .zip(&other.pre)
                .map(|(a, b)| identifier(a, b))
                .find(|order| order.is_ne())
                .unwrap_or_else(|| self.pre.len().cmp(&other.pre.len())),
        };
        self.numbers.cmp(&other.numbers).then_with(pre)
    }
}

/// Numbers before words, numbers by size, words by character.
fn identifier(a: &str, b: &str) -> Ordering {
    let digits = |id: &str| id.bytes().all(|byte| byte.is_ascii_digit());
    match (digits(a), digits(b)) {
        (true, true) => {
            let (a, b) = (a.trim_start_matches('0'), b.trim_start_matches('0'));
            a.len().cmp(&b.len()).then_with(|| a.cmp(b))
        }
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => a.cmp(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_order_of_the_specification() {
        let ordered = [
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-beta",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "1.0.0-rc.1",
            "1.0.0",
            "1.0.1",
            "1.2",
            "2",
            "v10.0.0",
        ];
        let versions: Vec<Version> = ordered.iter().map(|v| Version::parse(v).unwrap()).collect();
        assert!(versions.is_sorted_by(|a, b| a < b), "{versions:?}");
        assert_eq!(Version::parse("1.0.0+a"), Version::parse("1.0.0+b"));
        for text in [
            "",
            "v",
            "1.",
            "1.2.3.4",
            "1.x",
            "1.0.0-",
            "latest",
            "1.0.0-a..b",
        ] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_order_agrees_with_an_independent_implementation(
            a in "[0-2]\\.[0-2]\\.[0-2](-[a-c0-2]{1,2}(\\.[a-c]{1,2})?)?",
            b in "[0-2]\\.[0-2]\\.[0-2](-[a-c0-2]{1,2}(\\.[a-c]{1,2})?)?",
        ) {
            let (Ok(x), Ok(y)) = (semver::Version::parse(&a), semver::Version::parse(&b)) else {
                // The peer refuses leading zeros in numeric identifiers.
                return Ok(());
            };
            prop_assert_eq!(Version::parse(&a).cmp(&Version::parse(&b)), x.cmp(&y));
        }
    }
}
