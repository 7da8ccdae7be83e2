/** Rules about requirements and what meets them. */
module tosca/requirements

open tosca/vocabulary
open values

/** TOSCA001 target-lacks-capability error: the target of a requirement does not have the capability
 * message: `{a.owner}` requires `{a}` of `{t}`, which has no capability of type `{w}`
 * at: a "has no such capability"
 * also: t "the target"
 * help: name a node that has a capability of type `{w}`, or one that derives from it
 * why: No relationship can be made, so the node cannot be deployed.
 * source: TOSCA 1.3, 3.7.3 and 3.8.2; TOSCA 2.0, 8.5; RR-9317, section 5.1
 */
assert TargetsHaveTheCapability {
  all a: Assignment, t: a.target, w: a.wanted |
    t.complete = True implies some c: t.capabilities | w in c.type.is
}

/** TOSCA002 target-of-wrong-type error: the target of a requirement is not of the node type that is required
 * message: `{a.owner}` requires `{a}` of a node of type `{w}`, and `{t}` is not one
 * at: a "is not a `{w}`"
 * also: t "the target"
 * help: name a node of type `{w}`, or of a type that derives from it
 * why: The type of the source says what it can work with.
 * source: TOSCA 1.3, 3.7.3; TOSCA 2.0, 8.4; RR-9317, section 5.1
 */
assert TargetsAreOfTheNodeType {
  all a: Assignment, t: a.target, w: a.wanted_node |
    t.complete = True implies w in t.type.is
}

/** TOSCA003 relationship-of-wrong-type error: the relationship of a requirement is not of the type that is defined
 * message: `{a}` of `{a.owner}` uses a relationship of type `{r}`, and its type wants `{w}`
 * at: a "leads to the target"
 * help: use `{w}`, or a type that derives from it
 * why: What the relationship does to both ends is not what the type relies on.
 * source: TOSCA 1.3, 3.7.3; TOSCA 2.0, 8.4; RR-9317, section 5.2
 */
assert RelationshipsAreOfTheType {
  all a: Assignment, r: a.relationship, w: a.slot.relationship | w in r.is
}

/** TOSCA004 relationship-not-to-capability error: a relationship cannot lead to this type of capability
 * message: a relationship of type `{r}` cannot lead to `{c}` of `{c.owner}`, which is a `{c.type}`
 * at: a "leads to it"
 * help: use another relationship type, or a capability that is a `{r.admits}`
 * why: The relationship type lists the capability types that it may lead to.
 * source: TOSCA 1.3, 3.7.10 (`valid_target_types`); TOSCA 2.0, 7.3 (`valid_capability_types`)
 */
assert RelationshipsLeadToWhatTheyMay {
  all a: Assignment, r: a.relationship, c: a.capability |
    (some r.admits and some c.type) implies some r.admits & c.type.is
}

/** TOSCA005 source-not-allowed error: a capability does not accept nodes of this type
 * message: `{s}` uses `{c}` of `{c.owner}`, which accepts nodes of other types only
 * at: a "uses it"
 * also: c "accepts `{c.sources}`"
 * help: use another capability, or let `{s}` be a `{c.sources}`
 * why: The capability lists the node types that may use it.
 * source: TOSCA 1.3, 3.7.2 (`valid_source_types`); TOSCA 2.0, 8.2 (`valid_source_node_types`)
 */
assert CapabilitiesAcceptTheirSources {
  all a: Assignment, c: a.capability, s: a.owner |
    (some c.sources and s.complete = True) implies some c.sources & s.type.is
}

/** TOSCA006 requirement-too-often error: a requirement is assigned more often than its type allows
 * message: `{s.owner}` assigns `{s}` {s.assigned} times, and at most {s.most} are allowed
 * at: s "one too many"
 * help: remove some, or allow more in the type
 * why: The type says how many there can be.
 * source: TOSCA 1.3, 3.7.3 (`occurrences`); TOSCA 2.0, 8.5.4 (`count_range`)
 */
