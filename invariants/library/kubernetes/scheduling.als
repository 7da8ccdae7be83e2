/** Rules about where pods fit. The nodes are those of the settings, and Node objects among the files. */
module kubernetes/scheduling

open kubernetes/vocabulary

/** K8S300 no-placement error: there is no placement of all pods on the nodes
 * message: there is no placement of all pods: these lines cannot all stay as they are
 * each: p.unplaceable
 * each: p.pending
 * help: change any one of them
 * why: Some of the pods stay pending. The lines are as few as possible: without any one of them, the pods would fit.
 * source: Kubernetes documentation, scheduling
 */
assert PodsHavePlaces {
  all p: Placement | p.impossible != True
}

/** K8S301 no-placement-after-loss error: when a node or zone is lost, not all pods fit on the others
 * message: without {p.about} there is no placement of all pods: these lines cannot all stay as they are
 * each: p.unplaceable
 * each: p.pending
 * help: change any one of them, or add nodes
 * why: With `--survive`, all pods must fit on what is left when any one node or zone is lost, or drained.
 * source: Kubernetes documentation, disruptions
 */
assert PodsHavePlacesAfterALoss {
  all p: LossPlacement | p.impossible != True
}

/** K8S302 no-place-for-job error: the pods of a CronJob fit on no nodes
 * message: the pods of `{p.placed}` have no place beside the others: these lines cannot all stay as they are
 * each: p.unplaceable
 * each: p.pending
 * help: change any one of them
 * why: The job starts, and its pods stay pending.
 * source: Kubernetes documentation, scheduling
 */
assert JobsHavePlaces {
  all p: JobPlacement | p.impossible != True
}

/** K8S303 no-place-for-scale warning: not all pods fit when an autoscaler asks for the most
 * message: `{p.placed}` cannot be scaled to the most: these lines cannot all stay as they are
 * each: p.unplaceable
 * each: p.pending
 * help: lower `maxReplicas`, or add nodes
 * why: Under load, when the pods are needed, some stay pending.
 * source: Kubernetes documentation, horizontal pod autoscaling
 */
assert AutoscalersHavePlaces {
  all p: ScalePlacement | p.impossible != True
}

/** K8S304 driven-out warning: pods of lower priority are driven out when an autoscaler asks for the most
 * message: when `{p.placed}` is scaled to the most, its pods drive out others of lower priority
 * each: p.driven_out
 * help: add nodes, or give the class `preemptionPolicy: Never` if its pods should wait for room
 * why: Pods of a higher priority take the place of those of a lower one, which then stay pending.
 * source: Kubernetes documentation, pod priority and preemption
 */
assert ScalingDrivesNobodyOut {
  all p: ScalePlacement | p.drives_out != True
}

/** K8S304 driven-out warning: pods of lower priority are driven out by a rolling update
 * message: a rolling update of `{p.placed}` drives out pods of lower priority
 * each: p.driven_out
 * help: add nodes, or let the update take a pod away first with `maxUnavailable: 1`
 * why: The pod that the update adds takes the place of those of a lower priority, which then stay pending.
 * source: Kubernetes documentation, pod priority and preemption
 */
assert UpdatesDriveNobodyOut {
  all p: SurgePlacement | p.drives_out != True
}

/** K8S304 driven-out warning: pods of lower priority are driven out by a job
 * message: the pods of `{p.placed}` drive out others of lower priority
 * each: p.driven_out
 * help: add nodes, or give the class `preemptionPolicy: Never` if its pods should wait for room
 * why: Pods of a higher priority take the place of those of a lower one, which then stay pending.
 * source: Kubernetes documentation, pod priority and preemption
 */
assert JobsDriveNobodyOut {
  all p: JobPlacement | p.drives_out != True
}
