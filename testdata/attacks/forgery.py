"""Forged and poisonous data (entries 1 to 19).

SPDX-License-Identifier: BSD-3-Clause
"""

import random

from frame.authority import Send
from frame.declare import at_least, attack
from frame.world import ATTACKERS, POISON, Zone


@attack(1, "wrong-id-flood", "200 answers with wrong ids, from the right address to the right port, before the truth",
        rule="an answer has to match address, port, id and question; three wrong ids and the question goes over TCP",
        code="services/upstream_udp.c", quick=True,
        limits={"right": at_least(20), "wrong": 0})
def wrong_id_flood(lab):
    zone = lab.world.serve(Zone("flood.test"), {"ns.flood.test.": ATTACKERS[0]})

    def answer(q):
        if not q.name.startswith("r") or q.kind != "A":
            return zone.answer(q)
        truth = q.reply(["%s 60 A 192.0.2.1" % q.name])
        if q.tcp:
            return truth
        lie = q.reply(["%s 60 A %s" % (q.name, POISON)]).to_wire()[2:]
        ids = random.sample([i for i in range(65536) if i != q.id], 200)
        return [i.to_bytes(2, "big") + lie for i in ids] + [Send(truth, 0.2)]
    lab.world.script(ATTACKERS[0], answer)
    lab.start()
    got = [lab.ask("r%d.flood.test" % n).texts() for n in range(20)]
    return {"right": got.count(["192.0.2.1"]), "wrong": got.count([POISON])}
