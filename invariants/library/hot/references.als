/** Rules about what a template mentions by name, and about conditions. */
module hot/references

open hot/vocabulary
open values

/** HOT012 error: `get_param` names a parameter
 * message: there is no parameter `{r}`
 * at: r "no such parameter"
 * help: {suggest r from Parameter}
 * why: Heat refuses the template.
 * source: ours
 */
assert ParametersExist { all r: ParameterReference | some r.target }

/** HOT012 error: `get_resource` names a resource
 * message: there is no resource `{r}`
 * at: r "no such resource"
 * help: {suggest r from Resource}
 * why: Heat refuses the template.
 * source: ours
 */
assert ResourcesExist { all r: ResourceReference | some r.target }

/** HOT012 error: `get_attr` names a resource
 * message: there is no resource `{r}`
 * at: r "no such resource"
 * help: {suggest r from Resource}
 * why: Heat refuses the template.
 * source: ours
 */
assert AttributeOwnersExist { all r: AttributeReference | some r.target }

/** HOT012 error: `depends_on` names a resource
 * message: there is no resource `{r}` to depend on
 * at: r "no such resource"
 * help: {suggest r from Resource}
 * why: Heat refuses the template.
 * source: ours
 */
assert DependenciesExist { all r: DependencyReference | some r.target }

/** HOT012 error: a condition that is named exists
 * message: there is no condition `{r}`
 * at: r "no such condition"
 * help: {suggest r from Condition}
 * why: Heat refuses the template.
 * source: ours
 */
assert ConditionsExist { all r: ConditionReference | some r.target }

/** HOT013 error: `get_attr` names an attribute of the resource's type
 * message: `{r}` has no attribute `{a}`
 * at: a "no such attribute"
 * help: did you mean `{a.meant}`?
 * why: Heat refuses the template, or gives an empty value when the stack is there.
 * source: ours
 */
assert AttributesExist { all r: AttributeReference, a: r.attribute | some r.target implies a in KnownAttribute }

/** HOT013 warning: a path leads into an attribute that has parts
 * message: the attribute `{r.intoText}` of `{r}` is plain text, without parts
 * at: r.intoText "plain text"
 * help: leave the rest of the path out
 * why: Heat finds nothing there and gives an empty value.
 * source: ours
 */
assert TextHasNoParts { no r: AttributeReference | some r.intoText }

/** HOT017 warning: a condition is used
 * message: nothing uses the condition `{c}`
 * at: c "never used"
 * help: remove it
 * why: It decides nothing.
 * source: ours
 */
assert ConditionsAreUsed {
  all t: Template - PartialTemplate, c: t.conditions | some r: Reference | c in r.target
}

/** HOT018 error: conditions do not refer to each other in a circle
 * message: the condition `{c}` refers to itself: {chain c by uses}
 * at: c "refers to itself"
 * help: remove one of these references
 * why: None of them could be decided.
 * source: ours
 */
assert NoCircularCondition {
  all c: Condition | c in c.^uses implies
    some other: c.^uses | c in other.^uses and written_before[other, c]
}

/** HOT018 error: a condition refers to parameters and conditions only
 * message: a condition cannot use `{c}`
 * at: c "not possible in a condition"
 * help: decide it by a parameter
 * why: Conditions are decided before any resource exists.
 * source: ours
 */
assert ConditionsAreStatic {
  // Every version has these two functions, and allows them everywhere else.
  no c: ForeignCall | named[c, "get_resource" + "get_attr"]
}

/** HOT018 error: a resource that is left out is not referred to
 * message: `{r}` is left out for these inputs, and is referred to here
 * at: r "left out by its condition"
 * also: r.target "this resource"
 * help: put the same condition on what refers to it, or use `if`
 * why: Heat cannot give a value for a resource that it does not create.
 * source: ours
 */
assert AbsentResourcesAreNotUsed { no r: AbsentTarget | r in ResourceReference + AttributeReference }

/** HOT019 error: an environment sets parameters that the template has
 * message: the template has no parameter `{e}`
 * at: e "sets nothing"
 * help: {suggest e from Parameter}
 * why: Heat refuses an environment with an unknown parameter.
 * source: RR-9317, section 7.3
 */
assert EnvironmentSetsParameters { all e: EnvironmentParameter | some e.parameter }

/** HOT019 error: a file that is named can be read
 * message: the file `{f}` cannot be read: {f.reason}
 * at: f "this file"
 * help: check the path, which is relative to the file that names it
 * why: The template cannot be created without it.
 * source: ours
 */
assert FilesExist { no f: MissingFile | f in MissingFile }

/** HOT019 error: a nested template gets only parameters that it has
 * message: the nested template has no parameter `{i}`
 * at: i "sets nothing"
 * help: {suggest i from Parameter}
 * why: Heat refuses a property that the nested template does not have as a parameter.
 * source: ours
 */
assert NestedInputsExist { all i: NestedInput | some i.parameter }

/** HOT019 error: a nested template gets all parameters that it requires
 * message: `{r}` does not set the parameter `{p}` of its template
 * at: r "does not set `{p}`"
 * also: p "has no default"
 * help: set `{p}` under `properties`
 * why: Heat refuses the nested stack when a parameter without a default has no value.
 * source: ours
 */
assert NestedInputsAreGiven { all r: Resource, p: r.lacksInput | p not in Parameter }
