"""A household's day: the names it asks for, who asks when, and the servers that know them, for W14.

SPDX-License-Identifier: BSD-3-Clause

All of it comes of a seed. `World` is an internet of unsigned zones whose servers are 15 to 200 ms away, all at port 53 of
addresses of loopback, as in contrib/bench/distance.py, but without dead servers and losses: what is measured is what a
cache saves. `Day` is what twelve devices ask in 24 hours, and when. `replay` plays that to a resolver, whose clock
(contrib/bench/clock.c) is moved on to the next packet, question or timer whenever all of its threads sleep.
"""

import bisect
import collections
import heapq
import mmap
import os
import random
import select
import socket
import struct
import time

from measure import NoNumber

TYPES = {"A": 1, "NS": 2, "CNAME": 5, "SOA": 6, "AAAA": 28, "HTTPS": 65}
A, NS, CNAME, SOA, AAAA, HTTPS = TYPES.values()
RTT_MS = [15] * 20 + [30] * 45 + [80] * 20 + [200] * 15
# How long records of names that people ask for last: addresses, aliases, and that there is none.
TTLS = ([10] * 3 + [20] * 5 + [30] * 6 + [60] * 24 + [120] * 6 + [300] * 28 + [600] * 6 + [900] * 3 + [1800] * 3 +
        [3600] * 10 + [14400] * 2 + [86400] * 4)
ALIAS_TTLS = [60, 300, 300, 300, 900, 1800, 3600, 3600, 21600, 86400]
NONE_TTLS = [60] * 15 + [300] * 30 + [600] * 5 + [900] * 20 + [1800] * 15 + [3600] * 15
TLDS = ["com", "net", "org", "de", "fr", "io", "eu", "uk"]
SITES, THIRD_PARTIES, SERVICES, CDNS, OPERATORS = 400, 250, 60, 12, 10
PKTINFO = 8 # IP_PKTINFO


def wire_of(text):
    return b"".join(bytes([len(label)]) + label.encode() for label in text.split(".") if label) + b"\0"


def parents(name):
    """The name itself, and every name above it."""
    while True:
        yield name
        if name == b"\0":
            return
        name = name[1 + name[0]:]


class Zone:
    def __init__(self, apex, none_ttl):
        self.apex, self.none_ttl = apex, none_ttl
        self.hosts = []     # of its servers: name and address
        self.nodes = collections.defaultdict(dict) # name: type: (TTL, [data])
        self.cuts = {}

    def add(self, name, kind, ttl, *data):
        self.nodes[name][kind] = (ttl, list(data))
        for above in parents(name):
            self.nodes[above] # an empty non-terminal exists, too
            if above == self.apex:
                break


