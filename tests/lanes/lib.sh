# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# What the lanes share. A lane is a bash script that sources this file, sets up what it needs below .venv and build, and
# runs. Its exit status: 0 passed, 77 skipped (the last line says why, after "SKIP: "), anything else failed. What it
# prints after "NOTE: " is shown in the runner's summary.
set -euo pipefail

CLONE=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=$CLONE/build
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
unset ANSIBLE_CONFIG ANSIBLE_COLLECTIONS_PATH

# No lane writes into the user's home: it has one in build. What pip and git know of the user still counts, and pip's
# cache stays where it is.
PYENV_VERSIONS=${PYENV_ROOT:-$HOME/.pyenv}/versions
export PIP_CACHE_DIR=${PIP_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/pip}
for file in "${XDG_CONFIG_HOME:-$HOME/.config}/pip/pip.conf" "$HOME/.pip/pip.conf"; do
    [ ! -f "$file" ] || export PIP_CONFIG_FILE=${PIP_CONFIG_FILE:-$file}
done
[ ! -f "$HOME/.gitconfig" ] || export GIT_CONFIG_GLOBAL=${GIT_CONFIG_GLOBAL:-$HOME/.gitconfig}
unset XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME
export HOME=$BUILD/home
mkdir -p "$HOME"

skip() {
    echo "SKIP: $*"
    exit 77
}

# python_for VERSION...: the path of the first of these interpreters that works and can make a virtual environment.
# pyenv's shims come last and are followed to the interpreter behind them: most of them only say "command not found".
python_for() {
    local version candidate
    for version in "$@"; do
        for candidate in "$PYENV_VERSIONS/$version".*/bin/python \
            {/usr,/usr/local}/bin/"python$version" $(type -aP "python$version"); do
            [ -x "$candidate" ] || continue
            "$candidate" -c "import ensurepip, os, sys
assert '%d.%d' % sys.version_info[:2] == '$version'
print(os.path.realpath(sys.executable))" 2>/dev/null && return
        done
    done
    return 1
}

# locked NAME: a lock until the calling subshell ends, so that two lanes don't set up the same thing at once
locked() {
    mkdir -p "$BUILD"
    exec 9>"$BUILD/$1.lock"
    flock 9
}

# venv NAME LOCK PYTHON: makes .venv/NAME with what requirements/LOCK.txt names, anew when that or Python has changed
venv() (
    locked "venv-$1"
    target=$CLONE/.venv/$1 stamp="$3 $(sha256sum <"$CLONE/requirements/$2.txt")"
    [ "$(cat "$target/.made-from" 2>/dev/null)" = "$stamp" ] && exit
    rm -rf "$target"
    "$3" -m venv "$target"
    "$target/bin/python" -m pip install -qq --disable-pip-version-check --require-hashes \
        -r "$CLONE/requirements/$2.txt"
    echo "$stamp" >"$target/.made-from"
)

# use_venv: the same, and its programs come first on PATH
use_venv() {
    venv "$@"
    VENV=$CLONE/.venv/$1
    PATH=$VENV/bin:$PATH
}

# core_python CORE: the Pythons on which this ansible-core is tested, the first that is there
core_python() {
    case $1 in
        2.16) python_for 3.10 3.11 || skip "needs Python 3.10 or 3.11 with its venv module" ;;
        2.19) python_for 3.11 3.12 3.13 || skip "needs Python 3.11, 3.12 or 3.13 with its venv module" ;;
        2.21) python_for 3.12 3.13 3.14 || skip "needs Python 3.12 to 3.14 with its venv module" ;;
    esac
}

# dependencies CORE: unpacks the collections that ours depends on into build/collections-CORE
dependencies() (
    locked collections
    target=$BUILD/collections-$1 stamp=$(grep "^$1 " "$CLONE/requirements/collections.txt")
    [ "$(cat "$target/.made-from" 2>/dev/null)" = "$stamp" ] && exit
    rm -rf "$target"
    mkdir -p "$target" "$BUILD/wheels"
    while read -r _ version hash collections; do
        wheel=$BUILD/wheels/ansible-$version-py3-none-any.whl
        if [ ! -f "$wheel" ]; then
            echo "ansible==$version --hash=sha256:$hash" >"$BUILD/wheels/ansible.txt"
            python -m pip download -qq --disable-pip-version-check --no-deps --only-binary :all: \
                --python-version 3.12 --require-hashes -r "$BUILD/wheels/ansible.txt" -d "$BUILD/wheels"
        fi
        python - "$wheel" "$target" "$collections" <<'PYTHON'
import sys
import zipfile

wheel, target, collections = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    folders = tuple(f"ansible_collections/{name.replace('.', '/')}/" for name in collections.split(","))
    archive.extractall(target, [name for name in archive.namelist() if name.startswith(folders)])
PYTHON
    done <<<"$stamp"
    echo "$stamp" >"$target/.made-from"
)

# use_core CORE: this ansible-core, and the collections that ours depends on at $COLLECTIONS
use_core() {
    local python
    python=$(core_python "$1") || { echo "$python"; exit 77; }
    use_venv "core-$1" "core-$1" "$python"
    dependencies "$1"
    COLLECTIONS=$BUILD/collections-$1
    export ANSIBLE_COLLECTIONS_PATH=$COLLECTIONS
}

# use_view NAME: a fresh copy of the working tree (what git tracks or would track) at $VIEW, in folders of the names that
# Ansible's tools insist on; a link would not do, ansible-test resolves it. The copy is a repository of its own:
# ansible-test asks git for the files, and would find the clone around it, which ignores build.
use_view() {
    VIEW_ROOT=$BUILD/views/$1
    VIEW=$VIEW_ROOT/ansible_collections/cloudops/azure_maintenance
    rm -rf "$VIEW_ROOT"
    mkdir -p "$VIEW"
    (
        cd "$CLONE"
        git ls-files -z --cached --others --exclude-standard --deduplicate |
            while IFS= read -r -d '' file; do
                [ ! -e "$file" ] || printf '%s\0' "$file"
            done | tar --create --null --files-from=- | tar --extract --directory "$VIEW"
    )
    git -C "$VIEW" init --quiet
    export ANSIBLE_COLLECTIONS_PATH=$VIEW_ROOT:${COLLECTIONS:-}
    cd "$VIEW"
}

# sessions NAME...: these sessions of noxfile.py in the clone itself, with nothing fetched but what the locks name. With CI
# set to false the formatter doesn't only check.
sessions() {
    use_core 2.21
    cd "$CLONE"
    CI=${CI:-true} ANTSIBULL_NOX_INSTALL_COLLECTIONS=never nox --reuse-venv yes --sessions "$@"
}

# Unit tests of real processes that are killed and waited for
# shellcheck disable=SC2034
PROCESSES=(
    tests/unit/plugins/module_utils/_machine/test_hooks_killed.py
    tests/unit/plugins/module_utils/_watcher/test_sender.py
    tests/unit/plugins/module_utils/_watcher/test_watcher_approvals.py
    tests/unit/plugins/module_utils/_watcher/test_watcher_faults.py
    tests/unit/plugins/module_utils/_watcher/test_watcher_program.py
    tests/unit/plugins/module_utils/_watcher/test_watcher_real.py
)
