"""Settings that programs make, typed constructors, deprecated forms, and modules that refuse."""

import importlib
import warnings

import foregrad as fg
import pytest


def test_settings_are_kept_and_wrong_ones_are_refused():
    assert fg.get_float32_matmul_precision() == "highest"
    fg.set_float32_matmul_precision("high")
    assert fg.get_float32_matmul_precision() == "high"
    fg.set_float32_matmul_precision("highest")
    with pytest.warns(UserWarning, match="foo is not one of"):
        fg.set_float32_matmul_precision("foo")
    with pytest.raises(TypeError, match="must be str"):
        fg.set_float32_matmul_precision(3)
    fg.use_deterministic_algorithms(True, warn_only=True)
    assert fg.are_deterministic_algorithms_enabled() and fg.get_deterministic_debug_mode() == 1
    fg.set_deterministic_debug_mode("default")
    assert not fg.are_deterministic_algorithms_enabled()
    with pytest.raises(TypeError, match="must be bool"):
        fg.use_deterministic_algorithms("yes")
    for wrong in (5, "foo"):
        with pytest.raises(RuntimeError, match="invalid value of debug_mode"):
            fg.set_deterministic_debug_mode(wrong)
    assert fg.set_flush_denormal(False) and not fg.set_flush_denormal(True)
    with pytest.raises(RuntimeError, match="positive integer"):
        fg.set_num_interop_threads(0)


def test_threads_between_operations_are_set_once(run_program):
    run_program("""
        import foregrad as fg
        assert fg.get_num_interop_threads() == 1
        fg.set_num_interop_threads(2)
        assert fg.get_num_interop_threads() == 2
        try:
            fg.set_num_interop_threads(2)
        except RuntimeError as error:
            assert "cannot set number of interop threads" in str(error)
        else:
            raise AssertionError
    """)


@pytest.fixture
def printing():
    yield fg.set_printoptions
    fg.set_printoptions(profile="default")


def test_tensors_print_as_the_options_say(printing):
    x = fg.tensor([1.23456, 1000.0])
    printing(profile="short")
    assert repr(x) == "tensor([   1.23, 1000.00])"
    printing(precision=2, sci_mode=True, linewidth=20, threshold=3, edgeitems=1)
    assert repr(x) == "tensor([1.23e+00,\n        1.00e+03])"
    assert repr(fg.arange(10.0)) == "tensor([0.00e+00,\n         ...,\n        9.00e+00])"
    printing(profile="full")
    assert "..." not in repr(fg.zeros(2000))
    printing()
    assert "..." not in repr(fg.zeros(2000))
    printing(profile="default")
    assert "..." in repr(fg.zeros(2000))


@pytest.mark.parametrize("options, kind", [
    ({"precision": "a"}, TypeError), ({"foo": 1}, TypeError), ({"profile": "foo"}, ValueError),
    ({"linewidth": 0}, ValueError), ({"precision": -1}, ValueError), ({"sci_mode": 3}, TypeError),
    ({"edgeitems": 2**40}, ValueError)])
def test_wrong_options_of_printing_are_refused(printing, options, kind):
    with pytest.raises(kind):
        printing(**options)
    assert repr(fg.tensor([1.5])) == "tensor([1.5000])"


def test_typed_constructors_are_types_for_isinstance():
    assert fg.FloatTensor(2, 3).shape == (2, 3)
    assert fg.LongTensor([1, 2]).dtype is fg.int64 and fg.BoolTensor([1, 0]).dtype is fg.bool
    x = fg.ones(2)
    assert isinstance(x, fg.FloatTensor) and not isinstance(x, fg.LongTensor)
    assert isinstance(fg.nn.Parameter(x), fg.FloatTensor) and isinstance(3, fg.FloatTensor) is False
    assert x.type(fg.LongTensor).dtype is fg.int64
    assert x.type("torch.DoubleTensor").dtype is fg.float64 == x.type(fg.DoubleTensor).dtype
    assert fg.FloatTensor.dtype is fg.float32 and repr(fg.FloatTensor) == (
        "<class 'foregrad.FloatTensor'>")
    with pytest.raises(ValueError, match="invalid type"):
        x.type("torch.foo")
    with pytest.raises(AssertionError, match="CUDA"):
        x.type(fg.cuda.FloatTensor)
    with pytest.raises(TypeError, match="expected foregrad.int64"):
        fg.LongTensor(x)


