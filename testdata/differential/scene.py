"""A configuration for both resolvers, questions about it, and what of the answers is compared.

SPDX-License-Identifier: BSD-3-Clause

`options` reads such cases from files, `combine` makes them up.
"""

import collections
import concurrent.futures
import contextlib
import itertools
import os
import re
import shutil
import struct
import sys
import tempfile
import time
import tomllib

import dns.edns
import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype

from compare import compare
from questions import Question
from resolvers import Refused, Resolver

HERE = os.path.dirname(os.path.realpath(__file__))
FIELDS = ("rcode", "flags", "question", "edns", "ede", "answer", "authority", "additional", "ttl", "log")
ASKED = FIELDS[:-1]
SECTIONS = ("answer", "authority", "additional")
# Options that unbound does not have.
OWN = ("local-data-follow-cname:",)
FLAGS = ("do", "cd", "ad", "z", "tcp")
# What is different each time in what the control channel says; counters that are to be equal.
MASKS = ((r"\t", " "), (r"at position \d+ '(.*?)': .*", r"at position N '\1'"), (r"at line (\d+) position \d+ '(.*?)': .*", r"at line \1 '\2'"),
         (r"ok removed \d+ rrsets, \d+ messages and \d+ key entries", "ok removed"), (r"error setting option.*", "error setting option"),
         (r"since .*", "since"), (r"expire in \d+", "expire in N"), (r"(ttl|ping|var|rtt|rto) \d+", r"\1 N"), (r"%\S+ ", ""))
COUNTERS = re.compile(r"num\.(query\.(type|class|opcode|flags|tcp|edns)|answer\.(rcode|secure|bogus)|rpz)|unwanted|total\.num\.queries=")
# How long who says nothing is waited for, in seconds; once more and longer where only one says nothing.
PATIENCE, LONGER = 0.6, 6.0


class Case:
    def __init__(self, name):
        self.name = name
        self.conf, self.files, self.steps, self.logs = [], {}, [], None
        self.modules = "iterator"
        self.patience = PATIENCE


class Command:
    """What the control channel is told: a line, and what follows it (`COMMAND < LINE | LINE`)."""

    def __init__(self, text):
        self.text = text
        self.line, _, body = text.partition(" < ")
        self.body = "".join(line + "\n" for line in body.split(" | ")) if body else ""

    def give(self, resolver, alike=True):
        """What is said; counters of answers only while those are `alike`."""
        said = resolver.command(self.line, self.body)
        for pattern, mask in MASKS:
            said = re.sub(pattern, mask, said)
        # Later versions of unbound have these two zones by default, too.
        lines = [li for li in said.strip().split("\n") if li and not li.startswith(("resolver.arpa.", "service.arpa."))]
        if self.line.startswith("stats"):
            lines = [li for li in lines if COUNTERS.match(li) and (alike or not li.startswith(("num.answer.", "num.rpz.")))]
        if self.line.startswith("lookup"):    # what is cached of its servers is not the same
            lines = lines[:1]
        if self.line in ("list_forwards", "list_stubs"):    # the order of servers is none
            lines = [" ".join(sorted(li.split(" "))) for li in lines]
        return "; ".join(sorted(lines) if self.line.startswith(("list_", "view_list_", "stats")) else lines)


def spread(text):
    """`{a,b}.c` is `a.c` and `b.c`."""
    found = re.search(r"\{([^{}]*)\}", text)
    if not found:
        return [text]
    return [w for part in found.group(1).split(",") for w in spread(text[:found.start()] + part + text[found.end():])]


# The words of a question: which field each sets, and what it makes of its value.
WORDS = {"nord": ("rd", lambda _: False), "noedns": ("edns", lambda _: None), "size": ("size", int),
         "class": ("rrclass", str), "from": ("source", str), "to": ("to", str), "opcode": ("opcode", int),
         **{flag: (flag, lambda _: True) for flag in FLAGS}}


