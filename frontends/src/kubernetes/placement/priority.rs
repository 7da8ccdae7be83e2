//! Which pods come first when not all fit.

use crate::kubernetes::access::Access as _;
use crate::kubernetes::model::{Model, Workload};
use crate::kubernetes::object::Object;

/// The priority of pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Priority {
    /// Pods with the higher number come first.
    pub(super) value: i64,
    /// Whether pods of lower priority are driven out for them.
    pub(super) preempts: bool,
}

/// The classes that every cluster has.
const BUILTIN: [(&str, i64); 2] = [
    ("system-node-critical", 2_000_001_000),
    ("system-cluster-critical", 2_000_000_000),
];

impl Priority {
    /// That of the pods of a workload: of their class, or of the class that holds where none is named.
    pub(super) fn of(model: &Model<'_>, workload: &Workload<'_>) -> Priority {
        let spec = workload.spec;
        let named = spec.str_of("priorityClassName");
        let named = named.filter(|name| !name.is_empty());
        let class = match named {
            Some(name) => {
                let found = model.find("PriorityClass", None, name);
                found.and_then(|at| model.object(at))
            }
            None => global(model),
        };
        let builtin = named.and_then(|name| BUILTIN.iter().find(|(known, _)| *known == name));
        let value = spec
            .int_of("priority")
            .or_else(|| class.and_then(|class| class.node.int_of("value")))
            .or(builtin.map(|(_, value)| *value));
        let policy = spec
            .str_of("preemptionPolicy")
            .or_else(|| class.and_then(|class| class.node.str_of("preemptionPolicy")));
        Priority {
            value: value.unwrap_or(0),
            preempts: policy != Some("Never"),
        }
    }
}

/// The class that holds where none is named: of several, the one with the lowest value.
fn global<'o>(model: &Model<'o>) -> Option<&'o Object> {
    if !model.has_kind("PriorityClass") {
        return None;
    }
    let classes = model.objects.iter().filter(|object| {
        object.is("scheduling.k8s.io", "PriorityClass")
            && object.node.bool_of("globalDefault") == Some(true)
    });
    classes.min_by_key(|class| class.node.int_of("value").unwrap_or(0))
}
