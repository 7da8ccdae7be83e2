/** Rules about names: what a service uses is defined. */
module compose/references

open compose/vocabulary
open compose/project

/** COMPOSE001 error: a service that is named is defined
 * message: `{s}` names the service `{r}`, which no file defines
 * at: r "no such service"
 * help: {suggest r from Service}
 * help: define the service, or remove its name here
 * why: Compose refuses the project. A name in `depends_on`, `links`, `volumes_from`, `network_mode`, `ipc` and `pid`, and after `service:` in `build.additional_contexts`, is that of a service.
 * source: Compose specification, `depends_on`; RR-9317, section 6.2; `DependenciesAreAttached` of the model `compose`
 */
assert ServicesAreDefined {
  all s: Service, r: s.references & (Dependency + Link + VolumesFrom + Namespace + ContextUse) |
    (s.active = True and r.known = True and (r in Dependency implies r.required = True)) implies some r.target
}

/** COMPOSE002 error: a network that is named is defined
 * message: `{s}` is put on the network `{r}`, which no file defines
 * at: r "no such network"
 * help: {suggest r from Network}
 * help: define it under the key `networks` of the file; a network that exists already is `external: true` there
 * why: Compose refuses the project: every network of a service is one of the project's.
 * source: RR-9317, section 6.2, all_service_net_roles_are_attached_to_some_network; `NetworkRolesAreAttached` of the model `compose`
 */
assert NetworksAreDefined {
  all s: Service, r: s.references & Attachment |
    (s.active = True and r.known = True) implies some r.target
}

/** COMPOSE003 error: a volume that is named is defined
 * message: `{s}` mounts the volume `{r}`, which no file defines
 * at: r "no such volume"
 * help: {suggest r from Volume}
 * help: define it under the key `volumes` of the file; a path of the host starts with `./`
 * why: Compose refuses the project: every named volume of a service is one of the project's.
 * source: RR-9317, section 6.2, all_service_volume_roles_are_attached_to_some_volume; `VolumeRolesAreAttached` of the model `compose`
 */
assert VolumesAreDefined {
  all s: Service, r: s.references & VolumeUse |
    (s.active = True and r.known = True) implies some r.target
}

/** COMPOSE004 error: a secret that is named is defined
 * message: `{s}` is given the secret `{r}`, which no file defines
 * at: r "no such secret"
 * help: {suggest r from Secret}
 * help: define it under the key `secrets` of the file
 * why: Compose refuses the project.
 * source: Compose specification, `secrets`; `AccessRolesAreAttached` of the model `compose`
 */
assert SecretsAreDefined {
  all s: Service, r: s.references & (SecretUse + BuildSecretUse) |
    (s.active = True and r.known = True) implies some r.target
}

/** COMPOSE005 error: a config that is named is defined
 * message: `{s}` is given the config `{r}`, which no file defines
 * at: r "no such config"
 * help: {suggest r from Config}
 * help: define it under the key `configs` of the file
 * why: Compose refuses the project.
 * source: Compose specification, `configs`; `AccessRolesAreAttached` of the model `compose`
 */
assert ConfigsAreDefined {
  all s: Service, r: s.references & ConfigUse |
    (s.active = True and r.known = True) implies some r.target
}

/** COMPOSE006 error: a model that is named is defined
 * message: `{s}` is given the model `{r}`, which no file defines
 * at: r "no such model"
 * help: {suggest r from Model}
 * help: define it under the key `models` of the file
 * why: Compose refuses the project.
 * source: Compose specification, `models`
 */
assert ModelsAreDefined {
  all s: Service, r: s.references & ModelUse |
    (s.active = True and r.known = True) implies some r.target
}

/** COMPOSE007 error: a service that is extended is defined
 * message: `{d}` extends the service `{e}`, which the file does not define
 * at: d.base "no such service"
 * help: check the name, and the `file` it is looked for in
 * why: Compose refuses the project.
 * source: Compose specification, `extends`
 */