class World:
    def __init__(self, seed):
        self.dice, self.next_address = random.Random(seed), 0
        self.zones_at, self.rtt = collections.defaultdict(dict), {}
        self.types = {}     # name: what there is at it, or where it leads
        self.root = self.place(Zone(b"\0", 3600), "a.root-servers")
        self.tlds = [self.delegate(self.root, t) for t in TLDS]
        self.operators = [self.new_zone("dns-host%d" % i) for i in range(OPERATORS)]
        self.cdns = [self.new_zone("cdn%d" % i) for i in range(CDNS)]
        self.third = [n for i in range(THIRD_PARTIES) for n in self.names("third%d" % i, 1 + min(7, int(self.dice.expovariate(.4))))]
        self.services = [n for i in range(SERVICES) for n in self.names("service%d" % i, self.dice.randint(1, 4))]
        self.third_law, self.site_law = zipf(len(self.third), .9), zipf(SITES, 1)
        self.sites = [self.site(i) for i in range(SITES)]

    # -- zones --------------------------------------------------------------------------------------

    def place(self, zone, label, operator=None):
        """Two servers, of its own or an operator's."""
        zone.hosts = operator.hosts if operator else []
        for i in range(0 if operator else 2):
            self.next_address += 1
            host = wire_of("%s%d" % (label, i))[:-1] + zone.apex
            at = socket.inet_aton("127.10.%d.%d" % (self.next_address >> 8, self.next_address & 255))
            self.rtt[at] = self.dice.choice(RTT_MS if len(zone.apex) > 5 else RTT_MS[:65]) / 1000
            zone.add(host, A, 86400, at)
            zone.hosts.append((host, at))
        for _, at in zone.hosts:
            self.zones_at[at][zone.apex] = zone
        zone.add(zone.apex, NS, 86400, *(host for host, _ in zone.hosts))
        return zone

    def delegate(self, parent, label, operator=None):
        apex = wire_of(label)[:-1] + parent.apex
        zone = self.place(Zone(apex, self.dice.choice(NONE_TTLS)), "ns", operator)
        parent.cuts[apex] = zone
        parent.nodes[apex]
        return zone

    def new_zone(self, label):
        operator = self.dice.choice(self.operators) if hasattr(self, "operators") and self.dice.random() < .3 else None
        return self.delegate(self.dice.choice(self.tlds), label, operator)

    def addresses(self, zone, name):
        """What is at a name: always A, mostly AAAA, now and then HTTPS."""
        ttl, kinds = self.dice.choice(TTLS), {A}
        zone.add(name, A, ttl, *(bytes([192, 0, 2, self.dice.randint(1, 254)]) for _ in range(self.dice.choice([1, 1, 2, 4]))))
        if self.dice.random() < .55:
            kinds.add(AAAA)
            zone.add(name, AAAA, ttl, b"\x20\x01\x0d\xb8" + self.dice.randbytes(12))
        if self.dice.random() < .25:
            kinds.add(HTTPS)
            zone.add(name, HTTPS, max(ttl, 60), b"\0\1\0\0\1\0\3\2h2")
        self.types[name] = kinds

    def names(self, label, count):
        """So many names in a zone of their own; two in five are aliases, of names of those who deliver for others."""
        zone, out = self.new_zone(label), []
        for i in range(count):
            name = wire_of("n%d" % i)[:-1] + zone.apex
            if self.dice.random() < .4:
                over = self.dice.choice(self.cdns)
                to = wire_of("%s-%d" % (label, i))[:-1] + over.apex
                zone.add(name, CNAME, self.dice.choice(ALIAS_TTLS), to)
                self.addresses(over, to)
                self.types[name] = to
            else:
                self.addresses(zone, name)
            out.append(name)
        return out

    def site(self, at):
        """All names that its page needs: up to 300, most of them of others."""
        count = max(1, min(300, int(self.dice.lognormvariate(2.5, 1))))
        own, others = self.names("site%d" % at, min(count, self.dice.randint(1, 7))), {}
        while len(own) + len(others) < count:
            others[self.third[draw(self.dice, self.third_law)]] = True
        return own + list(others)

    # -- answers --------------------------------------------------------------------------------------

    def respond(self, wire, at):
        """The response of the server at that address, and the question: name and type."""
        ident, flags, _, _, _, more = struct.unpack("!6H", wire[:12])
        end = 12
        while wire[end]:
            end += 1 + wire[end]
        name, kind = wire[12:end + 1].lower(), wire[end + 1] << 8 | wire[end + 2]
        zone = next((self.zones_at[at][n] for n in parents(name) if n in self.zones_at[at]), None)
        rcode, authoritative, sections = self.find(zone, name, kind) if zone else (5, 0, ([], [], []))
        out = struct.pack("!6H", ident, 0x8000 | authoritative | flags & 0x110 | rcode, 1, *map(len, sections[:2]),
                          len(sections[2]) + bool(more)) + wire[12:end + 5] + b"".join(
                              (b"\xc0\x0c" if owner == name else owner) + struct.pack("!HHIH", kind_, 1, ttl, len(data)) + data
                              for section in sections for owner, kind_, ttl, data in section)
        return out + (b"\0\0\x29\x04\xd0\0\0\0\0\0\0" if more else b""), name, kind

    def find(self, zone, name, kind):
        cut = next((zone.cuts[n] for n in parents(name) if n in zone.cuts), None)
        if cut:
            ns = [(cut.apex, NS, 86400, host) for host, _ in cut.hosts]
            return 0, 0, ([], ns, [(host, A, 86400, at) for host, at in cut.hosts if host.endswith(cut.apex)])
        answer, node = [], zone.nodes.get(name)
        while node and CNAME in node and kind != CNAME:
            ttl, (name_,) = node[CNAME]
            answer.append((name, CNAME, ttl, name_))
            name, node = name_, zone.nodes.get(name_)
            if not name.endswith(zone.apex):
                return 0, 0x400, (answer, [], [])
        if node and kind in node:
            ttl, data = node[kind]
            return 0, 0x400, (answer + [(name, kind, ttl, d) for d in data], [], [])
        soa = wire_of("ns")[:-1] + zone.apex + wire_of("admin")[:-1] + zone.apex + struct.pack(
            "!5I", 1, 3600, 900, 86400, zone.none_ttl)
        return 0 if node is not None else 3, 0x400, (answer, [(zone.apex, SOA, zone.none_ttl, soa)], [])

    def hints(self):
        def text(host):
            return ".".join(label.decode() for label in labels(host)) + "."
        return "".join(". 3600000 NS %s\n%s 3600000 A %s\n" % (text(h), text(h), socket.inet_ntoa(at))
                       for h, at in self.root.hosts)

    def related(self, name, kind):
        """What a resolver asks for to answer that."""
        to = self.types[name]
        return [(name, kind)] + ([(to, kind)] if isinstance(to, bytes) else [])

    def exists(self, name, kind):
        to = self.types[name]
        return kind in (self.types[to] if isinstance(to, bytes) else to)


