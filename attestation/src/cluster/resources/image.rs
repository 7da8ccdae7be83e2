//! An image that pods may run, by its digests.

use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

/// An image that is known, as registries and runtimes call it and as an archive of it does.
#[derive(CustomResource, KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[kube(
    group = "locus.dev",
    version = "v1alpha1",
    kind = "ReferenceImage",
    derive = "PartialEq",
    category = "locus",
    doc = "An image that pods may run, by digest.",
    printcolumn(name = "Image", type_ = "string", json_path = ".spec.image"),
    printcolumn(name = "Digest", type_ = "string", json_path = ".spec.manifest"),
    printcolumn(name = "Exempt", type_ = "string", json_path = ".spec.exempt.reason")
)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("self.manifest == oldSelf.manifest").message("another digest is another image: make another ReferenceImage"))]
pub struct ReferenceImageSpec {
    /// The name in the reference values.
    #[schemars(length(min = 1, max = 255))]
    pub image: String,
    /// The digest of the manifest, by which pods name it and containerd reports it.
    #[schemars(regex(pattern = r"^sha256:[0-9a-f]{64}$"))]
    pub manifest: String,
    /// The digest of the configuration, by which `docker save` and older runtimes call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^sha256:[0-9a-f]{64}$"))]
    pub configuration: Option<String>,
    /// Pods that run nothing but exempt images are let in unchecked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exempt: Option<Exemption>,
}

/// Why an image needs no check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Exemption {
    /// Why.
    #[schemars(length(min = 1, max = 500))]
    pub reason: String,
    /// Where, by the names of namespaces (`team-*` for all that start so); everywhere if there are none. Whoever makes pods there
    /// runs the image with any command and rights.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000))]
    pub namespaces: Vec<String>,
}
