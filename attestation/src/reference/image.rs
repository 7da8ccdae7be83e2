//! Reference values from an image: an OCI layout (folder or archive) or a `docker save` archive.

use std::collections::BTreeMap;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::layer::{LayerError, Tree};
use super::model::ImageReference;
use super::parts::{Parts, parse};
use crate::digest::{Digest, HashAlg, Hasher};

/// What to take from an image.
#[derive(Clone, Debug)]
pub struct ImageOptions {
    /// The algorithms to give digests for.
    pub algorithms: Vec<HashAlg>,
    /// Which variant of an image for several platforms: operating system and architecture.
    pub platform: (String, String),
    /// Which image of several in one file, by name.
    pub name: Option<String>,
}

impl Default for ImageOptions {
    /// SHA-256 digests of the image for this machine.
    fn default() -> Self {
        let architecture = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            other => other,
        };
        ImageOptions {
            algorithms: vec![HashAlg::Sha256],
            platform: ("linux".to_owned(), architecture.to_owned()),
            name: None,
        }
    }
}

/// Why there are no reference values for an image.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// The file cannot be read.
    #[error("`{}` cannot be read: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// Neither an OCI layout nor a `docker save` archive.
    #[error("`{}` is neither an OCI layout nor an archive made by `docker save`", .0.display())]
    Unrecognised(PathBuf),
    /// A part is not there.
    #[error("the image has no part `{0}`")]
    Missing(String),
    /// A document cannot be understood.
    #[error("the part `{part}` of the image cannot be read: {reason}")]
    Document {
        /// The part.
        part: String,
        /// Why.
        reason: String,
    },
    /// A part does not have the digest it is named by.
    #[error("the part `{part}` of the image does not have the digest `{expected}`")]
    Digest {
        /// The part.
        part: String,
        /// The digest it must have.
        expected: Digest,
    },
    /// A layer cannot be applied.
    #[error("layer {number}: {error}")]
    Layer {
        /// Its number, from the lowest.
        number: usize,
        /// Why.
        error: LayerError,
    },
    /// Compressed in a way that is not known here.
    #[error("layer {0} is compressed in a way that is not known here")]
    Compression(usize),
    /// Several images, and no telling which.
    #[error("the file holds several images ({}); name one of them", .0.join(", "))]
    Several(Vec<String>),
    /// None of that name or platform.
    #[error("the file holds no image `{wanted}`; it has: {}", present.join(", "))]
    NoSuchImage {
        /// What was asked for.
        wanted: String,
        /// What there is.
        present: Vec<String>,
    },
}

/// Reads the image in a file or folder; gives its name, if it has one, and its reference values.
pub fn from_image(
    path: &Path,
    options: &ImageOptions,
) -> Result<(Option<String>, ImageReference), ImageError> {
    let mut parts = Parts::open(path)?;
    if parts.has("index.json") && parts.has("oci-layout") {
        oci(&mut parts, options)
    } else if parts.has("manifest.json") {
        docker(&mut parts, options)
    } else {
        Err(ImageError::Unrecognised(path.to_owned()))
    }
}

