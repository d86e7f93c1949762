"""The guard of a page: a token in the address, and only this host's own pages.

Another site that the user has open can send requests to this port, and can let a name of its own point to this host
(DNS rebinding). It knows no token, and its browser says where the request comes from.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["HOST", "Guard"]

HOST = "127.0.0.1"
"""The only address that is listened to."""

_NAMES = (HOST, "localhost")
_TOKEN_BYTES = 24


@dataclass(frozen=True, slots=True)
class Guard:
    """Judges requests to one port."""

    port: int
    token: str

    @classmethod
    def of(cls, port: int) -> Guard:
        """Return a guard with a token that nobody has had before."""
        return cls(port, secrets.token_urlsafe(_TOKEN_BYTES))

    @property
    def address(self) -> str:
        """The address of the page."""
        return f"http://{HOST}:{self.port}/{self.token}/"

    def refusal(self, headers: Mapping[str, str], token: str, *, from_page: bool) -> str | None:
        """Return why a request is refused, None where it is not; ``headers`` have lower-case names.

        With ``from_page`` a page must have sent it: a browser names the origin then.
        """
        hosts = [f"{name}:{self.port}" for name in _NAMES]
        if headers.get("host", "").lower() not in hosts:
            return "this address is served to this host alone"
        origin = headers.get("origin")
        if (from_page or origin is not None) and origin not in [f"http://{host}" for host in hosts]:
            return "pages of other origins are not served"
        if not secrets.compare_digest(token.encode(), self.token.encode()):
            return "the token in the address is missing or wrong: take the address that the command has printed"
        return None
