/** Rules about a template as a whole: its version, its keys, its resources and their dependencies. */
module hot/template

open hot/vocabulary
open values

/** HOT001 invalid-template-version error: a template has no version
 * message: the template has no `heat_template_version`
 * at: t
 * help: start with `heat_template_version: 2021-04-16`
 * why: Heat refuses a template without a version: the version decides which sections and functions exist.
 * source: RR-9317, section 7.1.2
 */
assert VersionIsGiven { all t: Template - PartialTemplate | some t.version }

/** HOT001 invalid-template-version error: the version of a template is unknown
 * message: unknown template version `{v}`
 * at: v "unknown version"
 * help: use a date such as `2021-04-16`, or a release name such as `wallaby`
 * why: Heat refuses unknown versions.
 * source: RR-9317, section 7.1.2
 */
assert VersionIsKnown { all v: Version | v in KnownVersion + DocumentedVersion }

/** HOT001 invalid-template-version warning: the version of a template is documented but not accepted
 * message: the version `{v}` is documented, but no release of Heat accepts it
 * at: v "never accepted"
 * help: use `2018-08-31` (`rocky`) or `2021-04-16` (`wallaby`)
 * fix: unsafe replace v with `2021-04-16`
 * why: The documentation lists `stein` and `2019-04-10`, but no release of Heat accepts them.
 * source: RR-9317, section 7.1.2, against Heat 27
 */
assert VersionIsReal { no v: DocumentedVersion | v in Version }

/** HOT002 no-resources warning: a template has no resources
 * message: the template has no resources
 * at: t
 * help: add a resource, or remove the template
 * why: Heat accepts the template but creates nothing.
 * source: RR-9317, section 7.1.2
 */
assert SomeResource { all t: Template - PartialTemplate | some t.resources }

/** HOT003 unknown-key error: a template has an unknown key
 * message: unknown key `{k}` in this {k.place}
 * at: k "not allowed here"
 * help: did you mean `{k.meant}`?
 * fix: unsafe replace k with `{k.meant}`
 * why: Heat refuses unknown keys.
 * source: Heat 27
 */
assert OnlyKnownKeys { no k: ForeignKey | some k.place }

/** HOT003 unknown-key error: a function is not available in this template version
 * message: the function `{c}` is not available here in this template version
 * at: c "not available"
 * help: use a newer `heat_template_version`
 * why: Heat refuses functions that the template version does not have.
 * source: Heat 27
 */
assert OnlyAllowedFunctions { all c: ForeignCall | named[c, "get_resource" + "get_attr"] }

/** HOT003 unknown-key warning: the name of a function looks misspelled
 * message: `{c}` is not a function
 * at: c "taken as plain data"
 * help: did you mean `{c.meant}`?
 * fix: unsafe replace c with `{c.meant}`
 * why: Heat treats a map with an unknown key as plain data, so a misspelled function is passed on as it stands.
 * source: ours
 */
assert NoMisspeltFunction { no c: SuspectCall | some c.meant }

/** HOT004 repeated-key error: a key appears twice in a map
 * message: duplicate key `{k}`
 * at: k "used again here"
 * also: k.first "first used here"
 * help: rename or remove one of the two
 * why: YAML keeps the last of two equal keys, so the first resource, parameter or property is silently lost.
 * source: RR-9317, section 7.1.2
 */
assert KeysAreUnique { no k: RepeatedKey | some k.first }

/** HOT010 resource-cycle error: resources depend on each other in a cycle
 * message: `{r}` depends on itself: {chain r by requires}
 * at: r "depends on itself"
 * help: remove one of these dependencies
 * why: Heat creates a resource after those it depends on, so none of these can be created first.
 * source: RR-9317, section 7.1.2
 */
assert NoCircularDependency {
  all r: Resource | r in r.^requires implies
    some other: r.^requires | r in other.^requires and written_before[other, r]
}

/** HOT011 external-depends-on error: an external resource has `depends_on`
 * message: external resource `{r}` cannot have `depends_on`
 * at: d "not allowed on an external resource"
 * also: r
 * help: remove `depends_on`
 * why: Heat does not create resources with an `external_id` and refuses to order them after others.
 * source: RR-9317, section 7.1.2, as Heat 27 checks it
 */
assert ExternalDependsOnNothing { all r: ExternalResource, d: DependencyReference | d.from != r }

/** HOT307 name-clash error: a parameter and a resource have the same name
 * message: a parameter and a resource have the same name: `{p}`
 * at: p "the parameter"
 * also: p.clashesWith "the resource"
 * help: rename one of the two
 * why: Heat keeps both in one namespace and refuses the template.
 * source: ours
 */
assert ParametersAreNoResources { no p: Parameter | some p.clashesWith }

/** HOT309 invalid-function-arguments error: a function has invalid arguments
 * message: invalid function arguments: {c.problem}
 * at: c "{c.problem}"
 * why: Heat refuses the template.
 * source: Heat 27
 */
assert ArgumentsAreWellFormed { no c: MalformedCall | some c.problem }

/** HOT020 plain-secret warning: a secret is written in plain text
 * message: `{s}` looks like a secret in plain text
 * at: s
 * help: pass it as a parameter with `hidden: true`
 * why: Anyone who can read the template, the stack or the console log of the server can read the secret.
 * source: openstack-uc, B3
 */
assert NoPlainSecret { no s: PlainSecret | s in PlainSecret }
