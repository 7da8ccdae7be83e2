//! The main loop: takes messages, keeps the texts, and hands everything else to other threads.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};

use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{
    Cancel as CancelRequest, DidChangeTextDocument, DidChangeWatchedFiles,
    DidChangeWorkspaceFolders, DidCloseTextDocument, DidOpenTextDocument, DidSaveTextDocument,
    Notification as _,
};
use lsp_types::request as requested;
use lsp_types::request::Request as _;
use lsp_types::{
    DidChangeWatchedFilesRegistrationOptions, FileChangeType, FileSystemWatcher, GlobPattern,
    InitializeParams, InitializeResult, NumberOrString, ServerInfo,
};
use serde::de::DeserializeOwned;

use super::checker::{self, Change, Changed};
use super::documents::{Document, Documents};
use super::jobs::Pool;
use super::requests::{self, Failure};
use super::transport::Client;
use super::verdicts::Verdicts;
use super::world::{Index, Options, World};
use super::{End, Event, capabilities, uri};
use crate::session::{Cancel, Session};

/// The state that only the main loop changes.
pub(super) struct Server {
    client: Client,
    events: Sender<Event>,
    session: Session,
    documents: Documents,
    folders: Arc<Vec<String>>,
    index: Index,
    is_indexed: bool,
    verdicts: Verdicts,
    options: Arc<Options>,
    stage: Stage,
    pool: Pool,
    running: HashMap<RequestId, Cancel>,
    /// Requests for diagnostics that wait until the workspace was searched.
    held: Vec<Request>,
    checking: Option<Checking>,
    indexing: Option<Indexing>,
}

/// The thread that searches the workspace, and what calls its current work off.
struct Indexing {
    worlds: Sender<World>,
    cancel: Cancel,
}

/// The thread that checks, and what calls its current work off.
struct Checking {
    changes: Sender<Change>,
    cancel: Cancel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// `initialize` has not come yet.
    Fresh,
    /// Everything is answered.
    Serving,
    /// `shutdown` has come.
    Ending,
}

impl Server {
    pub(super) fn new(client: Client, events: Sender<Event>) -> Self {
        Server {
            client,
            events,
            session: Session::new(),
            documents: Documents::default(),
            folders: Arc::default(),
            index: Index::default(),
            is_indexed: false,
            verdicts: Verdicts::default(),
            options: Arc::default(),
            stage: Stage::Fresh,
            pool: Pool::new(),
            running: HashMap::new(),
            held: Vec::new(),
            checking: None,
            indexing: None,
        }
    }

    /// Takes events until the conversation ends.
    pub(super) fn run(mut self, inbox: &Receiver<Event>) -> End {
        while let Ok(event) = inbox.recv() {
            match event {
                Event::Message(Message::Request(request)) => self.request(request),
                Event::Message(Message::Notification(notification)) => {
                    if notification.method == lsp_types::notification::Exit::METHOD {
                        self.stop();
                        return match self.stage {
                            Stage::Ending => End::Asked,
                            _ => End::Gone,
                        };
                    }
                    self.notification(notification);
                }
                // The server asks for nothing that it must know the answer of.
                Event::Message(Message::Response(_)) => {}
                Event::Malformed(answer) => self.client.raw(answer),
                Event::Gone => break,
                Event::Indexed(index) => {
                    self.index = index;
                    self.is_indexed = true;
                    self.changed(Changed::All);
                    for request in std::mem::take(&mut self.held) {
                        self.request(request);
                    }
                }
                Event::Answered(id) => {
                    self.running.remove(&id);
                }
            }
        }
        self.stop();
        End::Gone
    }

    /// Calls all work off.
    fn stop(&mut self) {
        self.running.values().for_each(Cancel::cancel);
        if let Some(indexing) = self.indexing.take() {
            indexing.cancel.cancel();
        }
        if let Some(checking) = self.checking.take() {
            checking.cancel.cancel();
        }
    }

    fn world(&self, cancel: Cancel) -> World {
        World {
            snapshot: self.session.snapshot(),
            documents: self.documents.clone(),
            folders: self.folders.clone(),
            index: self.index.clone(),
            is_indexed: self.is_indexed,
            verdicts: self.verdicts.clone(),
            options: self.options.clone(),
            cancel,
        }
    }

    fn refuse(&self, id: RequestId, code: ErrorCode, message: &str) {
        let code = code as i32;
        self.client
            .send(Response::new_err(id, code, message.to_owned()));
    }

