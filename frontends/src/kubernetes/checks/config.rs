//! ConfigMaps, Secrets and definitions of custom resources.

use locus_core::Diagnostic;

use super::Here;
use crate::kubernetes::access::Access as _;
use crate::kubernetes::cel::bytes;
use crate::kubernetes::text;
use crate::yaml::Node;

/// The most bytes that a ConfigMap or Secret holds.
const MOST: usize = 1024 * 1024;

/// Types of Secrets and the keys they must have.
const SECRETS: &[(&str, &[&str])] = &[
    ("kubernetes.io/tls", &["tls.crt", "tls.key"]),
    ("kubernetes.io/dockercfg", &[".dockercfg"]),
    ("kubernetes.io/dockerconfigjson", &[".dockerconfigjson"]),
    ("kubernetes.io/ssh-auth", &["ssh-privatekey"]),
];

pub(super) fn check(name: &str, here: &mut Here<'_, '_, '_>) {
    match name {
        "ConfigMap" => keys(here, &["data", "binaryData"]),
        "Secret" => {
            keys(here, &["data", "stringData"]);
            secret(here);
            registry(here);
        }
        _ => {}
    }
}

fn keys(here: &mut Here<'_, '_, '_>, maps: &[&str]) {
    let mut bytes = 0;
    for map in maps {
        for entry in here.node.some(map).map_or(&[][..], Node::entries) {
            let Some(key) = entry.name() else {
                continue;
            };
            bytes += entry.value.as_str().map_or(0, str::len);
            if !text::is_data_key(key) {
                let message = format!("`{key}` is not a valid key");
                let help = "use letters, digits, `-`, `_` and `.`, at most 253 characters";
                here.value(message, entry.key.span, help);
            }
        }
    }
    // Base64 takes a third more than what it stands for.
    if bytes > MOST * 4 / 3 + 4
        || (maps.contains(&"binaryData") && here.node.some("binaryData").is_none() && bytes > MOST)
    {
        let message = format!("the object holds {bytes} bytes; at most {MOST} are stored");
        let at = here.at;
        here.value(message, at, "split it, or use a volume");
    }
    if maps.contains(&"binaryData") {
        let data = here.node.some("data");
        for entry in here.node.some("binaryData").map_or(&[][..], Node::entries) {
            let key = entry.name().map_or("", |name| name);
            if data.and_then(|data| data.get(key)).is_some() {
                let message = format!("the key `{key}` is in both `data` and `binaryData`");
                here.fields(message, entry.key.span, "remove one of them");
            }
        }
    }
}

fn secret(here: &mut Here<'_, '_, '_>) {
    let Some(kind) = here.node.text_of("type") else {
        return;
    };
    let has = |key: &str| {
        let maps = ["data", "stringData"].iter();
        maps.filter_map(|map| here.node.some(map))
            .any(|map| map.get(key).is_some())
    };
    let missing: Vec<&str> = match &*kind.text {
        "kubernetes.io/basic-auth" if !has("username") && !has("password") => vec!["username"],
        "kubernetes.io/service-account-token" => {
            let name = here.node.at(&[
                "metadata",
                "annotations",
                "kubernetes.io/service-account.name",
            ]);
            if name.is_none() {
                let message =
                    "a token needs the annotation `kubernetes.io/service-account.name`".to_owned();
                here.fields(
                    message,
                    kind.span,
                    "name the service account that the token is for",
                );
            }
            return;
        }
        other => {
            let known = SECRETS.iter().find(|(name, _)| *name == other);
            let keys = known.map_or(&[][..], |(_, keys)| keys).iter();
            keys.copied().filter(|key| !has(key)).collect()
        }
    };
    for key in missing {
        let message = format!("a Secret of type `{}` needs the key `{key}`", kind.text);
        here.fields(
            message,
            kind.span,
            format!("add `{key}`, or use `type: Opaque`"),
        );
    }
}

/// Logins for registries of images are objects in JSON.
fn registry(here: &mut Here<'_, '_, '_>) {
    let key = match here.node.str_of("type") {
        Some("kubernetes.io/dockercfg") => ".dockercfg",
        Some("kubernetes.io/dockerconfigjson") => ".dockerconfigjson",
        _ => return,
    };
    // What is written as text takes the place of what is encoded.
    let plain = here
        .node
        .some("stringData")
        .and_then(|map| map.text_of(key));
    let given = match plain {
        Some(given) => Some((given.text.to_string(), given.span)),
        None => here
            .node
            .some("data")
            .and_then(|map| map.text_of(key))
            .and_then(|given| {
                let decoded = String::from_utf8(bytes::decoded(&given.text)?).ok()?;
                Some((decoded, given.span))
            }),
    };
    let Some((json, span)) = given else {
        return;
    };
    let read = serde_json::from_str::<serde_json::Value>(&json);
    let wrong = match read {
        Ok(value) if value.is_object() || value.is_null() => return,
        Ok(_) => "is not an object".to_owned(),
        Err(error) => format!(
            "is not JSON: line {}, column {}",
            error.line(),
            error.column()
        ),
    };
    let message = format!("what `{key}` holds {wrong}");
    here.value(
        message,
        span,
        "write it as in `{\"auths\": {\"registry.example.org\": {\"auth\": \"...\"}}}`",
    );
}

/// Checks a definition of custom resources.
pub(super) fn definition(name: &str, here: &mut Here<'_, '_, '_>) {
    match name {
        "CustomResourceDefinition" => custom(here),
        "CustomResourceDefinitionVersion"
            if here.node.at(&["schema", "openAPIV3Schema"]).is_some() =>
        {
            super::schemas::check(here);
        }
        "CustomResourceDefinitionVersion"
            if here.node.at(&["schema", "openAPIV3Schema"]).is_none() =>
        {
            let message = "a version of a custom resource needs a schema".to_owned();
            let at = here.at;
            let diagnostic = Diagnostic::error("k8s-missing-field", message).at(at);
            here.push(diagnostic.help("add `schema.openAPIV3Schema`"));
        }
        "CustomResourceDefinitionSpec" => {
            here.syntax(
                "scope",
                is_scope,
                "a scope",
                "use `Namespaced` or `Cluster`",
            );
            let versions = here.node.items("versions");
            let stored = versions
                .iter()
                .filter(|v| v.bool_of("storage") == Some(true));
            let stored = stored.count();
            if stored != 1 && !versions.is_empty() {
                let message = format!("{stored} versions are stored; exactly one must be");
                let span = here.key_span("versions");
                here.fields(message, span, "set `storage: true` for one version");
            }
        }
        _ => {}
    }
}

fn is_scope(text: &str) -> bool {
    matches!(text, "Namespaced" | "Cluster")
}

fn custom(here: &mut Here<'_, '_, '_>) {
    let spec = here.node.some("spec");
    let group = spec.and_then(|spec| spec.str_of("group"));
    let plural = here
        .node
        .at(&["spec", "names", "plural"])
        .and_then(Node::as_str);
    let name = here
        .node
        .some("metadata")
        .and_then(|metadata| metadata.text_of("name"));
    if let (Some(group), Some(plural), Some(name)) = (group, plural, name)
        && *name.text != format!("{plural}.{group}")
    {
        let message =
            format!("the name must be `{plural}.{group}`, of `spec.names.plural` and `spec.group`");
        here.value(message, name.span, "rename the definition");
    }
}
