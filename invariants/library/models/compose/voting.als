/**
 * The example voting application as a composition: seven services, three networks, two shared volumes, a
 * secret in use and one that is not.
 *
 * What a front-end makes of a Compose file, written by hand: each location and each role is one atom,
 * each statement of the file one formula. The invariants of `compose.als` are not assumed but checked.
 *
 * Source: INRIA research report 9317, section 6.3, whose translation drops the temporary file system of
 * `result` and leaves the paths that `visualizer` and `web` mount without a volume (C4).
 */
module compose/voting

open lg/location_graphs
open compose
open util/boolean

one sig redis, db, vote, result, worker, visualizer, web extends Service {}
one sig frontend, backend, default_network extends Network {}
one sig db_data, mydata extends Volume {}
one sig scratch, docker_socket, static_files extends ServiceVolume {}
one sig my_secret, my_other_secret extends Secret {}

one sig redis_frontend, vote_frontend, worker_frontend extends NetworkRole {}
one sig db_backend, result_backend, worker_backend extends NetworkRole {}
one sig visualizer_default, web_default extends NetworkRole {}
one sig db_db_data, visualizer_socket extends VolumeSpec {}
one sig result_scratch, web_mydata, web_static extends MountSpec {}
one sig redis_my_secret extends SecretRole {}
one sig vote_redis, result_db, result_vote extends DependencyRole {}

one sig redis_update, vote_update, result_update extends Deploy_config {}
one sig redis_deploy, vote_deploy, result_deploy, worker_deploy extends Deployment {}
one sig ten_seconds extends scalar_unit_time {}

one sig Voting extends Composition {} {
  services = redis + db + vote + result + worker + visualizer + web
  networks = frontend + backend + default_network
  volumes = db_data + mydata
  secrets = my_secret + my_other_secret
  no configs
}

fact Networks {
  redis.networks = redis_frontend and redis.network[frontend, redis_frontend]
  db.networks = db_backend and db.network[backend, db_backend]
  vote.networks = vote_frontend and vote.network[frontend, vote_frontend]
  result.networks = result_backend and result.network[backend, result_backend]
  worker.networks = worker_frontend + worker_backend
  worker.network[frontend, worker_frontend] and worker.network[backend, worker_backend]
  visualizer.networks = visualizer_default
  visualizer.network[default_network, visualizer_default]
  web.networks = web_default and web.network[default_network, web_default]
  redis_frontend.ipv4_address = "172.16.238.10"
  redis_frontend.ipv6_address = "2001:3984:3989::10"
}

fact Volumes {
  db.volumes = db_db_data and db.volume[db_data, db_db_data]
  db_db_data.internal = "/var/lib/postgresql/data" and db_db_data.mode = "rw"
  result.volumes = result_scratch and result.volume[scratch, result_scratch]
  result_scratch.type = "tmpfs" and result_scratch.target = "/foo/bar"
  visualizer.volumes = visualizer_socket
  visualizer.volume[docker_socket, visualizer_socket]
  visualizer_socket.external = "/var/run/docker.sock"
  visualizer_socket.internal = "/var/run/docker.sock"
  web.volumes = web_mydata + web_static
  web.volume[mydata, web_mydata] and web.volume[static_files, web_static]
  web_mydata.type = "volume" and web_mydata.target = "/data"
  web_mydata.volume_nocopy = True
  web_static.type = "bind" and web_static.source = "./static"
  web_static.target = "/opt/app/static" and web_static.bind_propagation = "shared"
  no (redis + vote + worker).volumes
}

fact Secrets {
  redis.secrets = redis_my_secret and redis.secret[my_secret, redis_my_secret]
  redis_my_secret.target = "redis_secret" and redis_my_secret.mode = "0440"
  redis_my_secret.uid = "103" and redis_my_secret.gid = "103"
  my_secret.file = "./my_secret.txt"
  my_other_secret.is_external = True
  no (Service - redis).secrets
}

fact Dependencies {
  vote.depends_on = vote_redis and redis.on_which_depend = vote_redis
  result.depends_on = result_db + result_vote
  db.on_which_depend = result_db and vote.on_which_depend = result_vote
  no (redis + db + worker + visualizer + web).depends_on
  DependencyRole.condition = "service_started"
}

fact Images {
  redis.image = "redis:alpine"
  db.image = "postgres:9.4"
  vote.image = "dockersamples/examplevotingapp_vote:before"
  result.image = "dockersamples/examplevotingapp_result:before"
  worker.image = "dockersamples/examplevotingapp_worker"
  visualizer.image = "dockersamples/visualizer:stable"
  web.image = "nginx:alpine"
  redis.ports = "6379"
  vote.ports = "5000:80"
  result.ports = "5001:80"
  visualizer.ports = "8080:8080"
  web.ports = "80:80"
  no (db + worker).ports
  no Service.container_name + Service.network_mode
}

fact Deployments {
  redis.deploy = redis_deploy and redis_deploy.update_config = redis_update
  vote.deploy = vote_deploy and vote_deploy.update_config = vote_update
  result.deploy = result_deploy and result_deploy.update_config = result_update
  worker.deploy = worker_deploy and worker_deploy.mode = "replicated"
  redis_deploy.replicas = 2 and vote_deploy.replicas = 2
  result_deploy.replicas = 1 and worker_deploy.replicas = 3
  redis_update.parallelism = 2 and redis_update.delay = ten_seconds
  vote_update.parallelism = 2 and no vote_update.delay
  result_update.parallelism = 2 and result_update.delay = ten_seconds
  ten_seconds.init[10, s]
  (redis_deploy + vote_deploy + result_deploy + worker_deploy).restart_condition = "on-failure"
  no (db + visualizer + web).deploy
}

/** There is such a composition. The report asks for one graph; with `Null` there are two (C11). */
run Show {
  Service in Voting.services
} for 1 but exactly 2 LocationGraph, 17 Location, 36 Value, exactly 17 Name,
  exactly 1 Process, exactly 1 Sort, 3 Deploy_config, 4 Deployment, 5 Int
expect 1

/** It satisfies every invariant. */
assert VotingIsWellFormed {
  WellFormedComposition[Voting]
}

check VotingIsWellFormed for 1 but exactly 2 LocationGraph, 17 Location, 36 Value, exactly 17 Name,
  exactly 1 Process, exactly 1 Sort, 3 Deploy_config, 4 Deployment, 5 Int expect 0
