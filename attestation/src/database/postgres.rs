//! A PostgreSQL that several gates share.
//!
//! A store has one connection, which is made again when it breaks. Statements are waited for on the thread that asks, as
//! with SQLite; a runtime of its own moves the bytes, so that it does not matter where one asks from.

use std::borrow::Cow;
use std::collections::HashMap;
use std::error::Error as StdError;
use std::fmt;
use std::future::Future;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use futures_util::future::try_join_all;
use percent_encoding::percent_decode_str;
use tokio::runtime::{Builder, Handle, Runtime, RuntimeFlavor};
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, Config, NoTls, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::schema::{Schema, numbered};
use super::{DatabaseError, Row, Value};
use crate::net::tls::client_of_everybody;

/// How long a connection may take, and how long nothing is tried after one that failed.
const CONNECT: Duration = Duration::from_secs(2);
/// How long an answer may take. The server gives up before: see [`SESSION`].
const ANSWER: Duration = Duration::from_secs(20);
/// How often a transaction is tried that the server took back, or whose connection broke before its commit.
const TRIES: u32 = 5;

/// What a session begins with. A gate that stands still in the middle of a transaction keeps others out for so long and no
/// longer. What was acknowledged survives a power loss.
const SESSION: &str = "
    SET statement_timeout = '15s';
    SET lock_timeout = '15s';
    SET idle_in_transaction_session_timeout = '15s';
    SELECT set_config('synchronous_commit', 'on', false)
        WHERE current_setting('synchronous_commit') = 'off';
";

/// Where a PostgreSQL is, and how it is reached.
#[derive(Clone)]
pub struct Server {
    config: Config,
    tls: Option<Arc<rustls::ClientConfig>>,
}

impl Server {
    /// Reads `postgres://USER:PASSWORD@HOST/DATABASE`, with the parameters of libpq. To hosts other than this machine goes
    /// TLS alone, to a server that the certificate in `sslrootcert` vouches for.
    pub fn parse(url: &str) -> Result<Self, DatabaseError> {
        let wrong = |why: &str| DatabaseError::Url(why.to_owned());
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(wrong("it does not begin with `postgres://`"));
        }
        let (place, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut kept, mut roots, mut mode) = (Vec::new(), None, None);
        for parameter in query.split('&').filter(|text| !text.is_empty()) {
            match parameter.split_once('=') {
                Some(("sslrootcert", file)) => roots = Some(decoded(file)?),
                Some(("sslmode", word)) => mode = Some(word),
                _ => kept.push(parameter),
            }
        }
        let known = [
            "disable",
            "allow",
            "prefer",
            "require",
            "verify-ca",
            "verify-full",
        ];
        if mode.is_some_and(|mode| !known.contains(&mode)) {
            return Err(wrong("its `sslmode` is none of libpq's"));
        }
        let plain = format!("{place}?{}", kept.join("&"));
        // What the parser says may quote what it cannot read, and that may be the password.
        let config: Config = plain.parse().map_err(|_| {
            wrong("it cannot be read; write `postgres://USER:PASSWORD@HOST/DATABASE`, with special characters as `%40`")
        })?;
        Self::with(config, roots.as_deref(), mode)
    }

    fn with(
        mut config: Config,
        roots: Option<&str>,
        mode: Option<&str>,
    ) -> Result<Self, DatabaseError> {
        if config.get_hosts().is_empty() {
            return Err(DatabaseError::Url("it names no host".to_owned()));
        }
        let tls = match roots {
            Some(file) => {
                let path = std::path::Path::new(file);
                let pem = std::fs::read_to_string(path)
                    .map_err(|error| DatabaseError::File(path.to_owned(), error))?;
                let tls = client_of_everybody(&pem)
                    .map_err(|error| DatabaseError::Url(format!("`sslrootcert`: {error}")))?;
                config.ssl_mode(SslMode::Require);
                Some(tls)
            }
            None => {
                let named = config.get_hosts().iter().find_map(|host| match host {
                    Host::Tcp(name) if !is_here(name) => Some(name.clone()),
                    _ => None,
                });
                // Where there are addresses too, it is they that the connection goes to, whatever the host is called.
                let mut addresses = config.get_hostaddrs().iter();
                let addressed = addresses.find(|address| !address.is_loopback());
                if let Some(host) = named.or_else(|| addressed.map(ToString::to_string)) {
                    return Err(DatabaseError::Url(format!(
                        "the connection to `{host}` needs TLS: name the certificate that vouches for the server with \
                         `?sslrootcert=FILE`"
                    )));
                }
                if matches!(mode, Some("require" | "verify-ca" | "verify-full")) {
                    return Err(DatabaseError::Url(
                        "TLS needs the certificate that vouches for the server: `sslrootcert=FILE`"
                            .to_owned(),
                    ));
                }
                config.ssl_mode(SslMode::Disable);
                None
            }
        };
        config
            .connect_timeout(CONNECT)
            .application_name("locus-gate")
            .target_session_attrs(TargetSessionAttrs::ReadWrite);
        Ok(Server { config, tls })
    }

    /// Whether it has a password, which is nobody else's business.
    pub fn has_password(&self) -> bool {
        self.config.get_password().is_some()
    }

    async fn connect(&self) -> Result<Client, tokio_postgres::Error> {
        match &self.tls {
            None => {
                let (client, connection) = self.config.connect(NoTls).await?;
                runtime_spawn(connection);
                Ok(client)
            }
            Some(tls) => {
                let tls = MakeRustlsConnect::new((**tls).clone());
                let (client, connection) = self.config.connect(tls).await?;
                runtime_spawn(connection);
                Ok(client)
            }
        }
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let config = &self.config;
        write!(f, "PostgreSQL at {:?}", config.get_hosts())
    }
}

