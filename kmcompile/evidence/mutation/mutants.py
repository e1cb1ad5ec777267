"""Small faults in a C file: where they can be made, and what they change."""

from __future__ import annotations

import random
import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kmcompile.evidence.mutation.tokens import Token, tokens

_SWAPS = {
    "+": ("-",),
    "-": ("+",),
    "*": ("/",),
    "/": ("*",),
    "%": ("/",),
    "<<": (">>",),
    ">>": ("<<",),
    "&": ("|",),
    "|": ("&",),
    "^": ("&",),
    "+=": ("-=",),
    "-=": ("+=",),
    "*=": ("/=",),
    "/=": ("*=",),
    "|=": ("&=",),
    "&=": ("|=",),
    "^=": ("|=",),
    "<<=": (">>=",),
    ">>=": ("<<=",),
    "++": ("--",),
    "--": ("++",),
}
_COMPARISONS = {
    "<": ("<=", ">="),
    "<=": ("<", ">"),
    ">": (">=", "<="),
    ">=": (">", "<"),
    "==": ("!=",),
    "!=": ("==",),
    "&&": ("||",),
    "||": ("&&",),
}
_OF_EQUALS = frozenset((("<", "<="), ("<=", "<"), (">", ">="), (">=", ">")))
_BINARY_ONLY = frozenset("+-*&")
_TRUTH = {"true": "false", "false": "true"}
_NOT_OF_A_STATEMENT = frozenset(
    ("return", "break", "const", "static", "for", "while", "if", "else", "do", "switch", "case")
)
_GOES_ON = frozenset(
    ("=", "+=", "-=", "*=", "/=", "|=", "&=", "^=", "<<=", ">>=", "(", "[", ".", "->", "++", "--")
)
"""What follows the first word of an assignment or a call."""

_TABLE = re.compile(r"^static [^;(]*?= \{(?P<values>.*?)^\}(?: \})?;", re.M | re.S)
_BODY = re.compile(r"^\{\n.*?^\}", re.M | re.S)
_DEFINE = re.compile(r"^#define \w+ (\d+)(UL?)\b", re.M)
_TYPE = re.compile(r"(?:\w+_t|float|double|int|bool|char|void)\Z")
_SINGLE = struct.Struct("<f")
_DOUBLE = struct.Struct("<d")


@dataclass(frozen=True, slots=True)
class Mutant:
    """A C file with one small fault.

    Attributes
    ----------
    kind : str
        Of the fault: "operator", "comparison", "constant", "index", "condition", "statement",
        "truth" or "table".
    start, end : int
        The part of the text that is replaced.
    replacement : str
    """

    kind: str
    start: int
    end: int
    replacement: str

    def applied(self, source: str) -> str:
        """Return the file with the fault."""
        return source[: self.start] + self.replacement + source[self.end :]

    def told(self, source: str) -> str:
        """Return the line of the fault, and what stands in it instead."""
        line = source.count("\n", 0, self.start) + 1
        first = source.rfind("\n", 0, self.start) + 1
        last = source.find("\n", self.end)
        before = " ".join(source[first:last].split())
        after = " ".join(
            (source[first : self.start] + self.replacement + source[self.end : last]).split()
        )
        return f"line {line}, {self.kind}: {before} -> {after}"

    def argument(self, source: str) -> str | None:
        """Return why no vector may find the fault, where its form alone says it, or None."""
        if (source[self.start : self.end].strip(), self.replacement.strip()) in _OF_EQUALS:
            return (
                "it differs only where both sides are equal, which no vector meets or which gives "
                "the same words there"
            )
        return None


def sites(source: str, active: frozenset[int]) -> dict[str, list[Mutant]]:
    """Return every fault that is made, by its kind.

    Parameters
    ----------
    source : str
        The C file.
    active : frozenset of int
        The lines that the preprocessor of the host leaves.
    """
    found: dict[str, list[Mutant]] = {}
    for mutant in _all(source):
        line = source.count("\n", 0, mutant.start) + 1
        if mutant.kind == "table" or line in active or source[mutant.start - 8 :].startswith("#"):
            found.setdefault(mutant.kind, []).append(mutant)
    return found


