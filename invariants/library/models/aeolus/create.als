/**
 * Aeolus actions: creation and deletion of a component.
 *
 * The administrator makes a new component in the initial state of its type; or it tells a component, and
 * the bindings attached to it, to disappear.
 *
 * Source: INRIA research report 9317, sections 8.3.4 and 8.3.5. Corrections are marked with their key in
 * docs/models.md.
 */
module aeolus/create

open lg/location_graphs
open lg/semantics
open aeolus/model
open aeolus/frame

// ---------------------------------------------------------------------------------------------
// New (report, 8.3.4)
// ---------------------------------------------------------------------------------------------

/** `z` is a new instance of the type. B4: interface names are compared with names, not with ports. */
pred NewComponentFromTemplate[z: Aeolus_component, u: DL_Machine, r: Role, n: Name] {
  z.name = n
  z.provided = r
  no z.required
  z.process.current = u.dinit
  z.process.template = u
  z.process.pprov.psort = u.pports
  z.process.preq.psort = u.rports
  z.process.cnotif = r
}

pred Global_New_Component_Transition[
  c1, c2: Configuration, u: DL_Machine, t: Transition
] {
  some a1, a2: Administrator, z: Aeolus_component, r: Role, n: Name {
    BetweenConfigurations[c1, c2, t]
    c1.admin = a1
    u in a1.process.templates
    Fresh[r + n, t]
    NewComponentFromTemplate[z, u, r, n]
    SameAdministrator[a2, a1]
    Notifications[a2, a1, none, r]
    KnownComponents[a2, a1, none, z]
    KnownBindings[a2, a1, none, none]
    c2.admin = a2
    c2.components = c1.components + z
    c2.bindings = c1.bindings
  }
}

pred Admin_New_Transition[a1: Administrator, u: DL_Machine, t: Transition] {
  some a2: Administrator, z: Aeolus_component, r: Role, n: Name {
    t.init = a1
    z not in a1.process.zconfig.zcomponents
    Fresh[r + n, t]
    NewComponentFromTemplate[z, u, r, n]
    SameAdministrator[a2, a1]
    Notifications[a2, a1, none, r]
    KnownComponents[a2, a1, none, z]
    KnownBindings[a2, a1, none, none]
    no t.label.signals
    t.term = a2 + z
  }
}

pred New_Transition[c1, c2: Configuration, u: DL_Machine, t: Transition] {
  some ta: Transition {
    t.init = c1.locations
    Admin_New_Transition[c1.admin, u, ta]
    Uncoupling_Transition[t, ta, c1.locations - c1.admin]
    ConfigurationFromLocationSet[c2, t.term]
  }
}

// ---------------------------------------------------------------------------------------------
// Delete (report, 8.3.5): with the component go the bindings attached to it.
// ---------------------------------------------------------------------------------------------

/** Those of the bindings that end at `z`. B13: the report ranges over all bindings there are. */
fun BindingsToComponent[bs: set Aeolus_binding, z: Aeolus_component]: set Aeolus_binding {
  { b: bs | b.prov in z.process.pprov.roles or b.req in z.process.preq.roles }
}

/** Tells a component or a binding to disappear. */
one sig DelOp extends Value {}

pred Global_Delete_Component_Transition[
  c1, c2: Configuration, z: Aeolus_component, t: Transition
] {
  some a1, a2: Administrator | let bs = BindingsToComponent[c1.bindings, z] {
    BetweenConfigurations[c1, c2, t]
    c1.admin = a1
    z in c1.components
    SameAdministrator[a2, a1]
    Notifications[a2, a1, z.process.cnotif + bs.bnotif, none]
    KnownComponents[a2, a1, z, none]
    KnownBindings[a2, a1, bs, none]
    c2.admin = a2
    c2.components = c1.components - z
    c2.bindings = c1.bindings - bs
  }
}

/** B9: the administrator is on the requiring side of the bindings' notification roles: `Minus`. */
pred Admin_Delete_Transition[a1: Administrator, z: Aeolus_component, t: Transition] {
  some a2: Administrator, i: Interaction, is: set Interaction |
  let bs = BindingsToComponent[a1.process.zconfig.zbindings, z] {
    t.init = a1
    z in a1.process.zconfig.zcomponents
    SameAdministrator[a2, a1]
    Notifications[a2, a1, z.process.cnotif + bs.bnotif, none]
    KnownComponents[a2, a1, z, none]
    KnownBindings[a2, a1, bs, none]
    Signal[i, z.process.cnotif, Minus, DelOp]
    is = { j: Interaction | one b: bs | Signal[j, b.bnotif, Minus, DelOp] }
    t.label.signals = i + is
    t.term = a2
  }
}

pred Component_Delete_Transition[z: Aeolus_component, t: Transition] {
  some i: Interaction {
    t.init = z
    Signal[i, z.process.cnotif, Plus, DelOp]
    t.label.signals = i
    no t.term
  }
}

pred Binding_Delete_Transition[b: Aeolus_binding, t: Transition] {
  some i: Interaction {
    t.init = b
    Signal[i, b.bnotif, Plus, DelOp]
    t.label.signals = i
    no t.term
  }
}

pred Delete_Transition[c1, c2: Configuration, z: Aeolus_component, t: Transition] {
  some ta, tz, t1: Transition, tbs: set Transition {
    t.init = c1.locations
    Admin_Delete_Transition[c1.admin, z, ta]
    Component_Delete_Transition[z, tz]
    all tb: tbs | Binding_Delete_Transition[tb.init, tb]
    Synchronizing_Transition[t1, ta + tz + tbs]
    Uncoupling_Transition[t, t1, c1.locations - (ta.init + tz.init + tbs.init)]
    ConfigurationFromLocationSet[c2, t.term]
  }
}