assert RequirementsAreNotAssignedTooOften {
  all s: Slot | not less[s.most, s.assigned]
}

/** TOSCA007 requirement-missing error: a requirement is assigned less often than its type demands
 * message: `{s.owner}` assigns `{s}` {s.certain} times, and at least {s.least} are required
 * at: s "requires `{s}`"
 * help: assign `{s}` in the `requirements` of `{s.owner}`
 * why: Without it the node does not have what it needs.
 * source: TOSCA 1.3, 3.7.3 (`occurrences`); TOSCA 2.0, 8.5.4 (`count_range`); RR-9317, section 5.2
 */
assert RequirementsAreAssignedOftenEnough {
  all s: Slot | not less[s.certain, s.least]
}

/** TOSCA008 capability-used-too-often error: more relationships lead to a capability than it allows
 * message: {c.incoming} relationships lead to `{c}` of `{c.owner}`, and at most {c.most} are allowed
 * at: c "is used too often"
 * help: let some of them lead to another node
 * why: The capability says how many it can serve.
 * source: TOSCA 1.3, 3.7.2 (`occurrences`); RR-9317, section 5.2
 */
assert CapabilitiesAreNotUsedTooOften {
  all c: Capability | not less[c.most, c.incoming]
}

/** TOSCA009 requirement-cannot-be-met error: nothing in the topology can meet a requirement that must be met there
 * message: no node of this topology can be the target of `{a}` of `{a.owner}`
 * at: a "must be met within the topology"
 * also: a.first_reason "{a.first_reason}"
 * also: a.second_reason "{a.second_reason}"
 * also: a.third_reason "{a.third_reason}"
 * help: add a node with a capability of type `{a.wanted}`, or name a target
 * why: It may not be met from outside: its directives say `internal`, or the check was asked for with `--closed`.
 * source: TOSCA 2.0, 8.5.2
 */
assert InternalRequirementsCanBeMet {
  all a: Assignment |
    (a.unbound = True and a.internal = True and a.optional = False) implies some a.candidates
}

/** TOSCA010 requirement-left-open warning: nothing in the topology can meet an open requirement
 * message: no node of this topology can be the target of `{a}` of `{a.owner}`
 * at: a "must be met from outside"
 * also: a.first_reason "{a.first_reason}"
 * also: a.second_reason "{a.second_reason}"
 * also: a.third_reason "{a.third_reason}"
 * help: add a node with a capability of type `{a.wanted}`, or make sure that the orchestrator knows one
 * why: It is legal, as the requirement may be met by something that is deployed already; without that, deployment fails.
 * source: TOSCA 2.0, 8.5.2; RR-9317, section 5.1
 */
assert OpenRequirementsCanBeMet {
  all a: Assignment |
    (a.unbound = True and a.internal = False and a.optional = False) implies some a.candidates
}

/** TOSCA011 requirements-cannot-be-met-together error: open requirements that must be met in the topology need more than it has
 * message: `{s.names}` cannot all be met: there is not enough for all of them in `{s.nodes}`
 * at: s "one of them"
 * help: they need {s.wanted} relationships, and there is room for {s.places}: add a node that fits, or let a capability take more
 * help: add a node that fits, or allocate less
 * why: Without any one of them the others could be met. They may not be met from outside: their directives say `internal`, or the check was asked for with `--closed`.
 * source: TOSCA 1.3, 3.7.2 (`occurrences`); TOSCA 2.0, 8.5.2 and 8.5.5
 */
assert InternalRequirementsCanBeMetTogether {
  all s: Shortage | s.internal = True implies (some s.places and not less[s.places, s.wanted])
}

/** TOSCA012 requirements-left-open-together warning: open requirements need more than the topology has
 * message: `{s.names}` cannot all be met in this topology: there is not enough for all of them in `{s.nodes}`
 * at: s "one of them must be met from outside"
 * help: they need {s.wanted} relationships, and there is room for {s.places}: add a node that fits, or make sure that the orchestrator knows one
 * help: add a node that fits, or make sure that the orchestrator knows one
 * why: Without any one of them the others could be met.
 * source: TOSCA 1.3, 3.7.2 (`occurrences`); TOSCA 2.0, 8.5.2 and 8.5.5
 */
