/**
 * The checks of `aeolus/actions.als` once more, at scopes that have something to check.
 *
 * A scope of ten bounds names, processes, roles, states and operations together by ten, because all are
 * values. A bind needs twenty-one of them and a state change to a different state thirteen, so at the
 * report's scopes of seven to ten five of its checks have no transition to speak of and hold for want of
 * instances, and every state change leads back to the state it came from (V1). Here each action has a
 * `run` that shows it happening and the `check`s follow at that same scope, which is given atom by atom so
 * that the problems stay small.
 */
module aeolus/instances

open lg/location_graphs
open lg/semantics
open aeolus/model
open aeolus/frame
open aeolus/state_change
open aeolus/bind
open aeolus/create
open aeolus/actions

// ---------------------------------------------------------------------------------------------
// State change to another state
// ---------------------------------------------------------------------------------------------

StateChange: run {
  some c1, c2: Configuration, z: Aeolus_component, t: Transition {
    WFConfiguration[c1]
    State_Change_Transition[c1, c2, z, t]
    z not in c2.components
  }
} for 2 but 5 LocationGraph, exactly 2 Configuration, exactly 2 ZConfiguration, 4 Location,
  exactly 2 Administrator, exactly 2 Aeolus_component, 4 Transition, 3 Label, 1 Context,
  13 Value, exactly 2 Name, exactly 1 Role, exactly 4 Process, exactly 2 Aeolus_process,
  exactly 2 Admin_process, exactly 1 Sort, exactly 2 DL_State, exactly 1 ScOp,
  1 DL_Machine expect 1

check State_Change_Transition_Satisfies_Global_StateChange_Transition
for 2 but 5 LocationGraph, exactly 2 Configuration, exactly 2 ZConfiguration, 4 Location,
  exactly 2 Administrator, exactly 2 Aeolus_component, 4 Transition, 3 Label, 1 Context,
  13 Value, exactly 2 Name, exactly 1 Role, exactly 4 Process, exactly 2 Aeolus_process,
  exactly 2 Admin_process, exactly 1 Sort, exactly 2 DL_State, exactly 1 ScOp,
  1 DL_Machine expect 0

check Global_StateChange_Respects_WF
for 2 but 5 LocationGraph, exactly 2 Configuration, exactly 2 ZConfiguration, 4 Location,
  exactly 2 Administrator, exactly 2 Aeolus_component, 1 Transition, 1 Label, 0 Interaction,
  1 Context, 12 Value, exactly 2 Name, exactly 1 Role, exactly 4 Process,
  exactly 2 Aeolus_process, exactly 2 Admin_process, exactly 1 Sort, exactly 2 DL_State,
  1 DL_Machine expect 0

// ---------------------------------------------------------------------------------------------
// State change of two components at once
// ---------------------------------------------------------------------------------------------

StateChangeOfTwo: run {
  some c1, c2: Configuration, zs, zps: set Aeolus_component, tzs: set Transition, t: Transition {
    WFConfiguration[c1]
    Multi_State_Change_Transition[c1, c2, zs, zps, tzs, t]
    #zs = 2
    no zs & zps
  }
} for 2 but 5 LocationGraph, exactly 2 Configuration, exactly 2 ZConfiguration, 6 Location,
  exactly 2 Administrator, exactly 4 Aeolus_component, 5 Transition, 4 Label, 4 Interaction,
  1 Context, 17 Value, exactly 3 Name, exactly 2 Role, exactly 6 Process,
  exactly 4 Aeolus_process, exactly 2 Admin_process, exactly 1 Sort, exactly 2 DL_State,
  exactly 1 ScOp, 1 DL_Machine expect 1

check Multi_State_Change_Transition_Satisfies_Global_Multi_StateChange_Transition
for 2 but 5 LocationGraph, exactly 2 Configuration, exactly 2 ZConfiguration, 6 Location,
  exactly 2 Administrator, exactly 4 Aeolus_component, 5 Transition, 4 Label, 4 Interaction,
  1 Context, 17 Value, exactly 3 Name, exactly 2 Role, exactly 6 Process,
  exactly 4 Aeolus_process, exactly 2 Admin_process, exactly 1 Sort, exactly 2 DL_State,
  exactly 1 ScOp, 1 DL_Machine expect 0

// ---------------------------------------------------------------------------------------------
// Bind
// ---------------------------------------------------------------------------------------------

Bind: run {
  some c1, c2: Configuration, z1, z2: Aeolus_component, s: Name, t: Transition {
    WFConfiguration[c1]
    Binding_Transition[c1, c2, z1, z2, s, t]
  }
} for 2 but 5 LocationGraph, exactly 2 Configuration, exactly 2 ZConfiguration, 7 Location,
  exactly 2 Administrator, exactly 4 Aeolus_component, exactly 1 Aeolus_binding, 5 Transition,
  4 Label, 4 Interaction, 1 Context, 21 Value, exactly 4 Name, exactly 5 Role, exactly 6 Process,
  exactly 4 Aeolus_process, exactly 2 Admin_process, exactly 1 Sort, exactly 1 DL_State,
  exactly 0 ScOp, exactly 1 BdpOp, exactly 1 BdrOp, 3 Port expect 1

check Binding_Transition_Satisfies_Global_Bind_Transition
for 2 but 5 LocationGraph, exactly 2 Configuration, exactly 2 ZConfiguration, 7 Location,
  exactly 2 Administrator, exactly 4 Aeolus_component, exactly 1 Aeolus_binding, 5 Transition,
  4 Label, 4 Interaction, 1 Context, 21 Value, exactly 4 Name, exactly 5 Role, exactly 6 Process,
  exactly 4 Aeolus_process, exactly 2 Admin_process, exactly 1 Sort, exactly 1 DL_State,
  exactly 0 ScOp, exactly 1 BdpOp, exactly 1 BdrOp, 3 Port expect 0

