# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pack the emulator and its scenarios (as JSON) into one file that any Python 3.6 or later runs.

    python3 build_zipapp.py imds_emulator.pyz

The standard library's zipapp keeps the files' times and order; here the same sources always give the same bytes, so
that a role can tell "unchanged". Needs PyYAML, which a machine that has Ansible has.
"""

import json
import sys
import zipfile
from pathlib import Path

import yaml

HERE = Path(__file__).resolve().parent
PACKAGE = HERE / "imds_emulator"
MAIN = "import sys\n\nfrom imds_emulator.cli import main\n\nsys.exit(main())\n"


def contents() -> dict:
    """Name in the archive -> bytes."""
    files = {
        f"imds_emulator/{path.name}": path.read_bytes() for path in PACKAGE.iterdir() if path.suffix in (".py", ".html")
    }
    scenarios = {
        path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in (HERE / "scenarios").glob("*.yml")
    }
    files["imds_emulator/scenarios.json"] = json.dumps(scenarios, sort_keys=True, indent=1).encode("utf-8")
    files["__main__.py"] = MAIN.encode("utf-8")
    return files


def build(target: Path) -> None:
    """Write the archive."""
    with target.open("wb") as out:
        out.write(b"#!/usr/bin/env python3\n")
        with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
            for name, content in sorted(contents().items()):
                archive.writestr(zipfile.ZipInfo(name), content)
    target.chmod(0o755)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("build_zipapp.py TARGET")
    build(Path(sys.argv[1]))
