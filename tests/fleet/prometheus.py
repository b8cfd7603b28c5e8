# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Prometheus of this box, in the fleet's network: it scrapes the machines' watchers each second, with the rules that the collection ships."""

import json
import pathlib
import shutil
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Sequence
from typing import Any

import yaml
from machines import host, settings

RULES = settings.COLLECTION / "docs" / "monitoring" / "prometheus-alerts.yml"
JOB = "azure-maintenance"
_PORT = 9090


class Prometheus:
    """Use it as a context manager.

    :arg targets: addresses with ports, by the names that they get as ``instance``
    """

    def __init__(self, folder: pathlib.Path, targets: dict[str, str]) -> None:
        self._folder = folder
        self._targets = targets
        self._process: subprocess.Popen | None = None

    def __enter__(self) -> "Prometheus":
        shutil.copy(RULES, self._folder)
        scraped = [{"targets": [address], "labels": {"instance": name}} for name, address in self._targets.items()]
        configuration = {
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
            "rule_files": [RULES.name],
            "scrape_configs": [{"job_name": JOB, "static_configs": scraped}],
        }
        file = self._folder / "prometheus.yml"
        file.write_text(yaml.safe_dump(configuration), encoding="utf-8")
        command = ["prometheus", f"--config.file={file}", f"--storage.tsdb.path={self._folder / 'data'}"]
        command += [f"--web.listen-address={settings.CONTROLLER_ADDRESS}:{_PORT}", "--log.level=warn"]
        with (self._folder / "log").open("w", encoding="utf-8") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            host.until("Prometheus to scrape all machines", lambda: self.up() == sorted(self._targets))
        except BaseException:
            self._stop()  # nobody else does
            raise
        return self

    def __exit__(self, *_unused: object) -> None:
        self._stop()

    def _stop(self) -> None:
        assert self._process
        self._process.terminate()
        self._process.wait(host.LONG)

    def query(self, expression: str) -> list[dict[str, Any]]:
        """The samples of an expression now. One that Prometheus refuses is an error."""
        found = self._get("query", query=expression)
        assert found["resultType"] in ("vector", "scalar"), found
        return found["result"]

    def values(self, expression: str, label: str = "instance") -> dict[str, float]:
        """The samples by one of their labels."""
        return {one["metric"].get(label, ""): float(one["value"][1]) for one in self.query(expression)}

    def wait_for(self, expression: str, wanted: dict[str, float]) -> None:
        """Until these are the samples of an expression, by instance."""
        try:
            host.until(f"{expression} to be {wanted}", lambda: self.values(expression) == wanted)
        except host.FleetError as error:
            found = f"{error}; it is {self.values(expression)}; what scraping said the last time: {self._problems()}"
            raise host.FleetError(found) from error

    def alerts(self) -> Sequence[str]:
        """The alerts that fire."""
        return sorted(one["labels"]["alertname"] for one in self._get("alerts")["alerts"] if one["state"] == "firing")

    def up(self) -> list[str]:
        """Whom it has scraped the last time."""
        try:
            return sorted(name for name, value in self.values("up").items() if value)
        except OSError:  # it has not started to listen
            return []

    def _problems(self) -> dict[str, str]:
        """Why each machine could not be scraped; "" where it could."""
        return {one["labels"]["instance"]: one["lastError"] for one in self._get("targets")["activeTargets"]}

    def _get(self, what: str, **options: str) -> dict[str, Any]:
        url = f"http://{settings.CONTROLLER_ADDRESS}:{_PORT}/api/v1/{what}?{urllib.parse.urlencode(options)}"
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=30) as answer:
            found = json.load(answer)
        assert found["status"] == "success", found
        return found["data"]
