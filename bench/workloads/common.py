"""What the workloads share: what a workload is, and a training step in each system, given its network."""
import dataclasses
import os
import timeit
import typing

COMPILED = ("torch-compile", "jax", "ort")   # peers that compile a program before it runs


@dataclasses.dataclass
class Workload:
    """What is timed. `arrays()`: the NumPy arrays that every system starts from; `make`: for each system a function that takes them and gives
    a callable, whose result all must agree on. `goals`: the highest ratio of weft's time to a peer's, for "best" (of all), "compiled" (the best
    of those) or a system by name. `operations` and `bytes`: what one call computes and must read and write at least; `reads`: it writes next
    to nothing. `part`: the time is divided by this. `own`: weft's other way of the same, for the goal "own", as {"float32": make}."""
    arrays: typing.Callable
    make: dict
    goals: dict = dataclasses.field(default_factory=dict)
    operations: float = 0
    bytes: float = 0
    reads: bool = False
    part: dict = dataclasses.field(default_factory=dict)
    own: dict = dataclasses.field(default_factory=dict)
    threads: tuple = (1,)
    more: bool = False   # not among the rows that were promised: only with --more, or named


class Statement:
    """A line of Python that is timed by itself, without a call around it."""

    def __init__(self, text, names):
        self.run, self.timer = eval(f"lambda: {text}", names), timeit.Timer(text, globals=names)

    def __call__(self):
        return self.run()

    def repeat(self, times):
        return self.timer.timeit(times)


class Step:
    """A step of training on one batch, again and again; on() takes another batch. Gives the loss."""

    def __init__(self, step, place, arrays):
        self.step, self.place = step, place
        self.batch = place(arrays["x"]), place(arrays["y"])

    def __call__(self):
        return self.step(*self.batch)

    def on(self, x, y):
        return self.step(self.place(x), self.place(y))


def normal(rng, shape, scale=1.0):
    return (scale * rng.standard_normal(shape, dtype="float32")).astype("float32")


def weights(arrays):
    return {name: value for name, value in arrays.items() if name not in ("x", "y")}


def nested_shapes(sizes):
    """PyTorch's names and shapes of dense layers: {"0": (in, out)} is 0.weight of (out, in) and 0.bias of (out,)."""
    return {f"{name}.{part}": shape for name, (n_in, n_out) in sizes.items() for part, shape in (("weight", (n_out, n_in)), ("bias", (n_out,)))}


def draw(rng, shapes):
    """Weights of these shapes: matrices and kernels at the scale that keeps a signal's variance, vectors small."""
    return {name: normal(rng, shape, float(_fan_in(shape)) ** -0.5 if len(shape) > 1 else 0.01) for name, shape in shapes.items()}


def _fan_in(shape):
    size = 1
    for n in shape[1:]:
        size *= n
    return size


def weft_model(model, arrays):
    import weft as wf
    model.load_state_dict({name: wf.asarray(value) for name, value in weights(arrays).items()}, strict=False)
    return model


def torch_model(model, arrays):
    import torch
    model.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in weights(arrays).items()}, strict=False)
    return model


def weft_training(network, loss, optimizer, precision=None):
    """`network(nn)`, `loss(functional, output, y)`, `optimizer(optim, parameters)`: the same text for weft and PyTorch."""
    def make(arrays):
        import weft as wf
        model = weft_model(network(wf.nn), arrays)
        step = wf.train_step(model, optimizer(wf.optim, model.parameters()), lambda model, x, y: loss(wf.nn.functional, model(x), y),
                             matmul_precision=precision)
        return Step(step, wf.asarray, arrays)
    return make


def torch_inference(network, compiled=False, channels_last=False):
    def make(arrays):
        import torch
        model, x = torch_model(network(torch.nn), arrays), torch.from_numpy(arrays["x"])
        if channels_last:
            model, x = model.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
        if compiled:
            import torch._inductor.config
            torch._dynamo.reset()
            torch._inductor.config.freezing = True   # weights are constants: packed, and normalisations folded into convolutions
            model = torch.compile(model)

        def run():
            with torch.inference_mode() if not compiled else torch.no_grad():
                return model(x)
        return run
    return make


