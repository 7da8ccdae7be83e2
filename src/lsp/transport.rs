//! Messages over standard input and output.
//!
//! The transport of `lsp-server` ends at the first message that is not JSON, and takes any length that a header claims.
//! This one answers such a message with an error and reads on.

use std::io::{BufRead, Read, Write};
use std::sync::mpsc::{Receiver, Sender};

use lsp_server::{ErrorCode, Message};
use lsp_types::notification::Progress;
use lsp_types::{
    NumberOrString, ProgressParams, ProgressParamsValue, WorkDoneProgress, WorkDoneProgressBegin,
    WorkDoneProgressEnd,
};
use serde_json::{Value, json};

/// The longest message that is read.
const LONGEST: usize = 256 << 20;

/// What was read.
#[derive(Debug)]
pub(super) enum Incoming {
    /// A message.
    Message(Message),
    /// Something that is no message, and the answer to it.
    Malformed(Value),
}

/// What is written.
#[derive(Debug)]
pub(super) enum Outgoing {
    /// A message.
    Message(Message),
    /// Any other JSON.
    Raw(Value),
}

impl From<Message> for Outgoing {
    fn from(message: Message) -> Self {
        Outgoing::Message(message)
    }
}

/// Reads messages until the input ends, or whoever takes them is gone.
pub(super) fn read_all(mut input: impl BufRead, mut take: impl FnMut(Incoming) -> bool) {
    while let Some(read) = read(&mut input) {
        if !take(read) {
            return;
        }
    }
}

/// Writes messages until there are no more; whoever closed the output wants no more either.
pub(super) fn write_all(mut output: impl Write, messages: &Receiver<Outgoing>) {
    for message in messages {
        let text = match &message {
            Outgoing::Message(message) => match serde_json::to_value(message) {
                Ok(Value::Object(mut object)) => {
                    object.insert("jsonrpc".to_owned(), "2.0".into());
                    Value::Object(object).to_string()
                }
                _ => continue,
            },
            Outgoing::Raw(value) => value.to_string(),
        };
        let header = format!("Content-Length: {}\r\n\r\n", text.len());
        let written = output
            .write_all(header.as_bytes())
            .and_then(|()| output.write_all(text.as_bytes()))
            .and_then(|()| output.flush());
        if written.is_err() {
            return;
        }
    }
}

/// The next message; none when the input ends, in the middle of a message or not.
fn read(input: &mut impl BufRead) -> Option<Incoming> {
    let length = header(input)?;
    let Some(length) = length else {
        return Some(malformed("a message has no `Content-Length`"));
    };
    if length > LONGEST {
        let mut rest = input.take(length as u64);
        std::io::copy(&mut rest, &mut std::io::sink()).ok()?;
        let message = format!("a message has {length} bytes; more than {LONGEST} are refused");
        return Some(malformed(&message));
    }
    // What a header claims is not believed before it is there.
    let mut text = Vec::new();
    let read = input.take(length as u64).read_to_end(&mut text).ok()?;
    if read < length {
        return None;
    }
    Some(match serde_json::from_slice::<Message>(&text) {
        Ok(message) => Incoming::Message(message),
        Err(error) => match serde_json::from_slice::<Value>(&text) {
            Ok(value) => not_a_message(&value),
            Err(_) => malformed(&format!("a message is not JSON: {error}")),
        },
    })
}

/// The length that a header gives; within it, none when it gives none.
fn header(input: &mut impl BufRead) -> Option<Option<usize>> {
    let mut length = None;
    let mut any = false;
    loop {
        let mut line = Vec::new();
        let limit = 1 << 16;
        let read = input.take(limit).read_until(b'\n', &mut line).ok()?;
        if read == 0 {
            return None;
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end_matches(['\r', '\n']);
        if line.is_empty() {
            if any {
                return Some(length);
            }
            continue;
        }
        any = true;
        if let Some((name, value)) = line.split_once(':')
            && name.trim().eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok();
        }
    }
}

