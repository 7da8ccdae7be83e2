/** A floating ip on a network that is not external: why can it not be deployed? */
module floating_ip

abstract sig Network {}
one sig Private, Public extends Network {}

/** Networks that a router may have its gateway on. */
sig External in Network {}
fact Provider { External = Public }

one sig FloatingIp { network: one Network }

/** What Neutron demands. */
fact Neutron { FloatingIp.network in External }

/** What the template says. */
fact Template { FloatingIp.network = Private }

run Deploy {} expect 0