assert OpenRequirementsCanBeMetTogether {
  all s: Shortage | s.internal = False implies (some s.places and not less[s.places, s.wanted])
}

/** TOSCA013 allocated-too-much error: requirements allocate more of a capability than it has
 * message: `{a.names}` allocate more than the {a.there} of `{a.property}` that `{a.capability}` of `{a.capability.owner}` has
 * at: a "allocates too much"
 * also: a.capability "has {a.there}"
 * help: allocate less, or let some of them use another node
 * why: What is allocated to one is not there for the others.
 * source: TOSCA 2.0, 8.5.5
 */
assert AllocationsAreThere {
  all a: Allocation | a.enough = True
}

/** TOSCA014 target-fails-filter warning: the target of a requirement does not fulfil its node filter
 * message: `{a.target}` is the target of `{a}` of `{a.owner}` and does not fulfil its filter: {r}
 * at: a "names `{a.target}`"
 * also: r "not fulfilled"
 * help: name another node, or change the filter
 * why: The filter says what the source relies on.
 * source: TOSCA 1.3, 3.8.2 (`node_filter`); TOSCA 2.0, 8.6
 */
assert TargetsFulfilTheFilter {
  all a: Assignment, r: Reason | r not in a.unfulfilled
}

/** TOSCA015 relationship-not-to-node error: a relationship cannot lead to this type of node
 * message: a relationship of type `{r}` cannot lead to `{t}`, which is a `{t.type}`
 * at: a "leads to it"
 * also: t "the target"
 * help: use another relationship type, or a target that is a `{r.targets}`
 * why: The relationship type lists the node types that it may lead to.
 * source: TOSCA 2.0, 7.3 (`valid_target_node_types`)
 */
assert RelationshipsLeadToNodesTheyMay {
  all a: Assignment, r: a.relationship, t: a.target |
    (some r.targets and t.complete = True) implies some r.targets & t.type.is
}

/** TOSCA016 relationship-not-from-node error: a relationship cannot come from this type of node
 * message: a relationship of type `{r}` cannot come from `{s}`, which is a `{s.type}`
 * at: a "comes from it"
 * help: use another relationship type
 * why: The relationship type lists the node types that it may come from.
 * source: TOSCA 2.0, 7.3 (`valid_source_node_types`)
 */
assert RelationshipsComeFromNodesTheyMay {
  all a: Assignment, r: a.relationship, s: a.owner |
    (some r.sources and s.complete = True) implies some r.sources & s.type.is
}

/** TOSCA017 capability-not-by-relationship error: a capability does not accept relationships of this type
 * message: `{c}` of `{c.owner}` does not accept relationships of type `{r}`
 * at: a "leads to it"
 * also: c "accepts `{c.relationships}`"
 * help: use another relationship type, or another capability
 * why: The capability lists the types of relationships that may lead to it.
 * source: TOSCA 2.0, 8.2 (`valid_relationship_types`)
 */
assert CapabilitiesAcceptTheirRelationships {
  all a: Assignment, r: a.relationship, c: a.capability |
    some c.relationships implies some c.relationships & r.is
}

/** TOSCA018 requirement-never-met error: no capability can meet a requirement of a type
 * message: no capability can meet `{d}` of `{d.owner}`: none is a `{d.wanted}` that a relationship of type `{d.relationship}` may lead to
 * at: d "can never be met"
 * also: d.relationship "may lead to `{d.relationship.admits}`"
 * help: name another relationship type, or a capability that it may lead to
 * why: No node of this type can ever be deployed with the requirement met.
 * source: TOSCA 1.3, 3.7.10 (`valid_target_types`); RR-9317, section 5.2
 */
assert RequirementsCanBeMet {
  all d: Definition | some d.possible implies some d.left
}
