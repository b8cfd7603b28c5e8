# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The watcher's loop: takes in the facts of each tick, settings, steps, mark and document, has the engine decide, and carries out what that wants.

Private to this collection.

It ticks in one thread, which alone changes anything. All that may hang is done beside it. Most ticks find nothing new, so what is dear is
checked when there is a reason to: hooks when another document comes and now and then, files when they have changed.
"""

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from ..._core.transitions import PREPARED
from ..._steps.step_type import Step
from ..._text import listed, one_line
from ..engine.interface import Answer, Approve, Facts, Go, PutAside, Remember, Say
from ..reports.systemd_transport import ERROR, INFO, NOTICE, WARNING
from ..settings.hooks import Found, steps_of, with_context
from ..settings.options import Settings
from .command_handler import CommandHandler
from .status_file import line_of, state_of
from .wiring import Components

HOOKS_EVERY = 30.0  # seconds after which the hooks are checked again


class Snapshots:
    """What one watcher knows."""

    def __init__(self, parts: Components) -> None:
        self._parts = parts
        self._found = Found()
        self._found_at: Optional[float] = None
        self._document: Any = None
        self._settings = Settings()

    def facts(self, answer: Optional[Answer], stopping: bool) -> Facts:
        """As it is now.

        :arg answer: of the machine program to the last ``Go``
        """
        parts = self._parts
        self._check_hooks()
        mark, unreadable = parts.program.mark()
        return Facts(
            now=parts.clock.now(),
            moment=parts.system.moment(),
            settings=self._settings,
            identity=parts.metadata.identity,
            polled=parts.metadata.polled,
            poll_problem=parts.metadata.poll_problem,
            mark=mark,
            unreadable=unreadable,
            answer=answer,
            posted=parts.metadata.posted(),
            hold=parts.hold.read(),
            confirmed=parts.program.confirmed_events(),
            steps=self._found.steps,
            going_down=parts.system.going_down or stopping,
            settled=parts.system.settled,
            degraded=parts.inside.degraded(),
            lacking=self._found.lacking,
            recovery_lacks=self._found.recovery_lacks,
            endpoint=parts.settings.current.endpoint,
            suppressed=parts.suppressed.read(),
        )

    def refresh_settings(self, anyway: bool = False) -> None:
        """Follow the file as it is now, where it can be followed."""
        parts, file = self._parts, self._parts.settings
        before, folder = file.problem, file.current.folder
        if anyway:
            self._found_at = None
        if file.refresh(anyway):
            parts.log.say(f"{file.path} has changed and is followed from now on.", NOTICE)
            if file.current.folder != folder:
                parts.log.say("The state stays in its folder until the watcher is restarted.", WARNING)
            parts.metadata.configure(file.current)
            self._found_at = None
        if file.problem and file.problem != before:
            parts.log.say(f"{file.problem} The settings as they were before stay in force.", ERROR)

    def check(self) -> List[str]:
        """Look at everything again; returns what is wrong."""
        self.refresh_settings(anyway=True)
        self._found_at = None
        self._check_hooks()
        return self.problems(self._parts.inside.degraded())

    def steps(self) -> Mapping[str, Sequence[Step]]:
        """Those of this machine by type of event."""
        self._check_hooks()
        return self._found.steps

    def problems(self, degraded: str) -> List[str]:
        """What keeps the watcher from its work, or may, for people."""
        parts = self._parts
        unknown = "" if parts.metadata.identity else parts.metadata.unknown
        own = (parts.settings.problem, *self._found.problems, parts.metadata.poll_problem, unknown, degraded)
        written = (parts.published.problem, parts.flag.problem, parts.metrics.problem)
        return [problem for problem in (*own, *written, parts.inside.untold()) if problem]

    def _check_hooks(self) -> None:
        parts, now = self._parts, self._parts.clock.now()
        polled = parts.metadata.polled
        document = polled.document if polled else None
        if self._found_at is not None and now - self._found_at < HOOKS_EVERY and document is self._document:
            return
        before = self._found.problems
        self._found, self._found_at, self._document = parts.inside.find(parts.settings.current), now, document
        self._settings = _with_limits(parts.settings.current.settings, self._found.steps)
        for problem in self._found.problems:
            if problem not in before:
                parts.log.say(problem, WARNING)


def _with_limits(settings: Settings, steps: Mapping[str, Sequence[Step]]) -> Settings:
    """With the seconds that all that is done for one event takes at most, and all that takes it back."""
    limits = [sum(step["timeout"] for step in some if step["does"]) for some in steps.values()]
    undos = [sum(step["undo_timeout"] for step in some if step["undoes"]) for some in steps.values()]
    return settings._replace(limits=float(max(limits, default=0.0)), undo_limits=float(max(undos, default=0.0)))


IDLE = 5.0  # seconds between two ticks while there is nothing to do: what is new in the document ends the pause
EVERY = 1.0  # and while there is an event, or a mark, or nothing can be seen
BUSY = 0.2  # and while something is under way
CRASHES = 3  # of handling in a row, after which it is restarted, as if the watcher had been started again
SAME_CRASH_EVERY = 60.0  # seconds
_UNDER_WAY = ("preparing", "recovering")


class Loop:
    """The loop of one watcher. ``stop`` and ``hang_up`` may be called by handlers of signals."""

    def __init__(self, parts: Components) -> None:
        self._parts = parts
        self._snapshots = Snapshots(parts)
        self._commands = CommandHandler(parts, self._snapshots.check, self._snapshots.steps)
        self._handling = parts.inside.make_handling(parts.remembered.what)
        self._answer: Optional[Answer] = None
        self._stopping = self._hung_up = False
        self._crashes = 0
        self._crash: Tuple[str, float] = ("", 0.0)
        self._said_alive = float("-inf")
        self._said: List[str] = []

    @property
    def outcomes(self) -> List[Dict[str, Any]]:
        """What came of the last orders."""
        return self._commands.outcomes

    def stop(self) -> None:
        self._stopping = True
        self._parts.wake.wake()

    def hang_up(self) -> None:
        """Read the settings again."""
        self._hung_up = True
        self._parts.wake.wake()

    def run(self) -> None:
        """Until it is stopped."""
        while not self._stopping:
            self._parts.wake.wait(self.tick())

    def tick(self) -> float:
        """One tick; returns the seconds until the next one."""
        parts = self._parts
        is_busy = changed = False
        facts: Optional[Facts] = None
        try:
            anyway, self._hung_up = self._hung_up, False
            self._snapshots.refresh_settings(anyway)
            open_events = tuple(self._handling.decisions)
            for sentence in self._commands.take(parts.metadata.polled, parts.metadata.identity, open_events):
                parts.log.say(sentence, NOTICE)
            facts = self._snapshots.facts(self._answer, self._stopping)
            parts.metrics.follow(facts)
            acts = self._wanted(facts)
            self._report(acts, facts)
            for act in acts:
                is_busy = self._carried_out(act, facts) or is_busy
            changed = any(isinstance(act, Go) for act in acts)
            self._crashes = 0
        except Exception as error:  # one tick that fails must not be the last one
            self._crashed(error)
        parts.system.watch_closely(is_busy)
        self._publish(facts, changed)
        self._sign_of_life()
        if is_busy:
            return BUSY
        return IDLE if facts is not None and _is_idle(facts) else EVERY

    # --- what is to be done ---

    def _wanted(self, facts: Facts) -> List[Any]:
        acts = list(self._handling.tick(facts))
        if self._commands.recovery is None or self._gives_way(acts):
            return acts
        # A person's word goes first; handling sees what comes of it.
        note = dict((facts.mark or {}).get("note") or {})
        kinds = tuple(sorted({str(kind).lower() for kind in (note.get("types") or {}).values()}))
        order = Go("recovered", float("inf"), (), note, kinds)
        return [act for act in acts if not isinstance(act, (Go, Approve))] + [order]

    def _gives_way(self, acts: List[Any]) -> bool:
        """Whether a person's order, which was not forced, ends here: the machine has to be prepared for what has shown since."""
        commands = self._commands
        if commands.recovery is None or commands.recovery.force:
            return False
        goes = [act for act in acts if isinstance(act, Go) and act.replace_outage]
        for go in goes:
            words = f"The machine is not recovered now, as it has to be prepared for {listed(go.events)}."
            self._parts.log.say(commands.recovered(words, False), NOTICE)
        return bool(goes)

    def _carried_out(self, act: Any, facts: Facts) -> bool:
        """Carry out one act; whether it leaves something under way."""
        parts = self._parts
        if isinstance(act, Go):
            return not self._stopping and self._gone(act, facts)
        if isinstance(act, Approve):
            if not self._stopping:
                parts.metadata.approve(act.events, facts.now, act.own)
        elif isinstance(act, PutAside):
            self._put_aside(act)
        return False

    def _gone(self, go: Go, facts: Facts) -> bool:
        """Go on by one call of the machine program."""
        parts, commands = self._parts, self._commands
        ordered = commands.recovery is not None
        take = commands.take_from() if ordered else ""
        steps = with_context(steps_of(facts.steps, go.kinds), parts.inside.context(go, facts))
        if go.to == PREPARED:
            parts.flag.lower()
        before = self._answer
        self._answer = answer = parts.program.go(go, steps, facts.identity, facts.endpoint, take, ordered)
        if commands.recovery and answer.state not in _UNDER_WAY:
            words = answer.why or f"The machine is {answer.state}."
            parts.log.say(commands.recovered(words, answer.state == "recovered"), NOTICE)
        is_new = before is None or (before.to, before.state, before.why) != (answer.to, answer.state, answer.why)
        if is_new:
            parts.log.say(f"The machine program: {answer.state}. {answer.why}".strip(), INFO)
        return is_new or answer.state in _UNDER_WAY

    def _put_aside(self, act: PutAside) -> None:
        parts = self._parts
        parts.log.say(f"Put aside: {act.why}", WARNING)
        if act.what == "hold":
            parts.hold.put_aside()
        else:
            parts.program.put_aside()

    def _report(self, acts: List[Any], facts: Facts) -> None:
        """What happened, once it is remembered that it was reported: whoever is killed meanwhile leaves the rest to the next one."""
        parts = self._parts
        says = [act for act in acts if isinstance(act, Say)]
        for say in says:
            parts.metrics.take_report(say)
        found = [act.what for act in acts if isinstance(act, Remember)]
        if says or found:
            what = found[0] if found else parts.remembered.what
            parts.inside.tell(says, facts.identity, lambda reports: self._remember(what, reports))

    def _remember(self, what: Dict[str, Any], reports: List[Dict[str, Any]]) -> None:
        try:
            self._parts.remembered.keep(what, reports)
        except OSError as error:  # what is lost costs a wait, nothing else
            self._say_once(f"The watcher's memory can't be written: {one_line(error)}", WARNING)

    # --- what it says of itself ---

    def _crashed(self, error: Exception) -> None:
        import traceback  # takes memory, and is hardly ever needed

        parts, now = self._parts, self._parts.clock.now()
        self._crashes += 1
        lines = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        if lines != self._crash[0] or now - self._crash[1] >= SAME_CRASH_EVERY:
            self._crash = (lines, now)
            parts.log.say(f"A tick failed; the watcher goes on with the next one.\n{lines}", ERROR)
            what = f"{type(error).__name__}: {one_line(error)}"
            try:
                words = f"A tick of the watcher failed, and it goes on with the next one ({what})."
                parts.inside.tell([Say("internal_error", words)], parts.metadata.identity, lambda reports: None)
            except Exception as again:  # whoever listens may be what is broken
                self._say_once(f"That could not be reported: {one_line(again)}", ERROR)
        if self._crashes % CRASHES == 0:
            self._handling, self._answer = parts.inside.make_handling(parts.remembered.what), None

    def _say_once(self, message: str, priority: int) -> None:
        if message not in self._said:
            self._said = [*self._said, message][-20:]
            self._parts.log.say(message, priority)

    def _publish(self, facts: Optional[Facts], changed: bool) -> None:
        """For people; nothing depends on it.

        :arg changed: whether the mark may be another one than at the beginning of the tick
        """
        if facts is None:
            return
        parts = self._parts
        try:
            if changed:
                mark, unreadable = parts.program.mark()
                facts = facts._replace(mark=mark, unreadable=unreadable)
            parts.flag.follow(facts.mark, facts.unreadable)
            problems = [*self._snapshots.problems(facts.degraded), *self._handling.unreadable]
            if self._crashes:
                problems.append(f"A tick failed: {self._crash[0].strip().splitlines()[-1]}")
            state = state_of(
                facts,
                parts.settings,
                parts.metadata.about(),
                parts.about,
                problems,
                self._commands.outcomes,
                self._handling.decisions,
            )
            parts.published.publish(state)
            parts.notify.status(line_of(facts, problems))
            parts.metrics.publish(facts)
        except Exception as error:
            self._say_once(f"The state could not be published: {type(error).__name__}: {one_line(error)}", ERROR)

    def _sign_of_life(self) -> None:
        """While the loop ticks and its polls end, the service manager need not end it."""
        parts, now = self._parts, self._parts.clock.now()
        interval = parts.notify.interval
        if interval and now - self._said_alive >= interval and not parts.metadata.hangs():
            self._said_alive = now
            parts.notify.alive()


def _is_idle(facts: Facts) -> bool:
    return facts.mark is None and facts.polled is not None and not (facts.polled.document.events or facts.poll_problem)
