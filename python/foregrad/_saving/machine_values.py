"""Instructions of pickles that make plain values: numbers, texts, bytes, empty containers."""

from __future__ import annotations

import codecs
import pickle

_MOST_DIGITS = 4000  # of an integer in decimal, which takes time that grows with the square
VALUES = {}  # functions of the machine by the code of the instruction


def adder(table):
    """The decorator that adds a function to a table under the names of instructions."""
    def operation(*names):
        def add(function):
            for name in names:
                table[getattr(pickle, name)[0]] = function
            return function
        return add
    return operation


_operation = adder(VALUES)


def _constant(name, make):
    VALUES[getattr(pickle, name)[0]] = lambda machine: machine.stack.append(make())


for _name, _make in (("NONE", lambda: None), ("NEWTRUE", lambda: True), ("NEWFALSE", lambda: False),
                     ("EMPTY_TUPLE", tuple), ("EMPTY_LIST", list), ("EMPTY_DICT", dict),
                     ("EMPTY_SET", set)):
    _constant(_name, _make)


# ---- numbers

def decimal(digits):
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"an integer of {len(digits)} digits")
    return int(digits)


@_operation("INT")
def _int(machine):
    line = machine.line()
    boolean = {b"00": False, b"01": True}
    machine.stack.append(boolean[line] if line in boolean else decimal(line))


@_operation("LONG")
def _long(machine):
    machine.stack.append(decimal(machine.line().removesuffix(b"L")))


@_operation("BININT")
def _binint(machine):
    machine.stack.append(machine.number("<i"))


@_operation("BININT1")
def _binint1(machine):
    machine.stack.append(machine.take(1)[0])


@_operation("BININT2")
def _binint2(machine):
    machine.stack.append(machine.number("<H"))


@_operation("LONG1")
def _long1(machine):
    machine.stack.append(int.from_bytes(machine.take(machine.take(1)[0]), "little", signed=True))


@_operation("LONG4")
def _long4(machine):
    data = machine.take(machine.number("<i"))
    machine.stack.append(int.from_bytes(data, "little", signed=True))


@_operation("FLOAT")
def _float(machine):
    machine.stack.append(float(machine.line()))


@_operation("BINFLOAT")
def _binfloat(machine):
    machine.stack.append(machine.number(">d"))


# ---- texts and bytes

def _text(form):
    def push(machine):
        machine.stack.append(str(machine.take(machine.number(form)), "utf-8", "surrogatepass"))
    return push


def _bytes(form, kind=bytes):
    def push(machine):
        machine.stack.append(kind(machine.take(machine.number(form))))
    return push


def _old_text(form):
    def push(machine):
        machine.stack.append(_decoded(machine, machine.take(machine.number(form))))
    return push


def _decoded(machine, data):
    """Text of Python 2, which had one kind for text and bytes."""
    return bytes(data) if machine.encoding == "bytes" else str(data, machine.encoding)


for _code, _push in ((pickle.SHORT_BINUNICODE, _text("<B")), (pickle.BINUNICODE, _text("<I")),
                     (pickle.BINUNICODE8, _text("<Q")), (pickle.SHORT_BINBYTES, _bytes("<B")),
                     (pickle.BINBYTES, _bytes("<I")), (pickle.BINBYTES8, _bytes("<Q")),
                     (pickle.BYTEARRAY8, _bytes("<Q", bytearray)),
                     (pickle.SHORT_BINSTRING, _old_text("<B")),
                     (pickle.BINSTRING, _old_text("<i"))):
    VALUES[_code[0]] = _push


@_operation("STRING")
def _string(machine):
    line = machine.line()
    if len(line) < 2 or line[:1] != line[-1:] or line[:1] not in b"'\"":
        raise ValueError("a text without quotes")
    machine.stack.append(_decoded(machine, codecs.escape_decode(line[1:-1])[0]))


@_operation("UNICODE")
def _unicode(machine):
    machine.stack.append(str(machine.line(), "raw-unicode-escape"))
