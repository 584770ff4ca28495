"""Parts of pickles and archives, put together by hand: as no honest program writes them."""

import io
import struct
import zipfile

from foregrad._saving.archive import ArchiveWriter

PROTO, STOP, MARK, REDUCE, BUILD = b"\x80\x02", b".", b"(", b"R", b"b"
NO_HOOKS = b"ccollections\nOrderedDict\n)R"


def name(module, thing):
    """The instruction that asks for a class or function."""
    return f"c{module}\n{thing}\n".encode()


def value(thing):
    """Instructions that make a plain value."""
    if isinstance(thing, bytes):  # instructions already
        return thing
    if thing is None:
        return b"N"
    if isinstance(thing, bool):
        return b"\x88" if thing else b"\x89"
    if isinstance(thing, int):
        data = thing.to_bytes(thing.bit_length() // 8 + 1, "little", signed=True)
        return b"\x8a" + bytes([len(data)]) + data
    if isinstance(thing, float):
        return b"G" + struct.pack(">d", thing)
    if isinstance(thing, str):
        data = thing.encode()
        return b"X" + struct.pack("<I", len(data)) + data
    items = b"".join(value(each) for each in thing)
    return b"(" + items + (b"t" if isinstance(thing, tuple) else b"l")


def call(module, thing, *arguments):
    """A call of a class or function."""
    return name(module, thing) + value(arguments) + REDUCE


def storage(count=4, key="0", kind="FloatStorage", location="cpu"):
    """A reference to memory."""
    return value(("storage", name("torch", kind), key, location, count)) + b"Q"


def tensor(memory=None, offset=0, size=(4,), stride=(1,), requires_grad=False, hooks=NO_HOOKS):
    """A tensor over memory."""
    memory = storage() if memory is None else memory
    return call("torch._utils", "_rebuild_tensor_v2", memory, offset, size, stride, requires_grad,
                hooks)


def pickle_of(*parts):
    return PROTO + b"".join(map(value, parts)) + STOP


def archive(data, records=None, folder="archive", order=b"little", version=b"3\n"):
    """An archive with a pickle and records; by default 16 bytes under data/0."""
    out = io.BytesIO()
    writer = ArchiveWriter(out.write, folder)
    writer.add("data.pkl", data)
    writer.add("byteorder", order)
    for key, content in ({"0": bytes(16)} if records is None else records).items():
        writer.add(f"data/{key}", content)
    writer.add("version", version)
    writer.close()
    return out.getvalue()


def zipped(entries, method=zipfile.ZIP_STORED):
    """An archive as the module zipfile writes it, of (name, bytes)."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as file:
        for path, content in entries:
            file.writestr(zipfile.ZipInfo(path) if method == 0 else path, content)
    return out.getvalue()