def sampled(found: dict[str, list[Mutant]], n: int, seed: str) -> list[Mutant]:
    """Return n different faults: a tenth of them in tables, the others anywhere in the code."""
    rng = random.Random(seed)
    of_tables = found.get("table", [])
    of_code = [one for kind, own in found.items() if kind != "table" for one in own]
    n_of_tables = min(len(of_tables), -(-n // 10))
    chosen = rng.sample(of_tables, n_of_tables)
    return chosen + rng.sample(of_code, min(len(of_code), n - n_of_tables))


def _all(source: str) -> Iterator[Mutant]:
    for found in _DEFINE.finditer(source):
        for value in (int(found[1]) + 1, int(found[1]) - 1):
            if value >= 0:
                yield Mutant("constant", found.start(1), found.end(1), str(value))
    for found in _TABLE.finditer(source):
        if "_tables[" not in found[0].split("=")[0]:
            yield from _of_table(source, found.start("values"), found.end("values"))
    for body in _BODY.finditer(source):
        own = [
            Token(one.kind, one.text, one.start + body.start(), one.end + body.start())
            for one in tokens(body[0])
        ]
        yield from _of_body(source, own)


def _of_table(source: str, start: int, end: int) -> Iterator[Mutant]:
    rng = random.Random(start)
    for one in tokens(source[start:end]):
        if one.kind == "number":
            changed = flipped(one.text, rng)
            yield Mutant("table", start + one.start, start + one.end, changed)


def _of_body(source: str, own: Sequence[Token]) -> Iterator[Mutant]:
    rng = random.Random(own[0].start)
    for n in range(1, len(own) - 1):
        before, one, after = own[n - 1 : n + 2]
        if one.kind == "number":
            if not _is_length(own, n):
                yield from _of_number(one, rng)
        elif one.text in _TRUTH:
            yield Mutant("truth", one.start, one.end, _TRUTH[one.text])
        elif one.text in _COMPARISONS:
            for other in _COMPARISONS[one.text]:
                yield Mutant("comparison", one.start, one.end, other)
        elif one.text in _SWAPS and (one.text not in _BINARY_ONLY or _is_binary(before, after)):
            for other in _SWAPS[one.text]:
                yield Mutant("operator", one.start, one.end, other)
        elif one.text == "]" and _is_index(own, n):
            yield Mutant("index", one.start, one.start, " + 1U")
        elif one.text == "(" and before.text == "if":
            end = own[_closing(own, n)].start
            yield Mutant("condition", one.end, end, f"!({source[one.end : end]})")
        if before.text in (";", "{", "}") and _begins_statement(one, after):
            end = next(k for k in range(n, len(own)) if own[k].text == ";")
            if all(other.text not in "{}" for other in own[n:end]):
                yield Mutant("statement", one.start, own[end].start, "")


def _closing(own: Sequence[Token], n: int) -> int:
    """Return the place of the bracket that closes the one at a place."""
    depth = 0
    for k in range(n, len(own)):
        depth += {"(": 1, ")": -1}.get(own[k].text, 0)
        if depth == 0:
            return k
    raise AssertionError("a bracket is not closed")


def _of_number(one: Token, rng: random.Random) -> Iterator[Mutant]:
    """Yield faults in a constant: 1 more and 1 less, or another bit of a float."""
    found = re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d+)([uUlL]*)", one.text)
    if found is None:
        yield Mutant("constant", one.start, one.end, flipped(one.text, rng, upper_half=True))
        return
    value = int(found[1], 0)
    for other in (value + 1, value - 1):
        if other >= 0:
            yield Mutant("constant", one.start, one.end, f"{other}{found[2]}")


def flipped(text: str, rng: random.Random, upper_half: bool = False) -> str:
    """Return a number of C with one bit changed.

    Parameters
    ----------
    text : str
        An integer or a float of C.
    upper_half : bool
        Whether the bit of a float is one of the upper half of its mantissa, and 0 becomes 1:
        where a float is one term of a series, rounding takes what lower bits change.

    Examples
    --------
    >>> flipped("4U", random.Random(2))
    '5U'
    """
    found = re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d+)([uUlL]*)", text)
    if found is not None:
        whole = int(found[1], 0)
        return f"{whole ^ (1 << rng.randrange(max(whole.bit_length(), 1)))}{found[2]}"
    single = text[-1] in "fF"
    number = text[:-1] if single else text
    value = float.fromhex(number) if number[:2] in ("0x", "0X") else float(number)
    if upper_half and value == 0.0:
        return "1.0f" if single else "1.0"
    layout, n_bits = (_SINGLE, 23) if single else (_DOUBLE, 52)
    bits = int.from_bytes(layout.pack(value), "little")
    bits ^= 1 << rng.randrange(n_bits // 2 if upper_half else 0, n_bits)
    (changed,) = layout.unpack(bits.to_bytes(layout.size, "little"))
    return f"{changed.hex()}{'f' if single else ''}"


def _is_binary(before: Token, after: Token) -> bool:
    """Return whether a sign between two tokens takes an operand on either side."""
    if before.kind == "word":
        return _TYPE.match(before.text) is None and before.text not in _NOT_OF_A_STATEMENT
    return before.kind == "number" or before.text in (")", "]")


def _is_length(own: Sequence[Token], n: int) -> bool:
    """Return whether a number is the length of an array that is declared."""
    if own[n - 1].text != "[" or own[n + 1].text != "]" or own[n + 2].text not in (";", "="):
        return False
    begin = next((k for k in range(n, 0, -1) if own[k].text in (";", "{", "}")), 0)
    return (
        own[begin + 1].text in ("const", "static") or _TYPE.match(own[begin + 1].text) is not None
    )


def _is_index(own: Sequence[Token], n: int) -> bool:
    """Return whether a bracket ends an index that is not a constant."""
    if own[n - 2].text == "[":
        return own[n - 1].kind == "word" and not own[n - 1].text.isupper()
    return True


def _begins_statement(one: Token, after: Token) -> bool:
    """Return whether a token begins an assignment or a call, and no declaration."""
    if one.kind != "word" or one.text in _NOT_OF_A_STATEMENT:
        return one.text in ("++", "--", "*")
    return after.text in _GOES_ON
