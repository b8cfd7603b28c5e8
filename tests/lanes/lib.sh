# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# What the lanes share. A lane is a bash script that sources this file, sets up what it needs below .venv and build, and
# runs. Its exit status: 0 passed, 77 skipped (the last line says why, after "SKIP: "), anything else failed. What it
# prints after "NOTE: " is shown in the runner's summary.
set -euo pipefail

# The tests find the same on every machine, however its user's shell is set up. Of its variables these are unset.
PROXIES=()
for name in $(compgen -e); do
    case $name in
        *_proxy | *_PROXY) PROXIES+=("$name=${!name}") ;;  # for what fetches: see fetching
        GIT_CONFIG*) continue ;;                           # may say that this clone is to be trusted
        ANSIBLE_* | AZURE_* | GIT_* | PIP_PREFIX | PIP_ROOT | PIP_TARGET | PYTHON* | VIRTUAL_ENV) ;;
        COVERAGE_* | MYPY* | NOX_* | PYLINT* | PYTEST_* | PY_COLORS | RUFF_* | SHELLCHECK_* | YAMLLINT_*) ;;
        LANG | LANGUAGE | LC_* | TZ | COLUMNS | LINES | CLICOLOR* | FORCE_COLOR | NO_COLOR) ;;
        BASH_ENV | ENV | CDPATH | GREP_* | MAKE* | MFLAGS | POSIXLY_CORRECT | TAR_OPTIONS) ;;
        CREDENTIALS_DIRECTORY | JOURNAL_STREAM | NOTIFY_SOCKET | WATCHDOG_* | SSH_AUTH_SOCK | SUDO_USER | DOAS_USER) ;;
        *) continue ;;
    esac
    unset "$name"
done
umask 022
export LC_ALL=C.UTF-8 TZ=UTC PIP_USER=0 PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
USER=$(id -un 2>/dev/null || true) LOGNAME=$USER  # su may leave another's, and pytest's folder would be his
export USER LOGNAME

CLONE=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=$CLONE/build

fail() {
    echo "$*"
    exit 1
}

[[ $CLONE != *[[:space:]:\'\"\$]* ]] ||
    fail "Ansible can't run a Python whose path has a space, a quote, a colon or a dollar sign: move this clone. It is in $CLONE"

# Where tests have their temporary files they run programs, bind sockets (whose paths have 108 bytes at most), and want nobody
# but root and this user able to write on the way there. The user's TMPDIR may be unfit for each, and a folder of this clone, too.
export TMPDIR
for TMPDIR in /tmp /var/tmp ""; do
    [ -n "$TMPDIR" ] || fail "Tests run programs from /tmp or /var/tmp, and in neither of them can one be written and run" \
        "(full, or mounted noexec?)"
    probe=$(mktemp "$TMPDIR/azure-maintenance-XXXXXX" 2>/dev/null) || continue
    printf '#!/bin/sh\n' >"$probe" && chmod +x "$probe" && "$probe" 2>/dev/null && rm "$probe" && break
    rm -f "$probe"
done

# No lane writes into the user's home: it has one in build. What pip and git know of the user still counts, and pip's
# cache stays where it is.
[ -n "${HOME:-}" ] || HOME=$(unset HOME; echo ~)
PYENV_VERSIONS=${PYENV_ROOT:-$HOME/.pyenv}/versions
export PIP_CACHE_DIR=${PIP_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/pip}
for file in "${XDG_CONFIG_HOME:-$HOME/.config}/pip/pip.conf" "$HOME/.pip/pip.conf"; do
    [ ! -r "$file" ] || export PIP_CONFIG_FILE=${PIP_CONFIG_FILE:-$file}
done
for file in "$HOME/.gitconfig" "${XDG_CONFIG_HOME:-$HOME/.config}/git/config"; do
    [ ! -r "$file" ] || export GIT_CONFIG_GLOBAL=${GIT_CONFIG_GLOBAL:-$file}
done
unset XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME
export HOME=$BUILD/home
mkdir -p "$HOME"

listed=$(git -C "$CLONE" ls-files --cached --others --exclude-standard galaxy.yml 2>&1) || true
[ "$listed" = galaxy.yml ] || fail "The lanes ask git which files there are here, in $CLONE, and it says:" \
    "${listed:-none, as the repository around this folder ignores it}
If this is no clone, make it one: git init && git add --all"
# With which tests of random inputs begin
AZM_COMMIT=$(git -C "$CLONE" rev-parse --verify --quiet HEAD || echo 0)
export AZM_COMMIT

# fetching COMMAND...: by the user's proxies. No test goes by them.
fetching() {
    env "${PROXIES[@]}" "$@"
}

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
    # The lock names all of it. A resolver looks at the newest version of what is wanted with an extra, and refuses that for its hash.
    fetching "$target/bin/python" -m pip install -qq --disable-pip-version-check --no-deps --require-hashes \
        -r "$CLONE/requirements/$2.txt"
    echo "$stamp" >"$target/.made-from"
)

# use_venv: the same, and its programs come first on PATH. Its Python looks for garbage less often, which is a twentieth of what
# Ansible's processes cost.
use_venv() {
    venv "$@"
    VENV=$CLONE/.venv/$1
    local packages
    for packages in "$VENV"/lib/python3*/site-packages; do
        [ -e "$packages/less_garbage.pth" ] || echo "import gc; gc.set_threshold(100000, 50, 100)" >"$packages/less_garbage.pth"
    done
    PATH=$VENV/bin:$PATH
}

# core_python CORE: the Pythons on which this ansible-core is tested, the first that is there. Where there is none it ends as a
# skipped lane does, but itself only: who asks may try another.
core_python() (
    case $1 in
        2.16) python_for 3.10 3.11 || skip "needs Python 3.10 or 3.11 with its venv module" ;;
        2.19) python_for 3.11 3.12 3.13 || skip "needs Python 3.11, 3.12 or 3.13 with its venv module" ;;
        2.21) python_for 3.12 3.13 3.14 || skip "needs Python 3.12 to 3.14 with its venv module" ;;
    esac
)

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
            fetching python -m pip download -qq --disable-pip-version-check --no-deps --only-binary :all: \
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
# ansible-test asks git for the files, and would find the clone around it, which ignores build. Owner and modes are not the
# clone's: under another's umask that would be writable for all, or for nobody but him.
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
            done | tar --create --mode=u=rwX,go=rX --null --files-from=- |
            tar --extract --no-same-owner --directory "$VIEW"
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
    CI=${CI:-true} ANTSIBULL_NOX_INSTALL_COLLECTIONS=never fetching nox --reuse-venv yes --sessions "$@"
}

