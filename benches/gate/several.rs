//! Three verifiers on one PostgreSQL: a thousand workers with 110 pods each are attested again, and again while one dies.
//!
//! Workers are simulated: kernel, log and TPM are, and what they show is verified as always, but nobody is asked over a
//! network. Who attests whom is decided by the gate's own leases, in the real database.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use locus_attestation::clock::{Clock as _, SystemClock};
use locus_attestation::database::Location;
use locus_attestation::database::server::PostgresServer;
use locus_attestation::digest::HashAlg;
use locus_attestation::evidence::Nonce;
use locus_attestation::policy::WorkerPolicy;
use locus_attestation::protocol::Admission;
use locus_attestation::reference::Whitelist;
use locus_attestation::verifier::{
    Conclusion, Lease, Outcome, Pod, Trust, VerifierStore, appraise_pod, appraise_worker,
};

use super::Report;
use super::machine::{Machine, whitelist};

const WORKERS: u64 = 1000;
const PODS: u64 = 110;
const REPLICAS: usize = 3;
/// How long the lease of a verifier lasts that died in the middle: the gate's own.
const LASTS: i64 = 30_000;
/// Others take over within a minute.
const LIMIT: Duration = Duration::from_secs(60);
/// Nothing here takes longer.
const AT_MOST: Duration = Duration::from_secs(600);

/// The workers, each behind a lock: who has its lease has it alone anyway.
type Machines = Vec<Mutex<Machine>>;

struct World<'w> {
    url: &'w str,
    machines: &'w Machines,
    list: Whitelist,
    policy: WorkerPolicy,
}

impl World<'_> {
    fn store(&self) -> VerifierStore {
        let location = Location::parse(self.url).unwrap();
        VerifierStore::open_at(&location, std::path::Path::new("")).unwrap()
    }

    fn machine(&self, name: &str) -> &Mutex<Machine> {
        let number: usize = name.rsplit('-').next().unwrap().parse().unwrap();
        &self.machines[number]
    }

    /// Attests a worker with all its pods, as a verifier does.
    fn attest(&self, store: &mut VerifierStore, lease: &Lease) {
        let mut machine = self.machine(&lease.worker).lock().unwrap();
        let status = store.worker(&lease.worker).unwrap();
        let pods = store.pods(Some(&lease.worker)).unwrap();
        let (mut node, _) = store.revised_node(status.id).unwrap();
        node.history = store.history(status.id).unwrap();
        let now = SystemClock.now();
        let nonce = Nonce::random().unwrap();
        let request = node.request(status.id, nonce, None, &self.policy);
        let evidence = machine.evidence(&request);
        let judged = appraise_worker(
            &machine.worker,
            &node,
            &request,
            &evidence,
            &self.list,
            &self.policy,
        )
        .unwrap();
        let outcomes: Vec<Outcome> = pods
            .iter()
            .map(|pod| {
                appraise_pod(pod, &node, &judged, &self.list, &self.policy, now).unwrap();
                Outcome {
                    uid: pod.pod.uid,
                    generation: pod.generation,
                    trust: Trust::Trusted,
                    reason: "attested".to_owned(),
                    token: "a token".repeat(100),
                    pending: false,
                }
            })
            .collect();
        let conclusion = Conclusion {
            worker: status.id,
            generation: status.generation,
            from: node.cursor.as_ref(),
            appraisal: &judged,
            outcomes: &outcomes,
            at: now,
            lease: Some(lease),
        };
        let committed = store.commit(&conclusion).unwrap();
        assert!(committed.stale.is_empty());
    }

    /// A verifier, until everybody was attested, or until it dies with a worker in its hands.
    fn verify(&self, id: &str, done: &AtomicUsize, dies: Option<&AtomicBool>) {
        let mut store = self.store();
        let begun = Instant::now();
        while done.load(Ordering::SeqCst) < self.machines.len() && begun.elapsed() < AT_MOST {
            let mut turns = store.turns().unwrap();
            // Each begins elsewhere, as with preferences.
            let first = turns.len() / 7 * id.len() % turns.len().max(1);
            turns.rotate_left(first);
            if turns.is_empty() {
                std::thread::sleep(Duration::from_millis(50));
            }
            for turn in turns.iter().take(50) {
                let taken = store.take_turn(&turn.worker, id, LASTS).unwrap();
                let Some(lease) = taken else { continue };
                if dies.is_some_and(|dies| dies.load(Ordering::SeqCst)) {
                    return;
                }
                self.attest(&mut store, &lease);
                assert!(store.give_back(&lease, Some(3_600_000)).unwrap());
                done.fetch_add(1, Ordering::SeqCst);
            }
        }
    }

    /// Until everybody is fresh again, from the time that all are due on; and from the death of one on, if one dies.
    fn round(&self, dies: bool) -> (Duration, Duration) {
        let all = Instant::now();
        let (done, dead) = (AtomicUsize::new(0), AtomicBool::new(false));
        let died = std::thread::scope(|scope| {
            for number in 0..REPLICAS {
                let (done, dead) = (&done, &dead);
                let id = format!("verifier{}", "-".repeat(number));
                let last = dies && number == REPLICAS - 1;
                scope.spawn(move || self.verify(&id, done, last.then_some(dead)));
            }
            while dies && done.load(Ordering::SeqCst) < self.machines.len() / 3 {
                std::thread::sleep(Duration::from_millis(5));
            }
            dead.store(dies, Ordering::SeqCst);
            Instant::now()
        });
        let end = Instant::now();
        let fresh = self.store().workers().unwrap();
        let fresh = fresh.iter().filter(|one| one.trust == Trust::Trusted);
        assert_eq!(fresh.count(), self.machines.len(), "nobody is forgotten");
        (end - all, end - died)
    }
}