fn decoded(text: &str) -> Result<String, DatabaseError> {
    let decoded = percent_decode_str(text).decode_utf8();
    let decoded = decoded.map_err(|_| DatabaseError::Url("it is no UTF-8".to_owned()))?;
    Ok(decoded.into_owned())
}

fn is_here(host: &str) -> bool {
    let address: Result<std::net::IpAddr, _> = host.parse();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// What an error says, in the server's words.
pub(super) fn told(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(said) => said.message().to_owned(),
        None => match error.source() {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        },
    }
}

/// What moves the bytes of all connections.
fn runtime() -> io::Result<&'static Handle> {
    static RUNTIME: OnceLock<io::Result<Runtime>> = OnceLock::new();
    let made = RUNTIME.get_or_init(|| {
        Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("locus-store")
            .enable_all()
            .build()
    });
    match made {
        Ok(runtime) => Ok(runtime.handle()),
        Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
    }
}

fn runtime_spawn<F>(connection: F)
where
    F: Future<Output = Result<(), tokio_postgres::Error>> + Send + 'static,
{
    // It is called from within the runtime's context.
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(error = told(&error), "a connection to the store ended");
        }
    });
}

/// Waits for an answer on this thread, for a time.
fn wait<T>(most: Duration, answer: impl Future<Output = T>) -> Result<T, DatabaseError> {
    let runtime = runtime().map_err(|error| DatabaseError::Unreachable(error.to_string()))?;
    let _inside = runtime.enter();
    futures_executor::block_on(async { tokio::time::timeout(most, answer).await }).map_err(|_| {
        DatabaseError::Unreachable(format!("no answer within {} seconds", most.as_secs()))
    })
}

/// Lets others go on with what this thread of a runtime would have done.
fn apart<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}

impl ToSql for Value<'_> {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        match (self, kind) {
            (Value::Null, _) => Ok(IsNull::Yes),
            (Value::Bool(yes), &Type::BOOL) => yes.to_sql(kind, out),
            (Value::Integer(number), &Type::INT8) => number.to_sql(kind, out),
            (Value::Integer(number), &Type::INT4) => i32::try_from(*number)?.to_sql(kind, out),
            // No text there has this character: that something cannot be written must not keep a verdict from being kept.
            (Value::Text(text), &Type::TEXT) if text.contains('\0') => {
                text.replace('\0', "\u{fffd}").to_sql(kind, out)
            }
            (Value::Text(text), &Type::TEXT) => text.as_ref().to_sql(kind, out),
            (Value::Blob(bytes), &Type::BYTEA) => bytes.as_ref().to_sql(kind, out),
            _ => Err(format!("a value for a column of type {kind} is of another").into()),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

