//! Archives that are sound, and those that somebody made to be misread.

use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};
use locus_core::{Severity, Sources};

use crate::loader::MemoryLoader;
use crate::tosca::{Options, Service, load};

/// An entry of an archive that a test makes, with what may be wrong about it.
#[derive(Clone)]
struct Made {
    name: Vec<u8>,
    content: Vec<u8>,
    deflate: bool,
    flags: u16,
    mode: u32,
    local_name: Option<Vec<u8>>,
    size: Option<u32>,
    method: Option<u16>,
}

fn made(name: &str, content: &str) -> Made {
    Made {
        name: name.into(),
        content: content.into(),
        deflate: true,
        flags: 1 << 11,
        mode: 0o100_644,
        local_name: None,
        size: None,
        method: None,
    }
}

fn zip(entries: &[Made]) -> Vec<u8> {
    let (mut data, mut directory) = (Vec::new(), Vec::new());
    for entry in entries {
        let offset = u32::try_from(data.len()).unwrap();
        let mut sum = flate2::Crc::new();
        sum.update(&entry.content);
        let packed = if entry.deflate {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(&entry.content).unwrap();
            encoder.finish().unwrap()
        } else {
            entry.content.clone()
        };
        let method = entry.method.unwrap_or(if entry.deflate { 8 } else { 0 });
        let size = entry
            .size
            .unwrap_or(u32::try_from(entry.content.len()).unwrap());
        let mut common = Vec::new();
        common.extend(20u16.to_le_bytes());
        common.extend(entry.flags.to_le_bytes());
        common.extend(method.to_le_bytes());
        common.extend([0; 4]);
        common.extend(sum.sum().to_le_bytes());
        common.extend(u32::try_from(packed.len()).unwrap().to_le_bytes());
        common.extend(size.to_le_bytes());
        let local = entry.local_name.as_ref().unwrap_or(&entry.name);
        data.extend(0x0403_4b50_u32.to_le_bytes());
        data.extend(&common);
        data.extend(u16::try_from(local.len()).unwrap().to_le_bytes());
        data.extend([0; 2]);
        data.extend(local);
        data.extend(&packed);
        directory.extend(0x0201_4b50_u32.to_le_bytes());
        directory.extend([20, 3]);
        directory.extend(&common);
        directory.extend(u16::try_from(entry.name.len()).unwrap().to_le_bytes());
        directory.extend([0; 8]);
        directory.extend((entry.mode << 16).to_le_bytes());
        directory.extend(offset.to_le_bytes());
        directory.extend(&entry.name);
    }
    let (start, size) = (data.len(), directory.len());
    data.extend(directory);
    data.extend(0x0605_4b50_u32.to_le_bytes());
    data.extend([0; 4]);
    let count = u16::try_from(entries.len()).unwrap().to_le_bytes();
    data.extend(count);
    data.extend(count);
    data.extend(u32::try_from(size).unwrap().to_le_bytes());
    data.extend(u32::try_from(start).unwrap().to_le_bytes());
    data.extend([0; 2]);
    data
}

fn tar(entries: &[(&str, u8, &str)]) -> Vec<u8> {
    let mut data = Vec::new();
    for (name, kind, content) in entries {
        let mut header = vec![0; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
        header[156] = *kind;
        header[257..265].copy_from_slice(b"ustar\x0000");
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
        header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        data.extend(header);
        data.extend(content.as_bytes());
        data.resize(data.len().next_multiple_of(512), 0);
    }
    data.resize(data.len() + 1024, 0);
    data
}

fn service(bytes: &[u8]) -> (Sources, Service) {
    let loader = MemoryLoader::new()
        .with("p.csar", bytes)
        .with("outside.yaml", SERVICE);
    let mut sources = Sources::new();
    let service = load("p.csar", &Options::default(), &loader, &mut sources);
    (sources, service)
}

/// What is told, as `severity place: message`.
fn told(bytes: &[u8]) -> Vec<String> {
    let (sources, service) = service(bytes);
    let all = service.diagnostics.iter().map(|told| (told, false));
    let all = all.chain(service.unchecked.iter().map(|told| (told, true)));
    all.map(|(told, unchecked)| {
        let at = told.primary().unwrap();
        let (name, line) = (sources.name(at.file), sources.start(at).line);
        let severity = match told.severity {
            _ if unchecked => "unchecked",
            Severity::Error => "error",
            _ => "warning",
        };
        format!("{severity} {name}:{line}: {}", told.message)
    })
    .collect()
}

const SERVICE: &str =
    "tosca_definitions_version: tosca_2_0\nservice_template:\n  node_templates: {}\n";
const META: &str = "TOSCA-Meta-File-Version: 1.1\nCSAR-Version: 1.1\nCreated-By: me\nEntry-Definitions: Definitions/a.yaml\n";
const SIMPLE: &str = "tosca_definitions_version: tosca_simple_yaml_1_3\nimports: [types/t.yaml]\ntopology_template:\n  node_templates:\n    a: {type: my.A}\n";
const TYPES: &str = "tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types:\n  my.A: {derived_from: tosca.nodes.Root}\n";

fn package(meta: &str, service: &str) -> Vec<Made> {
    vec![
        made("TOSCA-Metadata/TOSCA.meta", meta),
        made("Definitions/a.yaml", service),
        made("Definitions/types/t.yaml", TYPES),
    ]
}

#[test]
fn a_package_is_read_as_a_zip_and_as_a_tar() {
    let bytes = zip(&package(META, SIMPLE));
    let (_, service) = service(&bytes);
    assert_eq!(service.diagnostics, []);
    assert_eq!(service.unchecked, []);
    assert_eq!(service.files, ["p.csar"]);
    assert_eq!(service.graph.locations().count(), 1);
    let plain = tar(&[("a.yaml", b'0', SERVICE), ("d/", b'5', "")]);
    assert_eq!(told(&plain), [""; 0]);
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&plain).unwrap();
    assert_eq!(told(&packed.finish().unwrap()), [""; 0]);
}

