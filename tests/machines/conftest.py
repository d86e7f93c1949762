"""A register of machines that is empty, whatever other tests have put into it."""

from __future__ import annotations

import pytest


@pytest.fixture
def nothing_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pixelflow.simd.machine._REGISTERED", {})