fn row_from(row: &tokio_postgres::Row) -> Result<Row, DatabaseError> {
    let mut values = Vec::with_capacity(row.len());
    for (place, column) in row.columns().iter().enumerate() {
        let value = match *column.type_() {
            Type::BOOL => row.try_get::<_, Option<bool>>(place)?.map(Value::Bool),
            Type::INT8 => row.try_get::<_, Option<i64>>(place)?.map(Value::Integer),
            Type::INT4 => {
                let number = row.try_get::<_, Option<i32>>(place)?;
                number.map(|number| Value::Integer(i64::from(number)))
            }
            Type::BYTEA => {
                let bytes = row.try_get::<_, Option<Vec<u8>>>(place)?;
                bytes.map(|bytes| Value::Blob(Cow::Owned(bytes)))
            }
            _ => {
                let text = row.try_get::<_, Option<String>>(place)?;
                text.map(|text| Value::Text(Cow::Owned(text)))
            }
        };
        values.push(value.unwrap_or(Value::Null));
    }
    Ok(Row(values))
}

/// What a transaction is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// One after the other, among all gates.
    Change,
    /// Several statements that see one moment.
    Read,
    /// One statement.
    Single,
}

/// A connection.
struct Link {
    client: Client,
    prepared: Mutex<HashMap<String, Statement>>,
}

/// Tables in PostgreSQL, by one connection that is made when it is needed.
pub(super) struct Store {
    server: Server,
    schema: &'static Schema,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    link: Option<Arc<Link>>,
    /// When a connection could last not be made, and why.
    failed: Option<(Instant, String)>,
}

/// What became of a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Fate {
    #[default]
    Well,
    /// The server took everything back, and it can be done again.
    TakenBack,
    /// The connection broke.
    Lost,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn fate_of(error: &tokio_postgres::Error) -> Fate {
    let Some(code) = error.code() else {
        let broken = error.is_closed()
            || error
                .source()
                .is_some_and(|source| source.is::<io::Error>());
        return if broken { Fate::Lost } else { Fate::Well };
    };
    if [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
    ]
    .contains(code)
    {
        return Fate::TakenBack;
    }
    let ends = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
    ];
    match ends.contains(code) || code.code().starts_with("08") {
        true => Fate::Lost,
        false => Fate::Well,
    }
}

impl Link {
    fn ask<T>(
        &self,
        answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, (Fate, DatabaseError)> {
        match wait(ANSWER, answer) {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => {
                let fate = fate_of(&error);
                let error = match fate {
                    Fate::Lost => DatabaseError::Unreachable(told(&error)),
                    _ => DatabaseError::Postgres(error),
                };
                Err((fate, error))
            }
            Err(error) => Err((Fate::Lost, error)),
        }
    }

    /// A statement, prepared once.
    fn prepared(&self, text: &str) -> Result<Statement, (Fate, DatabaseError)> {
        if let Some(statement) = lock(&self.prepared).get(text) {
            return Ok(statement.clone());
        }
        let statement = self.ask(self.client.prepare(&numbered(text)))?;
        lock(&self.prepared).insert(text.to_owned(), statement.clone());
        Ok(statement)
    }
}

/// A transaction on its way.
pub(super) struct Running<'d> {
    link: &'d Link,
    /// What became of a statement that failed.
    failed: &'d Mutex<Option<Fate>>,
}

