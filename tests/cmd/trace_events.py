"""Holds a file to the rules of the trace event format, strictly: what a viewer may refuse or draw wrongly is an error.

    trace_events.py FILE: prints the first rule that is broken, and exits with 1

- one JSON object without repeated keys, NaN or Infinity; "traceEvents" is a list; "displayTimeUnit" is "ms" or "ns"
- every event has "name", "ph", "pid" and "tid" of the right types, and no key that its phase does not have
- metadata ("M"): process_name and thread_name, each with args.name, once, and before the first event of who they name
- complete events ("X"): "ts" and "dur", more than 0; each of a thread ends before the next in the file begins
- instants ("i"): "ts", and a scope "g", "p" or "t"
- flows ("s" begins, "t" goes on, "f" ends): "ts", "cat", "id"; each is at the beginning of an event of its thread;
  a flow begins before it goes on or ends, and in no step goes back in time
- "ts" and "dur" are decimal, never with an exponent, so that no digit of a cycle is lost
"""
import json
import re
import sys
from decimal import Decimal

PHASES = {
    "M": ({"ph", "pid", "tid", "name", "args"}, set()),
    "X": ({"ph", "pid", "tid", "name", "ts", "dur", "cat", "args"}, set()),
    "i": ({"ph", "pid", "tid", "name", "ts", "s"}, {"cat", "args"}),
    "s": ({"ph", "pid", "tid", "name", "ts", "cat", "id"}, set()),
    "t": ({"ph", "pid", "tid", "name", "ts", "cat", "id"}, set()),
    "f": ({"ph", "pid", "tid", "name", "ts", "cat", "id", "bp"}, set()),
}


def fail(what, event=None):
    print(what if event is None else f"{what}: {event}"[:300])
    sys.exit(1)


def unique(pairs):
    keys = [key for key, _ in pairs]
    if len(keys) != len(set(keys)):
        fail("a key stands twice", keys)
    return dict(pairs)


def number(text):
    if not re.fullmatch(r"\d+(\.\d+)?", text):
        fail("not a plain decimal number", text)
    return Decimal(text)


def check_event(event, named):
    if not isinstance(event, dict) or event.get("ph") not in PHASES:
        fail("an event of an unknown phase", event)
    wanted, allowed = PHASES[event["ph"]]
    if not wanted <= set(event) <= wanted | allowed:
        fail("keys that the phase does not have, or lacks", event)
    if not isinstance(event["name"], str) or not event["name"]:
        fail("a name that is none", event)
    if type(event["pid"]) is not int or type(event["tid"]) is not int:
        fail("a process or thread that is no number", event)
    who = (event["pid"], event["tid"])
    if event["ph"] == "M":
        if event["name"] not in ("process_name", "thread_name") or not isinstance(event["args"].get("name"), str):
            fail("metadata without a name", event)
        key = (event["name"], who[0] if event["name"] == "process_name" else who)
        if key in named:
            fail("named twice", event)
        named.add(key)
        return
    if ("process_name", who[0]) not in named or ("thread_name", who) not in named:
        fail("an event of a thread without a name", event)
    if event["ph"] == "i" and event["s"] not in ("g", "p", "t"):
        fail("an instant without a scope", event)
    for key in ("ts", "dur"):
        if key in event and (not isinstance(event[key], (int, Decimal)) or event[key] < 0):
            fail(f"'{key}' is no time", event)
    for value in event.get("args", {}).values():
        if not isinstance(value, (str, int, Decimal)):
            fail("an argument that is neither text nor number", event)


def check_nesting(events):
    ends = {}
    for event in events:
        if event["ph"] != "X":
            continue
        who = (event["pid"], event["tid"])
        if event["dur"] <= 0:
            fail("a slice of no length", event)
        if event["ts"] < ends.get(who, 0):
            fail("two slices of a thread overlap, or are not in order", (event["name"], str(event["ts"]), str(ends[who])))
        ends[who] = event["ts"] + event["dur"]


def check_flows(events):
    starts = {(e["pid"], e["tid"], e["ts"]) for e in events if e["ph"] == "X"}
    last = {}
    for event in events:
        if event["ph"] not in "stf":
            continue
        if (event["pid"], event["tid"], event["ts"]) not in starts:
            fail("a flow that is at no event", event)
        if event["ph"] != "s" and event["id"] not in last:
            fail("a flow that has not begun", event)
        if event["ts"] < last.get(event["id"], 0):
            fail("a flow that goes back in time", event)
        last[event["id"]] = event["ts"]


def main():
    with open(sys.argv[1], encoding="ascii") as file:
        trace = json.load(file, object_pairs_hook=unique, parse_float=number, parse_constant=lambda c: fail("no number", c))
    if not isinstance(trace, dict) or not isinstance(trace.get("traceEvents"), list):
        fail("no list of events")
    if trace.get("displayTimeUnit") not in ("ms", "ns"):
        fail("no unit of time")
    if set(trace) - {"traceEvents", "displayTimeUnit", "otherData"}:
        fail("unknown keys", sorted(trace))
    named = set()
    for event in trace["traceEvents"]:
        check_event(event, named)
    check_nesting(trace["traceEvents"])
    check_flows(trace["traceEvents"])
    print(len(trace["traceEvents"]))


main()
