/** Rules about identities: domains, projects, users, groups, roles and regions. */
module hot/keystone

open hot/vocabulary
open values

/** HOT109 error: a role of a user is in a domain or a project
 * message: a role of `{u}` is in both a domain and a project
 * at: r.prop_domain
 * also: r.prop_project
 * help: keep one of the two
 * why: Keystone refuses the role: it is given in one place.
 * source: HOT specification, OS::Keystone::User
 */
assert UserRolesAreInOnePlace {
  all u: OS_Keystone_User, r: u.prop_roles | no r.prop_domain or no r.prop_project
}

/** HOT109 error: a role of a group is in a domain or a project
 * message: a role of `{u}` is in both a domain and a project
 * at: r.prop_domain
 * also: r.prop_project
 * help: keep one of the two
 * why: Keystone refuses the role: it is given in one place.
 * source: HOT specification, OS::Keystone::Group
 */
assert GroupRolesAreInOnePlace {
  all u: OS_Keystone_Group, r: u.prop_roles | no r.prop_domain or no r.prop_project
}

/** HOT110 error: regions have different identifiers
 * message: the regions `{r}` and `{s}` have the identifier `{r.prop_id}`
 * at: s.prop_id "same identifier"
 * also: r.prop_id "as here"
 * help: give them different identifiers
 * why: Keystone refuses the second region.
 * source: HOT specification, OS::Keystone::Region
 */
assert RegionsAreDifferent { all disj r, s: OS_Keystone_Region | no r.prop_id & s.prop_id }

/** HOT234 error: projects of one domain have different names
 * message: `{a}` and `{b}` have the name `{a.prop_name}` in one domain
 * at: b.prop_name "same name"
 * also: a.prop_name "as here"
 * help: give them different names
 * why: Keystone refuses the second.
 * source: RR-9317, section 7.1.4
 */
assert ProjectNamesAreDifferent {
  all disj a, b: OS_Keystone_Project | some a.prop_name & b.prop_name implies
    not (some a.prop_domain & b.prop_domain or no a.prop_domain + b.prop_domain)
}

/** HOT234 error: users of one domain have different names
 * message: `{a}` and `{b}` have the name `{a.prop_name}` in one domain
 * at: b.prop_name "same name"
 * also: a.prop_name "as here"
 * help: give them different names
 * why: Keystone refuses the second.
 * source: RR-9317, section 7.1.4
 */
assert UserNamesAreDifferent {
  all disj a, b: OS_Keystone_User | some a.prop_name & b.prop_name implies
    not (some a.prop_domain & b.prop_domain or no a.prop_domain + b.prop_domain)
}

/** HOT234 error: roles of one domain have different names
 * message: `{a}` and `{b}` have the name `{a.prop_name}` in one domain
 * at: b.prop_name "same name"
 * also: a.prop_name "as here"
 * help: give them different names
 * why: Keystone refuses the second.
 * source: RR-9317, section 7.1.4
 */
assert RoleNamesAreDifferent {
  all disj a, b: OS_Keystone_Role | some a.prop_name & b.prop_name implies
    not (some a.prop_domain & b.prop_domain or no a.prop_domain + b.prop_domain)
}

/** HOT234 error: groups of one domain have different names
 * message: `{a}` and `{b}` have the name `{a.prop_name}` in one domain
 * at: b.prop_name "same name"
 * also: a.prop_name "as here"
 * help: give them different names
 * why: Keystone refuses the second.
 * source: RR-9317, section 7.1.4
 */
assert GroupNamesAreDifferent {
  all disj a, b: OS_Keystone_Group | some a.prop_name & b.prop_name implies
    not (some a.prop_domain & b.prop_domain or no a.prop_domain + b.prop_domain)
}

/** HOT234 error: domains have different names
 * message: the domains `{a}` and `{b}` have the name `{a.prop_name}`
 * at: b.prop_name "same name"
 * also: a.prop_name "as here"
 * help: give them different names
 * why: Keystone refuses the second.
 * source: RR-9317, section 7.1.4
 */
assert DomainNamesAreDifferent { all disj a, b: OS_Keystone_Domain | no a.prop_name & b.prop_name }
