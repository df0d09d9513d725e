"""The interface: one Blocks, two pages (/ko and /en), a header and the tabs."""

from __future__ import annotations

import json
from typing import Any

import gradio as gr

from lessons.words import LANGUAGES, Words
from playground import api
from playground.panel import Panel, panels
from playground.render import esc
from playground.stage import STATIC, Stage

NAMES = {"ko": "한국어", "en": "English"}
FONTS = [
    "Pretendard",
    "Apple SD Gothic Neo",
    "Malgun Gothic",
    "Noto Sans KR",
    "Noto Sans CJK KR",
    "system-ui",
    "sans-serif",
]
BRAND = Words("Attention playground", "어텐션 놀이터")
LATEX = [
    {"left": "$$", "right": "$$", "display": True},
    {"left": "$", "right": "$", "display": False},
]
SLOGAN = Words(
    "every number computed, any number opens",
    "모든 숫자는 계산된 값이고, 눌러서 열어 볼 수 있습니다",
)
LINK = Words("Link", "링크")
COPIED = Words("Copied.", "복사했습니다.")
OFFLINE = Words(
    "No answer from the server. Trying again; what you typed is kept.",
    "서버가 응답하지 않습니다. 입력한 내용은 그대로 두고 다시 시도합니다.",
)
PRESENT = Words("Present", "발표")
LANGUAGE = Words("Language", "언어")


def header(lang: str) -> str:
    """Brand, language switch, link and projector mode."""
    languages = "".join(
        f'<a class="lang{" on" if code == lang else ""}" href="{code}" data-language="{code}" '
        f'lang="{code}"{" aria-current=page" if code == lang else ""}>{name}</a>'
        for code, name in NAMES.items()
    )
    words = esc(json.dumps({"copied": COPIED(lang), "offline": OFFLINE(lang)}))
    return (
        f'<header class="top" data-words="{words}"><div class="brand"><h1>{esc(BRAND(lang))}</h1><span>{esc(SLOGAN(lang))}</span></div>'
        f'<nav class="tools" aria-label="{esc(LANGUAGE(lang))}">{languages}</nav>'
        f'<div class="tools"><button type="button" data-client="link">{esc(LINK(lang))}</button>'
        f'<button type="button" data-client="present" aria-pressed="false">{esc(PRESENT(lang))}</button></div></header>'
    )


def page(lang: str) -> None:
    gr.HTML(
        header(lang),
        js_on_load=f"window.Playground.header(element, {lang!r})",
        apply_default_css=False,
        elem_id="top",
    )
    with gr.Tabs(elem_id="tabs", overflow_behavior="wrap"):
        for n, panel in enumerate(panels().values()):
            with gr.Tab(panel.title(lang), id=panel.name):
                if hasattr(panel, "text"):
                    with_text(panel, lang)
                else:
                    Stage(panel, lang, filled=n == 0)


def with_text(panel: Panel, lang: str) -> None:
    """A tab with a text beside it. Gradio sets its formulas; the stage says when it changes."""
    with gr.Column(elem_id=panel.name):
        text = gr.Markdown(
            panel.text(panel.default, lang),
            latex_delimiters=LATEX,
            elem_id=f"{panel.name}-text",
        )
        stage = Stage(panel, lang, filled=False)
        read = f"() => window.Playground.text({panel.name!r})"
        stage.select(None, None, text, js=read, api_visibility="private")


def build() -> gr.Blocks:
    """The whole app: pages and the named API."""
    with gr.Blocks(title="Attention playground · 어텐션 놀이터", fill_width=True) as demo:
        api.register(demo)
    for lang in LANGUAGES:
        with demo.route(NAMES[lang], f"/{lang}"):
            page(lang)
    return demo


def page_parameters() -> dict[str, Any]:
    """theme, css and head: what Gradio wants at launch."""
    theme = gr.themes.Base(font=FONTS, font_mono=["ui-monospace", "Menlo", "Consolas", "monospace"])
    script = (STATIC / "stage.js").read_text(encoding="utf-8")
    return {
        "theme": theme,
        "css": (STATIC / "stage.css").read_text(encoding="utf-8"),
        "head": f"<script>{script}</script>",
    }
