//! Other values that a scalar may have.

use std::net::IpAddr;

use locus_core::Diagnostic;

use crate::session::Report;

/// The most values that are tried for one scalar.
const TRIED: usize = 24;

/// Values from farther away that are tried for one scalar, of each sort.
pub(super) const FARTHER: usize = 12;

/// What a key has elsewhere in the files, as scalars on one line, in their order.
pub(super) fn elsewhere(key: &str, report: &Report) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for file in report.sources.files() {
        for line in report.sources.text(file).lines() {
            let line = line.trim_start().trim_start_matches("- ").trim_start();
            let value = line
                .strip_prefix(key)
                .and_then(|rest| rest.strip_prefix(": "));
            let Some(value) = value else { continue };
            let value = value.split(" #").next().unwrap_or(value).trim();
            let value = value.trim_matches(['"', '\'']);
            let plain =
                !value.is_empty() && !value.starts_with(['{', '[', '&', '*', '|', '>', '!']);
            if plain && found.len() < FARTHER && !found.iter().any(|known| known == value) {
                found.push(value.to_owned());
            }
        }
    }
    found
}

/// Other values for a text, the likeliest first: another location of the same sort, what the finding names, the next
/// number or address.
pub(super) fn others(text: &str, report: &Report, finding: &Diagnostic) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let graph = &report.graph;
    let named = graph
        .locations()
        .find(|(_, location)| &*location.name == text);
    if let Some((_, own)) = named {
        let same = graph.locations().map(|(_, other)| other);
        let same = same.filter(|other| other.sort == own.sort && other.name != own.name);
        found.extend(same.map(|other| other.name.to_string()));
    }
    match text.to_ascii_lowercase().as_str() {
        "true" => found.push("false".to_owned()),
        "false" => found.push("true".to_owned()),
        _ => {}
    }
    let said = [finding.help.as_deref().unwrap_or(""), &finding.message].join(" ");
    let quoted: Vec<&str> = said.split('`').skip(1).step_by(2).collect();
    found.extend(addresses(text, report, &said));
    if text.parse::<i64>().is_ok() {
        found.extend(numbers(&said));
    }
    for word in quoted {
        let value = word.split_once(": ").map_or(word, |(_, value)| value);
        let fits = value.len() <= 40 && !value.contains(['{', '\n']);
        // A number is not replaced by a word, nor a word by a number.
        let alike = value.parse::<i64>().is_ok() == text.parse::<i64>().is_ok();
        if fits && alike {
            found.push(value.to_owned());
        }
    }
    found.extend(counted(text));
    let mut unique: Vec<String> = Vec::new();
    for value in found {
        if value != text && !unique.contains(&value) {
            unique.push(value);
        }
    }
    unique.truncate(TRIED);
    unique
}

/// The numbers that a text names, and those beside them.
fn numbers(said: &str) -> Vec<String> {
    let words = said.split(|c: char| !c.is_ascii_digit());
    let named = words.filter_map(|word| word.parse::<i64>().ok());
    named
        .flat_map(|n| [n, n - 1, n + 1])
        .filter(|n| *n >= 0)
        .map(|n| n.to_string())
        .collect()
}

/// The text with its last or first number one more or less, and with a number behind it.
fn counted(text: &str) -> Vec<String> {
    let is_digit = |c: char| c.is_ascii_digit();
    let mut all = Vec::new();
    let runs: Vec<(usize, usize)> = {
        let mut runs = Vec::new();
        let mut start = None;
        for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
            match (start, is_digit(c)) {
                (None, true) => start = Some(at),
                (Some(from), false) => {
                    runs.push((from, at));
                    start = None;
                }
                _ => {}
            }
        }
        runs
    };
    let chosen = runs.last().into_iter().chain(runs.first());
    for &(from, to) in chosen {
        let (Some(before), Some(run), Some(after)) =
            (text.get(..from), text.get(from..to), text.get(to..))
        else {
            continue;
        };
        if let Ok(n) = run.parse::<u64>() {
            for other in [n.checked_add(1), n.checked_sub(1)].into_iter().flatten() {
                let width = run.len();
                all.push(format!("{before}{other:0width$}{after}"));
            }
        }
    }
    let is_word = text
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
    if is_word && !text.is_empty() && text.parse::<f64>().is_err() {
        all.push(format!("{text}-2"));
    }
    all
}

