//! Whose control group a path is: the host's, a pod's, or a container's without a pod.
//!
//! | driver   | path |
//! |----------|------|
//! | cgroupfs | `/kubepods/burstable/pod<uid>/<container>` |
//! | systemd  | `/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod<uid>.slice/cri-containerd-<container>.scope` |
//!
//! Guaranteed pods have no part for their class; CRI-O and docker use their own prefix of the scope;
//! cgroup v1 and v2 differ only in what may follow below the container.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::digest::encode_hex;

/// The unique identifier of a pod: a UUID, or the hash that stands for it in static pods.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PodUid {
    id: u128,
    dashed: bool,
}

impl PodUid {
    /// From its text; systemd writes underscores where the dashes are.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let dashed = match text.len() {
            36 => true,
            32 => false,
            _ => return None,
        };
        let mut id = 0_u128;
        for (place, byte) in text.iter().enumerate() {
            if dashed && matches!(place, 8 | 13 | 18 | 23) {
                if !matches!(byte, b'-' | b'_') {
                    return None;
                }
                continue;
            }
            let digit = match byte {
                b'0'..=b'9' => byte - b'0',
                b'a'..=b'f' => byte - b'a' + 10,
                _ => return None,
            };
            id = id << 4 | u128::from(digit);
        }
        Some(PodUid { id, dashed })
    }
}

impl fmt::Display for PodUid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{:032x}", self.id);
        if !self.dashed {
            return f.write_str(&digits);
        }
        for (place, digit) in digits.chars().enumerate() {
            if matches!(place, 8 | 12 | 16 | 20) {
                f.write_str("-")?;
            }
            write!(f, "{digit}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for PodUid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The identifier that a container runtime gives a container: 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ContainerId([u8; 32]);

impl std::hash::Hash for ContainerId {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        // All have one size, so it need not be hashed with them.
        state.write(&self.0);
    }
}

impl ContainerId {
    /// From its text, with or without a scheme such as `containerd://`.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let scheme = text.windows(3).position(|window| window == b"://");
        let digits = match scheme {
            Some(place) => text.get(place + 3..)?,
            None => text,
        };
        if digits.len() != 64 || digits.iter().any(u8::is_ascii_uppercase) {
            return None;
        }
        let bytes = crate::digest::decode_hex(digits)?;
        Some(ContainerId(bytes.try_into().ok()?))
    }
}

impl fmt::Display for ContainerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&encode_hex(&self.0))
    }
}

impl fmt::Debug for ContainerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

