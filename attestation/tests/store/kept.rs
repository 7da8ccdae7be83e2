//! What is kept, and what is refused.

use std::collections::BTreeMap;

use locus_attestation::digest::HashAlg;
use locus_attestation::evidence::Nonce;
use locus_attestation::evidence::jws::{TokenKey, public_key_to_pem};
use locus_attestation::policy::WorkerPolicy;
use locus_attestation::protocol::attestation::Shown;
use locus_attestation::protocol::{Admission, Effect, EvidenceRequest, WorkerRecord};
use locus_attestation::reference::{ImageReference, Kind};
use locus_attestation::registrar::{CaKind, RegistrarError};
use locus_attestation::tpm::PcrSelection;
use locus_attestation::verifier::{
    ChangeKind, Conclusion, Node, Outcome, StoreError, Trust, appraise_worker, deflate,
};
use uuid::Uuid;

use crate::machine::{Machine, content, whitelist};
use crate::{NOW, Place, admission, pod};

crate::with_both!(
    tenants_and_manufacturers,
    registrations_whole_or_not_at_all,
    reference_values_that_another_changes,
    changes_in_their_order,
    pods_with_all_they_ever_had,
    trust_that_runs_out,
    conclusions_of_what_is_still_so,
    words_that_no_text_may_have,
    orphans_over_a_restart,
    evidence_for_audit,
    everything_over_a_restart,
);

fn pem() -> String {
    public_key_to_pem(&TokenKey::generate().unwrap().public()).unwrap()
}

fn tenants_and_manufacturers(place: &Place) {
    let registrar = place.registrar();
    let key = pem();
    let tenant = registrar.create_tenant("shop", &key, NOW).unwrap();
    for (name, key) in [("shop", pem()), ("other", key)] {
        let error = registrar.create_tenant(name, &key, NOW).unwrap_err();
        assert!(
            matches!(error, RegistrarError::Exists { kind: "tenant" }),
            "{error}"
        );
    }
    assert!(registrar.create_tenant("", &pem(), NOW).is_err());
    assert_eq!(registrar.tenants().unwrap(), std::slice::from_ref(&tenant));
    assert_eq!(registrar.tenant(tenant.id).unwrap(), Some(tenant.clone()));
    registrar.delete_tenant(tenant.id).unwrap();
    assert!(matches!(
        registrar.delete_tenant(tenant.id),
        Err(RegistrarError::NotFound { .. })
    ));
    registrar.create_manufacturer("id:B", "b").unwrap();
    registrar.create_manufacturer("id:A", "a").unwrap();
    let names = registrar.manufacturers().unwrap();
    let names: Vec<&str> = names.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(names, ["id:a", "id:b"]);
    assert!(matches!(
        registrar.create_manufacturer("ID:a", "c"),
        Err(RegistrarError::Exists { .. })
    ));
    let authority = rcgen::KeyPair::generate().unwrap();
    let mut params = rcgen::CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let root = params.self_signed(&authority).unwrap();
    let stored = registrar
        .add_certificate("id:a", CaKind::Root, root.der())
        .unwrap();
    assert_eq!(registrar.certificates("id:a").unwrap(), [stored]);
    assert!(registrar.trust_store().is_ok());
    // With the manufacturer goes what it vouched with.
    registrar.delete_manufacturer("id:a").unwrap();
    assert!(registrar.certificates("id:a").is_err());
}

fn record(name: &str, number: u8) -> WorkerRecord {
    WorkerRecord {
        id: Uuid::from_u128(u128::from(number)),
        name: name.to_owned(),
        os: "debian-12".to_owned(),
        address: "127.0.0.1:9000".to_owned(),
        ak_public: vec![number; 40],
        ek_public: vec![number; 50],
        ek_certificate: vec![number; 60],
        ek_others: Vec::new(),
        ek_listed: false,
        tls_key: String::new(),
        templates: Some(vec!["ima-ng".to_owned()]),
    }
}

