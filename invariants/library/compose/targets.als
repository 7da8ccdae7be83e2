/**
 * Rules about the two ways to deploy a project: `docker compose up` and `docker stack deploy` read the same files and
 * do not do the same with them.
 */
module compose/targets

open compose/vocabulary
open compose/project
open values

/** COMPOSE060 error: Compose cannot use what a swarm keeps
 * message: the secret `{t}` is external, and only a swarm keeps secrets
 * at: r "not available"
 * also: t "external"
 * help: give the secret a `file` or an `environment`, or deploy to a swarm with `--target swarm`
 * why: Compose refuses to start the service: external secrets are kept by a swarm.
 * source: Compose specification, `secrets`
 */
assert SecretsAreNotOfASwarm {
  all r: SecretUse, t: r.target & Secret | (plain and r.by.active = True) implies t.external = False
}

/** COMPOSE060 error: Compose cannot use configs that a swarm keeps
 * message: the config `{t}` is external, and only a swarm keeps configs
 * at: r "not available"
 * also: t "external"
 * help: give the config a `file` or `content`, or deploy to a swarm with `--target swarm`
 * why: Compose refuses to start the service: external configs are kept by a swarm.
 * source: Compose specification, `configs`
 */
assert ConfigsAreNotOfASwarm {
  all r: ConfigUse, t: r.target & Config | (plain and r.by.active = True) implies t.external = False
}

/** COMPOSE061 warning: Compose does not run drivers of secrets
 * message: the secret `{t}` has a driver, which only a swarm uses
 * at: t.driver "not used"
 * also: t.template_driver "not used"
 * help: give the secret a `file` or an `environment`, or deploy to a swarm with `--target swarm`
 * why: Compose mounts files; drivers are plugins of a swarm.
 * source: Compose specification, `secrets`
 */
assert SecretsHaveNoDriver {
  all t: Secret | (plain and some t.driver + t.template_driver) implies no target.t
}

/** COMPOSE062 info: Compose does not change the owner of a secret that is a file
 * message: `uid`, `gid` and `mode` of the secret `{r}` have no effect
 * at: r.permissions "no effect"
 * also: r.uid "no effect"
 * also: r.gid "no effect"
 * help: set owner and mode of the file itself, or deploy to a swarm with `--target swarm`
 * why: Compose mounts the file as it is, and warns.
 * source: Compose specification, `secrets`
 */
assert FilesKeepTheirOwner {
  all r: SecretUse, t: r.target & Secret |
    (plain and r.by.active = True and some t.file) implies no r.uid + r.gid + r.permissions
}

/** COMPOSE063 info: what only a swarm does is not written for Compose
 * message: `{k}` of `{s}` has no effect without a swarm
 * at: s.keys "used by a swarm only"
 * help: deploy to a swarm with `--target swarm`, or remove it
 * why: Compose starts the service without it.
 * source: RR-9317, section 6.2; Compose specification, `deploy`
 */
assert DeployIsForASwarm {
  all s: Service, k: s.keys & ("deploy.placement" + "deploy.update_config" + "deploy.rollback_config"
    + "deploy.endpoint_mode") | plain implies no k
}

/** COMPOSE064 error: a service of a swarm has an image
 * message: `{s}` is built, and has no `image`
 * at: s "no image to deploy"
 * help: build and push the image before, and name it with `image`
 * why: A swarm does not build: `docker stack deploy` refuses a service without an image.
 * source: Compose specification, `build`
 */
assert SwarmServicesHaveAnImage { all s: Service | swarm implies some s.image }

/** COMPOSE065 error: what a swarm refuses is not used
 * message: `{k}` of `{s}` is refused by a swarm
 * at: s.keys "here"
 * help: use `deploy.resources` for limits, and volumes and merged files for the rest
 * why: `docker stack deploy` refuses the file.
 * source: Docker, `docker stack deploy`, forbidden properties
 */
assert RefusedKeysAreNotUsed {
  all s: Service, k: s.keys | swarm implies k not in ("volume_driver" + "volumes_from" + "extends" + "cpu_quota"
    + "cpu_shares" + "cpuset" + "mem_limit" + "memswap_limit")
}

/** COMPOSE066 warning: what a swarm ignores is not used
 * message: `{k}` of `{s}` has no effect in a swarm
 * at: s.keys "here"
 * help: remove it, or check with `--target compose`; restarts are under `deploy.restart_policy`
 * why: `docker stack deploy` goes on without it.
 * source: Docker, `docker stack deploy`, unsupported options
 */
assert IgnoredKeysAreNotUsed {
  all s: Service, k: s.keys | swarm implies k not in ("container_name" + "links" + "external_links" + "network_mode" + "restart"
    + "security_opt" + "userns_mode" + "devices" + "cgroup_parent" + "ipc" + "pid" + "privileged" + "mac_address"
    + "shm_size" + "profiles" + "scale" + "develop")
}

/** COMPOSE067 error: a swarm cannot use what is only on this machine
 * message: the secret `{t}` comes from a variable, which a swarm does not read
 * at: t.variable "not read"
 * also: r "used here"
 * help: give the secret a `file`, or make it `external`
 * why: `docker stack deploy` refuses the file: secrets are files or external.
 * source: Compose specification, `secrets`
 */
assert SwarmSecretsAreNotVariables {
  all r: SecretUse, t: r.target & Secret | swarm implies no t.variable
}

/** COMPOSE067 error: a swarm cannot use configs that are written in the file
 * message: the config `{t}` is written in the file, which a swarm does not read
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

/** COMPOSE068 warning: a swarm gives out addresses itself
 * message: the fixed address of `{a.by}` on `{a}` has no effect in a swarm
 * at: a.ipv4_address "not used"
 * also: a.ipv6_address "not used"
 * help: remove the address: services reach each other by name
 * why: `docker stack deploy` gives every task an address of its choice.
 * source: Docker, `docker stack deploy`
 */
assert SwarmChoosesAddresses { all a: Attachment | swarm implies no a.ipv4_address + a.ipv6_address }

/** COMPOSE069 info: a swarm does not wait for other services
 * message: `depends_on` of `{s}` has no effect in a swarm
 * at: r "not waited for"
 * help: let the service try again until what it needs is there
 * why: `docker stack deploy` starts all services at once.
 * source: Docker, `docker stack deploy`
 */
assert SwarmDoesNotWait {
  all s: Service, r: s.references & Dependency | swarm implies r.condition = "service_started"
}
