//! Several who change the same database.

use std::sync::atomic::{AtomicBool, Ordering};

use locus_attestation::verifier::StoreError;

use crate::{NOW, Place, admission, pod};

crate::with_both!(
    whoever_follows_misses_nothing,
    what_fails_leaves_nothing,
    everybody_opens_it_at_once,
);

const WRITERS: u128 = 4;
const EACH: u128 = 25;

/// Versions become visible in their order: whoever has read up to one does not miss an earlier one that comes later.
fn whoever_follows_misses_nothing(place: &Place) {
    place.verifier().admit(&admission("one", 1), NOW).unwrap();
    let done = AtomicBool::new(false);
    let followed = std::thread::scope(|scope| {
        let done = &done;
        let follower = scope.spawn(move || {
            let (store, mut since, mut heard) = (place.verifier(), 0, Vec::new());
            loop {
                let last = done.load(Ordering::SeqCst);
                let new = store.changes(since).unwrap();
                since = new.version;
                let empty = new.changes.is_empty();
                heard.extend(new.changes.into_iter().map(|change| change.version));
                if last && empty {
                    return heard;
                }
            }
        });
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                scope.spawn(move || {
                    let mut store = place.verifier();
                    for number in 0..EACH {
                        let pod = pod("one", 1 + writer * EACH + number);
                        store.declare_pod(&pod, NOW).unwrap();
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.join().unwrap();
        }
        done.store(true, Ordering::SeqCst);
        follower.join().unwrap()
    });
    let all: Vec<u64> = place
        .verifier()
        .changes(0)
        .unwrap()
        .changes
        .iter()
        .map(|change| change.version)
        .collect();
    assert_eq!(all.len(), usize::try_from(WRITERS * EACH + 1).unwrap());
    assert_eq!(followed, all);
}

fn what_fails_leaves_nothing(place: &Place) {
    let mut store = place.verifier();
    store.admit(&admission("one", 1), NOW).unwrap();
    store.declare_pod(&pod("one", 1), NOW).unwrap();
    let before = (store.version().unwrap(), store.pods(None).unwrap());
    // It has another owner: what was done before that was found is taken back.
    let mut stolen = pod("one", 1);
    stolen.name = "stolen".to_owned();
    assert!(matches!(
        store.declare_pod(&stolen, NOW),
        Err(StoreError::Conflict(_))
    ));
    assert!(store.remove_pod(pod("one", 7).uid, NOW).is_err());
    let after = (store.version().unwrap(), store.pods(None).unwrap());
    assert_eq!(before, after);
    let history = store.history(admission("one", 1).id).unwrap();
    assert!(history.gone.is_empty());
}

fn everybody_opens_it_at_once(place: &Place) {
    std::thread::scope(|scope| {
        for number in 0..8 {
            scope.spawn(move || {
                let mut store = place.verifier();
                let name = format!("worker-{number}");
                store.admit(&admission(&name, number), NOW).unwrap();
                place.registrar().manufacturers().unwrap();
            });
        }
    });
    assert_eq!(place.verifier().workers().unwrap().len(), 8);
}
