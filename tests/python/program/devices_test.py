"""Devices that are not here: questions get the truth, and what needs one says so in a sentence."""

import importlib
import pickle

import foregrad as fg
import pytest

NOT_COMPILED = "Foregrad is not compiled with CUDA enabled"


def test_a_device_is_an_object_of_its_name_and_number():
    assert repr(fg.device("cuda")) == "device(type='cuda')"
    assert repr(fg.device("cuda", 0)) == "device(type='cuda', index=0)"
    assert str(fg.device("cuda:1")) == "cuda:1" and fg.device("cuda:1").index == 1
    assert fg.device(type="xpu", index=2) == fg.device("xpu:2")
    assert fg.device(device="mps") == fg.device(fg.device("mps"))
    assert fg.device("cuda") != fg.device("cuda:0") and fg.device("cuda") != "cuda"
    assert hash(fg.device("cuda")) == hash(fg.device("cuda"))
    assert pickle.loads(pickle.dumps(fg.device("cuda:3"))) == fg.device("cuda:3")
    assert fg.device("cpu", None) == fg.device("cpu")


@pytest.mark.parametrize("arguments, kind, message", [
    (("foo",), RuntimeError, "'foo' does not exist; expected one of cpu, cuda"),
    (("",), RuntimeError, "empty"), (("cuda:",), RuntimeError, "no number"),
    (("cuda:-1",), RuntimeError, "no number"), (("cuda:01",), RuntimeError, "no number"),
    (("cuda:1", 1), RuntimeError, "so has the call"), (("cpu", -1), RuntimeError, "negative"),
    ((0,), RuntimeError, "there is none"), ((1.5,), TypeError, "float"),
    ((), TypeError, "NoneType"),
    ((None,), TypeError, "NoneType"), ((fg.device("cpu"), 1), TypeError, "device"),
])
def test_a_wrong_device_is_refused(arguments, kind, message):
    with pytest.raises(kind, match=message):
        fg.device(*arguments)


def test_a_device_cannot_be_changed():
    with pytest.raises(AttributeError, match="cannot be set"):
        fg.device("cpu").type = "cuda"


NEED = {
    "a function": lambda d: fg.zeros(2, device=d), "a like": lambda d: fg.ones(2).new_zeros(
        2, device=d), "tensor": lambda d: fg.tensor([1], device=d),
    "as_tensor": lambda d: fg.as_tensor([1], device=d), "to": lambda d: fg.ones(2).to(d),
    "to by name": lambda d: fg.ones(2).to(device=d), "a layer": lambda d: fg.nn.Linear(
        2, 2, device=d), "a module": lambda d: fg.nn.Linear(2, 2).to(d),
    "the default": fg.set_default_device, "a context": lambda d: fg.device(d).__enter__(),
    "a generator": lambda d: fg.Generator(d), "new_tensor": lambda d: fg.ones(1).new_tensor(
        [1], device=d), "make_tensor": lambda d: fg.testing.make_tensor(
            2, dtype=fg.float32, device=d)}


@pytest.mark.parametrize("name", NEED)
def test_a_tensor_on_a_gpu_is_refused_as_pytorch_does(name):
    for device in ("cuda", "cuda:1", fg.device("cuda")):
        with pytest.raises(AssertionError, match=NOT_COMPILED) as caught:
            NEED[name](device)
        assert isinstance(caught.value, RuntimeError) and "\n" not in str(caught.value)
    for device in ("mps", "meta", "foo"):
        with pytest.raises(RuntimeError):
            NEED[name](device)


def test_the_cpu_may_have_a_number():
    assert fg.zeros(2, device="cpu:0").device == fg.device("cpu")
    assert fg.ones(2).to("cpu:1").device == fg.device("cpu")


def test_moving_is_refused_and_numbers_are_those_of_accelerators():
    for move in (fg.ones(1).cuda, fg.nn.Linear(1, 1).cuda):
        with pytest.raises(AssertionError, match=NOT_COMPILED):
            move()
        with pytest.raises(RuntimeError, match="there is none"):
            move(0)
    with pytest.raises(AssertionError, match="XPU"):
        fg.ones(1).xpu()
    for call in (lambda: fg.ones(1).to(0), lambda: fg.zeros(1, device=0)):
        with pytest.raises(RuntimeError, match="number of an accelerator"):
            call()
    with pytest.raises(RuntimeError, match="no accelerator"):
        fg.ones(1).pin_memory()


def test_cuda_answers_with_the_truth():
    cuda = fg.cuda
    assert not cuda.is_available() and cuda.device_count() == 0 and not cuda.is_initialized()
    assert not cuda.is_bf16_supported() and cuda.get_arch_list() == []
    assert cuda.manual_seed(1) is None and cuda.manual_seed_all(1) is None
    assert cuda.memory_allocated() == cuda.max_memory_allocated() == cuda.memory_reserved() == 0
    assert cuda.memory_stats() == {} and cuda.empty_cache() is None
    assert cuda.get_rng_state_all() == [] and cuda.set_rng_state_all([]) is None
    assert cuda.set_device(-1) is None and issubclass(cuda.OutOfMemoryError, RuntimeError)
    with cuda.device(-1), cuda.device_of(fg.ones(1)), cuda.stream(None):
        pass
    with pytest.warns(FutureWarning, match="renamed"):
        assert cuda.memory_cached() == 0