fn registrations_whole_or_not_at_all(place: &Place) {
    let registrar = place.registrar();
    let (first, second) = (Uuid::from_u128(1), Uuid::from_u128(2));
    registrar.propose(first, &record("one", 1), NOW).unwrap();
    // A proposal counts for nothing, and the next for the same name takes its place.
    assert!(registrar.workers().unwrap().is_empty());
    registrar.propose(second, &record("one", 1), NOW).unwrap();
    assert!(registrar.accept(first).is_err());
    registrar.accept(second).unwrap();
    // Nobody else has its TPM meanwhile, and nobody registers it again before it is done.
    let error = registrar
        .propose(first, &record("two", 1), NOW)
        .unwrap_err();
    assert!(matches!(error, RegistrarError::Exists { .. }), "{error}");
    let error = registrar
        .propose(first, &record("one", 1), NOW)
        .unwrap_err();
    assert!(matches!(error, RegistrarError::Unsettled { .. }), "{error}");
    assert_eq!(registrar.outstanding().unwrap().registrations.len(), 1);
    registrar.confirm(second, NOW).unwrap();
    registrar.confirm(second, NOW).unwrap();
    assert_eq!(registrar.workers().unwrap().len(), 1);
    assert_eq!(
        registrar
            .worker_by_name("one")
            .unwrap()
            .unwrap()
            .with
            .ek_public,
        [1; 50]
    );
    // What is refused leaves nothing behind, also not what was tried on the way.
    let mut thief = record("two", 2);
    thief.ak_public = vec![1; 40];
    assert!(registrar.propose(first, &thief, NOW).is_err());
    registrar.propose(first, &record("two", 2), NOW).unwrap();
    registrar.withdraw(first).unwrap();
    registrar.begin_removal("one", NOW).unwrap();
    assert!(registrar.workers().unwrap().is_empty());
    assert_eq!(registrar.outstanding().unwrap().removals, ["one"]);
    registrar.finish_removal("one").unwrap();
    assert!(registrar.begin_removal("one", NOW).is_err());
}

fn reference_values_that_another_changes(place: &Place) {
    let (one, other) = (place.references(), place.references());
    let image = ImageReference {
        digests: [content("image")].into(),
        sandbox: false,
        files: [("/redis".into(), [content("redis")].into())].into(),
    };
    assert!(!other.whitelist().unwrap().knows_image(&content("image")));
    one.put_image("redis", &image).unwrap();
    assert!(other.whitelist().unwrap().knows_image(&content("image")));
    let more = [("/extra".into(), [content("x")].into())].into();
    other.add_image_files("redis", &more).unwrap();
    assert_eq!(one.image("redis").unwrap().unwrap().files.len(), 2);
    let generation = one.generation().unwrap();
    let paths = ["/redis".into(), "/none".into()];
    assert!(one.remove_image_files("redis", &paths).is_err());
    assert_eq!(
        other.generation().unwrap(),
        generation,
        "nothing was changed"
    );
    one.remove(Kind::Image, "redis").unwrap();
    assert!(!other.whitelist().unwrap().knows_image(&content("image")));
}

fn changes_in_their_order(place: &Place) {
    let mut store = place.verifier();
    assert_eq!(store.version().unwrap(), 0);
    store.admit(&admission("one", 1), NOW).unwrap();
    // The same may be told twice.
    store.admit(&admission("one", 1), NOW).unwrap();
    let first = store.worker("one").unwrap();
    assert_eq!((first.version, first.generation), (1, 1));
    assert!(
        store
            .distrust_worker(first.id, 1, "it lied", NOW, None)
            .unwrap()
    );
    assert!(
        !store
            .distrust_worker(first.id, 7, "another", NOW, None)
            .unwrap()
    );
    store.admit(&admission("one", 2), NOW).unwrap();
    let again = store.worker("one").unwrap();
    assert_eq!((again.trust, again.generation), (Trust::Unknown, 3));
    store.remove_worker("one").unwrap();
    let found = store.changes(0).unwrap();
    let found: Vec<_> = found
        .changes
        .iter()
        .map(|change| {
            (
                change.version,
                change.what,
                change.trust,
                change.reason.as_str(),
            )
        })
        .collect();
    let registered = "registered, not yet attested";
    assert_eq!(
        found,
        [
            (1, ChangeKind::Added, Trust::Unknown, registered),
            (2, ChangeKind::Changed, Trust::Untrusted, "it lied"),
            (3, ChangeKind::Changed, Trust::Unknown, registered),
            (4, ChangeKind::Removed, Trust::Unknown, "removed"),
        ]
    );
    assert_eq!(store.changes(3).unwrap().changes.len(), 1);
    assert!(matches!(
        store.changes(9),
        Err(StoreError::Gone { since: 9 })
    ));
    assert_eq!(store.recent(1).unwrap()[0].version, 4);
    assert_eq!(store.told("https://a").unwrap(), 4);
    store.admit(&admission("two", 1), NOW).unwrap();
    assert_eq!(store.told("https://a").unwrap(), 4);
    store.tell("https://a", 5).unwrap();
    assert_eq!(store.told("https://a").unwrap(), 5);
}

