/**
 * Aeolus actions: bind and unbind.
 *
 * The administrator creates or removes a binding and tells the two components which role to add to, or
 * to remove from, their ports. `z1` provides and `z2` requires.
 *
 * Source: INRIA research report 9317, sections 8.3.2 and 8.3.3. Corrections are marked with their key in
 * docs/models.md. Parameters that the report declares `s: Sort` are names of interfaces (B2).
 */
module aeolus/bind

open lg/location_graphs
open lg/semantics
open aeolus/model
open aeolus/frame

// ---------------------------------------------------------------------------------------------
// Bind (report, 8.3.2): z1 provides, z2 requires. Each gets a role to which the new binding is attached.
// ---------------------------------------------------------------------------------------------

/** No binding of this interface is there. Stronger than the rule [Bind], which asks it for z1 and z2 only. */
pred Unbound[c: Configuration, disj z1, z2: Aeolus_component, s: Name] {
  z1 + z2 in c.components
  no b: c.bindings | b.bsort = s
}

/** The same, in the administrator's picture. */
pred UnboundZ[c: ZConfiguration, disj z1, z2: Aeolus_component, s: Name] {
  z1 + z2 in c.zcomponents
  no b: c.zbindings | b.bsort = s
}

pred PortFromSort[p: Port, z: Aeolus_component, s: Name] {
  p in z.process.pprov + z.process.preq
  p.psort = s
}

pred AddRoleToPort[q, p: Port, r: Role] {
  q.psort = p.psort
  q.roles = p.roles + r
}

/** `zp` is `z` with one more role on its provided port `s`. */
pred AddProvidedRole[zp, z: Aeolus_component, s: Name, r: Role] {
  some p, q: Port {
    PortFromSort[p, z, s]
    p in z.process.pprov
    AddRoleToPort[q, p, r]
    zp.name = z.name
    zp.provided = z.provided + r
    zp.required = z.required
    zp.process.cnotif = z.process.cnotif
    zp.process.current = z.process.current
    zp.process.template = z.process.template
    zp.process.pprov = z.process.pprov - p + q
    zp.process.preq = z.process.preq
  }
}

/** `zp` is `z` with one more role on its required port `s`. */
pred AddRequiredRole[zp, z: Aeolus_component, s: Name, r: Role] {
  some p, q: Port {
    PortFromSort[p, z, s]
    p in z.process.preq
    AddRoleToPort[q, p, r]
    zp.name = z.name
    zp.provided = z.provided
    zp.required = z.required + r
    zp.process.cnotif = z.process.cnotif
    zp.process.current = z.process.current
    zp.process.template = z.process.template
    zp.process.pprov = z.process.pprov
    zp.process.preq = z.process.preq - p + q
  }
}

/** The binding has these attributes. */
pred NewBinding[b: Aeolus_binding, s: Name, notif, providing, requiring: Role] {
  b.bsort = s
  b.bnotif = notif
  b.prov = providing
  b.req = requiring
}

/** Tells a component which role to add to its provided port. */
sig BdpOp extends Value {
  bdprole: one Role
}

/** Tells a component which role to add to its required port. */
sig BdrOp extends Value {
  bdrrole: one Role
}

pred Global_Bind_Transition[
  c1, c2: Configuration, disj z1, z2: Aeolus_component, s: Name, t: Transition
] {
  some a1, a2: Administrator, b: Aeolus_binding, disj z1p, z2p: Aeolus_component,
  disj r, r1, r2: Role {
    BetweenConfigurations[c1, c2, t]
    c1.admin = a1
    z1 + z2 in c1.components & a1.process.zconfig.zcomponents
    s in z1.process.pprov.psort & z2.process.preq.psort
    Unbound[c1, z1, z2, s]
    Fresh[r + r1 + r2, t]
    SameAdministrator[a2, a1]
    Notifications[a2, a1, none, r]
    KnownComponents[a2, a1, z1 + z2, z1p + z2p]
    KnownBindings[a2, a1, none, b]
    NewBinding[b, s, r, r1, r2]
    AddProvidedRole[z1p, z1, s, r1]
    AddRequiredRole[z2p, z2, s, r2]
    c2.admin = a2
    c2.components = c1.components - (z1 + z2) + z1p + z2p
    c2.bindings = c1.bindings + b
  }
}

