/**
 * HOT core: what a Heat orchestration template consists of, interpreted as location graphs.
 *
 * A template is a graph and its resources are the locations. A resource requires one role for every
 * resource that it names, be it under `depends_on` or in a property, and provides one to every resource
 * that names it. Parameters, their constraints, groups, outputs and conditions are values beside the graph.
 *
 * The invariants are predicates of a template, gathered in `WellFormedTemplate`, and not facts as in the
 * report: a model in which broken templates cannot exist says nothing about a broken template.
 *
 * Source: INRIA research report 9317, section 7.1.2; versions, constraint names and which constraint fits
 * which parameter type are those of Heat itself. Corrections are marked with their key in docs/models.md.
 */
module hot/core

open lg/location_graphs as LG
open util/boolean
open util/integer
open hot/map[String] as map_string
open hot/map[Int] as map_int
open hot/map[Bool] as map_boolean
open hot/map[ResourceRole] as map_resourceRole

// ---------------------------------------------------------------------------------------------
// Values
// ---------------------------------------------------------------------------------------------

/** A value that stands beside the graph. */
sig HOTValue extends LG/Value {}

/** Text to text, numbers, truth values or resources. */
let MapValue = map_string/Map + map_int/Map + map_boolean/Map + map_resourceRole/Map

/** What a parameter can be given; floating point numbers are left out. */
let Any = String + Bool + Int + MapValue

/** What a property can be given: anything, and another resource. */
let PropertyValueType = Any + ResourceRole

// ---------------------------------------------------------------------------------------------
// The template
// ---------------------------------------------------------------------------------------------

/** A Heat template. H10: it may be without resources. */
sig Template extends LG/LocationGraph {
  heat_template_version: one HeatTemplateVersion,
  description: lone String,
  parameter_groups: seq ParameterGroup,
  parameters: set Parameter,
  resources: set Resource,
  outputs: set Output,
  conditions: set Condition
} {
  locations = resources
}

/** H5: the versions that Heat accepts; it never had the `stein` and `2019-04-10` of the report. */
let HeatTemplateVersion = "2013-05-23" + "2014-10-16" + "2015-04-30" + "2015-10-15"
  + "2016-04-08" + "2016-10-14" + "2017-02-24" + "2017-09-01" + "2018-03-02" + "2018-08-31"
  + "2021-04-16" + "newton" + "ocata" + "pike" + "queens" + "rocky" + "wallaby"

// ---------------------------------------------------------------------------------------------
// Resources
// ---------------------------------------------------------------------------------------------

/** What a template deploys. Resource types extend this signature. */
abstract sig Resource extends LG/Location {
  id: one String,
  properties: set Property + PropertyValueType,
  attributes: set Attribute,
  support_status: lone Support_status,
  depends_on: set ResourceRole,
  deletion_policy: lone "delete" + "retain" + "snapshot",
  external_id: lone String,
  condition: lone String,
  metadata: lone MapValue
} {
  provided in ResourceRole
  // H3: what a property refers to is required as much as what is listed under `depends_on`.
  required = depends_on + this.references
}

/** The point at which one resource refers to another. */
sig ResourceRole extends LG/Role {}

/** The resources to which the properties of a resource refer, each by a role of its own. */
fun references[r: Resource]: set ResourceRole {
  ResourceRole & (
    r.properties
    + r.properties.*elements.prop_value
    + r.(properties + properties.*elements.prop_value).(map_resourceRole/Map <: entries)[String]
  )
}

/** A property as its resource type declares it. */
abstract sig Property extends HOTValue {
  prop_name: one String,
  prop_immutable: lone Bool,
  prop_required: one Bool,
  prop_update_allowed: lone Bool,
  prop_description: lone String,
  prop_type: one String,
  prop_default: set PropertyValueType
}

/** A property with a value. */
sig FlatProperty extends Property {
  prop_value: set PropertyValueType
} {
  prop_type in "list" + "map" + "integer" + "number" + "boolean" + "string"
}

/** A property made of properties. */
abstract sig ComposedProperty extends Property {} {
  prop_type in "list" + "map"
}

abstract sig MapOfProperties extends ComposedProperty {} {
  prop_type = "map"
}

abstract sig ListOfProperties extends ComposedProperty {
  elements: set Property
} {
  prop_type = "list"
}

/** What can be asked of a resource once it is deployed. */
sig Attribute extends HOTValue {
  name: one String,
  type: one AttributeType,
  description: lone String
}

let AttributeType = "string" + "map" + "list" + "integer" + "boolean"

/** Whether Heat still supports a resource type. */
sig Support_status extends HOTValue {
  message: lone String,
  status: one "SUPPORTED" + "DEPRECATED" + "UNSUPPORTED" + "HIDDEN",
  version: lone String,
  previous_status: lone Support_status
}

