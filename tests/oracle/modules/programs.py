"""Small programs about modules and optimisers; `show` notes what they see."""
import copy
import pickle
from collections import OrderedDict

PROGRAMS = {
    "assigning a parameter": "m = nn.Module(); m.p = nn.Parameter(one(2)); m.b = "
                             "nn.Buffer(one(1))\n"
                             "m.n = nn.Buffer(one(1), persistent=False); m.c = nn.ReLU(); m.t = "
                             "one(1)\n"
                             "show(list(m._parameters), list(m._buffers), list(m._modules), "
                             "list(m.state_dict()), 't' in m.__dict__)",
    "assigning anew": "m = nn.Linear(2, 2); m.weight = None; show(m.weight, list(m.state_dict()))\n"
                      "m.bias = nn.Parameter(one(3)); show(m.bias.shape)\n"
                      "m.x = 3; m.x = nn.ReLU(); show('x' in m.__dict__, m.x)\n"
                      "m.x = None; show(m.x, list(m._modules)); del m.x; show(hasattr(m, 'x'))",
    "a parameter becomes a buffer": "m = nn.Module(); m.p = nn.Parameter(one(1)); del m.p\n"
                                    "m.register_buffer('p', one(1)); show(list(m.state_dict()))\n"
                                    "m.p = one(2); show(m.p.shape, list(m._buffers)); m.p = None\n"
                                    "show(list(m.state_dict()), list(m._buffers))",
    "buffers": "m = nn.BatchNorm1d(2); m.running_mean = one(2) * 3\n"
               "show([n for n, _ in m.named_buffers()], m.state_dict()['running_mean'].tolist())\n"
               "m.register_buffer('x', one(1), persistent=False); show(list(m.state_dict()))",
    "sharing": "a = nn.Linear(2, 2); m = nn.Sequential(a, nn.Sequential(a), nn.ReLU())\n"
               "show([n for n, _ in m.named_parameters()], [n for n, _ in m.named_modules()], "
               "list(m.state_dict()), [n for n, _ in m.named_parameters(remove_duplicate=False)], "
               "[n for n, _ in m.named_modules(remove_duplicate=False)], len(list(m.children())))",
    "prefixes": "m = nn.Sequential(nn.Linear(1, 1)); show([n for n, _ in m.named_parameters('a')], "
                "list(m.state_dict(prefix='b.')), [n for n, _ in m.named_modules(prefix='c')], "
                "[n for n, _ in m.named_parameters(recurse=False)])",
    "keep_vars": "m = nn.Linear(1, 1); show([t.requires_grad for t in m.state_dict().values()], "
                 "[t.requires_grad for t in m.state_dict(keep_vars=True).values()])",
    "metadata": "show(dict(nn.Sequential(nn.BatchNorm1d(1)).state_dict()._metadata))",
    "assign": "m = nn.Linear(1, 1); w = one(1, 1) * 5; m.load_state_dict({'weight': w, 'bias': "
              "one(1)"
              "}, assign=True); w += 1; show(m.weight.tolist(), type(m.weight).__name__)",
    "not strict": "m = nn.Linear(1, 1); show(m.load_state_dict({'weight': one(1, 1), 'x': 3}, "
                  "strict=False)); show(m.load_state_dict(m.state_dict()))",
    "extra state": "class M(nn.Module):\n  def get_extra_state(self): return 5\n"
                   "  def set_extra_state(self, s): show('set', s)\n"
                   "m = nn.Sequential(M()); show(dict(m.state_dict())); m.load_state_dict("
                   "m.state_dict())\nshow(m.load_state_dict({}, strict=False))",
    "an old file of BatchNorm": "m = nn.BatchNorm1d(1); s = {k: v for k, v in "
                                "m.state_dict().items() "
                                "if 'num' not in k}; show(m.load_state_dict(s))",
    "modes": "m = nn.Sequential(nn.Dropout(), nn.Sequential(nn.ReLU())); m.eval()\n"
             "show([x.training for x in m.modules()]); m[1].train(); show([x.training for x in "
             "m.modules()])",
    "apply": "nn.Sequential(nn.Linear(1, 1), nn.Sequential(nn.ReLU())).apply(lambda m: show("
             "type(m).__name__))",
    "requires_grad_": "m = nn.Linear(1, 1).requires_grad_(False); show([p.requires_grad for p in "
                      "m.parameters()])",
    "zero_grad": "m = nn.Linear(1, 1); m(one(1)).sum().backward(); m.zero_grad(set_to_none=False)\n"
                 "show(m.weight.grad.tolist()); m.zero_grad(); show(m.weight.grad)",
    "conversion": "m = nn.Sequential(nn.Linear(1, 1), nn.BatchNorm1d(1)); p = m[0].weight; "
                  "m.double()"
                  "\nshow(p is m[0].weight, str(p.dtype)[-5:], [str(b.dtype)[-5:] for b in "
                  "m.buffers()]"
                  ")\nm.half(); show(str(p.dtype)[-5:]); m.to(lib.float32); m.to('cpu'); "
                  "m.to(one(1).double()); show(str(p.dtype)[-5:], p.requires_grad)",
    "conversion of gradients": "m = nn.Linear(1, 1); m(one(1)).sum().backward(); m.double()\n"
                               "show(str(m.weight.grad.dtype)[-5:]); m(one(1).double()).sum()."
                               "backward(); show(m.weight.grad.tolist())",
    "forward hooks": "m = nn.ReLU()\nm.register_forward_hook(lambda m, a, o: show('after', "
                     "len(a)))\n"
                     "m.register_forward_pre_hook(lambda m, a: show('before') or (a[0] + 1,))\n"
                     "h = m.register_forward_hook(lambda m, a, o: o * 10, prepend=True)\n"
                     "show(m(one(1)).tolist()); h.remove(); show(m(one(1)).tolist())",
    "hooks with keywords": "class M(nn.Module):\n  def forward(self, x, k=1): return x * k\n"
                           "m = M()\nm.register_forward_pre_hook(lambda m, a, k: (a, {'k': 7}), "
                           "with_kwargs=True)\nm.register_forward_hook(lambda m, a, k, o: show(k), "
                           "with_kwargs=True)\nshow(m(one(1), k=2).tolist())",
    "hooks that are always called": "class M(nn.Module):\n  def forward(self, x): raise "
                                    "ValueError()"
                                    "\nm = M()\nm.register_forward_hook(lambda m, a, o: "
                                    "show('after'"
                                    ", o), always_call=True)\nm.register_forward_hook(lambda m, "
                                    "a, o:"
                                    " show('never'))\ntry: m(one(1))\nexcept ValueError: show('x')",
    "hooks of all modules": "g = lib.nn.modules.module\nh = "
                            "g.register_module_forward_hook(lambda m, "
                            "a, o: show(type(m).__name__))\nk = g.register_module_forward_pre_hook("
                            "lambda m, a: show('pre', type(m).__name__))\nnn.Sequential(nn.ReLU(), "
                            "nn.Tanh())(one(1)); h.remove(); k.remove(); nn.ReLU()(one(1))",
    "hooks of registration": "g = lib.nn.modules.module\nhs = "
                             "[g.register_module_buffer_registration_"
                             "hook(lambda m, n, b: show('b', n)), g.register_module_module_"
                             "registration_hook(lambda m, n, c: show('m', n)), g.register_module_"
                             "parameter_registration_hook(lambda m, n, p: show('p', n))]\n"
                             "m = nn.BatchNorm1d(1); nn.Sequential(m); m.w = nn.Parameter(one(1))\n"
                             "for h in hs: h.remove()",
    "full backward hooks": "m = nn.Linear(2, 1, bias=False)\nm.load_state_dict({'weight': "
                           "one(1, 2)})"
                           "\nm.register_full_backward_hook(lambda m, i, o: show([g.tolist() "
                           "for g in "
                           "i], [g.tolist() for g in o]))\nx = one(2).requires_grad_()\n"
                           "(m(x) * 3).sum().backward(); show(x.grad.tolist())",
    "backward hooks that change": "m = nn.ReLU()\nm.register_full_backward_pre_hook(lambda m, o: "
                                  "(o[0] * 5,))\nm.register_full_backward_hook(lambda m, i, o: "
                                  "(i[0] * 2,))\nx = one(2).requires_grad_(); "
                                  "m(x).sum().backward()\n"
                                  "show(x.grad.tolist())",
    "backward hooks without inputs": "m = nn.Linear(1, 1)\nm.load_state_dict({'weight': one(1, 1), "
                                     "'bias': one(1)})\nm.register_full_backward_hook(lambda m, "
                                     "i, o:"
                                     " show(i, o[0].tolist()))\nm(one(1)).sum().backward()",
    "backward hooks of several outputs": "class M(nn.Module):\n  def forward(self, x, n): "
                                         "return x * 2"
                                         ", x * 3\nm = "
                                         "M()\nm.register_full_backward_hook(lambda m, "
                                         "i, o: show([g if g is None else g.tolist() for g in i], "
                                         "[g.tolist() for g in o]))\na, b = "
                                         "m(one(1).requires_grad_()"
                                         ", 5)\n(a + b * 4).sum().backward()",
    "old backward hooks": "m = nn.Tanh()\nm.register_backward_hook(lambda m, i, o: show(len(i), "
                          "o[0].tolist()))\nx = one(1).requires_grad_(); (m(x) * "
                          "3).sum().backward()",
    "state dict hooks": "m = nn.Sequential(nn.Linear(1, "
                        "1))\nm[0].register_state_dict_pre_hook(lambda "
                        "m, p, k: show('pre', p, k))\nm[0].register_state_dict_post_hook(lambda "
                        "m, s, "
                        "p, d: show('post', list(s), p, "
                        "d))\nm[0].register_load_state_dict_pre_hook("
                        "lambda m, s, p, d, st, mi, un, er: show('load', type(m).__name__, "
                        "list(s), p,"
                        " st))\nm.register_load_state_dict_post_hook(lambda m, k: k.missing_keys."
                        "clear())\nm.state_dict(); show(m.load_state_dict({'0.weight': one(1, "
                        "1)}))",
    "copies": "m = nn.Sequential(nn.Linear(1, 1), nn.BatchNorm1d(1)); m[0].tied = m[0].weight\n"
              "c = copy.deepcopy(m); show(c[0].tied is c[0].weight, c[0].weight is m[0].weight, "
              "list(c.state_dict()), type(c[0].weight).__name__)\n"
              "p = pickle.loads(pickle.dumps(nn.Linear(1, 2))); show(p, p.weight.requires_grad)",
    "lists": "m = nn.ModuleList([nn.ReLU()]); m.append(nn.Tanh()); m.insert(0, nn.GELU()); m += "
             "[nn.SiLU()]\nshow(len(m), m, m[-1], m[1:3], [type(x).__name__ for x in m]); del "
             "m[1]\n"
             "m[0] = nn.Mish(); show(list(m._modules), m.pop(0), m + [nn.ReLU()])",
    "sequences": "m = nn.Sequential(OrderedDict(a=nn.ReLU(), b=nn.Tanh())); show(m.a, m[0], "
                 "m[-1])\n"
                 "m[1] = nn.GELU(); show(m); del m[0]; show(m, len(m)); m.extend([nn.ReLU()]); "
                 "m *= 2; show(m)",
    "dictionaries": "m = nn.ModuleDict({'a': nn.ReLU()}); m['b'] = nn.Tanh(); m.update([['c', "
                    "nn.GELU("
                    ")]])\nshow(list(m), 'a' in m, len(m), list(m.keys()), m.pop('a'), m)\n"
                    "del m['b']; show(list(m.items())); m.clear(); show(len(m))",
    "parameters in lists": "m = nn.ParameterList([one(1), nn.Parameter(one(2))]); "
                           "m.append(one(3))\n"
                           "show(len(m), [type(p).__name__ for p in m], list(m.state_dict()), "
                           "m[-1].shape, len(m[1:]))\nd = nn.ParameterDict({'a': one(1)}); "
                           "d['b'] = "
                           "one(2); show(list(d), list(d.state_dict()), 'a' in d, "
                           "d.pop('a').shape)",
    "paths": "m = nn.Sequential(nn.Sequential(nn.BatchNorm1d(1))); show(m.get_submodule('0.0'), "
             "m.get_parameter('0.0.weight').shape, m.get_buffer('0.0.running_var').shape)\n"
             "m.set_submodule('0.0', nn.ReLU()); show(m)",
    "embedding": "e = nn.Embedding.from_pretrained(one(3, 2)); show(e.weight.requires_grad, e)",
    "clipping": "p = nn.Parameter(one(2)); p.grad = one(2) * 3; q = nn.Parameter(one(1))\n"
                "show(round(nn.utils.clip_grad_norm_([p, q], 1.0).item(), 5), [round(x, 4) for "
                "x in "
                "p.grad.tolist()], nn.utils.clip_grad_norm_([q], 1.0).item()); "
                "nn.utils.clip_grad_value_(p, 0.5); show(p.grad.tolist())",
    "vectors": "m = nn.Linear(2, 1); v = nn.utils.parameters_to_vector(m.parameters()); "
               "show(v.shape)"
               "\nnn.utils.vector_to_parameters(one(3) * 2, m.parameters()); "
               "show(m.weight.tolist(), "
               "type(m.weight).__name__, m.weight.requires_grad)",
    "closures": "p = nn.Parameter(one(1)); o = lib.optim.SGD([p], lr=0.5)\ndef f():\n  "
                "o.zero_grad(); "
                "l = (p * p).sum(); l.backward(); return l\nshow(o.step(f).item(), p.tolist())",
    "groups": "a, b = nn.Parameter(one(1)), nn.Parameter(one(1)); o = lib.optim.SGD([a], lr=0.5)\n"
              "o.add_param_group({'params': b, 'lr': 0.25}); show(o); show(o.state_dict())\n"
              "o = lib.optim.SGD([('x', a), ('y', b)]); show(o.param_groups[0]['param_names'])",
    "hooks of steps": "p = nn.Parameter(one(1)); o = lib.optim.SGD([p], lr=0.5)\n"
                      "h = o.register_step_pre_hook(lambda o, a, k: show('pre', a, k))\n"
                      "o.register_step_post_hook(lambda o, a, k: show('post')); o.step(); "
                      "h.remove()\n"
                      "o.step()",
    "a frozen parameter": "a, b = nn.Parameter(one(1)), nn.Parameter(one(1), requires_grad=False)\n"
                          "o = lib.optim.AdamW([a, b]); (a * b).sum().backward(); o.step()\n"
                          "show(list(o.state_dict()['state']), b.tolist(), list(o.state[a]))",
    "steps without gradients": "a = nn.Parameter(one(1)); o = lib.optim.Adam([a]); o.step(); show("
                               "o.state_dict()['state'], a.tolist())",
    "an optimiser of one's own": "class O(lib.optim.Optimizer):\n  def __init__(self, p): super()."
                                 "__init__(p, {'lr': 0.5})\n  def step(self, closure=None):\n   "
                                 " for g"
                                 " in self.param_groups:\n      for p in g['params']: p.data.add_("
                                 "p.grad, alpha=-g['lr']); self.state[p]['n'] = 1\n"
                                 "p = nn.Parameter(one(1)); o = O([p]); p.grad = one(1); o.step()\n"
                                 "show(p.tolist(), o.state_dict()); copy.deepcopy(o)",
    "two schedules": "o = lib.optim.SGD([nn.Parameter(one(1))], lr=1.0); s = "
                     "lib.optim.lr_scheduler\n"
                     "a, b = s.ExponentialLR(o, 0.5), s.StepLR(o, 2, 0.1)\nfor _ in range(4): "
                     "o.step();"
                     " a.step(); b.step(); show(o.param_groups[0]['lr'])\nshow(a.last_epoch, "
                     "a.get_last_lr())",
}


def shown(value):
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(shown(v) for v in value) + "]"
    text = repr(value)
    return text.replace("torch.", "foregrad.")


def cases(lib):
    for name, program in PROGRAMS.items():
        seen = []
        scope = {"lib": lib, "nn": lib.nn, "one": lib.ones, "copy": copy, "pickle": pickle,
                 "OrderedDict": OrderedDict,
                 "show": lambda *values: seen.append(" ".join(shown(v) for v in values))}
        try:
            exec(program, scope)
        except Exception as error:
            seen.append(f"{type(error).__name__}: {error}")
        yield {"kind": "program", "case": name, "seen": seen}
