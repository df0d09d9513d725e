"""A small GPT: it writes, and everything inside it is open."""

from __future__ import annotations

from playground.gpt.panel import GptPanel

TAB = GptPanel()
