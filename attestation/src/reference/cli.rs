//! `locus reference`: make, compare, sign and check reference values.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};

use super::diff::diff;
use super::event_log::{LearnError, boot_policy};
use super::image::{ImageError, ImageOptions, from_image};
use super::layer::Tree;
use super::model::{
    FileSet, HostReference, ImageReference, OsReference, ReferenceValues, RuntimeReference,
};
use super::rootfs::from_root;
use super::signed::{ImportError, export, import};
use crate::clock::{Clock as _, SystemClock};
use crate::digest::{Digest, HashAlg};
use crate::evidence::jws::{JwsError, TokenKey, TrustedKeys, public_key_or_certificate};
use crate::ima::{Reader, Templates, ascii, boot_aggregate, template_hash};

/// Make, compare, sign and check reference values.
#[derive(Args, Clone, Debug)]
pub struct ReferenceArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Clone, Debug)]
enum Command {
    /// List the files of an image: an OCI layout (folder or archive), or an archive made by `docker save`.
    FromImage {
        /// The image.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Which image, where the file holds several, by the name it has there.
        #[arg(long, value_name = "NAME")]
        image: Option<String>,
        /// Under which name to list it; by default the one in the file.
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// The variant, where there are several.
        #[arg(long, value_name = "OS/ARCHITECTURE")]
        platform: Option<String>,
        /// Whether this is the image of pod sandboxes (`pause`).
        #[arg(long)]
        sandbox: bool,
        #[command(flatten)]
        digests: Digests,
    },
    /// List the files of a root file system: a folder, or an archive such as `docker export` makes.
    FromRoot {
        /// The folder or the archive.
        #[arg(value_name = "ROOT")]
        root: PathBuf,
        /// The name to list it under: of the host, of the runtime, of the image.
        #[arg(long, value_name = "NAME")]
        name: String,
        /// List the files as a container runtime's.
        #[arg(long, conflicts_with = "image_digest")]
        runtime: bool,
        /// List the files as those of an image that the cluster knows by this digest.
        #[arg(long, value_name = "DIGEST")]
        image_digest: Vec<Digest>,
        #[command(flatten)]
        digests: Digests,
    },
    /// Take the boot aggregate of a machine that is as it should be from its measurement log.
    FromLog {
        /// The log, as the kernel shows it in `ascii_runtime_measurements`.
        #[arg(value_name = "LOG")]
        log: PathBuf,
        /// The operating system, as `PRETTY_NAME` in `os-release` has it.
        #[arg(long, value_name = "NAME")]
        os: String,
        /// The hash of the log's template hashes.
        #[arg(long, value_name = "HASH", default_value = "sha1")]
        log_hash: HashAlg,
    },
    /// Write the boot policy that accepts a machine's boot, from the event log of its firmware.
    FromEventLog {
        /// The log, as the kernel shows it.
        #[arg(
            value_name = "LOG",
            default_value = "/sys/kernel/security/tpm0/binary_bios_measurements"
        )]
        log: PathBuf,
        /// The bank whose digests to list.
        #[arg(long, value_name = "HASH", default_value = "sha256")]
        bank: HashAlg,
        /// A folder with the values of the registers, such as `/sys/class/tpm/tpm0/pcr-sha256`: the log must lead to them.
        #[arg(long, value_name = "FOLDER")]
        registers: Option<PathBuf>,
    },
    /// Show what differs between two images; exits with 1 when something does.
    Diff {
        /// The old image, or its reference values.
        #[arg(value_name = "OLD")]
        old: PathBuf,
        /// The new image, or its reference values.
        #[arg(value_name = "NEW")]
        new: PathBuf,
        /// How to print the differences.
        #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
        format: Format,
    },
    /// Sign reference values for another place.
    Export {
        /// The values; of several files, all together.
        #[arg(required = true, value_name = "VALUES")]
        values: Vec<PathBuf>,
        /// The private key: P-256, PKCS #8, PEM.
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
        /// The place of this export in their order; must go up.
        #[arg(long, value_name = "NUMBER")]
        sequence: u64,
    },
    /// Check signed reference values and show them.
    Import {
        /// The signed values.
        #[arg(value_name = "TOKEN")]
        token: PathBuf,
        /// The public key to trust, or a certificate of it: P-256, PEM.
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
        /// The sequence number that is present already; an older export is refused.
        #[arg(long, value_name = "NUMBER")]
        present: Option<u64>,
    },
}

/// How differences are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    #[default]
    Text,
    /// For machines
    Json,
}

