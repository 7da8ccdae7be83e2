/** Rules about a template as a whole: its version, its keys, its resources and their dependencies. */
module hot/template

open hot/vocabulary
open values

/** HOT001 error: a template says which version of the language it is written in
 * message: the template does not say its version
 * at: t
 * help: start with `heat_template_version: 2021-04-16`
 * why: Heat refuses a template without a version, because the version decides which sections and functions there are.
 * source: RR-9317, section 7.1.2
 */
assert VersionIsGiven { all t: Template - PartialTemplate | some t.version }

/** HOT001 error: the version of a template is one that Heat knows
 * message: `{v}` is not a version that Heat knows
 * at: v "not a known version"
 * help: use a date such as `2021-04-16`, or a release name such as `wallaby`
 * why: Heat refuses a template with a version that it does not know.
 * source: RR-9317, section 7.1.2
 */
assert VersionIsKnown { all v: Version | v in KnownVersion + DocumentedVersion }

/** HOT001 warning: the version of a template is one that Heat really has
 * message: `{v}` is documented as a version, and Heat does not know it
 * at: v "not a known version"
 * help: use `2018-08-31` (`rocky`) or `2021-04-16` (`wallaby`)
 * why: The documentation lists `stein` and `2019-04-10`; no release of Heat accepts them.
 * source: RR-9317, section 7.1.2, against Heat 27
 */
assert VersionIsReal { no v: DocumentedVersion | v in Version }

/** HOT002 warning: a template has at least one resource
 * message: the template has no resources
 * at: t
 * help: add a resource, or leave the template out
 * why: Heat accepts a template without resources and creates nothing.
 * source: RR-9317, section 7.1.2
 */
assert SomeResource { all t: Template - PartialTemplate | some t.resources }

/** HOT003 error: a template has only the keys that its version allows
 * message: `{k}` is not a key of this {k.place}
 * at: k "not allowed here"
 * help: did you mean `{k.meant}`?
 * why: Heat refuses keys that it does not know, and a misspelt key is otherwise lost.
 * source: Heat 27
 */
assert OnlyKnownKeys { no k: ForeignKey | some k.place }

/** HOT003 error: a template calls only the functions that its version allows
 * message: the function `{c}` is not allowed here in this version
 * at: c "not in this version"
 * help: use a newer `heat_template_version`
 * why: Heat refuses a function that the version of the template does not have.
 * source: Heat 27
 */
assert OnlyAllowedFunctions { all c: ForeignCall | named[c, "get_resource" + "get_attr"] }

/** HOT003 warning: the name of a function is spelt right
 * message: `{c}` is not a function
 * at: c "taken as plain data"
 * help: did you mean `{c.meant}`?
 * why: Heat takes a map with an unknown key as plain data, so a misspelt function is passed on as it stands.
 * source: ours
 */
assert NoMisspeltFunction { no c: SuspectCall | some c.meant }

/** HOT004 error: a key is written once in a map
 * message: the key `{k}` is written twice
 * at: k "written again here"
 * also: k.first "first written here"
 * help: rename or remove one of the two
 * why: YAML keeps the last of two equal keys, so the first resource, parameter or property is lost without a word.
 * source: RR-9317, section 7.1.2
 */
assert KeysAreUnique { no k: RepeatedKey | some k.first }

/** HOT010 error: resources do not depend on each other in a circle
 * message: `{r}` depends on itself: {chain r by requires}
 * at: r "depends on itself"
 * help: remove one of these dependencies
 * why: Heat creates a resource after those it depends on, so none of these could be first.
 * source: RR-9317, section 7.1.2
 */
assert NoCircularDependency {
  all r: Resource | r in r.^requires implies
    some other: r.^requires | r in other.^requires and written_before[other, r]
}

/** HOT011 error: a resource that exists already has no `depends_on`
 * message: the external resource `{r}` cannot have `depends_on`
 * at: d "not allowed on an external resource"
 * also: r
 * help: remove `depends_on`
 * why: Heat does not create a resource with an `external_id` and refuses to order it after others.
 * source: RR-9317, section 7.1.2, as Heat 27 checks it
 */
assert ExternalDependsOnNothing { all r: ExternalResource, d: DependencyReference | d.from != r }

/** HOT307 error: a parameter and a resource have different names
 * message: the parameter `{p}` has the name of a resource
 * at: p "this parameter"
 * also: p.clashesWith "and this resource"
 * help: rename one of the two
 * why: Heat keeps both in one space of names and refuses the template.
 * source: ours
 */
assert ParametersAreNoResources { no p: Parameter | some p.clashesWith }

/** HOT309 error: the arguments of a function have the shape that it wants
 * message: the arguments of this function are wrong: {c.problem}
 * at: c "{c.problem}"
 * why: Heat refuses the template when it parses the function.
 * source: Heat 27
 */
assert ArgumentsAreWellFormed { no c: MalformedCall | some c.problem }

/** HOT020 warning: no secret is written in plain text
 * message: `{s}` looks like a secret in plain text
 * at: s
 * help: pass it as a parameter with `hidden: true`
 * why: Whoever can read the template, the stack or the console log of the server reads the secret.
 * source: openstack-uc, B3
 */
assert NoPlainSecret { no s: PlainSecret | s in PlainSecret }
