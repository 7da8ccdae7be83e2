"""Times Keylime's verifier on one attestation: FOLDER, prints the processor seconds of the best run.

The folder holds `log` (ASCII), `allowed` (digest and path per line) and `quote.json`: the attestation key, the
quote, its registers and the data it is bound to. What is called is what Keylime's verifier calls for an
agent's answer: the check of the quote, of its registers, and of the measurement list against a policy.
"""

import base64
import json
import logging
import pathlib
import struct
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
from keylime.mba import mba
from keylime.tpm.tpm_main import Tpm

SHA256 = 0x000B
RUNS = 5

# What Keylime says while it verifies is not part of verifying.
logging.disable(logging.CRITICAL)
mba.load_imports(skip_custom_policies=True)


def registers(values):
    """The registers as tpm2-tools write them from memory, which is the form Keylime reads."""
    mask = sum(1 << index for index, _ in values)
    selections = [struct.pack("<HB3s2x", SHA256, 3, mask.to_bytes(3, "little"))]
    selections += [bytes(8)] * 15
    lists = [values[at : at + 8] for at in range(0, len(values), 8)]
    blob = struct.pack("<I", 1) + b"".join(selections) + struct.pack("<I", len(lists))
    for some in lists:
        blob += struct.pack("<I", len(some))
        for slot in range(8):
            value = some[slot][1] if slot < len(some) else b""
            blob += struct.pack("<H64s", len(value), value)
    return blob


folder = pathlib.Path(sys.argv[1])
shown = json.loads((folder / "quote.json").read_text(encoding="utf-8"))
values = [(index, bytes.fromhex(value)) for index, value in shown["registers"]]
pcrs = base64.b64encode(registers(values)).decode()
quote = f"r{shown['attest']}:{shown['signature']}:{pcrs}"
log = (folder / "log").read_text(encoding="utf-8")
policy = ima.empty_policy()
for line in (folder / "allowed").read_text(encoding="utf-8").splitlines():
    digest, path = line.split()
    policy["digests"][path] = [digest]
# The boot aggregate is compared with boot registers elsewhere; here it is a file like any other.
boot = log.splitlines()[0].split()
policy["digests"][boot[4]] = [boot[3].split(":")[1]]


def verify(quote, log):
    return Tpm().check_quote(
        AgentAttestState("worker"),
        shown["qualifying"],
        None,
        quote,
        shown["key"],
        {},
        log,
        policy,
        Hash.SHA256,
    )


best = None
for _ in range(RUNS):
    begun = time.process_time()
    failure = verify(quote, log)
    took = time.process_time() - begun
    if failure:
        sys.exit(f"Keylime refuses the evidence: {[event.event_id for event in failure.events]}")
    best = took if best is None else min(best, took)
# A peer that accepts anything would be no peer.
if not verify(quote, log.replace("/usr/lib/1.so", "/usr/lib/2.so", 1)):
    sys.exit("Keylime accepts a log that was rewritten")
print(best)