#[derive(Clone, Deserialize)]
struct Descriptor {
    digest: Digest,
    #[serde(default, rename = "mediaType")]
    media_type: String,
    #[serde(default)]
    platform: Option<Platform>,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

#[derive(Clone, Deserialize)]
struct Platform {
    architecture: String,
    os: String,
}

#[derive(Deserialize)]
struct Index {
    manifests: Vec<Descriptor>,
}

#[derive(Deserialize)]
struct Manifest {
    config: Descriptor,
    layers: Vec<Descriptor>,
}

#[derive(Deserialize)]
struct Config {
    rootfs: RootFs,
}

#[derive(Deserialize)]
struct RootFs {
    diff_ids: Vec<Digest>,
}

#[derive(Deserialize)]
struct DockerImage {
    #[serde(rename = "Config")]
    config: String,
    #[serde(rename = "RepoTags", default)]
    tags: Option<Vec<String>>,
    #[serde(rename = "Layers")]
    layers: Vec<String>,
}

fn oci(
    parts: &mut Parts,
    options: &ImageOptions,
) -> Result<(Option<String>, ImageReference), ImageError> {
    let mut digests = Vec::new();
    let index: Index = parts.document("index.json", None)?;
    let mut chosen = choose(&index, options, true)?;
    let name = name_of(&chosen);
    // An index may name an index; more than a few levels is a mistake.
    for _ in 0..4 {
        let is_index = chosen.media_type.ends_with("image.index.v1+json")
            || chosen.media_type.ends_with("manifest.list.v2+json");
        digests.push(chosen.digest);
        if !is_index {
            break;
        }
        let inner: Index = parts.document(&blob(chosen.digest), Some(chosen.digest))?;
        chosen = choose(&inner, options, false)?;
    }
    let manifest: Manifest = parts.document(&blob(chosen.digest), Some(chosen.digest))?;
    digests.push(manifest.config.digest);
    let config: Config =
        parts.document(&blob(manifest.config.digest), Some(manifest.config.digest))?;
    let layers: Vec<(String, Option<Digest>)> = manifest
        .layers
        .iter()
        .map(|layer| (blob(layer.digest), Some(layer.digest)))
        .collect();
    let tree = apply(parts, &layers, &config.rootfs.diff_ids, options)?;
    let reference = ImageReference {
        digests: digests.into_iter().collect(),
        sandbox: false,
        files: tree.into_files(),
    };
    Ok((name, reference))
}

fn name_of(descriptor: &Descriptor) -> Option<String> {
    [
        "io.containerd.image.name",
        "org.opencontainers.image.ref.name",
    ]
    .into_iter()
    .find_map(|key| descriptor.annotations.get(key).cloned())
}

fn choose(index: &Index, options: &ImageOptions, top: bool) -> Result<Descriptor, ImageError> {
    let (os, architecture) = &options.platform;
    let mut fitting: Vec<&Descriptor> = index
        .manifests
        .iter()
        .filter(|manifest| {
            manifest
                .platform
                .as_ref()
                .is_none_or(|platform| platform.os == *os && platform.architecture == *architecture)
        })
        .collect();
    let wanted = options.name.as_ref().filter(|_| top);
    if let Some(wanted) = wanted {
        fitting.retain(|manifest| name_of(manifest).as_ref() == Some(wanted));
    }
    let describe = |manifest: &Descriptor| match (name_of(manifest), &manifest.platform) {
        (Some(name), _) => name,
        (None, Some(platform)) => format!("{}/{}", platform.os, platform.architecture),
        (None, None) => manifest.digest.to_string(),
    };
    match fitting.as_slice() {
        [one] => Ok((*one).clone()),
        [] => Err(ImageError::NoSuchImage {
            wanted: wanted
                .cloned()
                .unwrap_or_else(|| format!("{os}/{architecture}")),
            present: index.manifests.iter().map(describe).collect(),
        }),
        several => Err(ImageError::Several(
            several.iter().map(|manifest| describe(manifest)).collect(),
        )),
    }
}

fn docker(
    parts: &mut Parts,
    options: &ImageOptions,
) -> Result<(Option<String>, ImageReference), ImageError> {
    let images: Vec<DockerImage> = parts.document("manifest.json", None)?;
    let tags = |image: &DockerImage| image.tags.clone().unwrap_or_default();
    let describe = |image: &DockerImage| {
        tags(image)
            .into_iter()
            .next()
            .unwrap_or_else(|| image.config.clone())
    };
    let fitting: Vec<&DockerImage> = images
        .iter()
        .filter(|image| match &options.name {
            Some(wanted) => tags(image).contains(wanted),
            None => true,
        })
        .collect();
    let image = match fitting.as_slice() {
        [one] => *one,
        [] => {
            return Err(ImageError::NoSuchImage {
                wanted: options.name.clone().unwrap_or_default(),
                present: images.iter().map(describe).collect(),
            });
        }
        several => {
            return Err(ImageError::Several(
                several.iter().map(|image| describe(image)).collect(),
            ));
        }
    };
    let bytes = parts.bytes(&image.config)?;
    let digest = HashAlg::Sha256.hash(&[&bytes]);
    // The configuration is named by its digest; another name would hide a change.
    if !image.config.contains(&digest.to_hex()) {
        return Err(ImageError::Document {
            part: image.config.clone(),
            reason: "its name is not its digest".to_owned(),
        });
    }
    let config: Config = parse(&image.config, &bytes)?;
    let layers: Vec<(String, Option<Digest>)> = image
        .layers
        .iter()
        .map(|layer| (layer.clone(), None))
        .collect();
    let tree = apply(parts, &layers, &config.rootfs.diff_ids, options)?;
    let reference = ImageReference {
        digests: [digest].into(),
        sandbox: false,
        files: tree.into_files(),
    };
    Ok((
        options
            .name
            .clone()
            .or_else(|| tags(image).into_iter().next()),
        reference,
    ))
}

fn blob(digest: Digest) -> String {
    format!("blobs/{}/{}", digest.alg(), digest.to_hex())
}

/// Applies all layers, each held to its digests: compressed as named, uncompressed as configured.
fn apply(
    parts: &mut Parts,
    layers: &[(String, Option<Digest>)],
    diff_ids: &[Digest],
    options: &ImageOptions,
) -> Result<Tree, ImageError> {
    if layers.len() != diff_ids.len() {
        return Err(ImageError::Document {
            part: "config".to_owned(),
            reason: format!("it has {} layers and not {}", diff_ids.len(), layers.len()),
        });
    }
    let mut tree = Tree::new();
    for (number, ((part, named), diff_id)) in layers.iter().zip(diff_ids).enumerate() {
        let failed = |error: std::io::Error| ImageError::Layer {
            number,
            error: error.into(),
        };
        let alg = named.map_or(HashAlg::Sha256, |digest| digest.alg());
        let raw = Hashing::new(parts.open_part(part)?, alg);
        let mut raw = BufReader::with_capacity(1 << 16, raw);
        let mut magic = [0; 4];
        let peeked = std::io::BufRead::fill_buf(&mut raw).map_err(failed)?;
        for (to, from) in magic.iter_mut().zip(peeked) {
            *to = *from;
        }
        let content: Box<dyn Read + '_> = match magic {
            [0x1f, 0x8b, ..] => Box::new(flate2::bufread::MultiGzDecoder::new(&mut raw)),
            [0x28, 0xb5, 0x2f, 0xfd] => Box::new(
                ruzstd::decoding::StreamingDecoder::new(&mut raw)
                    .map_err(|_| ImageError::Compression(number))?,
            ),
            [b'B', b'Z', b'h', _] | [0xfd, b'7', b'z', b'X'] => {
                return Err(ImageError::Compression(number));
            }
            _ => Box::new(&mut raw),
        };
        let mut content = Hashing::new(content, diff_id.alg());
        tree.apply(&mut content, &options.algorithms)
            .map_err(|error| ImageError::Layer { number, error })?;
        // An archive may be followed by padding, which is part of the digest.
        std::io::copy(&mut content, &mut std::io::sink()).map_err(failed)?;
        let found = content.finish();
        if found != *diff_id {
            return Err(ImageError::Digest {
                part: part.clone(),
                expected: *diff_id,
            });
        }
        if let Some(expected) = named {
            std::io::copy(&mut raw, &mut std::io::sink()).map_err(failed)?;
            if raw.into_inner().finish() != *expected {
                return Err(ImageError::Digest {
                    part: part.clone(),
                    expected: *expected,
                });
            }
        }
    }
    Ok(tree)
}

/// Hashes what is read through it.
struct Hashing<R> {
    inner: R,
    hasher: Hasher,
}

impl<R> Hashing<R> {
    fn new(inner: R, alg: HashAlg) -> Self {
        Hashing {
            inner,
            hasher: Hasher::new(alg),
        }
    }

    fn finish(self) -> Digest {
        self.hasher.finish()
    }
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.hasher.update(buffer.get(..read).unwrap_or(&[]));
        Ok(read)
    }
}