#[test]
fn what_is_wrong_inside_is_told_with_archive_entry_and_line() {
    let wrong = SIMPLE.replace("my.A", "my.B");
    assert_eq!(
        told(&zip(&package(META, &wrong))),
        ["error p.csar!/Definitions/a.yaml:5: there is no node type `my.B`"]
    );
}

#[test]
fn the_meta_file_may_be_written_in_many_ways() {
    let metas = [
        "\u{feff}TOSCA-Meta-File-Version: 1.0\r\nCSAR-Version: 1.1\r\nCreated-By: a: b\r\nEntry-Definitions: Definitions/a.yaml",
        "TOSCA-Meta-File-Version: 1.0  \nCSAR-Version: 1.0\nEntry-Definitions:\n  Definitions/a.yaml\n\nName: x\nEntry-Definitions: y\n",
        "CSAR-Version: 1.1\nETSI-Entry-Manifest: a.mf\nEntry-Definitions: ./Definitions/a.yaml\n",
    ];
    for meta in metas {
        assert_eq!(told(&zip(&package(meta, SIMPLE))), [""; 0], "{meta}");
    }
    let doubtful = "# a licence\nTOSCA-Meta-Version: 1.0\nCSAR-Version: 1.1\nEntry-Definitions: Definitions/a.yaml\n";
    assert_eq!(
        told(&zip(&package(doubtful, SIMPLE))),
        [
            "warning p.csar!/TOSCA-Metadata/TOSCA.meta:1: comments are not part of a `TOSCA.meta`, and other programs may refuse it",
            "warning p.csar!/TOSCA-Metadata/TOSCA.meta:2: `TOSCA-Meta-Version` is not a key of TOSCA",
        ]
    );
}

#[test]
fn a_meta_file_that_names_no_service_is_refused() {
    let entry = |name: &str| format!("CSAR-Version: 1.1\nEntry-Definitions: {name}\n");
    let cases = [
        (
            "Definitions/b.yaml",
            "there is no file `Definitions/b.yaml` in the archive",
        ),
        (
            "/Definitions/a.yaml",
            "`/Definitions/a.yaml` has an absolute name",
        ),
        (
            "../outside.yaml",
            "`../outside.yaml` would leave the archive",
        ),
        (
            "Definitions",
            "`Definitions` is a folder, and a file is needed",
        ),
        (
            "Definitions\\a.yaml",
            "`Definitions\\a.yaml` has a backslash in its name, which some systems read as a separator",
        ),
        (
            "http://x/a.yaml",
            "`http://x/a.yaml` is an address, and a file of the archive is needed",
        ),
    ];
    for (name, message) in cases {
        let expected = format!("error p.csar!/TOSCA-Metadata/TOSCA.meta:2: {message}");
        assert_eq!(told(&zip(&package(&entry(name), SIMPLE))), [expected]);
    }
    let twice = format!("{}Entry-Definitions: x\n", entry("Definitions/a.yaml"));
    assert_eq!(
        told(&zip(&package(&twice, SIMPLE))),
        ["error p.csar!/TOSCA-Metadata/TOSCA.meta:3: `Entry-Definitions` is there twice"]
    );
    assert_eq!(
        told(&zip(&package("CSAR-Version: 3.0\n", SIMPLE))),
        [
            "error p.csar!/TOSCA-Metadata/TOSCA.meta:1: `3.0` is not a version of CSAR-Version",
            "error p.csar!/TOSCA-Metadata/TOSCA.meta:1: there is no `Entry-Definitions`, so it is not known which file is the service",
        ]
    );
}

