"""The GPT tab for the stage: see `playground.panel.Panel`."""

from __future__ import annotations

from typing import Any

from lessons.words import same
from playground.flow import Flow
from playground.gpt import actions, heads, layers, view, write
from playground.gpt.look import labels
from playground.gpt.presets import PRESETS, preset_state
from playground.gpt.state import GptState, from_json
from playground.render import Html


class GptPanel:
    name = "gpt"
    order = 6
    title = same("GPT")

    @property
    def default(self) -> GptState:
        return preset_state(PRESETS[0])

    def usable(self, found: Any) -> GptState:
        return from_json(found)

    def apply(self, state: GptState, action: Any) -> GptState:
        return actions.apply(state, action)

    def view(self, state: GptState, lang: str, notice: str = "") -> Html:
        return view.view(state, lang, notice)

    def code(self, state: GptState) -> str | None:
        return None

    def csv(self, state: GptState, lang: str, matrix: str, head: int) -> list[list[Any]]:
        names = labels(state)
        flow = Flow([])
        if state.section == "heads":
            flow, _ = heads.head_flow(state)
        elif state.section == "layers":
            flow, shown = layers.norms(state, lang)
            names = shown.tokens
        elif state.section == "write":
            flow = Flow([write.csv(state)])
        found = flow.get(matrix, head)
        if found is None:
            return []
        corner = [""] if found.rows is not None else []
        top = [[*corner, *(names[t] for t in found.cols)]] if found.cols is not None else []
        rows = found.values.tolist()
        if found.rows is None:
            return top + rows
        return top + [[names[t], *row] for t, row in zip(found.rows, rows, strict=True)]
