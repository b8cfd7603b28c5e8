# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An Azure Instance Metadata Service that plays Scheduled Events.

Arrows point one way: cli -> service -> (metadata, control) -> world -> (timeline, journal, documents).
Only http_server, service, journal, on_change and the command line do I/O.
"""
