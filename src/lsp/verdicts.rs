//! What the commands of models came to, for as long as the models stay as they are.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError};

/// A command: the path of its model, and its number.
type Command = (String, u64);

/// Verdicts by the path of the model and the number of the command, each with the text that it is about.
#[derive(Clone, Debug, Default)]
pub(super) struct Verdicts {
    known: Arc<Mutex<BTreeMap<Command, (u64, String)>>>,
}

impl Verdicts {
    /// Keeps a verdict.
    pub(super) fn put(&self, path: &str, command: u64, text: &str, verdict: String) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert((path.to_owned(), command), (hash(text), verdict));
    }

    /// The verdict of a command, if the model is still the one that was run.
    pub(super) fn get(&self, path: &str, command: u64, text: &str) -> Option<String> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (about, verdict) = known.get(&(path.to_owned(), command))?;
        (*about == hash(text)).then(|| verdict.clone())
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
