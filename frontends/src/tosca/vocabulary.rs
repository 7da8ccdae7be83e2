//! What rules about TOSCA can mention: every signature and field, with its meaning.
//!
//! What is not known is left out: a field of a type that is not known has no tuple, and `complete` says whether a node
//! has all that its type has.

use locus_core::vocabulary::Declarations;
use locus_core::vocabulary::declare::{lone, one, set, sig, value};
use locus_core::vocabulary::lg::LOCATION;

const BOOL: &[&str] = &["Bool"];
const TEXT: &[&str] = &["Text"];
const NUMBER: &[&str] = &["Number"];
const TYPE: &[&str] = &["Type"];
const NODE: &[&str] = &["Node"];
const REASON: &[&str] = &["Reason"];

/// The signatures of TOSCA.
pub static FACTS: Declarations = DECLARATIONS;

/// The same as a constant, for the compiler.
pub const DECLARATIONS: Declarations = Declarations {
    language: "tosca",
    sigs: &[
        value("Bool", None, "A truth value."),
        value("True", Some("Bool"), "Yes."),
        value("False", Some("Bool"), "No."),
        value("Text", None, "A text; equal texts are one atom."),
        value(
            "Number",
            None,
            "A whole number; equal numbers are one atom.",
        ),
        sig(
            "Type",
            None,
            "A type that templates use, and those it derives from; its span is its name.",
            &[
                one("name", TEXT, "Its name."),
                set("is", TYPE, "Itself and the types it derives from."),
                set(
                    "admits",
                    TYPE,
                    "Of a relationship type, the capability types it may lead to; none when all are.",
                ),
                set(
                    "targets",
                    TYPE,
                    "Of a relationship type, the node types it may lead to; none when all are.",
                ),
                set(
                    "sources",
                    TYPE,
                    "Of a relationship type, the node types it may come from; none when all are.",
                ),
                set(
                    "members",
                    TYPE,
                    "Of a group or policy type, what its members or targets may be; none when anything may.",
                ),
            ],
        ),
        sig(
            "Node",
            Some(LOCATION),
            "A node template; its span is its name.",
            &[
                one("name", TEXT, "Its name."),
                lone("type", TYPE, "Its type, when that is known."),
                one(
                    "complete",
                    BOOL,
                    "Whether its type is known with all that it derives from.",
                ),
                set(
                    "slots",
                    &["Slot"],
                    "The requirements that its type defines.",
                ),
                set(
                    "assignments",
                    &["Assignment"],
                    "The requirements that it assigns.",
                ),
                set("capabilities", &["Capability"], "Its capabilities."),
                set("hosts", NODE, "The nodes it is hosted on."),
            ],
        ),
        sig(
            "Capability",
            None,
            "A capability of a node template; its span is the name of the node.",
            &[
                one("name", TEXT, "Its name."),
                one("owner", NODE, "The node that has it."),
                lone("type", TYPE, "Its type, when that is known."),
                set(
                    "sources",
                    TYPE,
                    "The node types that may use it; none when all may.",
                ),
                set(
                    "relationships",
                    TYPE,
                    "The types of relationships that may lead to it; none when all may.",
                ),
                lone(
                    "most",
                    NUMBER,
                    "How many relationships may lead to it; none when any number may.",
                ),
                one("incoming", NUMBER, "How many relationships lead to it."),
            ],
        ),
        sig(
            "Slot",
            None,
            "A requirement that the type of a node defines; its span is the name of the node, or of the last assignment.",
            &[
                one("name", TEXT, "Its name."),
                one("owner", NODE, "The node."),
                one("least", NUMBER, "How often it must be assigned."),
                lone(
                    "most",
                    NUMBER,
                    "How often it may be assigned; none when any number of times.",
                ),
                lone(
                    "assigned",
                    NUMBER,
                    "How often it is assigned, when that is known.",
                ),
                lone(
                    "certain",
                    NUMBER,
                    "How often it is assigned without being `optional`, when that is known.",
                ),
                lone(
                    "relationship",
                    TYPE,
                    "The type of relationship that it makes.",
                ),
            ],
        ),
        sig(
            "Assignment",
            None,
            "A requirement that a node template assigns; its span is where its target is named.",
            &[
                one("name", TEXT, "Its name."),
                one("owner", NODE, "The node that has it."),
                lone("slot", &["Slot"], "The requirement of the type."),
                lone("target", NODE, "The node template it leads to."),
                lone(
                    "capability",
                    &["Capability"],
                    "The capability of the target that it uses.",
                ),
                lone("wanted", TYPE, "The type of capability that it needs."),
                lone("wanted_node", TYPE, "The type of node that it needs."),
                lone("relationship", TYPE, "The type of its relationship."),
                one("unbound", BOOL, "Whether it names no target."),
                one(
                    "internal",
                    BOOL,
                    "Whether only a node of this topology may be its target.",
                ),
                one("optional", BOOL, "Whether it may stay without a target."),
                set("candidates", NODE, "Of an open one, the nodes that fit."),
                set(
                    "reasons",
                    REASON,
                    "Of an open one that no node fits: the fewest conditions that rule out every node.",
                ),
                lone("first_reason", REASON, "The first of them."),
                lone("second_reason", REASON, "The second."),
                lone("third_reason", REASON, "The third."),
                set(
                    "unfulfilled",
                    REASON,
                    "The conditions of its filter that its target does not fulfil.",
                ),
            ],
        ),
        sig(
            "Reason",
            None,
            "A condition that a target must fulfil; its span is where that is written.",
            &[one("text", TEXT, "The condition in words.")],
        ),
        sig(
            "Shortage",
            None,
            "Open requirements that cannot all be met at once, and could be without any one of them; its span is the first of them.",
            &[
                set("members", &["Assignment"], "The requirements."),
                set("names", TEXT, "Their names, with those of their nodes."),
                set("nodes", NODE, "The nodes that fit."),
                one("wanted", NUMBER, "How many relationships they need."),
                lone(
                    "places",
                    NUMBER,
                    "How many the nodes that fit can take; none when what they allocate is too much.",
                ),
                one(
                    "internal",
                    BOOL,
                    "Whether only nodes of this topology may be their targets.",
                ),
            ],
        ),
        sig(
            "Allocation",
            None,
            "What is allocated of a property of a capability; its span is the last requirement that does so.",
            &[
                one("capability", &["Capability"], "The capability."),
                one("property", TEXT, "The property."),
                one("there", TEXT, "How much there is, as it is written."),
                set(
                    "names",
                    TEXT,
                    "The requirements that allocate it, with their nodes.",
                ),
                one("enough", BOOL, "Whether there is as much as they take."),
            ],
        ),
        sig(
            "Definition",
            None,
            "A requirement that a type of these files defines, which names a relationship type; its span is its name.",
            &[
                one("name", TEXT, "Its name."),
                one("owner", TYPE, "The type that defines it."),
                lone("wanted", TYPE, "The type of capability that it needs."),
                lone(
                    "relationship",
                    TYPE,
                    "The type of relationship that it makes.",
                ),
                set(
                    "possible",
                    TYPE,
                    "The capability types that the relationship may lead to.",
                ),
                set(
                    "left",
                    TYPE,
                    "Those of them that are of the type that is needed.",
                ),
            ],
        ),
        sig(
            "Workflow",
            None,
            "A workflow that stands for a standard one, and so must reach every node; its span is its name.",
            &[
                one("name", TEXT, "Its name."),
                set("reaches", NODE, "The nodes that its steps are about."),
            ],
        ),
        sig(
            "Input",
            None,
            "An input of the topology; its span is its name.",
            &[
                one("name", TEXT, "Its name."),
                one("used", BOOL, "Whether anything uses it."),
            ],
        ),
        sig(
            "Group",
            None,
            "A group; its span is its name.",
            &[lone("type", TYPE, "Its type, when that is known.")],
        ),
        sig(
            "Policy",
            None,
            "A policy; its span is its name.",
            &[lone("type", TYPE, "Its type, when that is known.")],
        ),
        sig(
            "Membership",
            None,
            "A member of a group or a target of a policy; its span is where it is named.",
            &[
                one("whole", &["Group + Policy"], "The group or policy."),
                one("name", TEXT, "The name that is written."),
                lone("type", TYPE, "The type of the member, when that is known."),
            ],
        ),
        sig(
            "Step",
            None,
            "A step of a workflow; its span is its name.",
            &[
                one("name", TEXT, "Its name."),
                one("workflow", TEXT, "The workflow."),
                set("next", &["Step"], "The steps that follow it."),
            ],
        ),
        sig(
            "Part",
            None,
            "A capability or requirement of the node type that the topology stands for; its span is where the type is named.",
            &[
                one("name", TEXT, "Its name."),
                one("kind", TEXT, "`capability` or `requirement`."),
                one(
                    "mapped",
                    BOOL,
                    "Whether it is mapped to one of a node template.",
                ),
            ],
        ),
    ],
};

/// A signature of the facts, found by the compiler.
macro_rules! sig_id {
    ($name:literal) => {
        locus_core::sig_of!(crate::tosca::vocabulary::DECLARATIONS, $name)
    };
}

/// A field of the facts, found by the compiler.
macro_rules! field {
    ($sig:literal, $name:literal) => {
        locus_core::field_of!(crate::tosca::vocabulary::DECLARATIONS, $sig, $name)
    };
}

pub(super) use {field, sig_id};