assert ExtendedServicesAreDefined { all d: Definition, e: d.base | e.defined = True }

/** COMPOSE008 error: a required environment file is there
 * message: `{s}` takes variables from `{f}`, and there is no such file
 * at: f "not found"
 * help: create the file, or write `required: false`
 * why: Compose refuses to start the project.
 * source: Compose specification, `env_file`
 */
assert EnvironmentFilesAreThere {
  all s: Service, f: s.env_files | (s.active = True and f.required = True) implies f.found = True
}

/** COMPOSE008 error: a file of labels is there
 * message: `{s}` takes its labels from `{f}`, and there is no such file
 * at: f "no such file"
 * help: check the path: it starts at the directory of the file
 * why: Compose refuses the project.
 * source: Compose specification, `label_file`
 */
assert LabelFilesAreThere { all s: Service, f: s.label_files | s.active = True implies f.found = True }

/** COMPOSE009 error: a variable that is demanded has a value
 * message: the variable `{v}` has no value: {v.demand}
 * at: v.demand "demands a value"
 * help: set it in the shell, in `.env` or in a file given with `--env-file`
 * why: Compose refuses to read a file with `$VAR:?message in braces` while the variable is not set.
 * source: Compose specification, interpolation
 */
assert DemandedVariablesHaveAValue { all v: Variable | some v.demand implies some v.value }

/** COMPOSE010 info: a variable has a value or a default
 * message: the variable `{v}` has no value and no default
 * at: v "empty, unless it is set"
 * help: set it in the shell, in `.env` or with `--env-file`, or write a default
 * why: Compose goes on with an empty text and a warning. What depends on the variable was not checked; with `--all-inputs`, it is checked for every value.
 * source: Compose specification, interpolation
 */
assert VariablesHaveAValue { all v: Variable | some v.value or some v.fallback or some v.demand }

/** COMPOSE011 error: what a project requires is started with it
 * message: `{s}` requires `{t}`, which is started only with a profile: `{t.profiles}`
 * at: d "not started without a profile"
 * also: t.profiles "only with this profile"
 * help: give `{s}` the same profile, write `required: false`, or check with `--profile`
 * why: Compose refuses to start a service when one that it depends on belongs to profiles none of which is enabled.
 * source: Compose specification, `profiles`
 */
assert RequiredServicesAreStarted {
  all s: Service, d: s.references & Dependency, t: d.target & Service |
    (d.required = True and (no s.profiles or some s.profiles & asked.True))
      implies (no t.profiles or some t.profiles & asked.True)
}

/** COMPOSE012 error: a service has an image, or is built
 * message: `{s}` has neither `image` nor `build`
 * at: s "nothing to run"
 * help: add `image`, or `build` with the directory of its Dockerfile
 * why: Compose refuses the project.
 * source: Compose specification, `image`; `ServicesHaveImageOrBuild` of the model `compose`
 */
assert ServicesHaveAnImage {
  all s: Service |
    (s.active = True and Composition.complete = True)
      implies (some s.image or some s.build_context or "provider" in s.keys)
}

/** COMPOSE013 info: what is defined is used
 * message: the network `{n}` is used by no service
 * at: n "not used"
 * help: remove it, or put a service on it
 * why: Compose does not create what no service uses; often a name is misspelt elsewhere.
 * source: ours
 */
assert NetworksAreUsed {
  all n: Network | (n.name != "default" and Composition.complete = True) implies some target.n
}

/** COMPOSE013 info: a volume that is defined is used
 * message: the volume `{v}` is used by no service
 * at: v "not used"
 * help: remove it, or mount it
 * why: Compose does not create what no service uses; often a name is misspelt elsewhere.
 * source: ours
 */
assert VolumesAreUsed { all v: Volume | Composition.complete = True implies some target.v }

