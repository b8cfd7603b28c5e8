# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""README and guide name what there is, name nothing that there is not, and their examples are accepted."""

from __future__ import annotations

import ast
import functools
import pathlib
import re
import textwrap

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import KINDS
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.policy import (
    ACTIONS,
    CONDITIONS,
    DEFAULT_POLICY,
    parse_policy,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._module import (
    APPROVE_ARGUMENTS,
    INFO_ARGUMENTS,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.step_type import Host
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.types import TYPES
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.host.linux_host import LINUX
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.report import (
    KINDS as REPORTED,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.destinations import (
    destinations_of,
)
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain.plan import make_plan
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._variables import OF_PLAYBOOKS, RENAMED
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._watcher.hooks import hook_files
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._watcher.place import place_of
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._watcher.plan import _reports
from ansible_collections.cloudops.azure_maintenance.tests.unit.monitoring.expressions import FAMILIES

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
PAGES = sorted((ROOT / "docs" / "docsite" / "rst").glob("*.rst"))
NAMESPACE = "cloudops.azure_maintenance."
ARGUMENTS = {"scheduled_events_info": INFO_ARGUMENTS, "scheduled_events_approve": APPROVE_ARGUMENTS}
# Words that stop a reader, or a second word for one thing, and what to write instead.
WORDS = {
    "told": "said, reported, given",
    "mend(s|ed|ing)?": "fix",
    "strangers?": "other services, unknown machines",
    "manners?": "way",
    "crew": "participants",
    "hits?": "affects, affected",
    "by choice": "early (an approval), voluntarily (capacity)",
    "bears? (?:a|the|its|no|their) marks?": "is marked, has a mark",
    r"marks? (?:that )?\w+(?: machine)? bears?": "its mark",
    "taken back": "undone (a step), withdrawn",
    "brought back": "recovered",
    "case before": "initial state",
}
NAMES_TO_KEEP = ("rehearse_hit", "hit_unprepared")
PLACES_TO_KEEP = {"hits?": "roles/emulator/"}  # there a fault hits a request
READABLE = (".rst", ".md", ".py", ".ps1", ".yml", ".yaml", ".j2", ".html")


def page(name):
    return (ROOT / "docs" / "docsite" / "rst" / (name + ".rst")).read_text(encoding="utf-8")


def names(pattern):
    return sorted(path.stem for path in ROOT.glob(pattern))


@functools.lru_cache(maxsize=None)
def role_options(role):
    specs = yaml.safe_load((ROOT / "roles" / role / "meta" / "argument_specs.yml").read_text(encoding="utf-8"))[
        "argument_specs"
    ]
    return {name: option for spec in specs.values() for name, option in spec["options"].items()}


@functools.lru_cache(maxsize=None)
def variables():
    return set(OF_PLAYBOOKS).union(*map(role_options, names("roles/*")))


RULEBOOKS = "extensions/eda/rulebooks/*.yml"
RESULTS = {"maintain_result", "drain_result", "drain_recover_result"}
METRICS = set(FAMILIES)
SLIPS = {"maintain_wait_timeot"}  # in an example of a warning


def blocks(text, language):
    """The bodies of rst's code blocks of one language, dedented."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        start = re.match(r"( *)\.\. code-block:: (\w+)$", line)
        if not start or start.group(2) != language:
            continue
        body = []
        for following in lines[number + 1 :]:
            if following.strip() and len(following) - len(following.lstrip()) <= len(start.group(1)):
                break
            body.append(following)
        while body and (not body[0].strip() or body[0].strip().startswith(":")):
            body.pop(0)
        yield textwrap.dedent("\n".join(body))


def yaml_examples():
    for path in PAGES:
        for number, body in enumerate(blocks(path.read_text(encoding="utf-8"), "yaml")):
            yield pytest.param(body, id=f"{path.stem}-{number}")
    for number, body in enumerate(re.findall(r"```yaml\n(.*?)```", README.read_text(encoding="utf-8"), re.S)):
        yield pytest.param(body, id=f"README-{number}")


def walk(value):
    """Every mapping in a piece of YAML."""
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from walk(item)


def plan(steps, system):
    groups = {name: ["web1"] for name in ("web", "lb", "all")}
    groups["all"] = ["web1", "lb1"]
    host = Host("web1", system, groups, lambda name: "linux", lambda path: "/there/" + path)
    return make_plan(steps, host)


# ---- what there is is named ----


def contents():
    """All that the collection brings, by name."""
    plugins = [f"plugins/{kind}/*.py" for kind in ("callback", "filter", "lookup", "test")]
    others = ("playbooks/*.yml", "roles/*", RULEBOOKS)
    return [name for pattern in ("plugins/modules/*.py", *plugins, *others) for name in names(pattern)]


def named_in_the_table(file, section):
    """The names in the first column of the section's table."""
    text = file.read_text(encoding="utf-8").partition(f"## {section}\n")[2].partition("\n## ")[0]
    return [name for row in re.findall(r"^\| (`.*?) \|", text, re.M) for name in re.findall(r"`(\w+)`", row)]


def test_readme_names_what_users_call_and_contributing_the_rest():
    private = named_in_the_table(ROOT / "CONTRIBUTING.md", "Private plugins")
    assert private
    assert sorted(named_in_the_table(README, "Contents") + private) == sorted(set(contents()))


@pytest.mark.parametrize("role", names("roles/*"))
def test_the_guide_has_every_variable_of_a_role(role):
    guide = "".join(path.read_text(encoding="utf-8") for path in PAGES)
    missing = [name for name in (*role_options(role), *OF_PLAYBOOKS) if not re.search(rf"\b{name}\b", guide)]
    assert not missing


@pytest.mark.parametrize(
    "where, words",
    [
        ("failures", KINDS),
        ("policy", ACTIONS + tuple(CONDITIONS)),
        ("drain", tuple(TYPES)),
        ("watcher", tuple(REPORTED)),
        ("emulator", tuple(names("roles/emulator/files/scenarios/*.yml"))),
        ("getting_started", tuple(name for name in role_options("maintain") if name.startswith("rehearse_"))),
        ("architecture", tuple(sorted(path.parent.name for path in ROOT.glob("plugins/*_utils/_*/__init__.py")))),
    ],
)
def test_a_reference_is_complete(where, words):
    missing = [word for word in words if f"``{word}``" not in page(where)]
    assert not missing


def test_every_page_is_in_the_guide_and_in_the_readme():
    sections = yaml.safe_load((ROOT / "docs" / "docsite" / "extra-docs.yml").read_text(encoding="utf-8"))["sections"]
    listed = [name for section in sections for name in section["toctree"]]
    assert sorted(listed) == [path.stem for path in PAGES]
    readme = README.read_text(encoding="utf-8")
    assert [name for name in listed if f"docs/docsite/rst/{name}.rst" not in readme] == []


# ---- what is named is there ----


@pytest.mark.parametrize("path", [README] + PAGES, ids=lambda path: path.stem)
def test_variables_that_are_named_exist(path):
    text = path.read_text(encoding="utf-8")
    named = set(
        re.findall(r"(?<![\w./])(?:azure_maintenance|maintain|drain|emulator|rehearse|watcher)_\w+\b(?![/.]\w)", text)
    )
    known = variables() | RESULTS | METRICS | SLIPS | set(names("plugins/filter/*.py") + names(RULEBOOKS))
    known |= set(RENAMED) if path.stem == "marks" else set()  # it says what is different from 0.1.0
    assert sorted(named - known) == []


@pytest.mark.parametrize("path", [README] + PAGES, ids=lambda path: path.stem)
def test_links_lead_somewhere(path):
    text = path.read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (ROOT / target).exists() or target == "docs/performance.md"
    for playbook in re.findall(rf"ansible-playbook {re.escape(NAMESPACE)}(\w+)", text):
        assert playbook in names("playbooks/*.yml")


def test_the_files_that_answer_a_maintainers_question_exist():
    section = re.search(r"^Which file answers what\n(.*?)^One behaviour", page("architecture"), re.M | re.S).group(1)
    rooms = [
        ROOT / "plugins" / room
        for room in ("module_utils/_core", "plugin_utils/_fleet", "module_utils/_watcher/engine")
    ]
    rows = re.findall(r"^   \* - .*?\n     - (``.*?)\n     - (``.*?)\n     - (``.*?)\n", section, re.M)
    named = [(room, name) for row in rows for room, cell in zip(rooms, row) for name in re.findall("``(.+?)``", cell)]
    assert len(named) > 15
    assert [f"{room.name}/{name}" for room, name in named if not (room / f"{name}.py").is_file()] == []


def test_the_tests_that_the_guide_names_exist():
    files = [path for path in (ROOT / "tests").rglob("*") if path.suffix in (".py", ".sh")]
    there = {path.name for path in files}
    there.update(name for path in files for name in re.findall(r"def (test_\w+)\(", path.read_text(encoding="utf-8")))
    named = re.findall(r"``(test_\w+(?:\.py)?|\w+\.sh)``", page("security"))
    assert len(named) > 10 and set(named) <= there


def test_the_defaults_that_the_guide_gives_are_the_defaults():
    options = {**role_options("maintain"), **role_options("drain"), **role_options("watcher")}
    pages = "".join(map(page, ("maintain", "drain", "failures", "watcher")))
    given = re.findall(r"``((?:maintain|drain|watcher)_\w+)`` (?:seconds )?\(([\d.]+)(?: s)?\b", pages)
    assert len(given) > 5
    assert [(name, value) for name, value in given if float(value) != float(options[name]["default"])] == []
    first = yaml.safe_load(next(blocks(page("policy"), "yaml")))
    assert first["azure_maintenance_policy"] == DEFAULT_POLICY
    for role in ("maintain", "watcher"):
        defaults = yaml.safe_load((ROOT / "roles" / role / "defaults" / "main.yml").read_text(encoding="utf-8"))
        assert defaults["azure_maintenance_policy"] == DEFAULT_POLICY


def messages_in_the_guide():
    """The messages of a run that the guide explains, each as the pieces between what differs from run to run."""
    section = re.search(r"^What a run of maintain says\n(.*?)^Why a machine", page("failures"), re.M | re.S).group(1)
    for term in re.findall(r"^(``.*)\n   \S", section, re.M):
        for message in re.findall(r"``(.+?)``", term):
            varying = r"web\d|X|[ab]|which|step|(?:may have )?started|Started|\d+"
            pieces = re.split(rf"\.\.\.|: |'\w+'|\b(?:{varying})\b", message)
            yield message, [piece.strip(" :,;()") for piece in pieces if len(piece) > 6]


def texts_in_the_code():
    """All that the code may say: the constant parts of Python's strings, and the tasks of roles and playbooks as they are."""
    for path in ROOT.glob("plugins/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
    for path in [*ROOT.glob("roles/*/tasks/**/*.yml"), *ROOT.glob("playbooks/*.yml")]:
        yield " ".join(path.read_text(encoding="utf-8").split())


def test_messages_that_the_guide_explains_are_in_the_code():
    said = "\n".join(texts_in_the_code())
    explained = list(messages_in_the_guide())
    assert len(explained) > 15
    missing = [(message, piece) for message, pieces in explained for piece in pieces if piece not in said]
    assert not missing, "\n" + "\n".join(f"{piece!r} of {message!r}" for message, piece in missing)


# ---- one word for one thing, in plain English ----


def places_to_read():
    """All that a user or a contributor reads: pages, options and results, messages, tasks, and the code itself."""
    folders = ("docs", "plugins", "roles", "playbooks", "meta", "changelogs/fragments")
    found = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in READABLE]
    return sorted([README, ROOT / "CONTRIBUTING.md", *ROOT.glob("tests/**/*.md"), *found])


def banned(line, path="README.md"):
    """The banned words in a line, each with a better one. An underscore ends a word, but for the names that users write."""
    for name in NAMES_TO_KEEP:
        line = line.replace(name, "")
    for word, better in WORDS.items():
        found = re.search(rf"(?<![a-z])(?:{word})(?![a-z])", line, re.I)
        if found and not path.startswith(PLACES_TO_KEEP.get(word, "nowhere")):
            yield found.group(0), better


def test_banned_words_are_found():
    found = [
        word for word, _better in banned("We TOLD the crew of record['hit_hosts'] in this manner: it mends strangers.")
    ]
    assert sorted(found) == ["TOLD", "crew", "hit", "manner", "mends", "strangers"]
    assert list(banned("rehearse_affected: a white untold commend is white")) == []
    assert list(banned("the fault hits a request", "roles/emulator/README.md")) == []


def test_no_banned_word_is_used():
    offenders = []
    for path in places_to_read():
        name = path.relative_to(ROOT).as_posix()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            offenders += [f"{name}:{number}: {word} (better: {better})" for word, better in banned(line, name)]
    assert not offenders, f"{len(offenders)} places:\n" + "\n".join(offenders)


# ---- examples are accepted ----


def a_script(path):
    """Where an example's file of the controller is: every one of them is taken for this repository's own script."""
    return str(ROOT / ".ci" / "run")


@pytest.mark.parametrize("body", list(yaml_examples()))
def test_an_example_is_accepted(body):
    for mapping in walk(yaml.safe_load(body)):
        for name in mapping:
            if isinstance(name, str) and re.match(
                r"(maintain|drain|emulator|rehearse|watcher|azure_maintenance)_", name
            ):
                assert name in variables()
        if "drain_steps" in mapping:
            errors = [plan(mapping["drain_steps"], system)["errors"] for system in ("linux", "windows")]
            assert [] in errors, errors
        if "azure_maintenance_policy" in mapping:
            parse_policy(mapping["azure_maintenance_policy"])
        if "watcher_hooks" in mapping:
            assert hook_files(mapping["watcher_hooks"], a_script, place_of("linux", {}))[1] == []
        if "watcher_reports" in mapping:
            reports, _secrets, wrong = _reports(mapping["watcher_reports"], place_of("linux", {}))
            assert wrong == [] and destinations_of(reports, LINUX)
        for action in ARGUMENTS:
            if NAMESPACE + action in mapping:
                given = mapping[NAMESPACE + action] or {}
                result = ArgumentSpecValidator(ARGUMENTS[action]).validate(given)
                assert result.error_messages == []
