//! The files that one subject was measured to run, packed one after the other.

use crate::digest::{DigestRef, HashAlg};

/// One measured file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Measured<'a> {
    /// Its name, as the kernel saw it.
    pub path: &'a [u8],
    /// Its digest; nothing if of an algorithm that reference values cannot have.
    pub digest: Option<DigestRef<'a>>,
}

/// Files, each as algorithm, digest, length and path.
///
/// A kernel records a file once, so entries are seldom repeated; looking each up would cost more than
/// hashing it. Repetitions are left out when reading.
#[derive(Clone, Debug, Default)]
pub(super) struct Files {
    /// Each holds whole records. One piece of memory that grows would be copied again and again.
    chunks: Vec<Vec<u8>>,
    size: usize,
}

/// The size from which on a chunk is full.
const CHUNK: usize = 64 << 10;

impl Files {
    /// Adds a file.
    pub(super) fn push(&mut self, measured: Measured<'_>) {
        let id = measured.digest.map_or(0, |digest| digest.alg().tpm_id());
        let digest = measured.digest.map_or(&[][..], |digest| digest.as_bytes());
        let chunk = self.room(HEAD + digest.len() + measured.path.len());
        chunk.extend_from_slice(&id.to_le_bytes());
        chunk.extend_from_slice(digest);
        put(chunk, measured.path);
    }

    /// The same for what nearly every entry has; all sizes but that of the path are known beforehand.
    pub(super) fn push_sha256(&mut self, digest: &[u8; 32], path: &[u8]) {
        let chunk = self.room(HEAD + digest.len() + path.len());
        chunk.extend_from_slice(&HashAlg::Sha256.tpm_id().to_le_bytes());
        chunk.extend_from_slice(digest);
        put(chunk, path);
    }

    /// Adds all files of another.
    pub(super) fn absorb(&mut self, other: &Files) {
        for chunk in other.chunks() {
            self.room(chunk.len()).extend_from_slice(chunk);
        }
    }

    /// The chunk that the next bytes belong to, with room for them; they are counted.
    #[inline]
    fn room(&mut self, bytes: usize) -> &mut Vec<u8> {
        self.size += bytes;
        let full = |chunk: &Vec<u8>| chunk.len() + bytes > CHUNK;
        let at = match self.chunks.last() {
            Some(last) if !full(last) => self.chunks.len() - 1,
            _ => self.chunks.len(),
        };
        if at == self.chunks.len() {
            // The files of most subjects fit into much less than a chunk.
            let capacity = if at == 0 { bytes } else { CHUNK.max(bytes) };
            self.chunks.push(Vec::with_capacity(capacity));
        }
        #[expect(
            clippy::indexing_slicing,
            reason = "a chunk was made if there was none"
        )]
        let chunk = &mut self.chunks[at];
        chunk.reserve(bytes);
        chunk
    }

    /// How many bytes were added; only grows.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// How many bytes of memory it takes.
    pub(super) fn footprint(&self) -> usize {
        let chunks: usize = self.chunks.iter().map(Vec::capacity).sum();
        chunks + self.chunks.capacity() * size_of::<Vec<u8>>() + size_of::<Files>()
    }

    /// All bytes, in pieces.
    pub(super) fn chunks(&self) -> impl Iterator<Item = &[u8]> {
        self.chunks.iter().map(Vec::as_slice)
    }

    /// All files.
    pub(super) fn iter(&self) -> impl Iterator<Item = Measured<'_>> {
        self.after(0)
    }

    /// What was added after the first `size` bytes.
    pub(super) fn after(&self, size: usize) -> Records<'_> {
        let mut chunks = self.chunks.iter();
        let mut skip = size;
        let mut rest = &[][..];
        for chunk in chunks.by_ref() {
            if let Some(after) = chunk.get(skip..).filter(|after| !after.is_empty()) {
                rest = after;
                break;
            }
            skip -= chunk.len();
        }
        Records { rest, chunks }
    }
}

/// Files, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Records<'a> {
    rest: &'a [u8],
    chunks: std::slice::Iter<'a, Vec<u8>>,
}

impl<'a> Iterator for Records<'a> {
    type Item = Measured<'a>;

    fn next(&mut self) -> Option<Measured<'a>> {
        while self.rest.is_empty() {
            self.rest = self.chunks.next()?;
        }
        take_measured(&mut self.rest).ok()
    }
}

/// The bytes of a record beside its digest and its path.
const HEAD: usize = 2 + 4;

/// The first record of some bytes, which is taken from them.
#[inline]
pub(super) fn take_measured<'a>(rest: &mut &'a [u8]) -> Result<Measured<'a>, LedgerError> {
    let (id, after) = rest.split_first_chunk::<2>().ok_or(LedgerError)?;
    *rest = after;
    let digest = match u16::from_le_bytes(*id) {
        0 => None,
        id => {
            let alg = HashAlg::from_tpm_id(id).ok_or(LedgerError)?;
            let (digest, after) = rest.split_at_checked(alg.size()).ok_or(LedgerError)?;
            *rest = after;
            DigestRef::new(alg, digest)
        }
    };
    let path = get(rest)?;
    Ok(Measured { path, digest })
}

/// The stored bytes are no ledger of this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stored measurements of the worker cannot be read")]
pub struct LedgerError;

/// Adds a length.
pub(super) fn put_length(bytes: &mut Vec<u8>, length: usize) {
    bytes.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
}

/// Adds bytes after their length.
pub(super) fn put(bytes: &mut Vec<u8>, part: &[u8]) {
    put_length(bytes, part.len());
    bytes.extend_from_slice(part);
}

/// Takes bytes that stand after their length.
pub(super) fn get<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8], LedgerError> {
    let (len, after) = rest.split_first_chunk::<4>().ok_or(LedgerError)?;
    let len = usize::try_from(u32::from_le_bytes(*len)).map_err(|_| LedgerError)?;
    let (part, after) = after.split_at_checked(len).ok_or(LedgerError)?;
    *rest = after;
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_files_are_read_in_their_order_from_any_size() {
        let digest = HashAlg::Sha256.hash(&[b"content"]);
        let digest = Some(DigestRef::from(&digest));
        let paths: Vec<String> = (0..5_000)
            .map(|number| format!("/usr/lib/{number}"))
            .collect();
        let mut files = Files::default();
        let mut sizes = Vec::new();
        for path in &paths {
            sizes.push(files.size());
            let path = path.as_bytes();
            files.push(Measured { path, digest });
        }
        assert!(files.chunks().count() > 2, "{}", files.size());
        for from in [0, 1, 1_600, 1_700, 4_999] {
            let read: Vec<&[u8]> = files.after(sizes[from]).map(|file| file.path).collect();
            let expected: Vec<&[u8]> = paths[from..].iter().map(String::as_bytes).collect();
            assert_eq!(read, expected);
        }
        assert_eq!(files.after(files.size()).count(), 0);
        let mut both = files.clone();
        both.absorb(&files);
        assert_eq!(both.size(), 2 * files.size());
        assert!(both.after(files.size()).eq(files.iter()));
    }

    #[test]
    fn a_path_longer_than_a_chunk_has_its_place() {
        let long = vec![b'a'; 2 * CHUNK];
        let mut files = Files::default();
        for path in [&b"/a"[..], &long, b"/b"] {
            files.push(Measured { path, digest: None });
        }
        let lengths: Vec<usize> = files.iter().map(|file| file.path.len()).collect();
        assert_eq!(lengths, [2, 2 * CHUNK, 2]);
    }
}
