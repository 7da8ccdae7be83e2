//! Images made here, of a program that needs nothing else: as a registry has them, and as `docker save` writes them.

use std::fs::File;
use std::path::{Path, PathBuf};

use locus_attestation::digest::{Digest, HashAlg};
use serde_json::json;

/// The program of which images are made: a shell and its tools, linked statically.
const PROGRAM: &str = "/bin/busybox";
/// A program that does the same and is another file, which is in every image.
pub(crate) const UNKNOWN: &str = "/opt/miner/busybox";

/// An image with that program.
pub(crate) struct Image {
    /// How pods name it.
    pub(crate) reference: String,
    /// The digest of its manifest, by which a registry knows it.
    pub(crate) manifest: Digest,
    /// The digest of its configuration, by which `docker save` knows it.
    pub(crate) configuration: Digest,
    /// Its OCI archive.
    pub(crate) archive: PathBuf,
    /// What `docker save` would write.
    pub(crate) saved: PathBuf,
}

fn sha256(bytes: &[u8]) -> Digest {
    HashAlg::Sha256.hash(&[bytes])
}

/// An archive of files.
fn write(path: &Path, files: &[(String, &[u8])]) {
    let mut archive = tar::Builder::new(File::create(path).unwrap());
    for (name, content) in files {
        let mut header = tar::Header::new_ustar();
        header.set_size(content.len() as u64);
        header.set_mode(0o755);
        archive.append_data(&mut header, name, *content).unwrap();
    }
    archive.finish().unwrap();
}

impl Image {
    /// Makes one in a folder that runs a command; in it are the command's program and [`UNKNOWN`]. Without a tag the runtime knows
    /// it by its digest.
    pub(crate) fn make(folder: &Path, name: &str, tag: Option<&str>, command: &[&str]) -> Image {
        let program = std::fs::read(PROGRAM).expect("busybox-static is installed");
        let part = |kind: &str| folder.join(format!("{name}-{kind}.tar"));
        let own = command[0].trim_start_matches('/').to_owned();
        let other = UNKNOWN.trim_start_matches('/').to_owned();
        let changed = [&program[..], b"\n"].concat();
        write(&part("layer"), &[(own, &program), (other, &changed)]);
        let layer = std::fs::read(part("layer")).unwrap();
        let configuration = json!({
            "architecture": if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" }, "os": "linux",
            "config": {"Entrypoint": command, "Labels": {"name": name}},
            "rootfs": {"type": "layers", "diff_ids": [sha256(&layer)]},
        });
        let configuration = configuration.to_string().into_bytes();
        let described = |kind: &str, content: &[u8]| json!({"mediaType": kind, "digest": sha256(content), "size": content.len()});
        let manifest = json!({
            "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": described("application/vnd.oci.image.config.v1+json", &configuration),
            "layers": [described("application/vnd.oci.image.layer.v1.tar", &layer)],
        });
        let manifest = manifest.to_string().into_bytes();
        let reference = match tag {
            None => format!("registry.example/{name}@{}", sha256(&manifest)),
            Some(tag) => format!("registry.example/{name}:{tag}"),
        };
        let mut named = described("application/vnd.oci.image.manifest.v1+json", &manifest);
        named["annotations"] = json!({"io.containerd.image.name": reference});
        let index = json!({"schemaVersion": 2, "manifests": [named]}).to_string();
        let blob = |content: &[u8]| format!("blobs/sha256/{}", sha256(content).to_hex());
        write(
            &part("oci"),
            &[
                (
                    "oci-layout".to_owned(),
                    br#"{"imageLayoutVersion": "1.0.0"}"#,
                ),
                ("index.json".to_owned(), index.as_bytes()),
                (blob(&layer), &layer),
                (blob(&configuration), &configuration),
                (blob(&manifest), &manifest),
            ],
        );
        let config = format!("{}.json", sha256(&configuration).to_hex());
        let saved =
            json!([{"Config": config, "RepoTags": [format!("{name}:1")], "Layers": ["layer.tar"]}]);
        write(
            &part("saved"),
            &[
                ("manifest.json".to_owned(), saved.to_string().as_bytes()),
                (config, &configuration),
                ("layer.tar".to_owned(), &layer),
            ],
        );
        Image {
            reference,
            manifest: sha256(&manifest),
            configuration: sha256(&configuration),
            archive: part("oci"),
            saved: part("saved"),
        }
    }
}
