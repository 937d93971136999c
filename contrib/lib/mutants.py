"""The small changes that contrib/mutate makes: found in the syntax tree of a C file, and written into a copy of it.

SPDX-License-Identifier: BSD-3-Clause

Every change is in the copy at once, each behind a switch: `a < b` becomes an expression that is `a <= b` if change 17 is
wanted, and `a < b` otherwise. So one build holds them all, and RESOLVERD_MUTANT=17 chooses. Where it can be seen
without side effects whether a change makes a difference at that moment (`a == b`, above), only then the change counts as
reached: a test that does not reach it cannot notice it, and is not run.

What is changed: conditions of if, ?: and loops that are always true, or always false; operands of && and || left out; < for
<=; == for !=; arithmetic; constants (one more; a mask of bits without any; true for false); results of a bool function; statements left out (calls,
assignments, break, continue); two arguments of one type exchanged.

What is not: log lines, counters, the texts and names of reasons, functions that only find words for people, PROMISE; freeing (a leak is for the sanitizers);
taking locks (a race is for the thread sanitizer); what must be constant (case
labels, sizes of arrays, static initializers); more memory than is needed; orders of atomic accesses; what stands in a macro's arguments; arguments of functions for which
their order makes no difference (SYMMETRIC); capacity hints (HINTS).
"""
import collections
import hashlib
import re

import clang.cindex as cindex

K = cindex.CursorKind

Mutant = collections.namedtuple("Mutant", "file function line old new nth")

# Calls that tell somebody something, and give something back: nothing in them is changed, nor are they left out.
TELLS = re.compile(r"^(log_\w*|fault_\w*|trace_\w*|stat_\w*|stats_\w*|tap_\w*|call_say|perror|f?printf|assert|\w*_free|free|"
                   r"close|\w+_unpin|file_done|file_clear|manner_clear|pthread_mutex_(lock|init|destroy)|"
                   r"\w+_say|say_\w+|tell(_\w+)?|witness_\w+|resolve_trace\w*)$")
# Calls that also decide something: they are left out, but the words and the reason that they give are not changed.
WORDS = re.compile(r"^(check_fail|iter_blame|fail_\w+|text_\w*printf|mem_textf|snprintf)$")
# Functions that only find words for people, or only free.
TELLERS = re.compile(r"^(print_|fail_|explain|say_|tell_|complain|\w+_free$)")
# More of what these take is no mistake.
TAKES = re.compile(r"^(mem_(new|zero|array|grow)|arena_(take|array))$")
SYMMETRIC = {"memcmp", "strcmp", "dname_equals", "addr_equals", "addr_same_host", "rrset_same_records", "route_is_same", "strcasecmp",
             "question_equals", "sodium_memcmp", "CRYPTO_memcmp", "bytes_equal", "slice_equals", "addr_is_same", "strncasecmp",
             "addr_equals_ip", "rrset_same_signatures", "mem_array", "dname_common"}
HINTS = {"LIKELY", "UNLIKELY", "__builtin_expect", "COUNT"}

