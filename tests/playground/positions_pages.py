"""What the tests of the tab of embeddings and positions share: its states and what they show."""

from __future__ import annotations

from playground.embeddings.state import settle
from playground.tabs.positions import TAB
from tests.playground import html_tree

LANGS = ("en", "ko")


def example(name):
    return settle(TAB.form.example(name))


def do(state, name, /, **fields):
    return TAB.apply(state, {"do": name, **fields})


def set_(state, key, value):
    return do(state, "set", key=key, value=value)


def flow(state):
    return TAB.form.flow(state, "en")


def shown(state, name):
    return flow(state).get(name).values


def page(state, lang="en"):
    return html_tree.read(TAB.view(state, lang))


def sentence(state, lang="en"):
    return page(state, lang).first("p", "sentence").text


def names(state):
    """The tokens beside a word, the word itself first."""
    found = flow(state)
    return [found.facts["names"][t] for t in found.get("neighbours").rows]
