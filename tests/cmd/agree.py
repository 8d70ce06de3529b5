#!/usr/bin/env python3
"""For test_agree: compares what stat, report and hist print for one run, in the folder it is started in."""
import csv
import json
import re
import sys

wrong = []


def same(what, a, b):
    if a != b:
        wrong.append(f"{what}: {a} and {b}")


def load(name):
    with open(name, encoding="utf-8") as file:
        return json.load(file)


def lines(name):
    with open(name, encoding="utf-8") as file:
        return [line.rstrip("\n").split("|") for line in file]


stat, report, hist = load("stat.json"), load("report.json"), load("hist.json")
counts = {c["name"]: c["value"] for c in stat["counters"]}
derived = {d["metric"]: d for d in stat["derived"]}
ratios = {r["name"]: r for r in report["ratios"]}

# Counts: the sum over call paths and threads is stat's.
recorded = {m["title"]: sum(cell[2] for cell in m["cells"]) for m in report["metrics"]}
shared_counts = [name for name in counts if name in recorded]
for name in shared_counts:
    same(f"{name} in stat and report", counts[name], recorded[name])
with open("report.csv", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
own = {}
for row in rows:
    own[row["metric"]] = own.get(row["metric"], 0) + (int if row["own"].isdigit() else float)(row["own"])
for name in own:
    if name in counts:
        same(f"{name} in stat and report --csv", counts[name], own[name])

# Metrics: the same definition, the same value, to the last bit.
for name, metric in derived.items():
    if name not in ratios:
        wrong.append(f"report has no {name}")
        continue
    for key in ("value", "unit", "text", "formula"):
        same(f"{name}: {key} in stat -j and report -j", metric["name" if key == "text" else key], ratios[name][key])

# Separated values have nine digits, tables three after the point, the report's table four.
by_label = {(d["name"], d["unit"]): d for d in stat["derived"]}
events = {c["name"]: c for c in stat["counters"]}
cores = len(stat["busy_cycles"])
seen = 0
for value, unit, name, kind in lines("stat.lines"):
    if kind == "derived":
        same(f"{name}, {unit} with -x", value, f"{by_label[name, unit]['value']:.9g}")
        seen += 1
    else:
        same(f"{name} with -x", int(value), counts[name])
same("derived metrics with -x and -j", seen, sum(d["value"] is not None for d in stat["derived"]))
for core, value, unit, name, kind in lines("cores.lines"):
    row = by_label[name, unit] if kind == "derived" else events[name]
    wanted = row["value"] if core == "total" else row["cores"][int(core)]
    same(f"{name} of core {core}", value, f"{wanted:.9g}" if kind == "derived" else str(wanted))
with open("stat.text", encoding="utf-8") as file:
    text = file.read()
for (name, unit), row in by_label.items():
    if row["value"] is None:
        continue
    label = re.escape(name + (", " + unit if unit else ""))
    found = re.search(rf"([-\d.]+)  {label}$", text, re.M)
    same(f"{name} in the table", found and found[1], f"{row['value']:.3f}")
with open("report.text", encoding="utf-8") as file:
    text = file.read()
for name, ratio in ratios.items():
    if ratio["value"] is not None:
        found = re.search(rf"^ *{name} +(\S+)", text, re.M)
        same(f"{name} in the report", found and found[1], f"{ratio['value']:.4g}")

# Histograms: a transaction of a kind is a miss of that kind.
kinds = {bin["values"][0]: bin["count"] for bin in hist["bins"]}
same("hist -j and -x", kinds, {row[1]: int(row[0]) for row in lines("hist.lines") if row[0].isdigit()})
for kind, name in (("load", "BGL_D1_L_MISS"), ("store", "BGL_D1_S_MISS"), ("fetch", "BGL_I1_MISS")):
    same(f"{kind} in hist and {name}", kinds.get(kind, 0), counts[name])

# The definitions, worked out here from counts.
busy, elapsed = sum(stat["busy_cycles"]), stat["cycles"]
hertz = float(report["attributes"]["clock_hz"])
misses = counts["BGL_D1_L_MISS"] + counts["BGL_D1_S_MISS"]
loads = counts["BGL_LOAD"] + counts["BGL_FP_LOAD"]
same("busy cycles and BGL_CYCLES", busy, counts["BGL_CYCLES"])
for name, value in {
    "IPC": counts["BGL_INST"] / busy,
    "MFLOPS": counts["BGL_FLOP"] / 1e6 / (elapsed / hertz),
    "MFLOPS_PER_CORE": counts["BGL_FLOP"] / 1e6 / (busy / hertz),
    "PEAK_SHARE": 100 * counts["BGL_FLOP"] / (2 * 2 * cores * elapsed),
    "L1_LOAD_MISS_RATE": 100 * counts["BGL_D1_L_MISS"] / loads,
    "DDR_PER_MISS": counts["BGL_DDR_READ"] / misses,
    "DDR_READ_RATE": 128 * counts["BGL_DDR_READ"] / 1e6 / (elapsed / hertz),
}.items():
    if abs(ratios[name]["value"] - value) > 1e-12 * abs(value):
        wrong.append(f"{name} is {ratios[name]['value']}, by its definition {value}")

print("\n".join(wrong[:20]))
print(f"{len(shared_counts)} counts and {len(derived)} metrics agree" if not wrong else f"{len(wrong)} differ")
sys.exit(bool(wrong) or len(derived) < 18 or len(shared_counts) < 50)