fn pods_with_all_they_ever_had(place: &Place) {
    let mut store = place.verifier();
    store.admit(&admission("one", 1), NOW).unwrap();
    let mut first = pod("one", 2);
    store.declare_pod(&first, NOW).unwrap();
    store.declare_pod(&pod("one", 1), NOW).unwrap();
    let listed = store.pods(Some("one")).unwrap();
    let listed: Vec<&str> = listed.iter().map(|one| one.pod.name.as_str()).collect();
    assert_eq!(listed, ["pod-1", "pod-2"]);
    assert_eq!(store.pods(None).unwrap().len(), 2);
    assert!(store.pods(Some("two")).unwrap().is_empty());
    assert_eq!(store.pods_after(None, "", 1).unwrap().len(), 1);
    // A container that is started again: the other is remembered.
    let before = first.containers[0].clone();
    first.containers[0].id = Some("f".repeat(64).parse().unwrap());
    let generation = store.pod(first.uid).unwrap().generation;
    store.declare_pod(&first, NOW).unwrap();
    let known = store.pod(first.uid).unwrap();
    assert!(known.generation > generation);
    assert_eq!(known.history, [before]);
    assert!(
        !store
            .refute_pod(first.uid, generation, "late", NOW, None)
            .unwrap()
    );
    assert!(
        store
            .refute_pod(first.uid, known.generation, "miner", NOW, None)
            .unwrap()
    );
    // What is refuted stays it, however it is described.
    first.containers[0].id = Some("e".repeat(64).parse().unwrap());
    store.declare_pod(&first, NOW).unwrap();
    let known = store.pod(first.uid).unwrap();
    assert_eq!(
        (known.trust, known.reason.as_str()),
        (Trust::Untrusted, "miner")
    );
    let mut moved = first.clone();
    moved.worker = "two".to_owned();
    assert!(matches!(
        store.declare_pod(&moved, NOW),
        Err(StoreError::Conflict(_))
    ));
    let revision = store.revised_node(admission("one", 1).id).unwrap().1;
    store.remove_pod(first.uid, NOW).unwrap();
    assert!(matches!(
        store.remove_pod(first.uid, NOW),
        Err(StoreError::NotFound { .. })
    ));
    let removed = store.removed(admission("one", 1).id).unwrap();
    assert!(removed.pods.contains(&first.uid));
    assert_eq!(removed.containers.len(), 3);
    assert_ne!(
        store.revised_node(admission("one", 1).id).unwrap().1,
        revision
    );
    let history = store.history(admission("one", 1).id).unwrap();
    assert_eq!(history.gone.len(), 1);
    // It comes back: its log is read anew.
    assert!(store.declare_pod(&first, NOW).unwrap());
    assert!(!store.declare_pod(&first, NOW).unwrap());
}

fn trust_that_runs_out(place: &Place) {
    let mut store = place.verifier();
    let (worker, pods) = attested(&mut store, 1, 2);
    let lifetime = 600_000;
    assert_eq!(store.expire(NOW.plus_secs(600), lifetime).unwrap(), 0);
    let counts: BTreeMap<_, _> = store
        .counts(NOW.plus_secs(600), lifetime)
        .unwrap()
        .into_iter()
        .filter(|(_, trust, _)| *trust == Trust::Trusted)
        .map(|(what, _, number)| (what, number))
        .collect();
    assert_eq!(counts, [("pods", 2), ("workers", 1)].into());
    assert_eq!(store.expire(NOW.plus_secs(601), lifetime).unwrap(), 3);
    assert_eq!(
        store.worker(&worker).unwrap().reason,
        "the last result ran out"
    );
    assert_eq!(store.pod(pods[0].uid).unwrap().trust, Trust::Unknown);
    // What was decided in the future was not decided, further than clocks may be apart.
    let (worker, _) = attested(&mut store, 2, 0);
    let early = NOW.plus_millis(-store.skew_millis());
    assert_eq!(store.expire(early, lifetime).unwrap(), 0);
    assert_eq!(store.expire(early.plus_millis(-1), lifetime).unwrap(), 1);
    assert_eq!(store.worker(&worker).unwrap().trust, Trust::Unknown);
}

