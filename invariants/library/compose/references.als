/** Rules about names: what a service uses is defined. */
module compose/references

open compose/vocabulary
open compose/project
open values

/** COMPOSE001 undefined-service error: a service is not defined
 * message: service `{s}` refers to service `{r}`, which is not defined
 * at: r "no such service"
 * help: {suggest r from Service}
 * help: define the service, or remove this reference
 * fix: unsafe replace r with `{nearest r from Service}`
 * why: Compose refuses the project. `depends_on`, `links`, `volumes_from`, `network_mode`, `ipc`, `pid` and `service:` in `build.additional_contexts` refer to services.
 * source: Compose specification, `depends_on`; RR-9317, section 6.2; `DependenciesAreAttached` of the model `compose`
 */
assert ServicesAreDefined {
  all s: Service, r: s.references & (Dependency + Link + VolumesFrom + Namespace + ContextUse) |
    (s.active = True and r.known = True and (r in Dependency implies r.required = True)) implies some r.target
}

/** COMPOSE002 undefined-network error: a network is not defined
 * message: service `{s}` refers to network `{r}`, which is not defined
 * at: r "no such network"
 * help: {suggest r from Network}
 * help: define it under the top-level key `networks`; mark an existing network with `external: true`
 * fix: unsafe replace r with `{nearest r from Network}`
 * why: Compose refuses the project.
 * source: RR-9317, section 6.2, all_service_net_roles_are_attached_to_some_network; `NetworkRolesAreAttached` of the model `compose`
 */
assert NetworksAreDefined {
  all s: Service, r: s.references & Attachment |
    (s.active = True and r.known = True) implies some r.target
}

/** COMPOSE003 undefined-volume error: a volume is not defined
 * message: service `{s}` refers to volume `{r}`, which is not defined
 * at: r "no such volume"
 * help: {suggest r from Volume}
 * help: define it under the top-level key `volumes`; to mount a host path, start it with `./`
 * fix: unsafe replace r with `{nearest r from Volume}`
 * why: Compose refuses the project.
 * source: RR-9317, section 6.2, all_service_volume_roles_are_attached_to_some_volume; `VolumeRolesAreAttached` of the model `compose`
 */
assert VolumesAreDefined {
  all s: Service, r: s.references & VolumeUse |
    (s.active = True and r.known = True) implies some r.target
}

/** COMPOSE004 undefined-secret error: a secret is not defined
 * message: service `{s}` refers to secret `{r}`, which is not defined
 * at: r "no such secret"
 * help: {suggest r from Secret}
 * help: define it under the top-level key `secrets`
 * fix: unsafe replace r with `{nearest r from Secret}`
 * why: Compose refuses the project.
 * source: Compose specification, `secrets`; `AccessRolesAreAttached` of the model `compose`
 */
assert SecretsAreDefined {
  all s: Service, r: s.references & (SecretUse + BuildSecretUse) |
    (s.active = True and r.known = True) implies some r.target
}

/** COMPOSE005 undefined-config error: a config is not defined
 * message: service `{s}` refers to config `{r}`, which is not defined
 * at: r "no such config"
 * help: {suggest r from Config}
 * help: define it under the top-level key `configs`
 * fix: unsafe replace r with `{nearest r from Config}`
 * why: Compose refuses the project.
 * source: Compose specification, `configs`; `AccessRolesAreAttached` of the model `compose`
 */
assert ConfigsAreDefined {
  all s: Service, r: s.references & ConfigUse |
    (s.active = True and r.known = True) implies some r.target
}

/** COMPOSE006 undefined-model error: a model is not defined
 * message: service `{s}` refers to model `{r}`, which is not defined
 * at: r "no such model"
 * help: {suggest r from Model}
 * help: define it under the top-level key `models`
 * fix: unsafe replace r with `{nearest r from Model}`
 * why: Compose refuses the project.
 * source: Compose specification, `models`
 */
assert ModelsAreDefined {
  all s: Service, r: s.references & ModelUse |
    (s.active = True and r.known = True) implies some r.target
}

/** COMPOSE007 undefined-base-service error: an extended service is not defined
 * message: service `{d}` extends service `{e}`, which is not defined
 * at: d.base "no such service"
 * help: check the name, and the `file` that should define it
 * why: Compose refuses the project.
 * source: Compose specification, `extends`
 */
