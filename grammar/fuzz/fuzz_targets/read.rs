//! Any bytes: reading them ends with a model or with a reason, and formatting them settles.

#![no_main]

use libfuzzer_sys::fuzz_target;
use locus_core::Sources;
use locus_grammar::{NoFiles, format, read};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let mut sources = Sources::new();
    let reading = read("fuzz.als", &text, &mut sources, &NoFiles);
    assert!(reading.model.is_some() || !reading.diagnostics.is_empty());
    let once = format(&text);
    assert_eq!(format(&once), once);
});
