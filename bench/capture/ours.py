"""Milliseconds to capture the joint graph of a GPT and to partition it."""
import json
import sys
import time

import foregrad as fg
import gpt
from foregrad.compiler._compile import Call, Compiled


def main():
    p = gpt.parameters(fg)
    words, targets, hidden = gpt.data(fg)
    times = []
    for _ in range(5):
        compiled = Compiled(gpt.loss, fullgraph=True, forward="interpreter",
                            backward="interpreter", partition="min_cut")
        begin = time.perf_counter()
        compiled.make(Call((fg.nn.functional, p, words, targets, hidden), {}, compiled.fixed))
        times.append(time.perf_counter() - begin)
    print(json.dumps({"case": sys.argv[1], "unit": "ms", "value": 1e3 * min(times)}))


main()
