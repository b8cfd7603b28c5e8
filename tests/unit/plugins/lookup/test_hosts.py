# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pattern of hosts must match some, and is no template: as a lookup, and in the playbooks."""

import json
import pathlib
import re

import pytest
import yaml
from ansible import context
from ansible.errors import AnsibleError
from ansible.module_utils.common.collections import ImmutableDict
from ansible.parsing.dataloader import DataLoader

from ansible_collections.cloudops.azure_maintenance.plugins.lookup.hosts import LookupModule
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.playing import playbook

PLAYBOOKS = sorted((pathlib.Path(__file__).parents[4] / "playbooks").glob("*.yml"))
OF_THE_CONTROLLER = ("configure_controller",)  # these are for no machine, and for localhost alone
GROUPS = {"all": ["web1", "web2", "db1"], "ungrouped": [], "web": ["web1", "web2"], "database": ["db1"]}
TAKEN = "lookup('cloudops.azure_maintenance.hosts', variable='azure_maintenance_hosts'{})"
REQUIRED = ("recover", "remove_watcher")  # whoever names no machines means none of them here
ATTACKED = "[web]\nweb1 ansible_connection=local\n"


@pytest.fixture
def limited(monkeypatch):
    return lambda limit: monkeypatch.setattr(context, "CLIARGS", ImmutableDict(subset=limit))


def looked_up(*patterns, **named):
    return LookupModule(loader=DataLoader()).run(
        list(patterns), {"groups": GROUPS, **named.pop("variables", {})}, **named
    )


def from_variable(value, **named):
    return looked_up(variable="azure_maintenance_hosts", variables={"azure_maintenance_hosts": value}, **named)


@pytest.mark.parametrize("taken", [looked_up, from_variable])
@pytest.mark.parametrize("pattern", ["all", "web", "web1,db1", "web:!web1", "~web.", "~(web|db)\\d{1}", "web[0]"])
@pytest.mark.parametrize("limit", [None, "web2,web1,db1"])
def test_a_pattern_that_matches_comes_back(pattern, limit, taken, limited):
    limited(limit)
    assert taken(pattern) == [pattern]


@pytest.mark.parametrize("taken", [looked_up, from_variable])
def test_a_list_comes_back_as_one_text(taken):
    assert taken(["web1", "database"]) == ["web1,database"]
    assert taken(["web:!web1", "db1 , ~web."]) == ["web,!web1,db1,~web."]  # a colon parts nothing where a comma does


@pytest.mark.parametrize("pattern", ["wbe", "web:!web", "", []])
def test_one_that_matches_nothing_fails_and_names_the_variable(pattern):
    words = f"{re.escape(repr(pattern))}, and no host .* Nothing was done"
    with pytest.raises(AnsibleError, match=f"^azure_maintenance_hosts is {words}"):
        from_variable(pattern)
    with pytest.raises(AnsibleError, match=f"^The pattern of hosts is {words}"):
        looked_up(pattern)


def test_the_likely_group_is_named():
    with pytest.raises(AnsibleError, match="did you mean 'database'"):
        looked_up("databse")


def test_one_of_which_the_limit_leaves_nothing_fails(limited):
    limited("db1")
    with pytest.raises(AnsibleError, match="azure_maintenance_hosts is 'web' and --limit is 'db1', and no host"):
        from_variable("web")


def test_a_check_of_the_syntax_needs_no_inventory(monkeypatch):
    monkeypatch.setattr(context, "CLIARGS", ImmutableDict(syntax=True))
    assert looked_up("wbe") == ["wbe"]
    assert looked_up(variable="azure_maintenance_hosts", required=True) == ["all"]


def test_without_the_variable_it_is_all_or_what_is_said(limited):
    assert looked_up(variable="azure_maintenance_hosts") == ["all"]
    assert looked_up(variable="azure_maintenance_hosts", default="web") == ["web"]
    with pytest.raises(
        AnsibleError, match="^Say which machines, as in -e azure_maintenance_hosts=web1,web2 or --limit"
    ):
        looked_up(variable="azure_maintenance_hosts", required=True)
    assert from_variable("web", required=True) == ["web"]
    limited("web")
    assert looked_up(variable="azure_maintenance_hosts", required=True) == ["all"]


@pytest.mark.parametrize("taken", [looked_up, from_variable])
@pytest.mark.parametrize(
    "value, words",
    [
        ("{{ 'all' }}", "is a template, "),
        ("all,{% if true %}web{% endif %}", "is a template, "),
        ("web{# #}", "is a template, "),
        ("all:{{", "is a template, "),
        (["web1", "{{ 'all' }}"], "is a template, "),
        ("#jinja2: variable_start_string:'[['\n[[ 'all' ]],all", "is a template, "),
        ('["a,all,\\x7b\\x7b 1 }}"]', "is .*, which is a list written as a text"),
        ("@/etc/hostname", "is '@/etc/hostname', and a file of hosts"),
        ("web1, @/etc/hostname", "is .*, and a file of hosts"),
        ("all:!@/etc/hostname", "is .*, and a file of hosts"),
        (["web1", "@/etc/hostname"], "is .*, and a file of hosts"),
        (7, "is 7, which is no text and no list of texts"),
        (None, "is None, which is no text"),
        ({"web1": ""}, "is .*, which is no text"),
        (["web1", 7], "is .*, which is no text"),
        (["web1", ["web2"]], "is .*, which is no text"),
    ],
)
def test_what_is_no_pattern_is_refused(value, words, taken):
    with pytest.raises(AnsibleError, match=rf"^\S.* {words}(?s:.*)\. Write names, .* Nothing was done\.$"):
        taken(value)


