"""Random programs behave the same eagerly and captured. FOREGRAD_FUZZ says how many are run."""

import os

import pytest
from capture_fuzz import Report, describe, shrink
from capture_programs import make_program

COUNT = int(os.environ.get("FOREGRAD_FUZZ", 5000))
NATIVE = COUNT // 10
SHOWN = 5


def run(seeds, backend):
    report = Report()
    for seed in seeds:
        program = make_program(seed)
        program.backend = backend
        report.add(program)
    print(report.text())
    different = report.differences
    shown = [describe(*shrink(*one)) for one in different[:SHOWN]]
    assert not different, f"{len(different)} of {len(seeds)} programs differ\n" + "\n".join(shown)
    few = max(10, 0.16 * (report.programs - report.writers))
    assert report.refused.total() < few, report.text()
    assert report.refused_writers.total() < max(10, 0.38 * report.writers), report.text()
    assert report.stopped.total() < max(3, 0.005 * report.programs), report.text()
    assert report.stopped_at_first_order() < max(3, 0.001 * report.programs), report.text()


def test_random_programs_are_the_same_eagerly_and_captured():
    run(range(COUNT), "interpreter")


def test_random_programs_are_the_same_as_native_code():
    run(range(NATIVE), "native")


def test_programs_are_made_from_their_seed():
    for seed in range(50):
        assert make_program(seed).text() == make_program(seed).text()


def test_the_generator_makes_what_it_is_meant_to():
    text = "\n".join(make_program(seed).text() for seed in range(1500))
    for part in ("o.x", "p.x", "is x", "transposed", "sliced", "expanded", "int64",
                 "float32", "nonleaf", "Dirty.apply", "Cube.apply", "register_hook", "no_grad",
                 ".detach()", "dropout", "rand_like", "k0", "unbind", "split", "diagonal",
                 "index_put_", ".copy_(", "[0] = ", "softmax", " @ ", "fg.where", "fg.cat",
                 ".gather(", ".zero_()", "autograd.grad", "'none': None", "# after", "nonlocal x",
                 "Counts.apply(", "Reads.apply(", "Given.apply(", "WritesBoth.apply(",
                 "WritesSaved.apply(", "Sums.apply(", "Tallies.apply(", "Bends.apply(",
                 "lambda g: writes(g, ", "lambda g: reads(g, ", "lambda g: copies(g, ",
                 "lambda g: g.mul_(2)"):
        assert part in text, part


@pytest.mark.parametrize("seed", [2029283, 7017088, 8001489, 8008378, 8047919, 9022640, 9042908,
                                  9043362, 20000103, 30000311, 30003188, 30004928, 50000434,
                                  50000560, 60002452, 60003829, 60005795, 60008450, 60008519,
                                  80006090, 90000670, 90004922, 90008847, 90009715,
                                  110002000, 110002635, 120016854])
def test_programs_that_differed_once_do_so_no_more(seed):
    assert not Report().add(make_program(seed))
