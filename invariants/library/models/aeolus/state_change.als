/**
 * Aeolus actions: state changes, of one component and of several at once.
 *
 * A component takes a transition of its life cycle and notifies its administrator of the new state.
 *
 * Source: INRIA research report 9317, section 8.3.1. Corrections are marked with their key in
 * docs/models.md.
 */
module aeolus/state_change

open lg/location_graphs
open lg/semantics
open aeolus/model
open aeolus/frame

// ---------------------------------------------------------------------------------------------
// State change (report, 8.3.1). B10: as printed, the predicate takes sets, and nothing demands a
// successor for each component: the set of successors may be empty and the "state change" deletes the
// component. The proof and the commands of the report speak of one component; so does this predicate.
// ---------------------------------------------------------------------------------------------

/** `zp` is `z` in state `q`. */
pred ChangeState[zp, z: Aeolus_component, q: DL_State] {
  zp.name = z.name
  zp.provided = z.provided
  zp.required = z.required
  zp.process.cnotif = z.process.cnotif
  zp.process.current = q
  zp.process.template = z.process.template
  zp.process.preq = z.process.preq
  zp.process.pprov = z.process.pprov
}

/** `zp` is `z` after one transition of its life cycle. */
pred FollowsLifeCycle[zp, z: Aeolus_component] {
  some dt: z.process.template.dtransitions |
    dt.initial = z.process.current and ChangeState[zp, z, dt.terminal]
}

/** Notification of a new state. */
sig ScOp extends Value {
  scstate: one DL_State
}

pred Global_StateChange_Transition[c1, c2: Configuration, z: Aeolus_component, t: Transition] {
  some a1, a2: Administrator, zp: Aeolus_component {
    BetweenConfigurations[c1, c2, t]
    c1.admin = a1
    z in c1.components & a1.process.zconfig.zcomponents
    SameAdministrator[a2, a1]
    Notifications[a2, a1, none, none]
    KnownComponents[a2, a1, z, zp]
    KnownBindings[a2, a1, none, none]
    FollowsLifeCycle[zp, z]
    c2.admin = a2
    c2.components = c1.components - z + zp
    c2.bindings = c1.bindings
  }
}

/** B11: that the bindings known to the administrator stay the same is missing in the report. */
pred Admin_State_Change_Transition[a1: Administrator, z: Aeolus_component, t: Transition] {
  some a2: Administrator, zp: Aeolus_component, i: Interaction, v: ScOp {
    z in a1.process.zconfig.zcomponents
    t.init = a1
    SameAdministrator[a2, a1]
    Notifications[a2, a1, none, none]
    KnownComponents[a2, a1, z, zp]
    KnownBindings[a2, a1, none, none]
    FollowsLifeCycle[zp, z]
    Signal[i, z.process.cnotif, Minus, v]
    v.scstate = zp.process.current
    t.label.signals = i
    t.term = a2
  }
}

pred Comp_State_Change_Transition[z: Aeolus_component, t: Transition] {
  some zp: Aeolus_component, i: Interaction, v: ScOp {
    t.init = z
    FollowsLifeCycle[zp, z]
    Signal[i, z.process.cnotif, Plus, v]
    v.scstate = zp.process.current
    t.label.signals = i
    t.term = zp
  }
}

/** B1: the report uses `z` and `ts` here without declaring them. */
pred State_Change_Transition[c1, c2: Configuration, z: Aeolus_component, t: Transition] {
  some ta, tz, t1: Transition {
    z in c1.components
    ta.env = t.env and tz.env = t.env and t1.env = t.env
    Admin_State_Change_Transition[c1.admin, z, ta]
    Comp_State_Change_Transition[z, tz]
    Synchronizing_Transition[t1, ta + tz]
    Uncoupling_Transition[t, t1, c1.locations - (c1.admin + z)]
    ConfigurationFromLocationSet[c2, t.term]
  }
}

// ---------------------------------------------------------------------------------------------
// State change of several components at once. B3: the report uses these predicates and prints none of
// them. They are the rule [Change] of its figure 16: every component of a non-empty set `zs` takes one
// transition of its own life cycle in the same step, and `zps` are what they become.
// ---------------------------------------------------------------------------------------------

/**
 * Each component of `zs` has one successor in `zps`, and `zps` has nothing else. A component and its
 * successor have the same name, and the components of a configuration have different ones.
 */
pred FollowLifeCycles[zs, zps: set Aeolus_component] {
  some zs
  all z: zs | one zp: zps | zp.name = z.name
  all zp: zps | some z: zs | FollowsLifeCycle[zp, z]
}

pred Global_Multi_StateChange_Transition[
  c1, c2: Configuration, zs, zps: set Aeolus_component, t: Transition
] {
  some a1, a2: Administrator {
    BetweenConfigurations[c1, c2, t]
    c1.admin = a1
    zs in c1.components & a1.process.zconfig.zcomponents
    SameAdministrator[a2, a1]
    Notifications[a2, a1, none, none]
    KnownComponents[a2, a1, zs, zps]
    KnownBindings[a2, a1, none, none]
    FollowLifeCycles[zs, zps]
    c2.admin = a2
    c2.components = c1.components - zs + zps
    c2.bindings = c1.bindings
  }
}

/** The administrator is notified by each component of `zs` of the state it takes in `zps`. */
pred Admin_Multi_State_Change_Transition[
  a1: Administrator, zs, zps: set Aeolus_component, t: Transition
] {
  some a2: Administrator {
    zs in a1.process.zconfig.zcomponents
    t.init = a1
    SameAdministrator[a2, a1]
    Notifications[a2, a1, none, none]
    KnownComponents[a2, a1, zs, zps]
    KnownBindings[a2, a1, none, none]
    FollowLifeCycles[zs, zps]
    t.label.signals.irole = zs.process.cnotif
    all z: zs, zp: zps | zp.name = z.name implies
      some i: t.label.signals, v: ScOp |
        Signal[i, z.process.cnotif, Minus, v] and v.scstate = zp.process.current
    t.term = a2
  }
}

/** `tzs` are the local transitions of the components, one each. */
pred Multi_State_Change_Transition[
  c1, c2: Configuration, zs, zps: set Aeolus_component, tzs: set Transition, t: Transition
] {
  some ta, t1: Transition {
    zs in c1.components
    ta.env = t.env and tzs.env = t.env and t1.env = t.env
    Admin_Multi_State_Change_Transition[c1.admin, zs, zps, ta]
    all z: zs | one tz: tzs | tz.init = z
    all tz: tzs | some z: zs | Comp_State_Change_Transition[z, tz]
    tzs.term = zps
    Synchronizing_Transition[t1, ta + tzs]
    Uncoupling_Transition[t, t1, c1.locations - (c1.admin + zs)]
    ConfigurationFromLocationSet[c2, t.term]
  }
}
