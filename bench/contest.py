"""The base of every bench/<question>/run: contenders run alternately, medians, ratios, a table.

A contender is a command that prints one JSON line per case: {"case", "unit", "value"}.
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TORCH = "torch==2.13.0"


def peers_python(packages):
    """A Python that has the peers: PEERS_PYTHON, or a virtual environment outside the tree."""
    if os.environ.get("PEERS_PYTHON"):
        return os.environ["PEERS_PYTHON"]
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    home = cache / "foregrad-bench-peers"
    python = home / "bin" / "python"
    if not python.exists():
        print(f"installing {' '.join(packages)} into {home}", file=sys.stderr)
        venv.create(home, with_pip=True)
    probe = subprocess.run([python, "-m", "pip", "install", "--quiet", *packages])
    if probe.returncode:
        sys.exit(f"the peers could not be installed; set PEERS_PYTHON to a Python with {packages}")
    return str(python)


def libtorch_flags(python):
    """Flags of g++ to compile and link against the libtorch of a Python's wheel."""
    code = "import torch, os; print(os.path.dirname(torch.__file__))"
    where = subprocess.run([python, "-c", code], capture_output=True, text=True,
                           check=True).stdout.strip()
    return [f"-I{where}/include", f"-I{where}/include/torch/csrc/api/include", f"-L{where}/lib",
            f"-Wl,-rpath,{where}/lib", "-ltorch", "-ltorch_cpu", "-lc10"]


def foregrad_flags():
    """The same for the library of this checkout."""
    build = ROOT / "build" / "release"
    return [f"-I{build}/include", f"-I{ROOT}/src", f"-L{build}", f"-Wl,-rpath,{build}",
            "-lforegrad"]


def one_round(command, environment):
    done = subprocess.run(command, capture_output=True, text=True,
                          env={**os.environ, "FOREGRAD_CACHE": "0", **environment})
    if done.returncode:
        sys.exit(f"{command[0]} failed:\n{done.stderr}")
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {row["case"]: row for row in rows}


def machine():
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo")
                  if line.startswith("model name")), platform.processor())
    return {"cpu": model, "cores": os.cpu_count(), "system": platform.platform()}


def row_of(case, unit, values, ours, bar=None):
    """The row of a table, of what was measured for every name: medians, ratio to the best peer."""
    median = {n: statistics.median(v) for n, v in values.items()}
    spread = {n: (max(v) - min(v)) / median[n] if median[n] else 0 for n, v in values.items()}
    peers = {n: m for n, m in median.items() if n != ours}
    return {"case": case, "unit": unit, "ours": median[ours], "peers": peers, "spread": spread,
            "ratio": median[ours] / min(peers.values()) if peers else None, "bar": bar}


def contest(ours, peers, rounds, json_file=None, bar_of=None):
    """ours: (name, command, env); peers: a list of those. Prints a table; returns the rows.

    bar_of(case) is the highest ratio that is wanted, or None.
    """
    contenders = [ours, *peers]
    values = {name: {} for name, _, _ in contenders}
    units = {}
    for number in range(rounds):
        print(f"\rround {number + 1}/{rounds}", end="", file=sys.stderr, flush=True)
        for name, command, environment in contenders:
            for case, row in one_round(command, environment).items():
                values[name].setdefault(case, []).append(row["value"])
                units[case] = row["unit"]
    print("\r", end="", file=sys.stderr)
    rows = [row_of(case, units[case], {n: v[case] for n, v in values.items() if case in v},
                   ours[0], bar_of(case) if bar_of else None) for case in values[ours[0]]]
    print_table(rows, ours[0], [name for name, _, _ in peers])
    if json_file:
        write_json(json_file, rows)
    return rows


def write_json(json_file, rows):
    Path(json_file).write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1))


def print_table(rows, ours, peers):
    print(f"{'case':34} {'unit':4} {ours:>16} " + " ".join(f"{p:>16}" for p in peers) +
          "   ratio     bar")
    for row in rows:
        medians = {ours: row["ours"], **row["peers"]}
        cells = [f"{medians[n]:9.4g} ±{100 * row['spread'][n]:3.0f} %" if n in medians else "-"
                 for n in (ours, *peers)]
        ratio = f"{row['ratio']:7.2f}" if row["ratio"] else "      -"
        bar = f"<= {row['bar']}" if row["bar"] else ""
        missed = "  missed" if row["bar"] and row["ratio"] and row["ratio"] > row["bar"] else ""
        print(f"{row['case']:34} {row['unit']:4} " + " ".join(f"{c:>16}" for c in cells) +
              f" {ratio}   {bar}{missed}")
    print("machine: " + ", ".join(str(v) for v in machine().values()))


def argument_parser(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", metavar="FILE", help="write the rows as JSON")
    parser.add_argument("--rounds", type=int, default=7)
    return parser


def arguments(description):
    return argument_parser(description).parse_args()
