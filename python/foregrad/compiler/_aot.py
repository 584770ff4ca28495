"""aot_function, aot_module: functions whose graphs the caller's compilers compile."""

import functools

from foregrad.compiler._compile import Compiled, callable_of


def nop(graph, example_inputs):
    """The compiler that changes nothing: the graph runs as it is."""
    return graph


def make_boxed_func(function):
    """A callable that takes one list of inputs, which it may empty."""

    def boxed(args):
        return function(*args)

    boxed._boxed_call = True
    return boxed


def make_boxed_compiler(compiler):
    """A compiler whose results take one list of inputs."""

    @functools.wraps(compiler)
    def boxed_compiler(graph, example_inputs):
        return make_boxed_func(compiler(graph, example_inputs))

    return boxed_compiler


class _Partition:
    """Names a way of splitting the joint graph; the library does it."""

    def __init__(self, name, documentation):
        self.__name__ = self.name = name
        self.__doc__ = documentation

    def __repr__(self):
        return f"<partition {self.name}>"

    def __call__(self, *args, **kwargs):
        raise NotImplementedError(
            f"{self.name}: the library splits joint graphs itself; pass this as partition_fn")


default_partition = _Partition("default", "Saves what the backward reads.")
min_cut_rematerialization_partition = _Partition(
    "min_cut", "Saves the smallest values from which the backward can compute what it reads.")


def _partition_name(partition_fn):
    if isinstance(partition_fn, _Partition):
        return partition_fn.name
    raise TypeError("partition_fn: expected default_partition or "
                    f"min_cut_rematerialization_partition, got {partition_fn!r}; a partitioner of "
                    "one's own is not here yet")


_WHY_NOT = {
    "dynamic": "every new size is a version of its own",
    "disable_functionalization": "graphs are always functional",
    "keep_inference_input_mutations": "graphs never write to their inputs; calls do that",
    "num_params_buffers": "no input is treated as another one",
    "enable_log": "FOREGRAD_LOG=graph alone decides what is logged",
}


def _refuse(**others):
    """Refuses options that do not have their defaults."""
    for option, other in others.items():
        if other:
            raise NotImplementedError(f"aot_function: {option} is not here: {_WHY_NOT[option]}; "
                                      "leave it out")


def aot_function(fn, fw_compiler, bw_compiler=None, partition_fn=default_partition,
                 decompositions=None, num_params_buffers=0, keep_inference_input_mutations=False,
                 inference_compiler=None, *, dynamic=False, enable_log=True,
                 disable_functionalization=False):
    """`fn` captured ahead of time: compilers get its forward and backward graphs.

    A function that cannot be captured is an error. A compiler is called with a graph and example
    inputs, and returns a callable that runs in the place of the graph. inference_compiler, if it is
    given, compiles calls without gradients, and fw_compiler all other forwards. Graphs are
    functional, have the sizes of a call, and do not write to their inputs.
    """
    _refuse(dynamic=dynamic, disable_functionalization=disable_functionalization,
            keep_inference_input_mutations=keep_inference_input_mutations,
            num_params_buffers=num_params_buffers, enable_log=not enable_log)
    if decompositions:
        raise NotImplementedError("aot_function: decompositions are not here yet; graphs are made "
                                  "of primitives already")
    return callable_of(Compiled(fn, fullgraph=True, forward=fw_compiler,
                                backward=bw_compiler or fw_compiler,
                                partition=_partition_name(partition_fn),
                                inference=inference_compiler))


def aot_module(mod, *args, **kwargs):
    """As aot_function, for an object with forward and parameters."""
    from foregrad.compiler._module import object_of
    return object_of(mod, aot_function(mod, *args, **kwargs))


def aot_module_simplified(mod, args, fw_compiler, bw_compiler=None,
                          partition_fn=default_partition, **kwargs):
    """As aot_module; `args` are example inputs, which are not needed here."""
    return aot_module(mod, fw_compiler, bw_compiler, partition_fn, **kwargs)


compiled_function = aot_function
compiled_module = aot_module
