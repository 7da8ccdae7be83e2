/** Rules about who may do what. */
module kubernetes/access

open kubernetes/vocabulary

/** K8S250 path-to-cluster-admin warning: pods can come to hold everything in the cluster
 * message: the pods of `{e.escalates}` can become cluster-admin, in {e.step_count} steps
 * each: e.way
 * flow: e.first_step by next_step
 * help: take one of these rights away, or run the pods as another account
 * why: Whoever breaks into one of these pods has the token of its account, and with it everything that the account can come to hold: rights add up, and an account that may create pods, read tokens, grant roles or act as others has theirs too.
 * source: Kubernetes documentation, RBAC good practices
 */
assert PodsDoNotBecomeAdmin {
  all e: Escalation | no e.way
}
