"""Counts data members and functions of C++ classes, and names their mutexes, by their text.

No compiler is asked, so that the check needs no build: the source is cut into tokens, a class is
found by its head, and each declaration in its body is a function, a type, or one member for each
declarator. Static members and those of bases do not count; nested classes count by themselves.
"""

import collections
import re

# functions: constructors and operators, too, each declaration. mutexes: the names of those members
# that are one.
Class = collections.namedtuple("Class", "name line members functions mutexes")

TOKEN = re.compile(r"""
    //[^\n]* | /\*.*?\*/ | ^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*         # comments and preprocessor: none
  | (?P<token> R"(?P<d>[^(\s]*)\(.*?\)(?P=d)" | "(?:\\.|[^"\\\n])*" | \d(?:'?[\w.])*
  | '(?:\\.|[^'\\\n])+' | \w+ | :: | -> | <=>? | >= | [=!]= | [^\s\w] )""",
                   re.VERBOSE | re.DOTALL | re.MULTILINE)
CLOSING = {"(": ")", "[": "]", "{": "}"}
CLASS_WORDS = ("class", "struct", "union")
MUTEXES = ("Mutex", "FifoMutex")
NO_DATA = {"using", "typedef", "friend", "static_assert", "static", "extern", "template"}
# Parentheses behind these are no parameters. Macros (GUARDED_BY) are known by their capitals.
NO_FUNCTION = {"alignas", "decltype", "__attribute__", "noexcept", "explicit"}


def is_name(token):
    return token[0].isalpha() or token[0] == "_"


def is_macro(token):
    return is_name(token) and len(token) > 1 and token.upper() == token


class Source:
    """The tokens of a file, and for each opening parenthesis the place of its closing one."""

    def __init__(self, text):
        found = [match for match in TOKEN.finditer(text) if match["token"]]
        self.tokens = [match["token"] for match in found]
        self.starts = [match.start() for match in found]
        self.text = text
        self.end_of = {}
        opened = []
        for at, token in enumerate(self.tokens):
            if token in CLOSING:
                opened.append(at)
            elif token in CLOSING.values():
                # Branches of #if may leave one open.
                while opened and CLOSING[self.tokens[opened[-1]]] != token:
                    self.end_of[opened.pop()] = at
                if opened:
                    self.end_of[opened.pop()] = at
        for at in opened:
            self.end_of[at] = len(self.tokens)

    def get(self, at):
        return self.tokens[at] if 0 <= at < len(self.tokens) else ""

    def line(self, at):
        return self.text.count("\n", 0, self.starts[at]) + 1

    def after_angle(self, at, end):
        """Behind the `>` that closes the `<` at `at`; None if there is none before a `;`."""
        depth = 0
        while at < end:
            token = self.tokens[at]
            if token in CLOSING:
                at = self.end_of[at]
            elif token == "<":
                depth += 1
            elif token == ">":
                depth -= 1
                if depth == 0:
                    return at + 1
            elif token == ";":
                return None
            at += 1
        return None

    def class_head(self, at):
        """(name, where its body opens) of the `class`, `struct` or `union` at `at`, or None if no
        body follows: a declaration, a parameter of a template, part of a type."""
        name = ""
        at += 1
        while (token := self.get(at)) not in ("{", ":", ""):
            if token == "final":
                pass
            elif is_name(token):
                if name and not is_macro(name) and self.get(at - 1) != "::":
                    return None  # a variable: `struct stat found{}`
                name = f"{name}::{token}" if name and self.get(at - 1) == "::" else token
            elif token in ("(", "["):  # of a macro or an attribute, before the name
                at = self.end_of[at]
                if self.get(at + 1) in ("{", "const", "noexcept", "override"):
                    return None  # a function that returns it
            elif token == "<":
                behind = self.after_angle(at, len(self.tokens))
                if behind is None:
                    return None
                at = behind - 1
            elif token != "::":
                return None
            at += 1
        while self.get(at) not in ("{", ";", ""):
            at += 1
        return (name, at) if self.get(at) == "{" else None


