# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An Azure Instance Metadata Service that plays Scheduled Events.

Arrows point one way: cli -> run -> service -> (metadata, control) -> world -> (lifecycle, enabling) -> model ->
(scenario, timeline, journal, documents). I/O is done only by http_server, service, journal, on_change, open_files,
scenario_files, client, run with what it stands on (commands, namespaces), and the command line.
"""
