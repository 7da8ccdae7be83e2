//! Text in XML.

use super::printable::printable;

/// The text with everything escaped that XML reads, and without what it cannot hold.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            '\t' => out.push_str("&#9;"),
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Text of others for a reader's eyes: escaped, and nothing in it turns the direction of what follows.
pub(super) fn shown(text: &str) -> String {
    escape(&printable(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_closes_an_attribute_or_a_tag() {
        let text = "a<b>\"c\"'d'&]]>\u{1}\n";
        assert_eq!(
            escape(text),
            "a&lt;b&gt;&quot;c&quot;&#39;d&#39;&amp;]]&gt;\u{fffd}&#10;"
        );
    }
}