@pytest.mark.parametrize("name", [
    "current_device", "get_device_name", "get_device_properties", "get_device_capability",
    "synchronize", "mem_get_info", "current_stream", "init", "ipc_collect", "memory_summary",
    "reset_peak_memory_stats", "Stream", "Event", "CUDAGraph", "make_graphed_callables"])
def test_cuda_refuses_what_needs_a_gpu(name):
    with pytest.raises(AssertionError, match=f"cuda.{name}: {NOT_COMPILED}"):
        getattr(fg.cuda, name)()


def test_contexts_of_a_gpu_are_refused_when_they_are_entered():
    for context in (fg.cuda.device(0), fg.cuda.device("cuda:1"), fg.cuda.device("cuda")):
        with pytest.raises(AssertionError, match=NOT_COMPILED), context:
            pass
    with pytest.raises(RuntimeError, match="NVTX"), fg.cuda.nvtx.range("block"):
        pass
    with pytest.raises(TypeError, match="not available"):
        fg.cuda.FloatTensor(2)
    assert not isinstance(fg.ones(1), fg.cuda.FloatTensor)


@pytest.mark.parametrize("kind", ["xpu", "mtia", "mps"])
def test_other_accelerators_answer_and_refuse_alike(kind):
    module = importlib.import_module(f"foregrad.{kind}")
    assert not module.is_available() and module.device_count() == 0
    assert module.manual_seed(1) is None
    with pytest.raises(RuntimeError, match=f"not compiled with {kind.upper()}"):
        module.synchronize()


def test_there_is_no_accelerator():
    accelerator = fg.accelerator
    assert not accelerator.is_available() and accelerator.device_count() == 0
    assert accelerator.current_accelerator() is None
    for call in (accelerator.synchronize, accelerator.current_device_index,
                 accelerator.memory_allocated, lambda: accelerator.set_device_index(0)):
        with pytest.raises(RuntimeError, match="there is no accelerator"):
            call()


def test_the_cpu_is_a_device_with_streams_that_are_done():
    assert fg.cpu.is_available() and fg.cpu.device_count() == 1
    assert fg.cpu.current_device() == "cpu" and fg.cpu.synchronize() is None
    with fg.cpu.stream(fg.cpu.Stream()) as stream:
        assert stream.query()
    first, second = fg.Event(enable_timing=True), fg.Event(enable_timing=True)
    first.record()
    second.record()
    assert first.elapsed_time(second) >= 0 and first.query()
    with pytest.raises(RuntimeError, match="enable_timing"):
        fg.Event().elapsed_time(second)
    with pytest.raises(AssertionError, match=NOT_COMPILED):
        fg.Stream("cuda")
    assert fg.get_device_module("cpu") is fg.cpu and fg.get_device_module("cuda") is fg.cuda


def test_backends_answer_and_keep_settings():
    backends = fg.backends
    assert not backends.cudnn.is_available() and backends.cudnn.version() is None
    assert not backends.mps.is_available() and not backends.cuda.is_built()
    backends.cudnn.benchmark = True
    with backends.cudnn.flags(enabled=False, benchmark=False):
        assert not backends.cudnn.enabled and not backends.cudnn.benchmark
    assert backends.cudnn.enabled and backends.cudnn.benchmark
    backends.cudnn.benchmark = False
    backends.cuda.matmul.allow_tf32 = True
    with pytest.raises(AttributeError):
        backends.cuda.matmul.allow_everything = True
    with backends.cuda.sdp_kernel(enable_flash=False):
        assert not backends.cuda.flash_sdp_enabled()
    assert backends.cuda.flash_sdp_enabled()
    assert backends.cpu.get_cpu_capability() in ("DEFAULT", "AVX2", "AVX512")
    with pytest.raises(AssertionError, match=NOT_COMPILED):
        backends.cuda.cufft_plan_cache.size
    with pytest.raises(NotImplementedError, match="ONEDNN_VERBOSE"):
        backends.mkldnn.verbose(1)


def test_versions_say_that_there_is_no_gpu():
    assert fg.version.cuda is None and fg.version.hip is None
    assert fg.version.__version__ == fg.__version__
    assert "CUDA=OFF" in fg.__config__.show() and "threads" in fg.__config__.parallel_info()


def test_a_device_is_chosen_as_programs_do_and_captured():
    device = fg.device("cuda" if fg.cuda.is_available() else "cpu")
    layer = fg.nn.Linear(2, 2).to(device)

    def step(x):
        scale = 2.0 if fg.cuda.is_available() else 1.0
        with fg.device("cpu"):
            return layer(x.to(device)).sum() * scale + fg.zeros((), device=device)

    x = fg.ones(3, 2)
    assert fg.compile(step, fullgraph=True)(x).equal(step(x))