def test_the_default_type_is_set_by_its_name():
    with pytest.warns(UserWarning, match="deprecated"):
        fg.set_default_tensor_type(fg.DoubleTensor)
    assert fg.tensor([1.0]).dtype is fg.float64
    with pytest.warns(UserWarning):
        fg.set_default_tensor_type("torch.FloatTensor")
    assert fg.get_default_dtype() is fg.float32
    for wrong in ("torch.LongTensor", "torch.cuda.FloatTensor", 3):
        with pytest.warns(UserWarning), pytest.raises(TypeError):
            fg.set_default_tensor_type(wrong)


def test_small_questions_have_answers():
    x = fg.ones(2)
    assert not fg.is_complex(x) and not fg.is_conj(x) and not fg.is_neg(x) and fg.is_signed(x)
    assert fg.is_nonzero(fg.tensor(1)) and not fg.is_nonzero(fg.tensor(0.0))
    assert fg.is_same_size(x, fg.zeros(2)) and fg.get_device(x) == -1
    assert not fg.is_storage(3) and fg.torch is fg
    assert fg.typename(x) == "foregrad.FloatTensor" and fg.typename(3) == "int"
    assert fg.typename(fg.nn.Linear(1, 1)) == "foregrad.nn.modules.linear.Linear"
    assert fg.sym_max(3, 4) == 4 and fg.sym_int(3.5) == 3 and fg.sym_not(True) is False
    with pytest.raises(TypeError, match="must be Tensor, not int"):
        fg.is_complex(1)
    with pytest.raises(RuntimeError, match="ambiguous"):
        fg.is_nonzero(x)
    assert not x.is_pinned() and not x.is_xpu and x.to_dense() is x


m, v = fg.ones(2, 2), fg.ones(2)
DEPRECATED = {
    "add": (lambda: fg.add(v, 2, v), 3), "add method": (lambda: v.add(2, v), 3),
    "add_": (lambda: v.clone().add_(2, v), 3), "sub": (lambda: v.sub(2, v), -1),
    "addcmul": (lambda: fg.addcmul(v, 2, v, v), 3), "addcdiv": (lambda: v.addcdiv(2, v, v), 3),
    "addcmul_": (lambda: v.clone().addcmul_(2, v, v), 3),
    "addmm": (lambda: fg.addmm(3, m, 2, m, m), 7), "addmm beta": (lambda: fg.addmm(3, m, m, m), 5),
    "addmm method": (lambda: m.addmm(3, 2, m, m), 7), "addmm one": (lambda: m.addmm(3, m, m), 5),
    "addmm_": (lambda: m.clone().addmm_(3, 2, m, m), 7),
    "addmv": (lambda: fg.addmv(3, v, 2, m, v), 7),
    "baddbmm": (lambda: fg.baddbmm(3, m[None], 2, m[None], m[None]), 7),
    "addbmm": (lambda: fg.addbmm(3, m, m[None], m[None]), 5),
    "number": (lambda: v.add(2, 3), 7), "out": (lambda: fg.add(v, 2, v, out=fg.empty(2)), 3)}


@pytest.mark.parametrize("name", DEPRECATED)
def test_factors_by_position_are_taken_with_a_warning(name):
    call, expected = DEPRECATED[name]
    with pytest.warns(UserWarning, match="This overload of add|This overload of"):
        assert (call() == expected).all()


def test_factors_by_position_are_no_way_around_the_types():
    for wrong in (lambda: v.add(2, "a"), lambda: v.add("a", v), lambda: fg.mul(v, 2, v),
                  lambda: fg.addmm(m, 2, 3, m)):
        with pytest.raises(TypeError):
            wrong()


def test_torchscript_gives_back_what_it_gets_and_says_so_once(run_program):
    run_program("""
        import warnings
        import foregrad as fg
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            layer = fg.nn.Linear(2, 2)
            assert fg.jit.script(layer) is layer
            assert fg.jit.trace(layer, fg.ones(1, 2)) is layer
        assert len(said) == 1 and "TorchScript does not exist here" in str(said[0].message)
    """)


def test_decorators_of_torchscript_change_nothing():
    def function(x):
        return x + 1

    jit = fg.jit
    for decorate in (jit.ignore, jit.unused, jit.export, jit.script_method, jit.ignore()):
        assert decorate(function) is function
    assert not jit.is_scripting() and not jit.is_tracing() and jit.annotate(list, [1]) == [1]
    assert jit.wait(jit.fork(function, 1)) == 2
    assert jit.isinstance([1], list[int]) and not jit.isinstance(["a"], list[int])
    assert jit.isinstance({"a": 1}, dict[str, int]) and jit.isinstance(None, int | None)
    assert not isinstance(fg.nn.Linear(1, 1), jit.ScriptModule)
    with pytest.raises(RuntimeError, match="eval mode"):
        jit.freeze(fg.nn.Linear(1, 1))
    for refused in (lambda: jit.save(function, "f"), lambda: jit.load("f"), jit.ScriptModule):
        with pytest.raises(NotImplementedError, match="TorchScript"):
            refused()