fn error(id: &Value, code: ErrorCode, message: &str) -> Incoming {
    Incoming::Malformed(json!({
        "jsonrpc": "2.0",
        "id": id,
        "error": { "code": code as i32, "message": message },
    }))
}

fn malformed(message: &str) -> Incoming {
    error(&Value::Null, ErrorCode::ParseError, message)
}

/// Answers what is JSON and no message, to its identity when it has one.
fn not_a_message(value: &Value) -> Incoming {
    let id = value.get("id").filter(|id| id.is_string() || id.is_i64());
    let message = "this is neither a request nor a notification nor a response";
    error(
        id.unwrap_or(&Value::Null),
        ErrorCode::InvalidRequest,
        message,
    )
}

/// Sends messages; whoever no longer listens misses nothing.
#[derive(Clone, Debug)]
pub(super) struct Client(pub(super) Sender<Outgoing>);

impl Client {
    /// Sends a message.
    pub(super) fn send(&self, message: impl Into<Message>) {
        let _ = self.0.send(Outgoing::Message(message.into()));
    }

    /// Sends a notification.
    pub(super) fn notify<N: lsp_types::notification::Notification>(&self, params: N::Params) {
        if let Ok(params) = serde_json::to_value(params) {
            let method = N::METHOD.to_owned();
            self.send(lsp_server::Notification { method, params });
        }
    }

    /// Says that some work has begun.
    pub(super) fn begin(&self, token: NumberOrString, title: &str) {
        let begin = WorkDoneProgressBegin {
            title: title.to_owned(),
            ..WorkDoneProgressBegin::default()
        };
        self.progress(token, WorkDoneProgress::Begin(begin));
    }

    /// Says that some work is done.
    pub(super) fn end(&self, token: NumberOrString) {
        self.progress(token, WorkDoneProgress::End(WorkDoneProgressEnd::default()));
    }

    fn progress(&self, token: NumberOrString, value: WorkDoneProgress) {
        let value = ProgressParamsValue::WorkDone(value);
        self.notify::<Progress>(ProgressParams { token, value });
    }

    /// Sends any JSON.
    pub(super) fn raw(&self, value: Value) {
        let _ = self.0.send(Outgoing::Raw(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(input: &[u8]) -> Vec<String> {
        let mut said = Vec::new();
        read_all(input, |incoming| {
            said.push(match incoming {
                Incoming::Message(Message::Request(request)) => request.method,
                Incoming::Message(Message::Notification(notification)) => notification.method,
                Incoming::Message(Message::Response(_)) => "response".to_owned(),
                Incoming::Malformed(value) => format!("{} {}", value["id"], value["error"]["code"]),
            });
            true
        });
        said
    }

    fn framed(text: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{text}", text.len())
    }

    #[test]
    fn a_malformed_message_is_answered_and_the_next_is_read() {
        let good = framed(r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#);
        for (bad, answer) in [
            (framed("{"), "null -32700"),
            (framed("[1]"), "null -32600"),
            (framed(r#"{"id":7}"#), "7 -32600"),
            ("Content-Type: x\r\n\r\n".to_owned(), "null -32700"),
            ("nonsense\r\n\r\n".to_owned(), "null -32700"),
        ] {
            let said = all(format!("{bad}{good}").as_bytes());
            assert_eq!(said, [answer, "m"], "{bad}");
        }
    }

    #[test]
    fn a_length_is_not_believed() {
        let huge = format!("Content-Length: {}\r\n\r\n{{}}", usize::MAX);
        assert_eq!(all(huge.as_bytes()), ["null -32700"]);
        assert!(all(b"Content-Length: 100\r\n\r\n{}").is_empty());
    }

    #[test]
    fn header_names_have_any_case_and_line_ends_may_lack_a_return() {
        let text = r#"{"jsonrpc":"2.0","method":"n"}"#;
        let input = format!("content-length:{}\n\n{text}", text.len());
        assert_eq!(all(input.as_bytes()), ["n"]);
    }
}
