/** Rules about flavors, key pairs and groups that scale. */
module hot/compute

open hot/vocabulary
open values

/** HOT106 error: flavors have different identifiers
 * message: the flavors `{f}` and `{g}` have the identifier `{f.prop_flavorid}`
 * at: g.prop_flavorid "same identifier"
 * also: f.prop_flavorid "as here"
 * help: give them different identifiers, or leave `flavorid` out
 * why: Nova refuses the second flavor.
 * source: HOT specification, OS::Nova::Flavor
 */
assert FlavorsAreDifferent {
  all disj f, g: OS_Nova_Flavor | no (f.prop_flavorid & g.prop_flavorid) - "auto"
}

/** HOT310 warning: a key pair has a public key
 * message: `{k}` has no `public_key`
 * at: k "no key"
 * help: generate a key with `ssh-keygen` and pass its public part as a parameter
 * why: Newer releases of Nova do not generate keys any more and refuse the key pair.
 * source: ours
 */
assert KeyPairsHaveAKey { all k: OS_Nova_KeyPair | some k.prop_public_key }

/** HOT111 error: only a policy in percent has a least step
 * message: `{p}` has `min_adjustment_step` and its `adjustment_type` is `{p.prop_adjustment_type}`
 * at: p.prop_min_adjustment_step
 * also: p.prop_adjustment_type
 * help: remove `min_adjustment_step`, or use `percent_change_in_capacity`
 * why: Heat refuses the policy.
 * source: HOT specification, OS::Heat::ScalingPolicy
 */
assert LeastStepIsInPercent {
  all p: OS_Heat_ScalingPolicy | some p.prop_min_adjustment_step implies
    p.prop_adjustment_type = "percent_change_in_capacity"
}

/** HOT239 error: the sizes of a scaling group are in order
 * message: the sizes of `{g}` are not in order: at least `{g.prop_min_size}`, desired `{g.prop_desired_capacity}`, at most `{g.prop_max_size}`
 * at: g.prop_desired_capacity
 * also: g.prop_min_size
 * also: g.prop_max_size
 * help: choose sizes with `min_size` <= `desired_capacity` <= `max_size`
 * why: Heat refuses the group.
 * source: RR-9317, section 7.1.4
 */
assert SizesAreInOrder {
  all g: OS_Heat_AutoScalingGroup |
    not less[g.prop_max_size, g.prop_min_size]
    and not less[g.prop_desired_capacity, g.prop_min_size]
    and not less[g.prop_max_size, g.prop_desired_capacity]
}

/** HOT239 error: the sizes of an AWS scaling group are in order
 * message: the sizes of `{g}` are not in order: at least `{g.prop_MinSize}`, desired `{g.prop_DesiredCapacity}`, at most `{g.prop_MaxSize}`
 * at: g.prop_DesiredCapacity
 * also: g.prop_MinSize
 * also: g.prop_MaxSize
 * help: choose sizes with `MinSize` <= `DesiredCapacity` <= `MaxSize`
 * why: Heat refuses the group.
 * source: RR-9317, section 7.1.4
 */
assert AwsSizesAreInOrder {
  all g: AWS_AutoScaling_AutoScalingGroup |
    not less[g.prop_MaxSize, g.prop_MinSize]
    and not less[g.prop_DesiredCapacity, g.prop_MinSize]
    and not less[g.prop_MaxSize, g.prop_DesiredCapacity]
}
