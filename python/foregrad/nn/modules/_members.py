"""Members of a module: parameters, buffers, modules, and their names."""

from foregrad import _C
from foregrad.nn.modules import _global_hooks as everywhere
from foregrad.nn.parameter import Buffer, Parameter

Tensor = _C.Tensor


def typename(value):
    """The name of a value's type, as messages say it."""
    if isinstance(value, Tensor) and type(value) is Tensor:
        return value.type()
    kind = type(value)
    module = "" if kind.__module__ in ("builtins", None) else kind.__module__ + "."
    return module + kind.__qualname__


def _check_name(what, name, module, known):
    if not isinstance(name, str):
        raise TypeError(f"{what} name should be a string. Got {typename(name)}")
    if "." in name:
        got = f", got: {name}" if what == "module" else ""
        raise KeyError(f"{what} name can't contain \".\"{got}")
    if name == "":
        raise KeyError(f"{what} name can't be empty string \"\"")
    if hasattr(module, name) and name not in known:
        raise KeyError(f"attribute '{name}' already exists")


class Members:
    """Registration, attributes and traversal; a part of Module."""

    def register_parameter(self, name, param):
        """Adds a parameter, or None for one that is not there."""
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        _check_name("parameter", name, self, self._parameters)
        if param is not None:
            if not isinstance(param, Parameter):
                raise TypeError(f"cannot assign '{typename(param)}' object to parameter '{name}' "
                                "(foregrad.nn.Parameter or None required)")
            if param.grad_fn:
                raise ValueError(
                    f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must "
                    f"be created explicitly. To express '{name}' as a function of another Tensor, "
                    "compute the value in the forward() method.")
            param = everywhere.changed_by(everywhere.parameter_registration, self, name, param)
        self._parameters[name] = param

    def register_buffer(self, name, tensor, persistent=True):
        """Adds a tensor that is no parameter; only persistent ones are in state_dict()."""
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        _check_name("buffer", name, self, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"cannot assign '{typename(tensor)}' object to buffer '{name}' "
                            "(foregrad Tensor or None required)")
        self._buffers[name] = everywhere.changed_by(everywhere.buffer_registration, self, name,
                                                    tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name, module):
        """Adds a child."""
        if module is not None and not isinstance(module, Members):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        _check_name("module", name, self, self._modules)
        self._modules[name] = everywhere.changed_by(everywhere.module_registration, self, name,
                                                    module)

    def register_module(self, name, module):
        """The same as add_module."""
        self.add_module(name, module)

    # ---- attributes

    def __getattr__(self, name):
        for kind in ("_parameters", "_buffers", "_modules"):
            members = self.__dict__.get(kind)
            if members is not None and name in members:
                return members[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name, value):
        members = self.__dict__
        if isinstance(value, Parameter):
            if "_parameters" not in members:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            _remove(name, members, self._buffers, self._modules, self._non_persistent_buffers_set)
            self.register_parameter(name, value)
        elif name in members.get("_parameters", ()):
            if value is not None:
                raise TypeError(f"cannot assign '{typename(value)}' as parameter '{name}' "
                                "(foregrad.nn.Parameter or None expected)")
            self.register_parameter(name, value)
        elif isinstance(value, Members):
            if "_modules" not in members:
                raise AttributeError("cannot assign module before Module.__init__() call")
            _remove(name, members, self._parameters, self._buffers,
                    self._non_persistent_buffers_set)
            self._set_module(name, value)
        elif name in members.get("_modules", ()):
            if value is not None:
                raise TypeError(f"cannot assign '{typename(value)}' as child module '{name}' "
                                "(foregrad.nn.Module or None expected)")
            self._set_module(name, value)
        elif isinstance(value, Buffer) or name in members.get("_buffers", ()):
            self._set_buffer(name, value)
        else:
            object.__setattr__(self, name, value)

    def _set_module(self, name, value):
        self._modules[name] = everywhere.changed_by(everywhere.module_registration, self, name,
                                                    value)

    def _set_buffer(self, name, value):
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(f"cannot assign '{typename(value)}' as buffer '{name}' "
                            "(foregrad.nn.Buffer, foregrad.Tensor or None expected)")
        persistent = (value.persistent if isinstance(value, Buffer)
                      else name not in self._non_persistent_buffers_set)
        self.register_buffer(name, value, persistent)

    def __delattr__(self, name):
        for members in (self._parameters, self._buffers, self._modules):
            if name in members:
                del members[name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self):
        names = {*dir(type(self)), *self.__dict__, *self._parameters, *self._buffers,
                 *self._modules}
        return sorted(name for name in names if not name[0].isdigit())

    # ---- by path

    def get_submodule(self, target):
        """The module at a path such as 'encoder.0'; the module itself for ''."""
        module = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Members):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target, module, strict=False):
        """Puts a module at a path."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Members):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict or hasattr(parent, name):
            parent.get_submodule(name)
        setattr(parent, name, module)

    def _get_member(self, target):
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        return module, name, getattr(module, name)

    def get_parameter(self, target):
        """The parameter at a path such as 'encoder.0.weight'."""
        _, name, found = self._get_member(target)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    def get_buffer(self, target):
        """The buffer at a path."""
        module, name, found = self._get_member(target)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return found

    # ---- traversal

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        """(path, module) of the module itself and of all below it, each once."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                path = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(memo, path, remove_duplicate)

    def modules(self, remove_duplicate=True):
        """The module itself and all below it."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_children(self):
        """(name, module) of the direct children, each once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self):
        """The direct children."""
        for _, module in self.named_children():
            yield module

    def _named_members(self, get_members_fn, prefix="", recurse=True, remove_duplicate=True):
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        seen = set()
        for path, module in modules if recurse else [(prefix, self)]:
            for name, value in get_members_fn(module):
                if value is None or value in seen:
                    continue
                if remove_duplicate:
                    seen.add(value)
                yield f"{path}.{name}" if path else name, value

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        """(path, parameter), each once."""
        return self._named_members(lambda module: module._parameters.items(), prefix, recurse,
                                   remove_duplicate)

    def parameters(self, recurse=True):
        """The parameters, each once."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        """(path, buffer), each once."""
        return self._named_members(lambda module: module._buffers.items(), prefix, recurse,
                                   remove_duplicate)

    def buffers(self, recurse=True):
        """The buffers, each once."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer


def _remove(name, *holders):
    for holder in holders:
        if name in holder:
            holder.discard(name) if isinstance(holder, set) else holder.pop(name)