#[test]
fn without_a_meta_file_the_one_tosca_file_at_the_root_is_the_service() {
    let other = made("values.yaml", "a: 1\n");
    let entries = [
        made("a.yaml", SERVICE),
        other.clone(),
        made("x/b.yaml", SERVICE),
    ];
    assert_eq!(told(&zip(&entries)), [""; 0]);
    let two = [made("a.yaml", SERVICE), made("b.yml", SERVICE)];
    assert_eq!(
        told(&zip(&two)),
        [
            "error p.csar:1: there is no `TOSCA-Metadata/TOSCA.meta`, and 2 TOSCA files are at the root of the archive: `a.yaml`, `b.yml`"
        ]
    );
    let (_, service) = service(&zip(&[made("top/a.yaml", SERVICE), made("top/x", "")]));
    let help = service.diagnostics[0].help.clone().unwrap();
    assert!(help.contains("the folder `top`"), "{help}");
    assert_eq!(told(&zip(&[other])).len(), 1);
}

#[test]
fn two_meta_files_are_refused_in_2_0_only() {
    let mut entries = package(META, SIMPLE);
    entries.push(made("TOSCA.meta", "CSAR-Version: 1.1\n"));
    assert_eq!(told(&zip(&entries)), [""; 0]);
    entries[3].content = b"CSAR-Version: 2.0\n".to_vec();
    assert!(told(&zip(&entries))[0].contains("there are two of them"));
}

#[test]
fn xml_and_signed_packages_are_named() {
    let meta = "CSAR-Version: 1.0\nEntry-Definitions: a.tosca\n";
    let entries = [
        made("TOSCA-Metadata/TOSCA.meta", meta),
        made("a.tosca", "<?xml version=\"1.0\"?><Definitions/>"),
    ];
    assert_eq!(
        told(&zip(&entries)),
        [
            "unchecked p.csar!/TOSCA-Metadata/TOSCA.meta:2: `p.csar!/a.tosca` is TOSCA 1.0 in XML, which cannot be checked"
        ]
    );
    let mut inner = made("inner.csar", "");
    inner.content = zip(&package(META, &SIMPLE.replace("my.A", "my.B")));
    let signed = [inner, made("inner.cms", "x"), made("inner.cert", "y")];
    assert_eq!(
        told(&zip(&signed)),
        [
            "warning p.csar:1: this is a signed package around `inner.csar`, whose signature is not verified",
            "error p.csar!/inner.csar!/Definitions/a.yaml:5: there is no node type `my.B`",
        ]
    );
}

#[test]
fn further_definitions_are_checked_when_they_can_be_substituted() {
    let meta =
        format!("{META}Other-Definitions: \"Definitions/o t.yaml\" Definitions/types/t.yaml\n");
    let mut entries = package(&meta, SIMPLE);
    let other = "tosca_definitions_version: tosca_simple_yaml_1_3\nimports: [types/t.yaml]\ntopology_template:\n  substitution_mappings: {node_type: my.A}\n  node_templates:\n    a: {type: my.A}\n    b: {type: my.C}\n";
    entries.push(made("Definitions/o t.yaml", other));
    assert_eq!(
        told(&zip(&entries)),
        [
            "error p.csar!/Definitions/o t.yaml:7: there is no node type `my.C`",
            "warning p.csar!/TOSCA-Metadata/TOSCA.meta:5: `Definitions/types/t.yaml` has no `substitution_mappings`, so nothing can use it and it is ignored",
        ]
    );
}

#[test]
fn nothing_is_read_from_outside_of_the_archive() {
    for import in [
        "../outside.yaml",
        "../../outside.yaml",
        "types/../../../outside.yaml",
    ] {
        let text = SIMPLE.replace("types/t.yaml", import);
        let all = told(&zip(&package(META, &text)));
        let refused = format!("error p.csar!/Definitions/a.yaml:2: `{import}` leaves the archive");
        let missing = format!(
            "error p.csar!/Definitions/a.yaml:2: cannot import `{import}`: there is no such file in the archive"
        );
        assert!(all.contains(&refused) || all.contains(&missing), "{all:?}");
    }
    let from_root = SIMPLE.replace("types/t.yaml", "/Definitions/types/t.yaml");
    assert_eq!(told(&zip(&package(META, &from_root))), [""; 0]);
}

