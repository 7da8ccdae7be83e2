/**
 * Aeolus: components whose life cycle is an automaton, interpreted as location graphs.
 *
 * The state of a component decides which of its ports are active, a provided port with the number of
 * bindings it can bear, a required port with the number it needs; zero on a required port forbids
 * anybody else to provide it. A configuration is a graph of components, of bindings, and of one
 * administrator that knows the component types and keeps a picture of what is deployed. Components and
 * bindings each share a notification role with the administrator.
 *
 * Source: INRIA research report 9317, sections 8.1 and 8.2, after R. Di Cosmo, J. Mauro, S. Zacchiroli and
 * G. Zavattaro, "Aeolus: a component model for the cloud", Information and Computation 239 (2014).
 * Corrections are marked with their key in docs/models.md.
 */
module aeolus/model

open lg/location_graphs

/** Deployed components and bindings with their administrator. */
sig Configuration extends LocationGraph {
  admin: one Administrator,
  components: set Aeolus_component,
  bindings: set Aeolus_binding
} {
  locations = components + bindings + admin
  admin.process.zconfig.zcomponents = components
  admin.process.zconfig.zbindings = bindings
  AllComponentsHaveNotif[this]
  AllBindingsHaveNotif[this]
}

/** The orchestrator of a configuration, as a location of it. */
sig Administrator extends Location {} {
  process in Admin_process
  process.anotif in required
}

/** What an administrator knows: component types, what is deployed, where to be notified. */
sig Admin_process extends Process {
  templates: set DL_Machine,
  zconfig: one ZConfiguration,
  anotif: set Role
} {
  zconfig.zcomponents.process.template in templates
}

/** An administrator's picture of what is deployed. */
sig ZConfiguration extends LocationGraph {
  zcomponents: set Aeolus_component,
  zbindings: set Aeolus_binding
} {
  locations = zbindings + zcomponents
}

/** A component type: its deployment life cycle, its ports, and when they are active. */
sig DL_Machine {
  dinit: one DL_State,
  dstates: set DL_State,
  dtransitions: set DL_Transition,
  pports: set Name,
  rports: set Name,
  activates: set Activation,
  dfinal: set DL_State
} {
  dinit in dstates
  dtransitions.initial + dtransitions.terminal in dstates
  activates.astate in dstates
  activates.ap.asort in pports
  activates.ar.asort in rports
  dfinal in dstates
}

sig DL_State extends Value {}

/** The ports that a state activates. */
sig Activation {
  astate: one DL_State,
  ap: set PortCard,
  ar: set PortCard
}

/** An interface name with its cardinality. */
sig PortCard {
  asort: one Name,
  acard: one Int
}

sig DL_Transition {
  initial: one DL_State,
  terminal: one DL_State
}

/** A deployed component. */
sig Aeolus_component extends Location {} {
  process in Aeolus_process
  provided = process.pprov.roles + process.cnotif
  required = process.preq.roles
}

/** The type and the current state of a component, and its ports. */
sig Aeolus_process extends Process {
  current: one DL_State,
  template: one DL_Machine,
  pprov: set Port,
  preq: set Port,
  cnotif: one Role
} {
  current in template.dstates
  pprov.psort = template.pports
  preq.psort = template.rports
  all p, q: pprov | p.psort = q.psort implies p = q
  all p, q: preq | p.psort = q.psort implies p = q
  all disj p, q: pprov | no p.roles & q.roles
  all disj p, q: preq | no p.roles & q.roles
}

/**
 * A port of a deployed component, with one role for each binding.
 * A3: its interface is a `Name`, as in the component type; as the `Sort` of the report it could never
 * equal one, and no component could have a port.
 */
abstract sig Port {
  psort: one Name,
  roles: set Role
}

/** A connection from a required port to a provided port of another component. A3: `bsort` is a `Name`. */
sig Aeolus_binding extends Location {
  bsort: one Name,
  req: one Role,
  prov: one Role,
  bnotif: one Role
} {
  provided = req + bnotif
  required = prov
}

// ---------------------------------------------------------------------------------------------
// Active ports. A5: the report takes the activations of all states together, though an active port is
// one that the current state activates, and a port may have a different cardinality in each state.
// ---------------------------------------------------------------------------------------------

/** What the current state of a component activates. */
fun CurrentActivations[z: Aeolus_component]: set Activation {
  { a: z.process.template.activates | a.astate = z.process.current }
}

/** The cardinality that the current state gives to a provided interface. */
fun PPortCardForPort[z: Aeolus_component, n: Name]: set PortCard {
  { c: CurrentActivations[z].ap | c.asort = n }
}

/** The cardinality that the current state gives to a required interface. */
fun RPortCardForPort[z: Aeolus_component, n: Name]: set PortCard {
  { c: CurrentActivations[z].ar | c.asort = n }
}

fun ActivePPorts[z: Aeolus_component]: set Port {
  { p: z.process.pprov | p.psort in CurrentActivations[z].ap.asort }
}

