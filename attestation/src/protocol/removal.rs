//! The removal of a worker from registrar and verifier: a note first, then one after the other.

use serde::{Deserialize, Serialize};

/// The one thing to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Note at the registrar that the worker is removed; from then on it is not registered (step 1).
    Begin,
    /// Have the verifier forget the worker (step 2).
    Forget,
    /// Take the note away (step 3).
    Finish,
    /// The worker is removed.
    Done,
    /// Nobody knows such a worker.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum State {
    Begin,
    Forget,
    Finish,
    Done,
    Unknown,
}

/// One removal of one worker. It can be stored between any two steps and taken up in another process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removal {
    name: String,
    state: State,
    /// Whether somebody knew the worker so far.
    known: bool,
}

impl Removal {
    /// Begins to remove a worker.
    pub fn begin(name: &str) -> Self {
        Removal {
            name: name.to_owned(),
            state: State::Begin,
            known: false,
        }
    }

    /// Goes on with a removal that was noted.
    pub fn noted(name: &str) -> Self {
        Removal {
            state: State::Forget,
            known: true,
            ..Removal::begin(name)
        }
    }

    /// The worker's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The one thing to do next; after a stop the same as before it.
    pub fn due(&self) -> Action {
        match self.state {
            State::Begin => Action::Begin,
            State::Forget => Action::Forget,
            State::Finish => Action::Finish,
            State::Done => Action::Done,
            State::Unknown => Action::Unknown,
        }
    }

    /// What was due is done; whether there was something to do.
    pub fn done(&mut self, known: bool) {
        self.known |= known;
        self.state = match self.state {
            State::Begin => State::Forget,
            // A worker that only the verifier knows is half removed: that it is gone now is a success.
            State::Forget if self.known => State::Finish,
            State::Forget => State::Unknown,
            State::Finish => State::Done,
            over => over,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_knew_the_worker_it_is_removed() {
        for (registrar, verifier, end) in [
            (true, true, Action::Done),
            (true, false, Action::Done),
            (false, true, Action::Done),
            (false, false, Action::Unknown),
        ] {
            let mut removal = Removal::begin("worker");
            for known in [registrar, verifier, false] {
                // A stop and a new start at every step.
                let text = serde_json::to_string(&removal).unwrap();
                removal = serde_json::from_str(&text).unwrap();
                removal.done(known);
            }
            assert_eq!(removal.due(), end, "{registrar} {verifier}");
        }
    }
}
