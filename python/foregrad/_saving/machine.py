"""Machine: runs the instructions of a pickle, and leaves to rules anything that is not plain data.

A pickle is a program for a small machine with a stack. Numbers, texts, bytes, lists, tuples and
dictionaries are made here; names, calls, and changes of objects go to the rules, which may refuse.
Anything wrong is an UnpicklingError that says at which byte. Nothing that a file claims about a
length is believed before the bytes are there.
"""

from __future__ import annotations

import pickle
import struct

from foregrad._saving.machine_values import VALUES, adder, decimal

_REFUSED = {getattr(pickle, name)[0]: name for name in (
    "INST", "OBJ", "EXT1", "EXT2", "EXT4", "NEXT_BUFFER", "READONLY_BUFFER")}
_NAMES = {getattr(pickle, name)[0]: name for name in dir(pickle)
          if name.isupper() and isinstance(getattr(pickle, name), bytes)
          and len(getattr(pickle, name)) == 1}
_STOP = pickle.STOP[0]
_RULED = b"".join((pickle.REDUCE, pickle.NEWOBJ, pickle.NEWOBJ_EX, pickle.BUILD))
_operations = dict(VALUES)
_operation = adder(_operations)


class Machine:
    """One run over a pickle in `data`, from `start` on; `position` is then behind its end."""

    def __init__(self, data, rules, start=0, encoding="ASCII"):
        self.data, self.rules, self.position, self.encoding = data, rules, start, encoding
        self.stack, self.marked, self.memo, self.protocol = [], [], {}, 0
        self.asks_for_memory = False

    def run(self):
        """The object that the pickle describes."""
        while True:
            start = self.position
            code = None
            try:
                code = self.data[start]
                self.position = start + 1
                if code == _STOP:
                    return self.stack.pop()
                _operations[code](self)
            except pickle.UnpicklingError:
                raise
            except Exception as error:  # also of classes that the user trusts
                if self.asks_for_memory:
                    raise
                raise _broken(self, start, code, error) from error

    # ---- bytes

    def take(self, count):
        """The next bytes."""
        end = self.position + count
        if count < 0 or end > len(self.data):
            raise EOFError(f"it claims {count} bytes, and {len(self.data) - self.position} follow")
        taken = self.data[self.position:end]
        self.position = end
        return taken

    def number(self, form):
        """The next bytes as a number."""
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def line(self):
        """The text up to the end of the line."""
        end = self.data.find(b"\n", self.position)
        if end < 0:
            raise EOFError("a line without an end")
        taken = self.data[self.position:end]
        self.position = end + 1
        return taken

    # ---- the stack

    def items(self):
        """The objects since the last mark, which goes."""
        items, self.stack = self.stack, self.marked.pop()
        return items


def _broken(machine, start, code, error):
    if code is None:
        return pickle.UnpicklingError("load: the file's pickle cannot be read: it ends at byte "
                                      f"{start} without an end")
    if code not in _operations and code != _STOP:
        return pickle.UnpicklingError(f"load: the file's pickle cannot be read: byte {start} is "
                                      f"{code:#04x}, which is no instruction of a pickle")
    reason = f"{type(error).__name__}: {error}"
    if isinstance(error, KeyError) and "GET" in _NAMES[code]:
        reason = f"nothing is stored under {error}"
    elif isinstance(error, IndexError) and code not in _RULED:
        reason = "the stack is empty"
    return pickle.UnpicklingError(f"load: the file's pickle cannot be read: {_NAMES[code]} at byte "
                                  f"{start}: {reason}")


def _refused(name):
    def refuse(machine):
        raise pickle.UnpicklingError(
            f"load: the file's pickle has the instruction {name} at byte {machine.position - 1}, "
            "which files of tensors do not need; if you trust the file, pass weights_only=False, "
            "which may run any code that the file names")
    return refuse


for _code, _name in _REFUSED.items():
    _operations[_code] = _refused(_name)


@_operation("PROTO")
def _proto(machine):
    machine.protocol = machine.take(1)[0]
    if machine.protocol > pickle.HIGHEST_PROTOCOL:
        raise ValueError(f"the protocol is {machine.protocol}; expected at most "
                         f"{pickle.HIGHEST_PROTOCOL}")


@_operation("FRAME")
def _frame(machine):
    size = machine.number("<Q")
    if size > len(machine.data) - machine.position:
        raise EOFError(f"a frame of {size} bytes is not there")


# ---- the stack and the memo

@_operation("MARK")
def _mark(machine):
    machine.marked.append(machine.stack)
    machine.stack = []


@_operation("POP")
def _pop(machine):
    if machine.stack:
        machine.stack.pop()
    else:
        machine.items()


@_operation("POP_MARK")
def _pop_mark(machine):
    machine.items()


