//! Reference values from images in all their packagings, and from images that lie.
#![expect(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

use std::fs;
use std::io::Write as _;
use std::path::Path;

use locus_attestation::digest::{Digest, HashAlg};
use locus_attestation::reference::{ImageError, ImageOptions, ImageReference, from_image};

fn sha256(bytes: &[u8]) -> Digest {
    HashAlg::Sha256.hash(&[bytes])
}

fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (path, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_mode(0o755);
        header.set_size(content.len() as u64);
        builder.append_data(&mut header, path, *content).unwrap();
    }
    builder.into_inner().unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

/// Three layers, in the three compressions; the second hides a file of the first.
fn layers() -> [Vec<u8>; 3] {
    [
        tar(&[("bin/app", b"one"), ("etc/secret", b"x")]),
        tar(&[("etc/.wh.secret", b"")]),
        tar(&[("bin/app", b"two")]),
    ]
}

fn expected() -> Vec<(String, Digest)> {
    vec![("/bin/app".to_owned(), sha256(b"two"))]
}

fn files_of(image: &ImageReference) -> Vec<(String, Digest)> {
    image
        .files
        .iter()
        .flat_map(|(path, digests)| digests.iter().map(|digest| (path.to_string(), *digest)))
        .collect()
}

fn config() -> Vec<u8> {
    let ids: Vec<String> = layers()
        .iter()
        .map(|layer| sha256(layer).to_string())
        .collect();
    serde_json::to_vec(&serde_json::json!({"rootfs": {"type": "layers", "diff_ids": ids}})).unwrap()
}

/// The parts of an OCI layout, by name; the image is for two platforms.
fn oci() -> Vec<(String, Vec<u8>)> {
    let [first, second, third] = layers();
    let blobs = [first, gzip(&second), zstd(&third)];
    let mut parts = Vec::new();
    let mut add = |bytes: Vec<u8>| {
        let digest = sha256(&bytes);
        parts.push((format!("blobs/sha256/{}", digest.to_hex()), bytes));
        digest.to_string()
    };
    let layers: Vec<_> = blobs
        .into_iter()
        .map(|blob| serde_json::json!({"digest": add(blob)}))
        .collect();
    let manifest = serde_json::json!({"config": {"digest": add(config())}, "layers": layers});
    let manifest = add(serde_json::to_vec(&manifest).unwrap());
    let platform =
        |architecture: &str| serde_json::json!({"os": "linux", "architecture": architecture});
    let index = serde_json::json!({"manifests": [
        {"digest": manifest, "platform": platform("riscv64")},
        {"digest": sha256(b"elsewhere").to_string(), "platform": platform("s390x")},
    ]});
    let index = add(serde_json::to_vec(&index).unwrap());
    let top = serde_json::json!({"manifests": [{
        "digest": index,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "annotations": {"org.opencontainers.image.ref.name": "app:2"},
    }]});
    parts.push(("index.json".to_owned(), serde_json::to_vec(&top).unwrap()));
    parts.push(("oci-layout".to_owned(), b"{}".to_vec()));
    parts
}

fn options() -> ImageOptions {
    ImageOptions {
        platform: ("linux".to_owned(), "riscv64".to_owned()),
        ..ImageOptions::default()
    }
}

fn as_folder(parts: &[(String, Vec<u8>)], folder: &Path) {
    for (name, bytes) in parts {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

fn as_archive(parts: &[(String, Vec<u8>)]) -> Vec<u8> {
    let parts: Vec<(&str, &[u8])> = parts
        .iter()
        .map(|(name, bytes)| (name.as_str(), bytes.as_slice()))
        .collect();
    tar(&parts)
}

#[test]
fn an_oci_layout_is_read_as_folder_and_as_archive() {
    let folder = tempfile::tempdir().unwrap();
    as_folder(&oci(), &folder.path().join("layout"));
    fs::write(folder.path().join("plain.tar"), as_archive(&oci())).unwrap();
    fs::write(
        folder.path().join("small.tar.gz"),
        gzip(&as_archive(&oci())),
    )
    .unwrap();
    for name in ["layout", "plain.tar", "small.tar.gz"] {
        let (found, image) = from_image(&folder.path().join(name), &options()).unwrap();
        assert_eq!(found.as_deref(), Some("app:2"), "{name}");
        assert_eq!(files_of(&image), expected(), "{name}");
        // The index, the manifest and the configuration: a cluster may give any of them.
        assert_eq!(image.digests.len(), 3, "{name}");
        assert!(image.digests.contains(&sha256(&config())), "{name}");
    }
}

#[test]
fn another_platform_is_not_taken_instead() {
    let folder = tempfile::tempdir().unwrap();
    as_folder(&oci(), folder.path());
    let mut other = options();
    other.platform.1 = "mips".to_owned();
    assert!(matches!(
        from_image(folder.path(), &other),
        Err(ImageError::NoSuchImage { present, .. }) if present == ["linux/riscv64", "linux/s390x"]
    ));
}

#[test]
fn a_changed_part_is_noticed() {
    let honest = oci();
    for place in 0..honest.len() {
        if !honest[place].0.starts_with("blobs/") {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let mut parts = honest.clone();
        let middle = parts[place].1.len() / 2;
        parts[place].1[middle] ^= 1;
        as_folder(&parts, folder.path());
        assert!(
            from_image(folder.path(), &options()).is_err(),
            "{}",
            parts[place].0
        );
    }
}

fn docker_save(config_name: &str) -> Vec<(String, Vec<u8>)> {
    let [first, second, third] = layers();
    let manifest = serde_json::json!([{
        "Config": config_name,
        "RepoTags": ["app:2"],
        "Layers": ["1/layer.tar", "2/layer.tar", "3/layer.tar"],
    }]);
    vec![
        ("1/layer.tar".to_owned(), first),
        ("2/layer.tar".to_owned(), second),
        ("3/layer.tar".to_owned(), third),
        (config_name.to_owned(), config()),
        (
            "manifest.json".to_owned(),
            serde_json::to_vec(&manifest).unwrap(),
        ),
    ]
}

#[test]
fn an_archive_of_docker_save_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("saved.tar");
    let name = format!("{}.json", sha256(&config()).to_hex());
    fs::write(&path, as_archive(&docker_save(&name))).unwrap();
    let (found, image) = from_image(&path, &ImageOptions::default()).unwrap();
    assert_eq!(found.as_deref(), Some("app:2"));
    assert_eq!(files_of(&image), expected());
    assert_eq!(image.digests, [sha256(&config())].into());
    let other = ImageOptions {
        name: Some("other:1".to_owned()),
        ..ImageOptions::default()
    };
    assert!(matches!(
        from_image(&path, &other),
        Err(ImageError::NoSuchImage { .. })
    ));
    // A configuration under a name that is not its digest.
    fs::write(&path, as_archive(&docker_save("config.json"))).unwrap();
    assert!(matches!(
        from_image(&path, &ImageOptions::default()),
        Err(ImageError::Document { .. })
    ));
}

#[test]
fn what_is_no_image_is_said_to_be_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for bytes in [&b""[..], b"hello", &tar(&[("readme", b"x")])] {
        fs::write(&path, bytes).unwrap();
        assert!(matches!(
            from_image(&path, &ImageOptions::default()),
            Err(ImageError::Unrecognised(_))
        ));
    }
    assert!(matches!(
        from_image(&folder.path().join("none"), &ImageOptions::default()),
        Err(ImageError::Read { .. })
    ));
}
