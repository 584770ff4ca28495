"""Wrong arguments: the right type of exception and one plain sentence."""

import re
import warnings

import foregrad as fg
import pytest

x = fg.ones(2, 3)

WRONG_CALLS = {
    "an unknown keyword": (lambda: fg.add(x, x, unknown=1), TypeError, "unknown"),
    "an unknown keyword of a method": (lambda: x.exp(unknown=1), TypeError, "exp"),
    "a missing argument": (lambda: fg.add(x), TypeError, "add"),
    "no argument at all": (lambda: fg.exp(), TypeError, "exp"),
    "too many arguments": (lambda: fg.exp(x, x, x), TypeError, "exp"),
    "too many arguments of a method": (lambda: x.exp(1, 2), TypeError, "exp"),
    "a string for a tensor": (lambda: fg.exp("text"), TypeError, "str"),
    "a list for a tensor": (lambda: fg.exp([1.0]), TypeError, "list"),
    "none for a tensor": (lambda: fg.exp(None), TypeError, "NoneType"),
    "a float for an integer": (lambda: x.unsqueeze(1.5), TypeError, "float"),
    "a string for an integer": (lambda: x.sum("a"), TypeError, "str"),
    "a number for a bool": (lambda: x.sum(0, keepdim="yes"), TypeError, "sum"),
    "a string for a dtype": (lambda: x.sum(dtype="float32"), TypeError, "sum"),
    "an argument given twice": (lambda: fg.softmax(x, 0, dim=1), TypeError, "dim"),
    "tensors for a list of tensors": (lambda: fg.cat(x), TypeError, "cat"),
    "a list of wrong things": (lambda: fg.cat([x, "text"]), TypeError, "cat"),
    "adding a string": (lambda: x + "text", TypeError, "str"),
    "adding none": (lambda: x + None, TypeError, "NoneType"),
    "a string from the left": (lambda: "text" * x, TypeError, "."),
    "matrix product with a number": (lambda: x @ 3, TypeError, "int"),
    "a method called without self": (lambda: fg.Tensor.exp(), TypeError, "exp|self|argument"),
    "a method called on a number": (lambda: fg.Tensor.exp(3), TypeError, "int|exp"),
    "sizes that are strings": (lambda: fg.zeros("a"), TypeError, "str"),
    "sizes that are floats": (lambda: fg.zeros(2.5), TypeError, "float"),
    "a size that is a float in a tuple": (lambda: x.view((2, 3.0)), TypeError, "view|reshape"),
    "a wrong dtype": (lambda: fg.zeros(2, dtype=3), TypeError, "int"),
    "requires_grad that is no bool": (lambda: fg.zeros(2, requires_grad="a"), TypeError, "zeros"),
    "a wrong generator": (lambda: fg.rand(2, generator=3), TypeError, "generator|rand"),
    "a dimension out of range": (lambda: x.sum(2), IndexError, "2"),
    "a negative dimension out of range": (lambda: x.unsqueeze(-4), IndexError, "-4"),
    "a size of a dimension out of range": (lambda: x.size(5), IndexError, "5"),
    "sizes that do not broadcast": (lambda: x + fg.ones(4), RuntimeError, "4.*3|3.*4"),
    "inner sizes that differ": (lambda: x @ fg.ones(4, 5), RuntimeError, "3.*4|2x3.*4x5"),
    "a view of wrong sizes": (lambda: x.view(5), RuntimeError, "5"),
    "two sizes to infer": (lambda: x.view(-1, -1), RuntimeError, "-1|one|infer"),
    "a negative size": (lambda: fg.zeros(-1), RuntimeError, "-1|negative"),
    "an item of many": (lambda: x.item(), RuntimeError, "6|one element|scalar"),
    "the truth of many": (lambda: bool(x), RuntimeError, "(?i)ambiguous"),
    "floats where integers are needed": (lambda: x & x, (RuntimeError, NotImplementedError), "."),
    "integers where floats are needed": (lambda: fg.ones(3, dtype=fg.int64).softmax(0),
                                         (RuntimeError, NotImplementedError), "."),
    "in place into a smaller dtype": (lambda: fg.ones(3, dtype=fg.int64).add_(1.5), RuntimeError,
                                      "(?i)float|cast"),
    "an attribute that does not exist": (lambda: x.unknown, AttributeError, "unknown"),
    "a name that does not exist": (lambda: fg.unknown, AttributeError, "unknown"),
    "a wrong grad": (lambda: setattr(x, "grad", 3), TypeError, "int|Tensor"),
    "a shape that is set": (lambda: setattr(x, "shape", (3, 2)), AttributeError, "."),
    "a device that does not exist": (lambda: fg.zeros(2, device="cuda"), RuntimeError, "cuda"),
    "a device for a tensor": (lambda: fg.tensor([1], device="cuda"), RuntimeError, "cuda"),
    "moving to a device": (lambda: x.to("cuda"), RuntimeError, "cuda"),
    "moving to cuda": (lambda: x.cuda(), RuntimeError, "(?i)cuda"),
    "a device of a wrong name": (lambda: fg.device("nonsense"), RuntimeError, "nonsense"),
    "a device of a wrong type": (lambda: fg.device([]), TypeError, "list"),
    "pinned memory": (lambda: fg.zeros(2, pin_memory=True), RuntimeError, "(?i)pin|accelerator"),
    "pinned memory of a tensor": (lambda: fg.tensor([1.0], pin_memory=True), RuntimeError, "pin"),
    "a complex number": (lambda: fg.tensor(1j), (TypeError, NotImplementedError), "complex"),
    "adding a complex number": (lambda: x + 1j, (TypeError, NotImplementedError), "complex"),
    "a huge integer": (lambda: x + 2**70, (RuntimeError, OverflowError), "."),
    "a huge size": (lambda: fg.zeros(2**70), (RuntimeError, OverflowError, TypeError), "."),
    "a huge fill": (lambda: fg.zeros(2, dtype=fg.int64).fill_(2**63), (RuntimeError, OverflowError),
                    "."),
    "more memory than there is": (lambda: fg.empty(2**60), (RuntimeError, MemoryError), "."),
    "a product of sizes that overflows": (lambda: fg.empty(2**40, 2**40), RuntimeError, "."),
    "out of a wrong type": (lambda: fg.exp(x, out=3), TypeError, "int|exp"),
    "out of a dtype that cannot hold it": (lambda: fg.exp(x, out=fg.zeros(2, 3, dtype=fg.int64)),
                                           RuntimeError, "(?i)cast|int64|long"),
    "out that requires grad": (lambda: fg.exp(x, out=fg.zeros(2, 3, requires_grad=True)),
                               RuntimeError, "grad"),
    "out with inputs that require grad": (
        lambda: fg.exp(fg.ones(3, requires_grad=True), out=fg.zeros(3)), RuntimeError, "grad"),
    "too few outs": (lambda: fg.max(x, 0, out=fg.zeros(3)), TypeError, "max"),
    "set a hook that is none": (lambda: fg.ones(2, requires_grad=True).register_hook(None),
                                TypeError, "."),
    "a negative sequence number": (
        lambda: fg.ones(2, requires_grad=True).exp().grad_fn._set_sequence_nr(-1),
        (TypeError, ValueError, OverflowError, RuntimeError), "."),
    "retain_graph that is text": (
        lambda: fg.ones(1, requires_grad=True).exp().backward(retain_graph="yes"), TypeError, "."),
    "requires_grad_ of text": (lambda: fg.ones(1).requires_grad_("yes"), TypeError, "."),
    "a wrong seed": (lambda: fg.manual_seed("a"), (TypeError, ValueError), "."),
    "a mode that is none": (lambda: fg.set_default_dtype("a"), TypeError, "dtype"),
    "an integer default dtype": (lambda: fg.set_default_dtype(fg.int64), TypeError, "float"),
}


