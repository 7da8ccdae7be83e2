/**
 * OCCI infrastructure: compute, network and storage resources, and how a compute resource is linked to
 * the other two. OCCI has no link between storage and network.
 *
 * Source: INRIA research report 9317, section 4.2, after the OCCI infrastructure specification, OGF GFD.224.
 */
module occi/infrastructure

open occi/core

sig Compute extends Resource {}

sig Network extends Resource {}

/** A network with IP addressing: a mixin in OCCI, hence a subset rather than an extension. */
sig IPNetwork in Network {}

sig Storage extends Resource {}

sig NetworkInterface extends Link {} {
  source in Compute
  target in Network
}

/** An interface with IP addressing: a mixin too. */
sig IPNetworkInterface in NetworkInterface {}

sig StorageLink extends Link {} {
  source in Compute
  target in Storage
}

run Model {} expect 1

// The name is the report's; its scope asks for two storages.
run OneConfigurationWithTwoComputeOneNetworkOneStorage {
  Resource in Configuration.resources
} for 25 but exactly 1 Configuration, exactly 2 Compute, exactly 2 Storage,
  exactly 2 StorageLink, exactly 1 Network, exactly 2 NetworkInterface expect 1