assert ExtendedServicesAreDefined { all d: Definition, e: d.base | e.defined = True }

/** COMPOSE008 missing-file error: an environment file does not exist
 * message: environment file `{f}` of service `{s}` does not exist
 * at: f "not found"
 * help: create the file, or set `required: false`
 * why: Compose refuses to start the project.
 * source: Compose specification, `env_file`
 */
assert EnvironmentFilesAreThere {
  all s: Service, f: s.env_files | (s.active = True and f.required = True) implies f.found = True
}

/** COMPOSE008 missing-file error: a label file does not exist
 * message: label file `{f}` of service `{s}` does not exist
 * at: f "no such file"
 * help: check the path: it is relative to the Compose file
 * why: Compose refuses the project.
 * source: Compose specification, `label_file`
 */
assert LabelFilesAreThere { all s: Service, f: s.label_files | s.active = True implies f.found = True }

/** COMPOSE009 required-variable-unset error: a required variable is not set
 * message: required variable `{v}` is not set: {v.demand}
 * at: v.demand "requires a value"
 * help: set it in the shell, in `.env` or in a file passed with `--env-file`
 * why: Compose refuses to read a file with `$VAR:?message in braces` while the variable is not set.
 * source: Compose specification, interpolation
 */
assert DemandedVariablesHaveAValue { all v: Variable | some v.demand implies some v.value }

/** COMPOSE010 variable-unset info: a variable is not set and has no default
 * message: variable `{v}` is not set and has no default
 * at: v "empty unless set"
 * help: set it in the shell, in `.env` or with `--env-file`, or add a default
 * why: Compose continues with an empty string and a warning. Whatever depends on the variable was not checked; `--all-inputs` checks it for every value.
 * source: Compose specification, interpolation
 */
assert VariablesHaveAValue { all v: Variable | some v.value or some v.fallback or some v.demand }

/** COMPOSE011 disabled-dependency error: a service requires another that is not enabled
 * message: service `{s}` requires `{t}`, which starts only with a profile: `{t.profiles}`
 * at: d "not enabled"
 * also: t.profiles "only with this profile"
 * help: give `{s}` the same profile, set `required: false`, or check with `--profile`
 * why: Compose refuses to start a service when a service it depends on has profiles and none of them is enabled.
 * source: Compose specification, `profiles`
 */
assert RequiredServicesAreStarted {
  all s: Service, d: s.references & Dependency, t: d.target & Service |
    (d.required = True and (no s.profiles or some s.profiles & asked.True))
      implies (no t.profiles or some t.profiles & asked.True)
}

/** COMPOSE012 no-image error: a service has neither an image nor a build
 * message: service `{s}` has neither `image` nor `build`
 * at: s "nothing to run"
 * help: add `image`, or `build` with the directory of the Dockerfile
 * why: Compose refuses the project.
 * source: Compose specification, `image`; `ServicesHaveImageOrBuild` of the model `compose`
 */
assert ServicesHaveAnImage {
  all s: Service |
    (s.active = True and Composition.complete = True)
      implies (some s.image or some s.build_context or "provider" in s.keys
        // What it extends and is not there may have had one.
        or some d: Definition | some name_of[d] & name_of[s] and some b: d.^base | b.defined = False)
}

/** COMPOSE013 unused-resource info: a network is never used
 * message: network `{n}` is never used
 * at: n "never used"
 * help: remove it, or put a service on it
 * fix: unsafe remove n
 * why: Compose does not create what no service uses; often a name is misspelled elsewhere.
 * source: ours
 */
assert NetworksAreUsed {
  all n: Network | (n.name != "default" and Composition.complete = True) implies some target.n
}

/** COMPOSE013 unused-resource info: a volume is never used
 * message: volume `{v}` is never used
 * at: v "never used"
 * help: remove it, or mount it
 * fix: unsafe remove v
 * why: Compose does not create what no service uses; often a name is misspelled elsewhere.
 * source: ours
 */
assert VolumesAreUsed { all v: Volume | Composition.complete = True implies some target.v }

