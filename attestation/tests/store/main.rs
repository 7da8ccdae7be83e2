//! What the gate's databases keep and what they refuse: the same of SQLite in files and of a real PostgreSQL.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests fail as tests do: by panicking"
)]

mod faults;
mod kept;
mod leases;
#[path = "../../../benches/attestation/machine.rs"]
#[allow(dead_code, reason = "benchmarks use more of it")]
mod machine;
mod together;

use std::sync::Arc;

use locus_attestation::clock::Timestamp;
use locus_attestation::database::Location;
use locus_attestation::database::server::PostgresServer;
use locus_attestation::protocol::Admission;
use locus_attestation::reference::ReferenceStore;
use locus_attestation::registrar::Registrar;
use locus_attestation::verifier::{
    AuditStore, Pod, PodContainer, Retention, StoreError, VerifierStore,
};
use tempfile::TempDir;
use uuid::Uuid;

const NOW: Timestamp = Timestamp::from_secs(1_800_000_000);

/// Where databases are, for one test.
struct Place {
    location: Location,
    folder: TempDir,
    server: Option<Arc<PostgresServer>>,
    url: String,
}

impl Place {
    fn files() -> Self {
        Place {
            location: Location::Files,
            folder: tempfile::tempdir().unwrap(),
            server: None,
            url: String::new(),
        }
    }

    /// A database of its own in a server that other tests use, too.
    fn postgres() -> Self {
        Self::in_server(PostgresServer::shared().unwrap())
    }

    /// A server of its own.
    fn alone() -> Self {
        Self::in_server(Arc::new(PostgresServer::start().unwrap()))
    }

    fn in_server(server: Arc<PostgresServer>) -> Self {
        let url = server.database().unwrap();
        Place {
            location: Location::parse(&url).unwrap(),
            folder: tempfile::tempdir().unwrap(),
            server: Some(server),
            url,
        }
    }

    fn try_verifier(&self) -> Result<VerifierStore, StoreError> {
        VerifierStore::open_at(&self.location, self.folder.path())
    }

    fn verifier(&self) -> VerifierStore {
        self.try_verifier().unwrap()
    }

    fn registrar(&self) -> Registrar {
        Registrar::open_at(&self.location, self.folder.path()).unwrap()
    }

    fn references(&self) -> ReferenceStore {
        ReferenceStore::open_at(&self.location, self.folder.path()).unwrap()
    }

    fn audit(&self) -> AuditStore {
        let retention = Retention {
            days: 2,
            bytes: 10_000,
        };
        AuditStore::open_at(&self.location, self.folder.path(), retention).unwrap()
    }

    /// Has PostgreSQL do something behind the back of the gate.
    fn ask(&self, statement: &str) -> Result<String, String> {
        let server = self.server.as_ref().unwrap();
        server.ask(PostgresServer::name_of(&self.url), statement)
    }
}

/// Each test with files, and with PostgreSQL.
macro_rules! with_both {
    ($($test:ident),* $(,)?) => {
        mod files {
            $(#[test] fn $test() { super::$test(&crate::Place::files()); })*
        }
        mod postgres {
            $(#[test] fn $test() { super::$test(&crate::Place::postgres()); })*
        }
    };
}
use with_both;

fn admission(name: &str, registration: u128) -> Admission {
    Admission {
        id: {
            let digest = machine::content(name);
            Uuid::from_slice(&digest.as_bytes()[..16]).unwrap()
        },
        name: name.to_owned(),
        address: "127.0.0.1:1".to_owned(),
        registration: Uuid::from_u128(registration),
    }
}

fn pod(worker: &str, number: u128) -> Pod {
    Pod {
        uid: Uuid::from_u128(number).to_string().parse().unwrap(),
        namespace: "shop".to_owned(),
        name: format!("pod-{number}"),
        tenant: Uuid::nil(),
        worker: worker.to_owned(),
        containers: vec![PodContainer {
            name: "main".to_owned(),
            image: "image".to_owned(),
            digest: machine::content("image"),
            id: Some(format!("{number:064x}").parse().unwrap()),
        }],
    }
}
