/** Rules about parameters, their groups, their constraints and their values. */
module hot/parameters

open hot/vocabulary
open values

/** HOT005 error: a parameter group names only parameters of the template
 * message: the group names `{m}`, which is no parameter
 * at: m "no such parameter"
 * help: {suggest m from Parameter}
 * why: Heat refuses a group with an unknown parameter.
 * source: RR-9317, section 7.1.2
 */
assert GroupsNameParameters { all g: ParameterGroup, m: g.members | some m.parameter }

/** HOT005 error: a parameter is in one group at most, and once
 * message: the parameter `{m}` is in a group already
 * at: m "named again here"
 * also: m.repeats "named first here"
 * help: remove one of the two
 * why: Heat refuses a parameter that is in two groups or twice in one.
 * source: RR-9317, section 7.1.2
 */
assert GroupsAreDisjoint { all g: ParameterGroup, m: g.members | no m.repeats }

/** HOT005 warning: parameter groups have different labels
 * message: two parameter groups have the label `{g.label}`
 * at: h "same label"
 * also: g "as here"
 * help: give them different labels
 * why: A form that shows the groups shows two of the same name.
 * source: RR-9317, section 7.1.2
 */
assert GroupsHaveDifferentLabels { all disj g, h: ParameterGroup | no g.label & h.label }

/** HOT005 warning: a parameter group has members
 * message: the parameter group is empty
 * at: g
 * help: list parameters under `parameters`, or remove the group
 * why: An empty group groups nothing.
 * source: RR-9317, section 7.1.2
 */
assert GroupsHaveMembers { all g: ParameterGroup | some g.members }

/** HOT006 error: a constraint fits the type of its parameter
 * message: `{c.kind}` does not fit the parameter `{p}` of type `{p.type}`
 * at: c "not for this type"
 * also: p.type
 * help: use a constraint that the type has: a string `length` and `allowed_pattern`, a number `range`
 * why: Heat refuses a constraint that the type of the parameter does not have.
 * source: RR-9317, section 7.1.2, with the kinds of Heat 27
 */
assert ConstraintsFitTheType {
  all p: Parameter, c: p.constraints |
    p.type in KnownParameterType implies c in FittingConstraint
}

/** HOT006 error: a parameter has a type that there is
 * message: `{t}` is not a type of parameters
 * at: t "unknown type"
 * help: use `string`, `number`, `comma_delimited_list`, `json` or `boolean`
 * why: Heat refuses a parameter of a type that it does not know.
 * source: Heat 27
 */
assert TypesAreKnown { all t: ParameterType | t in KnownParameterType }

/** HOT007 warning: a parameter has one constraint of a kind
 * message: the parameter `{p}` has two constraints `{c.kind}`
 * at: d "second of the kind"
 * also: c "first of the kind"
 * help: join them into one
 * why: Both apply, which is rarely meant; several `allowed_pattern` are, and are not reported.
 * source: RR-9317, section 7.1.2
 */
assert OneConstraintOfAKind {
  all p: Parameter, disj c, d: p.constraints |
    some name_of[c.kind] & name_of[d.kind] implies named[c.kind, "allowed_pattern"]
}

/** HOT008 error: a length or range has a bound
 * message: `{c.kind}` has neither `min` nor `max`
 * at: c "no bound"
 * help: give `min`, `max` or both
 * why: Heat refuses a constraint that constrains nothing.
 * source: RR-9317, section 7.1.2
 */
assert BoundsAreGiven {
  all c: ParameterConstraint | named[c.kind, "length" + "range"] implies some c.min + c.max
}

/** HOT008 error: the upper bound of a constraint is not below its lower bound
 * message: `max` `{c.max}` is below `min` `{c.min}`
 * at: c.max "below the lower bound"
 * also: c.min "lower bound"
 * help: swap the two
 * why: No value satisfies the constraint, so the stack can never be created.
 * source: RR-9317, section 7.1.2
 */
assert BoundsAreOrdered { all c: ParameterConstraint | not less[c.max, c.min] }

/** HOT008 error: the step of a modulo is not zero
 * message: the `step` of a modulo cannot be 0
 * at: c.step
 * help: use a step of 1 or more
 * why: Heat refuses it: nothing is a multiple of zero.
 * source: RR-9317, section 7.1.2
 */
assert StepIsNotZero { all c: ParameterConstraint | name_of[c.step] != "0" }

/** HOT008 error: the offset of a modulo is smaller than its step, with the same sign
 * message: the `offset` `{c.offset}` does not go with the `step` `{c.step}`
 * at: c.offset "must be smaller than the step and of its sign"
 * also: c.step
 * why: Heat refuses it: no remainder can be so large.
 * source: RR-9317, section 7.1.2
 */
assert OffsetFitsTheStep {
  all c: ParameterConstraint | (some c.offset and some c.step and not named[c.offset, "0"]) implies
    smaller_magnitude[c.offset, c.step] and (negative[c.offset] iff negative[c.step])
}

/** HOT008 warning: a bound of a length is not negative
 * message: a length is never below zero, and the bound is `{b}`
 * at: b
 * help: use 0 or more, or leave the bound out
 * why: Heat accepts it, and it constrains nothing or everything.
 * source: RR-9317, section 7.1.2
 */
assert LengthsAreNotNegative {
  all c: ParameterConstraint, b: c.min + c.max | named[c.kind, "length"] implies not negative[b]
}

/** HOT009 error: the value of a parameter is of its type
 * message: the value of `{p}` is not of the type `{v.mistyped}`
 * at: v "not of the type `{v.mistyped}`"
 * also: p
 * help: give a value of that type, or change `type`
 * why: Heat refuses the value when the stack is created.
 * source: ours
 */
assert ValuesAreOfTheType { all p: Parameter, v: p.default + p.value | no v.mistyped }

/** HOT009 error: the value of a parameter satisfies its constraints
 * message: the value `{v}` of `{p}` breaks its constraint `{c.kind}`
 * at: v "not allowed"
 * also: c "by this constraint"
 * help: change the value or the constraint
 * why: Heat refuses the value when the stack is created; a default that is refused can never be used.
 * source: ours
 */
assert ValuesSatisfyConstraints { all p: Parameter, v: p.default + p.value, c: v.violates | c not in ParameterConstraint }

/** HOT017 warning: a parameter is used
 * message: nothing uses the parameter `{p}`
 * at: p "never used"
 * help: remove it
 * why: Whoever creates the stack is asked for a value that changes nothing.
 * source: ours
 */
assert ParametersAreUsed {
  all t: Template - PartialTemplate, p: t.parameters | some r: Reference | p in r.target
}
