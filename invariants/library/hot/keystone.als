/** Rules about identities: domains, projects, users, groups, roles and regions. */
module hot/keystone

open hot/vocabulary
open values

/** One domain: the same resource, or one name of what exists already, whether it is given or implied. */
pred same_domain[a, b: set univ] {
  some a & b or no a + b or some name_of[a - Resource] & name_of[b - Resource]
}

/** HOT109 role-in-domain-and-project error: a role assignment of a user names both a domain and a project
 * message: a role of user `{u}` names both a domain and a project
 * at: r.prop_domain
 * also: r.prop_project
 * help: keep one of the two
 * why: Keystone refuses the role: it applies to either a domain or a project.
 * source: HOT specification, OS::Keystone::User
 */
assert UserRolesAreInOnePlace {
  all u: OS_Keystone_User, r: u.prop_roles | no r.prop_domain or no r.prop_project
}

/** HOT109 role-in-domain-and-project error: a role assignment of a group names both a domain and a project
 * message: a role of group `{u}` names both a domain and a project
 * at: r.prop_domain
 * also: r.prop_project
 * help: keep one of the two
 * why: Keystone refuses the role: it applies to either a domain or a project.
 * source: HOT specification, OS::Keystone::Group
 */
assert GroupRolesAreInOnePlace {
  all u: OS_Keystone_Group, r: u.prop_roles | no r.prop_domain or no r.prop_project
}

/** HOT109 role-in-domain-and-project error: a role assigned to a user names both a domain and a project
 * message: a role of user `{u}` names both a domain and a project
 * at: r.prop_domain
 * also: r.prop_project
 * help: keep one of the two
 * why: Keystone refuses the role: it applies to either a domain or a project.
 * source: HOT specification, OS::Keystone::UserRoleAssignment
 */
assert AssignedUserRolesAreInOnePlace {
  all u: OS_Keystone_UserRoleAssignment, r: u.prop_roles | no r.prop_domain or no r.prop_project
}

/** HOT109 role-in-domain-and-project error: a role assigned to a group names both a domain and a project
 * message: a role of group `{u}` names both a domain and a project
 * at: r.prop_domain
 * also: r.prop_project
 * help: keep one of the two
 * why: Keystone refuses the role: it applies to either a domain or a project.
 * source: HOT specification, OS::Keystone::GroupRoleAssignment
 */
assert AssignedGroupRolesAreInOnePlace {
  all u: OS_Keystone_GroupRoleAssignment, r: u.prop_roles | no r.prop_domain or no r.prop_project
}

/** HOT110 duplicate-region-id error: two regions have the same ID
 * message: the regions `{r}` and `{s}` have the same ID: `{r.prop_id}`
 * at: s.prop_id "same ID"
 * also: r.prop_id "first used here"
 * help: give them different IDs
 * why: Keystone refuses the second region.
 * source: HOT specification, OS::Keystone::Region
 */
assert RegionsAreDifferent { all disj r, s: OS_Keystone_Region | no r.prop_id & s.prop_id }

/** HOT234 duplicate-identity-name error: two projects in a domain have the same name
 * message: the projects `{a}` and `{b}` have the same name in one domain: `{a.prop_name}`
 * at: b.prop_name "same name"
 * also: a.prop_name "first used here"
 * help: give them different names
 * why: Keystone refuses the second project.
 * source: RR-9317, section 7.1.4
 */
assert ProjectNamesAreDifferent {
  all disj a, b: OS_Keystone_Project | some a.prop_name & b.prop_name implies
    not same_domain[a.prop_domain, b.prop_domain]
}

/** HOT234 duplicate-identity-name error: two users in a domain have the same name
 * message: the users `{a}` and `{b}` have the same name in one domain: `{a.prop_name}`
 * at: b.prop_name "same name"
 * also: a.prop_name "first used here"
 * help: give them different names
 * why: Keystone refuses the second user.
 * source: RR-9317, section 7.1.4
 */
assert UserNamesAreDifferent {
  all disj a, b: OS_Keystone_User | some a.prop_name & b.prop_name implies
    not same_domain[a.prop_domain, b.prop_domain]
}

/** HOT234 duplicate-identity-name error: two roles in a domain have the same name
 * message: the roles `{a}` and `{b}` have the same name in one domain: `{a.prop_name}`
 * at: b.prop_name "same name"
 * also: a.prop_name "first used here"
 * help: give them different names
 * why: Keystone refuses the second role.
 * source: RR-9317, section 7.1.4
 */
assert RoleNamesAreDifferent {
  all disj a, b: OS_Keystone_Role | some a.prop_name & b.prop_name implies
    not same_domain[a.prop_domain, b.prop_domain]
}

/** HOT234 duplicate-identity-name error: two groups in a domain have the same name
 * message: the groups `{a}` and `{b}` have the same name in one domain: `{a.prop_name}`
 * at: b.prop_name "same name"
 * also: a.prop_name "first used here"
 * help: give them different names
 * why: Keystone refuses the second group.
 * source: RR-9317, section 7.1.4
 */
assert GroupNamesAreDifferent {
  all disj a, b: OS_Keystone_Group | some a.prop_name & b.prop_name implies
    not same_domain[a.prop_domain, b.prop_domain]
}

/** HOT234 duplicate-identity-name error: two domains have the same name
 * message: the domains `{a}` and `{b}` have the same name: `{a.prop_name}`
 * at: b.prop_name "same name"
 * also: a.prop_name "first used here"
 * help: give them different names
 * why: Keystone refuses the second domain.
 * source: RR-9317, section 7.1.4
 */
assert DomainNamesAreDifferent { all disj a, b: OS_Keystone_Domain | no a.prop_name & b.prop_name }
