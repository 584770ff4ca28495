"""Files of earlier versions of save(): safetensors with a pickle, which are read for ever."""

import base64
import collections
import io
import pickle
import zlib

import foregrad as fg
import pytest
from foregrad import nn

PROTOCOL_2 = (
    "eNqVVOty20QU9qVJWkFpud9v5uaCMJGcOCVQEtrSAALaqC2ItkLI0joSlSV92lWapOOZ/LGn9Cl4D2bgVXiEPgK7K9"
    "mOx21nqvHKu+ec71y+s0f/VSvyudtwnD5hru8y13Ea63cbvSQjO5nrt9LQux2RxvqcZKA2usLSZ/up0F9q6w21QQNX"
    "nG5qttqQ3pJejxJGuWhZXbE5qP9okD4PWlE1XaBiwlrd0KVPFFHTVa0zRt8h4U7AHoNXHxJe66i6zDp9oqz1FbUt09"
    "4NyR3aWn4MWG3Pw9u6uirznuvC1M31s0dz1zsPKX+1o2ptbc0eDIouH26IdeNW9d90v3lur/P3P2PZVF/Z5D++Dvn6"
    "a/OwNkCladW5nFOIquclUUQ8FiYxVS5nPsmIfzH0mILaGRP1prXILQuiccybZE9JFrpReOAKoOJkpJuHka9goTmxUa"
    "6RmCaZgkVLKaKVDcPS9tSoFyUua+sKjhsVo2rURjhh1IzqCMqfDE+ZeNo6xsHinuBksNAMFq3jpTMpe2Y7kMAhTonX"
    "aQ561sRz+QDPWye44WQG8EIgCnrRErTgpQFetpb4bpdklFeAV4wqpbRrLQiZ6DBetfFas4i4NBa2lvF6EbBm1Ed4w6"
    "iLTN/kQd8y8bY0DqRB3agP8Y7I6F2ubJh474iywtW8zvd5udzJB9zgQxMfkbJQRtEcG09pCmNJ0plx6I+L0J9wsGri"
    "U0tMfYpWcIT/Vhy3UjdzOQMkU65MdvistF4uSxlCE5nq9xjaJlaktovVR/s6n/d6wlGnNF2bNOGseH3Ok1o38cUAX8"
    "rOp4JjykjMcO4e51iA+viq4LY4bExS2RQevuYezpu4MMBFyUqcMIJvbFwyqi53IEQ0PCDYmhJ0lZ8VfGvju6ZgiAzx"
    "vQlD9lPOF36Y2nblpdM6Cn6U19snu6FH8NO0XEdAqFIoFFyW8+KlOa4MsW3ClLDI3U9yhqtzMMqy0Cd8Gq7J+F6S89"
    "Kvz0zaBSETHP48wC9NyYILy6gFa0Y1H+JXEzfktfNJz80jhpsz6FLqyzm95TmOmD4Wxo6jRJxpBfYQv5lwSr+/23AF"
    "c7IK/iVBdwbCJQo8G35TDCBnjpjoyQp7WXJAYuzMmBdCCQpshEbdHeIPE7dlrd19Rigiz/ESn3hUIbHYKOjLVPYQl8"
    "xxVxqSEVITkIV6ST+NyB6ymVilVAHd2nhQfNK2Nov/ygjMRC6jRm62Q7B7/2TlyHM6b/0P84EdaQ==")
