"""Archives that save() writes: their form, and the options of save() and load()."""

import dataclasses
import io
import mmap
import os
import pathlib
import pickle
import types
import warnings
import zipfile

import foregrad as fg
import pytest
from foregrad import nn, serialization
from foregrad._saving import archive


def written(thing, **options):
    stream = io.BytesIO()
    fg.save(thing, stream, **options)
    return stream.getvalue()


def again(thing, **options):
    return fg.load(io.BytesIO(written(thing)), **options)


def test_records_are_those_of_pytorch_and_begin_at_multiples_of_64(tmp_path):
    path = tmp_path / "my model.pt"
    fg.save({"a": fg.ones(3), "b": fg.zeros(0), "c": fg.ones(70, dtype=fg.bfloat16)}, path)
    with zipfile.ZipFile(path) as file:
        assert file.testzip() is None
        assert file.namelist() == [f"my model/{name}" for name in (
            "data.pkl", ".format_version", ".storage_alignment", "byteorder", "data/0", "data/1",
            "data/2", "version", ".data/serialization_id")]
        assert file.read("my model/byteorder") == b"little"
        assert file.read("my model/version") == b"3\n"
        assert len(file.read("my model/.data/serialization_id")) == 40
        whole = path.read_bytes()
        for info in file.infolist():
            with file.open(info) as record:
                content = record.read()
            start = info.header_offset + 30 + sum(
                int.from_bytes(whole[info.header_offset + at:info.header_offset + at + 2],
                               "little") for at in (26, 28))
            assert start % 64 == 0 and whole[start:start + len(content)] == content


def test_the_pickle_has_only_names_and_instructions_that_pytorch_reads():
    import pickletools

    net = nn.Linear(2, 2)
    thing = {"net": net.state_dict(), "size": fg.Size([1]), "dtype": [fg.float32, fg.float32],
             "device": fg.device("cpu"), "p": nn.Parameter(fg.ones(1)), "b": nn.Buffer(fg.ones(1))}
    with zipfile.ZipFile(io.BytesIO(written(thing))) as file:
        found = [(code.name, value) for code, value, _ in
                 pickletools.genops(file.read("archive/data.pkl"))]
    names = {value for code, value in found if code == "GLOBAL"}
    assert names == {"torch._utils _rebuild_tensor_v2", "torch FloatStorage", "torch Size",
                     "collections OrderedDict", "torch float32", "torch device", "torch Tensor",
                     "torch._utils _rebuild_parameter", "torch._tensor _rebuild_from_type_v2"}
    assert {code for code, _ in found} <= {
        "PROTO", "GLOBAL", "BINPUT", "LONG_BINPUT", "EMPTY_TUPLE", "REDUCE", "MARK", "BINUNICODE",
        "BININT1", "BINGET", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3", "BINPERSID", "NEWFALSE",
        "NEWTRUE", "SETITEM", "SETITEMS", "EMPTY_DICT", "EMPTY_LIST", "APPENDS", "BUILD", "STOP"}


def test_texts_that_look_like_names_stay_as_they_are():
    thing = {"a": "cforegrad\nfloat32\n", "b": "ctorch._utils\n_rebuild_tensor_v2\nq\x01Q",
             "c": fg.float32, "d": fg.ones(1)}
    loaded = again(thing)
    assert loaded["a"] == thing["a"] and loaded["b"] == thing["b"] and loaded["c"] is fg.float32


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("new", [True, False])
def test_every_protocol_and_both_formats(protocol, new):
    base = fg.arange(6.0).view(2, 3)
    thing = {"x": base, "t": base.t(), "bits": base.view(fg.int32), "p": nn.Parameter(base.clone()),
             "d": fg.bfloat16, "s": fg.Size([2]), "set": {1}, "bytes": b"x", "e": fg.zeros(0, 2),
             "device": fg.device("cpu"), "buffer": nn.Buffer(fg.ones(1)), "layout": fg.strided}
    loaded = fg.load(io.BytesIO(written(thing, pickle_protocol=protocol,
                                        _use_new_zipfile_serialization=new)))
    loaded["x"][1, 2] = -1
    assert loaded["t"][2, 1] == -1 and loaded["p"].requires_grad
    assert loaded["bits"].tolist() == loaded["x"].view(fg.int32).tolist()
    for key in ("d", "s", "set", "bytes", "device", "layout"):
        assert loaded[key] == thing[key]
    assert loaded["e"].shape == (0, 2) and type(loaded["buffer"]) is nn.Buffer


