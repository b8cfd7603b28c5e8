# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# build_tarball: builds the collection as a user would, in $VIEW, and sets $TARBALL
build_tarball() {
    local packed stray wanted_by_nobody
    wanted_by_nobody='^\.|^(build|requirements|changelogs/fragments|tests/[^/]+)/|^(Makefile|noxfile\.py|(antsibull-nox|pyproject)\.toml)|\.pyc$'
    ansible-galaxy collection build --force --output-path "$VIEW_ROOT" .
    TARBALL=$(echo "$VIEW_ROOT"/cloudops-azure_maintenance-*.tar.gz)
    packed=$(tar --list --file "$TARBALL")
    stray=$(grep -E "$wanted_by_nobody" <<<"$packed" || true)
    if [ -n "$stray" ]; then
        printf 'The tarball holds what users have no use for (galaxy.yml, build_ignore):\n%s\n' "$stray" >&2
        exit 1
    fi
}
