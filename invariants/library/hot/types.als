/** Rules about resource types: what they have, what they demand, what they have become. */
module hot/types

open hot/vocabulary
open values

/** Types whose combinations of properties have rules of their own, with better words. */
fun with_rules_of_their_own: set univ {
  "OS::Neutron::Subnet" + "OS::Neutron::Router" + "OS::Neutron::RouterInterface" + "OS::Nova::Server"
  + "OS::Keystone::User" + "OS::Keystone::Group" + "OS::Heat::ScalingPolicy"
}

/** HOT014 invalid-property error: a resource has an unknown type
 * message: unknown resource type `{t}`
 * at: t "unknown type"
 * help: did you mean `{t.meant}`?
 * help: if the type comes from your own registry or plugin, declare it in `locus.toml`
 * fix: unsafe replace t with `{t.meant}`
 * why: Heat refuses the template. Types from your own registry or plugins are declared in `locus.toml`.
 * source: RR-9317, section 7.1.3
 */
assert TypesExist { all t: TypeName | t in KnownType }

/** HOT014 invalid-property error: a property is unknown
 * message: `{r.type}` has no property `{p}`
 * at: p "no such property"
 * help: did you mean `{p.meant}`?
 * fix: unsafe replace p with `{p.meant}`
 * why: Heat refuses the template.
 * source: RR-9317, section 7.1.3
 */
assert PropertiesExist { all r: Resource, p: r.properties | some p.declared }

/** HOT014 invalid-property error: a required property is missing
 * message: `{r}` is missing the property `{d}`, which `{r.type}` requires
 * at: r "missing `{d}`"
 * also: r.type
 * help: add `{d}` under `properties`
 * why: Heat refuses the resource.
 * source: RR-9317, section 7.1.3
 */
assert RequiredPropertiesAreGiven {
  // A property that is given under a misspelt name is reported as that.
  all r: Resource, d: r.lacks | some name_of[r.properties.meant] & name_of[d]
}

/** HOT014 invalid-property error: the value of a property has the wrong type
 * message: the property `{p}` of `{r}` is not a `{p.mistyped}`
 * at: p.mistyped "not a `{p.mistyped}`"
 * also: p
 * help: use a `{p.mistyped}` value
 * why: Heat refuses the resource when the stack is created; validating the template does not look at values.
 * source: RR-9317, section 7.1.3
 */
assert PropertiesAreOfTheType { all r: Resource, p: r.properties | no p.mistyped }

/** HOT014 invalid-property error: the value of a property violates its constraints
 * message: the property `{p}` of `{r}` has an invalid value: {c}
 * at: c "{c}"
 * also: p
 * help: use an allowed value
 * why: Heat refuses the resource when the stack is created.
 * source: RR-9317, section 7.1.3
 */
assert PropertiesSatisfyConstraints { all r: Resource, p: r.properties, c: p.violates | c not in SchemaConstraint }

/** HOT014 invalid-property error: a property is not implemented
 * message: Heat does not implement the property `{p}`
 * at: p "not implemented"
 * help: remove it
 * fix: unsafe remove p
 * why: Heat lists the property but refuses the resource.
 * source: Heat 27
 */
assert PropertiesAreImplemented { no p: UnimplementedProperty | p in PropertyUse }

/** HOT014 invalid-property error: a property is set under its old and its new name
 * message: `{p}` is the old name of `{p.replacedBy}`, which is also set
 * at: p "old name"
 * also: p.replacedBy "new name"
 * help: keep only `{p.replacedBy}`
 * fix: unsafe remove p
 * why: Heat refuses a property that is set under both names.
 * source: Heat 27
 */
assert PropertiesAreGivenOnce {
  all r: Resource, p: r.properties | some p.replacedBy implies
    // These two have rules of their own.
    (named[r.type, "OS::Neutron::Port"] and named[p, "subnet_id"])
    or (named[r.type, "OS::Nova::Server"] and named[p, "uuid"])
}

/** HOT014 invalid-property error: properties of a resource contradict each other
 * message: {c}
 * at: c
 * also: r
 * why: Heat refuses the resource.
 * source: Heat 27
 */
assert PropertiesGoTogether {
  all r: Resource, c: r.conflicts | c in PluginCheck implies named[r.type, with_rules_of_their_own]
}

/** HOT015 wrong-reference-type error: a property refers to a resource of the wrong type
 * message: the property `{p}` of `{r}` refers to `{w}`, which is an `{w.type}`
 * at: p "wrong type"
 * also: w "refers to this"
 * help: refer to a resource of a type that the property accepts
 * why: The service finds nothing with that ID.
 * source: RR-9317, section 7.1.3
 */
assert ReferencesFit { all r: Resource, p: r.properties, w: p.wrongTarget | w not in Resource }

/** HOT016 deprecated warning: a resource type is deprecated
 * message: resource type `{t}` is deprecated
 * at: t "hidden, deprecated or unsupported"
 * help: use `{t.successor}`
 * fix: unsafe replace t with `{t.successor}`
 * why: Your cloud may refuse it, and a later release will remove it.
 * source: RR-9317, section 7.1.2
 */
assert TypesAreSupportedWithSuccessor { no t: OutdatedType | some t.successor }

/** HOT016 deprecated warning: a resource type is deprecated and has no successor
 * message: resource type `{t}` is deprecated
 * at: t "hidden, deprecated or unsupported"
 * why: Your cloud may refuse it, and a later release will remove it.
 * source: RR-9317, section 7.1.2
 */
assert TypesAreSupported { all t: OutdatedType | some t.successor }

/** HOT016 deprecated warning: a property is deprecated
 * message: the property `{p}` is deprecated: {p.outdated}
 * at: p "{p.outdated}"
 * help: see the documentation of the type for a replacement
 * why: Your cloud may refuse it, and a later release will remove it.
 * source: RR-9317, section 7.1.2
 */
assert PropertiesAreSupported { no p: PropertyUse | some p.outdated }

/** HOT016 deprecated warning: an attribute is deprecated
 * message: the attribute `{a}` is deprecated: {a.outdated}
 * at: a "{a.outdated}"
 * help: see the documentation of the type for a replacement
 * why: Heat hides it from new templates, and a later release will remove it.
 * source: RR-9317, section 7.1.2
 */
assert AttributesAreSupported { no a: AttributeName | some a.outdated }
