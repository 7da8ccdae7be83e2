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
 * message: `{s.owner}` assigns `{s}` {s.assigned} times, and at least {s.least} are required
 * at: s "requires `{s}`"
 * help: assign `{s}` in the `requirements` of `{s.owner}`
 * why: Without it the node does not have what it needs.
 * source: TOSCA 1.3, 3.7.3 (`occurrences`); TOSCA 2.0, 8.5.4 (`count_range`); RR-9317, section 5.2
 */
assert RequirementsAreAssignedOftenEnough {
  all s: Slot | not less[s.assigned, s.least]
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
 * help: add a node with a capability of type `{a.wanted}`, or make sure that the orchestrator knows one
 * why: It is legal, as the requirement may be met by something that is deployed already; without that, deployment fails.
 * source: TOSCA 2.0, 8.5.2; RR-9317, section 5.1
 */
assert OpenRequirementsCanBeMet {
  all a: Assignment |
    (a.unbound = True and a.internal = False and a.optional = False) implies some a.candidates
}
