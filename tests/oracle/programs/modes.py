"""no_grad, enable_grad, set_grad_enabled and inference_mode in every form of use."""
from observe import program, raises, register, see, see_all, see_grads

MODES = {"no_grad": "torch.no_grad()", "enable_grad": "torch.enable_grad()",
         "off": "torch.set_grad_enabled(False)", "on": "torch.set_grad_enabled(True)",
         "inference": "torch.inference_mode()", "no_inference": "torch.inference_mode(False)"}


def state(torch):
    return torch.is_grad_enabled(), torch.is_inference_mode_enabled()


def around(text):
    """One mode: as a context, a decorator, around generators, nested in the others."""
    def run(torch, draw):
        def make():
            return eval(text, {"torch": torch})

        x = draw.tensor(3, grad=True)
        with make() as bound:
            see("inside", state(torch))
            see("bound", bound)
            y = x * 2
            see("view", x[0:2])
            see("made", y)
            see("leaf", raised(lambda: draw.tensor(2, grad=True)))
        see("after", state(torch))
        raises("use", lambda: y * x)
        raises("write", lambda: y.add_(1))
        raises("backward", lambda: (y * x).sum().backward())
        see_grads(x=x)
        decorated(torch, make)
        generated(torch, make)
        for other in MODES.values():
            with eval(other, {"torch": torch}):
                with make():
                    see(f"inside {other}", state(torch))
                see(f"back in {other}", state(torch))
        torch.set_grad_enabled(True)
        see("end state", state(torch))

    return run


def raised(action):
    try:
        return action()
    except RuntimeError as error:
        return type(error).__name__


def decorated(torch, make):
    try:
        @make()
        def inner(a, b=2):
            """Says something."""
            return a, b, state(torch)

        torch.set_grad_enabled(True)
        see("decorated", inner(1, b=3))
        see("name", (inner.__name__, inner.__doc__))

        @make()
        def failing():
            raise KeyError("x")

        raises("raises inside", failing)
    except (TypeError, RuntimeError) as error:
        see("decorating", type(error).__name__)
    torch.set_grad_enabled(True)
    see("state after", state(torch))


def generated(torch, make):
    try:
        @make()
        def numbers(count):
            for i in range(count):
                got = yield i, state(torch)
                if got:
                    yield "got", got, state(torch)
            return "done"

        torch.set_grad_enabled(True)
        generator = numbers(3)
        see("first", next(generator))
        see("between", state(torch))
        see("sent", generator.send("hello"))
        see("rest", list(generator))
        closing = numbers(3)
        next(closing)
        closing.close()
        throwing = numbers(3)
        next(throwing)
        raises("throw", lambda: throwing.throw(KeyError("x")))
    except (TypeError, RuntimeError) as error:
        see("generating", type(error).__name__)
    torch.set_grad_enabled(True)
    see("state after generator", state(torch))


for mode_name, mode_text in MODES.items():
    register(__name__, mode_name, around(mode_text))


@program
def set_as_function(torch, draw):
    torch.set_grad_enabled(False)
    see("off", state(torch))
    torch.set_grad_enabled(True)
    see("on", state(torch))
    raises("string", lambda: torch.set_grad_enabled("x"))
    raises("number", lambda: torch.set_grad_enabled(0))
    torch.set_grad_enabled(True)


@program
def decorator_without_call(torch, draw):
    @torch.no_grad
    def one():
        return state(torch)

    @torch.enable_grad
    def two():
        return state(torch)

    see("no_grad", one())
    with torch.no_grad():
        see("enable_grad", two())

    @torch.inference_mode
    def three():
        return state(torch)

    raises("inference_mode", three)


@program
def reused_context(torch, draw):
    context = torch.no_grad()
    with context:
        with torch.enable_grad():
            with context:
                see("inner", state(torch))
            see("middle", state(torch))
        see("outer", state(torch))
    see("end", state(torch))
    with context:
        see("again", state(torch))


@program
def exception_inside(torch, draw):
    for name, text in MODES.items():
        def run():
            with eval(text, {"torch": torch}):
                raise ValueError("x")

        raises(name, run)
        torch.set_grad_enabled(True)
        see("state after " + name, state(torch))


