/** Rules about flavors, key pairs and groups that scale. */
module hot/compute

open hot/vocabulary
open values

/** HOT106 duplicate-flavor-id error: two flavors have the same ID
 * message: the flavors `{f}` and `{g}` have the same ID: `{f.prop_flavorid}`
 * at: g.prop_flavorid "same ID"
 * also: f.prop_flavorid "first used here"
 * help: give them different IDs, or leave `flavorid` out
 * why: Nova refuses the second flavor.
 * source: HOT specification, OS::Nova::Flavor
 */
assert FlavorsAreDifferent {
  all disj f, g: OS_Nova_Flavor | no (f.prop_flavorid & g.prop_flavorid) - "auto"
}

/** HOT310 key-pair-without-key warning: a key pair has no public key
 * message: key pair `{k}` has no `public_key`
 * at: k "has no `public_key`"
 * help: generate a key with `ssh-keygen` and pass its public part as a parameter
 * why: Recent releases of Nova no longer generate keys and refuse the key pair.
 * source: ours
 */
assert KeyPairsHaveAKey { all k: OS_Nova_KeyPair | some k.prop_public_key }

/** HOT111 min-step-not-percent error: a scaling policy sets a minimum step but does not scale by percent
 * message: `{p}` sets `min_adjustment_step`, but its `adjustment_type` is `{p.prop_adjustment_type}`
 * at: p.prop_min_adjustment_step
 * also: p.prop_adjustment_type
 * help: remove `min_adjustment_step`, or use `percent_change_in_capacity`
 * fix: unsafe remove p.prop_min_adjustment_step
 * why: Heat refuses the policy.
 * source: HOT specification, OS::Heat::ScalingPolicy
 */
assert LeastStepIsInPercent {
  all p: OS_Heat_ScalingPolicy | some p.prop_min_adjustment_step implies
    p.prop_adjustment_type = "percent_change_in_capacity"
}

/** HOT239 scaling-sizes-out-of-order error: the sizes of a scaling group are out of order
 * message: the sizes of `{g}` are out of order: min `{g.prop_min_size}`, max `{g.prop_max_size}`
 * at: g.prop_min_size "more than `{g.prop_max_size}`"
 * also: g.prop_max_size
 * help: choose sizes with `min_size` <= `max_size`
 * why: Heat refuses the group.
 * source: RR-9317, section 7.1.4
 */
assert SizesAreInOrder { all g: OS_Heat_AutoScalingGroup | not less[g.prop_max_size, g.prop_min_size] }

/** HOT239 scaling-sizes-out-of-order error: the desired size of a scaling group is out of range
 * message: the desired size `{g.prop_desired_capacity}` of `{g}` is not between `{g.prop_min_size}` and `{g.prop_max_size}`
 * at: g.prop_desired_capacity
 * also: g.prop_min_size
 * also: g.prop_max_size
 * help: choose sizes with `min_size` <= `desired_capacity` <= `max_size`
 * why: Heat refuses the group.
 * source: RR-9317, section 7.1.4
 */
assert DesiredSizeIsAllowed {
  all g: OS_Heat_AutoScalingGroup | less[g.prop_max_size, g.prop_min_size]
    or (not less[g.prop_desired_capacity, g.prop_min_size] and not less[g.prop_max_size, g.prop_desired_capacity])
}

/** HOT239 scaling-sizes-out-of-order error: the sizes of an AWS scaling group are out of order
 * message: the sizes of `{g}` are out of order: min `{g.prop_MinSize}`, max `{g.prop_MaxSize}`
 * at: g.prop_MinSize "more than `{g.prop_MaxSize}`"
 * also: g.prop_MaxSize
 * help: choose sizes with `MinSize` <= `MaxSize`
 * why: Heat refuses the group.
 * source: RR-9317, section 7.1.4
 */
assert AwsSizesAreInOrder { all g: AWS_AutoScaling_AutoScalingGroup | not less[g.prop_MaxSize, g.prop_MinSize] }

/** HOT239 scaling-sizes-out-of-order error: the desired size of an AWS scaling group is out of range
 * message: the desired size `{g.prop_DesiredCapacity}` of `{g}` is not between `{g.prop_MinSize}` and `{g.prop_MaxSize}`
 * at: g.prop_DesiredCapacity
 * also: g.prop_MinSize
 * also: g.prop_MaxSize
 * help: choose sizes with `MinSize` <= `DesiredCapacity` <= `MaxSize`
 * why: Heat refuses the group.
 * source: RR-9317, section 7.1.4
 */
assert AwsDesiredSizeIsAllowed {
  all g: AWS_AutoScaling_AutoScalingGroup | less[g.prop_MaxSize, g.prop_MinSize]
    or (not less[g.prop_DesiredCapacity, g.prop_MinSize] and not less[g.prop_MaxSize, g.prop_DesiredCapacity])
}
