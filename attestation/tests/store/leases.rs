//! Leases: one holder at a time, and none that does not count any more.

use std::time::Duration;

use locus_attestation::digest::HashAlg;
use locus_attestation::evidence::Nonce;
use locus_attestation::policy::WorkerPolicy;
use locus_attestation::protocol::Admission;
use locus_attestation::verifier::{
    Conclusion, Lease, Node, StoreError, Trust, VerifierStore, appraise_worker,
};

use crate::machine::{Machine, whitelist};
use crate::{NOW, Place, admission};

crate::with_both!(
    one_holder_at_a_time,
    a_turn_is_taken_once,
    conclusions_count_under_the_lease_alone,
    what_counts_once_is_used_once,
    who_is_there,
    many_who_want_the_same,
);

const MINUTE: i64 = 60_000;

fn take(store: &VerifierStore, holder: &str, lasts: i64) -> Option<Lease> {
    store.take_lease("one", holder, lasts).unwrap()
}

fn one_holder_at_a_time(place: &Place) {
    let (store, other) = (place.verifier(), place.verifier());
    let first = take(&store, "a", MINUTE).unwrap();
    assert_eq!(take(&other, "b", MINUTE), None);
    assert_eq!(
        take(&store, "a", MINUTE),
        None,
        "not even its holder has it twice"
    );
    assert!(store.renew_lease(&first, MINUTE).unwrap());
    assert!(store.give_back(&first, None).unwrap());
    let second = take(&other, "b", 0).unwrap();
    assert!(second.token > first.token);
    assert!(!store.renew_lease(&first, MINUTE).unwrap());
    assert!(!store.give_back(&first, None).unwrap());
    // It ran out at once: another takes it, and the one before is out.
    let third = take(&store, "a", MINUTE).unwrap();
    assert!(third.token > second.token);
    assert!(!other.renew_lease(&second, MINUTE).unwrap());
    assert!(store.renew_lease(&third, MINUTE).unwrap());
}

fn what_counts_once_is_used_once(place: &Place) {
    let (store, other) = (place.verifier(), place.verifier());
    let at = |seconds| NOW.plus_secs(seconds);
    let until = at(60);
    let uses = |store: &VerifierStore, request, now| {
        store.use_once(("shop/nonce", request), now, until).unwrap()
    };
    assert!(uses(&store, "first", NOW));
    assert!(uses(&other, "first", NOW), "the same request asks again");
    assert!(!uses(&other, "second", NOW));
    // The clock of one is ahead: for it, the signature ran out. For the other it has not, and it was used.
    assert!(!uses(&store, "third", at(66)));
    assert!(!uses(&other, "third", at(59)));
    assert!(store.use_once(("shop/other", "third"), NOW, until).unwrap());
    // It is not kept for ever.
    assert!(uses(&store, "fourth", at(2 * 3600)));
}

fn a_turn_is_taken_once(place: &Place) {
    let mut store = place.verifier();
    store.admit(&admission("one", 1), NOW).unwrap();
    store.admit(&admission("two", 2), NOW).unwrap();
    let turns = |store: &VerifierStore| {
        let turns = store.turns().unwrap().into_iter();
        let mut names: Vec<String> = turns.map(|turn| turn.worker).collect();
        names.sort();
        names
    };
    assert_eq!(turns(&store), ["one", "two"], "who is new comes soon");
    let lease = store.take_turn("one", "a", MINUTE).unwrap().unwrap();
    assert_eq!(turns(&store), ["two"], "it is attested just now");
    assert!(store.give_back(&lease, Some(MINUTE)).unwrap());
    assert_eq!(turns(&store), ["two"], "its turn is in a minute");
    assert_eq!(store.take_turn("one", "b", MINUTE).unwrap(), None);
    // Whoever asks for it gets it out of turn.
    let lease = store.take_lease("one", "b", MINUTE).unwrap().unwrap();
    assert!(store.give_back(&lease, Some(-1)).unwrap());
    assert_eq!(turns(&store), ["one", "two"]);
    assert!(store.turns().unwrap().iter().all(|turn| turn.overdue >= 0));
    // Registered anew it is looked at soon; untrusted, not at all; and what is removed leaves no lease.
    let lease = store.take_turn("one", "b", MINUTE).unwrap().unwrap();
    assert!(store.give_back(&lease, Some(MINUTE)).unwrap());
    store.admit(&admission("one", 3), NOW).unwrap();
    assert_eq!(turns(&store), ["one", "two"]);
    let known = store.worker("two").unwrap();
    store
        .distrust_worker(known.id, known.generation, "it lied", NOW, None)
        .unwrap();
    assert_eq!(turns(&store), ["one"]);
    store.remove_worker("one").unwrap();
    assert!(turns(&store).is_empty());
    assert_eq!(take(&store, "a", MINUTE).unwrap().token, 1);
}