@_operation("DUP")
def _dup(machine):
    machine.stack.append(machine.stack[-1])


@_operation("PUT")
def _put(machine):
    machine.memo[decimal(machine.line())] = machine.stack[-1]


@_operation("BINPUT")
def _binput(machine):
    machine.memo[machine.take(1)[0]] = machine.stack[-1]


@_operation("LONG_BINPUT")
def _long_binput(machine):
    machine.memo[machine.number("<I")] = machine.stack[-1]


@_operation("MEMOIZE")
def _memoize(machine):
    machine.memo[len(machine.memo)] = machine.stack[-1]


@_operation("GET")
def _get(machine):
    machine.stack.append(machine.memo[decimal(machine.line())])


@_operation("BINGET")
def _binget(machine):
    machine.stack.append(machine.memo[machine.take(1)[0]])


@_operation("LONG_BINGET")
def _long_binget(machine):
    machine.stack.append(machine.memo[machine.number("<I")])


# ---- containers

@_operation("TUPLE1", "TUPLE2", "TUPLE3")
def _short_tuple(machine):
    count = machine.data[machine.position - 1] - pickle.TUPLE1[0] + 1
    if len(machine.stack) < count:
        raise IndexError
    machine.stack[-count:] = [tuple(machine.stack[-count:])]


@_operation("TUPLE")
def _tuple(machine):
    items = machine.items()
    machine.stack.append(tuple(items))


@_operation("LIST")
def _list(machine):
    items = machine.items()
    machine.stack.append(items)


@_operation("DICT")
def _dict(machine):
    made = {}
    machine.rules.set_items(made, _pairs(machine.items()))
    machine.stack.append(made)


@_operation("FROZENSET")
def _frozenset(machine):
    items = machine.items()
    machine.rules.check_keys(items)
    machine.stack.append(frozenset(items))


def _pairs(items):
    if len(items) % 2:
        raise ValueError("a key without a value")
    return list(zip(items[::2], items[1::2]))


@_operation("APPEND")
def _append(machine):
    value = machine.stack.pop()
    machine.rules.append(machine.stack[-1], [value])


@_operation("APPENDS")
def _appends(machine):
    items = machine.items()
    machine.rules.append(machine.stack[-1], items)


@_operation("SETITEM")
def _setitem(machine):
    value, key = machine.stack.pop(), machine.stack.pop()
    machine.rules.set_items(machine.stack[-1], [(key, value)])


@_operation("SETITEMS")
def _setitems(machine):
    items = machine.items()
    machine.rules.set_items(machine.stack[-1], _pairs(items))


@_operation("ADDITEMS")
def _additems(machine):
    items = machine.items()
    machine.rules.add(machine.stack[-1], items)


# ---- names, calls and changes: for the rules

def _named(machine, module, name):
    if type(module) is not str or type(name) is not str:
        raise TypeError("the name of a class is no text")
    machine.stack.append(machine.rules.find(module, name))


@_operation("GLOBAL")
def _global(machine):
    module = str(machine.line(), "utf-8")
    _named(machine, module, str(machine.line(), "utf-8"))


@_operation("STACK_GLOBAL")
def _stack_global(machine):
    name, module = machine.stack.pop(), machine.stack.pop()
    _named(machine, module, name)


def _push_memory(machine, reference):
    # Errors of devices, of the user's map_location and of a damaged file are said as they are.
    machine.asks_for_memory = True
    machine.stack.append(machine.rules.persistent(reference))
    machine.asks_for_memory = False


@_operation("PERSID")
def _persid(machine):
    _push_memory(machine, str(machine.line(), "ascii"))


@_operation("BINPERSID")
def _binpersid(machine):
    _push_memory(machine, machine.stack.pop())


def _arguments(machine):
    arguments = machine.stack.pop()
    if type(arguments) is not tuple:
        raise TypeError(f"the arguments are a {type(arguments).__name__}, not a tuple")
    return arguments


@_operation("REDUCE")
def _reduce(machine):
    arguments = _arguments(machine)
    machine.stack[-1] = machine.rules.call(machine.stack[-1], arguments)


@_operation("NEWOBJ")
def _newobj(machine):
    arguments = _arguments(machine)
    machine.stack[-1] = machine.rules.new(machine.stack[-1], arguments, {})


@_operation("NEWOBJ_EX")
def _newobj_ex(machine):
    options = machine.stack.pop()
    if type(options) is not dict or any(type(name) is not str for name in options):
        raise TypeError("the named arguments are no dictionary of texts")
    arguments = _arguments(machine)
    machine.stack[-1] = machine.rules.new(machine.stack[-1], arguments, options)


@_operation("BUILD")
def _build(machine):
    state = machine.stack.pop()
    machine.rules.build(machine.stack[-1], state)