#[test]
fn names_that_leave_the_archive_are_refused() {
    for (name, why) in [
        ("../a", "would leave the archive"),
        ("a/../../b", "would leave the archive"),
        ("/etc/passwd", "has an absolute name"),
        ("C:/a", "has an absolute name"),
        ("a\0b", "has a NUL in its name"),
        ("", "has no name"),
    ] {
        let all = told(&zip(&[made("a.yaml", SERVICE), made(name, "")]));
        assert_eq!(all.len(), 1);
        assert!(
            all[0].starts_with("error") && all[0].ends_with(why),
            "{all:?}"
        );
    }
    let all = told(&zip(&[made("a.yaml", SERVICE), made("a\\b", "")]));
    assert!(all[0].contains("has a backslash"), "{all:?}");
}

#[test]
fn links_and_devices_are_refused() {
    let mut link = made("link", "/etc/passwd");
    link.mode = 0o120_777;
    assert_eq!(
        told(&zip(&[made("a.yaml", SERVICE), link.clone()])),
        ["error p.csar:1: the entry `link` is a symbolic link, which is never followed"]
    );
    link.mode = 0o020_666;
    assert!(told(&zip(&[link]))[0].contains("is a device or pipe"));
    for (kind, what) in [
        (b'2', "symbolic link"),
        (b'1', "hard link"),
        (b'6', "device or pipe"),
    ] {
        let all = told(&tar(&[("a.yaml", b'0', SERVICE), ("x", kind, "")]));
        assert!(all[0].contains(what), "{all:?}");
    }
}

#[test]
fn two_entries_with_one_name_are_refused() {
    let entries = [made("a.yaml", SERVICE), made("./a.yaml", "other: 1\n")];
    assert_eq!(
        told(&zip(&entries)),
        ["error p.csar:1: there are two entries `a.yaml`"]
    );
    assert_eq!(
        told(&tar(&[("a.yaml", b'0', SERVICE), ("a.yaml", b'0', "x")])),
        ["error p.csar:1: there are two entries `a.yaml`"]
    );
    let near = [made("a.yaml", SERVICE), made("A.YAML", "other: 1\n")];
    assert_eq!(
        told(&zip(&near)),
        [
            "warning p.csar:1: the entries `a.yaml` and `A.YAML` differ in case only, and are one file on some systems"
        ]
    );
    let folder = [made("a.yaml", SERVICE), made("a.yaml/b", "")];
    assert_eq!(
        told(&zip(&folder)),
        ["error p.csar:1: `a.yaml` is a file and a folder"]
    );
}

#[test]
fn bombs_are_not_unpacked() {
    let mut bomb = made("bomb", "");
    bomb.content = vec![0; 20_000_000];
    let all = told(&zip(&[made("a.yaml", SERVICE), bomb.clone()]));
    assert_eq!(
        all,
        [
            "unchecked p.csar:1: the entry `bomb` unpacks to 20000000 bytes, more than 200 times its size, and is not read"
        ]
    );
    // One that says to be small.
    bomb.size = Some(10);
    let all = told(&zip(&[made("a.yaml", SERVICE), bomb]));
    assert!(
        all[0].contains("does not have the size that it says"),
        "{all:?}"
    );
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&vec![0; 30_000_000]).unwrap();
    let all = told(&packed.finish().unwrap());
    assert!(
        all[0].starts_with("unchecked p.csar:1: the archive unpacks to more than"),
        "{all:?}"
    );
    let many: Vec<Made> = (0..10_001).map(|n| made(&n.to_string(), "")).collect();
    assert!(told(&zip(&many))[0].contains("10001 entries"));
}

#[test]
fn headers_that_disagree_are_refused() {
    let mut other = made("a.yaml", SERVICE);
    other.local_name = Some(b"b.yaml".to_vec());
    let all = told(&zip(&[other]));
    assert!(all[0].contains("disagree"), "{all:?}");
    let mut encrypted = made("a.yaml", SERVICE);
    encrypted.flags |= 1;
    assert!(told(&zip(&[encrypted]))[0].contains("is encrypted"));
    let mut method = made("a.yaml", SERVICE);
    method.method = Some(14);
    assert!(told(&zip(&[method]))[0].contains("compressed with LZMA"));
    let good = zip(&[made("a.yaml", SERVICE)]);
    let mut damaged = good.clone();
    damaged[40] ^= 0xff;
    let all = told(&damaged);
    assert!(all[0].contains("`a.yaml`"), "{all:?}");
    let before = [b"PK\x03\x04junk", good.as_slice()].concat();
    assert!(told(&before)[0].starts_with("error p.csar:1:"));
    let after = [good.as_slice(), b"junk"].concat();
    assert!(told(&after)[0].contains("4 bytes follow"));
}

