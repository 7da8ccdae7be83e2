//! Logs that nobody can forge: what comes from others may hold line feeds and what a terminal obeys.

use std::io::{self, Write};

use clap::ValueEnum;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// How logs are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object per line, for machines.
    Json,
}

/// Sends structured logs to standard error; `RUST_LOG` chooses what, `info` if unset.
pub fn log_to_stderr(format: LogFormat) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    // Without colours: the escape sequences that remain would all be somebody else's.
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false);
    let started = match format {
        LogFormat::Text => logs.with_writer(Lines(io::stderr, format)).try_init(),
        LogFormat::Json => {
            let writer = Lines(io::stderr, format);
            logs.json().with_writer(writer).try_init()
        }
    };
    if started.is_err() {
        // Somebody else logs already; that is as good.
        tracing::debug!("logs were started twice");
    }
}

/// Whether a character does something else than to show itself, at its place in its line.
fn is_obeyed(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// A text in which everything shows itself: as it is written in Rust.
pub fn shown(text: &str) -> String {
    escaped(text, LogFormat::Text)
}

fn escaped(text: &str, format: LogFormat) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if !is_obeyed(character) {
            out.push(character);
        } else if format == LogFormat::Text {
            out.extend(character.escape_default());
        } else {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

/// Makes writers that write each event as one line.
struct Lines<F>(F, LogFormat);

impl<'a, F, W> MakeWriter<'a> for Lines<F>
where
    F: Fn() -> W + 'a,
    W: Write,
{
    type Writer = Line<W>;

    fn make_writer(&'a self) -> Line<W> {
        Line(self.0(), self.1)
    }
}

/// Writes events, which come whole and end with a line feed.
struct Line<W>(W, LogFormat);

impl<W: Write> Write for Line<W> {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        let line = text.strip_suffix('\n').unwrap_or(&text);
        let line = format!("{}\n", escaped(line, self.1));
        self.0.write_all(line.as_bytes())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What the attacker wants to be read in the log, and how it might get there.
    const FORGED: [&str; 7] = [
        "/tmp/x\n2026-01-01T00:00:00Z  INFO attested worker=\"evil\" effect=trusted",
        "/tmp/x\r\u{1b}[2K\u{1b}[1Aall is well",
        "\u{9b}31mred\u{7f}\u{8}\u{8}",
        "\u{202e}detsurt",
        "a\u{2028}b\u{2029}c\u{85}d",
        "\0\x07",
        "\u{2066}\u{feff}\u{061c}",
    ];

    fn logged(format: LogFormat) -> String {
        let kept = Kept::default();
        let sink = kept.clone();
        let lines = Lines(move || sink.clone(), format);
        let logs = tracing_subscriber::fmt().with_ansi(false);
        let say = || {
            for text in FORGED {
                tracing::warn!(reason = %text, path = text, "{text}");
            }
        };
        match format {
            LogFormat::Text => {
                tracing::subscriber::with_default(logs.with_writer(lines).finish(), say);
            }
            LogFormat::Json => {
                tracing::subscriber::with_default(logs.json().with_writer(lines).finish(), say);
            }
        }
        let bytes = kept.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn no_name_of_a_file_writes_a_line_of_its_own_or_moves_the_cursor() {
        for format in [LogFormat::Text, LogFormat::Json] {
            let text = logged(format);
            assert_eq!(text.lines().count(), FORGED.len(), "{text}");
            assert_eq!(text.matches('\n').count(), FORGED.len());
            assert!(text.chars().all(|c| c == '\n' || !is_obeyed(c)), "{text:?}");
        }
        for (line, text) in logged(LogFormat::Json).lines().zip(FORGED) {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(value["fields"]["path"], text, "nothing is lost");
            assert_eq!(value["fields"]["reason"], text);
        }
    }

    #[test]
    fn what_shows_itself_stays_as_it_is() {
        let text = "/usr/bin/größe ✓ 日本 \"x\" \\n";
        assert_eq!(shown(text), text);
        assert_eq!(shown("a\nb\u{1b}"), "a\\nb\\u{1b}");
    }
}