@pytest.mark.parametrize("what", WRONG_CALLS)
def test_this_is_refused(what):
    call, error, message = WRONG_CALLS[what]
    with pytest.raises(error) as caught:
        call()
    text = str(caught.value)
    assert re.search(message, text), text
    assert text and text == text.strip()


@pytest.mark.parametrize("what", WRONG_CALLS)
def test_the_message_is_one_line_without_the_words_of_cpp(what):
    call, error, _ = WRONG_CALLS[what]
    with pytest.raises(error) as caught:
        call()
    text = str(caught.value)
    assert "\n" not in text
    for word in ("std::", "nb::", "fg::", "_C.", "self.", "0x", "nanobind", "Invoked with",
                 "incompatible function arguments"):
        assert word not in text, text


@pytest.mark.parametrize("name", ["add", "max", "zeros", "sum"])
def test_refusing_all_forms_tells_what_came_and_what_is_possible(name):
    with pytest.raises(TypeError) as caught:
        getattr(fg, name)(object(), nonsense=3)
    assert name in str(caught.value)


def test_a_call_that_was_refused_changes_nothing():
    a = fg.zeros(3)
    for wrong in (lambda: a.add_(fg.ones(4)), lambda: a.copy_(fg.ones(4)), lambda: a.fill_("a"),
                  lambda: a.add_(fg.ones(2, 3))):
        with pytest.raises((RuntimeError, TypeError)):
            wrong()
    assert a.tolist() == [0, 0, 0] and a._version == 0


def test_exceptions_of_user_objects_pass_through():
    class Special(Exception):
        pass

    class Index:
        def __index__(self):
            raise Special

    with pytest.raises(Special):
        fg.ones(3)[Index()]
    with pytest.raises(Special):
        fg.zeros(Index())


def test_an_object_with_index_is_an_integer():
    class Two:
        def __index__(self):
            return 2

    assert fg.zeros(Two()).shape == (2,)
    assert fg.arange(5)[Two()].item() == 2
    assert x.sum(Two() and 1).shape == (2,)


def test_other_operands_get_their_turn():
    class Other:
        def __radd__(self, other):
            return "radd"

        def __rmatmul__(self, other):
            return "rmatmul"

        def __eq__(self, other):
            return "eq"

    assert x + Other() == "radd" and x @ Other() == "rmatmul"


