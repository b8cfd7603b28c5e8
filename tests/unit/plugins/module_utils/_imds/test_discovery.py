# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import os

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds import discovery
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.vectors import cases

NOW = 1767225600.0  # 2026-01-01T00:00:00Z
AZURE = ("http://168.63.129.16", "http://168.63.129.16:8080")
DHCLIENT = b"lease {\n  option unknown-245 a8:3f:81:10;\n  expire 4 2026/01/01 00:00:01;\n}\n"
NETWORKD = b"ADDRESS=10.0.0.4\nOPTION_245=a83f8110\n"
PACKET = bytes(236) + b"\x63\x82\x53\x63" + bytes([245, 4, 168, 63, 129, 16, 255])

FORMS = {
    "dhclient": lambda case: discovery.parse_dhclient(case["text"], case["now"]),
    "networkd": lambda case: discovery.parse_networkd(case["text"]),
    "networkmanager": lambda case: discovery.parse_networkmanager(case["text"]),
    "dhcp_packet": lambda case: discovery.decode_packet(bytes.fromhex(case["hex"])),
    "windows_interface_options": lambda case: discovery.decode_interface_options(bytes.fromhex(case["hex"])),
}


class FakeFiles(discovery.Files):
    """Files by path; an exception in the place of a content or of a whole directory is raised."""

    def __init__(self, contents):
        self.contents = contents

    def list(self, directory):
        if isinstance(self.contents.get(directory), Exception):
            raise self.contents[directory]
        names = [os.path.basename(path) for path in self.contents if os.path.dirname(path) == directory]
        if not names:
            raise FileNotFoundError(2, "No such file or directory", directory)
        return names

    def read(self, path):
        if isinstance(self.contents[path], Exception):
            raise self.contents[path]
        return self.contents[path]


def find(contents, now=NOW):
    return discovery.find_endpoints(FakeFiles(contents), now)


@pytest.mark.parametrize("case", cases("leases.json"))
def test_lease(case):
    assert FORMS[case["form"]](case) == case["address"]


@pytest.mark.parametrize("case", cases("leases.json", lambda case: "hex" in case))
def test_no_cut_crashes(case):
    whole = bytes.fromhex(case["hex"])
    for length in range(len(whole)):
        assert FORMS[case["form"]]({"hex": whole[:length].hex()}) in (None, case["address"])


@pytest.mark.parametrize("case", cases("endpoints.json"))
def test_endpoints(case):
    assert list(discovery.base_urls(case["addresses"])) == case["endpoints"]


@pytest.mark.parametrize(
    "path, content",
    [
        ("/run/systemd/netif/leases/2", NETWORKD),
        ("/var/lib/dhcp/dhclient.eth0.leases", DHCLIENT),
        ("/var/lib/dhcp/dhclient.leases", DHCLIENT),
        ("/var/lib/dhclient/dhclient-eth0.lease", DHCLIENT),
        ("/var/lib/dhclient/dhclient-0d9ac2e1-eth0.leases", DHCLIENT),
        ("/var/lib/NetworkManager/dhclient-0d9ac2e1-eth0.lease", DHCLIENT),
        ("/var/lib/NetworkManager/internal-0d9ac2e1-eth0.lease", NETWORKD),
        ("/run/NetworkManager/devices/2", b"[dhcp4]\nprivate_245=a8:3f:81:10\n"),
        ("/var/lib/dhcpcd/eth0.lease", PACKET),
    ],
)
def test_every_place_is_looked_at(path, content):
    assert find({path: content}) == (AZURE, ())


def test_files_of_others_are_left_alone():
    others = {"/var/lib/dhcp/notes.txt": DHCLIENT, "/var/lib/dhcpcd/duid": PACKET, "/etc/passwd": DHCLIENT}
    assert find(others) == ((), ())


def test_nothing_there():
    assert find({}) == ((), ())


def test_the_time_tells_which_leases_count():
    assert find({"/var/lib/dhcp/dhclient.eth0.leases": DHCLIENT}, NOW + 1).endpoints == ()


def test_the_time_is_now_unless_told():
    files = FakeFiles({"/var/lib/dhcp/dhclient.eth0.leases": DHCLIENT.replace(b"2026", b"2020")})
    assert discovery.find_endpoints(files).endpoints == ()


def test_several_addresses_in_the_order_of_places_and_names():
    found = find(
        {
            "/var/lib/dhcpcd/eth0.lease": PACKET,
            "/run/systemd/netif/leases/3": b"OPTION_245=0a000003\n",
            "/run/systemd/netif/leases/2": b"OPTION_245=0a000002\n",
            "/run/systemd/netif/leases/4": b"OPTION_245=7f000001\n",
        }
    )
    assert (
        found.endpoints
        == ("http://10.0.0.2", "http://10.0.0.2:8080", "http://10.0.0.3", "http://10.0.0.3:8080") + AZURE
    )


def test_what_can_not_be_read_is_skipped_and_reported():
    found = find(
        {
            "/run/systemd/netif/leases": PermissionError(13, "Permission denied"),
            "/var/lib/dhcp/dhclient.eth0.leases": PermissionError(13, "Permission denied"),
            "/var/lib/dhcp/dhclient.eth1.leases": DHCLIENT,
            "/var/lib/dhcpcd/eth0.lease": OSError("strange"),
        }
    )
    assert found.endpoints == AZURE
    assert found.skipped == (
        "/run/systemd/netif/leases: Permission denied",
        "/var/lib/dhcp/dhclient.eth0.leases: Permission denied",
        "/var/lib/dhcpcd/eth0.lease: strange",
    )


def test_bytes_that_are_no_text():
    found = find(
        {
            "/run/systemd/netif/leases/2": b"\xff\xfe\n" + NETWORKD,
            "/run/NetworkManager/devices/2": b"\xff",
            "/var/lib/dhcp/dhclient.leases": b"\xff\x00\n" + DHCLIENT,
        }
    )
    assert found == (AZURE, ())


def test_the_real_files(tmp_path):
    path = tmp_path / "dhclient.leases"
    path.write_bytes(b"#" * (2 * 1024 * 1024) + b"\n" + DHCLIENT)
    files = discovery.Files()
    assert files.list(str(tmp_path)) == ["dhclient.leases"]
    content = files.read(str(path))
    assert len(content) == 1024 * 1024 and content.endswith(DHCLIENT)
    with pytest.raises(IsADirectoryError):
        files.read(str(tmp_path))


def test_a_small_real_file_is_read_whole(tmp_path):
    (tmp_path / "lease").write_bytes(DHCLIENT)
    assert discovery.Files().read(str(tmp_path / "lease")) == DHCLIENT


def test_a_garbled_file_does_not_hold_the_search():
    assert discovery.parse_dhclient("lease {" + " \n" * 200000, NOW) is None
    assert discovery.parse_dhclient("lease {\n" * 100000, NOW) is None
    assert discovery.parse_dhclient("lease {\n" + '  option unknown-245 "\n' * 50000 + "}\n", NOW) is None
    assert discovery.parse_networkmanager("private_245" + " " * 200000) is None
    assert discovery.parse_networkmanager("private_245 s " * 50000) is None
