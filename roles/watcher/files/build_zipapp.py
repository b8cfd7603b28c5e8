# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pack the watcher into one file that any Python 3.6 or later runs.

    python3 build_zipapp.py TARGET [--windows]

The same sources always give the same bytes, so that a role can tell "unchanged".
"""

import importlib.util
import sys
from pathlib import Path

BUNDLE = Path(__file__).resolve().parents[3] / "plugins" / "plugin_utils" / "_machine" / "bundle.py"


def build(target: Path, for_windows: bool = False) -> None:
    """Write the program."""
    spec = importlib.util.spec_from_file_location("azure_maintenance_bundle", BUNDLE)
    bundle = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = bundle
    spec.loader.exec_module(bundle)
    target.write_bytes(bundle.watcher(for_windows).content)


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--windows"]
    if len(words) != 1:
        sys.exit("build_zipapp.py TARGET [--windows]")
    sys.dont_write_bytecode = True  # the collection's folder is not ours
    build(Path(words[0]), "--windows" in sys.argv[1:])
