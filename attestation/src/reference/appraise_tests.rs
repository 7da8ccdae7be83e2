use super::super::model::{ImageReference, OsReference, RuntimeReference};
use super::*;
use crate::reference::HostReference;

fn digest(content: &str) -> Digest {
    HashAlg::Sha256.hash(&[content.as_bytes()])
}

fn files(names: &[&str]) -> FileSet {
    names
        .iter()
        .map(|name| ((*name).into(), [digest(name)].into()))
        .collect()
}

fn image(name: &str, paths: &[&str]) -> (String, ImageReference) {
    (
        name.to_owned(),
        ImageReference {
            digests: [digest(name)].into(),
            sandbox: name == "pause",
            files: files(paths),
        },
    )
}

fn check_pod(
    list: &Whitelist,
    images: &[ContainerImage],
    measured: &BTreeMap<Option<ContainerId>, Vec<Measured<'_>>>,
) -> Vec<Mismatch> {
    let measured = measured.iter();
    list.check_pod(
        images,
        measured.map(|(container, files)| (*container, files.iter().copied())),
    )
}

fn whitelist() -> Whitelist {
    Whitelist::new(&ReferenceValues {
        os: [(
            "debian-12".to_owned(),
            OsReference {
                boot_aggregates: [digest("boot"), digest("other boot")].into(),
            },
        )]
        .into(),
        images: [
            image("app", &["/app", "/lib/a b.so"]),
            image("sidecar", &["/log"]),
            image("pause", &["/pause"]),
        ]
        .into(),
        runtimes: [(
            "/usr/bin/containerd".to_owned(),
            RuntimeReference {
                files: files(&["/usr/bin/containerd", "/usr/bin/runc"]),
            },
        )]
        .into(),
        hosts: [(
            "debian-12".to_owned(),
            HostReference {
                files: files(&["/usr/bin/bash"]),
            },
        )]
        .into(),
    })
}

/// As if it stood in a log.
fn stands(digest: Digest) -> DigestRef<'static> {
    DigestRef::from(&*Box::leak(Box::new(digest)))
}

