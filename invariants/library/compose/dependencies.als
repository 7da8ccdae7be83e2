/** Rules about services that need each other. */
module compose/dependencies

open compose/vocabulary
open compose/project
open values

/** COMPOSE020 error: services do not need each other in a circle
 * message: `{s}` needs itself: {chain s by needs}
 * at: s.needs "leads back to `{s}`"
 * help: remove one of these; services of one network can reach each other without `depends_on`
 * why: Compose refuses the project: no service of the circle can be started first. `links`, `volumes_from`, `network_mode`, `ipc` and `pid` need the other service as `depends_on` does.
 * source: RR-9317, section 6.3; `DependenciesAreAcyclic` of the model `compose`
 */
assert NeedsAreAcyclic { 
  // Of a circle, the service that is written first.
  all s: Service | (s.active = True and s in s.^needs) implies
    some t: s.^needs & ^needs.s | written_before[t, s]
}

/** COMPOSE021 error: services do not extend each other in a circle
 * message: the service `{d}` extends itself: {chain d by base}
 * at: d.base "leads back to `{d}`"
 * help: move what they have in common into a service of its own
 * why: Compose refuses the project.
 * source: Compose specification, `extends`
 */
assert ExtensionsAreAcyclic { 
  // Of a circle, the service that is written first.
  all d: Definition | d in d.^base implies some e: d.^base & ^base.d | written_before[e, d]
}

/** COMPOSE022 error: files do not include each other in a circle
 * message: the file `{f}` includes itself: {chain f by includes}
 * at: f.includes "leads back to `{f}`"
 * help: move what they have in common into a file of its own
 * why: Compose refuses the project.
 * source: Compose specification, `include`
 */
assert IncludesAreAcyclic { 
  // Of a circle, the file that is read first.
  all f: File | f in f.^includes implies some g: f.^includes & ^includes.f | written_before[g, f]
}

/** COMPOSE023 error: a health check that is waited for is not disabled
 * message: `{s}` waits until `{t}` is healthy, and the health check of `{t}` is disabled
 * at: d.condition "is never true"
 * also: t.health_disabled "disabled here"
 * help: wait for `service_started`, or let `{t}` have a health check
 * why: Compose gives up: a container without a health check is never healthy.
 * source: Compose specification, `depends_on`
 */
assert AwaitedHealthIsNotDisabled {
  all s: Service, d: s.references & Dependency, t: d.target & Service |
    (s.active = True and d.condition = "service_healthy") implies t.health_disabled = False
}

/** COMPOSE024 warning: a service that is waited for has a health check
 * message: `{s}` waits until `{t}` is healthy, and `{t}` has no health check
 * at: d.condition "is never true, unless the image has a health check"
 * also: t "has no `healthcheck`"
 * help: add a `healthcheck` to `{t}`, or wait for `service_started`
 * why: Unless its image brings a health check, the container is never healthy and Compose gives up.
 * source: Compose specification, `depends_on`
 */
assert AwaitedServicesHaveAHealthcheck {
  all s: Service, d: s.references & Dependency, t: d.target & Service |
    (s.active = True and d.condition = "service_healthy" and t.health_disabled = False)
      implies some t.healthcheck
}

/** COMPOSE025 error: a service whose end is waited for ends
 * message: `{s}` waits until `{t}` has ended, and `{t}` is restarted whenever it ends: `restart: {t.restart}`
 * at: d.condition "is never true"
 * also: t.restart "restarted for ever"
 * help: write `restart: "no"` or `restart: on-failure` at `{t}`
 * why: A container that is restarted after success has never ended, so what waits for it is not started.
 * source: Compose specification, `depends_on`
 */
assert AwaitedServicesEnd {
  all s: Service, d: s.references & Dependency, t: d.target & Service |
    (s.active = True and d.condition = "service_completed_successfully")
      implies no t.restart & ("always" + "unless-stopped")
}

/** COMPOSE025 error: a service whose end is waited for is not deployed to run always
 * message: `{s}` waits until `{t}` has ended, and `{t}` is restarted whenever it ends: `condition: any`
 * at: d.condition "is never true"
 * also: t.restart_condition "restarted for ever"
 * help: write `condition: none` or `condition: on-failure` at `{t}`
 * why: A container that is restarted after success has never ended, so what waits for it is not started.
 * source: Compose specification, `depends_on`
 */
assert AwaitedDeploymentsEnd {
  all s: Service, d: s.references & Dependency, t: d.target & Service |
    (s.active = True and d.condition = "service_completed_successfully")
      implies t.restart_condition != "any"
}

/** COMPOSE026 warning: a service and what it waits for are on one network
 * message: `{s}` depends on `{t}`, and they are on no common network
 * at: d "cannot be reached by name"
 * also: t "is on other networks"
 * help: put both on one network, or remove the dependency
 * why: Services reach each other by name on a network that both are on. What is waited for is mostly reached too.
 * source: Compose specification, `networks`
 */
assert DependenciesAreReachable {
  all s: Service, d: s.references & Dependency, t: d.target & Service |
    (s.active = True and d.condition != "service_completed_successfully"
      and some networks_of[s] and some networks_of[t] and s != t
      and all r: (s + t).references & Attachment | some r.target)
    implies some networks_of[s] & networks_of[t]
}

/** COMPOSE026 warning: a service and one that it links are on one network
 * message: `{s}` links `{t}`, and they are on no common network
 * at: d "cannot be reached by name"
 * also: t "is on other networks"
 * help: put both on one network
 * why: Services reach each other by name on a network that both are on, also by `links`.
 * source: Compose specification, `links`
 */
assert LinksAreReachable {
  all s: Service, d: s.references & Link, t: d.target & Service |
    (s.active = True and some networks_of[s] and some networks_of[t] and s != t
      and all r: (s + t).references & Attachment | some r.target)
    implies some networks_of[s] & networks_of[t]
}

/** COMPOSE027 warning: a service named in a variable is on a common network
 * message: the variable `{m.entry}` of `{s}` names `{m.host}`, and the two services are on no common network
 * at: m "`{m.host}` cannot be reached by name"
 * also: t "is on other networks"
 * help: put both on one network
 * why: Services reach each other by name on a network that both are on.
 * source: Compose specification, `networks`
 */
assert MentionedServicesAreReachable {
  all s: Service, m: s.mentions, t: m.service |
    (s.active = True and some networks_of[s] and some networks_of[t] and s != t
      and no s.extra_hosts & m.host and no s.external_links
      and all r: (s + t).references & Attachment | some r.target)
    implies some networks_of[s] & networks_of[t]
}
