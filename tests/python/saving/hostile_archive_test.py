"""Hostile and damaged files: refused with one sentence before anything is made of them."""

import io
import pickle
import random
import struct
import time
import zipfile

import foregrad as fg
import pytest
from foregrad import serialization
from pickle_parts import archive, pickle_of, storage, tensor, zipped

GOOD = pickle_of(tensor())
RECORDS = [("a/data.pkl", GOOD), ("a/byteorder", b"little"), ("a/data/0", bytes(16)),
           ("a/version", b"3\n")]


def load(data):
    return fg.load(io.BytesIO(data))


def renamed(old, new):
    """The archive with one name changed in all its places, without another change."""
    assert len(old) == len(new)
    return zipped(RECORDS).replace(old, new)


def with_entry(data, index, **fields):
    """The archive with fields of an entry of its directory changed."""
    offsets = {"flags": (8, "<H"), "method": (10, "<H"), "crc": (16, "<I"), "packed": (20, "<I"),
               "size": (24, "<I"), "place": (42, "<I")}
    data, position = bytearray(data), -1
    for _ in range(index + 1):
        position = data.index(b"PK\1\2", position + 1)
    for field, number in fields.items():
        offset, form = offsets[field]
        struct.pack_into(form, data, position + offset, number)
    return bytes(data)


def duplicated():
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return zipped([*RECORDS, ("a/data/0", bytes(16))])


