# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Metrics as text, in the format that Prometheus and its node_exporter read. Pure.

Private to this collection.

Source: https://prometheus.io/docs/instrumenting/exposition_formats/ (text-based format, version 0.0.4). No sample has a timestamp: node_exporter's
textfile collector refuses files with timestamps, and Prometheus would keep an old value for five minutes longer.
"""

from typing import Iterable, List, NamedTuple, Tuple, Union

GAUGE, COUNTER, HISTOGRAM = "gauge", "counter", "histogram"

Number = Union[int, float]
Labels = Tuple[Tuple[str, str], ...]


class Sample(NamedTuple):
    """One line."""

    value: Number
    labels: Labels = ()
    suffix: str = ""  # what is added to the family's name: _bucket, _sum or _count of a histogram


class Family(NamedTuple):
    """All samples of one name."""

    name: str
    kind: str
    help: str
    samples: Tuple[Sample, ...]


def rendered(families: Iterable[Family]) -> str:
    """The whole text."""
    lines: List[str] = []
    for family in families:
        lines.append(f"# HELP {family.name} {_escaped(family.help)}")
        lines.append(f"# TYPE {family.name} {family.kind}")
        lines += [f"{family.name}{one.suffix}{_labels(one.labels)} {_number(one.value)}" for one in family.samples]
    return "".join(line + "\n" for line in lines)


def histogram(counts: Iterable[Tuple[Number, int]], total: int, seconds: Number) -> Tuple[Sample, ...]:
    """The samples of a histogram without labels.

    :arg counts: each bucket's upper bound, and how many values were not above it and above the bound before
    :arg total: of all values, those above the last bound among them
    :arg seconds: their sum
    """
    samples: List[Sample] = []
    so_far = 0
    for bound, count in counts:
        so_far += count
        samples.append(Sample(so_far, (("le", _number(bound)),), "_bucket"))
    samples.append(Sample(total, (("le", "+Inf"),), "_bucket"))
    return (*samples, Sample(seconds, (), "_sum"), Sample(total, (), "_count"))


def _labels(labels: Labels) -> str:
    if not labels:
        return ""
    pairs = ",".join(f'{name}="{_quoted(value)}"' for name, value in labels)
    return "{" + pairs + "}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _quoted(text: str) -> str:
    return _escaped(text).replace('"', '\\"')


def _number(value: Number) -> str:
    return repr(int(value) if value == int(value) else value)
