/** Rules about what projects agree on: labels, annotations, namespaces, kinds. */
module kubernetes/conventions

open kubernetes/vocabulary
open values

/** K8S091 no-annotation info: a workload lacks an annotation that the project asks for
 * message: `{w}` has no annotation `{q}` as the project asks for
 * at: w "lacks it"
 * help: add it; `needed-annotations` of `[kubernetes.policy]` says which are needed
 * fix: unsafe add `annotations."{q}": owner@example.com` to w
 * default: off
 * why: Who is to be asked about the workload is not known.
 * source: kube-linter, email annotation check
 */
assert AnnotationsAreThere {
  all w: Workload, q: Policy.needed_annotations |
    some a: w.annotations | a.key = q.key and finds[a.value, q.value]
}

/** K8S092 no-label info: a workload lacks a label that the project asks for
 * message: `{w}` has no label `{q}` as the project asks for
 * at: w "lacks it"
 * help: add it; `needed-labels` of `[kubernetes.policy]` says which are needed
 * fix: unsafe add `labels."{q}": team` to w
 * default: off
 * why: Whose the workload is, is not known.
 * source: kube-linter, owner label check
 */
assert LabelsAreThere {
  all w: Workload, q: Policy.needed_labels |
    some a: w.labels | a.key = q.key and finds[a.value, q.value]
}

/** K8S093 default-namespace info: an object is in the default namespace
 * message: {o.kind} `{o}` is in the namespace `default`
 * at: o.namespace "shared by all that names none"
 * help: give it a namespace of its own
 * fix: unsafe add `namespace: {o}` to o
 * default: off
 * why: Quotas, roles and policies of the namespace hold for everything that landed there.
 * source: kube-linter, use-namespace
 */
assert NamespacesAreUsed {
  all o: Workload + Service | o.namespace != "default"
}

/** K8S094 unsorted-keys info: keys are not in the order of the alphabet
 * message: `{k}` stands after `{k.late_after}`
 * at: k "out of order"
 * help: sort the keys
 * default: off
 * why: Some projects sort keys so that changes are easier to review.
 * source: kube-linter, sorted-keys
 */
assert KeysAreSorted {
  all o: Object, k: LateKey & late_in.o | no k
}

/** K8S095 forbidden-annotation warning: an object has an annotation that the project forbids
 * message: `{o}` has the annotation `{a}`, which the project forbids
 * at: a "forbidden"
 * help: remove it; `forbidden-annotations` of `[kubernetes.policy]` says which are forbidden
 * why: The project says so.
 * source: kube-linter, template forbidden-annotation
 */
assert AnnotationsAreAllowed {
  all o: Object, a: o.annotations | no q: Policy.forbidden_annotations | a.key = q.key and finds[a.value, q.value]
}

/** K8S096 pull-policy warning: a container pulls its image in a way that the project forbids
 * message: container `{c}` has `imagePullPolicy: {p}`, which the project forbids
 * at: c.pull_policy "forbidden"
 * help: use another, or leave it out; `pull-policies` of `[kubernetes.policy]` says which are forbidden
 * why: The project says so.
 * source: kube-linter, template image-pull-policy
 */
assert PullPoliciesAreAllowed {
  all c: Container, p: c.pull_policy | p not in Policy.denied_pull_policies
}

/** K8S097 no-claim-annotation warning: a claim template lacks an annotation that the project asks for
 * message: the claim template `{t}` of `{w}` has no annotation `{q}`
 * at: t "lacks it"
 * help: add `annotations."{q}": ""` to its `metadata`, with the value that is meant; `claim-annotations` of `[kubernetes.policy]` says which are needed
 * why: Backups, for one, are often asked for by an annotation of the claim.
 * source: kube-linter, template statefulset-volumeclaimtemplate-annotation
 */
assert ClaimTemplatesAreAnnotated {
  all w: Workload, t: w.claim_templates, q: Policy.claim_annotations | q in t.template_annotations.key
}

/** K8S098 forbidden-kind warning: an object is of a kind that the project forbids
 * message: `{o}` is of the kind `{o.full_kind}`, which the project forbids
 * at: o.kind "forbidden"
 * help: use another; `forbidden-kinds` of `[kubernetes.policy]` says which are forbidden
 * why: The project says so.
 * source: kube-linter, no-extensions-v1beta
 */
assert KindsAreAllowed {
  all o: Object | not finds[o.full_kind, Policy.forbidden_kinds]
}
