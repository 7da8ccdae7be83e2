//! Values as the text that Python would write.

use std::fmt::Write as _;

use locus_core::value::Value;

/// A value where text is wanted: words as they are, numbers and truth values as Python writes them,
/// collections as JSON. `None` when part of it is not known.
pub(super) fn plain(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some(String::new()),
        Value::Bool(flag) => Some(if *flag { "True" } else { "False" }.into()),
        Value::Str(text) => Some(text.to_string()),
        Value::Int(n) => Some(n.to_string()),
        Value::Float(f) => Some(float(*f)),
        Value::List(_) | Value::Map(_) => json(value),
        Value::Location(_) | Value::Symbolic(_) => None,
    }
}

fn float(f: f64) -> String {
    if f.fract() == 0.0 && f.abs() < 1e16 {
        format!("{f:.1}")
    } else {
        format!("{f}")
    }
}

/// A value as JSON, the way Python's `json.dumps` writes it.
pub(super) fn json(value: &Value) -> Option<String> {
    let mut out = String::new();
    write_json(value, &mut out)?;
    Some(out)
}

fn write_json(value: &Value, out: &mut String) -> Option<()> {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => {
            let _ = write!(out, "{flag}");
        }
        Value::Int(n) => {
            let _ = write!(out, "{n}");
        }
        Value::Float(f) => out.push_str(&float(*f)),
        Value::Str(text) => quote(text, out),
        Value::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                write_json(&item.value, out)?;
            }
            out.push(']');
        }
        Value::Map(fields) => {
            out.push('{');
            for (index, field) in fields.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                quote(&field.name, out);
                out.push_str(": ");
                write_json(&field.item.value, out)?;
            }
            out.push('}');
        }
        Value::Location(_) | Value::Symbolic(_) => return None,
    }
    Some(())
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 || (c as u32) > 0x7E => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
