"""Times Keylime's processing of a measurement list: LOG ALLOWED PCR10, prints seconds of the best run."""

import sys
import time
import types

try:
    import gpg
except ImportError:
    # Keylime asks for it when it is loaded, and needs it for signed policies only.
    sys.modules["gpg"] = types.ModuleType("gpg")

from keylime.agentstates import AgentAttestState
from keylime.common.algorithms import Hash
from keylime.ima import ima

log, allowed, value = sys.argv[1:]
policy = ima.empty_policy()
for line in open(allowed, encoding="utf-8"):
    digest, path = line.split()
    policy["digests"][path] = [digest]
lines = open(log, encoding="utf-8").read().splitlines()
# The boot aggregate is compared with boot registers elsewhere; here it is a file like any other.
boot = lines[0].split()
policy["digests"][boot[4]] = [boot[3].split(":")[1]]
best = None
for _ in range(5):
    state = AgentAttestState("worker")
    begun = time.perf_counter()
    found, failure = ima.process_measurement_list(
        state, lines, policy, pcrval=value, hash_alg=Hash.SHA256
    )
    took = time.perf_counter() - begun
    if failure or found != value:
        sys.exit(f"Keylime does not accept the log: {[event.event_id for event in failure.events]}")
    best = took if best is None else min(best, took)
print(best)