CASES = {
    "an absolute name": (renamed(b"a/data/0", b"/xdata/0"), "of the name '/xdata/0'"),
    "a name above": (renamed(b"a/data/0", b"../ata/0"), "of the name '../ata/0'"),
    "a name above inside": (renamed(b"a/data/0", b"a/../x/0"), r"of the name 'a/\.\./x/0'"),
    "a name above of Windows": (renamed(b"a/data/0", b"a\\..\\x/0"), "of the name"),
    "a name with an end inside": (renamed(b"a/data/0", b"a/dat\0/0"), "of the name"),
    "an empty part": (renamed(b"a/data/0", b"a//ata/0"), "of the name 'a//ata/0'"),
    "one name twice": (duplicated(), "two records 'a/data/0'"),
    "two folders": (zipped([*RECORDS, ("b/data.pkl", GOOD)]), "no record data.pkl below one"),
    "no folder": (zipped([("data.pkl", GOOD)]), "no record data.pkl below one folder"),
    "no pickle": (zipped(RECORDS[1:]), "no record data.pkl"),
    "nothing": (zipped([]), "no record data.pkl"),
    "a program": (zipped([*RECORDS[1:], ("a/constants.pkl", b"")]), "torch.jit.save"),
    "a compressed record": (zipped(RECORDS, zipfile.ZIP_DEFLATED), "compressed or encrypted"),
    "a bomb": (zipped([("a/data.pkl", GOOD), ("a/data/0", bytes(10**8))], zipfile.ZIP_DEFLATED),
               "compressed or encrypted"),
    "an encrypted record": (with_entry(zipped(RECORDS), 2, flags=1), "compressed or encrypted"),
    "a size of gigabytes": (with_entry(zipped(RECORDS), 2, size=2**31, packed=2**31),
                            "lies where another one or the directory is"),
    "two records in one place": (with_entry(zipped(RECORDS), 2, place=0), "another name|lies"),
    "a record in the directory": (with_entry(zipped(RECORDS), 2, place=600), "has no header"),
    "a record behind the end": (with_entry(zipped(RECORDS), 2, place=2**31), "has no header"),
    "a wrong checksum": (with_entry(zipped(RECORDS), 2, crc=1234), "its checksum differs"),
    "a wrong checksum of the pickle": (with_entry(zipped(RECORDS), 0, crc=1), "checksum differs"),
    "changed bytes": (archive(GOOD, {"0": b"\1" * 16}).replace(b"\1" * 16, b"\1" * 15 + b"\2"),
                      "its checksum differs"),
    "another name in front": (zipped(RECORDS).replace(b"a/data/0", b"a/data/1", 1),
                              "another name in its own header"),
    "another order of bytes": (archive(GOOD, order=b"big"), "written with big-endian numbers"),
    "an unknown order": (archive(GOOD, order=b"middle"), "order of bytes is b'middle'"),
    "a version of tomorrow": (archive(GOOD, version=b"99\n"), "has version b'99'"),
    "a version of text": (archive(GOOD, version=b"x" * 100), "has version b'x"),
    "no more than a beginning": (b"PK\3\4", "no readable directory"),
    "an end without a directory": (b"PK\5\6" + b"\xff" * 18, "no readable directory|no record"),
    "text": (b"hello world, this is no file", "safetensors"),
    "a tar archive": (bytes(257) + b"ustar" + bytes(300), "tar archive of PyTorch 0.1"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_wrong_archive_is_one_sentence(case):
    data, text = CASES[case]
    start = time.monotonic()
    with pytest.raises((RuntimeError, ValueError), match=text) as caught:
        load(data)
    assert len(str(caught.value)) < 500 and time.monotonic() - start < 2


def test_the_archive_without_a_change_is_read():
    assert load(zipped(RECORDS)).tolist() == [0] * 4 and load(archive(GOOD)).tolist() == [0] * 4


def test_pickles_of_python_and_empty_files_are_refused_by_name():
    with pytest.raises(pickle.UnpicklingError, match="a pickle of Python, and not one of save"):
        load(pickle.dumps([1, 2]))
    with pytest.raises(EOFError, match="load: the file is empty"):
        load(b"")


@pytest.mark.parametrize("whole", [archive(GOOD), zipped(RECORDS)])
def test_a_file_that_is_cut_off_is_refused_wherever_it_ends(whole):
    for end in range(4, len(whole)):
        with pytest.raises((RuntimeError, ValueError, EOFError), match="load: |safetensors: "):
            load(whole[:end])


def test_memory_that_is_shorter_than_it_says_is_not_made():
    for count in (5, 10**6, 2**40, 2**62):
        start = time.monotonic()
        with pytest.raises(pickle.UnpicklingError, match="has 16 bytes, and the file says"):
            load(archive(pickle_of(tensor(storage(count), size=(count,)))))
        assert time.monotonic() - start < 1


class Unreadable(io.BytesIO):
    def readinto(self, view):
        return 0


def test_a_file_that_gives_less_than_it_has_is_refused():
    with pytest.raises(EOFError, match="ends 16 bytes too early"):
        fg.load(Unreadable(archive(GOOD)))


def checkpoint():
    net = fg.nn.Linear(2, 3)
    return {"net": net.state_dict(), "p": fg.nn.Parameter(fg.ones(2)), "step": 3, "s": {1},
            "list": [1, 2.5, "text", None, (fg.float32, fg.Size([2]))]}


def mutations(seed, count, legacy):
    """Files with some bytes changed, inserted, repeated or cut off."""
    stream = io.BytesIO()
    fg.save(checkpoint(), stream, _use_new_zipfile_serialization=not legacy)
    good, draw = stream.getvalue(), random.Random(seed)
    for _ in range(count):
        data = bytearray(good)
        for _ in range(draw.randint(1, 4)):
            place = draw.randrange(len(data))
            if draw.random() < 0.7:
                data[place] = draw.randrange(256)
            else:
                start = draw.randrange(len(data))
                data[place:place] = data[start:start + draw.randint(1, 20)]
        yield bytes(data[:draw.choice([len(data), len(data), draw.randrange(len(data))])])


@pytest.mark.parametrize("legacy", [False, True])
def test_mutated_files_are_read_or_refused(legacy):
    refused = 0
    for data in mutations(5, 700, legacy):
        try:
            repr(load(data))
        except (pickle.UnpicklingError, RuntimeError, ValueError, EOFError) as error:
            assert str(error).startswith(("load: ", "safetensors: ")), error
            refused += 1
    assert 100 < refused < 700


def test_mutated_pickles_are_read_or_refused():
    stream = io.BytesIO()
    fg.save(checkpoint(), stream)
    with zipfile.ZipFile(stream) as file:
        good = file.read("archive/data.pkl")
        records = {name[13:]: file.read(name) for name in file.namelist()
                   if name.startswith("archive/data/")}
    draw, refused = random.Random(6), 0
    codes = b"(0123FIJKLMNPQRSTUVX]abcdegh}jlpqrstu)\x81\x85\x86\x87\x8a\x8c\x90\x91\x93\x94."
    for _ in range(1500):
        data = bytearray(good)
        for _ in range(draw.randint(1, 4)):
            place = draw.randrange(len(data))
            data[place] = draw.choice(codes) if draw.random() < 0.7 else draw.randrange(256)
        try:
            load(archive(bytes(data), records))
        except (pickle.UnpicklingError, RuntimeError) as error:  # another device, for instance
            assert str(error).startswith("load: "), error
            refused += 1
    assert refused > 500


# ---- streams of PyTorch before 1.6

def legacy(**parts):
    """A stream with some of its parts replaced."""
    parts = {"magic": 0x1950A86A20F9469CFC6C, "version": 1001,
             "machine": {"little_endian": True}, "count": 4, "keys": ["0"], "data": bytes(16),
             **parts}
    reference = tensor(storage(4).replace(b"tQ", b"NtQ"))
    return b"".join([pickle.dumps(parts["magic"], 2), pickle.dumps(parts["version"], 2),
                     pickle.dumps(parts["machine"], 2), parts.get("pickle", pickle_of(reference)),
                     pickle.dumps(parts["keys"], 2), parts["count"].to_bytes(8, "little"),
                     parts["data"]])


@pytest.mark.parametrize("parts, text", [
    ({"version": 7}, "expected the magic number and version 1001"),
    ({"machine": [1]}, "expected the magic number"),
    ({"machine": {"little_endian": False}}, "another order of bytes"),
    ({"count": 5}, "has 5 elements and the pickle says 4"),
    ({"count": 2**63}, "elements and the pickle says 4"),
    ({"data": bytes(15)}, "or the file is cut off"),
    ({"keys": []}, "does not list the memories"), ({"keys": ["0", "0"]}, "does not list"),
    ({"keys": ["0", "1"]}, "the memory '1', which its pickle does not name"),
    ({"keys": {"0": 1}}, "does not list"),
    ({"pickle": pickle_of(storage(4))}, "is no reference to memory"),
    ({"pickle": pickle_of(storage(4).replace(b"tQ", b"]tQ"))}, "before 0.4"),
    ({"pickle": b"garbage"}, "cannot be read"), ({"pickle": b""}, "memory|cannot be read"),
], ids=str)
def test_a_wrong_stream_is_one_sentence(parts, text):
    with pytest.raises((RuntimeError, ValueError, pickle.UnpicklingError), match=text):
        load(legacy(**parts))


def test_the_stream_without_a_change_is_read():
    assert load(legacy()).tolist() == [0] * 4


def test_an_order_of_bytes_that_is_not_stated():
    def unstated():
        stream = io.BytesIO()
        fg.save(fg.ones(2), stream, _disable_byteorder_record=True)
        return stream.getvalue()

    assert load(unstated()).tolist() == [1, 1]
    serialization.set_default_load_endianness(serialization.LoadEndianness.BIG)
    try:
        assert serialization.get_default_load_endianness() is serialization.LoadEndianness.BIG
        with pytest.raises(ValueError, match="big-endian"):
            load(unstated())
        stated = io.BytesIO()
        fg.save(fg.ones(2), stated)
        assert load(stated.getvalue()).tolist() == [1, 1]
    finally:
        serialization.set_default_load_endianness(None)
    with pytest.raises(TypeError, match="expected a LoadEndianness"):
        serialization.set_default_load_endianness("big")


def test_names_are_listed_without_running_anything(tmp_path):
    class Config:
        pass

    Config.__qualname__ = "Config"
    globals()["Config"] = Config
    fg.save([Config(), fg.ones(1)], tmp_path / "a.pt")
    fg.save({"x": fg.ones(1), "n": [1]}, tmp_path / "b.pt")
    fg.save([Config(), fg.ones(1)], tmp_path / "c.safetensors")
    fg.save([Config()], tmp_path / "d.pt", _use_new_zipfile_serialization=False)
    fg.safetensors.save_file({"x": fg.ones(1)}, tmp_path / "e")
    names = [serialization.get_unsafe_globals_in_checkpoint(tmp_path / name)
             for name in ("a.pt", "b.pt", "c.safetensors", "d.pt", "e")]
    mine = [f"{__name__}.Config"]
    assert names == [mine, [], mine, mine, []]
    hostile = archive(pickle_of(b"cos\nsystem\nX\x01\0\0\0x\x85R"))
    assert serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(hostile)) == ["os.system"]