    fn request(&mut self, request: Request) {
        let method = request.method.as_str();
        match (self.stage, method) {
            (Stage::Fresh, requested::Initialize::METHOD) => return self.initialize(request),
            (Stage::Fresh, _) => {
                let message = "the first request is `initialize`";
                return self.refuse(request.id, ErrorCode::ServerNotInitialized, message);
            }
            (Stage::Ending, _) => {
                let message = "the server is shutting down";
                return self.refuse(request.id, ErrorCode::InvalidRequest, message);
            }
            (Stage::Serving, requested::Initialize::METHOD) => {
                let message = "`initialize` is sent once";
                return self.refuse(request.id, ErrorCode::InvalidRequest, message);
            }
            (Stage::Serving, requested::Shutdown::METHOD) => {
                self.stage = Stage::Ending;
                return self
                    .client
                    .send(Response::new_ok(request.id, serde_json::Value::Null));
            }
            (Stage::Serving, requested::DocumentDiagnosticRequest::METHOD) if !self.is_indexed => {
                return self.held.push(request);
            }
            (Stage::Serving, _) => {}
        }
        requests::dispatch(self, request);
    }

    /// Answers a request on another thread.
    pub(super) fn answer<R: requested::Request>(
        &mut self,
        request: Request,
        answer: fn(&World, R::Params) -> Result<R::Result, Failure>,
    ) where
        R::Params: Send + 'static,
    {
        let id = request.id;
        let token = request.params.get("workDoneToken").cloned();
        let token: Option<NumberOrString> =
            token.and_then(|token| serde_json::from_value(token).ok());
        let params: R::Params = match serde_json::from_value(request.params) {
            Ok(params) => params,
            Err(error) => {
                let message = format!("`{}`: {error}", R::METHOD);
                return self.refuse(id, ErrorCode::InvalidParams, &message);
            }
        };
        let cancel = Cancel::default();
        let world = self.world(cancel.clone());
        self.running.insert(id.clone(), cancel);
        let (client, events) = (self.client.clone(), self.events.clone());
        let work = move || {
            if let Some(token) = &token {
                client.begin(token.clone(), "Locus");
            }
            let answered = if world.cancel.is_cancelled() {
                Ok(Err(Failure::Cancelled))
            } else {
                catch_unwind(AssertUnwindSafe(|| answer(&world, params)))
            };
            let response = match answered {
                Ok(Ok(result)) => Response::new_ok(id.clone(), result),
                Ok(Err(Failure::Cancelled)) => Response::new_err(
                    id.clone(),
                    ErrorCode::RequestCanceled as i32,
                    "the request was called off".to_owned(),
                ),
                Ok(Err(Failure::Refused(message))) => {
                    Response::new_err(id.clone(), ErrorCode::RequestFailed as i32, message)
                }
                Err(_) => Response::new_err(
                    id.clone(),
                    ErrorCode::InternalError as i32,
                    format!("`{}` failed; this is a mistake in Locus", R::METHOD),
                ),
            };
            if let Some(token) = token {
                client.end(token);
            }
            client.send(response);
            // A command of a model has a verdict now, which a lens shows.
            if R::METHOD == requested::ExecuteCommand::METHOD && world.options.lens_refreshes {
                client.raw(serde_json::json!({
                    "jsonrpc": "2.0",
                    "id": format!("lens-{id}"),
                    "method": requested::CodeLensRefresh::METHOD,
                }));
            }
            let _ = events.send(Event::Answered(id));
        };
        // What may take long keeps nobody from an answer.
        match R::METHOD {
            requested::ExecuteCommand::METHOD | requested::CodeActionResolveRequest::METHOD => {
                drop(std::thread::spawn(work))
            }
            _ => self.pool.spawn(work),
        }
    }

    /// Says that a method is not known.
    pub(super) fn unknown(&self, request: Request) {
        let message = format!("there is no method `{}`", request.method);
        self.refuse(request.id, ErrorCode::MethodNotFound, &message);
    }