class Declaration:
    """One declaration in the body of a class, from `at`; `end` is where the body ends."""

    def __init__(self, source, at, end):
        self.source, self.begin, self.limit = source, at, end
        self.function = self.value = False  # it has parameters; behind the `=` of a member
        self.commas = 0
        self.body = None  # of a type that is declared here
        self.end = self.read(at)
        self.members = self.count()

    def mutex(self):
        """The name of the member if it is a mutex, or None."""
        words = self.source.tokens[self.begin:self.end]
        type_at = 1 if words[0] == "mutable" else 0
        if self.members == 1 and words[type_at] in MUTEXES and is_name(words[type_at + 1]):
            return words[type_at + 1]
        return None

    def read(self, at):
        source = self.source
        if source.get(at) == "template":
            at = source.after_angle(at + 1, self.limit) or self.limit
        defines_type = source.get(at) == "enum" or (
            source.get(at) in CLASS_WORDS and source.class_head(at) is not None)
        while at < self.limit:
            token = source.tokens[at]
            if token == ";":
                return at + 1
            if token == "operator":
                self.function = True
                while source.get(at) not in ("(", ""):
                    at += 1
                if source.get(at + 1) == ")" and source.get(at + 2) == "(":
                    at += 2
                at = source.end_of.get(at, self.limit)
            elif token == "(":
                self.function |= self.is_parameters(at)
                at = source.end_of[at]
            elif token == "[":
                at = source.end_of[at]
            elif token == "{":
                if self.function:
                    return source.end_of[at] + 1
                if defines_type and self.body is None and not self.value:
                    self.body = at
                at = source.end_of[at]
            elif token == ":" and self.function:
                return self.behind_constructor(at + 1)
            elif token == "<":
                at = (self.template_arguments(at) or at + 1) - 1
            elif token == "=":
                self.value = True
            elif token == ",":
                self.commas += 1
                self.value = False
            at += 1
        return self.limit

    def is_parameters(self, at):
        if self.value or self.function:
            return False
        before = self.source.get(at - 1)
        pointer = self.source.get(at + 1) == "*" or before == ")"
        return not pointer and not is_macro(before) and before not in NO_FUNCTION

    def template_arguments(self, at):
        """Behind them, or None if the `<` at `at` compares."""
        behind = self.source.after_angle(at, self.limit)
        if behind is None or not self.value:
            return behind
        return behind if self.source.get(behind) in ("(", "{", "::", ";", ",") else None

    def behind_constructor(self, at):
        """Behind the body that follows a list of initialisers: `a_(1), b_{2} {}`."""
        source = self.source
        while at < self.limit:
            while at < self.limit and source.tokens[at] not in ("(", "{"):
                at += 1
            at = source.end_of.get(at, self.limit) + 1
            if source.get(at) == "...":
                at += 1
            if source.get(at) != ",":
                break
        return source.end_of.get(at, self.limit) + 1

    def count(self):
        source = self.source
        words = source.tokens[self.begin:self.end]
        head = set(words[:next((at for at, word in enumerate(words) if word in "={(<"), None)])
        if self.function or head & NO_DATA:
            return 0
        if self.body is not None:
            behind = source.end_of[self.body] + 1
            if source.get(behind) != ";":
                return 1 + self.commas
            unnamed = self.body == self.begin + 1 and words[0] != "enum"
            return count_members(source, self.body) if unnamed else 0
        names = [word for word in words if is_name(word) and not is_macro(word)]
        if words[0] in {*CLASS_WORDS, "enum"} and len(names) < 3:
            return 0  # declared only
        return 1 + self.commas if len(names) > 1 else 0


def declarations(source, body):
    """Yields those in the class whose body opens at `body`."""
    at, end = body + 1, source.end_of[body]
    while at < end:
        if source.tokens[at] in ("public", "protected", "private") and source.get(at + 1) == ":":
            at += 2
            continue
        if source.tokens[at] == ";":
            at += 1
            continue
        declaration = Declaration(source, at, end)
        yield declaration
        at = max(declaration.end, at + 1)


def count_members(source, body):
    """Of the class whose body opens at `body`."""
    return sum(declaration.members for declaration in declarations(source, body))


def classes(text):
    """Yields the classes of a source, each with the names of those around it."""
    source = Source(text)
    around = []  # (where it ends, its name)
    for at, token in enumerate(source.tokens):
        while around and at > around[-1][0]:
            around.pop()
        if token not in CLASS_WORDS or source.get(at - 1) == "enum":
            continue
        head = source.class_head(at)
        if head is None:
            continue
        name, body = head
        around.append((source.end_of[body], name or "(unnamed)"))
        full = "::".join(name for _, name in around)
        inside = list(declarations(source, body))
        mutexes = [name for name in (one.mutex() for one in inside) if name]
        yield Class(full, source.line(at), sum(one.members for one in inside),
                    sum(one.function for one in inside), mutexes)
