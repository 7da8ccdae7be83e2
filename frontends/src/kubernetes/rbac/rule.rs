//! Rules of roles, and what they allow, as the authorizer of the API server decides it.

use std::sync::Arc;

use locus_core::Span;

use crate::kubernetes::access::Access as _;
use crate::yaml::Node;

/// A rule of a role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyRule {
    /// What may be done.
    pub verbs: Vec<Arc<str>>,
    /// Of which groups; that of the core is empty.
    pub groups: Vec<Arc<str>>,
    /// With which resources, subresources after a slash.
    pub resources: Vec<Arc<str>>,
    /// The only objects it is about; all when there are none.
    pub names: Vec<Arc<str>>,
    /// Paths that are no resources.
    pub urls: Vec<Arc<str>>,
    /// Where it is written: its key `verbs`; none for a rule of a role that every cluster has.
    pub span: Option<Span>,
}

/// Something to be done with a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action<'a> {
    /// The verb.
    pub verb: &'a str,
    /// The group; none when any will do.
    pub group: Option<&'a str>,
    /// The resource, without a subresource.
    pub resource: &'a str,
    /// The subresource, or nothing.
    pub subresource: &'a str,
    /// The object; none when all objects are meant, or a new one.
    pub name: Option<&'a str>,
}

impl<'a> Action<'a> {
    /// Something to be done with all objects of a resource, as in `("create", "", "pods/exec")`.
    pub fn of(verb: &'a str, group: &'a str, resource: &'a str) -> Self {
        let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        Action {
            verb,
            group: Some(group),
            resource,
            subresource,
            name: None,
        }
    }
}

fn has(words: &[Arc<str>], wanted: &str) -> bool {
    words.iter().any(|word| &**word == "*" || &**word == wanted)
}

impl PolicyRule {
    /// Reads a rule.
    pub fn read(node: &Node) -> PolicyRule {
        let texts = |key: &str| node.texts(key).into_iter().map(|text| text.text).collect();
        let span = node.some_entry("verbs").map(|entry| entry.key.span);
        PolicyRule {
            verbs: texts("verbs"),
            groups: texts("apiGroups"),
            resources: texts("resources"),
            names: texts("resourceNames"),
            urls: texts("nonResourceURLs"),
            span: Some(span.unwrap_or(node.span)),
        }
    }

    /// Whether it is about a verb, group and resource, for whichever objects.
    pub fn covers(&self, action: &Action<'_>) -> bool {
        let group = match action.group {
            Some(group) => has(&self.groups, group),
            None => !self.groups.is_empty(),
        };
        let resource = self.resources.iter().any(|word| {
            &**word == "*"
                || match word.split_once('/') {
                    Some((resource, subresource)) => {
                        subresource == action.subresource
                            && !subresource.is_empty()
                            && (resource == action.resource || resource == "*")
                    }
                    None => action.subresource.is_empty() && &**word == action.resource,
                }
        });
        has(&self.verbs, action.verb) && group && resource
    }

    /// Whether it is about an object, or about all when none is named.
    pub fn is_about(&self, name: Option<&str>) -> bool {
        self.names.is_empty() || name.is_some_and(|name| self.names.iter().any(|n| **n == *name))
    }

    /// Whether it allows an action.
    pub fn allows(&self, action: &Action<'_>) -> bool {
        self.covers(action) && self.is_about(action.name)
    }

    /// Whether it allows a verb on a path that is no resource.
    pub fn allows_url(&self, verb: &str, url: &str) -> bool {
        let matches = |word: &Arc<str>| match word.strip_suffix('*') {
            Some(start) => url.starts_with(start),
            None => **word == *url,
        };
        has(&self.verbs, verb) && self.urls.iter().any(matches)
    }

    /// Whether it allows everything with all resources.
    pub fn is_everything(&self) -> bool {
        let star = |words: &[Arc<str>]| words.iter().any(|word| &**word == "*");
        star(&self.verbs) && star(&self.groups) && star(&self.resources) && self.names.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(verbs: &str, groups: &str, resources: &str, names: &str) -> PolicyRule {
        let words = |text: &str| {
            let words = text.split(' ').filter(|word| !word.is_empty());
            words
                .map(|word| if word == "core" { "" } else { word }.into())
                .collect()
        };
        PolicyRule {
            verbs: words(verbs),
            groups: words(groups),
            resources: words(resources),
            names: words(names),
            ..PolicyRule::default()
        }
    }

    #[test]
    fn wildcards_and_subresources_are_matched_as_the_server_does() {
        let pods = rule("get list", "core", "pods", "");
        assert!(pods.allows(&Action::of("get", "", "pods")));
        assert!(!pods.allows(&Action::of("get", "", "pods/log")));
        assert!(!pods.allows(&Action::of("watch", "", "pods")));
        assert!(!pods.allows(&Action::of("get", "apps", "pods")));
        let scale = rule("*", "*", "*/scale", "");
        assert!(scale.allows(&Action::of("patch", "apps", "deployments/scale")));
        assert!(!scale.allows(&Action::of("patch", "apps", "deployments")));
        let all = rule("*", "core", "*", "");
        assert!(all.allows(&Action::of("create", "", "pods/exec")));
        assert!(!all.is_everything());
        // `pods/*` is no wildcard.
        let star = rule("get", "core", "pods/*", "");
        assert!(!star.allows(&Action::of("get", "", "pods/log")));
    }

    #[test]
    fn names_limit_what_is_about_all_objects() {
        let named = rule("get create", "core", "secrets", "a b");
        let one = |name| Action {
            name,
            ..Action::of("get", "", "secrets")
        };
        assert!(named.allows(&one(Some("a"))));
        assert!(!named.allows(&one(Some("c"))));
        assert!(!named.allows(&one(None)));
        assert!(named.covers(&one(None)));
    }

    #[test]
    fn urls_end_in_a_wildcard() {
        let rule = PolicyRule {
            verbs: vec!["get".into()],
            urls: vec!["/healthz".into(), "/logs/*".into()],
            ..PolicyRule::default()
        };
        assert!(rule.allows_url("get", "/healthz"));
        assert!(!rule.allows_url("get", "/healthz/ping"));
        assert!(rule.allows_url("get", "/logs/kubelet"));
        assert!(!rule.allows_url("post", "/healthz"));
    }
}