check Global_Bind_Respects_WF
for 2 but 5 LocationGraph, exactly 2 Configuration, exactly 2 ZConfiguration, 7 Location,
  exactly 2 Administrator, exactly 4 Aeolus_component, exactly 1 Aeolus_binding, 1 Transition,
  1 Label, 0 Interaction, 1 Context, 19 Value, exactly 4 Name, exactly 5 Role, exactly 6 Process,
  exactly 4 Aeolus_process, exactly 2 Admin_process, exactly 1 Sort, exactly 1 DL_State,
  exactly 0 ScOp, exactly 0 BdpOp, exactly 0 BdrOp, 3 Port expect 0

check In_Glocal_Bind_Transition_Binding_Not_In_Initial_Configuration
for 2 but 5 LocationGraph, exactly 2 Configuration, exactly 2 ZConfiguration, 8 Location,
  exactly 2 Administrator, exactly 4 Aeolus_component, exactly 2 Aeolus_binding, 1 Transition,
  1 Label, 0 Interaction, 1 Context, 24 Value, exactly 5 Name, exactly 8 Role, exactly 6 Process,
  exactly 4 Aeolus_process, exactly 2 Admin_process, exactly 1 Sort, exactly 1 DL_State,
  exactly 0 ScOp, exactly 0 BdpOp, exactly 0 BdrOp, 4 Port expect 0

// ---------------------------------------------------------------------------------------------
// Unbind
// ---------------------------------------------------------------------------------------------

Unbind: run {
  some c1, c2: Configuration, z1, z2: Aeolus_component, s: Name, t: Transition {
    WFConfiguration[c1]
    Unbinding_Transition[c1, c2, z1, z2, s, t]
  }
} for 2 but 5 LocationGraph, exactly 2 Configuration, exactly 2 ZConfiguration, 7 Location,
  exactly 2 Administrator, exactly 4 Aeolus_component, exactly 1 Aeolus_binding, 6 Transition,
  5 Label, 6 Interaction, 1 Context, 21 Value, exactly 4 Name, exactly 5 Role, exactly 6 Process,
  exactly 4 Aeolus_process, exactly 2 Admin_process, exactly 1 Sort, exactly 1 DL_State,
  exactly 0 ScOp, exactly 0 BdpOp, exactly 0 BdrOp, 3 Port expect 1

check Unbinding_Transition_Satisfies_Global_Unbind_Transition
for 2 but 5 LocationGraph, exactly 2 Configuration, exactly 2 ZConfiguration, 7 Location,
  exactly 2 Administrator, exactly 4 Aeolus_component, exactly 1 Aeolus_binding, 6 Transition,
  5 Label, 6 Interaction, 1 Context, 21 Value, exactly 4 Name, exactly 5 Role, exactly 6 Process,
  exactly 4 Aeolus_process, exactly 2 Admin_process, exactly 1 Sort, exactly 1 DL_State,
  exactly 0 ScOp, exactly 0 BdpOp, exactly 0 BdrOp, 3 Port expect 0

check Global_Unbind_Respects_WF
for 2 but 5 LocationGraph, exactly 2 Configuration, exactly 2 ZConfiguration, 7 Location,
  exactly 2 Administrator, exactly 4 Aeolus_component, exactly 1 Aeolus_binding, 1 Transition,
  1 Label, 0 Interaction, 1 Context, 19 Value, exactly 4 Name, exactly 5 Role, exactly 6 Process,
  exactly 4 Aeolus_process, exactly 2 Admin_process, exactly 1 Sort, exactly 1 DL_State,
  exactly 0 ScOp, exactly 0 BdpOp, exactly 0 BdrOp, exactly 0 UbpOp, exactly 0 UbrOp,
  3 Port expect 0

// ---------------------------------------------------------------------------------------------
// Delete
// ---------------------------------------------------------------------------------------------

/**
 * V2: when a component goes, its bindings go, but the components at their other ends keep the roles. They
 * are counted as bindings by the cardinality constraints from then on, which Aeolus does not do.
 */
DeleteLeavesRolesBehind: run {
  some c1, c2: Configuration, z: Aeolus_component, t: Transition {
    WFConfiguration[c1]
    Delete_Transition[c1, c2, z, t]
    some c1.bindings
    no c2.bindings
    some c2.components.process.(pprov + preq).roles
  }
} for 2 but 5 LocationGraph, exactly 2 Configuration, exactly 2 ZConfiguration, 5 Location,
  exactly 2 Administrator, exactly 2 Aeolus_component, exactly 1 Aeolus_binding, 5 Transition,
  4 Label, 4 Interaction, 1 Context, 17 Value, exactly 4 Name, exactly 5 Role, exactly 4 Process,
  exactly 2 Aeolus_process, exactly 2 Admin_process, exactly 1 Sort, exactly 1 DL_State,
  2 Port expect 1

check Delete_Transition_Satisfies_Global_Delete_Component_Transition
for 2 but 5 LocationGraph, exactly 2 Configuration, exactly 2 ZConfiguration, 5 Location,
  exactly 2 Administrator, exactly 2 Aeolus_component, exactly 1 Aeolus_binding, 5 Transition,
  4 Label, 4 Interaction, 1 Context, 17 Value, exactly 4 Name, exactly 5 Role, exactly 4 Process,
  exactly 2 Aeolus_process, exactly 2 Admin_process, exactly 1 Sort, exactly 1 DL_State,
  2 Port expect 0