/// A worker whose pods were attested.
pub(crate) fn attested(
    store: &mut locus_attestation::verifier::VerifierStore,
    number: u64,
    pods: u64,
) -> (String, Vec<locus_attestation::verifier::Pod>) {
    let list = whitelist(3);
    let policy = WorkerPolicy::default();
    let mut machine = Machine::new(number, HashAlg::Sha1);
    let pods: Vec<_> = (0..pods).map(|number| machine.pod(number, 3)).collect();
    let worker = machine.worker.clone();
    let admission = Admission {
        id: worker.id,
        name: worker.name.clone(),
        address: "127.0.0.1:1".to_owned(),
        registration: worker.id,
    };
    store.admit(&admission, NOW).unwrap();
    for pod in &pods {
        store.declare_pod(pod, NOW).unwrap();
    }
    let known = store.pods(Some(&worker.name)).unwrap();
    let generation = store.worker(&worker.name).unwrap().generation;
    let node = Node::default();
    let request = node.request(worker.id, Nonce::from_bytes([2; 32]), None, &policy);
    let bytes = machine.evidence(&request);
    let judged = appraise_worker(&worker, &node, &request, &bytes, &list, &policy).unwrap();
    let outcomes: Vec<Outcome> = known
        .iter()
        .map(|known| Outcome {
            uid: known.pod.uid,
            generation: known.generation,
            trust: Trust::Trusted,
            reason: "attested".to_owned(),
            token: "token".to_owned(),
            pending: false,
        })
        .collect();
    let conclusion = Conclusion {
        worker: worker.id,
        generation,
        from: None,
        appraisal: &judged,
        outcomes: &outcomes,
        at: NOW,
        lease: None,
    };
    let committed = store.commit(&conclusion).unwrap();
    assert!(committed.stale.is_empty());
    // The same again: it was attested meanwhile.
    assert!(matches!(
        store.commit(&conclusion),
        Err(StoreError::Conflict(_))
    ));
    (worker.name, pods)
}

fn conclusions_of_what_is_still_so(place: &Place) {
    let mut store = place.verifier();
    let (worker, pods) = attested(&mut store, 1, 3);
    let status = store.worker(&worker).unwrap();
    assert_eq!((status.trust, status.checked), (Trust::Trusted, NOW));
    for pod in &pods {
        let known = store.pod(pod.uid).unwrap();
        assert_eq!(
            (known.trust, known.token.as_str()),
            (Trust::Trusted, "token")
        );
    }
    let (node, revision) = store.revised_node(status.id).unwrap();
    assert!(node.cursor.is_some());
    assert!(!node.ledger.is_empty());
    // A second attestation on the first, about a pod that was described anew meanwhile, one that waits, and one that is bad.
    let (list, policy) = (whitelist(3), WorkerPolicy::default());
    let mut machine = Machine::new(1, HashAlg::Sha1);
    let first = Node::default().request(status.id, Nonce::from_bytes([2; 32]), None, &policy);
    let bytes = machine.evidence(&first);
    let judged = appraise_worker(
        &machine.worker,
        &Node::default(),
        &first,
        &bytes,
        &list,
        &policy,
    )
    .unwrap();
    let outcome = |place: usize, trust, pending| Outcome {
        uid: pods[place].uid,
        generation: store.pod(pods[place].uid).unwrap().generation,
        trust,
        reason: "second".to_owned(),
        token: String::new(),
        pending,
    };
    let outcomes = [
        outcome(0, Trust::Untrusted, false),
        outcome(1, Trust::Unknown, true),
        Outcome {
            generation: 1,
            ..outcome(2, Trust::Untrusted, false)
        },
    ];
    let later = NOW.plus_secs(5);
    let committed = store
        .commit(&Conclusion {
            worker: status.id,
            generation: status.generation,
            from: node.cursor.as_ref(),
            appraisal: &judged,
            outcomes: &outcomes,
            at: later,
            lease: None,
        })
        .unwrap();
    assert_eq!(committed.stale, [pods[2].uid]);
    assert_eq!(
        (status.generation, committed.revision),
        (revision.0, revision.1 + 1)
    );
    let known = |place: usize| {
        let known = store.pod(pods[place].uid).unwrap();
        (known.trust, known.reason, known.checked)
    };
    assert_eq!(known(0), (Trust::Untrusted, "second".to_owned(), later));
    assert_eq!(known(1), (Trust::Trusted, "attested".to_owned(), NOW));
    assert_eq!(known(2), (Trust::Trusted, "attested".to_owned(), NOW));
}

fn words_that_no_text_may_have(place: &Place) {
    let mut store = place.verifier();
    store.admit(&admission("one", 1), NOW).unwrap();
    let known = store.worker("one").unwrap();
    // Whatever a worker ran under whatever name: it is not trusted any more.
    let reason = "it ran `/tmp/a\0b`, \u{1F980} and '; DROP TABLE worker; --";
    assert!(
        store
            .distrust_worker(known.id, known.generation, reason, NOW, None)
            .unwrap()
    );
    let known = store.worker("one").unwrap();
    assert_eq!(known.trust, Trust::Untrusted);
    assert_eq!(
        known.reason.replace('\0', "\u{fffd}"),
        reason.replace('\0', "\u{fffd}")
    );
}