@program
def method_decorator(torch, draw):
    class Model:
        @torch.no_grad()
        def call(self, x):
            return x * 2, state(torch)

        @staticmethod
        @torch.inference_mode()
        def infer(x):
            return x * 2

    x = draw.tensor(2, grad=True)
    see("method", Model().call(x))
    see("static", Model.infer(x))


@program
def recursive_decorator(torch, draw):
    @torch.no_grad()
    def down(n):
        if n == 0:
            return [state(torch)]
        with torch.enable_grad():
            return [state(torch), *down(n - 1)]

    see("states", down(3))


@program
def inference_tensors(torch, draw):
    x = draw.tensor(3, grad=True)
    with torch.inference_mode():
        y = x * 2
        z = y[0:2]
        z.add_(1)
        see("inside", (y, z, y.is_inference(), z.is_inference(), x.is_inference()))
        see("made", torch.ones(2).is_inference())
        raises("requires_grad_", lambda: torch.ones(2).requires_grad_().requires_grad)
    raises("version", lambda: y._version)
    raises("write", lambda: y.mul_(2))
    raises("view write", lambda: y[0:1].mul_(2))
    raises("save", lambda: y * x)
    raises("add does not save", lambda: y + x)
    raises("clone", lambda: (y.clone() * x).sum().backward())
    raises("requires_grad_ outside", lambda: y.requires_grad_())
    raises("no_grad write", lambda: no_grad_write(torch, y))
    see_grads(x=x)


def no_grad_write(torch, y):
    with torch.no_grad():
        return y.mul_(2)


@program
def inference_on_outer_tensors(torch, draw):
    x = draw.tensor(3, grad=True)
    b = x.clone()
    with torch.inference_mode():
        v = b[0:2]
        see("view", (v.is_inference(), v.requires_grad))
        raises("write to a normal tensor", lambda: b.mul_(2))
        see("version", b._version)
    raises("use after", lambda: (b * b).sum().backward())
    raises("write view", lambda: v.mul_(2))
    raises("v", lambda: v * 1)


@program
def leaf_made_in_mode(torch, draw):
    with torch.no_grad():
        p = draw.tensor(3, grad=True)
        q = (p * 2).requires_grad_()
    see_all(p=p, q=q)
    (p * q).sum().backward()
    see_grads(p=p, q=q)


@program
def backward_in_no_grad(torch, draw):
    x = draw.tensor(3, grad=True)
    y = (x * x).sum()
    with torch.no_grad():
        y.backward(create_graph=True)
        see_grads(x=x)
        raises("grad", lambda: torch.autograd.grad((x * 2).sum(), x))
    z = (x * x).sum()
    with torch.inference_mode():
        raises("backward in inference", lambda: z.backward())


@program
def mode_in_hooks(torch, draw):
    x, notes = draw.tensor(3, grad=True), []
    x.register_hook(lambda g: notes.append((state(torch), g.requires_grad)))
    (x * x).sum().backward()
    (x * x).sum().backward(create_graph=True)
    with torch.no_grad():
        x.register_post_accumulate_grad_hook(lambda p: notes.append(state(torch)))
    (x * x).sum().backward()
    see("notes", notes)


@program
def updates_in_no_grad(torch, draw):
    w = draw.tensor(3, grad=True)
    for _ in range(3):
        (w * w).sum().backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
            w.grad.zero_()
    see("w", w)


@program
def out_and_modes(torch, draw):
    x, out = draw.tensor(3, grad=True), torch.zeros(3, dtype=torch.float64)
    raises("with grad", lambda: torch.add(x, 1, out=out))
    with torch.no_grad():
        raises("without", lambda: torch.add(x, 1, out=out))
    see("out", out)
    raises("out requires grad", lambda: torch.add(x.detach(), 1, out=x))


@program
def threads_start_enabled(torch, draw):
    import threading

    notes = []
    with torch.no_grad():
        thread = threading.Thread(target=lambda: notes.append(state(torch)))
        thread.start()
        thread.join()
    see("notes", notes)


@program
def wrong_arguments(torch, draw):
    raises("set without", lambda: torch.set_grad_enabled())
    raises("inference string", lambda: torch.inference_mode("x").__class__.__name__)
    raises("no_grad argument", lambda: torch.no_grad(1))
    torch.set_grad_enabled(True)
