/**
 * Docker Compose: services and what they share, interpreted as location graphs.
 *
 * Services, networks, volumes, secrets and configs are locations. What a service says about its use of a
 * network or a volume (an address there, a mount point here) belongs to the use and not to the thing
 * used, so it is carried by the role that binds the two: required by the service, provided by the thing.
 * A dependency between services is a role as well. Fields bear the names of the keys of a Compose file.
 *
 * The invariants of a composition are predicates, gathered in `WellFormedComposition`.
 *
 * Source: INRIA research report 9317, section 6.2, after the Compose file format 3.7, brought up to the
 * current Compose specification where the two disagree. Corrections are marked with their key in
 * docs/models.md.
 */
module compose

open lg/location_graphs
open util/boolean

// ---------------------------------------------------------------------------------------------
// The composition
// ---------------------------------------------------------------------------------------------

/** A Compose file, merged and interpolated. */
sig Composition extends LocationGraph {
  dockerComposeVersion: lone String,
  services: set Service,
  networks: set Network,
  volumes: set Volume,
  secrets: set Secret,
  configs: set Config
} {
  // C2: configs, and the volumes that belong to a single service, are locations too.
  locations = services + networks + volumes + secrets + configs + services.serviceVolumes
}

/** A service: what its containers run and what they are given. */
sig Service extends Location {
  containers: set Container,
  // uses of other locations
  networks: set NetworkRole,
  volumes: set VolumeRole,
  secrets: set SecretRole,
  configs: set ConfigRole,
  depends_on: set DependencyRole,
  on_which_depend: set DependencyRole,
  // what is run
  image: lone String,
  build: lone Build,
  command: set String,
  entrypoint: set String,
  working_dir: lone String,
  user: lone String,
  init: lone Bool,
  tty: lone Bool,
  stdin_open: lone Bool,
  stop_signal: lone String,
  stop_grace_period: lone scalar_unit_time,
  pull_policy: lone String,
  platform: lone String,
  // how many, and when
  deploy: lone Deployment,
  container_name: lone String,
  restart: lone String,
  restart_retries: lone Int,
  healthcheck: lone Healthcheck,
  profiles: set String,
  // environment and metadata
  environment: set Entry,
  env_file: set String,
  labels: set Entry,
  // names and ports
  hostname: lone String,
  domainname: lone String,
  ports: set String,
  expose: set String,
  links: set String,
  external_links: set String,
  extra_hosts: set String,
  dns: set String,
  dns_search: set String,
  network_mode: lone String,
  // privileges and isolation
  privileged: lone Bool,
  read_only: lone Bool,
  cap_add: set String,
  cap_drop: set String,
  cgroup_parent: lone String,
  credential_spec_file: lone String,
  credential_spec_registry: lone String,
  devices: set String,
  security_opt: set String,
  ipc: lone String,
  pid: lone String,
  isolation: lone String,
  userns_mode: lone String,
  // resources
  tmpfs: set String,
  ulimits: set Ulimit,
  shm_size: lone String,
  sysctls: set Entry,
  log_driver: lone String
} {
  provided = on_which_depend
  // C2: the report leaves the configs out.
  required = networks + volumes + secrets + configs + depends_on
  restart in "no" + "always" + "on-failure" + "unless-stopped"
  // C8: `on-failure:3` is a value of the key too; its number is kept apart.
  some restart_retries implies restart = "on-failure" and restart_retries >= 0
  pull_policy in "always" + "never" + "missing" + "build" + "if_not_present"
}

/** One running instance of a service. C1: the report uses this and other names without defining them. */
sig Container {}

// ---------------------------------------------------------------------------------------------
// Networks
// ---------------------------------------------------------------------------------------------

/** A top-level network. */
sig Network extends Location {
  driver: lone String,
  is_external: lone Bool,
  external_name: lone String,
  internal: lone Bool,
  attachable: lone Bool,
  enable_ipv6: lone Bool,
  labels: set Entry
} {
  provided in NetworkRole
  no required
  some external_name implies is_external = True
}

/** How a service is connected to a network. */
sig NetworkRole extends Role {
  aliases: set String,
  ipv4_address: lone String,
  ipv6_address: lone String
}

