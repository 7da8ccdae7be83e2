/** Rules about resource types: what they have, what they demand, what they have become. */
module hot/types

open hot/vocabulary
open values

/** Types whose combinations of properties have rules of their own, with better words. */
fun with_rules_of_their_own: set univ {
  "OS::Neutron::Subnet" + "OS::Neutron::Router" + "OS::Neutron::RouterInterface" + "OS::Nova::Server"
  + "OS::Keystone::User" + "OS::Keystone::Group" + "OS::Heat::ScalingPolicy"
}

/** HOT014 error: a resource is of a type that there is
 * message: there is no resource type `{t}`
 * at: t "unknown type"
 * help: did you mean `{t.meant}`?
 * help: declare a type of your own registry or plugin in `locus.toml`
 * why: Heat refuses the template. A type of your own registry or plugin is declared in `locus.toml`.
 * source: RR-9317, section 7.1.3
 */
assert TypesExist { all t: TypeName | t in KnownType }

/** HOT014 error: a property is one that the type has
 * message: `{r.type}` has no property `{p}`
 * at: p "no such property"
 * help: did you mean `{p.meant}`?
 * why: Heat refuses the template.
 * source: RR-9317, section 7.1.3
 */
assert PropertiesExist { all r: Resource, p: r.properties | some p.declared }

/** HOT014 error: a required property is given
 * message: `{r}` lacks the property `{d}`, which `{r.type}` requires
 * at: r "lacks `{d}`"
 * also: r.type
 * help: add `{d}` under `properties`
 * why: Heat refuses the resource.
 * source: RR-9317, section 7.1.3
 */
assert RequiredPropertiesAreGiven { all r: Resource, d: r.lacks | d not in Declaration }

/** HOT014 error: the value of a property is of its type
 * message: `{p}` of `{r}` is not of the type `{p.mistyped}`
 * at: p.mistyped "not of the type `{p.mistyped}`"
 * also: p
 * help: give a value of that type
 * why: Heat refuses the resource when the stack is created; its check of the template does not look at values.
 * source: RR-9317, section 7.1.3
 */
assert PropertiesAreOfTheType { all r: Resource, p: r.properties | no p.mistyped }

/** HOT014 error: the value of a property satisfies the constraints of its type
 * message: `{p}` of `{r}` is not allowed: {c}
 * at: c "{c}"
 * also: p
 * help: give a value that is allowed
 * why: Heat refuses the resource when the stack is created.
 * source: RR-9317, section 7.1.3
 */
assert PropertiesSatisfyConstraints { all r: Resource, p: r.properties, c: p.violates | c not in SchemaConstraint }

/** HOT014 error: a property is one that Heat implements
 * message: Heat lists the property `{p}` and does not implement it
 * at: p "not implemented"
 * help: leave it out
 * why: Heat refuses the resource.
 * source: Heat 27
 */
assert PropertiesAreImplemented { no p: UnimplementedProperty | p in PropertyUse }

/** HOT014 error: a property is given under one name
 * message: `{p}` is an old name of `{p.replacedBy}`, which is given as well
 * at: p "old name"
 * also: p.replacedBy "new name"
 * help: keep `{p.replacedBy}`
 * why: Heat refuses a property that is given under both its names.
 * source: Heat 27
 */
assert PropertiesAreGivenOnce {
  all r: Resource, p: r.properties | some p.replacedBy implies
    // These two have rules of their own.
    (named[r.type, "OS::Neutron::Port"] and named[p, "subnet_id"])
    or (named[r.type, "OS::Nova::Server"] and named[p, "uuid"])
}

/** HOT014 error: properties go together as the type demands
 * message: {c}
 * at: c
 * also: r
 * why: Heat's plugin for the type refuses the resource.
 * source: Heat 27
 */
assert PropertiesGoTogether {
  all r: Resource, c: r.conflicts | c in PluginCheck implies named[r.type, with_rules_of_their_own]
}

/** HOT015 error: a property that must name a resource names one of a fitting type
 * message: `{p}` of `{r}` refers to `{w}`, of the type `{w.type}`
 * at: p "of the wrong type"
 * also: w "refers to this"
 * help: refer to a resource of a type that the property takes
 * why: The service that is asked finds nothing with that identifier.
 * source: RR-9317, section 7.1.3
 */
assert ReferencesFit { all r: Resource, p: r.properties, w: p.wrongTarget | w not in Resource }

/** HOT016 warning: a resource type is supported
 * message: the type `{t}` is outdated
 * at: t "hidden, deprecated or unsupported"
 * help: use `{t.successor}`
 * why: It may be refused by the cloud at hand, and will go.
 * source: RR-9317, section 7.1.2
 */
assert TypesAreSupportedWithSuccessor { no t: OutdatedType | some t.successor }

/** HOT016 warning: a resource type is supported
 * message: the type `{t}` is outdated
 * at: t "hidden, deprecated or unsupported"
 * why: It may be refused by the cloud at hand, and will go.
 * source: RR-9317, section 7.1.2
 */
assert TypesAreSupported { all t: OutdatedType | some t.successor }

/** HOT016 warning: a property is supported
 * message: the property `{p}` is outdated: {p.outdated}
 * at: p "{p.outdated}"
 * help: see what replaces it in the documentation of the type
 * why: It may be refused by the cloud at hand, and will go.
 * source: RR-9317, section 7.1.2
 */
assert PropertiesAreSupported { no p: PropertyUse | some p.outdated }