# How pytest reports to the runner: what failed or was skipped, and the slowest tests
# shellcheck disable=SC2034
REPORT=(-rfEs --durations=10 --durations-min=1 -p no:cacheprovider)
# Half of what unit tests take is waiting: `make check` runs those of a lane two at a time. Beside other lanes nothing is gained.
[ "${AZM_CHECK:-}" != true ] || REPORT+=(--numprocesses 2)

# Unit tests of real processes that are killed and waited for
# shellcheck disable=SC2034
PROCESSES=(
    tests/unit/plugins/module_utils/_machine/test_hooks_killed.py
    tests/unit/plugins/module_utils/_watcher/test_health_program.py
    tests/unit/plugins/module_utils/_watcher/test_sender.py
    tests/unit/plugins/module_utils/_watcher/test_watcher_approvals.py
    tests/unit/plugins/module_utils/_watcher/test_watcher_faults.py
    tests/unit/plugins/module_utils/_watcher/test_watcher_program.py
    tests/unit/plugins/module_utils/_watcher/test_watcher_real.py
)

# Unit tests that run plays
# shellcheck disable=SC2034
PLAYS=(
    tests/unit/plugins/action/test_done_by_others.py
    tests/unit/plugins/action/test_drain_plays.py
    tests/unit/plugins/action/test_interrupted.py
    tests/unit/plugins/action/test_machine_calls.py
    tests/unit/plugins/action/test_machine_program.py
    tests/unit/plugins/action/test_notifications.py
    tests/unit/plugins/action/test_output.py
    tests/unit/plugins/action/test_own_playbooks.py
    tests/unit/plugins/action/test_own_task_files.py
    tests/unit/plugins/action/test_plays.py
    tests/unit/plugins/action/test_preflight.py
    tests/unit/plugins/action/test_reach.py
    tests/unit/plugins/action/test_status.py
    tests/unit/plugins/action/test_watcher_deployed.py
    tests/unit/plugins/action/test_watcher_refusals.py
    tests/unit/plugins/action/test_windows_watcher.py
    tests/unit/plugins/lookup/test_hosts.py
)

# Of those, what only the newest ansible-core plays in `make test`, and what holds the same on the oldest
# shellcheck disable=SC2034
PLAYS_OF_THE_NEWEST=(
    tests/unit/plugins/action/test_done_by_others.py   # integration-2.16: steps of other hosts, of a stand-in for Windows; test_plays.py
    tests/unit/plugins/action/test_interrupted.py      # an approval that is killed: our module's process, no part of Ansible's
    tests/unit/plugins/action/test_machine_program.py  # every play of integration-2.16 goes through the machine program
    tests/unit/plugins/action/test_notifications.py    # our own process sends; the play only begins and ends it
    tests/unit/plugins/action/test_output.py           # nothing of it is Ansible's but that it prints
    tests/unit/plugins/action/test_status.py           # integration-2.16, target maintain, asks for it, too
    tests/unit/plugins/action/test_watcher_deployed.py # integration-2.16, target watcher, which deploys, refuses and removes
    tests/unit/plugins/action/test_watcher_refusals.py # integration-2.16, test_bad_input.yml of target watcher
)
