//! A PostgreSQL that goes away, comes back, is somebody else's, or cannot be reached safely.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use locus_attestation::database::{DatabaseError, Location};
use locus_attestation::verifier::StoreError;

use crate::{NOW, Place, admission, pod};

fn database(error: StoreError) -> DatabaseError {
    match error {
        StoreError::Database(error) => error,
        other => panic!("{other}"),
    }
}

#[test]
fn what_was_acknowledged_is_there_after_every_crash() {
    let place = Place::alone();
    let server = place.server.as_ref().unwrap();
    place.verifier().admit(&admission("one", 1), NOW).unwrap();
    let (stop, last) = (AtomicBool::new(false), AtomicU64::new(0));
    let acknowledged = std::thread::scope(|scope| {
        let (stop, last) = (&stop, &last);
        let place = &place;
        let writer = scope.spawn(move || {
            let (mut store, mut kept, mut number) = (place.verifier(), Vec::new(), 0_u128);
            while !stop.load(Ordering::SeqCst) {
                number += 1;
                let pod = pod("one", number);
                match store.declare_pod(&pod, NOW) {
                    Ok(_) => kept.push(pod.uid),
                    // Nothing else goes wrong, and whoever is told so can do it again.
                    Err(error) => {
                        let error = database(error);
                        assert!(error.is_passing(), "{error}");
                        std::thread::sleep(Duration::from_millis(20));
                    }
                }
                last.store(kept.len() as u64, Ordering::SeqCst);
            }
            kept
        });
        for _ in 0..3 {
            let before = last.load(Ordering::SeqCst);
            while last.load(Ordering::SeqCst) < before + 20 {
                std::thread::sleep(Duration::from_millis(5));
            }
            server.stop();
            std::thread::sleep(Duration::from_millis(300));
            server.go_on().unwrap();
        }
        let before = last.load(Ordering::SeqCst);
        while last.load(Ordering::SeqCst) < before + 20 {
            std::thread::sleep(Duration::from_millis(5));
        }
        stop.store(true, Ordering::SeqCst);
        writer.join().unwrap()
    });
    let store = place.verifier();
    let there = store.pods(None).unwrap();
    for uid in &acknowledged {
        assert!(
            there.iter().any(|known| known.pod.uid == *uid),
            "{uid} is lost"
        );
    }
    // Every change has its trace, also those around a crash.
    let changes = store.changes(0).unwrap().changes.len();
    assert_eq!(changes, there.len() + 1);
}

#[test]
fn who_asks_while_it_is_away_is_told_soon_and_hears_again_when_it_is_back() {
    let place = Place::alone();
    let server = place.server.as_ref().unwrap();
    let mut store = place.verifier();
    store.admit(&admission("one", 1), NOW).unwrap();
    server.stop();
    let begun = Instant::now();
    for _ in 0..100 {
        let error = database(store.worker("one").unwrap_err());
        assert!(matches!(error, DatabaseError::Unreachable(_)), "{error}");
        let error = database(store.admit(&admission("two", 2), NOW).unwrap_err());
        assert!(error.is_passing(), "{error}");
    }
    // Not each of them waits until a connection fails.
    assert!(begun.elapsed() < Duration::from_secs(60));
    assert!(place.try_verifier().is_err());
    server.go_on().unwrap();
    let known = (0..3000).find_map(|_| {
        std::thread::sleep(Duration::from_millis(20));
        store.worker("one").ok()
    });
    assert_eq!(known.unwrap().name, "one");
    store.admit(&admission("two", 2), NOW).unwrap();
}

#[test]
fn a_connection_that_breaks_between_two_changes_is_not_noticed() {
    let place = Place::postgres();
    let mut store = place.verifier();
    for number in 0..5 {
        store
            .admit(&admission(&format!("worker-{number}"), number), NOW)
            .unwrap();
        let ended = place
            .ask(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                 WHERE datname = current_database() AND pid <> pg_backend_pid()",
            )
            .unwrap();
        assert_eq!(ended, "1");
        if number % 2 == 0 {
            assert_eq!(store.workers().unwrap().len(), number as usize + 1);
        }
    }
}