#[derive(Args, Clone, Debug)]
struct Digests {
    /// An algorithm to list digests of; may be given several times.
    #[arg(long = "digest", value_name = "ALGORITHM", default_value = "sha256")]
    algorithms: Vec<HashAlg>,
}

/// Why `locus reference` failed.
#[derive(Debug, thiserror::Error)]
pub enum ReferenceError {
    /// A file cannot be read.
    #[error("`{}` cannot be read: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A file has no reference values in it.
    #[error("`{}` has no reference values in it: {reason}", path.display())]
    Values {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The image cannot be listed.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// Some files of the folder cannot be read, so the list would not be complete.
    #[error("the list would not be complete:\n{0}")]
    Incomplete(String),
    /// The log does not start with a boot aggregate.
    #[error("`{}` is not a measurement log that starts with a boot aggregate: {reason}", path.display())]
    Log {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// There is no boot policy in the event log.
    #[error(transparent)]
    EventLog(#[from] LearnError),
    /// Two files have values for the same thing.
    #[error("both `{}` and a file before it have values for `{name}`", path.display())]
    Twice {
        /// The later file.
        path: PathBuf,
        /// What both have.
        name: String,
    },
    /// The platform is not of the form `os/architecture`.
    #[error("`{0}` is not a platform; write it as `linux/amd64`")]
    Platform(String),
    /// The image has no name.
    #[error("the image has no name; give one with `--name`")]
    NoName,
    /// A key cannot be read or used.
    #[error("`{}`: {error}", path.display())]
    Key {
        /// The file of the key.
        path: PathBuf,
        /// Why.
        error: JwsError,
    },
    /// Signed values are refused.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// The output cannot be written.
    #[error("the output cannot be written: {0}")]
    Output(std::io::Error),
}

impl ReferenceArgs {
    /// Does what the command line says; tells whether something was found (differences).
    pub fn run(self) -> Result<bool, ReferenceError> {
        let mut values = ReferenceValues::default();
        match self.command {
            Command::FromImage {
                file,
                image,
                name,
                platform,
                sandbox,
                digests,
            } => {
                let mut options = ImageOptions {
                    algorithms: digests.algorithms,
                    name: image,
                    ..ImageOptions::default()
                };
                if let Some(text) = platform {
                    let (os, architecture) = text
                        .split_once('/')
                        .ok_or_else(|| ReferenceError::Platform(text.clone()))?;
                    options.platform = (os.to_owned(), architecture.to_owned());
                }
                let (found, mut image) = from_image(&file, &options)?;
                image.sandbox = sandbox;
                let name = name.or(found).ok_or(ReferenceError::NoName)?;
                values.images.insert(name, image);
                show(&values)?;
            }
            Command::FromRoot {
                root,
                name,
                runtime,
                image_digest,
                digests,
            } => {
                let files = root_files(&root, &digests.algorithms)?;
                if runtime {
                    values.runtimes.insert(name, RuntimeReference { files });
                } else if image_digest.is_empty() {
                    values.hosts.insert(name, HostReference { files });
                } else {
                    let image = ImageReference {
                        digests: image_digest.into_iter().collect(),
                        sandbox: false,
                        files,
                    };
                    values.images.insert(name, image);
                }
                show(&values)?;
            }
            Command::FromLog { log, os, log_hash } => {
                let boot_aggregates = [boot_in(&log, log_hash)?].into();
                values.os.insert(os, OsReference { boot_aggregates });
                show(&values)?;
            }
            Command::FromEventLog {
                log,
                bank,
                registers,
            } => print(boot_policy(&log, bank, registers.as_deref())?.trim_end())?,
            Command::Diff { old, new, format } => {
                let found = diff(&image_in(&old)?, &image_in(&new)?);
                match format {
                    Format::Json => show(&found)?,
                    Format::Text => print(&found.to_string())?,
                }
                return Ok(!found.changes.is_empty());
            }
            Command::Export {
                values: files,
                key,
                sequence,
            } => {
                for file in files {
                    merge(&mut values, values_in(&file)?, &file)?;
                }
                let failed = |error| ReferenceError::Key {
                    path: key.clone(),
                    error,
                };
                let signer = TokenKey::from_pem(&read(&key)?).map_err(failed)?;
                let token = export(&values, sequence, &signer, SystemClock.now());
                print(&token.map_err(failed)?)?;
            }
            Command::Import {
                token,
                key,
                present,
            } => {
                let trusted = public_key_or_certificate(&read(&key)?).map_err(|error| {
                    ReferenceError::Key {
                        path: key.clone(),
                        error,
                    }
                })?;
                let keys = TrustedKeys::new().with(trusted);
                show(&import(&read(&token)?, &keys, present)?.values)?;
            }
        }
        Ok(false)
    }
}

fn failed_read(path: &Path) -> impl FnOnce(std::io::Error) -> ReferenceError + '_ {
    |error| ReferenceError::Read {
        path: path.to_owned(),
        error,
    }
}

fn read(path: &Path) -> Result<String, ReferenceError> {
    fs::read_to_string(path).map_err(failed_read(path))
}

fn values_in(path: &Path) -> Result<ReferenceValues, ReferenceError> {
    serde_json::from_str(&read(path)?).map_err(|error| ReferenceError::Values {
        path: path.to_owned(),
        reason: error.to_string(),
    })
}

/// Puts values together; two files that say something about the same thing contradict each other.
fn merge(
    into: &mut ReferenceValues,
    from: ReferenceValues,
    path: &Path,
) -> Result<(), ReferenceError> {
    fn add<T>(into: &mut BTreeMap<String, T>, from: BTreeMap<String, T>) -> Result<(), String> {
        for (name, value) in from {
            if into.contains_key(&name) {
                return Err(name);
            }
            into.insert(name, value);
        }
        Ok(())
    }
    add(&mut into.os, from.os)
        .and_then(|()| add(&mut into.images, from.images))
        .and_then(|()| add(&mut into.runtimes, from.runtimes))
        .and_then(|()| add(&mut into.hosts, from.hosts))
        .map_err(|name| ReferenceError::Twice {
            path: path.to_owned(),
            name,
        })
}

/// The files of a root file system: a folder, or an archive that is read as the only layer of an image.
fn root_files(root: &Path, algorithms: &[HashAlg]) -> Result<FileSet, ReferenceError> {
    if root.is_dir() {
        let (files, errors) = from_root(root, algorithms);
        if errors.is_empty() {
            return Ok(files);
        }
        let all: Vec<String> = errors.iter().map(ToString::to_string).collect();
        return Err(ReferenceError::Incomplete(all.join("\n")));
    }
    let file = fs::File::open(root).map_err(failed_read(root))?;
    let mut tree = Tree::new();
    tree.apply(std::io::BufReader::new(file), algorithms)
        .map_err(|error| ImageError::Layer { number: 0, error })?;
    Ok(tree.into_files())
}

/// The digest in the first entry of a log.
fn boot_in(path: &Path, column: HashAlg) -> Result<Digest, ReferenceError> {
    let wrong = |reason: String| ReferenceError::Log {
        path: path.to_owned(),
        reason,
    };
    let templates = Templates::default();
    let text = fs::read_to_string(path).map_err(failed_read(path))?;
    let first = text.lines().next().unwrap_or_default();
    let (binary, errors) = ascii::to_binary(first.as_bytes(), column, &templates);
    if let Some(error) = errors.first() {
        return Err(wrong(error.to_string()));
    }
    let entry = Reader::new(&binary, column, &templates)
        .next()
        .ok_or_else(|| wrong("it is empty".to_owned()))?
        .map_err(|error| wrong(error.to_string()))?;
    if template_hash(column, &entry).as_bytes() != entry.claimed_hash() {
        return Err(wrong(
            "its first entry does not have the hash it claims".to_owned(),
        ));
    }
    boot_aggregate(&entry).ok_or_else(|| wrong("its first entry is another one".to_owned()))
}

/// The image in a file: the image itself, or reference values of one image.
fn image_in(path: &Path) -> Result<ImageReference, ReferenceError> {
    match from_image(path, &ImageOptions::default()) {
        Ok((_, image)) => Ok(image),
        Err(ImageError::Unrecognised(_)) if !path.is_dir() => {
            let images = values_in(path)?.images;
            let count = images.len();
            match (images.into_values().next(), count) {
                (Some(image), 1) => Ok(image),
                _ => Err(ReferenceError::Values {
                    path: path.to_owned(),
                    reason: format!("there are {count} images in it, and not one"),
                }),
            }
        }
        Err(error) => Err(error.into()),
    }
}

fn show<T: serde::Serialize>(value: &T) -> Result<(), ReferenceError> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| ReferenceError::Output(error.into()))?;
    print(&text)
}

fn print(text: &str) -> Result<(), ReferenceError> {
    writeln!(std::io::stdout().lock(), "{text}").map_err(ReferenceError::Output)
}
