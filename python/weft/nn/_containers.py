"""Modules that hold modules or parameters in order or by name."""
import operator

from .. import _core
from ._module import Module, Parameter


def _position(index, count, owner):
    index = operator.index(index)
    if not -count <= index < count:
        raise IndexError(f"{owner} has {count} parts; there is no number {index}")
    return index % count


class _Ordered(Module):
    """Modules called "0", "1", ..."""

    def _take(self, modules):
        self._modules.clear()
        self._modules.update((str(i), module) for i, module in enumerate(modules))

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __getitem__(self, index):
        modules = list(self)
        if isinstance(index, slice):
            return type(self)(*modules[index]) if isinstance(self, Sequential) else type(self)(modules[index])
        return modules[_position(index, len(modules), type(self).__name__)]

    def __setitem__(self, index, module):
        names = list(self._modules)
        self._modules[names[_position(index, len(names), type(self).__name__)]] = _checked(module)

    def __delitem__(self, index):
        modules = list(self)
        del modules[index]
        self._take(modules)

    def append(self, module):
        self._modules[str(len(self))] = _checked(module)
        return self

    def extend(self, modules):
        for module in modules:
            self.append(module)
        return self

    def insert(self, index, module):
        modules = list(self)
        modules.insert(index, _checked(module))
        self._take(modules)

    def pop(self, key):
        module = self[key]
        del self[key]
        return module


def _checked(module):
    if module is not None and not isinstance(module, Module):
        raise TypeError(f"a module is wanted, not {type(module).__name__}")
    return module


class Sequential(_Ordered):
    """Modules one after another: Sequential(a, b)(x) is b(a(x)). Or a dict of them.

    >>> model = wf.nn.Sequential(wf.nn.Linear(4, 8), wf.nn.ReLU(), wf.nn.Linear(8, 1))
    >>> model
    Sequential(
      (0): Linear(in_features=4, out_features=8, bias=True)
      (1): ReLU()
      (2): Linear(in_features=8, out_features=1, bias=True)
    )
    >>> model(wf.ones((5, 4))).shape
    (5, 1)
    """

    def __init__(self, *args):
        super().__init__()
        named = args[0].items() if len(args) == 1 and isinstance(args[0], dict) else ((str(i), m) for i, m in enumerate(args))
        for name, module in named:
            self.add_module(name, _checked(module))

    def forward(self, input):
        for module in self:
            input = module(input)
        return input


class ModuleList(_Ordered):
    """Modules in a list.

    >>> layers = wf.nn.ModuleList(wf.nn.Linear(2, 2) for _ in range(3))
    >>> layers.append(wf.nn.ReLU())
    ModuleList(
      (0-2): 3 x Linear(in_features=2, out_features=2, bias=True)
      (3): ReLU()
    )
    >>> len(layers), len(list(layers.parameters()))
    (4, 6)
    """

    def __init__(self, modules=None):
        super().__init__()
        self.extend(modules or [])

    def _child_lines(self):
        """Neighbours that print alike are printed once, with their number."""
        lines, modules = [], [repr(module) for module in self]
        first = 0
        for i in range(1, len(modules) + 1):
            if i < len(modules) and modules[i] == modules[first]:
                continue
            lines.append(f"({first}): {modules[first]}" if i == first + 1 else f"({first}-{i - 1}): {i - first} x {modules[first]}")
            first = i
        return lines


class ModuleDict(Module):
    """Modules by name.

    >>> layers = wf.nn.ModuleDict({"first": wf.nn.Linear(2, 3), "second": wf.nn.ReLU()})
    >>> layers["first"](wf.ones((5, 2))).shape
    (5, 3)
    """

    def __init__(self, modules=None):
        super().__init__()
        self.update(modules or {})

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, _checked(module))

    def __delitem__(self, key):
        del self._modules[key]

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, key):
        return key in self._modules

    def keys(self):
        return self._modules.keys()

    def values(self):
        return self._modules.values()

    def items(self):
        return self._modules.items()

    def clear(self):
        self._modules.clear()

    def pop(self, key):
        return self._modules.pop(key)

    def update(self, modules):
        for key, module in modules.items() if hasattr(modules, "items") else modules:
            self[key] = module


def _parameter(value):
    return value if isinstance(value, _core.Parameter) or value is None else Parameter(value)


class ParameterList(Module):
    """Parameters in a list; tensors become Parameters."""

    def __init__(self, values=None):
        super().__init__()
        self.extend(values or [])

    def append(self, value):
        self._parameters[str(len(self))] = _parameter(value)
        return self

    def extend(self, values):
        for value in values:
            self.append(value)
        return self

    def __len__(self):
        return len(self._parameters)

    def __iter__(self):
        return iter(self._parameters.values())

    def __getitem__(self, index):
        values = list(self)
        return ParameterList(values[index]) if isinstance(index, slice) else values[_position(index, len(values), "ParameterList")]

    def __setitem__(self, index, value):
        self._parameters[str(_position(index, len(self), "ParameterList"))] = _parameter(value)

    def _child_lines(self):
        return [f"({name}): {_shown(value)}" for name, value in self._parameters.items()]


class ParameterDict(Module):
    """Parameters by name; tensors become Parameters."""

    def __init__(self, parameters=None):
        super().__init__()
        self.update(parameters or {})

    def __getitem__(self, key):
        return self._parameters[key]

    def __setitem__(self, key, value):
        self._parameters[key] = _parameter(value)

    def __delitem__(self, key):
        del self._parameters[key]

    def __len__(self):
        return len(self._parameters)

    def __iter__(self):
        return iter(self._parameters)

    def __contains__(self, key):
        return key in self._parameters

    def keys(self):
        return self._parameters.keys()

    def values(self):
        return self._parameters.values()

    def items(self):
        return self._parameters.items()

    def update(self, parameters):
        for key, value in parameters.items() if hasattr(parameters, "items") else parameters:
            self[key] = value

    def _child_lines(self):
        return [f"({name}): {_shown(value)}" for name, value in self._parameters.items()]


def _shown(value):
    return f"Parameter containing: [{value.dtype} of size {'x'.join(map(str, value.shape))}]"