fn orphans_over_a_restart(place: &Place) {
    let mut store = place.verifier();
    let later = NOW.plus_secs(60);
    let both = BTreeMap::from([("a".to_owned(), NOW), ("b".to_owned(), NOW)]);
    store.note_orphans(&both).unwrap();
    drop(store);
    let mut store = place.verifier();
    assert_eq!(store.orphans().unwrap(), both);
    // One is known again, one is new, and one keeps its time whatever is said now.
    let now = BTreeMap::from([("b".to_owned(), later), ("c".to_owned(), later)]);
    store.note_orphans(&now).unwrap();
    let left = BTreeMap::from([("b".to_owned(), NOW), ("c".to_owned(), later)]);
    assert_eq!(store.orphans().unwrap(), left);
}

fn evidence_for_audit(place: &Place) {
    let mut store = place.audit();
    let shown = |worker: &str, at: i64| Shown {
        worker: worker.to_owned(),
        request: EvidenceRequest {
            nonce: Nonce::from_bytes([1; 32]),
            worker: Uuid::nil(),
            pod: None,
            tenant: None,
            first_entry: 0,
            selection: PcrSelection::of(HashAlg::Sha256, [10]),
            boot_log: false,
        },
        asked: NOW.plus_secs(at),
        evidence: vec![7; 3_000].into(),
        effect: Effect::WorkerUntrusted,
        reason: "it lied".to_owned(),
    };
    for (worker, at) in [("a", 0), ("b", 1), ("b", 2)] {
        let shown = shown(worker, at);
        store
            .keep(&shown, &deflate(&shown.evidence).unwrap())
            .unwrap();
    }
    let kept = store.list(Some("b"), None).unwrap();
    assert_eq!(kept.len(), 2);
    assert_eq!(store.list(None, Some(kept[1].id)).unwrap()[0].worker, "a");
    let whole = place.audit().evidence(kept[0].id).unwrap();
    assert_eq!(whole.evidence, [7; 3_000]);
    assert_eq!(store.prune(NOW.plus_secs(2 * 86_400 + 1)).unwrap(), 1);
    assert_eq!(store.list(None, None).unwrap(), kept);
    assert!(store.evidence(999).is_err());
}

fn everything_over_a_restart(place: &Place) {
    let mut store = place.verifier();
    attested(&mut store, 1, 3);
    attested(&mut store, 2, 1);
    let before = (
        store.changes(0).unwrap(),
        store.workers().unwrap(),
        store.pods(None).unwrap(),
    );
    drop(store);
    let store = place.verifier();
    let after = (
        store.changes(0).unwrap(),
        store.workers().unwrap(),
        store.pods(None).unwrap(),
    );
    assert_eq!(before, after);
}

/// The same happens to both, and both tell the same of it.
#[test]
fn both_tell_the_same_story() {
    let told = [Place::files(), Place::postgres()].map(|place| {
        let mut store = place.verifier();
        store.admit(&admission("one", 1), NOW).unwrap();
        store.admit(&admission("two", 2), NOW).unwrap();
        store.declare_pod(&pod("one", 1), NOW).unwrap();
        store.declare_pod(&pod("two", 2), NOW).unwrap();
        let known = store.worker("two").unwrap();
        store
            .suspend_worker(known.id, known.generation, "kexec", NOW, None)
            .unwrap();
        store
            .distrust_worker(known.id, known.generation, "it lied", NOW, None)
            .unwrap();
        store.admit(&admission("one", 3), NOW.plus_secs(1)).unwrap();
        store.remove_pod(pod("one", 1).uid, NOW).unwrap();
        store.declare_pod(&pod("one", 1), NOW.plus_secs(2)).unwrap();
        store.remove_worker("two").unwrap();
        // Another worker takes the name of one.
        let mut other = admission("three", 4);
        other.name = "one".to_owned();
        store.admit(&other, NOW.plus_secs(3)).unwrap();
        let told = (
            store.changes(0).unwrap(),
            store.workers().unwrap(),
            store.pods(None).unwrap(),
        );
        drop(store);
        told
    });
    assert!(told[0].0.changes.len() > 10, "{:?}", told[0].0);
    assert_eq!(told[0], told[1]);
}
