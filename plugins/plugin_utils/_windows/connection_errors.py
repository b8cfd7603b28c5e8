# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Ansible's connections (winrm, psrp, ssh) say when they fail, in a plain sentence that says what to do.

Private to this collection.
"""

from __future__ import annotations

import re

from ...module_utils._text import one_line, shortened

_REJECTED = "The machine rejected the user's credentials:"
_WRONG_FOR_KERBEROS = re.compile(r"password incorrect|preauthentication failed", re.IGNORECASE)  # as kinit says it

# Signs of a problem in what was said, and the sentence for it. The first one that is found holds.
_PROBLEMS = tuple(
    (re.compile(signs, re.IGNORECASE), sentence)
    for signs, sentence in (
        # --- the controller lacks something ---
        (
            r"winrm or requests is not installed|no module named '?winrm",
            "The controller lacks pywinrm: install it for the Python that runs Ansible (pip install pywinrm), or into the "
            "execution environment.",
        ),
        (
            r"pypsrp or dependencies are not installed|no module named '?pypsrp",
            "The controller lacks pypsrp: install it for the Python that runs Ansible (pip install pypsrp), or into the "
            "execution environment.",
        ),
        (
            r"sshpass",
            "The controller lacks the program sshpass, which ssh needs for passwords: install it, or use a key "
            "(ansible_ssh_private_key_file).",
        ),
        (
            r"no module named '?(krb5|kerberos|gssapi|requests_kerberos)|kerberos library is not installed|"
            r"python-gssapi|requests_kerberos",
            "The controller lacks the libraries for Kerberos: pip install pywinrm[kerberos] or pypsrp[kerberos], and the "
            "system's Kerberos package.",
        ),
        (
            r"requests_credssp|requests-credssp|no module named '?requests_ntlm|requests_ntlm is not installed",
            "The controller lacks the library for this kind of login: pip install pywinrm[credssp], or requests_ntlm for NTLM.",
        ),
        (
            r"kinit|cannot contact any kdc|credentials cache|server not found in kerberos database|clock skew",
            "Kerberos refused a ticket: check the realm and user name (user@REALM in capitals), the clocks, and that kinit works "
            "on the controller.",
        ),
        # --- encryption ---
        (
            r"certificate_verify_failed|certificate verify failed|self.signed certificate|hostname .* doesn't match|"
            r"certificate has expired",
            "The controller does not trust the machine's certificate (self-signed, expired, or for another name): give it the "
            "certificate of the issuer (ansible_winrm_ca_trust_path, ansible_psrp_ca_cert), or give the machine a new one.",
        ),
        (
            r"wrong_version_number|wrong version number|unexpected_eof_while_reading.*ssl|record layer failure",
            "The port does not speak TLS: 5986 is for https, 5985 for http (ansible_port, ansible_winrm_scheme or "
            "ansible_psrp_protocol).",
        ),
        (
            r"host key verification failed|remote host identification has changed|no .*host key is known",
            "The controller does not know the machine's host key, or knows another one: after making sure that it is the right "
            "machine, put its key into known_hosts (ssh-keyscan).",
        ),
        # --- the machine refuses the user ---
        (
            r"permission denied \((?=[^)]*publickey)[^)]*\)|no such identity|too many authentication failures",
            "The machine refused the SSH key: check the user (ansible_user), the key (ansible_ssh_private_key_file), and that its "
            "public half is in authorized_keys (for administrators of Windows, in ProgramData\\ssh\\"
            "administrators_authorized_keys).",
        ),
        (
            r"permission denied \(|credentials were rejected|failed to authenticate the user|failed to authenticate with|"
            r"\b401\b|access denied: server did not respond|invalid/incorrect password|authentication failed|"
            r"basic authentication is .*disabled",
            f"{_REJECTED} check ansible_user and ansible_password, the kind of login "
            "(ansible_winrm_transport, ansible_psrp_auth), and that the account is neither locked nor expired.",
        ),
        (
            r"code:? 403\b|access is denied|accessdenied|access denied",
            "The machine knows the user but does not let it in: make it a local administrator, or a member of Remote Management "
            "Users.",
        ),
        (
            r"code:? 404\b",
            "Something answers at that port, but not WinRM: check ansible_port and ansible_winrm_path or ansible_psrp_path.",
        ),
        (
            r"code:? 5\d\d\b",
            "WinRM on the machine failed: see its event log (Windows Remote Management), its quotas (winrm get winrm/config), "
            "and whether the user may log in.",
        ),
        # --- the network ---
        (
            r"connection refused|actively refused|errno 111|errno 10061",
            "Nothing listens at that address: see whether the machine is up, whether WinRM (ports 5985 and 5986) or OpenSSH (22) "
            "runs on it, and whether ansible_port is right.",
        ),
        (
            r"nameresolutionerror|name or service not known|failed to resolve|could not resolve hostname|getaddrinfo|"
            r"nodename nor servname|temporary failure in name resolution|no address associated",
            "The machine's name can't be resolved on the controller: check ansible_host and the controller's DNS.",
        ),
        (
            r"no route to host|network is unreachable|errno 113|errno 101|host is unreachable",
            "There is no way through the network to the machine: check its address, routes, and that it is up.",
        ),
        (
            r"timed out|time-?out|timeoutexpired",
            "The machine did not answer in time: see whether it is up, frozen or rebooting, and whether a firewall or network "
            "security group drops the connection.",
        ),
        (
            r"connection reset|closed by remote host|remote end closed|connection aborted|broken pipe|badstatusline|"
            r"bad packet length|closed by \S+ port|lost connection|connection .*closed",
            "The connection was cut: see whether the machine is rebooting, and whether something else listens at that port.",
        ),
    )
)


def known_problem(message: str) -> str | None:
    """A plain sentence about what a connection said, with what to do; None when the problem is none we know."""
    text = " ".join(message.split())
    return next((sentence for signs, sentence in _PROBLEMS if signs.search(text)), None)


def is_rejection(message: str) -> bool:
    """Whether user and password were rejected, by the machine or Kerberos: what counts towards a lockout of the account."""
    return (known_problem(message) or "").startswith(_REJECTED) or bool(_WRONG_FOR_KERBEROS.search(message))


def connection_problem(message: str) -> str:
    """The same, but always a sentence: an unknown problem is given in the connection's own words."""
    known = known_problem(message)
    if known:
        return known
    text = re.sub(
        r"^((Task failed|Unexpected failure during module execution|Failed to connect to the host via \w+):\s*)+",
        "",
        one_line(message, 10000),
    ).rstrip(". ")
    if not text:
        return "The connection failed without saying why: run the play with -vvvv."
    return f"The connection failed: {shortened(text, 200)}. To learn more, run the play with -vvvv."