/** The ports that some component of the set provides in its current state. */
fun ActivePPortsOf[zs: set Aeolus_component]: set Port {
  { p: Port | some z: zs | p in ActivePPorts[z] }
}

fun ActiveRPorts[z: Aeolus_component]: set Port {
  { r: z.process.preq | r.psort in CurrentActivations[z].ar.asort }
}

// ---------------------------------------------------------------------------------------------
// Well-formed configurations
// ---------------------------------------------------------------------------------------------

pred ZconfigReflectsConfig[c: Configuration] {
  c.admin.process.zconfig.locations = c.locations - c.admin
}

/** A4: the ports are those of the two components; the report looks for them among interface names. */
pred BindingsConnectDifferentComponents[c: Configuration] {
  all b: c.bindings | some disj z1, z2: c.components | some disj p1, p2: Port |
  some disj r1, r2: Role {
    p1 in z1.process.preq
    p2 in z2.process.pprov
    r1 in p1.roles
    r2 in p2.roles
    p1.psort = b.bsort
    p2.psort = b.bsort
    b.req = r1
    b.prov = r2
  }
}

pred AllComponentsHaveNotif[c: Configuration] {
  all z: c.components | some r: Role | r in c.admin.process.anotif & z.process.cnotif
}

pred AllBindingsHaveNotif[c: Configuration] {
  all b: c.bindings | some r: Role | r in c.admin.process.anotif & b.bnotif
}

/** A1: the report strips the roles from the template first; a template has none. */
pred AllComponentsHaveTemplatesFromAdmin[c: Configuration] {
  all z: c.components | z.process.template in c.admin.process.templates
}

pred WFConfiguration[c: Configuration] {
  WellFormedLocationSet[c.locations]
  ZconfigReflectsConfig[c]
  BindingsConnectDifferentComponents[c]
  AllComponentsHaveNotif[c]
  AllBindingsHaveNotif[c]
  AllComponentsHaveTemplatesFromAdmin[c]
}

// ---------------------------------------------------------------------------------------------
// Correct configurations: what active ports promise is kept. A2: a cardinality is looked up by the
// interface name of a port, not by the port.
// ---------------------------------------------------------------------------------------------

/** A provided port bears at most the stated number of bindings; zero is no limit. */
pred AllComponentsRespectTheirProvidedPortsCardinalityConstraints[c: Configuration] {
  all z: c.components | all p: ActivePPorts[z] | all n: PPortCardForPort[z, p.psort].acard |
    n > 0 implies #p.roles <= n
}

/** A required port has at least the stated number of bindings. */
pred AllComponentsRespectTheirRequiredPortsCardinalityConstraints[c: Configuration] {
  all z: c.components | all r: ActiveRPorts[z] | all n: RPortCardForPort[z, r.psort].acard |
    n > 0 implies #r.roles >= n
}

/** Zero on a required port: nobody else provides that interface. */
pred AllConflictsConstraintsAreMet[c: Configuration] {
  all z: c.components | all r: ActiveRPorts[z] |
    0 in RPortCardForPort[z, r.psort].acard implies
      no p: ActivePPortsOf[c.components - z] | p.psort = r.psort
}

/** Well-formed, and every active port keeps its promise (report, definition 3). */
pred CorrectConfiguration[c: Configuration] {
  WFConfiguration[c]
  AllComponentsRespectTheirProvidedPortsCardinalityConstraints[c]
  AllComponentsRespectTheirRequiredPortsCardinalityConstraints[c]
  AllConflictsConstraintsAreMet[c]
}

/** Well-formed, and every component has reached a final state. */
pred TargetConfiguration[c: Configuration] {
  WFConfiguration[c]
  all z: c.components | z.process.current in z.process.template.dfinal
}

// ---------------------------------------------------------------------------------------------
// Consistency
// ---------------------------------------------------------------------------------------------

run Model {
  some c: Configuration {
    WFConfiguration[c]
    #c.components > 1
    #c.components.process.template.activates.ap > 1
  }
} for 10 but exactly 1 Configuration, exactly 2 DL_Machine, exactly 4 Aeolus_component,
  exactly 2 PortCard expect 1

/** A required port with cardinality two is served by two other components. */
run ModelCorrect {
  some c: Configuration, z: c.components, p: ActiveRPorts[z] {
    CorrectConfiguration[c]
    RPortCardForPort[z, p.psort].acard = 2
  }
} for 3 but exactly 1 Configuration, exactly 3 Aeolus_component, exactly 2 Aeolus_binding,
  6 Location, 5 Port, 24 Value expect 1

/** No correct configuration has a component that excludes an interface next to one that provides it. */
assert ConflictsExclude {
  all c: Configuration, z, y: Aeolus_component, n: Name {
    CorrectConfiguration[c] and z + y in c.components
      and 0 in RPortCardForPort[z, n].acard and some PPortCardForPort[y, n]
    implies z = y
  }
}

check ConflictsExclude for 4 but 10 Value, 4 Int expect 0
