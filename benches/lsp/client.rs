//! A client of language servers: of ours in this process, and of any as a process.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long a server may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A conversation with a server.
pub(crate) struct Client {
    input: Box<dyn Write>,
    messages: Receiver<Value>,
    child: Option<Child>,
    next: i64,
    version: i32,
}

impl Client {
    /// Speaks to our server on a thread of this process.
    pub(crate) fn in_process(folder: &Path, options: Value) -> Self {
        let (theirs, ours) = std::io::pipe().unwrap();
        let (reading, writing) = std::io::pipe().unwrap();
        std::thread::spawn(move || locus::lsp::serve(theirs, writing));
        let mut client = Client::over(Box::new(ours), reading, None);
        client.initialize(folder, options);
        client
    }

    /// Starts a program and speaks to it; it is initialized for a folder.
    pub(crate) fn process(command: &mut Command, folder: &Path, options: Value) -> Self {
        let mut child = command
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let input = Box::new(child.stdin.take().unwrap());
        let output = child.stdout.take().unwrap();
        let mut client = Client::over(input, output, Some(child));
        client.initialize(folder, options);
        client
    }

    fn over(
        input: Box<dyn Write>,
        output: impl Read + Send + 'static,
        child: Option<Child>,
    ) -> Self {
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(message) = read(&mut output) {
                let _ = sender.send(message);
            }
        });
        Client {
            input,
            messages,
            child,
            next: 0,
            version: 1,
        }
    }

    fn initialize(&mut self, folder: &Path, options: Value) {
        let params = json!({
            "processId": null,
            "rootUri": uri(folder),
            "workspaceFolders": [{ "uri": uri(folder), "name": "bench" }],
            "capabilities": {
                "workspace": { "configuration": true },
                "textDocument": { "publishDiagnostics": { "relatedInformation": true } },
            },
            "initializationOptions": options,
        });
        self.request("initialize", params);
        self.notify("initialized", json!({}));
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// The answer to a request.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        self.wait(|message| message["id"] == id && message.get("method").is_none())
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        self.input.flush().unwrap();
    }

    /// The next message that is wanted; what the server asks in the meantime is answered.
    pub(crate) fn wait(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        let start = Instant::now();
        loop {
            let left = PATIENCE.saturating_sub(start.elapsed());
            let message = self.messages.recv_timeout(left).expect("an answer in time");
            if wanted(&message) {
                return message;
            }
            if let (Some(method), Some(id)) = (message.get("method"), message.get("id")) {
                let result = match method.as_str() {
                    Some("workspace/configuration") => settings(&message["params"]["items"]),
                    _ => Value::Null,
                };
                self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
            }
        }
    }

    pub(crate) fn open(&mut self, uri: &str, text: &str) {
        let item = json!({ "uri": uri, "languageId": "yaml", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": item }));
    }

    /// Replaces a range of a file.
    pub(crate) fn edit(&mut self, uri: &str, range: &Value, text: &str) -> i32 {
        self.version += 1;
        let change = json!({
            "textDocument": { "uri": uri, "version": self.version },
            "contentChanges": [{ "range": range, "text": text }],
        });
        self.notify("textDocument/didChange", change);
        self.version
    }

    /// What is said of a file, in a version of it.
    pub(crate) fn diagnostics(&mut self, uri: &str, version: Option<i32>) -> Vec<Value> {
        let message = self.wait(|message| {
            let params = &message["params"];
            message["method"] == "textDocument/publishDiagnostics"
                && params["uri"] == uri
                && version.is_none_or(|version| params["version"] == version)
        });
        let said = message["params"]["diagnostics"].as_array();
        said.cloned().unwrap_or_default()
    }

    /// The first findings about a file: a server may say first that there are none yet.
    pub(crate) fn first_finding(&mut self, uri: &str) -> Vec<Value> {
        loop {
            let said = self.diagnostics(uri, None);
            if !said.is_empty() {
                return said;
            }
        }
    }

    /// The memory that the program uses, in kilobytes.
    pub(crate) fn memory(&self) -> f64 {
        let id = self.child.as_ref().unwrap().id();
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        line.unwrap()
            .split_whitespace()
            .nth(1)
            .unwrap()
            .parse()
            .unwrap()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn read(output: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some(value) = line.strip_prefix("Content-Length: ") {
            length = value.trim().parse().ok()?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    output.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

/// One schema of the kinds of our manifest, from a folder with a schema of each.
fn by_kind(folder: &str) -> String {
    let kinds = [
        ("Deployment", "deployment-apps-v1"),
        ("Service", "service-v1"),
    ];
    let each = kinds.map(|(kind, file)| {
        json!({
            "if": { "properties": { "kind": { "const": kind } } },
            "then": { "$ref": format!("file://{folder}/{file}.json") },
        })
    });
    let path = std::env::temp_dir().join("locus-bench-kubernetes.json");
    std::fs::write(&path, json!({ "allOf": each }).to_string()).unwrap();
    path.display().to_string()
}

/// What yaml-language-server asks for: which files have which schema.
fn settings(items: &Value) -> Value {
    let mut schemas = serde_json::Map::new();
    for (variable, file) in [
        ("COMPOSE_SCHEMA", "compose.yaml"),
        ("KUBERNETES_SCHEMA", "manifest.yaml"),
    ] {
        if let Ok(mut schema) = std::env::var(variable) {
            if Path::new(&schema).is_dir() {
                schema = by_kind(&schema);
            }
            schemas.insert(format!("file://{schema}"), json!([file]));
        }
    }
    let yaml = json!({ "validate": true, "schemaStore": { "enable": false }, "schemas": schemas });
    let items = items.as_array().cloned().unwrap_or_default();
    let all = items.iter().map(|item| match item["section"].as_str() {
        Some("yaml") => yaml.clone(),
        _ => Value::Null,
    });
    all.collect()
}

/// The URI of a path.
pub(crate) fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}
