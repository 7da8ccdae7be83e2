/** Rules about parameters, their groups, their constraints and their values. */
module hot/parameters

open hot/vocabulary
open values

/** HOT005 invalid-parameter-group error: a parameter group names an unknown parameter
 * message: parameter group names unknown parameter `{m}`
 * at: m "no such parameter"
 * help: {suggest m from Parameter}
 * fix: unsafe replace m with `{nearest m from Parameter}`
 * why: Heat refuses groups with unknown parameters.
 * source: RR-9317, section 7.1.2
 */
assert GroupsNameParameters { all g: ParameterGroup, m: g.members | some m.parameter }

/** HOT005 invalid-parameter-group error: a parameter is grouped twice
 * message: parameter `{m}` is already in a group
 * at: m "named again here"
 * also: m.repeats "first named here"
 * help: remove one of the two
 * fix: unsafe remove m
 * why: Heat refuses a parameter that is in two groups, or twice in one.
 * source: RR-9317, section 7.1.2
 */
assert GroupsAreDisjoint { all g: ParameterGroup, m: g.members | no m.repeats }

/** HOT005 invalid-parameter-group warning: two parameter groups have the same label
 * message: two parameter groups have the label `{g.label}`
 * at: h "same label"
 * also: g "first used here"
 * help: give them different labels
 * why: Users who fill in the form see two groups with the same name.
 * source: RR-9317, section 7.1.2
 */
assert GroupsHaveDifferentLabels { all disj g, h: ParameterGroup | no g.label & h.label }

/** HOT005 invalid-parameter-group warning: a parameter group is empty
 * message: this parameter group is empty
 * at: g
 * help: list parameters under `parameters`, or remove the group
 * why: An empty group has no effect.
 * source: RR-9317, section 7.1.2
 */
assert GroupsHaveMembers { all g: ParameterGroup | some g.members }

/** HOT006 invalid-parameter-type error: a constraint does not apply to the type of its parameter
 * message: constraint `{c.kind}` does not apply to parameter `{p}` of type `{p.type}`
 * at: c "does not apply to this type"
 * also: p.type
 * help: use a constraint that the type supports: `length` and `allowed_pattern` for strings, `range` for numbers
 * why: Heat refuses constraints that the type of the parameter does not support.
 * source: RR-9317, section 7.1.2, with the kinds of Heat 27
 */
assert ConstraintsFitTheType {
  all p: Parameter, c: p.constraints |
    p.type in KnownParameterType implies c in FittingConstraint
}

/** HOT006 invalid-parameter-type error: a parameter has an unknown type
 * message: unknown parameter type `{t}`
 * at: t "unknown type"
 * help: use `string`, `number`, `comma_delimited_list`, `json` or `boolean`
 * why: Heat refuses parameters of unknown types.
 * source: Heat 27
 */
assert TypesAreKnown { all t: ParameterType | t in KnownParameterType }

/** HOT007 repeated-constraint warning: a parameter has two constraints of the same kind
 * message: parameter `{p}` has two `{c.kind}` constraints
 * at: d "second `{c.kind}`"
 * also: c "first `{c.kind}`"
 * help: merge them into one
 * why: Both apply, which is rarely intended. Several `allowed_pattern` constraints are common and not reported.
 * source: RR-9317, section 7.1.2
 */
assert OneConstraintOfAKind {
  all p: Parameter, disj c, d: p.constraints |
    some name_of[c.kind] & name_of[d.kind] implies named[c.kind, "allowed_pattern"]
}

/** HOT008 invalid-constraint error: a length or range has no bounds
 * message: `{c.kind}` has neither `min` nor `max`
 * at: c "no bounds"
 * help: add `min`, `max` or both
 * why: Heat refuses a constraint that restricts nothing.
 * source: RR-9317, section 7.1.2
 */
assert BoundsAreGiven {
  all c: ParameterConstraint | named[c.kind, "length" + "range"] implies some c.min + c.max
}

/** HOT008 invalid-constraint error: the maximum of a constraint is below its minimum
 * message: `max` (`{c.max}`) is below `min` (`{c.min}`)
 * at: c.max "below the minimum"
 * also: c.min "minimum"
 * help: swap the two
 * fix: unsafe replace c.max with `{c.min}`; replace c.min with `{c.max}`
 * why: No value satisfies the constraint, so the stack can never be created.
 * source: RR-9317, section 7.1.2
 */
assert BoundsAreOrdered { all c: ParameterConstraint | not less[c.max, c.min] }

/** HOT008 invalid-constraint error: the step of a modulo constraint is zero
 * message: the `step` of a modulo constraint cannot be 0
 * at: c.step
 * help: use a step of 1 or more
 * why: Heat refuses it: nothing is a multiple of zero.
 * source: RR-9317, section 7.1.2
 */
assert StepIsNotZero { all c: ParameterConstraint | name_of[c.step] != "0" }

/** HOT008 invalid-constraint error: the offset of a modulo constraint does not fit its step
 * message: `offset` (`{c.offset}`) does not fit `step` (`{c.step}`)
 * at: c.offset "must be smaller than the step and have the same sign"
 * also: c.step
 * why: Heat refuses it: no remainder can be that large.
 * source: RR-9317, section 7.1.2
 */
assert OffsetFitsTheStep {
  all c: ParameterConstraint | (some c.offset and some c.step and not named[c.offset, "0"]) implies
    smaller_magnitude[c.offset, c.step] and (negative[c.offset] iff negative[c.step])
}

/** HOT008 invalid-constraint warning: a bound of a length is negative
 * message: a length cannot be `{b}`
 * at: b
 * help: use 0 or more, or leave the bound out
 * why: Heat accepts it, but it allows everything or nothing.
 * source: RR-9317, section 7.1.2
 */
assert LengthsAreNotNegative {
  all c: ParameterConstraint, b: c.min + c.max | named[c.kind, "length"] implies not negative[b]
}

/** HOT009 invalid-parameter-value error: the value of a parameter has the wrong type
 * message: the value of parameter `{p}` is not a `{v.mistyped}`
 * at: v "not a `{v.mistyped}`"
 * also: p
 * help: use a `{v.mistyped}` value, or change `type`
 * why: Heat refuses the value when the stack is created.
 * source: ours
 */
assert ValuesAreOfTheType { all p: Parameter, v: p.default + p.value | no v.mistyped }

/** HOT009 invalid-parameter-value error: the value of a parameter violates its constraints
 * message: the value `{v}` of parameter `{p}` violates its `{c.kind}` constraint
 * at: v "not allowed"
 * also: c "by this constraint"
 * help: change the value or the constraint
 * why: Heat refuses the value when the stack is created; a default that is refused can never be used.
 * source: ours
 */
assert ValuesSatisfyConstraints { all p: Parameter, v: p.default + p.value, c: v.violates | c not in ParameterConstraint }

/** HOT017 unused-definition warning: a parameter is never used
 * message: parameter `{p}` is never used
 * at: p "never used"
 * help: remove it
 * fix: unsafe remove p
 * why: Users are asked for a value that has no effect.
 * source: ours
 */
assert ParametersAreUsed {
  all t: Template - PartialTemplate, p: t.parameters | some r: Reference | p in r.target
}