/** COMPOSE013 unused-resource info: a secret is never used
 * message: secret `{x}` is never used
 * at: x "never used"
 * help: remove it, or give it to a service
 * fix: unsafe remove x
 * why: Compose does not create what no service uses; often a name is misspelled elsewhere.
 * source: ours
 */
assert SecretsAreUsed { all x: Secret | Composition.complete = True implies some target.x }

/** COMPOSE013 unused-resource info: a config is never used
 * message: config `{x}` is never used
 * at: x "never used"
 * help: remove it, or give it to a service
 * fix: unsafe remove x
 * why: Compose does not create what no service uses; often a name is misspelled elsewhere.
 * source: ours
 */
assert ConfigsAreUsed { all x: Config | Composition.complete = True implies some target.x }

/** COMPOSE014 external-with-settings error: something external has settings of its own
 * message: `{c}` is external, so it cannot have `{k}`
 * at: c.own_keys "conflicts with `external`"
 * also: c "external"
 * help: remove `external`, or every other key except `name`
 * why: Compose refuses the project: it uses external networks, volumes, secrets and configs as they are.
 * source: Compose specification, `external`
 */
assert ExternalThingsAreNotDescribed {
  all c: Component, k: c.own_keys | c.external = True implies (k = "name" or (k = "labels" and c not in Volume))
}

/** COMPOSE015 obsolete-version info: `version` is obsolete
 * message: `version` is obsolete and has no effect
 * at: c.version "no effect"
 * help: remove the line
 * fix: safe remove c.version
 * why: Compose reads every file by the current specification and warns about the key.
 * source: Compose specification, `version`
 */
assert VersionIsNotWritten { all c: Composition | plain implies no c.version }

/** COMPOSE016 missing-content error: a secret has no content
 * message: secret `{x}` has neither `file` nor `environment`
 * at: x "has no content"
 * help: add `file` or `environment`, or set `external: true`
 * fix: unsafe add `file: ./{x}` to x
 * why: Compose refuses the project: there is nothing to mount. Only a swarm gets secrets from a driver.
 * source: Compose specification, `secrets`
 */
assert SecretsHaveASource {
  all x: Secret |
    (x.external = False and Composition.complete = True and not (swarm and some x.driver))
      implies some x.file + x.variable
}

/** COMPOSE016 missing-content error: a config has no content
 * message: config `{x}` has none of `file`, `environment` and `content`
 * at: x "has no content"
 * help: add `file`, `environment` or `content`, or set `external: true`
 * fix: unsafe add `file: ./{x}` to x
 * why: Compose refuses the project: there is nothing to mount.
 * source: Compose specification, `configs`
 */
assert ConfigsHaveASource {
  all x: Config |
    (x.external = False and Composition.complete = True) implies some x.file + x.variable + x.content
}

/** COMPOSE017 job-name-clash error: a job and a service have the same name
 * message: a job and a service have the same name: `{j}`
 * at: j "the job"
 * also: s "the service"
 * help: rename one of them
 * why: Compose refuses the project: the name is ambiguous.
 * source: Compose specification, `jobs`
 */
assert JobsHaveNamesOfTheirOwn { all j: Job, s: Service - Job | s.name != j.name }

/** COMPOSE018 conflicting-external-name error: something external has two names
 * message: `{c}` has two names: `{c.actual_name}` and `{c.external_name}`
 * at: c.external_name "deprecated, and a different name"
 * also: c.actual_name "the name"
 * help: set `external: true`, and keep `name`
 * why: Compose refuses the project: the name below `external` is the old way to write `name`.
 * source: Compose specification, `external`
 */
assert ExternalThingsHaveOneName { all c: Component | some c.external_name implies c.external_name = c.actual_name }

/** COMPOSE019 platform-not-built error: a service is not built for the platform it runs on
 * message: service `{s}` runs on `{s.platform}`, but is not built for it
 * at: s.platform "runs on this platform"
 * also: s.build_platforms "built for these platforms"
 * help: add `{s.platform}` to `platforms`, or change `platform`
 * why: Compose refuses the project: there would be no image to run.
 * source: Compose specification, `build.platforms`
 */
assert PlatformsAreBuilt {
  all s: Service | (s.active = True and some s.build_platforms) implies s.platform in s.build_platforms
}