// ---------------------------------------------------------------------------------------------
// Volumes
// ---------------------------------------------------------------------------------------------

/** Storage that a service mounts. C9: one that nobody mounts is legal. */
abstract sig Volume_spec extends Location {} {
  provided in VolumeRole
  no required
}

/** A top-level volume, which services may share. */
sig Volume extends Volume_spec {
  driver: lone String,
  is_external: lone Bool,
  external_name: lone String,
  labels: set Entry
} {
  some external_name implies is_external = True
}

/** Storage of one service: a path of the host, a temporary file system, an anonymous volume. */
sig ServiceVolume extends Volume_spec {} {
  one provided
}

/** How a service mounts a volume. */
abstract sig VolumeRole extends Role {}

/** The short syntax, `external:internal:mode`. */
sig VolumeSpec extends VolumeRole {
  external: lone String + Volume,
  internal: one String,
  mode: set String
} {
  // C8: flags for SELinux, propagation and copying are modes as well.
  mode in "rw" + "ro" + "z" + "Z" + "nocopy" + "cached" + "delegated" + "consistent"
    + "shared" + "rshared" + "slave" + "rslave" + "private" + "rprivate"
  not ("rw" + "ro") in mode
}

/** The long syntax. */
sig MountSpec extends VolumeRole {
  type: one String,
  source: lone String,
  target: lone String,
  read_only: lone Bool,
  consistency: lone String,
  bind_propagation: lone String,
  volume_nocopy: lone Bool,
  tmpfs_size: lone Int
} {
  type in "volume" + "bind" + "tmpfs" + "npipe" + "cluster" + "image"
  consistency in "consistent" + "cached" + "delegated"
  some bind_propagation implies type = "bind"
  some volume_nocopy implies type = "volume"
  some tmpfs_size implies type = "tmpfs" and tmpfs_size >= 0
  type = "bind" implies some source
  type = "tmpfs" implies no source
}

/** The volumes that belong to this service alone. */
fun serviceVolumes[s: set Service]: set ServiceVolume {
  { v: ServiceVolume | some v.provided & s.volumes }
}

// ---------------------------------------------------------------------------------------------
// Secrets and configs
// ---------------------------------------------------------------------------------------------

/** Data that must not be stored in the clear. */
sig Secret extends Location {
  file: lone String,
  environment: lone String,
  is_external: lone Bool,
  external_name: lone String,
  labels: set Entry
} {
  provided in SecretRole
  no required
  some external_name implies is_external = True
}

/** Data that is mounted into containers and is not secret. */
sig Config extends Location {
  file: lone String,
  environment: lone String,
  content: lone String,
  is_external: lone Bool,
  external_name: lone String,
  labels: set Entry
} {
  provided in ConfigRole
  no required
  some external_name implies is_external = True
}

/** How a service reads a secret or a config. C5: ids and modes are written, and kept, as text. */
abstract sig Service_access extends Role {
  target: lone String,
  uid: lone String,
  gid: lone String,
  mode: lone String
}

sig SecretRole extends Service_access {
  source: one Secret
} {
  this in source.provided
}

/** C3: its source is a config; in the report it is a secret. */
sig ConfigRole extends Service_access {
  source: one Config
} {
  this in source.provided
}

// ---------------------------------------------------------------------------------------------
// Dependencies
// ---------------------------------------------------------------------------------------------

/** What a service waits for in another one. */
sig DependencyRole extends Role {
  condition: one String,
  restarts: lone Bool,
  is_required: lone Bool
} {
  condition in "service_started" + "service_healthy" + "service_completed_successfully"
}

/** The services that a service waits for. */
fun dependencies: Service -> Service {
  { s, d: Service | some s.depends_on & d.on_which_depend }
}

// ---------------------------------------------------------------------------------------------
// Parts of a service
// ---------------------------------------------------------------------------------------------

/** A key with a value: an environment variable, a label. */
sig Entry {
  key: one String,
  value: lone String
}

sig Ulimit {
  ulimit_name: one String,
  soft: one Int,
  hard: one Int
}

