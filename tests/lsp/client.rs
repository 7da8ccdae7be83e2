//! A client that says what a test tells it to.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long an answer may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A conversation with `locus lsp`.
pub struct Client {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// Notifications that nobody has asked for yet.
    waiting: Vec<Value>,
    next: i64,
}

impl Client {
    /// Starts a server and says nothing.
    pub fn start(folder: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_locus"))
            .arg("lsp")
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            loop {
                let mut length = 0;
                loop {
                    let mut line = String::new();
                    if output.read_line(&mut line).unwrap_or(0) == 0 {
                        return;
                    }
                    if let Some(value) = line.strip_prefix("Content-Length: ") {
                        length = value.trim().parse().unwrap();
                    }
                    if line.trim().is_empty() {
                        break;
                    }
                }
                let mut body = vec![0; length];
                if output.read_exact(&mut body).is_err() {
                    return;
                }
                let _ = sender.send(serde_json::from_slice(&body).unwrap());
            }
        });
        Client {
            input: child.stdin.take(),
            child,
            messages,
            waiting: Vec::new(),
            next: 0,
        }
    }

    /// Starts a server and initializes it for a folder.
    pub fn open_folder(folder: &Path, capabilities: Value) -> Self {
        let mut client = Client::start(folder);
        client.initialize(folder, capabilities);
        client
    }

    /// Initializes the server, and gives what it can do.
    pub fn initialize(&mut self, folder: &Path, capabilities: Value) -> Value {
        let result = self.request(
            "initialize",
            json!({
                "processId": null,
                "rootUri": null,
                "capabilities": capabilities,
                "workspaceFolders": [{ "uri": uri(folder), "name": "test" }],
                "initializationOptions": { "debounce": 5 },
            }),
        );
        self.notify("initialized", json!({}));
        result["result"]["capabilities"].clone()
    }

    /// Writes bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    pub fn send(&mut self, message: &Value) {
        let text = message.to_string();
        self.raw(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request without waiting for the answer; its identity.
    pub fn ask(&mut self, method: &str, params: Value) -> i64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// The answer to a request, all of it.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer(&json!(id))
    }

    /// The result of a request, which is answered.
    pub fn result(&mut self, method: &str, params: Value) -> Value {
        let answer = self.request(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    pub fn answer(&mut self, id: &Value) -> Value {
        self.wait(|message| message.get("method").is_none() && message.get("id") == Some(id))
    }

    /// The next message that is wanted; others wait.
    pub fn wait(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.waiting.iter().position(&wanted) {
            return self.waiting.remove(at);
        }
        let start = Instant::now();
        loop {
            let left = PATIENCE.saturating_sub(start.elapsed());
            let message = self.messages.recv_timeout(left).expect("an answer in time");
            if wanted(&message) {
                return message;
            }
            self.waiting.push(message);
        }
    }

    pub fn open(&mut self, uri: &str, version: i32, text: &str) {
        let item = json!({ "uri": uri, "languageId": "yaml", "version": version, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": item }));
    }

    /// Replaces the whole text.
    pub fn change(&mut self, uri: &str, version: i32, text: &str) {
        let change = json!({
            "textDocument": { "uri": uri, "version": version },
            "contentChanges": [{ "text": text }],
        });
        self.notify("textDocument/didChange", change);
    }

    /// What is said about a version of a file.
    pub fn diagnostics(&mut self, uri: &str, version: Option<i32>) -> Vec<Value> {
        let message = self.wait(|message| {
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["uri"] == uri
                && version.is_none_or(|version| message["params"]["version"] == version)
        });
        message["params"]["diagnostics"].as_array().unwrap().clone()
    }

    /// Waits until the workspace was searched.
    pub fn searched(&mut self) {
        self.wait(|message| {
            message["method"] == "$/progress" && message["params"]["value"]["kind"] == "end"
        });
    }

    /// Waits until something holds of what is said about a file.
    pub fn said(&mut self, uri: &str, wanted: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let message = self.wait(|message| {
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["uri"] == uri
                && message["params"]["diagnostics"]
                    .as_array()
                    .is_some_and(|said| wanted(said))
        });
        message["params"]["diagnostics"].as_array().unwrap().clone()
    }

    /// What a hover says.
    pub fn hover(&mut self, uri: &str, position: &Value) -> String {
        let found = self.result("textDocument/hover", at(uri, position));
        let text = found["contents"]["value"].as_str();
        text.unwrap_or_default().to_owned()
    }

    /// The places of a definition: the end of the URI and the line.
    pub fn definition(&mut self, uri: &str, position: &Value) -> Vec<(String, u64)> {
        let found = self.result("textDocument/definition", at(uri, position));
        places(&found)
    }

    /// The places where something is defined and used.
    pub fn references(&mut self, uri: &str, position: &Value) -> Vec<(String, u64)> {
        let mut params = at(uri, position);
        params["context"] = json!({ "includeDeclaration": true });
        places(&self.result("textDocument/references", params))
    }

    /// The text of a file after a rename.
    pub fn renamed(&mut self, uri: &str, position: &Value, new: &str) -> Value {
        let mut params = at(uri, position);
        params["newName"] = json!(new);
        self.result("textDocument/rename", params)["changes"].clone()
    }

    /// Whether something was said about a file.
    pub fn heard_of(&self, uri: &str) -> bool {
        self.waiting
            .iter()
            .any(|message| message["params"]["uri"] == uri)
    }

    /// Ends the conversation as one should, and gives the exit code.
    pub fn stop(mut self) -> Option<i32> {
        assert_eq!(self.request("shutdown", Value::Null)["result"], Value::Null);
        self.notify("exit", Value::Null);
        self.child.wait().unwrap().code()
    }

    /// Leaves without a word, and gives the exit code.
    pub fn die(mut self) -> Option<i32> {
        drop(self.input.take());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn places(found: &Value) -> Vec<(String, u64)> {
    let found = found.as_array().cloned().unwrap_or_default();
    let place = |place: &Value| {
        let uri = place["uri"].as_str().unwrap();
        let name = uri.rsplit('/').next().unwrap().to_owned();
        (name, place["range"]["start"]["line"].as_u64().unwrap())
    };
    found.iter().map(place).collect()
}

/// What a modern editor can do.
pub fn able() -> Value {
    json!({
        "textDocument": {
            "codeAction": { "codeActionLiteralSupport": { "codeActionKind": { "valueSet": [] } } },
            "completion": { "completionItem": { "snippetSupport": true } },
            "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
        },
        "window": { "workDoneProgress": true },
        "workspace": { "codeLens": { "refreshSupport": true } },
    })
}

/// A folder with files, all of them open, in a workspace that was searched.
pub fn start(files: &[(&str, &str)]) -> (tempfile::TempDir, Client) {
    let folder = crate::folder(files);
    let mut client = Client::open_folder(folder.path(), able());
    client.searched();
    for (path, text) in files {
        client.open(&uri(&folder.path().join(path)), 1, text);
    }
    (folder, client)
}

/// The parameters of a request about a place.
pub fn at(uri: &str, position: &Value) -> Value {
    json!({ "textDocument": { "uri": uri }, "position": position })
}

/// What can be written where `|` is, in a file beside others.
pub fn complete_with(name: &str, marked: &str, others: &[(&str, &str)]) -> Vec<Value> {
    let offset = marked.find('|').unwrap();
    let text = marked.replacen('|', "", 1);
    let mut files = others.to_vec();
    files.push((name, &text));
    let (folder, mut client) = start(&files);
    let file = uri(&folder.path().join(name));
    let line = text[..offset].matches('\n').count();
    let column = text[..offset].rsplit('\n').next().unwrap().len();
    let here = json!({ "line": line, "character": column });
    let found = client.result("textDocument/completion", at(&file, &here));
    assert_eq!(client.stop(), Some(0));
    found.as_array().cloned().unwrap_or_default()
}

/// What can be written where `|` is.
pub fn complete(name: &str, marked: &str) -> Vec<Value> {
    complete_with(name, marked, &[])
}

pub fn labels(found: &[Value]) -> Vec<&str> {
    let labels = found.iter().map(|one| one["label"].as_str().unwrap());
    labels.collect()
}

/// The text after the action with a title, as far as that is a part of it.
pub fn acted(client: &mut Client, file: &str, text: &str, position: &Value, title: &str) -> String {
    let range = json!({ "start": position, "end": position });
    let actions = client.result(
        "textDocument/codeAction",
        json!({ "textDocument": { "uri": file }, "range": range, "context": { "diagnostics": [] } }),
    );
    let mut all = actions.as_array().unwrap().iter();
    let action = all.find(|action| action["title"].as_str().unwrap().contains(title));
    let action = action.unwrap_or_else(|| panic!("no `{title}` in {actions}"));
    edited(text, action["edit"]["changes"][file].as_array().unwrap())
}

pub fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// The place of a word, in UTF-16: the line and column of its first occurrence after another.
pub fn position(text: &str, after: &str, word: &str) -> Value {
    let start = text.find(after).unwrap();
    let offset = start + text[start..].find(word).unwrap();
    let line = text[..offset].matches('\n').count();
    let column = text[..offset].rsplit('\n').next().unwrap();
    json!({ "line": line, "character": column.encode_utf16().count() })
}

/// A text with the edits of a client applied, as a client does it.
pub fn edited(text: &str, edits: &[Value]) -> String {
    let offset = |position: &Value| {
        let line = position["line"].as_u64().unwrap() as usize;
        let column = position["character"].as_u64().unwrap() as usize;
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        let units: Vec<u16> = text[start..].encode_utf16().take(column).collect();
        start + String::from_utf16(&units).unwrap().len()
    };
    let mut all: Vec<(usize, usize, &str)> = edits
        .iter()
        .map(|edit| {
            let range = &edit["range"];
            let new = edit["newText"].as_str().unwrap();
            (offset(&range["start"]), offset(&range["end"]), new)
        })
        .collect();
    all.sort_unstable();
    let mut text = text.to_owned();
    for (start, end, new) in all.into_iter().rev() {
        text.replace_range(start..end, new);
    }
    text
}
