//! CSAR: a service and its files in one archive.
//!
//! Nothing is extracted: entries are read into memory by their name. What other programs would read differently, or what would
//! leave the archive, is refused.

mod artifacts;
mod entry;
mod inside;
mod meta;
mod tar;
#[cfg(test)]
mod tests;
mod zip;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io::Read;
use std::ops::Range;
use std::sync::Arc;

use flate2::read::{DeflateDecoder, MultiGzDecoder};
use locus_core::Diagnostic;

pub(super) use artifacts::check as check_artifacts;
pub(super) use entry::{Chosen, choose};
pub(super) use inside::Inside;

/// Most entries of an archive.
const MOST_ENTRIES: usize = 10_000;
/// Most bytes that are unpacked in all.
const MOST_BYTES: u64 = 100_000_000;
/// How many times its size an entry may unpack to; smaller ones than [`SMALL`] may be anything.
const MOST_RATIO: u64 = 200;
const SMALL: u64 = 1_000_000;

/// Whether the first bytes of a file are those of an archive.
pub(super) fn is_archive(data: &[u8]) -> bool {
    matches!(
        data,
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] | [0x1f, 0x8b, ..]
    ) || tar::is(data)
}

/// Why an archive, or an entry of it, is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    message: String,
    help: Option<String>,
    /// Whether it is only more than is looked at, and may be sound.
    is_limit: bool,
}

impl Fault {
    fn broken(message: impl Into<String>) -> Self {
        Fault {
            message: message.into(),
            help: None,
            is_limit: false,
        }
    }

    fn limit(message: impl Into<String>) -> Self {
        Fault {
            is_limit: true,
            ..Fault::broken(message)
        }
    }

    fn special(name: &str, what: &str) -> Self {
        Fault {
            help: Some("put a copy of the file into the archive".into()),
            ..Fault::broken(format!(
                "the entry `{}` is a {what}, which is never followed",
                name.escape_debug()
            ))
        }
    }

    /// Whether it is only more than is looked at.
    pub(super) fn is_limit(&self) -> bool {
        self.is_limit
    }

    pub(super) fn diagnostic(&self) -> Diagnostic {
        let code = if self.is_limit {
            "too-large"
        } else {
            "tosca-archive"
        };
        Diagnostic::error(code, self.message.clone()).maybe_help(self.help.clone())
    }

    /// The reason alone, for a message about a file.
    pub(super) fn reason(&self) -> &str {
        &self.message
    }
}

/// How the content of an entry is stored.
#[derive(Clone, Copy, Debug)]
enum Packed {
    /// As it is.
    Plain,
    /// As it is, with its checksum.
    Stored { size: u64, crc: u32 },
    /// Compressed.
    Deflate { size: u64, crc: u32 },
}

/// An entry as the archive has it.
#[derive(Debug)]
struct Entry {
    name: String,
    /// Whether its name is in an encoding that nothing in the archive can name.
    foreign: bool,
    is_folder: bool,
    header: usize,
    content: Range<usize>,
    packed: Packed,
}

/// The content of a file, or why it cannot be read.
type Unpacked = Result<Arc<[u8]>, Fault>;

/// An archive that was opened.
#[derive(Debug)]
pub(super) struct Archive {
    data: Arc<[u8]>,
    files: BTreeMap<String, Entry>,
    read: RefCell<BTreeMap<String, Unpacked>>,
    left: Cell<u64>,
    /// What is worth knowing, and no error.
    pub(super) warnings: Vec<Fault>,
}

