/** Rules about services that need each other. */
module compose/dependencies

open compose/vocabulary
open compose/project
open values

/** COMPOSE020 dependency-cycle error: services depend on each other in a cycle
 * message: service `{s}` depends on itself: {chain s by needs}
 * at: s.needs "leads back to `{s}`"
 * help: remove one of these dependencies; services on one network can reach each other without `depends_on`
 * why: Compose refuses the project: no service in the cycle can start first. `links`, `volumes_from`, `network_mode`, `ipc` and `pid` create dependencies just like `depends_on`.
 * source: RR-9317, section 6.3; `DependenciesAreAcyclic` of the model `compose`
 */
assert NeedsAreAcyclic { 
  // Of a circle, the service that is written first.
  all s: Service | (s.active = True and s in s.^needs) implies
    some t: s.^needs & ^needs.s | written_before[t, s]
}

/** COMPOSE021 extends-cycle error: services extend each other in a cycle
 * message: service `{d}` extends itself: {chain d by base}
 * at: d.base "leads back to `{d}`"
 * help: move what they share into a service of its own
 * why: Compose refuses the project.
 * source: Compose specification, `extends`
 */
assert ExtensionsAreAcyclic { 
  // Of a circle, the service that is written first.
  all d: Definition | d in d.^base implies some e: d.^base & ^base.d | written_before[e, d]
}

/** COMPOSE022 circular-include error: files include each other in a cycle
 * message: file `{f}` includes itself: {chain f by includes}
 * at: f.includes "leads back to `{f}`"
 * help: move what they share into a file of its own
 * why: Compose refuses the project.
 * source: Compose specification, `include`
 */
assert IncludesAreAcyclic { 
  // Of a circle, the file that is read first.
  all f: File | f in f.^includes implies some g: f.^includes & ^includes.f | written_before[g, f]
}

/** COMPOSE023 healthcheck-disabled error: a service waits for a health check that is disabled
 * message: service `{s}` waits until `{t}` is healthy, but the health check of `{t}` is disabled
 * at: d.condition "never becomes true"
 * also: t.health_disabled "disabled here"
 * help: wait for `service_started`, or enable the health check of `{t}`
 * fix: unsafe replace d.condition with `service_started`
 * why: Compose gives up: a container without a health check never becomes healthy.
 * source: Compose specification, `depends_on`
 */
assert AwaitedHealthIsNotDisabled {
  all s: Service, d: s.references & Dependency, t: d.target & Service |
    (s.active = True and d.condition = "service_healthy") implies t.health_disabled = False
}

/** COMPOSE024 healthcheck-missing warning: a service waits for a health check that does not exist
 * message: service `{s}` waits until `{t}` is healthy, but `{t}` has no health check
 * at: d.condition "never becomes true, unless the image defines a health check"
 * also: t "has no `healthcheck`"
 * help: add a `healthcheck` to `{t}`, or wait for `service_started`
 * fix: unsafe replace d.condition with `service_started`
 * why: Unless its image defines a health check, the container never becomes healthy and Compose gives up.
 * source: Compose specification, `depends_on`
 */
assert AwaitedServicesHaveAHealthcheck {
  all s: Service, d: s.references & Dependency, t: d.target & Service |
    (s.active = True and d.condition = "service_healthy" and t.health_disabled = False)
      implies some t.healthcheck
}

/** COMPOSE025 dependency-never-completes error: a service waits for another that is always restarted
 * message: service `{s}` waits until `{t}` completes, but `{t}` always restarts: `restart: {t.restart}`
 * at: d.condition "never becomes true"
 * also: t.restart "always restarts"
 * help: set `restart: "no"` or `restart: on-failure` on `{t}`
 * fix: unsafe replace t.restart with `on-failure`
 * why: A container that restarts after success never completes, so the services that wait for it never start.
 * source: Compose specification, `depends_on`
 */
assert AwaitedServicesEnd {
  all s: Service, d: s.references & Dependency, t: d.target & Service |
    (s.active = True and d.condition = "service_completed_successfully")
      implies no t.restart & ("always" + "unless-stopped")
}

/** COMPOSE025 dependency-never-completes error: a service waits for another whose deployment always restarts
 * message: service `{s}` waits until `{t}` completes, but `{t}` always restarts: `condition: any`
 * at: d.condition "never becomes true"
 * also: t.restart_condition "always restarts"
 * help: set `condition: none` or `condition: on-failure` on `{t}`
 * fix: unsafe replace t.restart_condition with `on-failure`
 * why: A container that restarts after success never completes, so the services that wait for it never start.
 * source: Compose specification, `depends_on`
 */
assert AwaitedDeploymentsEnd {
  all s: Service, d: s.references & Dependency, t: d.target & Service |
    (s.active = True and d.condition = "service_completed_successfully")
      implies t.restart_condition != "any"
}

/** COMPOSE026 dependency-unreachable warning: a service depends on another but shares no network with it
 * message: service `{s}` depends on `{t}`, but they share no network
 * at: d "cannot be reached by name"
 * also: t "is on other networks"
 * help: put both on one network, or remove the dependency
 * why: Services reach each other by name on a network they share. Most services talk to those they wait for.
 * source: Compose specification, `networks`
 */
assert DependenciesAreReachable {
  all s: Service, d: s.references & Dependency, t: d.target & Service |
    (s.active = True and d.condition != "service_completed_successfully"
      and some networks_of[s] and some networks_of[t] and s != t
      and all r: (s + t).references & Attachment | some r.target)
    implies some networks_of[s] & networks_of[t]
}

/** COMPOSE026 dependency-unreachable warning: a service links another but shares no network with it
 * message: service `{s}` links `{t}`, but they share no network
 * at: d "cannot be reached by name"
 * also: t "is on other networks"
 * help: put both on one network
 * why: Services reach each other by name on a network they share, also with `links`.
 * source: Compose specification, `links`
 */
assert LinksAreReachable {
  all s: Service, d: s.references & Link, t: d.target & Service |
    (s.active = True and some networks_of[s] and some networks_of[t] and s != t
      and all r: (s + t).references & Attachment | some r.target)
    implies some networks_of[s] & networks_of[t]
}

/** COMPOSE027 host-unreachable warning: a variable names a service on another network
 * message: the variable `{m.entry}` of `{s}` names service `{m.host}`, but they share no network
 * at: m "`{m.host}` cannot be reached by name"
 * also: t "is on other networks"
 * help: put both on one network
 * why: Services reach each other by name on a network they share.
 * source: Compose specification, `networks`
 */
assert MentionedServicesAreReachable {
  all s: Service, m: s.mentions, t: m.service |
    (s.active = True and some networks_of[s] and some networks_of[t] and s != t
      and no s.extra_hosts & m.host and no s.external_links
      and all r: (s + t).references & Attachment | some r.target)
    implies some networks_of[s] & networks_of[t]
}
