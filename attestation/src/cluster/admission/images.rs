//! Every image that a pod runs or mounts, and whether it is known.

use serde_json::Value;

use super::Problem;
use crate::cluster::known::Known;
use crate::cluster::object::{field, items, text};

/// The lists of containers of a pod.
pub(super) const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// An image, and where it is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageUse {
    /// Where, from the specification of the pod on.
    pub path: String,
    /// The image as it is written.
    pub reference: String,
}

impl ImageUse {
    /// The digest in it.
    pub fn digest(&self) -> Option<&str> {
        let (name, digest) = self.reference.rsplit_once('@')?;
        let hex = digest.strip_prefix("sha256:")?;
        let right = hex.len() == 64
            && hex
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        (right && !name.is_empty() && !name.contains('@')).then_some(digest)
    }
}

/// The images of a pod's specification: of all containers of every kind, and of volumes that are images.
pub fn images(spec: &Value) -> Vec<ImageUse> {
    let mut found = Vec::new();
    for list in CONTAINERS {
        for (index, container) in items(field(spec, list)).iter().enumerate() {
            found.push(ImageUse {
                path: format!("{list}[{index}].image"),
                reference: text(container, &["image"]).to_owned(),
            });
        }
    }
    for (index, volume) in items(field(spec, "volumes")).iter().enumerate() {
        if volume.get("image").is_some() {
            found.push(ImageUse {
                path: format!("volumes[{index}].image.reference"),
                reference: text(volume, &["image", "reference"]).to_owned(),
            });
        }
    }
    found
}

/// Whether a pod of a namespace runs nothing but images that need no check there.
pub fn is_exempt(spec: &Value, namespace: &str, known: &Known) -> bool {
    let images = images(spec);
    let exempt = |image: &ImageUse| {
        let digest = image.digest();
        digest.is_some_and(|digest| known.exempts(digest, namespace))
    };
    !images.is_empty() && images.iter().all(exempt)
}

/// What is wrong with the images of a pod, whose specification is at `path`.
pub fn problems(spec: &Value, path: &str, known: &Known) -> Vec<Problem> {
    let mut found = Vec::new();
    for image in images(spec) {
        let reference = &image.reference;
        let at = Some(format!("{path}.{}", image.path));
        match image.digest() {
            None => {
                let name = reference.split('@').next().unwrap_or_default();
                found.push(Problem {
                    code: "image-digest".to_owned(),
                    at,
                    message: format!("the image `{reference}` is not named by its digest: what a tag means can change"),
                    fix: Some(format!("write `{name}@sha256:...`")),
                });
            }
            Some(digest) if known.reference(digest).is_none() => found.push(Problem {
                code: "image-unknown".to_owned(),
                at,
                message: format!("the image `{reference}` is in no reference value"),
                fix: Some(
                    "have the operator enter the image's reference values and make a ReferenceImage of it"
                        .to_owned(),
                ),
            }),
            Some(_) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const DIGEST: &str = "sha256:9341b6548cc35b64a6de0085555264336e2f570e17ecff20190bf62222f2bd64";

    fn image(reference: &str) -> ImageUse {
        ImageUse {
            path: String::new(),
            reference: reference.to_owned(),
        }
    }

    #[test]
    fn a_digest_is_whole_or_none() {
        assert_eq!(image(&format!("redis@{DIGEST}")).digest(), Some(DIGEST));
        assert_eq!(
            image(&format!("r.example:5000/redis:7@{DIGEST}")).digest(),
            Some(DIGEST)
        );
        for wrong in [
            "redis".to_owned(),
            "redis:7".to_owned(),
            format!("@{DIGEST}"),
            format!("redis@{DIGEST}@{DIGEST}"),
            format!("redis@{}", DIGEST.to_uppercase()),
            format!("redis@{}", &DIGEST[..70]),
            format!("redis@{DIGEST}0"),
            "redis@sha512:00".to_owned(),
        ] {
            assert_eq!(image(&wrong).digest(), None, "{wrong}");
        }
    }

    #[test]
    fn no_kind_of_container_and_no_volume_escapes() {
        let spec = json!({
            "containers": [{"image": "a"}, {"image": "b"}],
            "initContainers": [{"image": "c"}],
            "ephemeralContainers": [{"image": "d"}],
            "volumes": [{"name": "x"}, {"name": "y", "image": {"reference": "e"}}],
        });
        let all: Vec<String> = images(&spec)
            .into_iter()
            .map(|image| image.reference)
            .collect();
        assert_eq!(all, ["a", "b", "c", "d", "e"]);
        assert_eq!(problems(&spec, "spec", &Known::default()).len(), 5);
    }

    #[test]
    fn a_pod_is_exempt_only_by_all_its_digests() {
        let mut known = Known::default();
        let entry = |name: &str, digest: &str, reason: &str| json!({"metadata": {"name": name}, "spec": {"manifest": digest, "exempt": {"reason": reason}}});
        let other = DIGEST.replace('9', "8");
        known.replace(
            "ReferenceImage",
            [entry("a", DIGEST, "ours"), entry("b", &other, "")],
        );
        let pod = |images: &[&str]| {
            let containers: Vec<Value> = images
                .iter()
                .map(|digest| json!({"image": format!("x@{digest}")}))
                .collect();
            json!({"containers": containers})
        };
        let exempt = |pod: &Value, known: &Known| is_exempt(pod, "shop", known);
        assert!(exempt(&pod(&[DIGEST]), &known));
        assert!(!exempt(&pod(&[DIGEST, &other]), &known));
        assert!(
            !exempt(&json!({}), &known),
            "a pod without images is not exempt"
        );
        let tagged = json!({"containers": [{"image": "x:latest"}]});
        assert!(!exempt(&tagged, &known));
        // A second entry for the same digest cannot widen what the first allows.
        let mut elsewhere = entry("c", DIGEST, "ours");
        elsewhere["spec"]["exempt"]["namespaces"] = json!(["bank", "team-*"]);
        known.put("ReferenceImage", elsewhere);
        assert!(!exempt(&pod(&[DIGEST]), &known));
        for (namespace, expected) in [("bank", true), ("team-a", true), ("banks", false)] {
            let found = is_exempt(&pod(&[DIGEST]), namespace, &known);
            assert_eq!(found, expected, "{namespace}");
        }
        known.put("ReferenceImage", entry("c", DIGEST, ""));
        assert!(!exempt(&pod(&[DIGEST]), &known));
    }
}
