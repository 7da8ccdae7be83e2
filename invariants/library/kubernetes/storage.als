/** Rules about claims and volumes. */
module kubernetes/storage

open kubernetes/vocabulary
open values

/** K8S340 volume-on-many-nodes warning: several pods share a volume that one node at a time can use
 * message: the pods of `{m.mounting}` share claim `{m.claimed}`, which one node at a time can use
 * at: m "several pods mount it"
 * also: m.claimed.access_modes "one node at a time"
 * help: ask for `ReadWriteMany`, give each pod a claim of its own with a StatefulSet, or hold the pods on one node
 * why: Pods on another node than the first stay in `ContainerCreating`: the volume cannot be attached twice.
 * source: Kubernetes documentation, access modes
 */
assert PodsShareVolumesThatTheyCanShare {
  all m: MountedClaim |
    (m.many_pods = True and m.one_node = True) implies m.pinned = True
}

/** K8S340 volume-on-many-nodes warning: two workloads share a volume that one node at a time can use
 * message: `{w}` and `{v}` share claim `{c}`, which one node at a time can use
 * at: n "mounted again"
 * also: m "first mounted here"
 * help: ask for `ReadWriteMany`, or hold their pods on one node with a pod affinity
 * why: Pods on another node than the first stay in `ContainerCreating`: the volume cannot be attached twice.
 * source: Kubernetes documentation, access modes
 */
assert WorkloadsShareVolumesThatTheyCanShare {
  all c: PersistentVolumeClaim, m, n: claimed.c, w: m.mounting, v: n.mounting |
    (w != v and written_before[m, n] and m.one_node = True)
      implies (m.pinned = True or n.pinned = True)
}

/** K8S341 volume-of-one-pod error: several pods share a volume that one pod at a time can use
 * message: the pods of `{m.mounting}` share claim `{m.claimed}`, which one pod at a time can use
 * at: m "several pods mount it"
 * also: m.claimed.access_modes "one pod at a time"
 * help: run one pod, or give each pod a claim of its own with a StatefulSet
 * why: All pods but the first stay pending.
 * source: Kubernetes documentation, access modes
 */
assert PodsHaveVolumesForOnePod {
  all m: MountedClaim | m.one_pod = True implies m.many_pods = False
}

/** K8S342 volume-held-by-old-pod warning: a rolling update waits for a volume that the old pod holds
 * message: a rolling update of `{m.mounting}` starts a pod that needs claim `{m.claimed}` while the old pod still holds it
 * at: m "held by the old pod"
 * help: set `strategy.type: Recreate`, or use a StatefulSet
 * why: When the new pod comes to another node, it waits for the volume and the old pod for the new one: the update hangs.
 * source: Kubernetes documentation, Deployments, strategy
 */
assert UpdatesDoNotWaitForVolumes {
  all m: MountedClaim |
    (m.rolling = True and m.many_pods = False and (m.one_node = True or m.one_pod = True))
      implies m.pinned = True
}

/** K8S343 access-mode-not-offered error: a claim asks for an access mode that its volume or class does not offer
 * message: {m.offered_by} does not offer `{m}`, which `{m.mode_of}` asks for
 * at: m "not offered"
 * help: ask for another mode, or use another class
 * why: The claim stays pending, and so do the pods that mount it.
 * source: Kubernetes documentation, access modes
 */
assert AccessModesAreOffered {
  all m: ClaimMode | m.offered = True
}

/** K8S344 orphaned-claim warning: a claim is named after a StatefulSet that is not there
 * message: claim `{t}` is named after StatefulSet `{t.set_name}`, which is not among the files
 * at: t "no StatefulSet of that name"
 * help: {suggest t.set_name from StatefulSet}
 * help: name the claim after the StatefulSet that is to use it: template, set, number
 * why: A StatefulSet finds the claims of its pods by their names. After the set or its template is renamed, its pods get new and empty volumes, and the old ones stay behind with the data.
 * source: Kubernetes documentation, StatefulSets, stable storage
 */
assert ClaimsHaveTheirSets {
  all t: TemplateClaim | some t.owning_set
}

/** K8S345 unused-claim-template warning: no container mounts a volume of a claim template
 * message: no container of `{w}` mounts `{v}`
 * at: v "not mounted"
 * help: mount it under `volumeMounts`, or remove it
 * why: Each pod gets a volume that nothing uses, and what was meant to be kept is lost with the pod.
 * source: ours
 */
assert ClaimTemplatesAreMounted {
  all w: StatefulSet, v: w.volumes | v.source = "claimTemplate" implies some mounted.v
}