PROTOCOL_4 = (
    "eNqVU8tu00AUjeO82vLoBtaV2QTJihqnjdpKqBVFdOEFtMAGCNHYHtcWjm0847ZpFambVgWNBCjDEon/QIJf4RP4BO"
    "6MEyeQUqlWRhnfe8695z78SynI50TrdnuYIgdR1O1qGyeaGyV4P0FOI/bttwHWNmYsA12zBNKh/Vj4H7cMTdeIh8Tb"
    "q2ZH12S0yHUJpgRMy/pKB0i9/5OMWdKK3jQEK8S0YfmIXCtj09Cb7TH7EPv7Hr2Cr1+SvtnWDak6vpZqY0VvSdkHPj"
    "4kjeUryHprlt4y9FWpe2YKkzAv1qairLfas1FW2/r6OqgYLC1lUz7dFOfla+Vn3K8/OGp//zG2TfyFLfjBOYXzbeu0"
    "9OWrmjkHvM5U6CNnC3YUBNimfhQSeHuSODjBziPfpnzI7+8BrpL1mrO7eQEEJz4K/GMkaJzVugm2Uj9wgFJntTGMs8"
    "pzHJIoATObn0yN705jqm4QIdoyAGQWTMUsnnOzaCrn/D3le5yVxJ5wb67u3WC18d7wXW9RgM+4OBKYDjiby9eeeyXQ"
    "zgocrNUDnBCh01QIIRYryzHyDq9nUaujsY6CFk0VFKi5Agny7gmnaqpTGaccBXAJ3YrgSicWwimZgG6xsh/mZf6bhC"
    "mxgLI7eYvDsBGjBEFBOIHKnub3oQSPtGZyLrIQlsy2xioPU9cdIa1LWgU9mY9FTwjFIeUX0BOlN2oxXP4KPSaUwohi"
    "6JmpIICXiH+M+fQUS8+EZSi6KorDZ0JRWa43h9prlpxysy1EVRx84NvAv51X2xVA6FYH3Kodp1zyKwHqRynl3htWJT"
    "TxHSw2jJXtKA1nVre6LayybLHdCoI18rZNJZWhqg52URpArCJbGN2dbMlBHOwu9UWQUgBNAZvkQIisYKbCR8g/Qmmw"
    "np9YxU2iYxzCq/oZ1Fh9CtK3lSPIYke9OMBH3Hs3uQ/5zubv7LPb2cr+C+eyPQFK9jH/cLMw9SymjT8vVvqM")


@pytest.mark.parametrize("text", [PROTOCOL_2, PROTOCOL_4])
@pytest.mark.parametrize("weights_only", [True, False])
def test_a_file_of_an_earlier_version_is_read(text, weights_only):
    data = zlib.decompress(base64.b64decode(text))
    loaded = fg.load(io.BytesIO(data), weights_only=weights_only)
    base, row, turned = loaded["views"]
    base[1, 2] = 9
    assert row[2] == 9 and turned[2, 1] == 9 and turned.stride() == (1, 3)
    assert loaded["bits"].tolist() == base.view(fg.int32).tolist()
    assert str(nn.Linear(2, 1).load_state_dict(loaded["net"])) == "<All keys matched successfully>"
    assert type(loaded["p"]) is nn.Parameter and loaded["p"].requires_grad
    assert type(loaded["b"]) is nn.Buffer and loaded["b"].persistent and loaded["m"].note == [1]
    assert [loaded[key] for key in ("size", "dtype", "device", "layout", "count", "default", "set",
                                    "frozen", "bytes", "complex", "large")] == [
        fg.Size([2, 3]), fg.bfloat16, fg.device("cpu"), fg.strided, collections.Counter("aab"),
        {"a": [1]}, {1, 2}, frozenset([3]), b"x", 1 + 2j, 2**100]
    assert loaded["default"]["b"] == []


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_name_in_safetensors_still_makes_such_a_file(protocol, tmp_path):
    path, x = tmp_path / "a.safetensors", fg.arange(3.0)
    fg.save({"net": {"w": x}, "tied": x, "n": [1, b"x", {1}]}, path, pickle_protocol=protocol)
    assert fg.safetensors.load_file(path)["net.w"].equal(x)
    loaded = fg.load(path)
    assert loaded["tied"] is loaded["net"]["w"] and loaded["n"] == [1, b"x", {1}]
