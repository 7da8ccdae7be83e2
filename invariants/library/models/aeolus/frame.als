/**
 * Aeolus actions: what they have in common.
 *
 * What a step changes in an administrator and what it leaves alone, what a signal is, and how a
 * configuration is read off a set of locations.
 *
 * Source: INRIA research report 9317, section 8.3, where these clauses are repeated in every action.
 */
module aeolus/frame

open lg/location_graphs
open lg/semantics
open aeolus/model

/** Identity, provided roles and component types are the same. */
pred SameAdministrator[a2, a1: Administrator] {
  a2.name = a1.name
  a2.provided = a1.provided
  a2.process.templates = a1.process.templates
}

/** The notification roles are those of `a1` without `gone` and with `fresh`. */
pred Notifications[a2, a1: Administrator, gone, fresh: set Role] {
  a2.process.anotif = a1.process.anotif - gone + fresh
  a2.required = a1.required - gone + fresh
}

/** The picture of the components is that of `a1` without `gone` and with `fresh`. */
pred KnownComponents[a2, a1: Administrator, gone, fresh: set Aeolus_component] {
  a2.process.zconfig.zcomponents = a1.process.zconfig.zcomponents - gone + fresh
}

/** The picture of the bindings is that of `a1` without `gone` and with `fresh`. */
pred KnownBindings[a2, a1: Administrator, gone, fresh: set Aeolus_binding] {
  a2.process.zconfig.zbindings = a1.process.zconfig.zbindings - gone + fresh
}

/** A transition between two whole configurations that shows nothing outside. */
pred BetweenConfigurations[c1, c2: Configuration, t: Transition] {
  t.init = c1.locations
  no t.label.signals
  t.term = c2.locations
}

/** The interaction offers this value over this role on this side. */
pred Signal[i: Interaction, r: Role, p: Polarity, v: Value] {
  i.irole = r
  i.polarity in p
  i.payload = v
}

fun AdminFromLocationSet[s: set Location]: set Administrator {
  { a: Administrator | a in s }
}

fun ComponentsFromLocationSet[s: set Location]: set Aeolus_component {
  { z: Aeolus_component | z in s }
}

fun BindingsFromLocationSet[s: set Location]: set Aeolus_binding {
  { b: Aeolus_binding | b in s }
}

/** The configuration consists of these locations. */
pred ConfigurationFromLocationSet[c: Configuration, s: set Location] {
  c.locations = s
  c.admin = AdminFromLocationSet[s]
  c.components = ComponentsFromLocationSet[s]
  c.bindings = BindingsFromLocationSet[s]
}

/**
 * None of these was known before the step. B12: for bind the report says `r + r1 + r2 not in ...`, which
 * holds as soon as one of the three is fresh.
 */
pred Fresh[atoms: set Name + Role, t: Transition] {
  no atoms & t.env.eatoms
}
