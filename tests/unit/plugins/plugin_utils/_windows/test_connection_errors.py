# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What connections of ansible-core 2.16 to 2.21 said (pywinrm 0.5, pypsrp 0.9, OpenSSH 9), word for word where marked SEEN."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.connection_errors import (
    connection_problem,
    known_problem,
)

SEEN = {
    "lacks pywinrm": ["winrm or requests is not installed: No module named 'winrm'"],
    "lacks pypsrp": ["pypsrp or dependencies are not installed: No module named 'pypsrp'"],
    "sshpass": [
        "to use the 'ssh' connection type with passwords or pkcs11_provider, you must install the sshpass program"
    ],
    "does not trust": [
        "Task failed: ntlm: HTTPSConnectionPool(host='127.0.0.1', port=59852): Max retries exceeded with url: /wsman "
        "(Caused by SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: "
        "self-signed certificate (_ssl.c:1000)')))",
        "Failed to connect to the host via PSRP: HTTPSConnectionPool(host='127.0.0.1', port=59852): Max retries "
        "exceeded "
        "with url: /wsman (Caused by SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] "
        "certificate "
        "verify failed: self-signed certificate (_ssl.c:1006)')))",
    ],
    "does not speak TLS": [
        "ntlm: HTTPSConnectionPool(host='127.0.0.1', port=59851): Max retries exceeded with url: /wsman (Caused by "
        "SSLError(SSLError(1, '[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1006)')))"
    ],
    "rejected the user's credentials": [
        "Task failed: ntlm: Access denied: Server did not respond with NTLM challenge token",
        "Task failed: failed to authenticate with the server: Failed to authenticate the user u with ntlm",
    ],
    "does not let it in": [
        "ntlm: Bad HTTP response returned from server. Code 403",
        (
            "psrp connection failure during runspace open: Bad HTTP response returned from the server. Code: 403, "
            "Content: ''"
        ),
    ],
    "but not WinRM": [
        "Task failed: ntlm: Bad HTTP response returned from server. Code 404",
        (
            "psrp connection failure during runspace open: Bad HTTP response returned from the server. Code: 404, "
            "Content: ''"
        ),
    ],
    "WinRM on the machine failed": [
        "ntlm: Bad HTTP response returned from server. Code 500",
        (
            "psrp connection failure during runspace open: Bad HTTP response returned from the server. Code: 500, "
            "Content: ''"
        ),
    ],
    "Nothing listens": [
        "Task failed: ntlm: HTTPConnectionPool(host='127.0.0.1', port=59850): Max retries exceeded with url: /wsman "
        "(Caused "
        "by NewConnectionError(\"HTTPConnection(host='127.0.0.1', port=59850): Failed to establish a new "
        "connection: [Errno "
        '111] Connection refused"))',
        'Task failed: Data could not be sent to remote host "127.0.0.1". Make sure this host can be reached over ssh: ssh: '
        "connect to host 127.0.0.1 port 59850: Connection refused",
    ],
    "can't be resolved": [
        "Failed to connect to the host via PSRP: HTTPConnectionPool(host='name.invalid', port=59851): Max retries "
        "exceeded "
        "with url: /wsman (Caused by NameResolutionError(\"HTTPConnection(host='name.invalid', port=59851): Failed "
        "to resolve "
        "'name.invalid' ([Errno -3] Temporary failure in name resolution)\"))",
        "Make sure this host can be reached over ssh: ssh: Could not resolve hostname name.invalid: Temporary "
        "failure in name "
        "resolution",
    ],
    "did not answer in time": [
        "ntlm: HTTPConnectionPool(host='127.0.0.1', port=59853): Read timed out. (read timeout=4)",
        "Unexpected failure during module execution: HTTPConnectionPool(host='127.0.0.1', port=59853): Read timed "
        "out. (read "
        "timeout=4)",
        "Make sure this host can be reached over ssh: Connection timed out during banner exchange\r\nConnection to "
        "127.0.0.1 "
        "port 59853 timed out",
    ],
    "was cut": [
        (
            "Task failed: ntlm: ('Connection aborted.', RemoteDisconnected('Remote end closed connection without "
            "response'))"
        ),
        "ntlm: ('Connection aborted.', BadStatusLine('SSH-2.0-x\\r\\n'))",
        "Make sure this host can be reached over ssh: kex_exchange_identification: read: Connection reset by peer\r\n"
        "Connection reset by 127.0.0.1 port 59852",
        "Make sure this host can be reached over ssh: Bad packet length 1397966893.\r\nssh_dispatch_run_fatal: "
        "Connection to "
        "127.0.0.1 port 59858: message authentication code incorrect",
    ],
}
# From the sources of pywinrm, pypsrp and OpenSSH
READ = {
    "rejected the user's credentials": [
        "ntlm: the specified credentials were rejected by the server",
        "Failed to connect to the host via ssh: admin@10.0.0.5: Permission denied (password,keyboard-interactive).",
    ],
    "refused the SSH key": [
        (
            "Failed to connect to the host via ssh: admin@10.0.0.5: Permission denied "
            "(publickey,password,keyboard-interactive)."
        ),
        "Failed to connect to the host via ssh: admin@10.0.0.5: Permission denied (publickey).",
        "Received disconnect from 10.0.0.5 port 22:2: Too many authentication failures",
    ],
    "host key": ["Failed to connect to the host via ssh: Host key verification failed."],
    "no way through the network": [
        "ssh: connect to host 10.0.0.5 port 22: No route to host",
        "[Errno 101] Network is unreachable",
    ],
    "did not answer in time": [
        "ssh: connect to host 10.0.0.5 port 22: Connection timed out",
        "HTTPSConnectionPool(host='win1', port=5986): Max retries exceeded with url: /wsman (Caused by "
        "ConnectTimeoutError(<x>, 'Connection to win1 timed out. (connect timeout=30)'))",
    ],
    "libraries for Kerberos": ["kerberos: the python kerberos library is not installed"],
    "refused a ticket": [
        "Kerberos auth failure for principal u@EXAMPLE with subprocess: kinit: Client not found in database"
    ],
    "kind of login": ["requested auth method is credssp, but requests_credssp is not installed"],
}
CASES = [(part, message) for table in (SEEN, READ) for part, messages in table.items() for message in messages]


@pytest.mark.parametrize("part, message", CASES)
def test_a_plain_sentence_for_each(part, message):
    sentence = connection_problem(message)
    assert part in sentence
    assert sentence == known_problem(message)
    assert sentence.endswith(".") and "\n" not in sentence and len(sentence) < 300


def test_an_unknown_one_is_told_in_its_own_words():
    message = "Task failed: Failed to connect to the host via PSRP: The moon\r\nis full.\x1b[0m"
    assert known_problem(message) is None
    assert connection_problem(message) == (
        "The connection failed: The moon is full. [0m. To learn more, run the play with -vvvv."
    )


def test_a_long_one_is_cut():
    assert len(connection_problem("x" * 5000)) < 300


@pytest.mark.parametrize("message", ["", " \n", "Task failed: "])
def test_silence(message):
    assert connection_problem(message) == "The connection failed without saying why: run the play with -vvvv."