def question(number, name, rrtype, words):
    q = Question(number, name, rrtype, edns=0)
    for word in words:
        key, _, value = word.partition("=")
        if key == "option":
            code, _, data = value.partition(":")
            q.options.append((int(code), bytes.fromhex(data)))
        elif key in WORDS:
            field, read = WORDS[key]
            setattr(q, field, read(value))
        else:
            raise ValueError("no such word: %s" % word)
    return q


def questions(number, name, rrtypes, sets="-"):
    """The questions of one line."""
    for words, one, rrtype in itertools.product(sets.split("|"), spread(name), rrtypes.split(",")):
        dns.name.from_text(one)
        yield question(number, one, rrtype, [] if words == "-" else words.split("+"))
        number += 1


# What a line of a case begins with, and what its rest is for; other lines are of the configuration.
LINES = {"modules": lambda case, rest: setattr(case, "modules", " ".join(rest.split())),
         "patience": lambda case, rest: setattr(case, "patience", float(rest)),
         "logs": lambda case, rest: setattr(case, "logs", re.compile(rest)),
         "sleep": lambda case, rest: case.steps.append(float(rest)),
         "!": lambda case, rest: case.steps.append(Command(rest)),
         "?": lambda case, rest: case.steps.extend(questions(len(case.steps), *rest.split()))}


def read_cases(path):
    """The cases of a file; what is wrong with it ends the run."""
    cases, into = [], None
    with open(path, encoding="utf-8") as f:
        for at, line in enumerate(f, 1):
            word, rest = (line.split(None, 1) + ["", ""])[:2]
            line, rest = line.rstrip("\n"), rest.rstrip("\n")
            try:
                if word == "endfile":
                    into = None
                elif into is not None:
                    into.append(line)
                elif word == "case":
                    cases.append(Case(rest.split()[0]))
                elif word == "file":
                    into = cases[-1].files.setdefault(rest.split()[0], [])
                elif word in LINES:
                    LINES[word](cases[-1], rest)
                elif cases and word and not line.startswith("#"):
                    cases[-1].conf.append(line)
            except (IndexError, TypeError, ValueError, re.error, dns.exception.DNSException) as e:
                sys.exit("%s:%d: %s" % (path, at, e or type(e).__name__))
    return cases


def view(wire):
    """What of a reply is compared, as a person reads it."""
    out = {f: "" for f in FIELDS}
    if wire is None:
        return out | {"rcode": "no answer"}
    flags = struct.unpack("!H", wire[2:4])[0]
    out["flags"] = " ".join(n for bit, n in ((0x8000, "qr"), (0x400, "aa"), (0x200, "tc"), (0x100, "rd"), (0x80, "ra"),
                                             (0x40, "z"), (0x20, "ad"), (0x10, "cd")) if flags & bit)
    try:
        m = dns.message.from_wire(wire[:2] + bytes([wire[2] & 0x87]) + wire[3:])
    except (dns.exception.DNSException, ValueError) as e:
        return out | {"rcode": "unreadable: %s" % type(e).__name__}
    out["rcode"] = dns.rcode.to_text(m.rcode())
    out["question"] = " ".join("%s %d %d" % (s.name, s.rdclass, s.rdtype) for s in m.question)
    if m.edns >= 0:
        out["edns"] = "size %d%s%s" % (m.payload, " do" if m.ednsflags & dns.flags.DO else "", "".join(
            " option%d:%s" % (o.otype, o.to_wire().hex()) for o in m.options if o.otype != dns.edns.OptionType.EDE))
    out["ede"] = " ".join(sorted(str(o.code) for o in m.options if o.otype == dns.edns.OptionType.EDE))
    out["ttls"] = {}
    for section in SECTIONS:
        records = []
        for s in getattr(m, section):
            owner, rrtype = s.name.canonicalize().to_text(), dns.rdatatype.to_text(s.rdtype)
            out["ttls"]["%s %s %s" % (section, owner, rrtype)] = s.ttl
            # Signatures are made anew with each mininet: who signed what is what counts.
            records += ["%s %s %s" % (owner, rrtype, d.to_text().split(" ")[0] if rrtype == "RRSIG" else d.to_text()) for d in s]
        out[section] = "; ".join(sorted(records))
    return out


