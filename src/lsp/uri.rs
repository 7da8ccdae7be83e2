//! Files and the URIs that editors give them.

use std::path::Path;
use std::str::FromStr as _;

use locus_frontends::loader::normalize;
use lsp_types::Uri;

/// The path that a URI names: of a file its own; of anything else, such as text that was never saved, a path in a folder
/// that no file is in, so that it is never mistaken for one.
pub(super) fn to_path(uri: &Uri) -> String {
    let text = uri.as_str();
    let Some(rest) = text
        .get(..7)
        .filter(|scheme| scheme.eq_ignore_ascii_case("file://"))
    else {
        return format!("/{}", text.replace('/', "%2F"));
    };
    let rest = text.get(rest.len()..).unwrap_or_default();
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    // What stands before the path names the machine.
    let path = rest
        .find('/')
        .map_or("/", |at| rest.get(at..).unwrap_or("/"));
    normalize(&decode(path))
}

/// The URI of a path.
pub(super) fn of_path(path: &str) -> Option<Uri> {
    let absolute = std::path::absolute(Path::new(path)).ok()?;
    let absolute = normalize(&absolute.display().to_string());
    if let Some(name) = absolute.strip_prefix('/')
        && !name.contains('/')
        && name.contains(':')
        && let Ok(uri) = Uri::from_str(&name.replace("%2F", "/"))
    {
        return Some(uri);
    }
    Uri::from_str(&format!("file://{}", encode(&absolute))).ok()
}

fn encode(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                text.push(char::from(byte));
            }
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = match (first, tail) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)),
            _ => None,
        };
        match escaped {
            Some((high, low)) => {
                bytes.push(high << 4 | low);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_found_by_its_uri_and_the_other_way_round() {
        for (uri, path) in [
            ("file:///tmp/a.yaml", "/tmp/a.yaml"),
            ("file:///tmp/a%20b/%C3%A9%25.yaml", "/tmp/a b/é%.yaml"),
            ("file://localhost/tmp/a.yaml", "/tmp/a.yaml"),
            ("FILE:///tmp/./b/../a.yaml", "/tmp/a.yaml"),
        ] {
            assert_eq!(to_path(&Uri::from_str(uri).unwrap()), path);
            let back = of_path(path).unwrap();
            assert_eq!(to_path(&back), path);
        }
        let uri = of_path("/tmp/a b/é%.yaml").unwrap();
        assert_eq!(uri.as_str(), "file:///tmp/a%20b/%C3%A9%25.yaml");
    }

    #[test]
    fn what_was_never_saved_keeps_its_uri() {
        for text in ["untitled:Untitled-1", "untitled:///a/b.yaml", "git:/a/b"] {
            let uri = Uri::from_str(text).unwrap();
            let path = to_path(&uri);
            assert_eq!(of_path(&path).unwrap(), uri, "{path}");
        }
    }
}
