"""Settings of a run with their results, for TensorBoard's page HPARAMS."""

from google.protobuf import struct_pb2
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.plugins.hparams import api_pb2, metadata, plugin_data_pb2

from foregrad import _C


def _plain(value):
    """A setting as a number, a text or a bool."""
    if isinstance(value, _C.Tensor):
        value = value.item()
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()
    if isinstance(value, (bool, int, float, str)):
        return value
    raise ValueError(f"add_hparams: a setting is {value!r}; value should be one of int, float, "
                     "str, bool, or foregrad.Tensor")


def _set(target, value):
    if isinstance(value, bool):
        target.bool_value = value
    elif isinstance(value, str):
        target.string_value = value
    else:
        target.number_value = value


def _type_of(value):
    if isinstance(value, bool):
        return api_pb2.DATA_TYPE_BOOL
    return api_pb2.DATA_TYPE_STRING if isinstance(value, str) else api_pb2.DATA_TYPE_FLOAT64


def _summary(tag, **content):
    data = plugin_data_pb2.HParamsPluginData(version=metadata.PLUGIN_DATA_VERSION, **content)
    return Summary(value=[Summary.Value(tag=tag, metadata=metadata.create_summary_metadata(data),
                                        tensor=metadata.NULL_TENSOR)])


def summaries(settings, metrics, domains=None):
    """The three records of a run: the experiment, the begin of the session and its end."""
    for name, given in (("hparam_dict", settings), ("metric_dict", metrics),
                        ("hparam_domain_discrete", domains or {})):
        if not isinstance(given, dict):
            raise TypeError(f"add_hparams: {name} should be a dictionary, got "
                            f"{type(given).__name__}")
    infos = []
    start = plugin_data_pb2.SessionStartInfo()
    for name, value in settings.items():
        if value is None:
            continue
        value = _plain(value)
        _set(start.hparams[name], value)
        domain = None
        if domains and name in domains:
            domain = struct_pb2.ListValue(values=[_value(one) for one in domains[name]])
        infos.append(api_pb2.HParamInfo(name=name, type=_type_of(value), domain_discrete=domain))
    found = [api_pb2.MetricInfo(name=api_pb2.MetricName(tag=name)) for name in metrics]
    experiment = api_pb2.Experiment(hparam_infos=infos, metric_infos=found)
    end = plugin_data_pb2.SessionEndInfo(status=api_pb2.Status.Value("STATUS_SUCCESS"))
    return (_summary(metadata.EXPERIMENT_TAG, experiment=experiment),
            _summary(metadata.SESSION_START_INFO_TAG, session_start_info=start),
            _summary(metadata.SESSION_END_INFO_TAG, session_end_info=end))


def _value(value):
    made = struct_pb2.Value()
    _set(made, _plain(value))
    return made