REFUSED = {
    "fx": lambda m: m.symbolic_trace(None), "export": lambda m: m.export(None, ()),
    "quantization": lambda m: m.quantize_dynamic(None),
    "ao.quantization": lambda m: m.get_default_qconfig("x86"),
    "onnx": lambda m: m.export(None, (), "a.onnx"), "hub": lambda m: m.load("a/b", "c"),
    "sparse": lambda m: m.mm(None, None),
    "distributed": lambda m: m.init_process_group("gloo")}


@pytest.mark.parametrize("name", REFUSED)
def test_modules_that_are_not_here_can_be_imported_and_say_so_when_used(name):
    module = importlib.import_module(f"foregrad.{name}")
    with pytest.raises(NotImplementedError, match=name):
        REFUSED[name](module)


def test_sparse_tensors_are_refused_by_name():
    for call in (lambda: fg.sparse_coo_tensor([[0], [0]], [1.0]), lambda: m.to_sparse()):
        with pytest.raises(NotImplementedError, match="sparse tensors do not exist here"):
            call()


def test_processes_that_train_together_are_refused_and_one_goes_on():
    assert not fg.distributed.is_available() and not fg.distributed.is_initialized()
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        fg.distributed.get_rank()
    layer = fg.nn.Linear(2, 2)
    parallel = fg.nn.DataParallel(layer, device_ids=[0])
    assert list(parallel.state_dict()) == ["module.weight", "module.bias"]
    assert parallel(m).equal(layer(m)) and parallel.device_ids == []
    assert fg.compile(parallel, fullgraph=True)(m).equal(layer(m))
    with pytest.raises(NotImplementedError, match="DistributedDataParallel"):
        fg.nn.parallel.DistributedDataParallel(layer)
    with pytest.raises(RuntimeError, match="no GPUs"):
        fg.nn.parallel.data_parallel(layer, m)


def test_weights_that_were_downloaded_are_read(tmp_path):
    fg.save({"w": v}, tmp_path / "w.pt")
    found = fg.hub.load_state_dict_from_url("https://example.org/w.pt?x=1", model_dir=str(tmp_path))
    assert found["w"].equal(v)
    with pytest.raises(NotImplementedError, match="download https://example.org/v.pt there"):
        fg.hub.load_state_dict_from_url("https://example.org/v.pt", model_dir=str(tmp_path))


def test_settings_of_another_compiler_are_taken_with_one_warning(run_program):
    run_program("""
        import warnings
        import foregrad as fg
        import foregrad._dynamo.config as config
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            fg._dynamo.config.suppress_errors = True
            fg._inductor.config.triton.cudagraphs = True
            with config.patch(verbose=True):
                assert config.verbose is True
            assert fg._dynamo.disable(len) is len
        assert len(said) == 1 and "mean nothing here" in str(said[0].message)
        assert config.suppress_errors is True and not config.something
        fg._dynamo.reset()
        assert not fg._dynamo.is_compiling()
        assert fg.compile(lambda x: x * (2 if fg._dynamo.is_compiling() else 1))(fg.ones(1)) == 2
    """)


def test_random_numbers_go_on_after_a_block():
    fg.manual_seed(0)
    expected = fg.rand(2)
    fg.manual_seed(0)
    with fg.random.fork_rng():
        fg.rand(100)
    assert fg.rand(2).equal(expected)


def test_the_report_of_the_environment_names_the_library():
    text = importlib.import_module("foregrad.utils.collect_env").get_pretty_env_info()
    assert fg.__version__ in text and "CUDA" in text and "numpy==" in text


def test_names_are_loaded_when_they_are_needed(run_program):
    run_program("""
        import sys
        import foregrad as fg
        late = ("cuda", "amp", "jit", "profiler", "multiprocessing", "testing", "backends")
        assert not [name for name in late if f"foregrad.{name}" in sys.modules]
        assert fg.cuda.is_available() is False and fg.cuda is sys.modules["foregrad.cuda"]
        assert not hasattr(fg, "nonsense")
    """)


def test_nothing_is_said_when_all_names_are_loaded():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fg._late.load_all()
