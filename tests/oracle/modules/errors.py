"""Programs that are refused, with the words of the error."""

# Programs that raise. `lib` is the library, `nn` its modules.
PROGRAMS = {
    "a missing key": "nn.Linear(2, 2).load_state_dict({'weight': lib.zeros(2, 2)})",
    "an unexpected key": "nn.Linear(2, 2, bias=False).load_state_dict({'weight': lib.zeros(2, 2),"
                         " 'more': lib.zeros(1)})",
    "another size": "nn.Linear(2, 2).load_state_dict({'weight': lib.zeros(3, 2), 'bias': "
                    "lib.zeros(2)})",
    "a key below": "nn.Sequential(nn.Linear(1, 1)).load_state_dict({'1.weight': lib.zeros(1)})",
    "no tensor": "nn.Linear(1, 1, False).load_state_dict({'weight': 3})",
    "no dictionary": "nn.Linear(1, 1).load_state_dict([1])",
    "no such attribute": "nn.Linear(1, 1).nothing",
    "a tensor as parameter": "nn.Linear(1, 1).weight = lib.zeros(1)",
    "a number as parameter": "nn.Linear(1, 1).weight = 3",
    "a number as module": "nn.Sequential(nn.ReLU()).__setattr__('0', 3)",
    "a number as buffer": "nn.BatchNorm1d(1).__setattr__('running_mean', 3)",
    "before init": "class M(nn.Module):\n  def __init__(self):\n    self.p = nn.Parameter("
                   "lib.zeros(1))\nM()",
    "a module before init": "class M(nn.Module):\n  def __init__(self):\n    self.m = nn.ReLU()\n"
                            "M()",
    "a buffer before init": "class M(nn.Module):\n  def __init__(self):\n    self.register_buffer("
                            "'b', None)\nM()",
    "no forward": "class M(nn.Module): pass\nM()(1)",
    "arguments of init": "nn.Module(1)",
    "keywords of init": "nn.Module(a=1)",
    "a name with a dot": "nn.Module().register_parameter('a.b', None)",
    "an empty name": "nn.Module().register_buffer('', None)",
    "a module's name with a dot": "nn.Module().add_module('a.b', None)",
    "a name that is there": "nn.Linear(1, 1).register_buffer('forward', None)",
    "a name that is no text": "nn.Module().register_buffer(3, None)",
    "no module": "nn.Module().add_module('a', 3)",
    "a computed parameter": "nn.Module().register_parameter('a', nn.Parameter(lib.zeros(1)) * 2)",
    "a submodule that is not there": "nn.Sequential(nn.ReLU()).get_submodule('0.a')",
    "a submodule that is none": "nn.Linear(1, 1).get_submodule('weight')",
    "a parameter that is none": "nn.BatchNorm1d(1).get_parameter('running_mean')",
    "a buffer that is none": "nn.BatchNorm1d(1).get_buffer('weight')",
    "a mode that is none": "nn.ReLU().train(1)",
    "whole numbers": "nn.Linear(1, 1).to(lib.int64)",
    "groups": "nn.Conv2d(3, 4, 1, groups=2)", "groups of outputs": "nn.Conv2d(4, 3, 1, groups=2)",
    "padding by name": "nn.Conv2d(1, 1, 1, padding='some')",
    "strided same": "nn.Conv2d(1, 1, 1, stride=2, padding='same')",
    "padding mode": "nn.Conv2d(1, 1, 1, padding_mode='some')",
    "groups of channels": "nn.GroupNorm(2, 3)", "dropout": "nn.Dropout(1.5)",
    "padding_idx": "nn.Embedding(3, 2, padding_idx=3)",
    "one value": "nn.BatchNorm1d(2)(lib.zeros(1, 2))",
    "dimensions 1": "nn.BatchNorm1d(2)(lib.zeros(2, 2, 2, 2))",
    "dimensions 2": "nn.BatchNorm2d(2)(lib.zeros(2, 2))",
    "a place": "nn.Sequential(nn.ReLU())[1]", "a place of a list": "nn.ModuleList()[0]",
    "extending by a number": "nn.ModuleList().extend(3)",
    "adding a list": "nn.Sequential() + [nn.ReLU()]", "times zero": "nn.Sequential() * 0",
    "a dictionary of numbers": "nn.ModuleDict([1])", "pairs of three": "nn.ModuleDict([[1, 2, 3]])",
    "calling parameters": "nn.ParameterList()(1)", "Hardtanh": "nn.Hardtanh(1, 0)",
    "both hooks": "m = nn.ReLU()\nm.register_backward_hook(print)\n"
                  "m.register_full_backward_hook(print)",
    "a wrong hook": "m = nn.ReLU()\nm.register_forward_pre_hook(lambda m, a, k: 3, "
                    "with_kwargs=True)\nm(lib.zeros(1))",
    "gain": "nn.init.calculate_gain('some')", "fans": "nn.init.kaiming_uniform_(lib.zeros(3))",
    "mode of fans": "nn.init.kaiming_uniform_(lib.zeros(3, 3), mode='some')",
    "a negative rate": "optim.SGD([p], lr=-1)", "nesterov": "optim.SGD([p], nesterov=True)",
    "betas": "optim.AdamW([p], betas=(1.0, 0.9))", "eps": "optim.Adam([p], eps=-1)",
    "weight decay": "optim.AdamW([p], weight_decay=-1)", "no parameters": "optim.SGD([])",
    "a tensor": "optim.SGD(p)", "numbers": "optim.SGD([1, 2])",
    "a computed tensor": "optim.SGD([p * 2])",
    "a parameter in two groups": "optim.SGD([{'params': [p]}, {'params': [p]}])",
    "a set": "optim.SGD([{'params': {p}}])", "a group": "optim.SGD([p]).add_param_group([p])",
    "groups of a state": "optim.SGD([p]).load_state_dict({'state': {}, 'param_groups': []})",
    "a schedule of nothing": "optim.lr_scheduler.StepLR(3, 1)",
    "resuming": "optim.lr_scheduler.StepLR(optim.SGD([p]), 1, last_epoch=3)",
    "LinearLR": "optim.lr_scheduler.LinearLR(optim.SGD([p]), start_factor=0)",
    "T_0": "optim.lr_scheduler.CosineAnnealingWarmRestarts(optim.SGD([p]), 0)",
    "OneCycleLR": "optim.lr_scheduler.OneCycleLR(optim.SGD([p]), 1)",
    "factor": "optim.lr_scheduler.ReduceLROnPlateau(optim.SGD([p]), factor=2)",
    "mode": "optim.lr_scheduler.ReduceLROnPlateau(optim.SGD([p]), mode='some')",
    "lambdas": "optim.lr_scheduler.LambdaLR(optim.SGD([p]), [abs, abs])",
    "not finite": "p.grad = p.detach() / 0\nnn.utils.clip_grad_norm_([p], 1, "
                  "error_if_nonfinite=True)",
}
# Ours say more after the same beginning, or name the optimiser first; PyTorch prints sets, in any
# order, and leaves out a space.
SAID_MORE = {"a negative rate", "nesterov", "betas", "eps", "weight decay", "resuming",
             "padding by name", "padding mode", "a dictionary of numbers"}


def said(name, text):
    text = text.replace("foregrad.", "torch.").replace("foregrad", "torch")
    if name in SAID_MORE:
        text = text.partition(": ")[2] if text.split(":")[0] in ("SGD", "AdamW", "Adam") else text
        return text[:20]
    return text


def cases(lib):
    for name, program in PROGRAMS.items():
        scope = {"lib": lib, "nn": lib.nn, "optim": lib.optim,
                 "p": lib.zeros(2, requires_grad=True)}
        try:
            exec(program, scope)
            found = "nothing"
        except Exception as error:
            found = f"{type(error).__name__}: {said(name, str(error))}"
        yield {"kind": "error", "case": name, "said": found}