/** B6: in the report the requiring side gets the operation of the providing side, and nobody answers. */
pred Admin_Binding_Transition[
  a1: Administrator, disj z1, z2: Aeolus_component, s: Name, t: Transition
] {
  some a2: Administrator, b: Aeolus_binding, disj z1p, z2p: Aeolus_component,
  disj r, r1, r2: Role, disj i1, i2: Interaction, v1: BdpOp, v2: BdrOp {
    t.init = a1
    z1 + z2 in a1.process.zconfig.zcomponents
    s in z1.process.pprov.psort & z2.process.preq.psort
    UnboundZ[a1.process.zconfig, z1, z2, s]
    Fresh[r + r1 + r2, t]
    SameAdministrator[a2, a1]
    Notifications[a2, a1, none, r]
    KnownComponents[a2, a1, z1 + z2, z1p + z2p]
    KnownBindings[a2, a1, none, b]
    NewBinding[b, s, r, r1, r2]
    AddProvidedRole[z1p, z1, s, r1]
    AddRequiredRole[z2p, z2, s, r2]
    Signal[i1, z1.process.cnotif, Minus, v1] and v1.bdprole = r1
    Signal[i2, z2.process.cnotif, Minus, v2] and v2.bdrrole = r2
    t.label.signals = i1 + i2
    t.term = a2 + b
  }
}

pred Provided_Comp_Binding_Transition[z: Aeolus_component, s: Name, t: Transition] {
  some zp: Aeolus_component, r: Role, i: Interaction, v: BdpOp {
    t.init = z
    Signal[i, z.process.cnotif, Plus, v] and v.bdprole = r
    t.label.signals = i
    AddProvidedRole[zp, z, s, r]
    t.term = zp
  }
}

pred Required_Comp_Binding_Transition[z: Aeolus_component, s: Name, t: Transition] {
  some zp: Aeolus_component, r: Role, i: Interaction, v: BdrOp {
    t.init = z
    Signal[i, z.process.cnotif, Plus, v] and v.bdrrole = r
    t.label.signals = i
    AddRequiredRole[zp, z, s, r]
    t.term = zp
  }
}

pred Binding_Transition[
  c1, c2: Configuration, z1, z2: Aeolus_component, s: Name, t: Transition
] {
  some ta, tz1, tz2, t1: Transition {
    z1 + z2 in c1.components
    ta.env = t.env and tz1.env = t.env and tz2.env = t.env and t1.env = t.env
    Admin_Binding_Transition[c1.admin, z1, z2, s, ta]
    Provided_Comp_Binding_Transition[z1, s, tz1]
    Required_Comp_Binding_Transition[z2, s, tz2]
    Synchronizing_Transition[t1, ta + tz1 + tz2]
    Uncoupling_Transition[t, t1, c1.locations - (c1.admin + z1 + z2)]
    t.init = c1.locations
    ConfigurationFromLocationSet[c2, t.term]
  }
}

// ---------------------------------------------------------------------------------------------
// Unbind (report, 8.3.3)
// ---------------------------------------------------------------------------------------------

fun BindingFromConfiguration[
  c: Configuration, z1, z2: Aeolus_component, s: Name
]: set Aeolus_binding {
  { b: c.bindings |
    b.bsort = s and b.prov in z1.process.pprov.roles and b.req in z2.process.preq.roles }
}

fun BindingFromZConfiguration[
  c: ZConfiguration, z1, z2: Aeolus_component, s: Name
]: set Aeolus_binding {
  { b: c.zbindings |
    b.bsort = s and b.prov in z1.process.pprov.roles and b.req in z2.process.preq.roles }
}

pred RemoveRoleFromPort[q, p: Port, r: Role] {
  q.psort = p.psort
  q.roles = p.roles - r
}

/** `zp` is `z` without this role on its provided port `s`. */
pred RemoveProvidedRole[zp, z: Aeolus_component, s: Name, r: Role] {
  some p, q: Port {
    PortFromSort[p, z, s]
    p in z.process.pprov
    RemoveRoleFromPort[q, p, r]
    zp.name = z.name
    zp.provided = z.provided - r
    zp.required = z.required
    zp.process.cnotif = z.process.cnotif
    zp.process.current = z.process.current
    zp.process.template = z.process.template
    zp.process.pprov = z.process.pprov - p + q
    zp.process.preq = z.process.preq
  }
}

/** `zp` is `z` without this role on its required port `s`. B7: the report takes it from `provided`. */
pred RemoveRequiredRole[zp, z: Aeolus_component, s: Name, r: Role] {
  some p, q: Port {
    PortFromSort[p, z, s]
    p in z.process.preq
    RemoveRoleFromPort[q, p, r]
    zp.name = z.name
    zp.provided = z.provided
    zp.required = z.required - r
    zp.process.cnotif = z.process.cnotif
    zp.process.current = z.process.current
    zp.process.template = z.process.template
    zp.process.pprov = z.process.pprov
    zp.process.preq = z.process.preq - p + q
  }
}