#[test]
fn who_stands_still_in_a_change_does_not_keep_others_out_for_good() {
    let place = Place::postgres();
    let mut store = place.verifier();
    store.admit(&admission("one", 1), NOW).unwrap();
    // As a gate would hold it whose machine was suspended; the server ends such a session, here after a second.
    std::thread::scope(|scope| {
        let place = &place;
        let held = scope.spawn(move || {
            place.ask("BEGIN; SELECT pg_advisory_xact_lock(x'4c6f5665'::int); SELECT pg_sleep(1)")
        });
        std::thread::sleep(Duration::from_millis(300));
        store.admit(&admission("two", 2), NOW).unwrap();
        held.join().unwrap().unwrap();
    });
    assert_eq!(store.workers().unwrap().len(), 2);
    let settings = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'locus-gate'";
    assert_eq!(place.ask(settings).unwrap(), "1");
}

#[test]
fn tables_of_others_and_of_newer_gates_are_left_alone() {
    let place = Place::postgres();
    drop(place.verifier());
    place
        .ask("INSERT INTO locus_verifier.migration VALUES (99)")
        .unwrap();
    let newer = database(place.try_verifier().err().unwrap());
    assert!(
        matches!(newer, DatabaseError::Newer { found: 99, .. }),
        "{newer}"
    );
    let place = Place::postgres();
    place
        .ask("CREATE SCHEMA locus_verifier; CREATE TABLE locus_verifier.worker (x int)")
        .unwrap();
    let foreign = database(place.try_verifier().err().unwrap());
    assert!(
        matches!(foreign, DatabaseError::ForeignSchema(_)),
        "{foreign}"
    );
}

#[test]
fn a_migration_that_fails_leaves_the_old_version() {
    let place = Place::postgres();
    let owner = "CREATE ROLE reader LOGIN";
    // Another test may have made it in the same server.
    let _ = place.ask(owner);
    let url = place.url.replace("postgres://locus@", "postgres://reader@");
    let location = Location::parse(&url).unwrap();
    let opened =
        locus_attestation::verifier::VerifierStore::open_at(&location, place.folder.path());
    let refused = database(opened.err().unwrap()).to_string();
    assert!(refused.contains("permission denied"), "{refused}");
    let schemas = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'locus%'";
    assert_eq!(place.ask(schemas).unwrap(), "0");
}

#[test]
fn a_url_says_where_and_how_and_never_shows_its_password() {
    let told = |url: &str| match Location::parse(url) {
        Ok(_) => "fine".to_owned(),
        Err(error) => error.to_string(),
    };
    for fine in [
        "postgres://locus@localhost/locus",
        "postgresql://locus:secret@127.0.0.1:5433/locus?connect_timeout=3",
        "postgres://locus@[::1]/locus",
        "postgres://locus@%2fvar%2frun%2fpostgresql/locus",
        "postgres://locus@localhost/locus?sslmode=disable",
    ] {
        assert_eq!(told(fine), "fine", "{fine}");
    }
    for (wrong, why) in [
        (
            "mysql://locus@localhost/locus",
            "does not begin with `postgres://`",
        ),
        ("postgres://locus:secret@db.example/locus", "needs TLS"),
        (
            "postgres://locus@localhost/locus?hostaddr=10.0.0.2",
            "`10.0.0.2` needs TLS",
        ),
        (
            "postgres://locus@%2frun%2fpostgresql/locus?hostaddr=10.0.0.3",
            "`10.0.0.3` needs TLS",
        ),
        (
            "postgres://locus:secret@db.example/locus?sslmode=disable",
            "needs TLS",
        ),
        (
            "postgres://locus@10.0.0.1,localhost/locus",
            "`10.0.0.1` needs TLS",
        ),
        (
            "postgres://locus@localhost/locus?sslmode=verify-full",
            "sslrootcert=FILE",
        ),
        (
            "postgres://locus@localhost/locus?sslmode=maybe",
            "none of libpq's",
        ),
        (
            "postgres://locus:se/cret@localhost:port/locus",
            "cannot be read",
        ),
        ("postgres:///locus", "names no host"),
        (
            "postgres://locus@db/locus?sslrootcert=%2fnowhere%2fca.pem",
            "/nowhere/ca.pem",
        ),
    ] {
        let told = told(wrong);
        assert!(told.contains(why), "{wrong}: {told}");
        assert!(
            !told.contains("secret") && !told.contains("cret@"),
            "{told}"
        );
    }
    let location = Location::parse("postgres://locus:secret@localhost/locus").unwrap();
    assert!(!format!("{location:?}").contains("secret"));
}