BOUNDARY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
NEGATED = {"==": "!=", "!=": "=="}
OTHER = {"+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "<<": ">>", ">>": "<<", "&": "|", "|": "&"}
OPERATOR = re.compile(r"^(\|\||&&|[=!<>]=|<<|>>|[-+*/%&|<>])$")
LITERAL = re.compile(r"^(0[xX][0-9a-fA-F]+|[0-9]+|'(?:[^'\\]|\\.[0-9a-f]*)')([uUlL]*)$")

LOGICAL = ("&&", "||")
CALLS = re.compile(r"^[a-z_]\w*\(", re.S)

HEAD = """\
#pragma once
/* Under other names, and no headers: a file's own functions may be called as one of unistd.h is that it does not include. */
char *mutant_getenv(const char *) __asm__("getenv");
int mutant_atoi(const char *) __asm__("atoi");
int mutant_open(const char *, int, ...) __asm__("open");
int mutant_truncate(int, long) __asm__("ftruncate");
void *mutant_map(void *, unsigned long, int, int, int, long) __asm__("mmap");
/* Which change is in force, and which were reached; in a file if RESOLVERD_REACHED names one. */
__attribute__((weak)) int mutant_now = -2;
__attribute__((weak)) unsigned char mutant_room[%(count)d];
__attribute__((weak)) unsigned char *mutant_reached = mutant_room;
__attribute__((weak, constructor)) void mutant_begin(void)
{
	const char *text = mutant_getenv("RESOLVERD_MUTANT"), *path = mutant_getenv("RESOLVERD_REACHED");
	if (mutant_now != -2)
		return;
	mutant_now = text ? mutant_atoi(text) : -1;
	if (path) {
		int fd = mutant_open(path, 2); /* to read and to write, and the file is there */
		if (fd >= 0 && mutant_truncate(fd, sizeof mutant_room) == 0) {
			void *at = mutant_map(0, sizeof mutant_room, 3, 1, fd, 0); /* the same two, and shared */
			mutant_reached = at == (void *)-1 ? mutant_room : at;
		}
	}
}
static inline __attribute__((unused)) _Bool mutant(int n)
{
	mutant_reached[n] = 1;
	return n == mutant_now;
}
#define MUTANT(n) mutant(n)
"""


def squeeze(text):
    """On one line, without comments."""
    return " ".join(re.sub(r"/\*.*?\*/", " ", text, flags=re.S).split())


def flat(node):
    """Without what has no text of its own: implicit conversions, parentheses."""
    while node.kind in (K.UNEXPOSED_EXPR, K.PAREN_EXPR):
        kids = list(node.get_children())
        if len(kids) != 1:
            break
        node = kids[0]
    return node


class File:
    """One source file: what could be changed in it, and the copy in which the chosen changes are."""

    def __init__(self, path, name, flags):
        with open(path, "rb") as f:
            self.text = f.read().decode("latin-1")
        self.path, self.name = path, name
        unit = cindex.Index.create().parse(path, args=["-x", "c", *flags])
        wrong = [d for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
        if wrong:
            raise SystemExit("%s: %s" % (name, wrong[0]))
        self.bodies = []
        for node in unit.cursor.get_children():
            if node.kind == K.FUNCTION_DECL and node.is_definition() and node.location.file and \
                    node.location.file.name == path and not TELLERS.match(node.spelling):
                self.bodies.append(node)

    def find(self):
        """All of them, in their order."""
        return self.walk(None)[0]

    def write(self, numbers):
        """The copy's text; `numbers`: number by mutant."""
        return '#include "mutant.h"\n#line 1 "%s"\n' % self.name + self.walk(numbers)[1]

    def walk(self, numbers):
        self.numbers, self.found, self.seen, self.nth = numbers, [], set(), collections.Counter()
        self.opens, self.closes, self.gaps, self.taking = [], [], [], False
        for body in self.bodies:
            self.function = body.spelling
            self.result = body.result_type.get_canonical().spelling
            for kid in body.get_children():
                if kid.kind == K.COMPOUND_STMT:
                    self.visit(kid, None, "")
        return self.found, self.put_together() if numbers is not None else ""

    def put_together(self):
        """Openings of the outer before those of the inner; closings the other way round."""
        edits = [(at, 1, i, at, text) for i, (at, text) in enumerate(self.opens)]
        edits += [(at, 0, -i, at, text) for i, (at, text) in enumerate(self.closes)]
        edits += [(at, 0, 0, end, text) for at, end, text in self.gaps]
        edits.sort()
        out, last = [], 0
        for at, _, _, end, text in edits:
            out += [self.text[last:at], text]
            last = end
        return "".join(out) + self.text[last:]

    # ---- one change ----

    def span(self, node):
        return node.extent.start.offset, node.extent.end.offset

    def of(self, node):
        s, e = self.span(node)
        return self.text[s:e]

    def number(self, node, old, new):
        """The switch of that change, or None if it is not wanted."""
        s, e = self.span(node)
        old, new = squeeze(old), squeeze(new)
        if (s, e, old, new) in self.seen:
            return None
        self.seen.add((s, e, old, new))
        self.nth[self.function, old, new] += 1
        m = Mutant(self.name, self.function, self.text.count("\n", 0, s) + 1, old, new, self.nth[self.function, old, new])
        self.found.append(m)
        if self.numbers is None or key(m) not in self.numbers:
            return None
        return "MUTANT(%d)" % self.numbers[key(m)]

    def wrap(self, node, before, after, end=None):
        s, e = self.span(node)
        self.opens.append((s, before))
        self.closes.append((end or e, after))

    # ---- the tree ----

    def kids(self, node):
        """Its children with texts of their own, or none if they have not."""
        s, e = self.span(node)
        out, last = [], s
        for kid in sorted(node.get_children(), key=lambda k: self.span(k)):
            a, b = self.span(kid)
            if a < last or b > e or a == b:
                return []
            out.append(kid)
            last = b
        return out

    def visit(self, node, parent, role):
        """`role`: condition, logical (an operand of && or ||), statement, or nothing."""
        handler = getattr(self, "on_" + node.kind.name, None)
        if handler:
            handler(node, parent, role)
        else:
            kids = list(node.get_children())
            same = len(kids) == 1 and node.kind in (K.UNEXPOSED_EXPR, K.PAREN_EXPR)
            self.descend(node, role if same else "")

    def descend(self, node, role=""):
        if re.match(r"^[A-Z_0-9]+\s*\(", self.of(node)) and node.kind not in (K.PAREN_EXPR, K.BINARY_OPERATOR):
            return  # a macro's arguments
        for kid in self.kids(node):
            self.visit(kid, node, role)

    def stands_in_parentheses(self, node):
        s, e = self.span(node)
        return self.text[:s].rstrip().endswith("(") and self.text[e:].lstrip().startswith(")")

    def logical(self, node):
        node = flat(node)
        return node.kind == K.BINARY_OPERATOR and self.operator(node)[0] in LOGICAL

    def condition(self, node, what, both=True):
        """Always true, always false: unless its parts are left out one by one anyway."""
        text = self.of(node)
        op = self.operator(flat(node))[0] if flat(node).kind == K.BINARY_OPERATOR else None
        yes = self.number(node, "%s (%s)" % (what, text), "%s (true)" % what) if both and op != "&&" else None
        no = self.number(node, "%s (%s)" % (what, text), "%s (false)" % what) if op != "||" or not both else None
        if yes:
            self.wrap(node, "((", ") || %s)" % yes)
        if no:
            self.wrap(node, "((", ") && !%s)" % no)
        self.visit(node, None, "condition")

    def on_IF_STMT(self, node, parent, role):
        kids = self.kids(node)
        if len(kids) < 2 or not self.stands_in_parentheses(kids[0]):
            return
        self.condition(kids[0], "if")
        for kid in kids[1:]:
            self.visit(kid, node, "statement")

    def on_WHILE_STMT(self, node, parent, role):
        kids = self.kids(node)
        if len(kids) == 2 and self.stands_in_parentheses(kids[0]):
            self.condition(kids[0], "while", both=False)
            self.visit(kids[1], node, "statement")

    def on_DO_STMT(self, node, parent, role):
        kids = self.kids(node)
        if len(kids) == 2 and self.stands_in_parentheses(kids[1]):
            self.visit(kids[0], node, "statement")
            self.condition(kids[1], "while", both=False)

    def on_FOR_STMT(self, node, parent, role):
        kids = self.kids(node)
        s, _ = self.span(node)
        marks, depth = [], 0
        for i in range(self.text.index("(", s), self.span(node)[1]):
            depth += {"(": 1, ")": -1}.get(self.text[i], 0)
            if depth == 0:
                break
            if self.text[i] == ";" and depth == 1:
                marks.append(i)
        if not kids or len(marks) != 2:
            return
        for kid in kids[:-1]:
            at = self.span(kid)[0]
            if marks[0] < at < marks[1]:
                self.condition(kid, "for", both=False)
            elif at < marks[0]:
                self.visit(kid, node, "")
        self.visit(kids[-1], node, "statement")

    def on_COMPOUND_STMT(self, node, parent, role):
        for kid in self.kids(node):
            self.visit(kid, node, "statement")

    def on_SWITCH_STMT(self, node, parent, role):
        for kid in self.kids(node):
            self.visit(kid, node, "statement" if kid.kind == K.COMPOUND_STMT else "")

    def on_CASE_STMT(self, node, parent, role):
        kids = self.kids(node)
        if kids:
            self.visit(kids[-1], node, "statement")

    def on_DEFAULT_STMT(self, node, parent, role):
        self.on_CASE_STMT(node, parent, role)

    def on_LABEL_STMT(self, node, parent, role):
        self.on_CASE_STMT(node, parent, role)

    def leave_out(self, node):
        n = self.number(node, self.of(node) + ";", ";")
        if n:
            self.wrap(node, "(%s ? (void)0 : (void)(" % n, "))")

    def jump(self, node, parent, role):
        s, e = self.span(node)
        end = self.text.index(";", e) + 1
        leads_nowhere_else = parent is not None and parent.kind in (K.CASE_STMT, K.DEFAULT_STMT) and \
            self.text[end:].lstrip().startswith("}")  # the last of a switch
        if role == "statement" and not self.text[e:end - 1].strip() and not leads_nowhere_else:
            n = self.number(node, self.of(node) + ";", ";")
            if n:
                self.wrap(node, "{ if (!%s) " % n, " }", end)

    on_BREAK_STMT = on_CONTINUE_STMT = jump

    def on_RETURN_STMT(self, node, parent, role):
        kids = self.kids(node)
        if len(kids) != 1:
            return
        inner = flat(kids[0])
        if self.result in ("bool", "_Bool") and (inner.kind in (K.CALL_EXPR, K.DECL_REF_EXPR, K.MEMBER_REF_EXPR,
                K.UNARY_OPERATOR) or inner.kind == K.BINARY_OPERATOR and self.operator(inner)[0] in ("&", "|")):
            text = self.of(kids[0])
            n = self.number(node, "return %s;" % text, "return !(%s);" % text)
            if n:
                self.wrap(kids[0], "(!!(", ") != %s)" % n)
        self.visit(kids[0], node, "")

    def on_DECL_STMT(self, node, parent, role):
        for var in node.get_children():
            if var.kind != K.VAR_DECL or var.storage_class == cindex.StorageClass.STATIC:
                continue
            kids = [k for k in var.get_children() if k.kind.is_expression()]
            s, e = self.span(var)
            if kids and "=" in self.text[s:self.span(kids[-1])[0]] and self.span(kids[-1])[1] == e:
                self.visit(kids[-1], var, "")

    def on_INIT_LIST_EXPR(self, node, parent, role):
        for kid in self.kids(node):
            inner = flat(kid)
            if kid.kind == K.UNEXPOSED_EXPR and self.of(kid).startswith((".", "[")):
                inner = list(kid.get_children())[-1:]
                for value in inner:
                    self.visit(value, node, "")
            elif squeeze(self.of(kid)) != "0" and kid.kind not in (K.MEMBER_REF,):
                self.visit(kid, node, "")

    def on_CXX_UNARY_EXPR(self, node, parent, role):
        """sizeof"""

    # ---- expressions ----

    def operator(self, node):
        kids = self.kids(node)
        if len(kids) != 2:
            return None, None, None
        gap = self.text[self.span(kids[0])[1]:self.span(kids[1])[0]]
        op = squeeze(gap)
        if not OPERATOR.match(op) or not self.fits(node, kids):
            return (op if op == "=" else None), None, None
        return op, kids[0], kids[1]

    def fits(self, node, kids):
        return self.span(node) == (self.span(kids[0])[0], self.span(kids[1])[1])

    def on_BINARY_OPERATOR(self, node, parent, role):
        op, left, right = self.operator(node)
        if op == "=":
            if role == "statement":
                self.leave_out(node)
            kids = self.kids(node)
            self.visit(kids[0], node, "")
            self.visit(kids[1], node, "")
            return
        if op is None:
            return
        if op in LOGICAL:
            self.on_logical(op, node, left, right)
        elif op in BOUNDARY:
            self.exchange(node, op, BOUNDARY[op], left, right, "l_ == r_")
        elif op in NEGATED:
            if role not in ("condition", "logical"):
                n = self.number(node, self.of(node), "%s %s %s" % (self.of(left), NEGATED[op], self.of(right)))
                if n:
                    self.wrap(node, "((", ") != %s)" % n)
        elif role not in ("condition", "logical"):
            self.arithmetic(node, op, left, right)
        side = "logical" if op in LOGICAL else "bits" if op in ("&", "|") else ""
        self.visit(left, node, side)
        self.visit(right, node, side)

    def on_logical(self, op, node, left, right):
        whole = self.of(node)
        first = self.number(node, whole, self.of(right))
        second = self.number(node, whole, self.of(left))
        for n, side in (first, left), (second, right):
            if n:
                self.wrap(side, "((", ") || %s)" % n if op == "&&" else ") && !%s)" % n)
            else:
                self.wrap(side, "(", ")") if self.numbers is not None else None

    def exchange(self, node, op, other, left, right, telling):
        """Each operand is evaluated once; where `telling` is false both results are the same."""
        n = self.number(node, self.of(node), "%s %s %s" % (self.of(left), other, self.of(right)))
        if not n:
            return
        self.wrap(node, "({ __auto_type l_ = %s(" % self.plain(left), "); %s && %s ? l_ %s r_ : l_ %s r_; })" % (
            "(%s)" % telling, n, other, op))
        s, e = self.span(left)[1], self.span(right)[0]
        self.gaps.append((s, e, "); __auto_type r_ = %s(" % self.plain(right)))

    def plain(self, node):
        """What makes a value of a bit field."""
        inner = flat(node)
        is_pointer = inner.type.get_canonical().kind in (cindex.TypeKind.POINTER, cindex.TypeKind.CONSTANTARRAY,
                                                         cindex.TypeKind.INCOMPLETEARRAY)
        return "" if is_pointer else "+"

    def arithmetic(self, node, op, left, right):
        kinds = [n.type.get_canonical().kind for n in (left, right)]
        pointers = [k in (cindex.TypeKind.POINTER, cindex.TypeKind.CONSTANTARRAY, cindex.TypeKind.INCOMPLETEARRAY)
                    for k in kinds]
        if op not in OTHER or pointers[1]:
            return
        telling = {"&": "l_ != r_", "|": "l_ != r_", "+": "r_ != 0", "-": "r_ != 0"}.get(op, "1")
        self.exchange(node, op, OTHER[op], left, right, telling)

    def on_CONDITIONAL_OPERATOR(self, node, parent, role):
        kids = self.kids(node)
        if len(kids) == 3:
            self.condition(kids[0], "?:")
            self.visit(kids[1], node, "")
            self.visit(kids[2], node, "")

    def on_UNARY_OPERATOR(self, node, parent, role):
        text = self.of(node)
        if text.endswith(("++", "--")) or text.startswith(("++", "--")):
            if role == "statement":
                self.leave_out(node)
        if re.match(r"^-[0-9]+$", text):
            return self.one_more(node, text, "")
        return self.descend(node, role if text.startswith("!") else "bits" if text.startswith("~") else "")

    def on_COMPOUND_ASSIGNMENT_OPERATOR(self, node, parent, role):
        if role == "statement":
            self.leave_out(node)
        self.descend(node)

    def on_CALL_EXPR(self, node, parent, role):
        text = self.of(node)
        name = node.spelling
        if not CALLS.match(text) and not re.match(r"^[\w.>-]+\(", text):
            return
        if TELLS.match(name or "") or TELLS.match(text.split("(")[0]):
            return
        if role == "statement":
            self.leave_out(node)
        arguments = list(node.get_arguments())
        kids = self.kids(node)
        if not kids or len(kids) != len(arguments) + 1 or WORDS.match(name or ""):
            return
        if name not in SYMMETRIC:
            self.swaps(node, text, arguments)
        taking, self.taking = self.taking, self.taking or bool(TAKES.match(name or ""))
        for kid in arguments:
            self.visit(kid, node, "")
        self.taking = taking

    def swaps(self, node, text, arguments):
        s, _ = self.span(node)
        for a, b in zip(arguments, arguments[1:]):
            kinds = [re.sub(r"\bconst\b ?", "", flat(x).type.get_canonical().spelling).strip() for x in (a, b)]
            ta, tb = self.of(a), self.of(b)
            if kinds[0] != kinds[1] or squeeze(ta) == squeeze(tb):
                continue
            (a0, a1), (b0, b1) = self.span(a), self.span(b)
            other = text[:a0 - s] + tb + self.text[a1:b0] + ta + text[b1 - s:]
            n = self.number(node, text, other)
            if n:
                self.wrap(node, "(%s ? %s : " % (n, other), ")")

    def on_INTEGER_LITERAL(self, node, parent, role):
        text = self.of(node)
        s, _ = self.span(node)
        before = self.text[:s].rstrip()
        if before.endswith("[") and (parent is None or parent.kind != K.ARRAY_SUBSCRIPT_EXPR):
            return
        if text in ("true", "false"):
            n = self.number(node, self.around(node, text), self.around(node, "false" if text == "true" else "true"))
            if n:
                self.wrap(node, "(", " != %s)" % n)
        elif LITERAL.match(text) or re.match(r"^[A-Z][A-Z0-9_]+$", text) and text != "NULL":
            self.one_more(node, text, role)

    on_CHARACTER_LITERAL = on_INTEGER_LITERAL

    def on_DECL_REF_EXPR(self, node, parent, role):
        target = node.referenced
        if target is not None and target.kind == K.ENUM_CONSTANT_DECL and re.match(r"^\w+$", self.of(node)):
            self.one_more(node, self.of(node), role)

    def one_more(self, node, text, role):
        if role == "bits" and text != "0":
            n = self.number(node, self.around(node, text), self.around(node, "0"))
            if n:
                self.wrap(node, "(", " * !%s)" % n)
            return
        if self.taking or text.startswith("memory_order_"):
            return
        n = self.number(node, self.around(node, text), self.around(node, text + " + 1"))
        if n:
            self.wrap(node, "(", " + %s)" % n)

    def around(self, node, text):
        """A constant, with the rest of its statement, so that one can tell which."""
        s, e = self.span(node)
        first = max(self.text.rfind(c, 0, s) for c in ";{}") + 1
        line = self.text.rfind("\n", 0, s) + 1
        first = max(first, line)
        last = self.text.find("\n", e)
        return self.text[first:s] + text + self.text[e:last]


def key(m):
    """What names a mutant, also after other lines have changed."""
    return (m.file, m.function, m.old, m.new, m.nth)


def lot(m, seed=""):
    """Drawn by lot, the same in every run of that seed: of too many in a room the lowest are played."""
    return hashlib.sha256("\t".join(map(str, (*key(m), *([seed] if seed else [])))).encode()).hexdigest()