/** COMPOSE013 info: a secret that is defined is used
 * message: the secret `{x}` is used by no service
 * at: x "not used"
 * help: remove it, or give it to a service
 * why: Compose does not create what no service uses; often a name is misspelt elsewhere.
 * source: ours
 */
assert SecretsAreUsed { all x: Secret | Composition.complete = True implies some target.x }

/** COMPOSE013 info: a config that is defined is used
 * message: the config `{x}` is used by no service
 * at: x "not used"
 * help: remove it, or give it to a service
 * why: Compose does not create what no service uses; often a name is misspelt elsewhere.
 * source: ours
 */
assert ConfigsAreUsed { all x: Config | Composition.complete = True implies some target.x }

/** COMPOSE014 error: what exists already is not described again
 * message: `{c}` is external, and has `{k}` all the same
 * at: c.own_keys "cannot be beside `external`"
 * also: c "external"
 * help: remove `external`, or every other key but `name`
 * why: Compose refuses the project: what exists already is taken as it is.
 * source: Compose specification, `external`
 */
assert ExternalThingsAreNotDescribed {
  all c: Component, k: c.own_keys | c.external = True implies (k = "name" or (k = "labels" and c not in Volume))
}

/** COMPOSE015 info: the version of the format is not written
 * message: `version` is obsolete and has no effect
 * at: c.version "no effect"
 * help: remove the line
 * why: Compose reads every file by the current specification and warns about the key.
 * source: Compose specification, `version`
 */
assert VersionIsNotWritten { all c: Composition | plain implies no c.version }

/** COMPOSE016 error: a secret has a source
 * message: the secret `{x}` has neither `file` nor `environment`
 * at: x "has no content"
 * help: give it a `file` or an `environment`, or write `external: true`
 * why: Compose refuses the project: there is nothing to mount. Only a swarm takes secrets from a driver.
 * source: Compose specification, `secrets`
 */
assert SecretsHaveASource {
  all x: Secret |
    (x.external = False and Composition.complete = True and not (swarm and some x.driver))
      implies some x.file + x.variable
}

/** COMPOSE016 error: a config has a source
 * message: the config `{x}` has neither `file` nor `environment` nor `content`
 * at: x "has no content"
 * help: give it a `file`, an `environment` or `content`, or write `external: true`
 * why: Compose refuses the project: there is nothing to mount.
 * source: Compose specification, `configs`
 */
assert ConfigsHaveASource {
  all x: Config |
    (x.external = False and Composition.complete = True) implies some x.file + x.variable + x.content
}

/** COMPOSE017 error: no job has the name of a service
 * message: `{j}` is the name of a service and of a job
 * at: j "a job"
 * also: s "a service"
 * help: rename one of them
 * why: Compose refuses the project: it could not tell which of them a name means.
 * source: Compose specification, `jobs`
 */
assert JobsHaveNamesOfTheirOwn { all j: Job, s: Service - Job | s.name != j.name }

/** COMPOSE018 error: what exists already has one name
 * message: `{c}` is named `{c.actual_name}` and `{c.external_name}`
 * at: c.external_name "another name"
 * also: c.actual_name "one name"
 * help: write `external: true`, and keep `name`
 * why: Compose refuses the project: the name below `external` is an old way to write `name`.
 * source: Compose specification, `external`
 */
assert ExternalThingsHaveOneName { all c: Component | some c.external_name implies c.external_name = c.actual_name }

/** COMPOSE019 error: what is built is built for the platform it runs on
 * message: `{s}` runs on `{s.platform}`, and is not built for it
 * at: s.platform "runs on this"
 * also: s.build_platforms "built for this"
 * help: add `{s.platform}` to `platforms`, or change `platform`
 * why: Compose refuses the project: there would be no image to run.
 * source: Compose specification, `build.platforms`
 */
assert PlatformsAreBuilt {
  all s: Service | (s.active = True and some s.build_platforms) implies s.platform in s.build_platforms
}