/// An address and the length of its prefix.
fn block(text: &str) -> Option<(IpAddr, u8)> {
    let (address, length) = text.split_once('/')?;
    let address: IpAddr = address.parse().ok()?;
    let length: u8 = length.parse().ok()?;
    (length <= if address.is_ipv4() { 32 } else { 128 }).then_some((address, length))
}

fn bits(address: IpAddr) -> (u128, u8) {
    match address {
        IpAddr::V4(address) => (u128::from(u32::from(address)), 32),
        IpAddr::V6(address) => (u128::from(address), 128),
    }
}

fn address(bits: u128, size: u8) -> Option<IpAddr> {
    match size {
        32 => Some(IpAddr::V4(u32::try_from(bits).ok()?.into())),
        _ => Some(IpAddr::V6(bits.into())),
    }
}

/// The address of a block that lies a distance from its start.
fn nth(block: (IpAddr, u8), n: u128) -> Option<IpAddr> {
    let (start, size) = bits(block.0);
    let host = u32::from(size - block.1);
    let mask = 1u128.checked_shl(host).map_or(u128::MAX, |one| one - 1);
    (n <= mask).then(|| address((start & !mask) + n, size))?
}

/// Other addresses and blocks, from those that a finding and the files name.
fn addresses(text: &str, report: &Report, said: &str) -> Vec<String> {
    let is_part = |c: char| c.is_ascii_hexdigit() || matches!(c, '.' | ':' | '/');
    let mut written: Vec<&str> = said.split(|c| !is_part(c)).collect();
    for file in report.sources.files() {
        written.extend(
            report
                .sources
                .text(file)
                .split(|c| !is_part(c))
                .take(20_000),
        );
    }
    let blocks: Vec<(IpAddr, u8)> = written.iter().filter_map(|word| block(word)).collect();
    let mut all = Vec::new();
    if let Ok(own) = text.parse::<IpAddr>() {
        let same = blocks
            .iter()
            .filter(|block| block.0.is_ipv4() == own.is_ipv4());
        for &block in same {
            // The first addresses of a block are often those of gateways.
            let hosts = [10u128, 11, 50, 100, 5, 2, 1].into_iter();
            all.extend(
                hosts
                    .filter_map(|n| nth(block, n))
                    .map(|one| one.to_string()),
            );
        }
        let (value, size) = bits(own);
        all.extend(
            [value.checked_add(1), value.checked_sub(1)]
                .into_iter()
                .flatten()
                .filter_map(|value| address(value, size))
                .map(|one| one.to_string()),
        );
    } else if let Some(own) = block(text) {
        if let Some(start) = nth(own, 0) {
            all.push(format!("{start}/{}", own.1));
        }
        let named = written
            .iter()
            .filter_map(|word| word.parse::<IpAddr>().ok());
        for one in named.filter(|one| one.is_ipv4() == own.0.is_ipv4()) {
            all.extend(nth((one, own.1), 0).map(|start| format!("{start}/{}", own.1)));
        }
        let (value, size) = bits(own.0);
        let step = 1u128.checked_shl(u32::from(size - own.1));
        for distance in [1u128, 2, 3] {
            let next = step.and_then(|step| value.checked_add(step.checked_mul(distance)?));
            let start = next.and_then(|next| address(next, size));
            let start = start.and_then(|start| nth((start, own.1), 0));
            all.extend(start.map(|start| format!("{start}/{}", own.1)));
        }
    }
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_on_and_keep_their_width() {
        assert_eq!(
            counted("8080:80"),
            ["8080:81", "8080:79", "8081:80", "8079:80"]
        );
        assert_eq!(
            counted("fa:16:3e:00:00:09").first().unwrap(),
            "fa:16:3e:00:00:10"
        );
        assert_eq!(counted("web"), ["web-2"]);
    }

    #[test]
    fn addresses_of_a_block_are_counted_from_its_start() {
        assert_eq!(
            nth(block("10.0.0.7/24").unwrap(), 5).unwrap().to_string(),
            "10.0.0.5"
        );
        assert_eq!(nth(block("10.0.0.0/30").unwrap(), 9), None);
        assert_eq!(
            nth(block("fd00::/64").unwrap(), 1).unwrap().to_string(),
            "fd00::1"
        );
        assert_eq!(nth(block("::/0").unwrap(), 1).unwrap().to_string(), "::1");
    }
}
