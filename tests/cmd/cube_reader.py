"""A reader of .cubex with the rules of pycubexr, which is stricter than CUBE: one root of call paths and of the
system, metrics EXCLUSIVE or INCLUSIVE, every metric with an index that has rows. Prints a metric a line, parents first:
depth, unique name, title, unit, type of its numbers, total.
    cube_reader.py FILE.cubex"""

import struct
import sys
import tarfile
import xml.etree.ElementTree

FORMATS = {"UINT64": "Q", "INT64": "q", "DOUBLE": "d"}


def number_rows(archive, metric, locations):
    index = archive.extractfile(metric.get("id") + ".index").read()
    data = archive.extractfile(metric.get("id") + ".data").read()
    assert index.startswith(b"CUBEX.INDEX\x01\0\0\0\0\0\x01"), "a sparse little-endian index"
    (rows,) = struct.unpack_from("<I", index, 18)
    assert rows > 0, "the index of " + metric.findtext("uniq_name") + " has no rows"
    assert len(index) == 22 + 4 * rows, "the index has its size"
    keys = struct.unpack_from(f"<{rows}I", index, 22)
    assert list(keys) == sorted(set(keys)), "keys ascend"
    assert data.startswith(b"CUBEX.DATA"), "plain data"
    values = struct.unpack(f"<{rows * locations}{FORMATS[metric.findtext('dtype')]}", data[10:])
    return keys, values


def show(archive, metric, locations, nodes, depth):
    assert metric.get("type") in ("EXCLUSIVE", "INCLUSIVE")
    keys, values = number_rows(archive, metric, locations)
    assert keys[-1] < nodes, "rows are of call paths"
    print(depth, *(metric.findtext(tag) or "-" for tag in ("uniq_name", "disp_name", "uom", "dtype")), repr(sum(values)))
    for child in metric.findall("metric"):
        show(archive, child, locations, nodes, depth + 1)


with tarfile.open(sys.argv[1]) as archive:
    root = xml.etree.ElementTree.fromstring(archive.extractfile("anchor.xml").read())
    assert len(root.findall("program/cnode")) == 1 and len(root.findall("system/systemtreenode")) == 1, "one root"
    paths = len(list(root.iter("cnode")))
    for top in root.findall("metrics/metric"):
        show(archive, top, len(list(root.iter("location"))), paths, 0)
