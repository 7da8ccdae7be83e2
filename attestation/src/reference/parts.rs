//! The parts of an image file: documents and layers, by name.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::image::ImageError;
use crate::digest::Digest;

/// Larger documents than this are no manifests.
const MAX_DOCUMENT: u64 = 8 << 20;

/// The parts of an image, by name: files of a folder, or of an archive.
pub(super) enum Parts {
    Folder(PathBuf),
    Archive {
        path: PathBuf,
        file: File,
        places: BTreeMap<String, (u64, u64)>,
    },
}

impl Parts {
    pub(super) fn open(path: &Path) -> Result<Self, ImageError> {
        let read = |error| ImageError::Read {
            path: path.to_owned(),
            error,
        };
        if path.is_dir() {
            return Ok(Parts::Folder(path.to_owned()));
        }
        let mut file = File::open(path).map_err(read)?;
        let mut magic = [0; 2];
        let got = file.read(&mut magic).map_err(read)?;
        file.rewind().map_err(read)?;
        if got == 2 && magic == [0x1f, 0x8b] {
            // Parts are read in any order, so a compressed archive is unpacked first.
            let mut plain = tempfile::tempfile().map_err(read)?;
            let mut decoder = flate2::read::MultiGzDecoder::new(file);
            std::io::copy(&mut decoder, &mut plain).map_err(read)?;
            plain.rewind().map_err(read)?;
            file = plain;
        }
        let mut places = BTreeMap::new();
        let mut archive = tar::Archive::new(&file);
        let unrecognised = |_| ImageError::Unrecognised(path.to_owned());
        for entry in archive.entries_with_seek().map_err(unrecognised)? {
            let entry = entry.map_err(unrecognised)?;
            if !entry.header().entry_type().is_file() {
                continue;
            }
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let name = name.strip_prefix("./").unwrap_or(&name).to_owned();
            places.insert(name, (entry.raw_file_position(), entry.size()));
        }
        Ok(Parts::Archive {
            path: path.to_owned(),
            file,
            places,
        })
    }

    pub(super) fn has(&self, part: &str) -> bool {
        match self {
            Parts::Folder(folder) => folder.join(part).is_file(),
            Parts::Archive { places, .. } => places.contains_key(part),
        }
    }

    pub(super) fn open_part(&mut self, part: &str) -> Result<Box<dyn Read + '_>, ImageError> {
        let missing = || ImageError::Missing(part.to_owned());
        match self {
            Parts::Folder(folder) => {
                // Names come from the image: none may lead out of its folder.
                let inside = Path::new(part)
                    .components()
                    .all(|component| matches!(component, std::path::Component::Normal(_)));
                if !inside {
                    return Err(missing());
                }
                let file = File::open(folder.join(part)).map_err(|_| missing())?;
                Ok(Box::new(file))
            }
            Parts::Archive { path, file, places } => {
                let (place, size) = *places.get(part).ok_or_else(missing)?;
                file.seek(SeekFrom::Start(place))
                    .map_err(|error| ImageError::Read {
                        path: path.clone(),
                        error,
                    })?;
                Ok(Box::new(file.take(size)))
            }
        }
    }

    pub(super) fn bytes(&mut self, part: &str) -> Result<Vec<u8>, ImageError> {
        let mut bytes = Vec::new();
        self.open_part(part)?
            .take(MAX_DOCUMENT + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| ImageError::Document {
                part: part.to_owned(),
                reason: error.to_string(),
            })?;
        if bytes.len() as u64 > MAX_DOCUMENT {
            return Err(ImageError::Document {
                part: part.to_owned(),
                reason: "it is too large".to_owned(),
            });
        }
        Ok(bytes)
    }

    pub(super) fn document<T: serde::de::DeserializeOwned>(
        &mut self,
        part: &str,
        expected: Option<Digest>,
    ) -> Result<T, ImageError> {
        let bytes = self.bytes(part)?;
        if let Some(expected) = expected
            && expected.alg().hash(&[&bytes]) != expected
        {
            return Err(ImageError::Digest {
                part: part.to_owned(),
                expected,
            });
        }
        parse(part, &bytes)
    }
}

pub(super) fn parse<T: serde::de::DeserializeOwned>(
    part: &str,
    bytes: &[u8],
) -> Result<T, ImageError> {
    serde_json::from_slice(bytes).map_err(|error| ImageError::Document {
        part: part.to_owned(),
        reason: error.to_string(),
    })
}