// ---------------------------------------------------------------------------------------------
// Parameters
// ---------------------------------------------------------------------------------------------

/** An ordered group of parameters, given by their names. */
sig ParameterGroup extends HOTValue {
  label: one String,
  description: lone String,
  parameters: seq String
}

/** An input. H9: the report lets it be anything at all, also a location. */
sig Parameter extends HOTValue {
  name: one String,
  type: one ParameterType,
  label: lone String,
  description: lone String,
  default: lone Any,
  value: one Any,
  hidden: lone Bool,
  constraints: set ParameterConstraint,
  immutable: lone Bool,
  tags: set String
}

let ParameterType = "string" + "number" + "json" + "comma_delimited_list" + "boolean"

abstract sig ParameterConstraint {
  description: lone String
}

sig Length extends ParameterConstraint {
  definition: one Length_interval
}

sig Range extends ParameterConstraint {
  definition: one Range_interval
}

sig Modulo extends ParameterConstraint {
  definition: one StepOffset
}

sig Allowed_values extends ParameterConstraint {
  definition: set Any
}

sig Allowed_pattern extends ParameterConstraint {
  definition: one String
}

sig Custom_constraint extends ParameterConstraint {
  definition: one CustomConstraintName
}

abstract sig Interval {
  i_min: lone Int,
  i_max: lone Int
}

sig Length_interval extends Interval {}

sig Range_interval extends Interval {}

sig StepOffset {
  step: one Int,
  offset: one Int
}

/** H5: the constraints that Heat knows. */
let CustomConstraintName = "barbican.container" + "barbican.secret" + "blazar.reservation"
  + "cinder.backup" + "cinder.qos_specs" + "cinder.snapshot" + "cinder.volume" + "cinder.vtype"
  + "cron_expression" + "designate.zone" + "dns_domain" + "dns_name" + "expiration" + "glance.image"
  + "ip_addr" + "ip_or_cidr" + "ironic.node" + "ironic.portgroup" + "iso_8601" + "json_string"
  + "keystone.domain" + "keystone.group" + "keystone.project" + "keystone.region" + "keystone.role"
  + "keystone.service" + "keystone.user" + "mac_addr" + "magnum.cluster_template"
  + "manila.share_network" + "manila.share_snapshot" + "manila.share_type" + "mistral.workflow"
  + "net_cidr" + "neutron.address_scope" + "neutron.flow_classifier" + "neutron.lbaas.listener"
  + "neutron.lbaas.loadbalancer" + "neutron.lbaas.pool" + "neutron.lbaas.provider"
  + "neutron.network" + "neutron.port" + "neutron.port_pair" + "neutron.port_pair_group"
  + "neutron.qos_policy" + "neutron.router" + "neutron.security_group" + "neutron.segment"
  + "neutron.subnet" + "neutron.subnetpool" + "neutron.taas.tap_flow" + "neutron.taas.tap_service"
  + "nova.flavor" + "nova.host" + "nova.keypair" + "nova.network" + "nova.server"
  + "octavia.availabilityzone" + "octavia.availabilityzoneprofile" + "octavia.flavor"
  + "octavia.flavorprofile" + "octavia.l7policy" + "octavia.listener" + "octavia.loadbalancer"
  + "octavia.pool" + "rel_dns_name" + "test_constr" + "timezone" + "trove.flavor" + "zaqar.queue"

// ---------------------------------------------------------------------------------------------
// Outputs and conditions
// ---------------------------------------------------------------------------------------------

sig Output extends HOTValue {
  name: one String,
  description: lone String,
  value: one String,
  condition: lone String
}

sig Condition extends HOTValue {
  name: one String,
  expression: one String
}

// ---------------------------------------------------------------------------------------------
// The functions of the language that yield resources or parameter values
// ---------------------------------------------------------------------------------------------

/** The value of a parameter. */
fun get_param[param: one Parameter]: Any {
  param.value
}

/** The roles of the resource whose id is the value of the parameter. */
fun get_param_role[param: one Parameter]: set ResourceRole {
  ResourceRole & id.(param.value & String).provided
}

/** The roles of a resource. */
fun get_resource[rsc: one Resource]: set ResourceRole {
  ResourceRole & rsc.provided
}

// ---------------------------------------------------------------------------------------------
// Dependencies
// ---------------------------------------------------------------------------------------------

/** The first resource requires something of the second. */
pred dependsOn[r1, r2: Resource] {
  some r1.required & r2.provided
}

fun dependencies: Resource -> Resource {
  { r1, r2: Resource | dependsOn[r1, r2] }
}

