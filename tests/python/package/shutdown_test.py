"""The interpreter ends quietly, whatever is alive then."""

import pytest

PROGRAMS = {
    "a live graph": """
        x = fg.ones(3, requires_grad=True)
        y = x.exp().sum()
    """,
    "live hooks": """
        x = fg.ones(3, requires_grad=True)
        y = x.exp()
        x.register_hook(lambda g: y)
        y.grad_fn.register_hook(lambda i, o: print(y))
        y.grad_fn.register_prehook(lambda o: None)
        x.register_post_accumulate_grad_hook(lambda t: None)
        y.sum().backward(retain_graph=True)
    """,
    "live saved-tensor hooks": """
        context = fg.autograd.graph.saved_tensors_hooks(lambda t: [t], lambda p: p[0])
        context.__enter__()
        y = fg.ones(3, requires_grad=True).exp()
    """,
    "a live context": """
        class Keep(fg.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                ctx.me = ctx
                return x * 2

            @staticmethod
            def backward(ctx, grad):
                return grad

        y = Keep.apply(fg.ones(3, requires_grad=True))
        y.grad_fn.result = y
    """,
    "cycles": """
        x = fg.ones(3, requires_grad=True)
        x.me = x
        y = x.exp()
        y.grad_fn.me = y
        y.grad_fn.metadata["y"] = y
        del x, y
    """,
    "a deep graph": """
        y = fg.ones(3, requires_grad=True)
        for _ in range(100_000):
            y = y * 1
    """,
    "tensors in a module of the interpreter": """
        import sys, builtins
        builtins.kept = fg.ones(3, requires_grad=True).exp()
        sys.kept = builtins.kept.sum()
    """,
    "a daemon thread at work": """
        import threading, time

        def work():
            x = fg.ones(1000, requires_grad=True)
            while True:
                (x.exp() * 2).sum().backward()

        for _ in range(3):
            threading.Thread(target=work, daemon=True).start()
        time.sleep(0.2)
    """,
    "a daemon thread in a matrix product": """
        import threading, time
        a = fg.ones(700, 700)

        def work():
            while True:
                a @ a

        threading.Thread(target=work, daemon=True).start()
        time.sleep(0.2)
    """,
    "daemon threads that compile": """
        import threading, time

        def work(i):
            for n in range(10**9):
                f = fg.compile(lambda x, n=n: ((x * n).exp() + i).sum())
                f(fg.ones(50, requires_grad=True)).backward()

        for i in range(3):
            threading.Thread(target=work, args=(i,), daemon=True).start()
        time.sleep(0.4)
    """,
    "a daemon thread whose function is being captured": """
        import threading, time
        begun = threading.Event()

        def endless(x):
            begun.set()
            while True:
                x = x * 1.5

        threading.Thread(target=lambda: fg.compile(endless)(fg.ones(3)), daemon=True).start()
        begun.wait()
    """,
    "a daemon thread that catches everything while it is captured": """
        import threading, time
        begun = threading.Event()

        def endless(x):
            for _ in range(20):
                try:
                    begun.set()
                    while True:
                        x = x * 1.5
                except BaseException:
                    pass

        threading.Thread(target=lambda: fg.compile(endless)(fg.ones(3)), daemon=True).start()
        begun.wait()
    """,
    "daemon threads in hooks and custom functions": """
        import threading, time

        class Busy(fg.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                for _ in range(10000): pass
                return x * 2

            @staticmethod
            def backward(ctx, grad):
                for _ in range(10000): pass
                return grad

        def work():
            x = fg.ones(10, requires_grad=True)
            x.register_hook(lambda g: [g * i for i in range(50)][1])
            x.register_post_accumulate_grad_hook(lambda t: list(range(10000)) and None)
            while True:
                with fg.autograd.graph.saved_tensors_hooks(lambda t: [t], lambda p: p[0]):
                    Busy.apply(x.exp()).sum().backward()

        for _ in range(3):
            threading.Thread(target=work, daemon=True).start()
        time.sleep(0.4)
    """,
    "a daemon thread in a child of fork": """
        import os, threading, time

        def work():
            for n in range(10**9):
                fg.compile(lambda x, n=n: (x * n).exp())(fg.ones(50))

        threading.Thread(target=work, daemon=True).start()
        time.sleep(0.2)
        child = os.fork()
        if child:
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    """,
    "a thread that ended": """
        import threading
        kept = []
        thread = threading.Thread(
            target=lambda: kept.append(fg.ones(3, requires_grad=True).exp().sum()))
        thread.start()
        thread.join()
        kept[0].backward()
    """,
    "a backward at exit": """
        import atexit
        x = fg.ones(3, requires_grad=True)
        y = x.exp().sum()
        atexit.register(y.backward)
    """,
    "a finaliser that computes": """
        class Last:
            def __del__(self):
                (fg.ones(3, requires_grad=True) * 2).sum().backward()

        last = Last()
        last.me = last
    """,
    "an array over a tensor": """
        import numpy as np
        a = fg.ones(3).numpy()
        t = fg.from_numpy(np.ones(3))
    """,
    "a pool of threads": """
        x = fg.randn(300, 300, requires_grad=True)
        (x @ x).exp().sum().backward()
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_interpreter_ends_quietly_with(name, run_program):
    import textwrap

    run_program("import foregrad as fg\n" + textwrap.dedent(PROGRAMS[name]))


def test_the_interpreter_ends_quietly_after_an_error(run_program):
    done = run_program("""
        import foregrad as fg
        y = fg.ones(3, requires_grad=True).exp()
        raise SystemExit(3)
    """, clean=False)
    assert done.returncode == 3 and done.stderr == ""


def test_a_child_of_fork_works_and_ends_quietly(run_program):
    done = run_program("""
        import os
        import foregrad as fg

        x = fg.randn(300, 300, requires_grad=True)
        (x @ x).sum().backward()
        child = os.fork()
        (x @ x).sum().backward()
        if child:
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        print("done")
    """)
    assert done.stdout.split() == ["done", "done"]


def test_a_handler_of_the_end_may_work_where_another_thread_imported_the_package(run_program):
    done = run_program("""
        import atexit
        import threading

        def at_the_end():
            import foregrad as fg
            x = fg.ones(2, requires_grad=True)
            y = x * 2
            y.register_hook(lambda grad: grad * 3)
            y.sum().backward()
            assert x.grad.tolist() == [6, 6]
            assert fg.compile(lambda t: t * 2)(fg.ones(2)).tolist() == [2, 2]
            print("done", flush=True)

        atexit.register(at_the_end)

        def work():
            import foregrad as fg
            fg.compile(lambda t: t * 3)(fg.ones(2))

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    """)
    assert done.stdout == "done\n"