#[test]
fn what_programs_read_differently_in_a_tar_is_refused() {
    let whole = tar(&[("a.yaml", b'0', SERVICE)]);
    let second = tar(&[("a.yaml", b'0', "other: 1\n")]);
    for after in [b"junk".as_slice(), second.as_slice()] {
        let all = told(&[whole.as_slice(), after].concat());
        assert!(all[0].contains("follows the end"), "{all:?}");
    }
    assert!(told(&[whole.as_slice(), &[0; 4096]].concat()).is_empty());
    let pax = |kind: u8, record: &str| {
        let length = record.len() + 4;
        let content = format!("{length} {record}\n");
        assert_eq!(content.len(), length, "two digits");
        let entries = [("pax", kind, content.as_str()), ("a.yaml", b'0', SERVICE)];
        told(&tar(&entries))
    };
    assert!(pax(b'x', "path=b.yaml").is_empty());
    assert!(pax(b'g', "comment=made today").is_empty());
    for (kind, record) in [
        (b'x', "size=99999999"),
        (b'g', "size=00000001"),
        (b'g', "path=b.yaml"),
    ] {
        let all = pax(kind, record);
        assert!(all[0].contains("in two ways"), "{all:?}");
    }
    let broken = [("pax", b'x', "99 path=b.yaml\n"), ("a.yaml", b'0', SERVICE)];
    assert!(told(&tar(&broken))[0].contains("cannot be read"));
}

#[test]
fn a_part_of_an_archive_is_refused_and_never_a_panic() {
    let good = zip(&package(META, SIMPLE));
    for end in 4..good.len() {
        assert!(!told(&good[..end]).is_empty(), "{end} bytes");
    }
    let plain = tar(&[("a.yaml", b'0', SERVICE)]);
    for end in (300..plain.len() - 1024).step_by(7) {
        told(&plain[..end]);
    }
    for at in 0..good.len() {
        for bit in [1, 0x80, 0xff] {
            let mut changed = good.clone();
            changed[at] ^= bit;
            let (_, service) = service_or_none(&changed);
            drop(service);
        }
    }
}

fn service_or_none(bytes: &[u8]) -> (Sources, Option<Service>) {
    if !super::is_archive(bytes) {
        return (Sources::new(), None);
    }
    let (sources, service) = service(bytes);
    (sources, Some(service))
}

#[test]
fn artifacts_are_in_the_archive_and_what_they_say() {
    let text = "tosca_definitions_version: tosca_2_0\nartifact_types: {F: {}}\nnode_types:\n  N:\n    artifacts:\n      a: {type: F, file: files/a.txt, checksum: 0cc175b9c0f1b6a831c399e269772661, checksum_algorithm: MD5}\n      b: {type: F, file: files/b.txt}\n      c: {type: F, file: /files/a.txt, checksum: abc, checksum_algorithm: SHA-256}\n      d: {type: F, file: \"https://x/y\"}\nservice_template:\n  node_templates: {}\n";
    assert_eq!(
        told(&zip(&[made("a.yaml", text), made("files/a.txt", "a")])),
        [
            "error p.csar!/a.yaml:7: the artifact `files/b.txt` is not in the archive",
            "error p.csar!/a.yaml:8: `files/a.txt` does not have this checksum: it is ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
        ]
    );
}

/// All files of a folder, by their names from there.
fn folder(root: &std::path::Path, below: &str, entries: &mut Vec<Made>) {
    for entry in std::fs::read_dir(root.join(below)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let name = if below.is_empty() {
            name
        } else {
            format!("{below}/{name}")
        };
        if entry.path().is_dir() {
            folder(root, &name, entries);
        } else {
            let text = std::fs::read_to_string(entry.path()).unwrap();
            entries.push(made(&name, &text));
        }
    }
}

#[test]
fn the_example_is_a_sound_package() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/tosca/package");
    let mut entries = Vec::new();
    folder(&root, "", &mut entries);
    let bytes = zip(&entries);
    assert_eq!(told(&bytes), [""; 0]);
    assert_eq!(service(&bytes).1.graph.len(), 3);
    entries.retain(|entry| entry.name != b"Scripts/start.sh");
    assert_eq!(
        told(&zip(&entries)),
        [
            "warning p.csar!/Definitions/types/worker.yaml:14: the artifact `../../Scripts/start.sh` is not in the archive"
        ]
    );
}