@pytest.mark.parametrize("protocol", [-1, 0, 1, 9, 2.0, "2"])
def test_other_protocols_are_refused(protocol):
    with pytest.raises(ValueError, match="save: pickle_protocol is .*; expected 2 to 5"):
        fg.save(1, io.BytesIO(), pickle_protocol=protocol)


def test_other_modules_that_pickle(tmp_path):
    class Pickler(pickle.Pickler):
        def reducer_override(self, obj):
            return (eval, ("42",)) if isinstance(obj, types.LambdaType) else NotImplemented

    mine = types.SimpleNamespace(Pickler=Pickler, Unpickler=pickle.Unpickler)
    fg.save({"f": lambda: 1, "x": fg.ones(2)}, tmp_path / "a", mine)
    loaded = fg.load(tmp_path / "a", pickle_module=mine, weights_only=False)
    assert loaded["f"] == 42 and loaded["x"].tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="weights_only=True reads with our own unpickler"):
        fg.load(tmp_path / "a", pickle_module=mine)
    with pytest.raises(AttributeError, match="expected a module with the class Pickler"):
        fg.save(1, tmp_path / "a", None)


def test_large_archives_have_fields_of_64_bits(monkeypatch):
    monkeypatch.setattr(archive, "_LARGE", 100)
    monkeypatch.setattr(archive, "_MANY", 5)
    x = fg.arange(1000.0)
    data = written({"x": x, "y": [fg.ones(1), fg.zeros(2)]})
    assert b"PK\6\6" in data and b"PK\6\7" in data
    assert zipfile.ZipFile(io.BytesIO(data)).testzip() is None
    assert fg.load(io.BytesIO(data))["x"].equal(x)


# ---- places

class OnlyWrite:
    def __init__(self):
        self.data = b""

    def write(self, data):
        self.data += bytes(data)


class OnlyRead:
    def __init__(self, data):
        self.stream = io.BytesIO(data)

    def read(self, count=-1):
        return self.stream.read(count)


def test_objects_that_only_write_or_only_read():
    place = OnlyWrite()
    fg.save(fg.ones(2), place)
    assert fg.load(OnlyRead(place.data)).tolist() == [1, 1]
    for new in (True, False):
        assert fg.load(OnlyRead(written(fg.ones(2), _use_new_zipfile_serialization=new))).sum() == 2


def test_reading_begins_where_the_stream_stands():
    stream = io.BytesIO(b"before" + written(fg.ones(2)))
    stream.seek(6)
    assert fg.load(stream).tolist() == [1, 1]
    old = {"_use_new_zipfile_serialization": False}
    stream = io.BytesIO(written(1, **old) + written(fg.zeros(2), **old) + b"rest")
    assert fg.load(stream) == 1 and fg.load(stream).tolist() == [0, 0] and stream.read() == b"rest"


def test_paths_of_all_kinds(tmp_path):
    class Path:
        def __fspath__(self):
            return str(tmp_path / "like a path.pt")

    for f in (Path(), pathlib.Path(tmp_path, "a.pt"), str(tmp_path / "b.pt"),
              os.fsencode(tmp_path / "c.pt")):
        fg.save([fg.ones(1)], f)
        assert fg.load(f)[0].item() == 1


@pytest.mark.parametrize("f", [3, None, [1]], ids=str)
def test_what_is_no_file_is_refused(f):
    with pytest.raises(AttributeError, match="save: f is a .*; expected a path, or an object"):
        fg.save(1, f)
    with pytest.raises(AttributeError, match="load: f is a .*; expected a path, or an object"):
        fg.load(f)
    with pytest.raises(TypeError, match="expected bytes: open the file with 'rb'"):
        fg.load(io.StringIO("text"))


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(RuntimeError, match="save: the folder '.*none' does not exist"):
        fg.save(1, tmp_path / "none" / "a.pt")
    with pytest.raises(FileNotFoundError):
        fg.load(tmp_path / "none")


# ---- a file is there in full or not at all

class Stubborn:
    def __reduce__(self):
        raise KeyError("stubborn")


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.pt"
    fg.save(fg.ones(2), path)
    with pytest.raises(KeyError, match="stubborn"):
        fg.save([fg.zeros(2), Stubborn()], path)
    for new in (True, False):
        class Full(archive.ArchiveWriter):
            def close(self):
                raise OSError(28, "No space left on device")

        monkeypatch.setattr(archive, "ArchiveWriter", Full)
        monkeypatch.setattr(serialization.stream, "write_stream", lambda *_: Full(None, "").close())
        with pytest.raises(OSError, match="No space left"):
            fg.save(fg.zeros(2), path, _use_new_zipfile_serialization=new)
        monkeypatch.undo()
    assert fg.load(path).tolist() == [1, 1] and os.listdir(tmp_path) == ["a.pt"]


