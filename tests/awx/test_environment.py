# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The execution environment: what ansible-builder makes of the example's definition, and finds in this collection for any other."""

from __future__ import annotations

import yaml

from ansible_collections.cloudops.azure_maintenance.tests.awx.example import COLLECTION, EXAMPLE, ansible


def test_the_definition_gives_a_context_to_build_from(tmp_path):
    made = ansible(
        "ansible-builder",
        "create",
        "-f",
        str(EXAMPLE / "execution-environment.yml"),
        "-c",
        str(tmp_path / "context"),
        folder=tmp_path,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    (containerfile,) = (tmp_path / "context").glob("*file")
    assert "ansible-core>=2.16,<2.22" in containerfile.read_text(encoding="utf-8")
    wanted = yaml.safe_load((tmp_path / "context" / "_build" / "requirements.yml").read_text(encoding="utf-8"))[
        "collections"
    ]
    assert {entry["name"] for entry in wanted} == {"cloudops.azure_maintenance", "azure.azcollection", "awx.awx"}


def test_what_this_collection_needs_comes_by_itself(tmp_path):
    found = ansible("ansible-builder", "introspect", str(COLLECTION.parents[2]), folder=tmp_path)
    assert found.returncode == 0, found.stdout + found.stderr
    python = yaml.safe_load(found.stdout)["python"]
    assert {requirement.split(">")[0] for requirement in python} == {"pypsrp", "pywinrm"}
