/** What several rules about manifests share. */
module kubernetes/cluster

open kubernetes/vocabulary

/** Every file was read as a whole, so that what is not there is missing. */
pred complete { Cluster.complete = True }

/** A use must find what it names. */
pred must_exist[r: Reference] { r.known = True and r.optional = False }
