//! Character positions, which the scanner counts in, to byte positions, which spans count in.

/// Bytes between two checkpoints of the table, in characters.
const STEP: usize = 64;

/// Turns character indices of one text into byte offsets.
pub(super) struct Offsets<'a> {
    text: &'a str,
    /// The byte offset of every `STEP`th character; empty when all characters are one byte.
    checkpoints: Vec<u32>,
}

impl<'a> Offsets<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let checkpoints = if text.is_ascii() {
            Vec::new()
        } else {
            text.char_indices()
                .step_by(STEP)
                .map(|(at, _)| u32::try_from(at).unwrap_or(u32::MAX))
                .collect()
        };
        Offsets { text, checkpoints }
    }

    /// The byte offset of the character with this index; the end of the text when there is none.
    pub(super) fn byte(&self, index: usize) -> usize {
        if self.checkpoints.is_empty() {
            return index.min(self.text.len());
        }
        let Some(&base) = self.checkpoints.get(index / STEP) else {
            return self.text.len();
        };
        let base = base as usize;
        self.text
            .get(base..)
            .and_then(|rest| rest.char_indices().nth(index % STEP))
            .map_or(self.text.len(), |(at, _)| base + at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_character_is_found(text in "[a-zé漢😀\n]{0,300}") {
            let offsets = Offsets::new(&text);
            for (index, (at, _)) in text.char_indices().enumerate() {
                prop_assert_eq!(offsets.byte(index), at);
            }
            prop_assert_eq!(offsets.byte(text.chars().count()), text.len());
            prop_assert_eq!(offsets.byte(usize::MAX / 2), text.len());
        }
    }
}