def test_links_and_modes_stay(tmp_path):
    path, link = tmp_path / "a.pt", tmp_path / "link.pt"
    fg.save(fg.ones(2), path)
    os.chmod(path, 0o640)
    link.symlink_to(path)
    fg.save(fg.zeros(2), link)
    assert link.is_symlink() and fg.load(path).tolist() == [0, 0]
    assert path.stat().st_mode & 0o777 == 0o640


# ---- options

def test_checksums_may_be_left_out():
    assert serialization.get_crc32_options() is True
    serialization.set_crc32_options(False)
    try:
        data = bytearray(written(fg.arange(3.0)))
    finally:
        serialization.set_crc32_options(True)
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        assert {info.CRC for info in file.infolist()} == {0}
    assert fg.load(io.BytesIO(data)).tolist() == [0, 1, 2]


def test_room_for_data_that_comes_later(tmp_path):
    path = tmp_path / "a.pt"
    with serialization.skip_data():
        fg.save({"x": fg.arange(1000.0)}, path)
        assert fg.load(path)["x"].shape == (1000,)
    assert fg.load(path)["x"].tolist() == [0] * 1000
    with zipfile.ZipFile(path) as file:
        info = file.getinfo("a/data/0")
    assert info.file_size == 4000 and info.CRC == 0
    with open(path, "r+b") as file:
        start = path.read_bytes().index(bytes(4000))
        file.seek((start + 63) // 64 * 64)
        file.write(fg.arange(1000.0).numpy().tobytes())
    assert fg.load(path)["x"].equal(fg.arange(1000.0))
    with pytest.raises(NotImplementedError, match="materialize_fake_tensors"):
        serialization.skip_data(materialize_fake_tensors=True)


def test_a_mapped_file_is_not_changed_by_the_program(tmp_path):
    path = tmp_path / "a.pt"
    fg.save({"x": fg.arange(8.0), "y": fg.ones(3, dtype=fg.bfloat16), "e": fg.zeros(0)}, path)
    loaded = fg.load(path, mmap=True)
    loaded["x"][2] = -1
    assert loaded["x"].tolist() == [0, 1, -1, 3, 4, 5, 6, 7] and loaded["e"].shape == (0,)
    assert loaded["y"].sum().item() == 3 and (loaded["x"] + 1)[2] == 0
    assert fg.load(path)["x"].tolist() == list(range(8))
    assert fg.load(path, mmap=True, weights_only=False)["x"][1] == 1


def test_a_shared_mapping_writes_to_the_file(tmp_path):
    path = tmp_path / "a.pt"
    fg.save(fg.arange(4.0), path)
    with serialization.set_default_mmap_options(mmap.MAP_SHARED):
        assert serialization.get_default_mmap_options() == mmap.MAP_SHARED
        loaded = fg.load(path, mmap=True)
        loaded[0] = 9
    assert serialization.get_default_mmap_options() == mmap.MAP_PRIVATE
    assert fg.load(path, mmap=True).tolist() == [9, 1, 2, 3]
    with pytest.raises(ValueError, match="expected mmap.MAP_PRIVATE or"):
        serialization.set_default_mmap_options(7)


def test_files_that_cannot_be_mapped_are_refused(tmp_path):
    with pytest.raises(ValueError, match="mmap=True needs a path"):
        fg.load(io.BytesIO(written(1)), mmap=True)
    for name, new in (("a.safetensors", True), ("b.pt", False)):
        fg.save(fg.ones(1), tmp_path / name, _use_new_zipfile_serialization=new)
        with pytest.raises(RuntimeError, match="mmap=True needs an archive"):
            fg.load(tmp_path / name, mmap=True)


def test_locations_of_every_kind():
    x = fg.arange(3.0)
    seen = []
    for where in ("cpu", fg.device("cpu"), {"cuda:0": "cpu"}, {"cpu": "cpu"}, None,
                  lambda storage, location: seen.append((type(storage), location)),
                  lambda storage, location: storage):
        assert again(x, map_location=where).equal(x)
    assert seen == [(fg.UntypedStorage, "cpu")]
    other = fg.ones(3).untyped_storage()
    assert again(x, map_location=lambda storage, location: other).tolist() == [1, 1, 1]


@pytest.mark.parametrize("where, kind, text", [
    ("cuda", RuntimeError, "map_location is 'cuda', and only the cpu exists here"),
    ("cuda:1", RuntimeError, "map_location is 'cuda:1'"), ("meta", RuntimeError, "'meta'"),
    ({"cpu": "cuda:0"}, RuntimeError, "to be on 'cuda:0', and only the cpu exists here; pass map"),
    ({"cpu": "moon"}, RuntimeError, "no device for the location 'moon'"),
    ({"cpu": 3}, TypeError, "of the type int; expected a text"),
    (lambda storage, location: storage.cuda(), RuntimeError, "only the cpu exists"),
    (lambda storage, location: 3, TypeError, "an object of the type int; expected a storage"),
    (lambda storage, location: 1 / 0, ZeroDivisionError, "division"),
    (3, TypeError, "map_location is of the type int; expected a text, a device"),
], ids=str)
def test_other_locations_are_one_sentence(where, kind, text):
    with pytest.raises(kind, match=text):
        again(fg.ones(1), map_location=where)


def test_a_file_with_tensors_on_a_gpu_needs_a_location():
    data = written(fg.ones(2)).replace(b"X\3\0\0\0cpu", b"X\3\0\0\0gpu")
    assert b"gpu" in data
    serialization.set_crc32_options(False)
    try:
        data = written(fg.ones(2)).replace(b"X\3\0\0\0cpu", b"X\3\0\0\0mps")
    finally:
        serialization.set_crc32_options(True)
    with pytest.raises(RuntimeError, match="to be on 'mps', and only the cpu exists here; pass"):
        fg.load(io.BytesIO(data))
    for where in ("cpu", {"mps": "cpu"}, lambda storage, location: storage):
        assert fg.load(io.BytesIO(data), map_location=where).tolist() == [1, 1]


def test_packages_may_know_other_locations():
    from foregrad._saving import locations

    serialization.register_package(
        5, lambda storage: "moon" if storage.nbytes() == 4 else None,
        lambda storage, location: storage if location == "moon" else None)
    try:
        data = written(fg.ones(1))
        assert b"moon" in data and fg.load(io.BytesIO(data)).item() == 1
        assert serialization.location_tag(fg.ones(1).untyped_storage()) == "moon"
    finally:
        locations.registered.clear()
    with pytest.raises(RuntimeError, match="no device for the location 'moon'"):
        fg.load(io.BytesIO(data))
    storage = fg.ones(1).untyped_storage()
    assert serialization.default_restore_location(storage, "cpu") is storage


def test_texts_of_python_2():
    from pickle_parts import archive as packed
    from pickle_parts import pickle_of

    data = packed(pickle_of(b"U\x02\xc3\xa9"))
    assert fg.load(io.BytesIO(data)) == "\xe9"
    assert fg.load(io.BytesIO(data), encoding="latin1") == "\xc3\xa9"
    assert fg.load(io.BytesIO(data), encoding="bytes") == b"\xc3\xa9"
    assert fg.load(io.BytesIO(data), encoding="latin1", weights_only=False) == "\xc3\xa9"
    with pytest.raises(TypeError, match=r"got the arguments \['errors'\]"):
        fg.load(io.BytesIO(data), errors="ignore")


# ---- classes of the user

@dataclasses.dataclass
class Settings:
    width: int
    weights: fg.Tensor


class Mine(fg.Tensor):
    pass


def test_data_classes_and_classes_of_tensors_need_trust_and_survive():
    thing = [Settings(3, fg.ones(2)), Mine(fg.ones(2))]
    thing[1].note = "kept"
    with pytest.raises(pickle.UnpicklingError, match=r"add_safe_globals\(\[.*Settings\]\)"):
        again(thing)
    with serialization.safe_globals([Settings, Mine]):
        settings, mine = again(thing)
    assert settings.width == 3 and settings.weights.tolist() == [1, 1]
    assert type(mine) is Mine and mine.note == "kept"
    assert again(thing, weights_only=False)[0].width == 3


@pytest.mark.parametrize("things, text", [([3], "3 is no class and no function"),
                                          ([(Mine,)], "and no pair"), (3, "not iterable")])
def test_what_cannot_be_trusted(things, text):
    with pytest.raises(TypeError, match=text):
        serialization.add_safe_globals(things)


def test_saving_and_loading_says_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net = nn.Linear(2, 2)
        again({"net": net.state_dict(), "x": fg.ones(1, requires_grad=True)})
        again(net, weights_only=False)
