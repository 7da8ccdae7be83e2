/**
 * Rules about the two ways to deploy a project: `docker compose up` and `docker stack deploy` read the same files and
 * do not do the same with them.
 */
module compose/targets

open compose/vocabulary
open compose/project
open values

/** COMPOSE060 external-needs-swarm error: an external secret needs a swarm
 * message: secret `{t}` is external, but only a swarm stores secrets
 * at: r "not available"
 * also: t "external"
 * help: give the secret a `file` or an `environment`, or deploy to a swarm with `--target swarm`
 * why: Compose refuses to start the service.
 * source: Compose specification, `secrets`
 */
assert SecretsAreNotOfASwarm {
  all r: SecretUse, t: r.target & Secret | (plain and r.by.active = True) implies t.external = False
}

/** COMPOSE060 external-needs-swarm error: an external config needs a swarm
 * message: config `{t}` is external, but only a swarm stores configs
 * at: r "not available"
 * also: t "external"
 * help: give the config a `file` or `content`, or deploy to a swarm with `--target swarm`
 * why: Compose refuses to start the service.
 * source: Compose specification, `configs`
 */
assert ConfigsAreNotOfASwarm {
  all r: ConfigUse, t: r.target & Config | (plain and r.by.active = True) implies t.external = False
}

/** COMPOSE061 secret-driver-ignored warning: the driver of a secret has no effect
 * message: secret `{t}` has a driver, which only a swarm uses
 * at: t.driver "no effect"
 * also: t.template_driver "no effect"
 * help: give the secret a `file` or an `environment`, or deploy to a swarm with `--target swarm`
 * why: Compose mounts files; secret drivers are plugins of a swarm.
 * source: Compose specification, `secrets`
 */
assert SecretsHaveNoDriver {
  all t: Secret | (plain and some t.driver + t.template_driver) implies no target.t
}

/** COMPOSE062 secret-permissions-ignored info: the owner and mode of a secret have no effect
 * message: `uid`, `gid` and `mode` of secret `{r}` have no effect
 * at: r.permissions "no effect"
 * also: r.uid "no effect"
 * also: r.gid "no effect"
 * help: set the owner and mode of the file itself, or deploy to a swarm with `--target swarm`
 * why: Compose mounts the file as it is, with a warning.
 * source: Compose specification, `secrets`
 */
assert FilesKeepTheirOwner {
  all r: SecretUse, t: r.target & Secret |
    (plain and r.by.active = True and some t.file) implies no r.uid + r.gid + r.permissions
}

/** COMPOSE063 swarm-only-key info: a key only has an effect in a swarm
 * message: `{k}` of service `{s}` has no effect without a swarm
 * at: s.keys "only used by a swarm"
 * help: deploy to a swarm with `--target swarm`, or remove it
 * why: Compose starts the service without it.
 * source: RR-9317, section 6.2; Compose specification, `deploy`
 */
assert DeployIsForASwarm {
  all s: Service, k: s.keys & ("deploy.placement" + "deploy.update_config" + "deploy.rollback_config"
    + "deploy.endpoint_mode") | plain implies no k
}

/** COMPOSE064 build-without-image error: a swarm service is built but has no image
 * message: service `{s}` has `build` but no `image`
 * at: s "no image to deploy"
 * help: build and push the image first, and name it with `image`
 * why: `docker stack deploy` does not build images and refuses a service without one.
 * source: Compose specification, `build`
 */
assert SwarmServicesHaveAnImage { all s: Service | swarm implies some s.image }

/** COMPOSE065 key-refused-by-swarm error: a swarm refuses a key
 * message: `{k}` of service `{s}` is not allowed in a swarm
 * at: s.keys "not allowed"
 * help: use `deploy.resources` for limits, and volumes and merged files for the rest
 * why: `docker stack deploy` refuses the file.
 * source: Docker, `docker stack deploy`, forbidden properties
 */
assert RefusedKeysAreNotUsed {
  all s: Service, k: s.keys | swarm implies k not in ("volume_driver" + "volumes_from" + "extends" + "cpu_quota"
    + "cpu_shares" + "cpuset" + "mem_limit" + "memswap_limit")
}

/** COMPOSE066 key-ignored-by-swarm warning: a swarm ignores a key
 * message: `{k}` of service `{s}` has no effect in a swarm
 * at: s.keys "no effect"
 * help: remove it, or check with `--target compose`; set restarts under `deploy.restart_policy`
 * why: `docker stack deploy` ignores it.
 * source: Docker, `docker stack deploy`, unsupported options
 */
assert IgnoredKeysAreNotUsed {
  all s: Service, k: s.keys | swarm implies k not in ("container_name" + "links" + "external_links" + "network_mode" + "restart"
    + "security_opt" + "userns_mode" + "devices" + "cgroup_parent" + "ipc" + "pid" + "privileged" + "mac_address"
    + "shm_size" + "profiles" + "scale" + "develop")
}

/** COMPOSE067 local-source-in-swarm error: a secret of a swarm comes from a variable
 * message: secret `{t}` comes from a variable, which a swarm does not read
 * at: t.variable "not read"
 * also: r "used here"
 * help: give the secret a `file`, or make it `external`
 * why: `docker stack deploy` refuses the file: secrets are files or external.
 * source: Compose specification, `secrets`
 */
assert SwarmSecretsAreNotVariables {
  all r: SecretUse, t: r.target & Secret | swarm implies no t.variable
}

/** COMPOSE067 local-source-in-swarm error: a config of a swarm is written inline
 * message: config `{t}` is written inline or comes from a variable, which a swarm does not read
 * at: t.content "not read"
 * also: t.variable "not read"
 * also: r "used here"
 * help: give the config a `file`, or make it `external`
 * why: `docker stack deploy` refuses the file: configs are files or external.
 * source: Compose specification, `configs`
 */
assert SwarmConfigsAreFiles {
  all r: ConfigUse, t: r.target & Config | swarm implies no t.content + t.variable
}

/** COMPOSE068 fixed-address-ignored warning: a swarm ignores fixed IP addresses
 * message: the fixed address of service `{a.by}` on network `{a}` has no effect in a swarm
 * at: a.ipv4_address "no effect"
 * also: a.ipv6_address "no effect"
 * help: remove the address: services reach each other by name
 * fix: unsafe remove a.ipv4_address
 * why: `docker stack deploy` assigns an address to every task.
 * source: Docker, `docker stack deploy`
 */
assert SwarmChoosesAddresses { all a: Attachment | swarm implies no a.ipv4_address + a.ipv6_address }

/** COMPOSE069 depends-on-ignored info: a swarm ignores `depends_on`
 * message: `depends_on` of service `{s}` has no effect in a swarm
 * at: r "no effect"
 * help: make the service retry until what it needs is up
 * why: `docker stack deploy` starts all services at once.
 * source: Docker, `docker stack deploy`
 */
assert SwarmDoesNotWait {
  all s: Service, r: s.references & Dependency | swarm implies r.condition = "service_started"
}
