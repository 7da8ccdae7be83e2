/**
 * HOT: the statements of which a template consists, one predicate for each thing that can be written in a
 * section of it. A template is a conjunction of these.
 *
 * Source: INRIA research report 9317, section 7.1.2.
 */
module hot/statements

open lg/location_graphs
open hot/core

pred Template.parameter[param: Parameter] { param in this.parameters }

pred Template.parameter_group[group: ParameterGroup] { group in this.parameter_groups.elems }

pred Template.resource[rsc: Resource] { rsc in this.resources }

pred Template.output[output: Output] { output in this.outputs }

pred Template.condition[cond: Condition] { cond in this.conditions }

pred ParameterGroup.parameter[paramName: one String] { paramName in this.parameters.elems }

pred Parameter.tag[tag: one String] { tag in this.tags }

pred Resource.attribute[attr: one Attribute] { attr in this.attributes }

pred Resource.property[prop: one Property + PropertyValueType] { prop in this.properties }

/** One of the roles is provided by the resource. */
pred Resource.append[rsc: one Resource, roles: set ResourceRole] {
  one role: rsc.provided | role in roles
}

pred Resource.depends_on[resource: one Resource] {
  this.append[resource, this.depends_on]
}

pred bind_one_role[target_role: one ResourceRole, roles: set ResourceRole] {
  target_role in roles
}

pred Parameter.length[a_min: lone Int, a_max: lone Int, descr: lone String] {
  one l: Length & this.constraints {
    l.definition.i_min = a_min
    l.definition.i_max = a_max
    l.description = descr
  }
}

pred Parameter.range[a_min: lone Int, a_max: lone Int, descr: lone String] {
  one r: Range & this.constraints {
    r.definition.i_min = a_min
    r.definition.i_max = a_max
    r.description = descr
  }
}

pred Parameter.modulo[a_step: one Int, an_offset: one Int, descr: lone String] {
  one m: Modulo & this.constraints {
    m.definition.step = a_step
    m.definition.offset = an_offset
    m.description = descr
  }
}

pred Parameter.allowed_values[def: set Any, descr: lone String] {
  one a: Allowed_values & this.constraints | a.definition = def and a.description = descr
}

pred Parameter.allowed_pattern[def: one String, descr: lone String] {
  one a: Allowed_pattern & this.constraints | a.definition = def and a.description = descr
}

pred Parameter.custom_constraint[def: one CustomConstraintName, descr: lone String] {
  one c: Custom_constraint & this.constraints | c.definition = def and c.description = descr
}

/** A server that waits for its network, and a number between one and three. */
run SmallTemplate {
  some t: Template, disj net, server: Resource, size: Parameter {
    WellFormedTemplate[t]
    t.resource[net] and t.resource[server] and t.parameter[size]
    server.depends_on[net]
    size.range[1, 3, none]
    size.value = 2
  }
} for 3 but 10 Value, 0 core/map_string/Map, 0 core/map_int/Map, 0 core/map_boolean/Map,
  0 core/map_resourceRole/Map expect 1

/** The same with a number that is too large. */
run SmallTemplateWithWrongValue {
  some t: Template, size: Parameter {
    WellFormedTemplate[t]
    t.parameter[size]
    size.range[1, 3, none]
    size.value = 4
  }
} for 3 but 10 Value, 0 core/map_string/Map, 0 core/map_int/Map, 0 core/map_boolean/Map,
  0 core/map_resourceRole/Map expect 0
