//! What was made of texts, kept for others who read the same ones.

use std::any::{Any, TypeId};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::source::{FileId, Sources};

/// Something that was made of a text, and the text.
type Made = (Arc<str>, Arc<dyn Any + Send + Sync>);

/// What was made of the files of several [`Sources`], each once.
///
/// Spans name files by their positions, so what is kept is about a text at a position: the same text elsewhere is
/// another.
#[derive(Debug, Default)]
pub struct Memory {
    made: Mutex<FxHashMap<(TypeId, FileId), Vec<Made>>>,
}

impl Sources {
    /// No files yet, but what is made of them is kept for whoever else has this memory.
    pub fn remembering(memory: Arc<Memory>) -> Self {
        let mut sources = Sources::new();
        sources.memory = Some(memory);
        sources
    }

    /// Whether what is made of files is kept.
    pub fn remembers(&self) -> bool {
        self.memory.is_some()
    }

    /// What is made of the text of a file: the same for the same text at the same position, so it must depend on
    /// nothing else.
    pub fn once<T: Send + Sync + 'static>(&self, file: FileId, make: impl FnOnce() -> T) -> Arc<T> {
        let Some(memory) = &self.memory else {
            return Arc::new(make());
        };
        let text = self.shared_text(file);
        let key = (TypeId::of::<T>(), file);
        let made = || memory.made.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |(known, _): &&Made| Arc::ptr_eq(known, &text) || *known == text;
        let known = made().get(&key).and_then(|all| {
            let (_, known) = all.iter().find(same)?;
            known.clone().downcast::<T>().ok()
        });
        if let Some(known) = known {
            return known;
        }
        // Not under the lock: making it takes long, and who makes it too makes the same.
        let new = Arc::new(make());
        made().entry(key).or_default().push((text, new.clone()));
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_at_the_same_position_is_read_once() {
        let memory = Arc::new(Memory::default());
        let count = |text: &str, before: usize| {
            let mut sources = Sources::remembering(memory.clone());
            for _ in 0..before {
                sources.add("other", "");
            }
            let file = sources.add("a", text);
            let mut made = false;
            let length = sources.once(file, || {
                made = true;
                text.len()
            });
            assert_eq!(*length, text.len());
            made
        };
        assert!(count("one", 0));
        assert!(!count("one", 0));
        assert!(count("three", 0), "another text");
        assert!(count("one", 1), "another position");
        assert!(!count("three", 0) && !count("one", 0));
    }
}