impl Running<'_> {
    fn noted<T>(&self, outcome: Result<T, (Fate, DatabaseError)>) -> Result<T, DatabaseError> {
        outcome.map_err(|(fate, error)| {
            *lock(self.failed) = Some(fate);
            error
        })
    }

    pub(super) fn query(
        &self,
        text: &str,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, DatabaseError> {
        let statement = self.noted(self.link.prepared(text))?;
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
        let rows = self.noted(self.link.ask(self.link.client.query(&statement, &values)))?;
        rows.iter().map(row_from).collect()
    }

    pub(super) fn execute(&self, text: &str, values: &[Value<'_>]) -> Result<usize, DatabaseError> {
        let statement = self.noted(self.link.prepared(text))?;
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
        let changed = self.link.ask(self.link.client.execute(&statement, &values));
        Ok(usize::try_from(self.noted(changed)?).unwrap_or(usize::MAX))
    }

    pub(super) fn execute_all(
        &self,
        text: &str,
        values: &[Vec<Value<'_>>],
    ) -> Result<Vec<usize>, DatabaseError> {
        if values.is_empty() {
            return Ok(Vec::new());
        }
        let statement = self.noted(self.link.prepared(text))?;
        let client = &self.link.client;
        let all = values.iter().map(|values| {
            let statement = &statement;
            async move {
                let values: Vec<&(dyn ToSql + Sync)> =
                    values.iter().map(|value| value as _).collect();
                client.execute(statement, &values).await
            }
        });
        let changed = self.noted(self.link.ask(try_join_all(all)))?;
        let number = |changed| usize::try_from(changed).unwrap_or(usize::MAX);
        Ok(changed.into_iter().map(number).collect())
    }

    pub(super) fn batch(&self, text: &str) -> Result<(), DatabaseError> {
        self.noted(self.link.ask(self.link.client.batch_execute(text)))
    }
}

/// Ends a connection on which a transaction did not come to its end: the server takes it back.
struct Unended<'s>(Option<&'s Store>);

impl Drop for Unended<'_> {
    fn drop(&mut self) {
        if let Some(store) = self.0 {
            store.drop_link();
        }
    }
}

impl Store {
    /// Connects, and brings the tables to the newest version.
    pub(super) fn open(server: &Server, schema: &'static Schema) -> Result<Self, DatabaseError> {
        let store = Store {
            server: server.clone(),
            schema,
            state: Mutex::default(),
        };
        apart(|| store.link())?;
        Ok(store)
    }

    fn drop_link(&self) {
        lock(&self.state).link = None;
    }

    /// The connection, made again if it broke.
    fn link(&self) -> Result<Arc<Link>, DatabaseError> {
        let mut state = lock(&self.state);
        if let Some(link) = state.link.as_ref().filter(|link| !link.client.is_closed()) {
            return Ok(link.clone());
        }
        state.link = None;
        // Whoever asks while it is away is told at once, and does not wait for the next who tries in vain.
        if let Some((when, why)) = &state.failed
            && when.elapsed() < CONNECT
        {
            return Err(DatabaseError::Unreachable(why.clone()));
        }
        let connected = wait(2 * CONNECT, self.server.connect()).and_then(|connected| {
            connected.map_err(|error| match fate_of(&error) {
                Fate::Lost => DatabaseError::Unreachable(told(&error)),
                _ => DatabaseError::Postgres(error),
            })
        });
        let link = connected.and_then(|client| {
            let link = Link {
                client,
                prepared: Mutex::default(),
            };
            self.migrate(&link)?;
            Ok(Arc::new(link))
        });
        match &link {
            Ok(link) => {
                state.failed = None;
                state.link = Some(link.clone());
            }
            Err(error) => state.failed = Some((Instant::now(), error.to_string())),
        }
        link
    }