fn conclusions_count_under_the_lease_alone(place: &Place) {
    let mut store = place.verifier();
    let (list, policy) = (whitelist(3), WorkerPolicy::default());
    let mut machine = Machine::new(1, HashAlg::Sha1);
    let worker = machine.worker.clone();
    let admission = Admission {
        id: worker.id,
        name: worker.name.clone(),
        address: "127.0.0.1:1".to_owned(),
        registration: worker.id,
    };
    store.admit(&admission, NOW).unwrap();
    let generation = store.worker(&worker.name).unwrap().generation;
    let request = Node::default().request(worker.id, Nonce::from_bytes([2; 32]), None, &policy);
    let bytes = machine.evidence(&request);
    let judged =
        appraise_worker(&worker, &Node::default(), &request, &bytes, &list, &policy).unwrap();
    let slow = store.take_lease(&worker.name, "slow", 0).unwrap().unwrap();
    let quick = store
        .take_lease(&worker.name, "quick", MINUTE)
        .unwrap()
        .unwrap();
    let conclude = |lease| Conclusion {
        worker: worker.id,
        generation,
        from: None,
        appraisal: &judged,
        outcomes: &[],
        at: NOW,
        lease: Some(lease),
    };
    // The one that stood still changes nothing, in no way.
    let refused = [
        store.commit(&conclude(&slow)).map(|_| true),
        store.distrust_worker(worker.id, generation, "x", NOW, Some(&slow)),
        store.suspend_worker(worker.id, generation, "x", NOW, Some(&slow)),
    ];
    for refused in refused {
        assert!(
            matches!(refused, Err(StoreError::Conflict(_))),
            "{refused:?}"
        );
    }
    assert_eq!(store.worker(&worker.name).unwrap().trust, Trust::Unknown);
    store.commit(&conclude(&quick)).unwrap();
    assert_eq!(store.worker(&worker.name).unwrap().trust, Trust::Trusted);
}

fn who_is_there(place: &Place) {
    let (store, other) = (place.verifier(), place.verifier());
    store.beat("a", MINUTE).unwrap();
    let beat = other.beat("b", MINUTE).unwrap();
    assert_eq!(beat.there, ["a", "b"]);
    std::thread::sleep(Duration::from_millis(30));
    let beat = other.beat("b", 20).unwrap();
    assert_eq!(beat.there, ["b"], "the other said nothing for too long");
    store.leave("a").unwrap();
    assert_eq!(other.beat("b", MINUTE).unwrap().there, ["b"]);
    let own = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    let own = i64::try_from(own.as_millis()).unwrap();
    assert!(
        (own - beat.time.millis()).abs() < 10 * MINUTE,
        "{own} {beat:?}"
    );
}

/// Many at once, each with a connection of its own: what the lease protects is never had by two.
fn many_who_want_the_same(place: &Place) {
    use std::sync::atomic::{AtomicU64, Ordering};
    let (inside, turns) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for number in 0..4 {
            let (inside, turns) = (&inside, &turns);
            scope.spawn(move || {
                let (store, name) = (place.verifier(), format!("holder-{number}"));
                while turns.load(Ordering::SeqCst) < 60 {
                    let Some(lease) = take(&store, &name, MINUTE) else {
                        std::thread::yield_now();
                        continue;
                    };
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "{lease:?}");
                    turns.fetch_add(1, Ordering::SeqCst);
                    std::thread::yield_now();
                    inside.fetch_sub(1, Ordering::SeqCst);
                    assert!(store.give_back(&lease, None).unwrap());
                }
            });
        }
    });
    let last = take(&place.verifier(), "last", MINUTE).unwrap();
    assert_eq!(
        last.token,
        turns.load(Ordering::SeqCst) + 1,
        "each had it once"
    );
}
