//! The binary form of the log, read without copying.

use super::entry::{Entry, well_formed};
use super::template::{Field, LEGACY, Layout, MAX_FIELDS, Templates};
use crate::digest::HashAlg;
use crate::logs::shown;

/// The longest template name the kernel writes.
const MAX_NAME: usize = 255;
/// The longest path that kernels know.
pub const LONGEST_PATH: usize = 4096;
/// Far above any entry of a kernel; keeps a hostile length from being believed.
const MAX_DATA: usize = 16 << 20;

/// What is wrong with a log at one place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("entry {entry} (byte {offset}): {kind}")]
pub struct LogError {
    /// The number of the entry, counted from the start of this piece of log.
    pub entry: u64,
    /// Where the entry starts, in bytes.
    pub offset: usize,
    /// What is wrong.
    pub kind: LogErrorKind,
}

/// The kinds of [`LogError`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogErrorKind {
    /// The log ends inside an entry.
    #[error("the log ends inside the entry")]
    Truncated,
    /// A length that no kernel writes.
    #[error("a length of {0} bytes is more than an entry may have")]
    Length(usize),
    /// The template is not in the table.
    #[error("the template `{}` is not one that this worker may use", shown(.0))]
    Template(String),
    /// A field does not have the form of its kind.
    #[error("the field `{0}` is malformed")]
    Field(&'static str),
    /// A name that no kernel writes.
    #[error("a name of {0} bytes is longer than a path may be")]
    Path(usize),
    /// Fields end before the template data does, or the other way round.
    #[error("the fields do not fill the template data")]
    Fields,
    /// A line of an ASCII log has the wrong number of columns.
    #[error("the line has {found} columns where the template has {expected}")]
    Columns {
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// The PCR column is no number of a PCR.
    #[error("`{}` is not a PCR", shown(.0))]
    Pcr(String),
    /// The template hash column has the wrong size or characters.
    #[error("the template hash is not {0} hexadecimal digits")]
    Hash(usize),
}

/// Reads the entries of a binary log, one after the other.
///
/// Numbers are little-endian, as on every machine Kubernetes runs on and on all others with
/// `ima_canonical_fmt`.
#[derive(Clone)]
pub struct Reader<'a> {
    rest: &'a [u8],
    total: usize,
    next: u64,
    column: HashAlg,
    templates: &'a Templates,
    longest_path: usize,
    /// The last entry read. It is lent, and the next is read into it: moving entries about would take longer than
    /// reading them.
    entry: Entry<'a>,
    failed: bool,
}

impl<'a> Reader<'a> {
    /// Reads `log`, whose template hash column is of algorithm `column`.
    ///
    /// That is SHA-1 for `binary_runtime_measurements` and the algorithm in the name of the
    /// per-bank files, such as `binary_runtime_measurements_sha256`.
    pub fn new(log: &'a [u8], column: HashAlg, templates: &'a Templates) -> Self {
        Reader {
            rest: log,
            total: log.len(),
            next: 0,
            column,
            templates,
            longest_path: LONGEST_PATH,
            entry: Entry {
                pcr: 0,
                claimed: &[],
                name: &[],
                data: &[],
                layout: Layout::default(),
                ends: [0; MAX_FIELDS],
            },
            failed: false,
        }
    }

    /// With another length that no name of a file or a control group may exceed; otherwise [`LONGEST_PATH`].
    #[must_use]
    pub fn with_longest_path(mut self, longest: usize) -> Self {
        self.longest_path = longest;
        self
    }

    /// The byte after the last entry read.
    pub fn offset(&self) -> usize {
        self.total - self.rest.len()
    }

