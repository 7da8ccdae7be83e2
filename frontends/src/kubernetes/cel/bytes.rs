//! Bytes from base64.

/// What base64 with its padding stands for; line breaks are let pass.
pub(crate) fn decoded(text: &str) -> Option<Vec<u8>> {
    if !crate::kubernetes::text::is_base64(text) {
        return None;
    }
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut held, mut bits) = (0_u32, 0_u32);
    for byte in text.bytes() {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => continue,
        };
        held = (held << 6) | u32::from(six);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.extend(u8::try_from((held >> bits) & 0xff));
        }
    }
    Some(out)
}