/** Tells a binding to disappear. */
one sig UbOp extends Value {}

/** Tells a component which role to remove from its provided port. */
sig UbpOp extends Value {
  ubprole: one Role
}

/** Tells a component which role to remove from its required port. */
sig UbrOp extends Value {
  ubrrole: one Role
}

pred Global_Unbind_Transition[
  c1, c2: Configuration, disj z1, z2: Aeolus_component, s: Name, t: Transition
] {
  some a1, a2: Administrator, disj z1p, z2p: Aeolus_component, b: Aeolus_binding {
    BetweenConfigurations[c1, c2, t]
    c1.admin = a1
    z1 + z2 in c1.components & a1.process.zconfig.zcomponents
    b = BindingFromConfiguration[c1, z1, z2, s]
    SameAdministrator[a2, a1]
    Notifications[a2, a1, b.bnotif, none]
    KnownComponents[a2, a1, z1 + z2, z1p + z2p]
    KnownBindings[a2, a1, b, none]
    RemoveProvidedRole[z1p, z1, s, b.prov]
    RemoveRequiredRole[z2p, z2, s, b.req]
    c2.admin = a2
    c2.components = c1.components - (z1 + z2) + z1p + z2p
    c2.bindings = c1.bindings - b
  }
}

/** B8: the report says `process.template` of an administrator, which has `templates`. */
pred Admin_Unbinding_Transition[
  a1: Administrator, z1, z2: Aeolus_component, s: Name, t: Transition
] {
  some a2: Administrator, z1p, z2p: Aeolus_component, b: Aeolus_binding,
  i, i1, i2: Interaction, v: UbOp, v1: UbpOp, v2: UbrOp {
    t.init = a1
    z1 + z2 in a1.process.zconfig.zcomponents
    s in z1.process.pprov.psort & z2.process.preq.psort
    b = BindingFromZConfiguration[a1.process.zconfig, z1, z2, s]
    SameAdministrator[a2, a1]
    Notifications[a2, a1, b.bnotif, none]
    KnownComponents[a2, a1, z1 + z2, z1p + z2p]
    KnownBindings[a2, a1, b, none]
    RemoveProvidedRole[z1p, z1, s, b.prov]
    RemoveRequiredRole[z2p, z2, s, b.req]
    Signal[i, b.bnotif, Minus, v]
    Signal[i1, z1.process.cnotif, Minus, v1] and v1.ubprole = b.prov
    Signal[i2, z2.process.cnotif, Minus, v2] and v2.ubrrole = b.req
    t.label.signals = i + i1 + i2
    t.term = a2
  }
}

pred Provided_Comp_Unbinding_Transition[z: Aeolus_component, s: Name, t: Transition] {
  some zp: Aeolus_component, r: Role, i: Interaction, v: UbpOp {
    t.init = z
    Signal[i, z.process.cnotif, Plus, v] and v.ubprole = r
    t.label.signals = i
    RemoveProvidedRole[zp, z, s, r]
    t.term = zp
  }
}

pred Required_Comp_Unbinding_Transition[z: Aeolus_component, s: Name, t: Transition] {
  some zp: Aeolus_component, r: Role, i: Interaction, v: UbrOp {
    t.init = z
    Signal[i, z.process.cnotif, Plus, v] and v.ubrrole = r
    t.label.signals = i
    RemoveRequiredRole[zp, z, s, r]
    t.term = zp
  }
}

pred Remove_Binding_Unbinding_Transition[b: Aeolus_binding, t: Transition] {
  some i: Interaction, v: UbOp {
    t.init = b
    Signal[i, b.bnotif, Plus, v]
    t.label.signals = i
    no t.term
  }
}

pred Unbinding_Transition[
  c1, c2: Configuration, disj z1, z2: Aeolus_component, s: Name, t: Transition
] {
  some ta, tz1, tz2, tb, t1: Transition, b: Aeolus_binding {
    z1 + z2 in c1.components
    b in c1.bindings
    ta.env = t.env and tz1.env = t.env and tz2.env = t.env and t1.env = t.env
    Admin_Unbinding_Transition[c1.admin, z1, z2, s, ta]
    Provided_Comp_Unbinding_Transition[z1, s, tz1]
    Required_Comp_Unbinding_Transition[z2, s, tz2]
    Remove_Binding_Unbinding_Transition[b, tb]
    Synchronizing_Transition[t1, ta + tb + tz1 + tz2]
    Uncoupling_Transition[t, t1, c1.locations - (c1.admin + z1 + z2 + b)]
    t.init = c1.locations
    ConfigurationFromLocationSet[c2, t.term]
  }
}