/**
 * H2: the report declares the listed dependencies transitive, so that a resource must list what its
 * dependencies depend on, and misses a dependency for which there are two roles. The closure needs neither.
 */
pred no_loop_dependency[rs: set Resource] {
  no r: rs | r in r.^(rs <: dependencies :> rs)
}

/** Whatever a resource refers to is a resource of the template. */
pred references_are_resolved[t: Template] {
  t.resources.required in t.resources.provided
}

/** An external resource is used as it is: it depends on nothing. */
pred no_depends_on_for_external_resource[rsc: one Resource] {
  some rsc.external_id implies no rsc.depends_on
}

// ---------------------------------------------------------------------------------------------
// Names
// ---------------------------------------------------------------------------------------------

pred distinct_resources_id[rs: set Resource] {
  all disj r1, r2: rs | r1.id != r2.id
}

pred distinct_labels[groups: seq ParameterGroup] {
  all disj g1, g2: groups.elems | g1.label != g2.label
}

pred distinct_param_names[params: set Parameter] {
  all disj p1, p2: params | p1.name != p2.name
}

pred distinct_output_names[outputs: set Output] {
  all disj o1, o2: outputs | o1.name != o2.name
}

pred distinct_cond_names[conds: set Condition] {
  all disj c1, c2: conds | c1.name != c2.name
}

/** A group lists parameters of the template. */
pred group_param_names_bind_names_of_defined_params[
  groups: seq ParameterGroup, params: set Parameter
] {
  all g: groups.elems | g.parameters.elems in params.name
}

/** A parameter is in at most one group. */
pred param_in_zero_or_one_group[params: set Parameter, groups: seq ParameterGroup] {
  all p: params | lone g: groups.elems | p.name in g.parameters.elems
}

/** A group is not empty and lists nothing twice. */
pred well_formed_group[g: ParameterGroup] {
  some g.parameters.elems
  not g.parameters.hasDups
}

/** Conditions that resources and outputs name are there. */
pred conditions_are_defined[t: Template] {
  t.resources.condition + t.outputs.condition in t.conditions.name
}

// ---------------------------------------------------------------------------------------------
// Parameter constraints
// ---------------------------------------------------------------------------------------------

/** H6: which kind of constraint fits which type of parameter. */
pred validate_constraints[param: Parameter] {
  some Length & param.constraints implies
    param.type in "string" + "json" + "comma_delimited_list"
  some (Range + Modulo) & param.constraints implies param.type = "number"
  some (Allowed_values + Custom_constraint) & param.constraints implies param.type != "json"
  some Allowed_pattern & param.constraints implies param.type = "string"
}

/** A kind of constraint occurs once. H6: except patterns, of which all have to match. */
pred no_duplicated_constraints[param: Parameter] {
  lone Length & param.constraints
  lone Range & param.constraints
  lone Modulo & param.constraints
  lone Allowed_values & param.constraints
  lone Custom_constraint & param.constraints
}

/** An end at least, and the ends in order. */
pred min_or_max_or_both[i: Interval] {
  some i.i_min + i.i_max
  all min: i.i_min, max: i.i_max | max >= min
}

/** A length is never negative. */
pred not_negative[i: Length_interval] {
  all n: i.i_min + i.i_max | n >= 0
}

/** The offset is a remainder of division by the step. */
pred remainder_of_step[s: StepOffset] {
  s.step != 0
  s.step > 0 implies s.offset >= 0 and s.offset < s.step
  s.step < 0 implies s.offset <= 0 and s.offset > s.step
}

pred well_formed_constraint[c: ParameterConstraint] {
  all i: (Length <: definition)[c] | min_or_max_or_both[i] and not_negative[i]
  all i: (Range <: definition)[c] | min_or_max_or_both[i]
  all s: (Modulo <: definition)[c] | remainder_of_step[s]
}

/** The value is of the type. */
pred of_type[v: Any, type: String] {
  type in "string" + "comma_delimited_list" implies v in String
  type = "number" implies v in Int
  type = "boolean" implies v in Bool
  type = "json" implies v in MapValue
}

/** H8: default and value obey the constraints, as far as these can be told of an atom. */
pred values_satisfy_constraints[param: Parameter] {
  all v: param.default + param.value {
    of_type[v, param.type]
    all i: param.constraints.(Range <: definition), n: v & Int {
      all min: i.i_min | n >= min
      all max: i.i_max | n <= max
    }
    all s: param.constraints.(Modulo <: definition), n: v & Int |
      rem[minus[n, s.offset], s.step] = 0
    param.type != "comma_delimited_list" implies
      all a: param.constraints & Allowed_values | v in a.definition
  }
}

// ---------------------------------------------------------------------------------------------
// Constraints of property values
// ---------------------------------------------------------------------------------------------