macro_rules! as_text {
    ($type:ident, $error:literal) => {
        impl FromStr for $type {
            type Err = &'static str;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $type::parse(text.as_bytes()).ok_or($error)
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
as_text!(
    PodUid,
    "a pod's identifier is a UUID, or 32 hexadecimal digits"
);
as_text!(
    ContainerId,
    "a container's identifier has 64 hexadecimal digits"
);

crate::schema::text_schema!(
    PodUid,
    "^([0-9a-f]{32}|[0-9a-f]{8}([_-][0-9a-f]{4}){3}[_-][0-9a-f]{12})$",
    "The unique identifier of a pod: a UUID, or the 32 digits of the hash that stands for it in static \
     pods. Lower case; dashes may be written as underscores, and answers have dashes."
);
crate::schema::text_schema!(
    ContainerId,
    "^([^:]*://)?[0-9a-f]{64}$",
    "The identifier that a container runtime gives a container: 64 lower-case hexadecimal digits. A \
     scheme such as `containerd://` may come before them, and is not in answers."
);

/// Whose control group a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CgroupOwner<'a> {
    /// The host; with the systemd unit, if the path ends in one.
    Host {
        /// The last part of the path, such as `containerd.service`.
        unit: &'a [u8],
    },
    /// A pod, and the container in it when the path goes that far.
    Pod {
        /// The pod.
        uid: PodUid,
        /// The container.
        container: Option<ContainerId>,
    },
    /// The process that watches a container from outside (`conmon`): part of the runtime.
    Monitor,
    /// A container that belongs to no pod, or whose pod the path does not tell.
    Container(ContainerId),
    /// Below the pods' own branch, and no pod: not to be taken for the host.
    Unrecognised,
}

/// Says whose control group a path is.
///
/// The outermost pod counts: a container may create groups below its own with any name it likes.
pub fn owner_of(path: &[u8]) -> CgroupOwner<'_> {
    let mut parts = path
        .split(|byte| *byte == b'/')
        .filter(|part| !part.is_empty());
    let mut below_kubepods = false;
    let mut container = None;
    let mut last: &[u8] = b"";
    while let Some(part) = parts.next() {
        last = part;
        if part == b"user.slice" {
            // A user's own branch is delegated to that user: names in it prove nothing.
            return CgroupOwner::Host { unit: part };
        }
        if let Some(found) = pod_in(part, below_kubepods) {
            return match found {
                PodPart::Whole(uid) => match parts.next().map(container_in) {
                    Some(ContainerPart::Monitor) => CgroupOwner::Monitor,
                    Some(ContainerPart::Container(id)) => CgroupOwner::Pod {
                        uid,
                        container: Some(id),
                    },
                    _ => CgroupOwner::Pod {
                        uid,
                        container: None,
                    },
                },
                PodPart::WithContainer(uid, container) => CgroupOwner::Pod { uid, container },
            };
        }
        below_kubepods |= is_kubepods(part);
        if !below_kubepods && container.is_none() {
            match container_in(part) {
                ContainerPart::Container(id) => container = Some(id),
                ContainerPart::Monitor => return CgroupOwner::Monitor,
                ContainerPart::Other => {}
            }
        }
    }
    match (below_kubepods, container) {
        (true, _) => CgroupOwner::Unrecognised,
        (false, Some(id)) => CgroupOwner::Container(id),
        (false, None) => CgroupOwner::Host { unit: last },
    }
}

/// Whether a part is the branch of all pods, or of a class of them, in either driver's spelling.
fn is_kubepods(part: &[u8]) -> bool {
    let stem = part.strip_suffix(b".slice").unwrap_or(part);
    stem.split(|byte| *byte == b'-')
        .any(|word| word == b"kubepods")
}

enum PodPart {
    Whole(PodUid),
    WithContainer(PodUid, Option<ContainerId>),
}

fn pod_in(part: &[u8], below_kubepods: bool) -> Option<PodPart> {
    if below_kubepods && let Some(uid) = part.strip_prefix(b"pod").and_then(PodUid::parse) {
        return Some(PodPart::Whole(uid));
    }
    // `slice:prefix:container`, when the runtime and the kubelet disagree about the driver.
    let (slice, rest) = match part.iter().position(|byte| *byte == b':') {
        Some(colon) => (part.get(..colon)?, part.get(colon + 1..)),
        None => (part, None),
    };
    let stem = slice.strip_suffix(b".slice")?;
    if !is_kubepods(slice) {
        return None;
    }
    let uid = [36, 32].into_iter().find_map(|len| {
        let at = stem.len().checked_sub(len)?;
        let (before, uid) = stem.split_at_checked(at)?;
        before.strip_suffix(b"-pod")?;
        PodUid::parse(uid)
    })?;
    Some(match rest {
        None => PodPart::Whole(uid),
        Some(rest) => {
            let id = rest.rsplit(|byte| *byte == b':').next();
            PodPart::WithContainer(uid, id.and_then(ContainerId::parse))
        }
    })
}

enum ContainerPart {
    Container(ContainerId),
    Monitor,
    Other,
}

/// The prefixes that runtimes put before the identifier of a container.
const PREFIXES: [&[u8]; 5] = [
    b"cri-containerd-",
    b"crio-",
    b"docker-",
    b"libpod-",
    b"nerdctl-",
];

fn container_in(part: &[u8]) -> ContainerPart {
    let stem = part.strip_suffix(b".scope").unwrap_or(part);
    if let Some(id) = ContainerId::parse(stem) {
        return ContainerPart::Container(id);
    }
    for prefix in PREFIXES {
        let Some(rest) = stem.strip_prefix(prefix) else {
            continue;
        };
        if let Some(id) = ContainerId::parse(rest) {
            return ContainerPart::Container(id);
        }
        if rest
            .strip_prefix(b"conmon-")
            .is_some_and(|id| ContainerId::parse(id).is_some())
        {
            return ContainerPart::Monitor;
        }
    }
    ContainerPart::Other
}

#[cfg(test)]
mod tests {
    use super::*;

    const UID: &str = "a00d22c4-3bfb-41d5-abad-493937e6ce50";
    const UID_: &str = "a00d22c4_3bfb_41d5_abad_493937e6ce50";
    const OTHER: &str = "c2cec21e-a96a-463f-bcec-f3166aeb29b7";
    const STATIC: &str = "0123456789abcdef0123456789abcdef";
    const CID: &str = "45b9356be09e2a4283a414ab7aefe3aa212dda8632043a764361a32717763643";

    fn pod(uid: &str, container: bool) -> CgroupOwner<'static> {
        CgroupOwner::Pod {
            uid: uid.parse().unwrap(),
            container: container.then(|| CID.parse().unwrap()),
        }
    }

    #[test]
    fn pods_of_every_driver_and_runtime() {
        let paths = [
            format!("/kubepods/burstable/pod{UID}/{CID}"),
            format!("/kubepods/besteffort/pod{UID}/{CID}"),
            format!("/kubepods/pod{UID}/{CID}"),
            format!("kubepods/besteffort/pod{UID}/{CID}"),
            format!("/kubepods/burstable/pod{UID}/crio-{CID}"),
            format!("/kubepods/burstable/pod{UID}/{CID}/init.scope"),
            format!("/kubelet/kubepods/pod{UID}/{CID}"),
            format!(
                "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod{UID_}.slice/cri-containerd-{CID}.scope"
            ),
            format!(
                "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{UID_}.slice/crio-{CID}.scope"
            ),
            format!(
                "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{UID_}.slice/crio-{CID}.scope/container/x"
            ),
            format!("/kubepods.slice/kubepods-pod{UID_}.slice/docker-{CID}.scope"),
            format!(
                "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/kubelet-kubepods-besteffort-pod{UID_}.slice/cri-containerd-{CID}.scope"
            ),
            format!(
                "/system.slice/containerd.service/kubepods-besteffort-pod{UID_}.slice:cri-containerd:{CID}"
            ),
            format!(
                "/docker/{}/kubelet/kubepods/besteffort/pod{UID}/{CID}",
                "ab".repeat(32)
            ),
        ];
        for path in paths {
            assert_eq!(owner_of(path.as_bytes()), pod(UID, true), "{path}");
        }
    }

    #[test]
    fn pods_without_a_container_and_static_pods() {
        let slice = format!("/kubepods.slice/kubepods-pod{UID_}.slice");
        assert_eq!(owner_of(slice.as_bytes()), pod(UID, false));
        let fs = format!("/kubepods/burstable/pod{STATIC}/{CID}");
        assert_eq!(owner_of(fs.as_bytes()), pod(STATIC, true));
        let systemd = format!(
            "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{STATIC}.slice/cri-containerd-{CID}.scope"
        );
        assert_eq!(owner_of(systemd.as_bytes()), pod(STATIC, true));
    }

    #[test]
    fn a_container_cannot_name_itself_into_another_pod() {
        let path =
            format!("/kubepods/besteffort/pod{UID}/{CID}/kubepods/besteffort/pod{OTHER}/{CID}");
        assert_eq!(owner_of(path.as_bytes()), pod(UID, true));
        let path =
            format!("/user.slice/user-1000.slice/user@1000.service/kubepods/pod{OTHER}/{CID}");
        assert!(matches!(
            owner_of(path.as_bytes()),
            CgroupOwner::Host { .. }
        ));
        let path = format!("/system.slice/pod{OTHER}/x");
        assert_eq!(owner_of(path.as_bytes()), CgroupOwner::Host { unit: b"x" });
    }

    #[test]
    fn what_is_below_kubepods_is_never_the_host() {
        for path in [
            "/kubepods".to_owned(),
            "/kubepods.slice/kubepods-besteffort.slice".to_owned(),
            "/kubepods/besteffort/pod-not-a-uid/x".to_owned(),
            format!("/kubepods/burstable/podA00D22C4-3BFB-41D5-ABAD-493937E6CE50/{CID}"),
            format!("/kubepods.slice/kubepods-podzz{UID_}.slice/cri-containerd-{CID}.scope"),
        ] {
            assert_eq!(
                owner_of(path.as_bytes()),
                CgroupOwner::Unrecognised,
                "{path}"
            );
        }
    }

    #[test]
    fn containers_without_pods_monitors_and_the_host() {
        let cid = CID.parse().unwrap();
        for path in [
            format!("/docker/{CID}"),
            format!("/system.slice/docker-{CID}.scope"),
            format!("/machine.slice/libpod-{CID}.scope"),
            CID.to_owned(),
        ] {
            assert_eq!(
                owner_of(path.as_bytes()),
                CgroupOwner::Container(cid),
                "{path}"
            );
        }
        for path in [
            format!("/kubepods.slice/kubepods-pod{UID_}.slice/crio-conmon-{CID}.scope"),
            format!("/machine.slice/libpod-conmon-{CID}.scope"),
        ] {
            assert_eq!(owner_of(path.as_bytes()), CgroupOwner::Monitor, "{path}");
        }
        assert_eq!(owner_of(b"/"), CgroupOwner::Host { unit: b"" });
        assert_eq!(
            owner_of(b"/system.slice/containerd.service"),
            CgroupOwner::Host {
                unit: b"containerd.service"
            }
        );
    }

    #[test]
    fn identifiers_show_as_they_were() {
        for text in [UID, STATIC] {
            assert_eq!(text.parse::<PodUid>().unwrap().to_string(), text);
        }
        assert_eq!(UID_.parse::<PodUid>(), UID.parse::<PodUid>());
        let id: ContainerId = format!("containerd://{CID}").parse().unwrap();
        assert_eq!(id.to_string(), CID);
        assert!("".parse::<PodUid>().is_err());
        assert!("abc".parse::<ContainerId>().is_err());
    }
}
