/** Rules about what a template mentions by name, and about conditions. */
module hot/references

open hot/vocabulary
open values

/** HOT012 unknown-reference error: `get_param` names an unknown parameter
 * message: unknown parameter `{r}`
 * at: r "no such parameter"
 * help: {suggest r from Parameter}
 * fix: unsafe replace r with `{nearest r from Parameter}`
 * why: Heat refuses the template.
 * source: ours
 */
assert ParametersExist { all r: ParameterReference | some r.target }

/** HOT012 unknown-reference error: `get_resource` names an unknown resource
 * message: unknown resource `{r}`
 * at: r "no such resource"
 * help: {suggest r from Resource}
 * fix: unsafe replace r with `{nearest r from Resource}`
 * why: Heat refuses the template.
 * source: ours
 */
assert ResourcesExist { all r: ResourceReference | some r.target }

/** HOT012 unknown-reference error: `get_attr` names an unknown resource
 * message: unknown resource `{r}`
 * at: r "no such resource"
 * help: {suggest r from Resource}
 * fix: unsafe replace r with `{nearest r from Resource}`
 * why: Heat refuses the template.
 * source: ours
 */
assert AttributeOwnersExist { all r: AttributeReference | some r.target }

/** HOT012 unknown-reference error: `depends_on` names an unknown resource
 * message: `depends_on` names unknown resource `{r}`
 * at: r "no such resource"
 * help: {suggest r from Resource}
 * fix: unsafe replace r with `{nearest r from Resource}`
 * why: Heat refuses the template.
 * source: ours
 */
assert DependenciesExist { all r: DependencyReference | some r.target }

/** HOT012 unknown-reference error: an unknown condition is used
 * message: unknown condition `{r}`
 * at: r "no such condition"
 * help: {suggest r from Condition}
 * fix: unsafe replace r with `{nearest r from Condition}`
 * why: Heat refuses the template.
 * source: ours
 */
assert ConditionsExist { all r: ConditionReference | some r.target }

/** HOT013 unknown-attribute error: `get_attr` names an unknown attribute
 * message: resource `{r}` has no attribute `{a}`
 * at: a "no such attribute"
 * help: did you mean `{a.meant}`?
 * fix: unsafe replace a with `{a.meant}`
 * why: Heat refuses the template, or returns an empty value once the stack exists.
 * source: ours
 */
assert AttributesExist { all r: AttributeReference, a: r.attribute | some r.target implies a in KnownAttribute }

/** HOT013 unknown-attribute warning: `get_attr` looks inside an attribute that is plain text
 * message: the attribute `{r.intoText}` of `{r}` is plain text, so the rest of the path finds nothing
 * at: r.intoText "plain text"
 * help: remove the rest of the path
 * why: Heat finds nothing there and returns an empty value.
 * source: ours
 */
assert TextHasNoParts { no r: AttributeReference | some r.intoText }

/** HOT017 unused-definition warning: a condition is never used
 * message: condition `{c}` is never used
 * at: c "never used"
 * help: remove it
 * fix: safe remove c
 * why: It has no effect.
 * source: ours
 */
assert ConditionsAreUsed {
  all t: Template - PartialTemplate, c: t.conditions | some r: Reference | c in r.target
}

/** HOT018 invalid-condition error: conditions refer to each other in a cycle
 * message: condition `{c}` refers to itself: {chain c by uses}
 * at: c "refers to itself"
 * help: remove one of these references
 * why: None of them can be evaluated.
 * source: ours
 */
assert NoCircularCondition {
  all c: Condition | c in c.^uses implies
    some other: c.^uses | c in other.^uses and written_before[other, c]
}

/** HOT018 invalid-condition error: a condition uses something that is not known yet
 * message: a condition cannot use `{c}`
 * at: c "not allowed in a condition"
 * help: use a parameter instead
 * why: Conditions are evaluated before any resource exists.
 * source: ours
 */
assert ConditionsAreStatic {
  // Every version has these two functions, and allows them everywhere else.
  no c: ForeignCall | named[c, "get_resource" + "get_attr"]
}

/** HOT018 invalid-condition error: a resource is used although its condition leaves it out
 * message: `{r}` is used here, but its condition leaves it out
 * at: r "left out by its condition"
 * also: r.target "this resource"
 * help: put the same condition on whatever uses it, or use `if`
 * why: Heat has no value for a resource that it does not create.
 * source: ours
 */
assert AbsentResourcesAreNotUsed { no r: AbsentTarget | r in ResourceReference + AttributeReference }

/** HOT019 input-mismatch error: an environment sets an unknown parameter
 * message: the template has no parameter `{e}`
 * at: e "no such parameter"
 * help: {suggest e from Parameter}
 * fix: unsafe replace e with `{nearest e from Parameter}`
 * why: Heat refuses an environment that sets unknown parameters.
 * source: RR-9317, section 7.3
 */
assert EnvironmentSetsParameters { all e: EnvironmentParameter | some e.parameter }

/** HOT019 input-mismatch error: a file cannot be read
 * message: cannot read `{f}`: {f.reason}
 * at: f "this file"
 * help: check the path: it is relative to the file that names it
 * why: The stack cannot be created without this file.
 * source: ours
 */
assert FilesExist { no f: MissingFile | f in MissingFile }

/** HOT019 input-mismatch error: a property is not a parameter of the nested template
 * message: the nested template has no parameter `{i}`
 * at: i "no such parameter"
 * help: {suggest i from Parameter}
 * fix: unsafe replace i with `{nearest i from Parameter}`
 * why: Heat refuses a property that the nested template does not declare as a parameter.
 * source: ours
 */
assert NestedInputsExist { all i: NestedInput | some i.parameter }