def equal_ttls(pair, most):
    """TTLs are compared for sets that both have; the two do not ask their servers at the same time, least of all on a busy machine."""
    ours, theirs = (v.pop("ttls", {}) for v in pair)
    for key in sorted(set(ours) & set(theirs)):
        if abs(ours[key] - theirs[key]) > most:
            for v, ttl in zip(pair, (ours[key], theirs[key])):
                v["ttl"] += "%s %d; " % (key, ttl)


class Rule:
    """A difference that is accepted, and why."""

    def __init__(self, row):
        self.why = row["why"]
        self.fields = row["field"].split()
        self.when = {k: re.compile(row[k], re.S) for k in ("case", "name", "type", "words", "ours", "theirs", "rcode", "their_rcode") if k in row}
        self.conf = re.compile(row.get("conf", ""), re.S | re.M)
        self.used = 0

    def covers(self, q, ours, theirs, field):
        facts = {"case": q.case, "name": q.name, "type": q.type, "words": words(q), "ours": ours[field],
                 "theirs": theirs[field], "rcode": ours["rcode"], "their_rcode": theirs["rcode"]}
        if q.name in ("the-start", "the-check") and "name" not in self.when:
            return False    # rules about answers do not speak of these
        return field in self.fields and self.conf.search(q.conf) and all(p.fullmatch(facts[k]) for k, p in self.when.items())


def words(q):
    shown = ["nord"] * (not q.rd) + [w for w in FLAGS if getattr(q, w)] + ["noedns"] * (q.edns is None)
    shown += ["class=" + q.rrclass] * (q.rrclass != "IN") + ["size=%d" % q.size] * (q.size != 1232)
    shown += ["to=%s" % q.to] * (q.to != "127.0.0.1") + ["from=%s" % q.source] * bool(q.source) + ["opcode=%d" % q.opcode] * bool(q.opcode)
    return "+".join(shown + ["option=%d:%s" % (code, data.hex()) for code, data in q.options]) or "-"


def logged(path, pattern):
    """The lines of a log that the case is about, without what is different each time."""
    out = []
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            line = re.sub(r"^\[\d+\] \S+\[\d+:\w+\] ", "", line.rstrip("\n"))
            if pattern.search(line):
                line = re.sub(r"(127\.\d+\.\d+\.\d+)@\d+", r"\1@PORT", line)
                out.append(re.sub(r"\d+\.\d{6}", "SECONDS", line))
    return out


def ask_both(pool, resolvers, q, patience):
    """Both at once: who is slow is waited for once."""
    later = pool.submit(resolvers[1].ask, q, patience)
    return [view(resolvers[0].ask(q, patience)), view(later.result())]


def marked(q, case):
    """The rules look at the case of a question, too."""
    commands = ["! " + step.text for step in case.steps if isinstance(step, Command)]
    q.case, q.conf = case.name, "\n".join(["modules " + case.modules, *case.conf, *(li for f in case.files.values() for li in f), *commands])
    return q


def start(case, programs, net, folder, resolvers):
    """Adds to the resolvers; gives what those say that refuse to start."""
    refused = {}
    for name, program in programs:
        where = os.path.join(folder, name)
        os.mkdir(where)
        for file, lines in case.files.items():
            with open(os.path.join(where, file), "w", encoding="utf-8") as f:
                f.write("".join(line + "\n" for line in lines))
        more = "".join("    " + line + "\n" for line in case.conf if name == "resolverd" or not line.startswith(OWN))
        more += "server:\n"
        try:
            resolvers.append(Resolver(name, program, net, where, modules=case.modules, more=more, ready=False,
                                      control=any(isinstance(s, Command) for s in case.steps)))
        except Refused as e:
            refused[name] = str(e)
    return refused


def row_of(case, name, pair, rules, fields):
    """Of something that is no question."""
    q = marked(question(0, name, "TXT", []), case)
    return q, *pair, compare(q, *pair, rules, fields)


