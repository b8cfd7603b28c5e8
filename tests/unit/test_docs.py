# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""README and guide name what there is, name nothing that there is not, and their examples are accepted."""

from __future__ import annotations

import functools
import pathlib
import re
import textwrap

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import KINDS
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.policy import (
    _CONDITIONS,
    ACTIONS,
    DEFAULT_POLICY,
    parse_policy,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._module import (
    APPROVE_ARGUMENTS,
    INFO_ARGUMENTS,
)
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain.plan import TYPES, Host, make_plan

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
PAGES = sorted((ROOT / "docs" / "docsite" / "rst").glob("*.rst"))
NAMESPACE = "cloudops.azure_maintenance."
PREFIX = "ansible_collections.cloudops.azure_maintenance.docsite."
ARGUMENTS = {"scheduled_events_info": INFO_ARGUMENTS, "scheduled_events_approve": APPROVE_ARGUMENTS}


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
def rehearse_variables():
    play = yaml.safe_load((ROOT / "playbooks" / "rehearse.yml").read_text(encoding="utf-8"))[0]
    return set(play["vars"])


@functools.lru_cache(maxsize=None)
def variables():
    found = {
        "azure_maintenance_hosts",
        "azure_maintenance_scope",
        "azure_maintenance_resource_name",
        "azure_maintenance_endpoint",
    }
    for role in names("roles/*"):
        found.update(role_options(role))
    return found | rehearse_variables()


RESULTS = {"maintain_result", "drain_result", "drain_recover_result"}


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


@pytest.mark.parametrize(
    "name",
    names("plugins/modules/scheduled*.py")
    + names("plugins/filter/*.py")
    + names("plugins/lookup/*.py")
    + names("playbooks/*.yml")
    + names("roles/*"),
)
def test_readme_names_everything(name):
    assert re.search(rf"`({re.escape(NAMESPACE)})?{name}`", README.read_text(encoding="utf-8"))


@pytest.mark.parametrize("role", names("roles/*"))
def test_the_guide_has_every_variable_of_a_role(role):
    guide = "".join(path.read_text(encoding="utf-8") for path in PAGES)
    missing = [name for name in role_options(role) if not re.search(rf"\b{name}\b", guide)]
    assert not missing


@pytest.mark.parametrize(
    "where, words",
    [
        ("failures", KINDS),
        ("policy", ACTIONS + tuple(_CONDITIONS)),
        ("drain", tuple(TYPES)),
        ("emulator", tuple(names("roles/emulator/files/scenarios/*.yml"))),
        ("getting_started", tuple(sorted(rehearse_variables()))),
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
    named = set(re.findall(r"(?<![\w./])(?:azure_maintenance|maintain|drain|emulator|rehearse)_\w+\b(?![/.]\w)", text))
    known = variables() | RESULTS | set(names("plugins/filter/*.py"))
    assert sorted(named - known) == []


@pytest.mark.parametrize("path", [README] + PAGES, ids=lambda path: path.stem)
def test_links_lead_somewhere(path):
    text = path.read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (ROOT / target).exists() or target == "docs/performance.md"
    labels = {
        label for other in PAGES for label in re.findall(r"^\.\. _([\w.]+):$", other.read_text(encoding="utf-8"), re.M)
    }
    assert set(re.findall(r":ref:`(?:[^`<]*<)?([\w.]+)>?`", text)) <= labels
    for playbook in re.findall(rf"ansible-playbook {re.escape(NAMESPACE)}(\w+)", text):
        assert playbook in names("playbooks/*.yml")


def test_the_defaults_that_the_guide_tells_are_the_defaults():
    options = {**role_options("maintain"), **role_options("drain")}
    told = re.findall(
        r"``((?:maintain|drain)_\w+)`` \(([\d.]+)(?: s)?\b", page("maintain") + page("drain") + page("failures")
    )
    assert len(told) > 5
    assert [(name, value) for name, value in told if float(value) != float(options[name]["default"])] == []
    first = yaml.safe_load(next(blocks(page("policy"), "yaml")))
    assert first["maintain_policy"] == DEFAULT_POLICY
    defaults = yaml.safe_load((ROOT / "roles" / "maintain" / "defaults" / "main.yml").read_text(encoding="utf-8"))
    assert defaults["maintain_policy"] == DEFAULT_POLICY


# ---- examples are accepted ----


@pytest.mark.parametrize("body", list(yaml_examples()))
def test_an_example_is_accepted(body):
    for mapping in walk(yaml.safe_load(body)):
        for name in mapping:
            if isinstance(name, str) and re.match(r"(maintain|drain|emulator|rehearse|azure_maintenance)_", name):
                assert name in variables()
        if "drain_steps" in mapping:
            errors = [plan(mapping["drain_steps"], system)["errors"] for system in ("linux", "windows")]
            assert [] in errors, errors
        if "maintain_policy" in mapping:
            parse_policy(mapping["maintain_policy"])
        for action in ARGUMENTS:
            if NAMESPACE + action in mapping:
                given = mapping[NAMESPACE + action] or {}
                result = ArgumentSpecValidator(ARGUMENTS[action]).validate(given)
                assert result.error_messages == []
