"""Names that the code of a function mentions, modules that it imports, and how it uses them."""

import opcode
import sys
import types

_IMPORT = opcode.opmap["IMPORT_NAME"]
_STORE_GLOBAL = opcode.opmap["STORE_GLOBAL"]
_LOAD_GLOBAL = opcode.opmap["LOAD_GLOBAL"]
_BY_TEXT = {"getattr", "hasattr", "setattr", "delattr"}
_LOADS = ("LOAD_ATTR", "LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FAST")


def codes_in(code):
    """A code object, and those of the functions and classes that it makes."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_in(constant)


def names_in(code):
    """Names of variables and attributes that code mentions; nested code is not looked at."""
    names = set(code.co_names)
    if names & _BY_TEXT:
        names.update(text for text in code.co_consts
                     if isinstance(text, str) and text.isidentifier())
    if "format" in names or "format_map" in names:  # "{o.scale}" reads an attribute
        for text in code.co_consts:
            if isinstance(text, str) and "{" in text:
                names.update("".join(c if c.isidentifier() else " " for c in text).split())
    return names


def globals_loaded_in(code):
    """Global variables that code reads, with builtins; nested code is not looked at."""
    return set(_named(code, _LOAD_GLOBAL)) if _LOAD_GLOBAL in code.co_code[::2] else set()


def names_tried_in(code):
    """Names that code mentions and that may not be there: it handles exceptions, or asks."""
    asks = "hasattr" in code.co_names or "getattr" in code.co_names
    return names_in(code) if asks or getattr(code, "co_exceptiontable", True) else set()


def globals_stored_in(code):
    """Global variables that code and its nested code set."""
    found = set()
    for one in codes_in(code):
        if _STORE_GLOBAL in one.co_code[::2]:
            found.update(_named(one, _STORE_GLOBAL))
    return found


def _named(code, wanted):
    """The names in the instructions of one kind."""
    extended = 0
    for at in range(0, len(code.co_code), 2):
        operation, argument = code.co_code[at], code.co_code[at + 1] | extended
        extended = argument << 8 if operation == opcode.EXTENDED_ARG else 0
        if operation == wanted:
            flagged = wanted == _LOAD_GLOBAL and sys.version_info >= (3, 11)
            yield code.co_names[argument >> 1 if flagged else argument]


def modules_in(code, variables):
    """The modules that code imports when it runs; None among them: one that is not loaded yet."""
    if _IMPORT not in code.co_code[::2]:
        return []
    return [module for name in _named(code, _IMPORT)
            for module in _modules_named(name, variables.get("__package__"))]


def _modules_named(name, package):
    """A module by its name, absolute or relative to a package, and the packages it is in."""
    names = [name]
    while package:
        names.append(f"{package}.{name}" if name else package)
        package = package.rpartition(".")[0]
    found = [sys.modules[one] for one in names if one in sys.modules]
    if name and not found:
        return [None]
    return found + [sys.modules[one.partition(".")[0]] for one in names
                    if one.partition(".")[0] in sys.modules]


def values_loaded(code):
    """Names of variables and attributes that code loads as values: neither to call them at once,
    nor for what is in them."""
    import dis  # slow to load, and seldom needed
    instructions = list(dis.get_instructions(code))
    called = False  # whether the chain of names is called: NULL stands below a callable
    for at, one in enumerate(instructions):
        before, after = instructions[at - 1], instructions[min(at + 1, len(instructions) - 1)]
        if one.opname not in _LOADS:
            continue
        if one.opname != "LOAD_ATTR" or before.opname not in _LOADS:
            called = before.opname == "PUSH_NULL"
        called = called or "NULL" in one.argrepr or after.opname in ("PUSH_NULL", "CALL_FUNCTION")
        if not called and after.opname not in ("LOAD_METHOD", "LOAD_ATTR"):
            yield one.argval


# Names that reach attributes and variables whose names the code does not mention.
REACHES_ALL = {"getattr", "vars", "__dict__", "globals", "locals", "eval", "exec", "dir",
               "__getattribute__", "__getattr__", "attrgetter"}
BUILTINS_ONLY = {"eval", "exec"}  # methods may have these names, too


def reaches_all_in(code):
    """Whether code may read variables or attributes whose names it does not mention."""
    found = REACHES_ALL.intersection(code.co_names)
    return bool(found - BUILTINS_ONLY or found & globals_loaded_in(code))


def appends_only(codes, names):
    """Whether all that code does with variables and attributes of these names is to append."""
    import dis
    if None in names:
        return False
    for code in codes:
        if reaches_all_in(code):
            return False
        if not names.intersection(code.co_names + code.co_freevars + code.co_cellvars):
            continue
        instructions = list(dis.get_instructions(code))
        for one, after in zip(instructions, instructions[1:]):
            if one.argval in names and one.opname not in ("LOAD_CONST", "LOAD_METHOD"):
                loads = one.opname.startswith("LOAD_")
                if not loads or after.opname not in ("LOAD_METHOD", "LOAD_ATTR") or (
                        after.argval not in ("append", "extend")):
                    return False
    return True
