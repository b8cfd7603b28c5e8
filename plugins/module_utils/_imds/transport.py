# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How bytes get to the metadata service and back: what a Transport is.

A Transport knows HTTP and time limits. It knows neither versions nor events nor what to try again.

Private to this collection.
"""

from typing import Dict, NamedTuple, Optional, Tuple

from .._clock import Clock, Deadline, ticks
from .._errors import TransportError

LIMIT = 1024 * 1024  # bytes of an answer's body; a large document has 200 kB
REQUESTS_PER_SECOND = 5  # what Azure allows one machine, S3


class Answer(NamedTuple):
    """One HTTP answer; header names in lower case."""

    status: int
    headers: Dict[str, str]
    body: bytes


class Transport:
    """What the client needs of HTTP. A Transport raises subclasses of TransportError, and nothing else.

    `timeout` is for one whole exchange, from the connection to the last byte. Redirects are answers
    like others, no proxy is used, and no body above :data:`LIMIT` is taken.
    """

    def __init__(self, clock: Optional[Clock] = None) -> None:
        self.clock = clock or Clock()

    def get(self, url: str, headers: Dict[str, str], timeout: float) -> Answer:
        raise NotImplementedError

    def post(self, url: str, headers: Dict[str, str], body: bytes, timeout: float) -> Answer:
        raise NotImplementedError

    def get_until_changed(
        self, url: str, headers: Dict[str, str], timeout: float, known: bytes, interval: float, limit: float
    ) -> Tuple[Answer, int]:
        """Look every `interval` seconds until the answer is another one than `known`, or `limit` seconds are over.

        Any status besides 200 and 304 is another answer. Returns the last answer and the number of looks;
        a TransportError carries that number as ``looks``. There is always one look, and one at the limit.
        """
        for looks in ticks(self.clock, interval, Deadline(self.clock, limit)):
            try:
                answer = self.get(url, headers, timeout)
            except TransportError as error:
                error.looks = looks
                raise
            if answer.status != 304 and not (answer.status == 200 and answer.body == known):
                break
        return answer, looks