    /// Begins a session in which the tables are those that this program knows. Gates that start together do so in turn.
    fn migrate(&self, link: &Link) -> Result<(), DatabaseError> {
        let (name, key) = (self.schema.name, self.schema.application);
        let failed = Mutex::default();
        let on = Running {
            link,
            failed: &failed,
        };
        on.batch(SESSION)?;
        on.batch(&format!("SET search_path = {name}"))?;
        on.batch(&format!("BEGIN; SELECT pg_advisory_xact_lock({key})"))?;
        let here =
            "SELECT to_regnamespace(?1) IS NOT NULL, to_regclass(?1 || '.migration') IS NOT NULL";
        let here = on.query(here, &[Value::Text(Cow::Borrowed(name))])?;
        let here = here.first().ok_or(DatabaseError::Nothing)?;
        let found = match (here.get(0)?, here.get(1)?) {
            (true, false) => return Err(DatabaseError::ForeignSchema(name)),
            (false, _) => {
                on.batch(&format!(
                    "CREATE SCHEMA {name}; CREATE TABLE migration (version BIGINT PRIMARY KEY)"
                ))?;
                0
            }
            (true, true) => {
                let last = on.query("SELECT coalesce(max(version), 0) FROM migration", &[])?;
                let last: i64 = last.first().ok_or(DatabaseError::Nothing)?.get(0)?;
                usize::try_from(last).unwrap_or(usize::MAX)
            }
        };
        let known = self.schema.migrations.len();
        if found > known {
            return Err(DatabaseError::Newer { found, known });
        }
        for (number, migration) in self.schema.migrations.iter().enumerate().skip(found) {
            on.batch(&migration.for_postgres())?;
            on.batch(&format!("INSERT INTO migration VALUES ({})", number + 1))?;
        }
        on.batch("COMMIT")
    }

    /// Does what belongs together, again if the server took it back or the connection broke before its end.
    pub(super) fn transact<T, E: From<DatabaseError>>(
        &self,
        kind: Kind,
        mut work: impl FnMut(Running<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        apart(|| {
            let mut tries = 0;
            loop {
                tries += 1;
                let (fate, outcome) = self.once(kind, &mut work);
                match fate {
                    Fate::Well => return outcome,
                    _ if tries >= TRIES => return outcome,
                    Fate::TakenBack => std::thread::sleep(Duration::from_millis(5 << tries)),
                    Fate::Lost => {}
                }
            }
        })
    }

    fn once<T, E: From<DatabaseError>>(
        &self,
        kind: Kind,
        work: &mut impl FnMut(Running<'_>) -> Result<T, E>,
    ) -> (Fate, Result<T, E>) {
        let link = match self.link() {
            Ok(link) => link,
            // It was tried, and is not tried again for whoever asked now.
            Err(error) => return (Fate::Well, Err(error.into())),
        };
        let begin = match kind {
            Kind::Change => format!(
                "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock({})",
                self.schema.application
            ),
            Kind::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY".to_owned(),
            Kind::Single => String::new(),
        };
        let mut unended = Unended(Some(self));
        if kind != Kind::Single
            && let Err((fate, error)) = link.ask(link.client.batch_execute(&begin))
        {
            return (fate, Err(error.into()));
        }
        let failed = Mutex::default();
        let outcome = work(Running {
            link: &link,
            failed: &failed,
        });
        let failed = *lock(&failed);
        let fate = failed.unwrap_or_default();
        if fate == Fate::Lost {
            return (fate, outcome);
        }
        if kind == Kind::Single {
            unended.0 = None;
            return (fate, outcome);
        }
        // What failed is taken back as a whole, whoever passes over it: the server would say nothing.
        let outcome = match failed {
            Some(_) => outcome.and_then(|_| Err(DatabaseError::Nothing.into())),
            None => outcome,
        };
        let end = if outcome.is_ok() {
            "COMMIT"
        } else {
            "ROLLBACK"
        };
        let ended = link.ask(link.client.batch_execute(end));
        if ended.is_ok() {
            unended.0 = None;
        }
        match (outcome, ended) {
            (Ok(done), Ok(())) => (Fate::Well, Ok(done)),
            // Whether it counts is not known: it is not done again, and whoever asked looks.
            (Ok(_), Err((Fate::Lost, _))) if kind == Kind::Change => {
                (Fate::Well, Err(DatabaseError::Unfinished.into()))
            }
            (Ok(_), Err((fate, error))) => (fate, Err(error.into())),
            (Err(error), _) => (fate, Err(error)),
        }
    }
}
