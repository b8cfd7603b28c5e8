# SPDX-License-Identifier: GPL-3.0-or-later
"""Real machines on one box: systemd-nspawn, a network of their own, an emulator at Azure's address. See ../README.md."""