def labels(name):
    while name[0]:
        yield name[1:1 + name[0]]
        name = name[1 + name[0]:]


def zipf(count, exponent):
    """Sums of the law's shares."""
    out, total = [], 0
    for i in range(count):
        total += (i + 1) ** -exponent
        out.append(total)
    return out


def draw(dice, law):
    return bisect.bisect_left(law, dice.random() * law[-1])


# -- the day ----------------------------------------------------------------------------------------

MINUTE, HOUR = 60, 3600
BROWSER = (A, AAAA, HTTPS)
AGAIN = 60      # a device keeps an answer for so long, whatever its TTL, as browsers do


class Day:
    """`asks`: (second of the day, device, name, type), in order. It begins at six in the morning."""

    def __init__(self, world, seed, hours):
        self.world, self.dice, self.end = world, random.Random("day %s" % seed), hours * HOUR
        self.asks, self.latest, self.devices = [], {}, 0
        for _ in range(3):
            self.person(phone=True)
        for _ in range(2):
            self.person(phone=False)
        self.television()
        for every, kinds in ((60, (A,)), (120, (A,)), (120, (A, AAAA)), (300, (A,)), (300, (A, AAAA)), (900, (A, AAAA))):
            self.thing(every, kinds)
        self.asks.sort()
        self.asks = [a for a in self.asks if a[0] < self.end and not self.is_kept(a)]

    def is_kept(self, ask):
        at, *what = ask
        kept = at - self.latest.get(tuple(what), -AGAIN) < AGAIN
        if not kept:
            self.latest[tuple(what)] = at
        return kept

    def ask(self, at, device, name, kinds):
        # Browsers ask for all types at once.
        self.asks += [(at, device, name, kind) for kind in kinds]

    def page(self, at, device, names):
        """The first name, then a burst, then what that brought with it."""
        self.ask(at, device, names[0], BROWSER)
        for name in names[1:]:
            if self.dice.random() < .9:
                self.ask(at + .15 + (.2 if self.dice.random() < .4 else 0) + self.dice.random() * .05, device, name, BROWSER)

    def person(self, phone):
        """A device that sleeps and wakes: when it wakes it looks for news, and then pages are opened."""
        device, self.devices = self.devices, self.devices + 1
        world, dice = self.world, self.dice
        own = dice.sample(world.services, 25 if phone else 12)
        favourites = [draw(dice, world.site_law) for _ in range(12)]
        at = HOUR * dice.uniform(.3, 1.5)
        while at < 17.5 * HOUR:
            for name in dice.sample(own, len(own) // 2):
                self.ask(at + dice.random() * .2, device, name, BROWSER)
            until = at + MINUTE * (dice.uniform(2, 15) if phone else dice.uniform(10, 60))
            while at < until:
                at += dice.expovariate(1 / 150) + 15
                site = dice.choice(favourites) if dice.random() < .6 else draw(dice, world.site_law)
                self.page(at, device, world.sites[site])
            at += MINUTE * (dice.expovariate(1 / 80) + 5 if phone else dice.expovariate(1 / 150) + 20)
        self.sleeps(device, own, phone)

    def sleeps(self, device, own, phone):
        """News that come while nobody looks: often by day, now and then by night."""
        at = self.dice.uniform(0, 600)
        while at < 24 * HOUR and (phone or at < 17 * HOUR):
            for name in self.dice.sample(own[:8], self.dice.randint(1, 3)):
                self.ask(at, device, name, BROWSER)
            at += MINUTE * (self.dice.uniform(2, 8) if at < 17 * HOUR else self.dice.uniform(10, 30))

    def television(self):
        device, self.devices = self.devices, self.devices + 1
        own = self.dice.sample(self.world.services + self.world.third, 20)
        for at in range(0, 24 * HOUR, 30 * MINUTE):
            self.ask(at + 17, device, own[0], (A, AAAA))
        at = 12.5 * HOUR
        while at < 17 * HOUR:
            for name in self.dice.sample(own, 6):
                self.ask(at + self.dice.random() * .3, device, name, (A, AAAA))
            at += MINUTE * self.dice.uniform(4, 40)

    def thing(self, every, kinds):
        """A light, a thermostat: it calls home at its own pace."""
        device, self.devices = self.devices, self.devices + 1
        name, at = self.dice.choice(self.world.services), self.dice.uniform(0, every)
        while at < 24 * HOUR:
            self.ask(at, device, name, kinds)
            at += every * self.dice.uniform(.97, 1.03)


# -- playing it -------------------------------------------------------------------------------------

QUIET, STEP = .002, 30      # seconds without a packet before the clock is moved on, and how far at most
GRAIN = 1       # and how far at least, whatever timer is due: some have many a second
THREADS_MOST = 128      # contrib/bench/clock.c
PATIENCE = (3, 3, 4)        # as stub resolvers have
WAITED = .005               # a cached answer may need as long; the nearest server is 15 ms away


class Clock:
    """The clock of everybody who has opened its file."""

    def __init__(self, path):
        with open(path, "wb") as f:
            f.write(bytes(8 * (2 + THREADS_MOST)))
        with open(path, "r+b") as f:
            self.map = mmap.mmap(f.fileno(), 8 * (2 + THREADS_MOST))
        self.ahead = 0

    def now(self):
        return time.monotonic() + self.ahead

    def next_timer(self, after):
        """Of all threads that wait."""
        threads = min(THREADS_MOST, struct.unpack_from("=q", self.map, 8)[0])
        waits = struct.unpack_from("=%dq" % threads, self.map, 16)
        return min((u / 1e9 for u in waits if u / 1e9 > after), default=after + STEP)

    def skip(self, seconds):
        self.ahead += seconds
        self.map[:8] = struct.pack("=q", round(self.ahead * 1e9))


class Asked:
    """One question under way."""

    def __init__(self, at, device, name, kind):
        self.at, self.device, self.name, self.kind, self.tries = at, device, name, kind, 0


class Replay:
    def __init__(self, world, day, port, clock):
        self.world, self.day, self.clock = world, day, clock
        self.servers = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.servers.setsockopt(socket.IPPROTO_IP, PKTINFO, 1)
        self.servers.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self.servers.bind(("0.0.0.0", 53))
        self.devices = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(day.devices)]
        for i, s in enumerate(self.devices):
            s.bind(("127.0.1.%d" % (i + 1), 0))
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
            s.connect(("127.0.0.1", port))
        self.poll = select.epoll()
        self.by_fd = {s.fileno(): s for s in (self.servers, *self.devices)}
        for s in self.by_fd.values():
            s.setblocking(False)
            self.poll.register(s, select.EPOLLIN)
        self.on_the_way = []    # responses: when they arrive
        self.give_up = []       # questions: when to ask again
        self.waiting = {}       # (device, id): Asked
        self.sought = {}        # (name, type): the latest packet for it came, and was answered
        self.next_id, self.packets, self.order, self.active, self.pid, self.jumps = 0, 0, 0, 0, 0, 0
        self.took, self.why = [], []

    def close(self):
        for s in self.by_fd.values():
            s.close()
        self.poll.close()

    # -- servers --

    def serve(self):
        while True:
            try:
                wire, more, _, whose = self.servers.recvmsg(4096, 64)
            except BlockingIOError:
                return
            at, now = more[0][2][8:12], self.clock.now()
            self.packets += 1
            self.active = time.monotonic()
            out, name, kind = self.world.respond(wire, at)
            due = now + self.world.rtt.get(at, 0)
            self.sought[name, kind] = now, due
            self.order += 1
            heapq.heappush(self.on_the_way, (due, self.order, out, at, whose))

    def deliver(self, now):
        while self.on_the_way and self.on_the_way[0][0] <= now:
            _, _, out, at, whose = heapq.heappop(self.on_the_way)
            self.active = time.monotonic()
            try:
                self.servers.sendmsg([out], [(socket.IPPROTO_IP, PKTINFO, struct.pack("=I4s4s", 0, at, bytes(4)))], 0, whose)
            except OSError:
                pass    # who asked has closed its socket

    # -- devices --

    def send(self, ident, asked):
        asked.tries += 1
        self.active = time.monotonic()
        heapq.heappush(self.give_up, (self.clock.now() + PATIENCE[asked.tries - 1], ident, asked))
        self.devices[asked.device].send(struct.pack("!6H", ident, 0x100, 1, 0, 0, 0) + asked.name +
                                        struct.pack("!HH", asked.kind, 1))

    def ask(self, at, device, name, kind):
        self.next_id = self.next_id % 65535 + 1
        asked = Asked(self.clock.now(), device, name, kind)
        self.waiting[device, self.next_id] = asked
        self.send(self.next_id, asked)

    def repeat(self, now):
        while self.give_up and self.give_up[0][0] <= now:
            _, ident, asked = heapq.heappop(self.give_up)
            if self.waiting.get((asked.device, ident)) is not asked:
                continue
            if asked.tries == len(PATIENCE):
                del self.waiting[asked.device, ident]
                self.fail(asked, "no answer")
            else:
                self.send(ident, asked)

    def fail(self, asked, what):
        self.why.append("%s to %s %d" % (what, b".".join(labels(asked.name)).decode(), asked.kind))

    def take(self, s):
        device = self.devices.index(s)
        while True:
            try:
                wire = s.recv(4096)
            except ConnectionRefusedError:
                continue    # it does not listen yet
            except BlockingIOError:
                return
            self.active, now = time.monotonic(), self.clock.now()
            asked = self.waiting.pop((device, wire[0] << 8 | wire[1]), None)
            if not asked:
                continue
            answers, rcode = wire[6] << 8 | wire[7], wire[3] & 15
            if rcode or self.world.exists(asked.name, asked.kind) and not answers:
                self.fail(asked, "rcode %d, %d records" % (rcode, answers))
            else:
                self.took.append(now - asked.at if self.was_sought(asked, now) else 0)

    def was_sought(self, asked, now):
        """Whether it waited for a packet, and not only for its turn."""
        found = (self.sought.get(at) for at in self.world.related(asked.name, asked.kind))
        return now - asked.at > WAITED and any(f and f[1] >= asked.at and f[0] <= now for f in found)

    # -- all of it --

    def is_idle(self):
        """Whether it has had time for its timers since the clock was moved or a packet came, and sleeps."""
        if time.monotonic() - self.active < QUIET:
            return False
        for task in os.listdir("/proc/%d/task" % self.pid):
            try:
                with open("/proc/%d/task/%s/stat" % (self.pid, task), encoding="latin-1") as f:
                    if f.read().rsplit(")", 1)[1].split()[0] == "R":
                        return False
            except OSError:
                continue    # it has ended meanwhile
        return True

    def wait(self, seconds):
        for fd, _ in self.poll.poll(seconds):
            if self.by_fd[fd] is self.servers:
                self.serve()
            else:
                self.take(self.by_fd[fd])

    def next_at(self):
        return min((heap[0][0] for heap in (self.on_the_way, self.give_up) if heap), default=self.clock.now() + STEP)

    def go_on(self, next_at):
        """To what comes next. Before a question after a pause, timers that are due have their turn."""
        self.wait(0)
        left = min(next_at, self.next_at()) - self.clock.now()
        if left > 0 and self.is_idle():
            now = self.clock.now()
            self.clock.skip(min(left - QUIET if left > 1 else left, max(self.clock.next_timer(now) - now, GRAIN)))
            self.jumps += 1
            self.active = time.monotonic()
        elif left > 0:
            self.wait(min(left, QUIET))

    def settle(self, pid, patience):
        """Until the resolver answers, and a second more for what it looks up on its own."""
        self.pid = pid
        end, first = self.clock.now() + patience, Asked(self.clock.now(), 0, self.world.sites[0][0], A)
        while (not self.took or self.waiting) and self.clock.now() < end:
            if not self.took:
                self.waiting[0, 0], first.tries = first, 0
                try:
                    self.send(0, first)
                except ConnectionRefusedError:
                    pass
            again = self.clock.now() + 1
            while self.clock.now() < again:
                self.deliver(self.clock.now())
                self.wait(.01)
        if not self.took:
            raise NoNumber("it did not answer in %d s" % patience)
        self.packets, self.took, self.why, self.give_up = 0, [], [], []

    def run(self):
        begin, at, asks = self.clock.now(), 0, self.day.asks
        while at < len(asks) or self.waiting:
            now = self.clock.now()
            self.deliver(now)
            self.repeat(now)
            while at < len(asks) and begin + asks[at][0] <= now:
                self.ask(*asks[at])
                at += 1
            self.go_on(begin + asks[at][0] if at < len(asks) else now + STEP)
        return self.result()

    def result(self):
        waits = sorted(t for t in self.took if t)
        answered = len(self.took)
        out = {"questions": len(self.day.asks), "packets": self.packets / len(self.day.asks), "jumps": self.jumps,
               "failed": len(self.why), "why": self.why[:3]}
        if answered:
            out.update(waited=100 * len(waits) / answered, mean_ms=1000 * sum(waits) / answered)
        if waits:
            out.update(wait_ms=1000 * sum(waits) / len(waits), wait_p99_ms=1000 * waits[int(.99 * len(waits))])
        return out