impl Archive {
    /// Opens an archive, and looks at all entries unless that would be too much.
    ///
    /// # Errors
    /// Every reason why it is refused.
    pub(super) fn open(data: Arc<[u8]>) -> Result<Self, Vec<Fault>> {
        let data = match &*data {
            [0x1f, 0x8b, ..] => gunzip(&data).map_err(|fault| vec![fault])?,
            _ => data,
        };
        let entries = match &*data {
            _ if tar::is(&data) => tar::read(&data),
            [b'P', b'K', ..] => zip::read(&data),
            _ => Err(Fault::broken(
                "what is compressed here is no tar archive, and a CSAR is a zip or a tar archive",
            )),
        };
        let entries = entries.map_err(|fault| vec![fault])?;
        let mut faults = Vec::new();
        let mut warnings = Vec::new();
        let mut files: BTreeMap<String, Entry> = BTreeMap::new();
        let mut folded: BTreeMap<String, String> = BTreeMap::new();
        let mut total: u64 = 0;
        for entry in entries {
            let shown = entry.name.escape_debug().to_string();
            let name = match plain_name(&entry.name) {
                Ok(name) => name,
                Err(why) => {
                    faults.push(Fault {
                        help: Some("name entries by paths below the root, with `/`".into()),
                        ..Fault::broken(format!("the entry `{shown}` {why}"))
                    });
                    continue;
                }
            };
            if entry.is_folder {
                if !entry.content.is_empty() {
                    faults.push(Fault::broken(format!("the folder `{shown}` has content")));
                }
                continue;
            }
            if let Packed::Deflate { size, .. } = entry.packed
                && size > SMALL
                && size / MOST_RATIO > entry.content.len() as u64
            {
                faults.push(Fault::limit(format!(
                    "the entry `{shown}` unpacks to {size} bytes, more than {MOST_RATIO} times its size, and is not read"
                )));
                continue;
            }
            total = total.saturating_add(match entry.packed {
                Packed::Plain => entry.content.len() as u64,
                Packed::Stored { size, .. } | Packed::Deflate { size, .. } => size,
            });
            if entry.foreign {
                warnings.push(Fault::broken(format!(
                    "the name of the entry `{shown}` is not UTF-8, so nothing can import it"
                )));
            }
            if let Some(other) = folded.insert(name.to_lowercase(), name.clone())
                && other != name
            {
                warnings.push(Fault::broken(format!(
                    "the entries `{other}` and `{name}` differ in case only, and are one file on some systems"
                )));
            }
            if files.contains_key(&name) {
                faults.push(Fault {
                    help: Some("programs differ in which of them they read; keep one".into()),
                    ..Fault::broken(format!("there are two entries `{name}`"))
                });
                continue;
            }
            files.insert(name, entry);
        }
        // A file cannot be a folder too.
        for name in files.keys() {
            let mut above = name.as_str();
            while let Some((folder, _)) = above.rsplit_once('/') {
                if files.contains_key(folder) {
                    faults.push(Fault::broken(format!("`{folder}` is a file and a folder")));
                }
                above = folder;
            }
        }
        if files.is_empty() && faults.is_empty() {
            faults.push(Fault::broken("the archive is empty"));
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let archive = Archive {
            data,
            files,
            read: RefCell::default(),
            left: Cell::new(MOST_BYTES),
            warnings,
        };
        // Images of machines can be larger than what is looked at; nothing in them is TOSCA.
        if total <= MOST_BYTES {
            let read = archive.names().map(|name| archive.load(name).err());
            let faults: Vec<Fault> = read.flatten().collect();
            if !faults.is_empty() {
                return Err(faults);
            }
        }
        Ok(archive)
    }

    /// The names of its files, sorted.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Whether there is a file.
    pub(super) fn has(&self, name: &str) -> bool {
        self.files.contains_key(name)
    }

    /// Whether there is a folder.
    pub(super) fn has_folder(&self, name: &str) -> bool {
        let below = format!("{name}/");
        let mut after = self.files.range(below.clone()..);
        after
            .next()
            .is_some_and(|(file, _)| file.starts_with(&below))
    }

    /// The content of a file; nothing when there is no such file.
    ///
    /// # Errors
    /// When it cannot be unpacked, or is more than is looked at.
    pub(super) fn load(&self, name: &str) -> Result<Option<Arc<[u8]>>, Fault> {
        let Some(entry) = self.files.get(name) else {
            return Ok(None);
        };
        if let Some(known) = self.read.borrow().get(name) {
            return known.clone().map(Some);
        }
        let content = self.unpack(entry);
        let mut read = self.read.borrow_mut();
        read.insert(name.to_owned(), content.clone());
        content.map(Some)
    }

    fn unpack(&self, entry: &Entry) -> Unpacked {
        let content = self.data.get(entry.content.clone()).unwrap_or_default();
        let name = entry.name.escape_debug();
        let (size, crc) = match entry.packed {
            Packed::Plain => return Ok(content.into()),
            Packed::Stored { size, crc } | Packed::Deflate { size, crc } => (size, crc),
        };
        let left = self.left.get();
        if size > left {
            return Err(Fault::limit(format!(
                "the entry `{name}` is not read: more than {MOST_BYTES} bytes would be unpacked in all"
            )));
        }
        let unpacked = match entry.packed {
            Packed::Deflate { .. } => {
                let mut unpacked = Vec::new();
                // One byte more than it says: what is longer is found without being unpacked.
                let mut reader = DeflateDecoder::new(content).take(size + 1);
                reader
                    .read_to_end(&mut unpacked)
                    .map_err(|_| Fault::broken(format!("the entry `{name}` cannot be unpacked")))?;
                unpacked
            }
            _ => content.to_vec(),
        };
        if unpacked.len() as u64 != size {
            return Err(Fault::broken(format!(
                "the entry `{name}` does not have the size that it says it has"
            )));
        }
        let mut sum = flate2::Crc::new();
        sum.update(&unpacked);
        if sum.sum() != crc {
            return Err(Fault::broken(format!(
                "the entry `{name}` is damaged: its checksum is wrong"
            )));
        }
        self.left.set(left.saturating_sub(size));
        Ok(unpacked.into())
    }
}

fn gunzip(data: &[u8]) -> Result<Arc<[u8]>, Fault> {
    let most = (data.len() as u64).saturating_mul(MOST_RATIO);
    let most = most.clamp(SMALL, MOST_BYTES);
    let mut unpacked = Vec::new();
    let mut reader = MultiGzDecoder::new(data).take(most + 1);
    reader
        .read_to_end(&mut unpacked)
        .map_err(|_| Fault::broken("the archive is damaged or truncated: it cannot be unpacked"))?;
    if unpacked.len() as u64 > most {
        return Err(Fault::limit(format!(
            "the archive unpacks to more than {most} bytes, and is not read"
        )));
    }
    Ok(unpacked.into())
}

/// The name of an entry without `.` and empty parts, or what is wrong with it.
fn plain_name(name: &str) -> Result<String, &'static str> {
    let bytes = name.as_bytes();
    if name.is_empty() {
        return Err("has no name");
    }
    if name.contains('\0') {
        return Err("has a NUL in its name");
    }
    if name.contains('\\') {
        return Err("has a backslash in its name, which some systems read as a separator");
    }
    if name.starts_with('/') || matches!(bytes, [letter, b':', ..] if letter.is_ascii_alphabetic())
    {
        return Err("has an absolute name");
    }
    let mut parts = Vec::new();
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." => return Err("would leave the archive"),
            part => parts.push(part),
        }
    }
    Ok(parts.join("/"))
}
