"""The graph of a model as TensorBoard shows it: what foregrad.compile captures of a call."""

from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.config_pb2 import RunMetadata
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef
from tensorboard.compat.proto.step_stats_pb2 import DeviceStepStats, StepStats
from tensorboard.compat.proto.versions_pb2 import VersionDef

import foregrad


def _title(node):
    """The name of a node: of an input its own, in folders of modules."""
    number = node.name.removeprefix("%")
    if node.op != "placeholder":
        return node.name if node.op == "output" else f"{node.target}_{number}"
    quoted = node.target.partition('"')[2].rpartition('"')[0]
    path = (quoted or node.target).removeprefix("self.").replace(".", "/")
    return f"{path or 'input'}_{number}".replace(" ", "_")


def _operands(args, names):
    """Names of the values among nested arguments."""
    for arg in args:
        if isinstance(arg, (list, tuple)):
            yield from _operands(arg, names)
        elif isinstance(arg, str) and arg in names:
            yield names[arg]


def graph_of(model, inputs, verbose=False):
    """The records of a model's graph, for inputs like those given."""
    captured = foregrad.compile(model, fullgraph=True)
    training = model.training
    try:
        with foregrad.no_grad():
            captured(*(inputs if isinstance(inputs, (tuple, list)) else (inputs,)))
    finally:
        model.train(training)
    nodes = captured.graphs()["forward"].nodes
    names = {node.name: _title(node) for node in nodes}
    made = [NodeDef(name=names[node.name], op=node.target if node.op == "call_function" else
                    "IO Node", input=list(_operands(node.args, names)),
                    attr={"attr": AttrValue(s=str(node.target).encode())}) for node in nodes]
    if verbose:
        print(captured.graphs()["forward"])
    stats = RunMetadata(step_stats=StepStats(dev_stats=[DeviceStepStats(device="/device:CPU:0")]))
    return GraphDef(node=made, versions=VersionDef(producer=22)), stats