/** A property that is required has a value. */
pred required_implies_at_least_one_value[prop: one FlatProperty] {
  prop.prop_required = True implies some prop.prop_value
}

pred FlatProperty.allowed_values[values: set PropertyValueType] {
  this.prop_type in "string" + "number" + "integer" implies this.prop_value in values
}

pred ListOfProperties.allowed_values[values: set PropertyValueType] {
  all prop: FlatProperty & this.elements | prop.allowed_values[values]
}

pred FlatProperty.length[min: lone Int, max: lone Int] {
  this.prop_type = "list" implies {
    some min implies #this.prop_value >= min
    some max implies #this.prop_value <= max
  }
}

pred ListOfProperties.length[min: lone Int, max: lone Int] {
  some min implies #this.elements >= min
  some max implies #this.elements <= max
}

/** H4: it is the value that lies in the range; the report compares the number of values. */
pred FlatProperty.range[min: lone Int, max: lone Int] {
  this.prop_type in "integer" + "number" implies all n: this.prop_value & Int {
    some min implies n >= min
    some max implies n <= max
  }
}

// ---------------------------------------------------------------------------------------------
// Well-formed templates
// ---------------------------------------------------------------------------------------------

/** Everything that Heat demands of a template before it looks at resource types. */
pred WellFormedTemplate[t: Template] {
  distinct_resources_id[t.resources]
  distinct_param_names[t.parameters]
  distinct_output_names[t.outputs]
  distinct_cond_names[t.conditions]
  distinct_labels[t.parameter_groups]
  not t.parameter_groups.hasDups
  all g: t.parameter_groups.elems | well_formed_group[g]
  group_param_names_bind_names_of_defined_params[t.parameter_groups, t.parameters]
  param_in_zero_or_one_group[t.parameters, t.parameter_groups]
  conditions_are_defined[t]
  references_are_resolved[t]
  no_loop_dependency[t.resources]
  all r: t.resources | no_depends_on_for_external_resource[r]
  all p: t.resources.properties & FlatProperty | required_implies_at_least_one_value[p]
  all p: t.parameters {
    validate_constraints[p]
    no_duplicated_constraints[p]
    all c: p.constraints | well_formed_constraint[c]
    values_satisfy_constraints[p]
  }
}

/** A template with three resources and a constrained parameter, and nothing that it does not need. */
run Show_HOT_Template {
  all t: Template | WellFormedTemplate[t]
  Resource in Template.resources
  ResourceRole in Resource.required + Resource.provided
  ParameterGroup in Template.parameter_groups.elems
  Parameter in Template.parameters
  ParameterConstraint in Parameter.constraints
  Output in Template.outputs
  Condition in Template.conditions
  LG/Name in Template.resources.name
  LG/Sort in Template.resources.sort
  LG/Process in Template.resources.process
  LG/Role in ResourceRole
  // H7: the report leaves HOTValue out, to which the parameter that it asks for belongs.
  LG/Value in LG/Name + LG/Sort + LG/Process + LG/Role + HOTValue
  Length_interval in Length.definition
  Range_interval in Range.definition
  StepOffset in Modulo.definition
} for 15 but 5 Int, exactly 1 Template, exactly 3 Resource, exactly 0 ParameterGroup,
  exactly 1 Parameter, exactly 1 ParameterConstraint, exactly 0 Condition, exactly 0 Output
expect 1

/** A chain of three, whose first does not list the third: impossible with the report's fact (H2). */
run DependencyChain {
  some t: Template, disj a, b, c: t.resources {
    WellFormedTemplate[t]
    a.dependsOn[b] and b.dependsOn[c] and not a.dependsOn[c]
  }
} for 3 but 10 Value, 0 map_string/Map, 0 map_int/Map,
  0 map_boolean/Map, 0 map_resourceRole/Map expect 1

/** No loop of two, also when one direction is a property and when it goes over several roles. */
assert NoMutualDependency {
  all t: Template, disj a, b: t.resources |
    WellFormedTemplate[t] implies not (a.dependsOn[b] and b.dependsOn[a])
}

check NoMutualDependency for 3 but 10 Value, 0 map_string/Map, 0 map_int/Map,
  0 map_boolean/Map, 0 map_resourceRole/Map expect 0

/** A value outside its range is no well-formed template (H8). */
assert ValuesAreInRange {
  all t: Template, p: t.parameters, r: p.constraints & Range |
    WellFormedTemplate[t] implies p.value in Int and all max: r.definition.i_max | p.value <= max
}

check ValuesAreInRange for 3 but 10 Value, 0 map_string/Map, 0 map_int/Map,
  0 map_boolean/Map, 0 map_resourceRole/Map expect 0