sig Build {
  context: lone String,
  dockerfile: lone String,
  args: set Entry,
  labels: set Entry,
  cache_from: set String,
  network: lone String,
  target: lone String,
  shm_size: lone String
}

sig Healthcheck {
  disable: lone Bool,
  interval: lone scalar_unit_time,
  retries: lone Int,
  test: set String,
  timeout: lone scalar_unit_time,
  start_period: lone scalar_unit_time
} {
  retries >= 0 or no retries
}

/** A quantity with a unit. */
abstract sig Scalar {
  amount: one Int
} {
  amount >= 0
}

enum TimeUnits { d, h, m, s, ms, us, ns }

/** A duration. */
sig scalar_unit_time extends Scalar {
  unit: one TimeUnits
}

pred scalar_unit_time.init[v: one Int, u: one TimeUnits] {
  this.amount = v
  this.unit = u
}

/** What a swarm does with a service. */
sig Deployment {
  mode: lone String,
  endpoint_mode: lone String,
  replicas: lone Int,
  labels: set Entry,
  resources_limit: lone Service_resource_spec,
  resources_reservations: lone Reservation_resources_spec,
  restart_condition: lone String,
  restart_delay: lone scalar_unit_time,
  restart_max_attempts: lone Int,
  restart_window: lone scalar_unit_time,
  rollback_config: lone Deploy_config,
  update_config: lone Deploy_config,
  placement_constraints: set String
} {
  mode in "replicated" + "global" + "replicated-job" + "global-job"
  endpoint_mode in "vip" + "dnsrr"
  restart_condition in "none" + "on-failure" + "any"
  // The number of replicas of a global service is the number of nodes.
  some replicas implies mode not in "global" + "global-job" and replicas >= 0
}

/** Limits or reservations; quantities are text with a unit. */
sig Service_resource_spec {
  cpus: lone String,
  memory: lone String,
  pids: lone Int
}

/** C7: each reservation has resources of its own; in the report all have all of them. */
sig Reservation_resources_spec extends Service_resource_spec {
  generic_resources: set Discrete_resource_spec
}

sig Discrete_resource_spec {
  kind: one String,
  amount: one Int
}

/** How an update or a rollback proceeds. */
sig Deploy_config {
  parallelism: lone Int,
  delay: lone scalar_unit_time,
  failure_action: lone String,
  monitor: lone scalar_unit_time,
  max_failure_ratio: lone String,
  order: lone String
} {
  order in "start-first" + "stop-first"
  failure_action in "continue" + "pause" + "rollback"
}

// ---------------------------------------------------------------------------------------------
// Statements of which a composition consists
// ---------------------------------------------------------------------------------------------

/** One of the roles is provided by the location. */
pred bind[roles: set Role, location: one Location] {
  one r: location.provided | r in roles
}

pred Service.network[network: one Network, spec: one NetworkRole] {
  spec in this.networks
  bind[spec, network]
}

/** The same, when nothing is said about the connection. */
pred Service.network[network: one Network] {
  bind[this.networks, network]
}

pred Service.volume[volume: one Volume_spec, spec: one VolumeRole] {
  spec in this.volumes
  bind[spec, volume]
}

pred Service.secret[secret: one Secret, spec: one SecretRole] {
  spec in this.secrets
  bind[spec, secret]
}

pred Service.config[config: one Config, spec: one ConfigRole] {
  spec in this.configs
  bind[spec, config]
}

pred Service.depends_on[service: one Service] {
  one r: service.on_which_depend | r in this.depends_on
}

pred Service.replicas[n: one Int] {
  #this.containers = n
}

// ---------------------------------------------------------------------------------------------
// Invariants
// ---------------------------------------------------------------------------------------------

/** A service is connected to its networks, each of the composition, and to each only once. */
pred NetworkRolesAreAttached[c: Composition] {
  all x: c.services {
    all r: x.networks | one n: c.networks | x.network[n, r]
    all disj r, q: x.networks | no n: Network | x.network[n, r] and x.network[n, q]
  }
}

/** C4: the volume of a role may also be one of the service's own, which the report cannot express. */
pred VolumeRolesAreAttached[c: Composition] {
  all x: c.services | all r: x.volumes | one v: c.volumes + serviceVolumes[x] | x.volume[v, r]
}

