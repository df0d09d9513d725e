"""The command that prints how exact our modules are: it runs, and would say so if they were not."""

from __future__ import annotations

import pytest

from scripts import exactness


def test_every_figure_is_met(capsys: pytest.CaptureFixture[str]) -> None:
    assert exactness.main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 7
    assert all(line.endswith("ok") for line in lines)


def test_a_module_that_is_off_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        exactness, "apart", lambda ours, theirs: (ours + 1e-4 - theirs).abs().max().item()
    )
    monkeypatch.setattr(exactness, "gradients", lambda: 0.002)
    assert exactness.main() == 1
    assert capsys.readouterr().out.count("NOT MET") == 7
