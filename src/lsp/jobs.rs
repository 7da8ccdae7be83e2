//! Threads that answer requests, so that the main loop never waits.

use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};

type Job = Box<dyn FnOnce() + Send>;

/// A few threads that take work in turn; they end when the pool is gone and the work is done.
#[derive(Debug)]
pub(super) struct Pool {
    jobs: Sender<Job>,
}

impl Pool {
    /// Starts the threads.
    pub(super) fn new() -> Self {
        let (jobs, queue) = mpsc::channel::<Job>();
        let queue = Arc::new(Mutex::new(queue));
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        for _ in 0..cores.clamp(2, 4) {
            let queue = queue.clone();
            std::thread::spawn(move || {
                loop {
                    let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    match job {
                        Ok(job) => job(),
                        Err(_) => return,
                    }
                }
            });
        }
        Pool { jobs }
    }

    /// Has some work done.
    pub(super) fn spawn(&self, job: impl FnOnce() + Send + 'static) {
        let _ = self.jobs.send(Box::new(job));
    }
}
