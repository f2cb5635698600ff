"""Module: layers as objects that hold Parameters and other modules, with PyTorch's methods. A module is a tree whose leaves are its trainable
parameters: wf.grad(loss)(model, x) gives a module of the same form that holds derivatives."""
import collections

from .. import _core

_KINDS = ("_parameters", "_modules", "_buffers")
LoadResult = collections.namedtuple("LoadResult", "missing_keys unexpected_keys")


class Parameter(_core.Parameter):
    """A weight: a named cell that holds a tensor and can be given a new one (`.value = ...`). It computes like the tensor it holds.

    >>> weight = wf.nn.Parameter(wf.asarray([1., 2.]))
    >>> weight.value = weight * 10
    >>> weight
    Parameter containing:
    array([10., 20.], dtype=float32)
    """

    def __init__(self, data, requires_grad=True):
        super().__init__(data, "", requires_grad)

    @property
    def data(self):
        return self.value

    @data.setter
    def data(self, value):
        self.value = value

    @property
    def requires_grad(self):
        return self.trainable

    @requires_grad.setter
    def requires_grad(self, wanted):
        self.trainable = wanted

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.value, name)

    def __repr__(self):
        return f"Parameter containing:\n{self.value!r}"

    def __copy__(self):
        return Parameter(self.value, self.trainable)

    def __deepcopy__(self, memo):
        return Parameter(self.value, self.trainable)

    def __reduce__(self):
        return Parameter, (self.value, self.trainable)