def test_a_pattern_or_a_variable_and_nothing_else():
    for patterns, named in (((), {}), (("web",), {"variable": "x"}), (("web",), {"limit": "web"})):
        with pytest.raises(AnsibleError, match="takes either a pattern or variable, with default, required"):
            looked_up(*patterns, **named)


def test_a_limit_that_is_none_opens_no_file(tmp_path):
    assert looked_up("web", variables={"ansible_limit": f"@{tmp_path / 'none'}"}) == ["web"]


@pytest.mark.parametrize(
    "path", [path for path in PLAYBOOKS if path.stem not in OF_THE_CONTROLLER], ids=lambda path: path.stem
)
def test_every_playbook_has_its_hosts_from_it(path):
    taken = TAKEN.format(", required=true" if path.stem in REQUIRED else "")
    content = path.read_text(encoding="utf-8")
    assert {play["hosts"] for play in yaml.safe_load(content)} == {"{{ " + taken + " }}"}
    code = [line.split("#")[0] for line in content.splitlines()]
    assert not [
        line for line in code if "azure_maintenance_hosts" in line and taken not in line
    ]  # which would evaluate it


def test_a_playbook_without_hosts_fails(tmp_path):
    variables = {"azure_maintenance_hosts": "wbe"}
    printed, status = playbook(tmp_path, "cloudops.azure_maintenance.maintain", ATTACKED, variables)
    assert status != 0
    assert (
        "azure_maintenance_hosts is 'wbe', and no host of the inventory matches that (did you mean 'web'?)" in printed
    )


def attack(folder):
    """A template that makes a file, and the file."""
    made = folder / "made"
    return f"{{{{ lookup('ansible.builtin.pipe', 'touch {made}') }}}}", made


def with_header(folder):
    template, made = attack(folder)
    template = template.replace("{{", "[[").replace("}}", "]]")
    return f"#jinja2: variable_start_string:'[[', variable_end_string:']]'\n{template},all", made


def run(folder, variables, *arguments, hosts=ATTACKED, name="status"):
    printed, status = playbook(folder, f"cloudops.azure_maintenance.{name}", hosts, variables, *arguments)
    return " ".join(printed.split()), status


@pytest.mark.parametrize("form", ["text", "pattern", "list", "header"])
def test_a_template_in_an_extra_variable_is_refused_and_never_evaluated(tmp_path, form):
    template, made = attack(tmp_path)
    value = {
        "text": template,
        "pattern": "all:&" + template,  # as a rulebook has it
        "list": ["web1", template],
        "header": with_header(tmp_path)[0],
    }[form]
    printed, status = run(tmp_path, {"azure_maintenance_hosts": value})
    assert not made.exists()
    assert status != 0
    assert "azure_maintenance_hosts is a template, " in printed
    assert "Write names, groups or patterns of hosts, such as web or web1,web2. Nothing was done." in printed


@pytest.mark.parametrize("form", ["json", "key"])
def test_nor_one_on_the_command_line(tmp_path, form):
    template, made = attack(tmp_path)
    given = (
        json.dumps({"azure_maintenance_hosts": template}) if form == "json" else f'azure_maintenance_hosts="{template}"'
    )
    printed, status = run(tmp_path, {}, "-e", given)
    assert (made.exists(), status != 0, "azure_maintenance_hosts is a template, " in printed) == (False, True, True)


@pytest.mark.parametrize("name", ["status", *REQUIRED])
def test_nor_one_of_the_inventory(tmp_path, name):
    template, made = attack(tmp_path)
    hosts = f"{ATTACKED}[all:vars]\nazure_maintenance_hosts={template}\n"
    printed, status = run(tmp_path, {}, hosts=hosts, name=name)
    assert not made.exists()
    if name in REQUIRED:
        assert status != 0
        assert "Say which machines, as in -e azure_maintenance_hosts=web1,web2 or --limit web1,web2;" in printed


def test_nor_a_limit(tmp_path):
    template, made = attack(tmp_path)
    _printed, status = run(tmp_path, {}, "--limit", "all," + template)
    assert not made.exists()
    printed, status = run(tmp_path, {}, "--limit", template)
    assert (made.exists(), status != 0) == (False, True)
    assert "--limit" in printed


@pytest.mark.parametrize("form", ["text", "list", "list as text"])
def test_what_it_returns_is_evaluated_no_more(tmp_path, form):
    """Were a template to come through, as here past the check, it would be a text, whatever ansible.cfg says of lookups."""
    template, made = attack(tmp_path)
    value = {"text": f"all,{template}", "list": ["all", template], "list as text": f'["a,all,b", "{template}"]'}[form]
    (tmp_path / "lookup_plugins").mkdir()
    (tmp_path / "lookup_plugins" / "through.py").write_text(
        "from ansible_collections.cloudops.azure_maintenance.plugins.lookup import hosts\n"
        "hosts._refuse = lambda name, pattern: None\n"
        "LookupModule = hosts.LookupModule\n"
    )
    (tmp_path / "ansible.cfg").write_text("[defaults]\nallow_unsafe_lookups = True\n")
    hosts = "{{ lookup('through', variable='azure_maintenance_hosts') }}"
    (tmp_path / "play.yml").write_text(
        json.dumps([{"name": "Play", "hosts": hosts, "gather_facts": False, "tasks": []}])
    )
    variables = {"azure_maintenance_hosts": value}
    printed, _status = playbook(
        tmp_path, tmp_path / "play.yml", ATTACKED, variables, ANSIBLE_CONFIG=str(tmp_path / "ansible.cfg")
    )
    assert "PLAY [Play]" in printed, printed
    assert not made.exists()