/**
 * A top-level volume is mounted by a service only once. C10: the report demands it; Compose does not, the
 * same volume may be mounted in two places, so this is no part of `WellFormedComposition`.
 */
pred VolumesAreMountedOnce[c: Composition] {
  all x: c.services | all disj r, q: x.volumes | no v: Volume | x.volume[v, r] and x.volume[v, q]
}

/** C6: secrets and configs are those of the composition. */
pred AccessRolesAreAttached[c: Composition] {
  c.services.secrets.source in c.secrets
  c.services.configs.source in c.configs
}

/** C6: a service depends on services of the composition. */
pred DependenciesAreAttached[c: Composition] {
  all x: c.services | all r: x.depends_on | one y: c.services | r in y.on_which_depend
}

/** No service waits for itself, directly or through others. */
pred DependenciesAreAcyclic[c: Composition] {
  no x: c.services | x in x.^dependencies
}

/** A name for the container allows for one container only. */
pred ContainerNamesAllowOneContainer[c: Composition] {
  all x: c.services | some x.container_name implies {
    lone x.containers
    x.deploy.replicas in 0 + 1
  }
}

/** No two services ask for the same container name. */
pred ContainerNamesAreUnique[c: Composition] {
  all disj x, y: c.services | no x.container_name & y.container_name
}

/** A service that shares the network of another one, or of the host, has no networks of its own. */
pred NetworkModeExcludesNetworks[c: Composition] {
  all x: c.services | some x.network_mode implies no x.networks
}

/** There is something to run. */
pred ServicesHaveImageOrBuild[c: Composition] {
  all x: c.services | some x.image + x.build
}

/** Everything that a composition must satisfy to be deployed. */
pred WellFormedComposition[c: Composition] {
  NetworkRolesAreAttached[c]
  VolumeRolesAreAttached[c]
  AccessRolesAreAttached[c]
  DependenciesAreAttached[c]
  DependenciesAreAcyclic[c]
  ContainerNamesAllowOneContainer[c]
  ContainerNamesAreUnique[c]
  NetworkModeExcludesNetworks[c]
  ServicesHaveImageOrBuild[c]
}

// ---------------------------------------------------------------------------------------------
// Consistency
// ---------------------------------------------------------------------------------------------

/** Two services on one network, one of which waits for the other, which keeps its data in a volume. */
run Example {
  some c: Composition, disj web, db: Service, net: Network, vol: Volume,
  disj netwebrole, netdbrole: NetworkRole, volrole: VolumeRole {
    WellFormedComposition[c]
    c.services = web + db
    c.networks = net
    c.volumes = vol
    web.replicas[3]
    web.network[net, netwebrole]
    web.depends_on[db]
    no web.volumes
    db.replicas[1]
    db.network[net, netdbrole]
    db.volume[vol, volrole]
    no db.depends_on
    db.deploy.update_config.delay.init[10, s]
  }
} for 4 but exactly 1 Composition, 6 Location, 12 Value, 5 Int expect 1

/** A volume of the host and a shared one in the same service. */
run VolumesOfBothKinds {
  some c: Composition, x: Service {
    WellFormedComposition[c]
    x in c.services
    some v: Volume, r: x.volumes | x.volume[v, r]
    some v: ServiceVolume, r: x.volumes | x.volume[v, r]
  }
} for 4 but exactly 1 Composition, 10 Value expect 1

/** A cycle of dependencies is no well-formed composition. */
assert NoMutualDependency {
  all c: Composition, disj x, y: Service |
    WellFormedComposition[c] and x + y in c.services
      implies not (x.depends_on[y] and y.depends_on[x])
}

check NoMutualDependency for 4 but 8 Value expect 0

/** The network end of a connection is always within the composition. */
assert ConnectionsStayInside {
  all c: Composition, x: Service, n: Network, r: NetworkRole |
    WellFormedComposition[c] and x in c.services and x.network[n, r]
      and WellFormedLocationSet[c.locations + n]
      implies n in c.networks
}

check ConnectionsStayInside for 4 but 8 Value expect 0