def torch_training(network, loss, optimizer, compiled=False, channels_last=False):
    def make(arrays):
        import torch
        model = torch_model(network(torch.nn), arrays)
        if channels_last:   # PyTorch's own advice for convolutions on processors
            model = model.to(memory_format=torch.channels_last)
        update = optimizer(Fused(torch.optim), model.parameters())

        def loss_of(x, y):
            return loss(torch.nn.functional, model(x), y)

        if compiled:
            torch._dynamo.reset()
            loss_of = torch.compile(loss_of)

        def step(x, y):
            update.zero_grad(set_to_none=True)
            value = loss_of(x, y)
            value.backward()
            update.step()
            return value.detach()

        def place(array):
            tensor = torch.from_numpy(array)
            return tensor.to(memory_format=torch.channels_last) if channels_last and tensor.ndim == 4 else tensor

        return Step(step, place, arrays)
    return make


class Fused:
    """torch.optim whose optimizers update all parameters in one pass."""

    def __init__(self, optim):
        self.optim = optim

    def __getattr__(self, name):
        return lambda parameters, **options: getattr(self.optim, name)(parameters, fused=True, **options)


def jax_training(loss_of, update, state):
    """`loss_of(weights, x, y)`; `update(weights, gradients, state)` gives both anew, `state(weights)` the first; buffers are donated."""
    def make(arrays):
        import jax
        import jax.numpy as jnp
        first = {name: jnp.array(value) for name, value in weights(arrays).items()}

        def whole(held, x, y):
            value, gradients = jax.value_and_grad(loss_of)(held[0], x, y)
            return update(held[0], gradients, held[1]), value

        holder, compiled = [(first, state(first))], jax.jit(whole, donate_argnums=0)

        def step(x, y):
            holder[0], value = compiled(holder[0], x, y)
            return value.block_until_ready()

        return Step(step, jnp.asarray, arrays)
    return make


def jax_momentum(lr, momentum):
    import jax
    import jax.numpy as jnp

    def update(weights, gradients, velocity):
        velocity = jax.tree.map(lambda v, g: momentum * v + g, velocity, gradients)
        return jax.tree.map(lambda w, v: w - lr * v, weights, velocity), velocity
    return update, lambda weights: jax.tree.map(jnp.zeros_like, weights)


def jax_sgd(lr):
    import jax
    return lambda weights, gradients, state: (jax.tree.map(lambda w, g: w - lr * g, weights, gradients), state), lambda weights: ()


def jax_adam(lr, decay=0.0):
    """Adam (Kingma and Ba, 2015); with `decay` AdamW (Loshchilov and Hutter, 2019)."""
    import jax
    import jax.numpy as jnp

    def update(weights, gradients, state):
        m, v, n = state
        n = n + 1
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, gradients)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, gradients)
        a, b = 1 - 0.9 ** n, 1 - 0.999 ** n
        return jax.tree.map(lambda w, m, v: w * (1 - lr * decay) - lr * (m / a) / (jnp.sqrt(v / b) + 1e-8), weights, m, v), (m, v, n)

    def state(weights):   # buffers of their own each: they are donated
        zeros = [jax.tree.map(jnp.zeros_like, weights) for _ in range(2)]
        return (*zeros, jnp.float32(0))
    return update, state


def jax_cross_entropy(logits, labels):
    import jax
    import jax.numpy as jnp
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1))


def training(network, loss, optimizer, jax_loss, jax_optimizer, channels_last=False):
    """Makers of a training step for weft, PyTorch and JAX."""
    return {"weft": weft_training(network, loss, optimizer), "torch": torch_training(network, loss, optimizer, False, channels_last),
            "torch-compile": torch_training(network, loss, optimizer, True, channels_last),
            "jax": lambda arrays: jax_training(jax_loss, *jax_optimizer())(arrays)}


class OnnxGraph:
    """An ONNX model written node by node, and run by ONNX Runtime. add() gives the name of what the node makes."""

    def __init__(self):
        self.nodes, self.constants, self.count = [], {}, 0

    def constant(self, name, value):
        self.constants[name] = value
        return name

    def add(self, operation, *inputs, **attributes):
        import onnx
        self.count += 1
        name = f"v{self.count}"
        self.nodes.append(onnx.helper.make_node(operation, list(inputs), [name], **attributes))
        return name

    def run(self, inputs, output):
        """A callable that runs the model on these arrays and gives the value named `output`."""
        import onnx
        import onnxruntime
        h, kinds = onnx.helper, onnx.helper.np_dtype_to_tensor_dtype
        graph = h.make_graph(self.nodes, "g", [h.make_tensor_value_info(k, kinds(v.dtype), v.shape) for k, v in inputs.items()],
                             [onnx.ValueInfoProto(name=output)], [onnx.numpy_helper.from_array(v, k) for k, v in self.constants.items()])
        model = h.make_model(graph, opset_imports=[h.make_opsetid("", 20)], ir_version=9)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = int(os.environ["BENCH_THREADS"]), 3
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return lambda: session.run(None, inputs)[0]
