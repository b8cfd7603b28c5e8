# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A life in a few lines, for whoever has to find out what went wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .fleet import Fleet
from .windows.machine import WindowsMachine

DULL = ("looked",)


def told(fleet: Fleet, wrong: list[str]) -> str:
    """Who there was, what happened when, and what was wrong with it."""
    kind = fleet.scenario or ("calm" if fleet.calm else "")
    lines = [f"seed {fleet.seed}{f' ({kind})' if kind else ''}; {fleet.same}"]
    for host, machine in fleet.machines.items():
        options = fleet.options[host]
        actions = "/".join(rule["do"] for rule in options["policy"])
        steps = ", ".join(
            f"{step.do_seconds:g}/{step.undo_seconds:g} s of {step.limit:g}{' elsewhere' if step.elsewhere else ''}"
            f"{' not running' if not step.originally else ''}{' do fails ' + step.do_fails if step.do_fails else ''}"
            f"{f' undo fails {step.undo_fails}' if step.undo_fails else ''}"
            for step in machine.steps
        )
        kept = {key: value for key, value in options.items() if key != "policy"}
        lines.append(
            f"  {host} = {machine.name}{'' if machine.is_linux else ' Windows'} {machine.priority} in {machine.scope.name}"
            f"{' (each its own)' if machine.scope.each_its_own else ''}, declared {fleet.declared[host] or '-'}, placement group "
            f"{machine.placement_group or '-'}, group {fleet.groups[host] or '-'}: {actions}; steps {steps}; {kept}"
        )
        lines += [f"      {begins:.0f}-{ends:.0f} s: {what}" for begins, ends, what in machine.faults]
    lines += [*_happened(fleet), *_starts(fleet)]
    for run in fleet.runs:
        if run.result is not None:
            lines += [f"  {run.name} says: {line}" for line in run.result["timeline"]]
            problems = run.result["problems"]
            lines += [
                f"  {run.name} problem: {text}"
                for text in (problems.values() if isinstance(problems, dict) else problems)
            ]
    lines += [f"WRONG {sentence}" for sentence in wrong]
    return "\n".join(lines)


def _starts(fleet: Fleet) -> Iterator[str]:
    """What was asked of Windows machines, and how often PowerShell was started for it."""
    shown = min((event.shown for event in fleet.events.values() if event.status), default=0.0)
    posts = [line["at"] for line in fleet.journal.of("post")]
    for host, machine in fleet.machines.items():
        if isinstance(machine, WindowsMachine):
            until = [at for at in machine.asks if shown <= at <= posts[0]] if posts else []
            approved = (
                f", {len(until)} in the {posts[0] - shown:.1f} s from the first event to the first approval"
                if posts
                else ""
            )
            yield f"  {host}: {len(machine.starts)} starts of PowerShell, {len(machine.asks)} requests{approved}"


def _happened(fleet: Fleet) -> Iterator[str]:
    before: dict[Any, Any] = {}
    for line in fleet.journal.lines:
        what = line["what"]
        if what in DULL:
            # Only what a machine sees for the first time.
            key, seen = (line["run"], line["host"]), (line["events"], line["good"])
            if before.get(key) == seen:
                continue
            before[key] = seen
        if what == "phase":
            recent = before.setdefault(("phase", line["host"]), [])
            if (line["phase"], line["events"]) in recent[-2:]:
                continue
            recent.append((line["phase"], line["events"]))
        if what == "sent" and before.get(("sent", line["host"], line["run"])) == (line["do"], line["to"]):
            continue
        if what == "sent":
            before["sent", line["host"], line["run"]] = (line["do"], line["to"])
        details = " ".join(f"{key}={value}" for key, value in line.items() if key not in ("at", "what"))
        yield f"  {line['at']:7.1f}  {what:8} {details}"