def steps(case, resolvers, rules, began):
    """Takes each step at both; gives the rows."""
    pool, alike = concurrent.futures.ThreadPoolExecutor(1), True
    try:
        for step in case.steps:
            if isinstance(step, float):
                time.sleep(step)
            elif isinstance(step, Command):
                yield row_of(case, "!" + step.text, [{"rcode": "", "said": step.give(r, alike)} for r in resolvers], rules, ["said"])
            else:
                marked(step, case)
                pair = ask_both(pool, resolvers, step, case.patience)
                if (pair[0]["rcode"] == "no answer") != (pair[1]["rcode"] == "no answer"):
                    pair = ask_both(pool, resolvers, step, LONGER)
                equal_ttls(pair, 15 + time.monotonic() - began)
                found = compare(step, *pair, rules, ASKED)
                alike &= not {"rcode", "flags", "answer"} & {field for field, *_ in found}
                yield step, *pair, found
    finally:
        pool.shutdown()


def misfortune(case, resolver, code):
    """How it ended, unless well."""
    text = ""
    with contextlib.suppress(OSError), open(resolver.log, encoding="utf-8", errors="replace") as f:
        text = f.read()
    if code != 0 or re.search("Sanitizer|runtime error:", text):
        return "%s: %s ended with %s: %s" % (case.name, resolver.name, code, text[-2000:])
    return ""


def play(case, programs, net, rules):
    """One case at both: its rows of what was asked and what differed; and what went wrong."""
    folder = tempfile.mkdtemp(prefix="rd-options-", dir="/tmp")
    resolvers, rows, trouble, began = [], [], "", time.monotonic()
    try:
        refused = start(case, programs, net, folder, resolvers)
        if refused:
            pair = [{"rcode": "refuses" if name in refused else "starts", "log": refused.get(name, "")} for name, _ in programs]
            return [row_of(case, "the-start", pair, rules, ["rcode"])], ""
        for row in steps(case, resolvers, rules, began):
            rows.append(row)
    except SystemExit as e:
        trouble = "%s: %s" % (case.name, e)
    finally:
        codes = [r.stop() for r in resolvers]
        if case.logs and not trouble:
            pair = [{"rcode": "", "log": "; ".join(logged(r.log, case.logs))} for r in resolvers]
            rows.append(row_of(case, "the-log", pair, rules, ["log"]))
        if len(codes) == 2 and isinstance(codes[1], int) and codes[1] < 0:
            rows, codes = [], codes[:1]    # unbound crashed: nothing can be compared
        for r, code in zip(resolvers, codes):
            trouble = trouble or misfortune(case, r, code)
        shutil.rmtree(folder, ignore_errors=True)
    return rows, trouble


def read_rules():
    with open(os.path.join(HERE, "options.toml"), "rb") as f:
        return [Rule(row) for row in tomllib.load(f).get("accept", [])]


def tell(played, rules, args, began):
    lines, count, bad = [], collections.Counter(), 0
    for rows, trouble in played:
        if trouble:
            print("TROUBLE\t" + trouble)
            bad += 1
        for q, ours, theirs, found in rows:
            covered = all(rule for *_, rule in found)
            count["equal" if not found else "accepted" if covered else "different"] += 1
            if args.verbose:
                print("\t".join((q.case, q.name, q.type, words(q), *(ours[f] for f in FIELDS if f in ours))))
            for field, a, b, rule in found:
                if rule:
                    rule.used += 1
                lines.append("\t".join(("accepted" if rule else "DIFFERENT", q.case, q.name, q.type, words(q), field,
                                        a or "-", b or "-", rule.why if rule else "")))
    if args.report:
        with open(args.report, "w", encoding="utf-8") as f:
            f.write("verdict\tcase\tname\ttype\twords\tfield\tours\ttheirs\twhy\n" + "".join(li + "\n" for li in lines))
    for line in [li for li in lines if li.startswith("DIFFERENT")][:200]:
        print(line)
    for rule in rules:
        print("%5d  accepted: %s" % (rule.used, rule.why))
    print("%d cases in %.1f s" % (len(played), time.monotonic() - began))
    print("%d questions: %d equal, %d accepted, %d different" % (
        sum(count.values()), count["equal"], count["accepted"], count["different"] + bad))
    return count["different"] + bad