    /// The next entry; none at the end, and after one that cannot be read, as nothing after it can be found again.
    #[inline]
    pub fn read(&mut self) -> Result<Option<&Entry<'a>>, LogError> {
        if self.rest.is_empty() || self.failed {
            return Ok(None);
        }
        let entry = self.next;
        self.next += 1;
        if let Err(kind) = self.fill() {
            self.failed = true;
            return Err(LogError {
                entry,
                offset: self.offset(),
                kind,
            });
        }
        Ok(Some(&self.entry))
    }

    /// Reads the next entry into the place of the last.
    #[inline(always)]
    fn fill(&mut self) -> Result<(), LogErrorKind> {
        let entry = &mut self.entry;
        let mut input = Input(self.rest);
        entry.pcr = input.number()?;
        entry.claimed = input.take(self.column.size())?;
        let name = input.sized(MAX_NAME)?;
        // Mostly that of the last entry.
        if name != entry.name || name.is_empty() {
            entry.layout = self.templates.layout(name).ok_or_else(|| {
                LogErrorKind::Template(String::from_utf8_lossy(name).into_owned())
            })?;
        }
        entry.name = name;
        if entry.layout.is_legacy() {
            let before = input.0;
            input.take(HashAlg::Sha1.size())?;
            let file = input.sized(MAX_NAME)?;
            // Without the final NUL, which this template leaves out.
            if file.contains(&0) {
                return Err(LogErrorKind::Field("n"));
            }
            let used = before.len() - input.0.len();
            entry.data = before.get(..used).ok_or(LogErrorKind::Truncated)?;
            let end = u32::try_from(used).map_err(|_| LogErrorKind::Length(used))?;
            entry.ends[0] = 20;
            entry.ends[1] = end;
        } else {
            entry.data = input.sized(MAX_DATA)?;
            let mut data = Input(entry.data);
            for (end, field) in entry.ends.iter_mut().zip(entry.layout.fields()) {
                let bytes = data.sized(MAX_DATA).map_err(|_| LogErrorKind::Fields)?;
                if !well_formed(*field, bytes) {
                    return Err(LogErrorKind::Field(field.id()));
                }
                // Behind it comes a NUL.
                if bytes.len().saturating_sub(1) > self.longest_path {
                    is_short(*field, bytes.len())?;
                }
                let used = entry.data.len() - data.0.len();
                *end = u32::try_from(used).map_err(|_| LogErrorKind::Length(used))?;
            }
            if !data.0.is_empty() {
                return Err(LogErrorKind::Fields);
            }
        }
        self.rest = input.0;
        Ok(())
    }
}

/// Names of files and groups are kept, and shown: they have a length that a kernel knows. What else there is in an entry
/// is only hashed.
#[cold]
fn is_short(field: Field, length: usize) -> Result<(), LogErrorKind> {
    match field {
        Field::N | Field::NNg | Field::Cgn | Field::CgPath => {
            Err(LogErrorKind::Path(length.saturating_sub(1)))
        }
        _ => Ok(()),
    }
}

impl<'a> Iterator for Reader<'a> {
    type Item = Result<Entry<'a>, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().map(|entry| entry.copied()).transpose()
    }
}

/// The names of the templates in a log, each once, without a look at the fields; up to where it is broken.
pub fn template_names(log: &[u8], column: HashAlg) -> Vec<&[u8]> {
    let mut names: Vec<&[u8]> = Vec::new();
    let mut input = Input(log);
    while !input.0.is_empty() {
        let Ok(name) = skip(&mut input, column) else {
            break;
        };
        if names.last() != Some(&name) && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// How many bytes the first entry takes; nothing if it is not whole.
pub(crate) fn skip_entry(log: &[u8], column: HashAlg) -> Option<usize> {
    let mut input = Input(log);
    skip(&mut input, column).ok()?;
    Some(log.len() - input.0.len())
}

/// Skips an entry; gives the name of its template.
fn skip<'a>(input: &mut Input<'a>, column: HashAlg) -> Result<&'a [u8], LogErrorKind> {
    input.number()?;
    input.take(column.size())?;
    let name = input.sized(MAX_NAME)?;
    if name == LEGACY {
        input.take(HashAlg::Sha1.size())?;
        input.sized(MAX_NAME)?;
    } else {
        input.sized(MAX_DATA)?;
    }
    Ok(name)
}

struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], LogErrorKind> {
        let (taken, rest) = self
            .0
            .split_at_checked(len)
            .ok_or(LogErrorKind::Truncated)?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u32, LogErrorKind> {
        let (bytes, rest) = self
            .0
            .split_first_chunk::<4>()
            .ok_or(LogErrorKind::Truncated)?;
        self.0 = rest;
        Ok(u32::from_le_bytes(*bytes))
    }

    fn sized(&mut self, most: usize) -> Result<&'a [u8], LogErrorKind> {
        let len = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        if len > most {
            return Err(LogErrorKind::Length(len));
        }
        self.take(len)
    }
}

/// Writes one entry in the binary form; the opposite of [`Reader`].
pub(super) fn write_entry(
    log: &mut Vec<u8>,
    pcr: u32,
    claimed: &[u8],
    name: &[u8],
    fields: &[Vec<u8>],
) {
    let sized = |log: &mut Vec<u8>, bytes: &[u8]| {
        log.extend_from_slice(&u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
        log.extend_from_slice(bytes);
    };
    log.extend_from_slice(&pcr.to_le_bytes());
    log.extend_from_slice(claimed);
    sized(log, name);
    if name == LEGACY {
        if let [digest, file] = fields {
            log.extend_from_slice(digest);
            sized(log, file);
        }
        return;
    }
    let mut data = Vec::new();
    for field in fields {
        sized(&mut data, field);
    }
    sized(log, &data);
}