    fn initialize(&mut self, request: Request) {
        // The types of the library call this `diagnostic`; the protocol and its clients do not.
        let refreshes = "/capabilities/workspace/diagnostics/refreshSupport";
        let refreshes = request.params.pointer(refreshes) == Some(&serde_json::Value::Bool(true));
        let params: InitializeParams = match serde_json::from_value(request.params) {
            Ok(params) => params,
            Err(error) => {
                let message = format!("`initialize`: {error}");
                return self.refuse(request.id, ErrorCode::InvalidParams, &message);
            }
        };
        let options = Options {
            refreshes,
            ..capabilities::options(&params)
        };
        let folders = params.workspace_folders.clone().unwrap_or_default();
        let mut folders: Vec<String> = folders.iter().map(|one| uri::to_path(&one.uri)).collect();
        #[expect(deprecated, reason = "older clients send only this")]
        if folders.is_empty() {
            folders.extend(params.root_uri.as_ref().map(uri::to_path));
        }
        self.is_indexed = folders.is_empty();
        self.folders = Arc::new(folders);
        self.options = Arc::new(options);
        let result = InitializeResult {
            capabilities: capabilities::server(&self.options),
            server_info: Some(ServerInfo {
                name: "locus".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
        };
        self.client.send(Response::new_ok(request.id, result));
        self.stage = Stage::Serving;
        let (changes, inbox) = mpsc::channel();
        let (client, debounce) = (self.client.clone(), self.options.debounce);
        std::thread::spawn(move || {
            // A mistake in a check ends no conversation: what is asked is answered, and the next change is checked anew.
            while catch_unwind(AssertUnwindSafe(|| checker::run(&inbox, &client, debounce)))
                .is_err()
            {}
        });
        let cancel = Cancel::default();
        self.checking = Some(Checking { changes, cancel });
    }

    fn notification(&mut self, notification: Notification) {
        if self.stage != Stage::Serving {
            return;
        }
        // Methods that are not known are left alone, as the protocol wants it.
        match notification.method.as_str() {
            lsp_types::notification::Initialized::METHOD => self.initialized(),
            CancelRequest::METHOD => self.with::<CancelRequest>(notification, |server, params| {
                let id = match params.id {
                    NumberOrString::Number(id) => RequestId::from(id),
                    NumberOrString::String(id) => RequestId::from(id),
                };
                if let Some(cancel) = server.running.get(&id) {
                    cancel.cancel();
                }
                if let Some(at) = server.held.iter().position(|held| held.id == id) {
                    server.held.remove(at);
                    let message = "the request was called off";
                    server.refuse(id, ErrorCode::RequestCanceled, message);
                }
            }),
            DidOpenTextDocument::METHOD => {
                self.with::<DidOpenTextDocument>(notification, |server, params| {
                    let document = params.text_document;
                    let path = uri::to_path(&document.uri);
                    server.session.open(&path, document.text.as_bytes());
                    let opened = Document {
                        uri: document.uri,
                        version: document.version,
                        text: document.text.into(),
                    };
                    server.documents.open(path.clone(), opened);
                    // A file that is not saved yet may be part of a project.
                    if !std::path::Path::new(&path).exists() {
                        server.search_for(&path);
                    }
                    server.changed(Changed::Files(vec![path]));
                });
            }
            DidChangeTextDocument::METHOD => {
                self.with::<DidChangeTextDocument>(notification, |server, params| {
                    let path = uri::to_path(&params.text_document.uri);
                    let version = params.text_document.version;
                    let (changes, encoding) = (&params.content_changes, server.options.encoding);
                    let changed = server.documents.change(&path, version, changes, encoding);
                    if let Some(text) = changed {
                        server.session.open(&path, text.as_bytes());
                        server.changed(Changed::Files(vec![path]));
                    }
                });
            }
            DidCloseTextDocument::METHOD => {
                self.with::<DidCloseTextDocument>(notification, |server, params| {
                    let path = uri::to_path(&params.text_document.uri);
                    if server.documents.close(&path) {
                        server.session.close(&path);
                        if !std::path::Path::new(&path).exists() {
                            server.forget(&path);
                        }
                        server.changed(Changed::Files(vec![path]));
                    }
                });
            }
            DidSaveTextDocument::METHOD => {
                self.with::<DidSaveTextDocument>(notification, |server, params| {
                    let path = uri::to_path(&params.text_document.uri);
                    // A new file may make a new project.
                    server.search_for(&path);
                    server.changed(Changed::Files(vec![path]));
                });
            }
            DidChangeWatchedFiles::METHOD => {
                self.with::<DidChangeWatchedFiles>(notification, |server, params| {
                    let changes = &params.changes;
                    if changes.iter().any(|one| one.typ != FileChangeType::CHANGED) {
                        server.reindex();
                    }
                    let paths = changes.iter().map(|one| uri::to_path(&one.uri)).collect();
                    server.changed(Changed::Files(paths));
                });
            }
            DidChangeWorkspaceFolders::METHOD => {
                self.with::<DidChangeWorkspaceFolders>(notification, |server, params| {
                    let removed = params.event.removed.iter();
                    let removed: Vec<String> = removed.map(|one| uri::to_path(&one.uri)).collect();
                    let kept = server.folders.iter().cloned();
                    let mut folders: Vec<String> =
                        kept.filter(|path| !removed.contains(path)).collect();
                    let added = params.event.added.iter();
                    folders.extend(added.map(|one| uri::to_path(&one.uri)));
                    server.folders = Arc::new(folders);
                    server.reindex();
                });
            }
            _ => {}
        }
    }

    /// Searches the workspace again for a file that is part of nothing yet.
    fn search_for(&mut self, path: &str) {
        if self.is_indexed && !self.index.iter().any(|one| one.reads.contains(path)) {
            self.reindex();
        }
    }

    /// Searches the workspace again without a file that is part of something.
    fn forget(&mut self, path: &str) {
        if self.index.iter().any(|one| one.reads.contains(path)) {
            self.reindex();
        }
    }

    /// Acts on a notification; one that cannot be read has no effect.
    fn with<N: lsp_types::notification::Notification>(
        &mut self,
        notification: Notification,
        act: impl FnOnce(&mut Self, N::Params),
    ) where
        N::Params: DeserializeOwned,
    {
        match serde_json::from_value(notification.params) {
            Ok(params) => act(self, params),
            Err(error) => eprintln!("locus lsp: `{}`: {error}", N::METHOD),
        }
    }

    /// The client is ready: files are watched, and projects looked for.
    fn initialized(&mut self) {
        if self.options.watches {
            let registry = self.session.snapshot();
            let registry = registry.registry();
            let mut globs: Vec<String> = registry
                .languages()
                .flat_map(|language| language.extensions())
                .map(|extension| format!("**/*.{extension}"))
                .collect();
            globs.extend(["**/*.als", "**/locus.toml", "**/*.env"].map(str::to_owned));
            globs.sort_unstable();
            globs.dedup();
            let watchers = globs.into_iter().map(|glob| FileSystemWatcher {
                glob_pattern: GlobPattern::String(glob),
                kind: None,
            });
            let options = DidChangeWatchedFilesRegistrationOptions {
                watchers: watchers.collect(),
            };
            self.client.raw(serde_json::json!({
                "jsonrpc": "2.0",
                "id": "watch",
                "method": requested::RegisterCapability::METHOD,
                "params": { "registrations": [{
                    "id": "watch",
                    "method": DidChangeWatchedFiles::METHOD,
                    "registerOptions": options,
                }] },
            }));
        }
        self.reindex();
    }

    /// Finds the projects of the workspace again, on a thread of its own.
    fn reindex(&mut self) {
        let cancel = Cancel::default();
        let world = self.world(cancel.clone());
        let (events, client) = (self.events.clone(), self.client.clone());
        let indexing = self.indexing.get_or_insert_with(|| {
            let (worlds, inbox) = mpsc::channel();
            std::thread::spawn(move || index_all(&inbox, &events, &client));
            let cancel = Cancel::default();
            Indexing { worlds, cancel }
        });
        indexing.cancel.cancel();
        indexing.cancel = cancel;
        let _ = indexing.worlds.send(world);
    }

    /// Has what changed checked, and calls the check of what was before off.
    fn changed(&mut self, what: Changed) {
        let cancel = Cancel::default();
        let world = self.world(cancel.clone());
        if let Some(checking) = &mut self.checking {
            checking.cancel.cancel();
            checking.cancel = cancel;
            let _ = checking.changes.send(Change { world, what });
        }
    }
}

/// Searches the workspace each time that it is asked to; of several wishes, the last counts.
fn index_all(inbox: &Receiver<World>, events: &Sender<Event>, client: &Client) {
    while let Ok(mut world) = inbox.recv() {
        while let Ok(newer) = inbox.try_recv() {
            world = newer;
        }
        let token = NumberOrString::String(format!("index-{}", world.snapshot.revision()));
        let client = world.options.progress.then_some(client);
        if let Some(client) = client {
            client.raw(serde_json::json!({
                "jsonrpc": "2.0",
                "id": token,
                "method": requested::WorkDoneProgressCreate::METHOD,
                "params": { "token": token },
            }));
            client.begin(token.clone(), "Locus: finding configurations");
        }
        let searched = catch_unwind(AssertUnwindSafe(|| {
            let mut index = world.find_projects();
            // What files are checked with is known before all is known that they read.
            let _ = events.send(Event::Indexed(Arc::new(index.clone())));
            if world.add_reads(&mut index).is_ok() {
                let _ = events.send(Event::Indexed(Arc::new(index)));
            }
        }));
        if searched.is_err() {
            // Whoever waits for the workspace waits no longer.
            let _ = events.send(Event::Indexed(Index::default()));
        }
        if let Some(client) = client {
            client.end(token);
        }
    }
}