def warnings_of(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return caught


def test_warnings_carry_the_line_of_the_user():
    caught = warnings_of(lambda: fg.tensor(fg.ones(2)))
    assert [w.filename for w in caught] == [__file__]
    assert caught[0].category is UserWarning


def test_warnings_of_native_code_carry_the_line_of_the_user(run_program, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import foregrad as fg, warnings\n"
        "warnings.simplefilter('always')\n"
        "x = fg.ones(3, requires_grad=True)\n"
        "out = fg.ones(2)\n"
        "fg.exp(x.detach(), out=out)\n"
        "(x * x).sum().grad\n")
    done = run_program(f"import runpy; runpy.run_path({str(program)!r})", clean=False)
    assert done.returncode == 0
    lines = [line for line in done.stderr.splitlines() if "Warning" in line]
    assert len(lines) == 2, done.stderr
    assert lines[0].startswith(f"{program}:5: UserWarning")
    assert lines[1].startswith(f"{program}:6: UserWarning")


def test_warnings_may_be_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning):
            fg.tensor(fg.ones(2))
        with pytest.raises(UserWarning, match="(?i)resize"):
            fg.exp(fg.ones(3), out=fg.ones(2))


@pytest.mark.parametrize("call", ["x.as_subclass(dict)", "fg.Tensor._make_subclass(str, x)",
                                  "fg.Tensor._make_subclass(int, x, True)"])
def test_only_subclasses_of_tensor_are_made(call, run_program):
    # In a process of its own: an object of a wrong class may bring the interpreter down.
    run_program(f"""
        import foregrad as fg
        x = fg.ones(3)
        try:
            print({call})
        except (TypeError, RuntimeError) as error:
            assert str(error)
        else:
            raise AssertionError("no error")
    """)


# No UTF-8 can spell it; Python's names of files may hold it.
LONE = "a\udc80b"
ODD_TEXTS = {
    "an option": (lambda: fg.nn.functional.mse_loss(x, x, reduction=LONE), ValueError, "a\\x80b"),
    "an equation": (lambda: fg.einsum(LONE, x), RuntimeError, "einsum"),
    "a device": (lambda: fg.ones(2, device=LONE), RuntimeError, "a\\x80b"),
    "a keyword": (lambda: fg.ones(2, **{LONE: 1}), TypeError, "unexpected keyword argument"),
    "an attribute": (lambda: getattr(x, LONE), AttributeError, "has no attribute"),
    "an attribute of a node": (lambda: getattr(fg.ones(1, requires_grad=True).exp().grad_fn, LONE),
                               AttributeError, "has no attribute"),
    "a backend": (lambda: fg.compile(lambda x: x, backend=LONE)(x), Exception, "a\\x80b"),
    "a graph": (lambda: fg._C.Graph(LONE), Exception, "a\\x80b"),
}


@pytest.mark.parametrize("name", ODD_TEXTS)
def test_a_text_that_is_no_utf_8_is_refused_with_a_sentence(name):
    call, kind, part = ODD_TEXTS[name]
    with pytest.raises(kind) as caught:
        call()
    assert part in str(caught.value) and "basic_string" not in str(caught.value)
    assert "incompatible function arguments" not in str(caught.value)


def test_a_program_in_a_file_whose_name_is_no_utf_8_is_compiled():
    names = {}
    exec(compile("def f(x, table):\n    return x * 2 + table['t']\n", LONE, "exec"), names)
    compiled = fg.compile(names["f"], fullgraph=True)
    assert compiled(x, {"t": x}).tolist() == (x * 3).tolist()
    assert "a\\x80b:2" in compiled.explain()


def optimizer_with(state):
    parameter = fg.ones(2, requires_grad=True)
    parameter.grad = fg.ones(2)
    optimizer = fg.optim.AdamW([parameter])
    optimizer.state[parameter] = state
    return optimizer


@pytest.mark.parametrize("state, kind, text", [
    ({"step": "x"}, TypeError, "must be real number, not str"),
    ({"step": fg.ones(()), "exp_avg": 3}, TypeError,
     "AdamW: the state 'exp_avg' is a int; expected a Tensor")])
def test_a_state_that_is_no_tensor_is_refused_with_a_sentence(state, kind, text):
    with pytest.raises(kind, match=text):
        optimizer_with(state).step()


def test_more_repeats_than_memory_are_refused_with_a_sentence():
    for repeats in [[2**62, 2**62], [2**60], [2**48, 1]]:
        with pytest.raises((RuntimeError, MemoryError), match="64 bits|2.63|memory"):
            fg.repeat_interleave(fg.ones(len(repeats)), fg.tensor(repeats))


def test_a_window_of_max_pool_that_lies_in_the_padding_alone():
    with pytest.raises(RuntimeError, match="a window lies in the padding alone"):
        fg.nn.functional.max_pool1d(fg.ones(1, 1, 1), 2, 1, 1, 2)