fn measured(path: &'static str) -> Measured<'static> {
    Measured {
        path: path.as_bytes(),
        digest: Some(stands(digest(path))),
    }
}

fn id(byte: &str) -> ContainerId {
    byte.repeat(32).parse().unwrap()
}

fn listed(name: &str, container: Option<&str>) -> ContainerImage {
    ContainerImage {
        container: container.map(id),
        name: name.to_owned(),
        digest: digest(name),
    }
}

#[test]
fn several_boots_may_be_accepted() {
    let list = whitelist();
    assert_eq!(list.check_boot("debian-12", digest("boot")), Ok(()));
    assert_eq!(list.check_boot("debian-12", digest("other boot")), Ok(()));
    assert!(matches!(
        list.check_boot("debian-12", digest("rootkit")),
        Err(Mismatch::Boot { .. })
    ));
    assert!(matches!(
        list.check_boot("plan9", digest("boot")),
        Err(Mismatch::UnknownOs(_))
    ));
}

#[test]
fn each_container_is_held_to_its_own_image() {
    let list = whitelist();
    let pod = [listed("app", Some("aa")), listed("sidecar", Some("bb"))];
    let honest = [
        (
            Some(id("aa")),
            vec![measured("/app"), measured("/usr/bin/runc")],
        ),
        (Some(id("bb")), vec![measured("/log")]),
        (Some(id("cc")), vec![measured("/pause")]),
        (None, vec![measured("/usr/bin/runc")]),
    ]
    .into();
    assert_eq!(check_pod(&list, &pod, &honest), []);
    let crossed = [(Some(id("bb")), vec![measured("/app")])].into();
    assert_eq!(
        check_pod(&list, &pod, &crossed),
        [Mismatch::UnknownFile {
            path: "/app".to_owned(),
            owner: "the images of the pod".to_owned()
        }]
    );
}

/// Attack 9: a container that nobody looked up.
#[test]
fn a_container_that_is_not_listed_is_refused() {
    let list = whitelist();
    let pod = [listed("app", Some("aa"))];
    let ephemeral = [(Some(id("dd")), vec![measured("/app")])].into();
    assert_eq!(
        check_pod(&list, &pod, &ephemeral),
        [Mismatch::UnknownContainer {
            path: "/app".to_owned(),
            container: id("dd")
        }]
    );
}

/// Attack 9 again: every image is looked up, not only the first.
#[test]
fn every_image_of_a_pod_must_be_known() {
    let list = whitelist();
    let pod = [
        listed("app", Some("aa")),
        listed("miner", Some("bb")),
        listed("backdoor", None),
    ];
    let mismatches = check_pod(&list, &pod, &BTreeMap::new());
    assert_eq!(mismatches.len(), 2);
    assert!(matches!(&mismatches[0], Mismatch::UnknownImage(name) if name.starts_with("miner@")));
}

#[test]
fn a_changed_file_is_told_from_an_unknown_one() {
    let list = whitelist();
    let pod = [listed("app", Some("aa"))];
    let check =
        |file: Measured<'static>| check_pod(&list, &pod, &[(Some(id("aa")), vec![file])].into());
    let changed = Measured {
        path: b"/app",
        digest: Some(stands(digest("trojan"))),
    };
    assert!(matches!(check(changed)[..], [Mismatch::ChangedFile { .. }]));
    let other_alg = Measured {
        path: b"/app",
        digest: Some(stands(HashAlg::Sha1.hash(&[b"/app"]))),
    };
    assert!(matches!(
        check(other_alg)[..],
        [Mismatch::NoAlgorithm {
            alg: HashAlg::Sha1,
            ..
        }]
    ));
    let none = Measured {
        path: b"/app",
        digest: None,
    };
    assert!(matches!(check(none)[..], [Mismatch::NoDigest { .. }]));
    let blank = Measured {
        path: b"/lib/a_b.so",
        digest: Some(stands(digest("/lib/a b.so"))),
    };
    assert_eq!(check(blank), [], "the kernel writes blanks as underscores");
}

/// Attack 14: a dependency of the runtime that does not match is a failure, whatever else is there.
#[test]
fn every_dependency_of_the_runtime_must_match() {
    let list = whitelist();
    assert_eq!(
        list.check_runtime(&[measured("/usr/bin/containerd"), measured("/usr/bin/runc")]),
        []
    );
    let bad = Measured {
        path: b"/usr/bin/runc",
        digest: Some(stands(digest("trojan"))),
    };
    assert!(matches!(
        list.check_runtime(&[measured("/usr/bin/containerd"), bad])[..],
        [Mismatch::ChangedFile { .. }]
    ));
    assert!(matches!(
        list.check_runtime(&[measured("/usr/bin/containerd"), measured("/opt/x")])[..],
        [Mismatch::UnknownFile { .. }]
    ));
    assert_eq!(list.check_runtime(&[]), [Mismatch::NoRuntime]);
}

#[test]
fn a_log_without_groups_is_judged_by_content() {
    let list = whitelist();
    let pods: BTreeSet<Digest> = [listed("app", None).digest].into();
    let unexplained = |images: &BTreeSet<Digest>, files: &[Measured<'static>]| {
        list.unexplained(images, files.iter().copied()).count()
    };
    let elsewhere = Measured {
        path: b"/var/lib/overlay/app",
        digest: Some(stands(digest("/app"))),
    };
    let fine = [
        measured("/usr/bin/bash"),
        measured("/usr/bin/runc"),
        elsewhere,
    ];
    assert_eq!(unexplained(&pods, &fine), 0);
    assert_eq!(
        unexplained(&BTreeSet::new(), &[elsewhere]),
        1,
        "an image that no pod uses explains nothing"
    );
    assert_eq!(unexplained(&pods, &[measured("/miner")]), 1);
    assert_eq!(list.check_host(&[measured("/usr/bin/bash")]), []);
    assert_eq!(list.check_host(&[measured("/app")]).len(), 1);
}