/// Declares the pods of a worker at once: one after the other would take longer than everything else.
fn declare(server: &PostgresServer, database: &str, pods: &[Pod]) {
    let (mut all, mut containers) = (Vec::new(), Vec::new());
    for pod in pods {
        let described = serde_json::to_string(pod).unwrap();
        let container = &pod.containers[0];
        let (uid, id) = (pod.uid, container.id.unwrap());
        all.push(format!(
            "('{uid}', '{}', '{described}', 'unknown', 'declared', 0)",
            pod.worker
        ));
        let described = serde_json::to_string(container).unwrap();
        containers.push(format!("('{uid}', '{id}', '{described}')"));
    }
    let statement = format!(
        "SET search_path = locus_verifier;
         INSERT INTO pod (uid, worker, description, trust, reason, checked) VALUES {};
         INSERT INTO container VALUES {}",
        all.join(","),
        containers.join(",")
    );
    server.ask(database, &statement).unwrap();
}

pub(crate) fn run(report: &mut Report) {
    let server = PostgresServer::start().unwrap();
    let url = server.database().unwrap();
    let name = PostgresServer::name_of(&url);
    let list = whitelist(1);
    let mut machines = Machines::new();
    let now = SystemClock.now();
    let location = Location::parse(&url).unwrap();
    let mut store = VerifierStore::open_at(&location, std::path::Path::new("")).unwrap();
    for number in 0..WORKERS {
        let mut machine = Machine::new(number, HashAlg::Sha1);
        let worker = &machine.worker;
        let admission = Admission {
            id: worker.id,
            name: worker.name.clone(),
            address: "127.0.0.1:1".to_owned(),
            registration: worker.id,
        };
        store.admit(&admission, now).unwrap();
        let pods: Vec<Pod> = (0..PODS).map(|number| machine.pod(number, 1)).collect();
        declare(&server, name, &pods);
        machines.push(Mutex::new(machine));
    }
    let world = World {
        url: &url,
        machines: &machines,
        list,
        policy: WorkerPolicy::default(),
    };
    let due = "UPDATE locus_verifier.lease SET due = 0";
    // The first time logs are read whole; from then on it is the same again and again.
    let (first, _) = world.round(false);
    report.time(
        "1,000 workers, 110 pods each, by three verifiers: the first time",
        first,
        None,
    );
    server.ask(name, due).unwrap();
    let (whole, _) = world.round(false);
    report.time("the same again", whole, None);
    server.ask(name, due).unwrap();
    let (all, after) = world.round(true);
    report.time("the same while one of them dies", all, None);
    let ratio = all.as_secs_f64() / whole.as_secs_f64();
    println!("{:<74} {ratio:>10.2}", "  ... to the time of all three");
    report.time(
        "until all are fresh again after its death",
        after,
        Some(LIMIT),
    );
}
