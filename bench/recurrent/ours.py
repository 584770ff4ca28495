"""Our steps, eager and compiled. [--losses]"""
import clock
import foregrad
import foregrad.compiler
import foregrad.optim
from models import CASES
from modules_step import make_step

foregrad.set_num_threads(2)
for case in CASES:
    for mode in ("eager", "compiled"):
        clock.report(make_step(foregrad, case, mode == "compiled"), [f"{case} {mode}"])