class Module:
    """What layers and models are made of. A subclass calls super().__init__(), sets Parameters and modules as attributes, and defines
    forward.

    >>> class Line(wf.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.slope = wf.nn.Parameter(wf.asarray(2.))
    ...     def forward(self, x):
    ...         return self.slope * x
    >>> line = Line()
    >>> line(wf.asarray([1., 3.]))
    array([2., 6.], dtype=float32)
    >>> grads = wf.grad(lambda line, x: wf.sum(line(x)))(line, wf.asarray([1., 3.]))
    >>> grads.slope
    array(4., dtype=float32)
    """

    def __init__(self):
        object.__setattr__(self, "_parameters", {})
        object.__setattr__(self, "_buffers", {})
        object.__setattr__(self, "_modules", {})
        object.__setattr__(self, "_not_saved", set())
        object.__setattr__(self, "training", True)

    def forward(self, *inputs, **named):
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def __call__(self, *inputs, **named):
        return self.forward(*inputs, **named)

    # Attributes -----------------------------------------------------------------------------------------------------------------------

    def _kinds(self):
        kinds = [self.__dict__.get(kind) for kind in ("_parameters", "_buffers", "_modules")]
        if None in kinds:
            raise AttributeError(f"{type(self).__name__}: call super().__init__() before attributes are set")
        return kinds

    def __getattr__(self, name):
        mine = self.__dict__
        for kind in _KINDS:
            if kind in mine and name in mine[kind]:
                return mine[kind][name]
        raise AttributeError(f"'{type(self).__name__}' has no attribute '{name}'")

    def __setattr__(self, name, value):
        if isinstance(value, (Module, _core.Parameter)):
            parameters, buffers, modules = self._kinds()
            self.__dict__.pop(name, None)
            mine = modules if isinstance(value, Module) else buffers if name in buffers else parameters
            for held in (parameters, buffers, modules):
                if held is not mine:
                    held.pop(name, None)
            mine[name] = value
            return
        parameters, buffers, modules = (self.__dict__.get(kind, {}) for kind in ("_parameters", "_buffers", "_modules"))
        if name in parameters or name in modules:
            if value is not None:
                raise TypeError(f"{name} of {type(self).__name__} is a parameter or a module, not a {type(value).__name__}; to give a "
                                f"parameter another value write .{name}.value = ...")
            (parameters if name in parameters else modules)[name] = None
        elif name in buffers:
            buffers[name] = None if value is None else _cell(value)
        else:
            object.__setattr__(self, name, value)

    def __delattr__(self, name):
        for held in self._kinds():
            if name in held:
                del held[name]
                return
        object.__delattr__(self, name)

    def __dir__(self):
        return sorted({*super().__dir__(), *self._parameters, *self._buffers, *self._modules})

    def register_parameter(self, name, param):
        """A Parameter, or None, under a name."""
        self._check_name(name)
        self._parameters[name] = param

    def register_buffer(self, name, tensor, persistent=True):
        """A value that is part of the state and is not trained, such as a running mean."""
        self._check_name(name)
        self._buffers[name] = None if tensor is None else _cell(tensor)
        if not persistent:
            self._not_saved.add(name)

    def register_module(self, name, module):
        """A module, or None, under a name."""
        self._check_name(name)
        self._modules[name] = module

    add_module = register_module

    def _check_name(self, name):
        if not isinstance(name, str):
            raise TypeError(f"the name of a parameter, buffer or module is a string, not {type(name).__name__}")
        if not name or "." in name:
            raise KeyError(f"a name may not be empty nor hold a dot: {name!r}")
        if hasattr(self, name) and all(name not in held for held in self._kinds()):
            raise KeyError(f"{type(self).__name__} has an attribute {name!r} already")

    # Walking --------------------------------------------------------------------------------------------------------------------------

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        """(name, module) of the module itself ("") and all below."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, prefix + ("." if prefix else "") + name, remove_duplicate)

    def modules(self):
        return (module for _, module in self.named_modules())

    def named_children(self):
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self):
        return (module for _, module in self.named_children())

    def _named(self, kind, prefix, recurse, remove_duplicate):
        seen = set()
        for path, module in self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]:
            for name, value in getattr(module, kind).items():
                if value is None or id(value) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value))
                yield path + ("." if path else "") + name, value

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        """(name, parameter), such as ("0.weight", ...)."""
        return self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse=True):
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        return self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse=True):
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def get_submodule(self, target):
        """The module under a path such as "layers.0"."""
        module = self
        for name in target.split(".") if target else []:
            if name not in module._modules:
                raise AttributeError(f"{type(module).__name__} has no module '{name}' (of '{target}')")
            module = module._modules[name]
        return module

    def get_parameter(self, target):
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if name not in module._parameters:
            raise AttributeError(f"{type(module).__name__} has no parameter '{name}'")
        return module._parameters[name]

    def get_buffer(self, target):
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if name not in module._buffers:
            raise AttributeError(f"{type(module).__name__} has no buffer '{name}'")
        return module._buffers[name]

    # What is done to all --------------------------------------------------------------------------------------------------------------

    def apply(self, fn):
        """fn of every module below, then of this one."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self, mode=True):
        """Layers that behave otherwise while training (dropout, batch normalisation) train, or with False evaluate."""
        if not isinstance(mode, bool):
            raise ValueError("train: the mode is True or False")
        for module in self.modules():
            object.__setattr__(module, "training", mode)
        return self

    def eval(self):
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        """Whether the parameters take derivatives: those that do not are no leaves of the tree."""
        for parameter in self.parameters():
            parameter.trainable = requires_grad
        return self

    def to(self, *arguments, device=None, dtype=None):
        """Floating parameters and buffers as another dtype: to(wf.float64)."""
        from .._inspection import check_device
        for argument in arguments:
            if isinstance(argument, str) and argument.startswith("cpu"):
                device = argument
            else:
                dtype = argument
        if device is not None:
            check_device(device)
        if dtype is not None:
            for module in self.modules():
                for held in (module._parameters, module._buffers):
                    for name, value in held.items():
                        if value is not None and value.dtype.kind == "f":
                            held[name] = type(value)(*_arguments(value, _core.astype(value, dtype)))
        return self

    def float(self):
        return self.to(_core.float32)

    def double(self):
        return self.to(_core.float64)

    # State ----------------------------------------------------------------------------------------------------------------------------

    def state_dict(self, *, prefix=""):
        """The values of parameters and buffers by name, with PyTorch's names: {"0.weight": ..., ...}."""
        state = {}
        for path, module in self.named_modules(prefix=prefix.rstrip("."), remove_duplicate=False):
            for held in (module._parameters, module._buffers):
                for name, cell in held.items():
                    if cell is not None and name not in module._not_saved:
                        state[path + ("." if path else "") + name] = getattr(cell, "value", cell)
        return state

    def load_state_dict(self, state_dict, strict=True):
        """Gives parameters and buffers the values of those names: tensors, or arrays of any library that shows its memory. ValueError names
        what is missing, unexpected (unless strict is False) or of another shape."""
        cells = {}
        for path, module in self.named_modules(remove_duplicate=False):
            for held in (module._parameters, module._buffers):
                for name, cell in held.items():
                    if cell is not None and name not in module._not_saved:
                        cells[path + ("." if path else "") + name] = cell
        missing = [name for name in cells if name not in state_dict]
        unexpected = [name for name in state_dict if name not in cells]
        wrong = []
        values = {}
        for name, cell in cells.items():
            if name in state_dict:
                values[name] = _core.asarray(_plain(state_dict[name]), None, None)
                if values[name].shape != cell.shape:
                    wrong.append(f"{name} has shape {values[name].shape}, the model's {cell.shape}")
        if strict and (missing or unexpected):
            wrong += [f"{what}: {', '.join(names)}" for what, names in (("missing", missing), ("unexpected", unexpected)) if names]
        if wrong:
            raise _core.ShapeError(f"load_state_dict of {type(self).__name__}: " + "; ".join(wrong))
        for name, value in values.items():
            cells[name].value = _core.astype(value, cells[name].dtype)
        return LoadResult(missing, unexpected)

    def __setstate__(self, state):
        self.__dict__.update(state)

    # Printing -------------------------------------------------------------------------------------------------------------------------

    def extra_repr(self):
        """What stands between the brackets when the module is printed."""
        return ""

    def _child_lines(self):
        return [f"({name}): {module!r}" for name, module in self._modules.items()]

    def __repr__(self):
        lines = [line.replace("\n", "\n  ") for line in self._child_lines()]
        extra = self.extra_repr()
        if not lines:
            return f"{type(self).__name__}({extra})"
        return f"{type(self).__name__}(\n  " + "\n  ".join([extra] * bool(extra) + lines) + "\n)"

    # A tree (weft/_trees.py) ----------------------------------------------------------------------------------------------------------

    def __tree__(self):
        """(what tells modules of this form apart, the parts): trainable parameters, then modules."""
        fixed = tuple((name, _form(value)) for name, value in self.__dict__.items()
                      if name not in ("_parameters", "_buffers", "_modules", "_not_saved"))
        frozen = tuple((name, Same(cell)) for name, cell in self._parameters.items() if not _trained(cell))
        buffers = tuple((name, Same(cell)) for name, cell in self._buffers.items())
        names = tuple(name for name, cell in self._parameters.items() if _trained(cell)) + tuple(self._modules)
        return (type(self), fixed, frozen, buffers, names), self._parts()

    def _parts(self):
        return [cell for cell in self._parameters.values() if _trained(cell)] + list(self._modules.values())

    def __tree_with__(self, parts):
        """A module like this one with other parts, in the order of __tree__."""
        parts = iter(parts)
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made.__dict__["_parameters"] = {name: next(parts) if _trained(cell) else cell for name, cell in self._parameters.items()}
        made.__dict__["_modules"] = {name: next(parts) for name in self._modules}
        return made


def _trained(cell):
    """Whether a parameter is a leaf: a cell that is trained, or what stands in its place in a tree that was built again."""
    return cell is not None and getattr(cell, "trainable", True)


class Same:
    """Equal to what holds the very same object, which lives as long as this does: so that no other takes its place."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, Same) and other.value is self.value

    def __hash__(self):
        return id(self.value)


def _form(value):
    """What tells attributes apart: numbers, names and tuples of them by what they are, others by which."""
    if isinstance(value, tuple):
        return tuple, tuple(_form(part) for part in value)
    return (type(value), value) if isinstance(value, (bool, int, float, str, type(None))) else Same(value)


def _cell(value):
    return value if isinstance(value, _core.Parameter) else _core.Parameter(value, "", False)


def _arguments(cell, value):
    """What makes a cell like this one with another value."""
    return (value, cell.trainable) if isinstance(cell, Parameter) else (value, cell.name, cell.trainable)


def _plain(value):
    """An array of PyTorch's that is trained shows its memory only when it is detached."""
    if isinstance(value, _core.Parameter):
        return value.value
    return value.detach() if hasattr(value, "detach") else value
