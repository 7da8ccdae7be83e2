//! The relations that rules about Heat templates quantify over.
//!
//! The location graph holds locations, roles and property values. Beside it, these facts hold what a
//! template says about itself: names and what they resolve to, what the version allows, how the
//! given values compare with what a type declares. Nothing here is a verdict: an atom says that
//! something is so, a rule says that it must not be.
//!
//! Atoms have spans. Where a construct may be repeated by nesting (a template used by a group of
//! fifty), facts about its text are stated once, facts about its instances once per instance.

use locus_core::vocabulary::Declarations;
use locus_core::vocabulary::declare::{lone, one, set, sig, subset};
use locus_core::vocabulary::lg::LOCATION;

/// All relations over Heat templates.
pub const DECLARATIONS: Declarations = Declarations {
    language: "hot",
    sigs: &[
        sig(
            "Template",
            None,
            "a template that is part of the configuration; its span is its version, or its start",
            &[
                lone("version", &["Version"], "the version it claims"),
                set("parameters", &["Parameter"], "its parameters"),
                set("groups", &["ParameterGroup"], "its parameter groups"),
                set(
                    "resources",
                    &["Resource"],
                    "its resources, once for each time it is included",
                ),
                set("outputs", &["Output"], "its outputs"),
                set("conditions", &["Condition"], "its conditions"),
            ],
        ),
        subset(
            "PartialTemplate",
            "Template",
            "a template parts of which could not be read",
        ),
        sig(
            "Version",
            None,
            "what a template gives as its version; the span is the value",
            &[],
        ),
        subset("KnownVersion", "Version", "one that Heat knows"),
        subset(
            "DocumentedVersion",
            "Version",
            "one that the documentation of HOT lists and Heat does not know",
        ),
        sig(
            "ForeignKey",
            None,
            "a key that the template's version does not allow where it is; the span is the key",
            &[
                lone("meant", &["Suggestion"], "the known name that is nearest"),
                one("place", &["Place"], "what the key is in"),
            ],
        ),
        sig(
            "Place",
            None,
            "something with keys of its own: template, resource, output, parameter, parameter group, \
             constraint, environment",
            &[],
        ),
        sig(
            "RepeatedKey",
            None,
            "a key written again in one map; the span is the second one",
            &[
                one("first", &["FirstKey"], "where it is written first"),
                lone(
                    "names",
                    &["Place"],
                    "what the key names, when it names something of a section",
                ),
            ],
        ),
        sig("FirstKey", None, "the first of several equal keys", &[]),
        sig(
            "Parameter",
            None,
            "a parameter; the span is its name",
            &[
                lone("type", &["ParameterType"], "the type it claims"),
                set("constraints", &["ParameterConstraint"], "its constraints"),
                lone("default", &["ParameterValue"], "its default"),
                lone(
                    "value",
                    &["ParameterValue"],
                    "the value it has for the inputs given",
                ),
                lone("clashesWith", &["Resource"], "a resource of the same name"),
            ],
        ),
        subset(
            "HiddenParameter",
            "Parameter",
            "a parameter whose value is not shown",
        ),
        sig(
            "ParameterType",
            None,
            "the type that a parameter claims; the span is the value of `type`, or the name of a \
             parameter without one",
            &[],
        ),
        subset(
            "KnownParameterType",
            "ParameterType",
            "one that the version allows",
        ),
        sig(
            "ParameterConstraint",
            None,
            "a constraint of a parameter; the span is its kind",
            &[
                one("kind", &["ConstraintKind"], "its kind"),
                lone("min", &["Bound"], "its lower bound"),
                lone("max", &["Bound"], "its upper bound"),
                lone("step", &["Bound"], "the step of a modulo"),
                lone("offset", &["Bound"], "the offset of a modulo"),
            ],
        ),
        subset(
            "FittingConstraint",
            "ParameterConstraint",
            "one whose kind fits the parameter's type",
        ),
        sig(
            "ConstraintKind",
            None,
            "length, range, modulo, allowed_values, allowed_pattern, custom_constraint, or what else \
             was written",
            &[],
        ),
        subset(
            "KnownConstraintKind",
            "ConstraintKind",
            "one that Heat knows",
        ),
        sig(
            "Bound",
            None,
            "a number in a constraint; its value is what was written; the span is the number",
            &[],
        ),
        subset("IntegerBound", "Bound", "a bound that is a whole number"),
        subset("NumberBound", "Bound", "a bound that is another number"),
        sig(
            "ParameterValue",
            None,
            "a default or a given value of a parameter; the span is where it is written",
            &[
                set(
                    "violates",
                    &["ParameterConstraint"],
                    "constraints that the value does not satisfy",
                ),
                lone(
                    "mistyped",
                    &["ParameterType"],
                    "the type that the value is not of",
                ),
            ],
        ),
        subset(
            "UnsetParameter",
            "Parameter",
            "a parameter without a default for which no value is given: symbolic",
        ),
        sig(
            "ParameterGroup",
            None,
            "a group of parameters; the span is the group",
            &[
                lone("label", &["Label"], "its label"),
                set("members", &["GroupMember"], "the names in it"),
            ],
        ),
        sig(
            "Label",
            None,
            "the label of a group; equal labels are one atom",
            &[],
        ),
        sig(
            "GroupMember",
            None,
            "a name in a group; the span is the name",
            &[
                lone("parameter", &["Parameter"], "the parameter it names"),
                lone(
                    "repeats",
                    &["GroupMember"],
                    "an earlier mention of the name in any group",
                ),
            ],
        ),
        sig(
            "Resource",
            Some(LOCATION),
            "a resource, which is a location of the graph; the span is its name",
            &[
                lone("type", &["TypeName"], "the type it claims"),
                set(
                    "requires",
                    &["Resource"],
                    "resources it depends on, for whatever reason",
                ),
                set(
                    "lacks",
                    &["Declaration"],
                    "required properties that it does not have",
                ),
                set(
                    "properties",
                    &["PropertyUse"],
                    "properties about which there is something to say",
                ),
                set(
                    "conflicts",
                    &["PluginCheck"],
                    "combinations that Heat's plugin for its type refuses",
                ),
            ],
        ),
        subset(
            "ExternalResource",
            "Resource",
            "a resource with an `external_id`",
        ),
        subset(
            "AbsentResource",
            "Resource",
            "a resource whose condition is false for the inputs given",
        ),
        sig(
            "TypeName",
            None,
            "the type of a resource; the span is the value of `type`",
            &[
                lone("meant", &["Suggestion"], "the known name that is nearest"),
                lone("successor", &["Successor"], "the type to use instead"),
            ],
        ),
        subset(
            "KnownType",
            "TypeName",
            "a type that Heat or the registry knows",
        ),
        subset(
            "OutdatedType",
            "TypeName",
            "a type that is hidden, deprecated or unsupported",
        ),
        sig(
            "Successor",
            None,
            "a type or property to use instead; the span is the old one's",
            &[],
        ),
        sig(
            "Declaration",
            None,
            "a property that a type declares; the span is the resource's name",
            &[],
        ),
        sig(
            "PropertyUse",
            None,
            "a property that is given and is not simply as its type declares it; the span is its key",
            &[
                lone("meant", &["Suggestion"], "the known name that is nearest"),
                lone(
                    "declared",
                    &["Declaration"],
                    "its declaration; none: the type has no such property",
                ),
                lone(
                    "mistyped",
                    &["ExpectedType"],
                    "the type that its value should have and has not",
                ),
                set(
                    "violates",
                    &["SchemaConstraint"],
                    "constraints that its value does not satisfy",
                ),
                lone(
                    "outdated",
                    &["Successor"],
                    "it is hidden, deprecated or unsupported; the successor's name if any",
                ),
                lone(
                    "replacedBy",
                    &["PropertyUse"],
                    "the newer property that is given as well",
                ),
                set(
                    "wrongTarget",
                    &["Resource"],
                    "resources it refers to that are of no fitting type",
                ),
            ],
        ),
        subset(
            "UnimplementedProperty",
            "PropertyUse",
            "a property that Heat lists and refuses",
        ),
        sig(
            "ExpectedType",
            None,
            "a property type; the span is the value",
            &[],
        ),
        sig(
            "SchemaConstraint",
            None,
            "a constraint of a type's property, in words; the span is the value",
            &[],
        ),
        sig(
            "PluginCheck",
            None,
            "a combination of properties that a plugin refuses, in words; the span is the resource's name",
            &[],
        ),
        sig("Output", None, "an output; the span is its name", &[]),
        sig(
            "Condition",
            None,
            "a condition; the span is its name",
            &[set("uses", &["Condition"], "conditions that it mentions")],
        ),
        sig(
            "Reference",
            None,
            "a mention of something by name; the span is the name",
            &[
                lone(
                    "target",
                    &["Parameter + Resource + Output + Condition"],
                    "what it names; none: there is no such thing",
                ),
                lone(
                    "from",
                    &["Parameter + Resource + Output + Condition"],
                    "the resource, output or condition that mentions it",
                ),
            ],
        ),
        sig(
            "ParameterReference",
            Some("Reference"),
            "`get_param`, or `Ref` to a parameter",
            &[],
        ),
        sig(
            "ResourceReference",
            Some("Reference"),
            "`get_resource`, or `Ref` to a resource",
            &[],
        ),
        sig(
            "AttributeReference",
            Some("Reference"),
            "`get_attr`; the span is the resource's name",
            &[
                lone(
                    "attribute",
                    &["AttributeName"],
                    "the attribute, unless all are asked for",
                ),
                lone(
                    "intoText",
                    &["AttributeName"],
                    "a path goes into an attribute that is plain text",
                ),
            ],
        ),
        sig(
            "AttributeName",
            None,
            "the attribute that a `get_attr` names; the span is the name",
            &[
                lone("meant", &["Suggestion"], "the known name that is nearest"),
                lone(
                    "outdated",
                    &["Successor"],
                    "it is hidden, deprecated or unsupported; the successor's name if any",
                ),
            ],
        ),
        subset(
            "KnownAttribute",
            "AttributeName",
            "one that the resource's type has",
        ),
        sig(
            "DependencyReference",
            Some("Reference"),
            "a name in `depends_on`",
            &[],
        ),
        sig(
            "ConditionReference",
            Some("Reference"),
            "the name of a condition",
            &[],
        ),
        sig(
            "PseudoReference",
            Some("Reference"),
            "`get_param` of a pseudo parameter such as `OS::stack_name`",
            &[],
        ),
        subset(
            "AbsentTarget",
            "Reference",
            "a reference to a resource that is absent for the inputs given",
        ),
        sig(
            "ForeignCall",
            None,
            "a function that Heat has and the template's version does not allow there; the span is its name",
            &[],
        ),
        sig(
            "SuspectCall",
            None,
            "a map of one entry whose key is nearly a function's name; the span is the key",
            &[one(
                "meant",
                &["FunctionName"],
                "the function it is near to",
            )],
        ),
        sig(
            "Suggestion",
            None,
            "a name that may have been meant; the span is what was written",
            &[],
        ),
        sig("FunctionName", None, "the name of a function", &[]),
        sig(
            "MalformedCall",
            None,
            "a call whose arguments have not the shape that the function wants; the span is the argument",
            &[one("problem", &["Problem"], "what is wrong, in words")],
        ),
        sig("Problem", None, "something wrong, in words", &[]),
        sig(
            "EnvironmentParameter",
            None,
            "an entry of `parameters` in an environment, or a parameter given on the command line; the \
             span is its name",
            &[lone("parameter", &["Parameter"], "the parameter it sets")],
        ),
        sig(
            "RegistryEntry",
            None,
            "an entry of `resource_registry`; the span is what the type is mapped to",
            &[],
        ),
        sig(
            "MissingFile",
            None,
            "a file that is named and cannot be read; the span is the name",
            &[one("reason", &["Reason"], "why it cannot be read")],
        ),
        sig("Reason", None, "why something could not be done", &[]),
        sig(
            "NestedInput",
            None,
            "a property given to a nested template; the span is its key",
            &[lone("parameter", &["Parameter"], "the parameter it sets")],
        ),
        sig(
            "PlainSecret",
            None,
            "a credential in plain text, or a parameter that is named like one and is not hidden; the \
             span is what shows it",
            &[],
        ),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_relation_is_declared_over_declared_signatures() {
        let mut seen = std::collections::BTreeSet::from([LOCATION]);
        for sig in DECLARATIONS.sigs {
            assert!(
                sig.parent.is_none_or(|parent| seen.contains(parent)),
                "{}",
                sig.name
            );
            assert!(seen.insert(sig.name), "{} twice", sig.name);
        }
        for sig in DECLARATIONS.sigs {
            for field in sig.fields {
                for name in field.columns.iter().flat_map(|column| column.split(" + ")) {
                    assert!(seen.contains(name), "{}.{}: {name}", sig.name, field.name);
                }
            }
        }
    }

    #[test]
    fn the_vocabulary_is_a_module_that_rules_can_open() {
        insta::assert_snapshot!(crate::hot::vocabulary::vocabulary().facts_module());
    }
}
