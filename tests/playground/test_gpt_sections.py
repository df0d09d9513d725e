"""Every number of the GPT tab's sections once more, straight from the model and from torch."""

from __future__ import annotations

import csv
import io
import re

import pytest
import torch

from model import looking
from model.checkpoint import Checkpoint
from model.errors import GPT2FilesError
from model.merging import merge_steps, ranks_of
from model.sampling import generate, prompt_ids
from model.tokenizer import Tokenizer
from playground import models
from playground.gpt import heads, text
from playground.gpt.actions import apply
from playground.gpt.look import LOOK
from playground.gpt.state import GptState
from playground.gpt.text import piece
from playground.gpt.tokens import MOST_DRAWN, MOST_WATCHED
from playground.gpt.view import view
from playground.stage import table
from tests.model.small import small_gpt
from tests.playground.html_tree import Element, cells, read
from tests.playground.test_gpt_state import THERE

BIASED = "biased"  # a model of one's own: biases everywhere, 8 tokens at most, bytes for tokens
MODELS = [*THERE, BIASED]
PROMPTS = {
    "one": "a",
    "short": "O Romeo, Romeo!",
    "korean": "오늘은 학교에 간다.",
    "long": "My name is Romeo and I go to school with you. " * 9,
}
TEXTS = pytest.mark.parametrize("prompt", PROMPTS.values(), ids=PROMPTS)


@pytest.fixture(autouse=True)
def offered(monkeypatch):
    gpt = small_gpt(vocab_size=256, n_layer=2, n_head=3, n_embd=12, dtype=torch.float32)
    monkeypatch.setitem(models.own, BIASED, Checkpoint(gpt, Tokenizer.from_merges([]), {}))
    monkeypatch.setattr(models, "gpt2", lambda: models.checkpoint("shakespeare").tokenizer)


def page(state, lang="en") -> Element:
    return read(view(state, lang))


def grids(root: Element) -> dict[str, Element]:
    """{matrix: its table} of all tables that hold numbers of the model."""
    found = [t for t in root.all("table") if "data-matrix" in t.attributes]
    made = {t.attributes["data-matrix"]: t for t in found}
    assert len(made) == len(found)
    return made


def value(text: str) -> float:
    """A number as the page writes it."""
    text = text.replace("−", "-").replace("∞", "inf").replace("≈0", "0")
    return float(text)


def assert_shown(cell: Element | str, expected: float, digits: int) -> None:
    """The cell holds that number, rounded as it says."""
    text = cell if isinstance(cell, str) else cell.text
    assert value(text) == pytest.approx(expected, abs=0.51 * 10**-digits, rel=1e-3)
    assert text == "0" or "e" in text or len(text.split(".")[1]) == digits


def read_ids(state: GptState) -> list[int]:
    """The ids that the looking sections read, worked out again."""
    checkpoint = models.checkpoint(state.model)
    ids = prompt_ids(checkpoint.tokenizer, state.prompt) + state.written
    return ids[-min(LOOK, checkpoint.gpt.config.block_size) :]


def window_ids(state: GptState) -> list[int]:
    """All ids that the model reads to predict the next one, by the rule written down plainly."""
    checkpoint = models.checkpoint(state.model)
    most = checkpoint.gpt.config.block_size
    ids = prompt_ids(checkpoint.tokenizer, state.prompt)
    for token in [[i] for i in state.written] + [[]]:
        ids = (ids if len(ids) <= most else ids[-(most // 2) :]) + token
    return ids


def traced(state: GptState, ids: list[int] | None = None):
    gpt = models.checkpoint(state.model).gpt
    return gpt, looking.trace_of(gpt, ids or read_ids(state))


def names(state: GptState, ids: list[int]) -> list[str]:
    tokenizer = models.checkpoint(state.model).tokenizer
    return [piece(tokenizer.token_bytes(i)) for i in ids]


def figure(root: Element, caption: str) -> Element:
    return next(f for f in root.all("figure") if caption in f.first("figcaption").text)


# Write


def stages(logits: torch.Tensor, state: GptState) -> list[torch.Tensor]:
    """Probabilities after softmax, temperature, top-k, top-p, by plain sorting."""
    logits = logits.double()
    hot = logits / state.temperature if state.temperature else torch.where(logits == logits.max(), 0.0, -torch.inf)  # fmt: skip
    order = hot.argsort(descending=True).tolist()
    kept = order[: state.top_k] if state.top_k else order
    top_k = torch.full_like(hot, -torch.inf)
    top_k[kept] = hot[kept]
    shares, chosen, total = top_k.softmax(-1), [], 0.0
    for i in kept:
        if total >= state.top_p:
            break
        chosen.append(i)
        total += float(shares[i])
    top_p = torch.full_like(hot, -torch.inf)
    top_p[chosen if state.top_p < 1 else kept] = top_k[chosen if state.top_p < 1 else kept]
    return [m.softmax(-1) for m in (logits, hot, top_k, top_p)]


@pytest.mark.parametrize("settings", [{}, {"temperature": 0.0}, {"temperature": 2.0, "top_k": 6, "top_p": 0.7}, {"top_p": 0.3}, {"top_k": 1}])  # fmt: skip
@pytest.mark.parametrize("name", MODELS)
def test_candidates_before_and_after_each_filter(name, settings):
    state = GptState(model=name, prompt="O Romeo", **settings)
    gpt, ids = models.checkpoint(name).gpt, read_ids(state)
    with torch.no_grad():
        expected = stages(gpt(torch.tensor([ids]))[0, -1], state)
    found = grids(page(state))
    assert set(found) == {"candidates"}
    shown = cells(found["candidates"])
    best = expected[0].topk(10).indices.tolist()
    assert len(shown) == 40
    for (r, c), cell in shown.items():
        assert_shown(cell, float(expected[c][best[r]]), 4)
    rows = [th.text for th in found["candidates"].all("th") if th.attributes["scope"] == "row"]
    assert rows == names(state, best)
    left = [int(td.text.split()[0]) for td in found["candidates"].all("td") if td.text.endswith(" left")]  # fmt: skip
    assert left == [int((p > 0).sum()) for p in expected]


@pytest.mark.parametrize("name", MODELS)
def test_a_written_token_is_coloured_by_the_probability_that_generate_saw(name):
    """Also past the end of the window; the improbable token chosen is shown beside the best."""
    checkpoint = models.checkpoint(name)
    ids = prompt_ids(checkpoint.tokenizer, "O Romeo")
    seed = torch.Generator().manual_seed(3)
    steps = list(generate(checkpoint.gpt, torch.tensor(ids), 150, temperature=3, generator=seed))
    at = min(range(150), key=lambda n: steps[n].probs[steps[n].token])
    state = GptState(model=name, prompt="O Romeo", written=[s.token for s in steps], at=at)
    root = page(state)
    chips = list(root.first("div", "written").all("button", "piece"))
    assert len(chips) == 150
    for chip, step in zip(chips, steps, strict=True):
        p = float(step.probs[step.token])
        assert float(re.search(r"--p:([\d.]+)%", chip.attributes["style"])[1]) == pytest.approx(p * 88, abs=0.6)  # fmt: skip
        assert chip.attributes["title"].startswith(names(state, [step.token])[0] + ": ")
    (chosen,) = (tr for tr in root.all("tr") if tr.attributes.get("class") == "chosen")
    assert chosen.first("th").text == names(state, [steps[at].token])[0]
    assert_shown(chosen.first("td"), float(steps[at].probs[steps[at].token]), 4)
    assert "Under the present temperature" in root.text
    assert "지금의 온도, top-k, top-p로" in page(state, "ko").text
    assert "Under the present temperature" not in page(state.but(at=None)).text


@pytest.mark.parametrize("settings", [{}, {"temperature": 0.0}, {"temperature": 1.7, "top_k": 6, "top_p": 0.7}])  # fmt: skip
def test_the_sum_behind_a_probability_gives_it(settings):
    """Every candidate's cell opened: what is written out divides to what the cell shows."""
    state = GptState(model="shakespeare-64", prompt="O Romeo", written=[7], at=0, **settings)
    shown = cells(grids(page(state))["candidates"])
    sums = 0
    for (r, c), cell in shown.items():
        root = page(state.but(open=["candidates", 0, r, c]))
        glass = root.first("div", "glass")
        sums_here = list(glass.all("div", "sum"))
        if not sums_here:
            assert value(cell.text) == 0 or state.temperature == 0
            continue
        assert glass.first("b").text.endswith(f"= {cell.text}")
        top, bottom = (e.text for e in list(sums_here[0].all("span", "frac"))[1].children if isinstance(e, Element))  # fmt: skip
        assert value(top) / value(bottom) == pytest.approx(value(cell.text), abs=2e-4)
        result = list(sums_here[0].all("b"))[-1].text
        assert result == cell.text or (cell.text == "0.0000" and " × 10⁻" in result)
        power = re.match(r"e\^(\(?)\(\S+ − [\d.−]+\)( / \S+\))?", sums_here[0].text)
        assert power
        assert bool(power[1]) == bool(power[2]) == bool(c and state.temperature != 1)
        sums += 1
    assert sums > (0 if state.temperature == 0 else 20)


@pytest.mark.parametrize("settings", [{}, {"temperature": 1.0}, {"temperature": 1.7, "top_k": 6, "top_p": 0.7}, {"top_k": 3}, {"top_p": 0.5}, {"top_p": 0.01}, {"top_k": 100_000}])  # fmt: skip
def test_the_pytorch_lines_give_the_number_that_is_shown(settings):
    """Every candidate's cell opened, and what its glass box says executed."""
    state = GptState(model="shakespeare-64", prompt="O Romeo", **settings)
    logits, tokenizer = text.of(state)[-1].double(), models.checkpoint(state.model).tokenizer
    best = logits.topk(10).indices.tolist()
    executed = 0
    for (r, c), cell in cells(grids(page(state))["candidates"]).items():
        lines = list(page(state.but(open=["candidates", 0, r, c])).first("div", "glass").all("code"))  # fmt: skip
        if not lines:
            assert cell.text == "0"
            continue
        known = {"torch": torch, "logits": logits.clone()}
        exec(lines[0].text, known)
        assert f"{float(known['probs'][best[r]]):.4f}" == cell.text
        assert float(known["probs"].sum()) == pytest.approx(1)
        executed += 1
    assert executed >= 22
    assert tokenizer.n_vocab == len(logits)


def test_a_cell_that_is_not_there_opens_nothing():
    for section in ("write", "layers"):
        for cell in (["candidates", 0, 63, 0], ["candidates", 0, 0, 9], ["norms", 0, 60, 0], ["norms", 0, 0, 60], ["q", 0, 0, 0]):  # fmt: skip
            root = page(GptState(model="shakespeare-64", section=section, open=cell))
            assert not list(root.all("div", "glass"))


# Tokens


@TEXTS
@pytest.mark.parametrize("name", THERE)
def test_the_tokens_section_counts_and_cuts_as_each_tokenizer_does(name, prompt):
    state = GptState(model=name, prompt=prompt, section="tokens")
    found = grids(page(state))
    assert set(found) == {"tokens"}
    rows = {row.first("th").text: row for row in list(found["tokens"].all("tr"))[1:]}
    assert list(rows) == list(models.tokenizer_names())
    for other in (*THERE, BIASED):
        tokenizer = models.tokenizer(other)
        ids = tokenizer.encode(prompt)
        assert rows[other].first("b").text == str(len(ids))
        pieces = list(rows[other].all("span", "piece"))
        shown = ids[:MOST_DRAWN]
        assert [p.text for p in pieces] == [piece(tokenizer.token_bytes(i)) for i in shown]
        more = f"The first {MOST_DRAWN} tokens are shown; {len(ids) - MOST_DRAWN} more follow."
        assert (more in rows[other].text) == (len(ids) > MOST_DRAWN)
        for p, i in zip(pieces, shown, strict=True):
            assert p.attributes["title"] == f"{i}: {tokenizer.token_bytes(i).hex(' ').upper()}"


@pytest.mark.parametrize("name", THERE)
def test_merges_are_watched_one_by_one(name):
    text = "the 오늘 the"
    tokenizer = models.checkpoint(name).tokenizer
    steps = list(merge_steps(text, ranks_of(tokenizer)))
    for at in (None, 0, 1, 2, len(steps) - 1, 9999):
        root = page(GptState(model=name, prompt=text, section="tokens", merges=at))
        step = steps[at] if at is not None and at < len(steps) else steps[-1]
        pieces = [p.text for p in root.first("div", "written").all("span", "piece")]
        assert pieces == [piece(token) for token in step]
        slider = next(e for e in root.all("input") if e.attributes.get("data-set") == "merges")
        assert slider.attributes["value"] == str(steps.index(step))
        assert (slider.attributes["min"], slider.attributes["max"]) == ("0", str(len(steps) - 1))
    assert [tokenizer.encode(text)] == [[ranks_of(tokenizer)[t] for t in steps[-1]]]


def test_merges_of_a_long_text_are_watched_at_its_beginning_which_is_said():
    for length in (MOST_WATCHED, MOST_WATCHED + 1):
        state = GptState(model="shakespeare-64", prompt="a b " * 50 + "c" * (length - 200), section="tokens", merges=0)  # fmt: skip
        for lang, told in (("en", f"Only the first {MOST_WATCHED} characters"), ("ko", f"처음 {MOST_WATCHED}자만")):  # fmt: skip
            assert (told in page(state, lang).text) == (length > MOST_WATCHED)
        pieces = list(page(state).first("div", "written").all("span", "piece"))
        assert len(pieces) == MOST_WATCHED


def test_gpt2_that_cannot_be_had_is_a_sentence_in_its_row(monkeypatch):
    def none():
        raise GPT2FilesError(reason="OSError")

    monkeypatch.setattr(models, "gpt2", none)
    for lang, told in (("en", "could not be downloaded (OSError)"), ("ko", "내려받지도 못했습니다(OSError)")):  # fmt: skip
        row = list(grids(page(GptState(section="tokens"), lang))["tokens"].all("tr"))[-1]
        assert row.first("th").text == "gpt2"
        assert told in row.first("td").text


# KV cache


def test_the_cache_is_measured_only_when_asked(monkeypatch):
    monkeypatch.setattr("playground.gpt.timing.TOKENS", 5)
    for prompt in PROMPTS.values():
        state = GptState(model="shakespeare-64", prompt=prompt, section="cache")
        assert not list(page(state).all("table"))
        after = apply(state, {"do": "measure"})
        rates = [value(td.text) for td in page(after).all("td") if td.text]
        assert rates == [round(rate) for rate in after.measured[:2]]
        assert min(rates) > 0


def test_each_press_measures_anew_and_nothing_else_does(monkeypatch):
    """A visitor's first press gives figures of their own; an edit of the page keeps them."""
    monkeypatch.setattr("playground.gpt.timing.TOKENS", 5)
    state = GptState(model="shakespeare-64", section="cache")
    runs = [apply(state, {"do": "measure"}) for _ in range(4)]
    assert len({tuple(run.measured) for run in runs}) > 1
    edited = apply(runs[0], {"do": "set", "key": "seed", "value": "7"})
    assert edited.measured == runs[0].measured
    assert view(edited, "en") == view(runs[0], "en")
    for key, other in (("prompt", "another"), ("model", "shakespeare")):
        assert apply(edited, {"do": "set", "key": key, "value": other}).measured is None


# CSV


def rows_of(state: GptState, matrix: str, head: int = 0, lang: str = "en") -> list[list[str]]:
    text = table({"tab": "gpt", "lang": lang, "state": state.to_json(), "matrix": matrix, "head": head})  # fmt: skip
    return list(csv.reader(io.StringIO(text)))


@pytest.mark.parametrize("name", MODELS)
def test_each_matrix_as_a_file(name):
    """Every number unrounded, each row and column with its token."""
    state = GptState(model=name, prompt="O Romeo=1", section="heads", layer=1, head=1)
    ids, (_, trace) = read_ids(state), traced(state)
    flow, _ = heads.head_flow(state)
    for matrix in ("q", "k", "v", "scores", "scaled", "masked", "weights", "output"):
        found = rows_of(state, matrix, 1)
        values = flow.get(matrix, 1).values.tolist()
        body = found[1:] if matrix in ("scores", "scaled", "masked", "weights") else found
        assert [[float(n) for n in row[1:]] for row in body] == values
        assert [row[0].lstrip("'") for row in body] == names(state, ids)
        assert {len(row) for row in found} == {len(values[0]) + 1}
    ids = window_ids(state)
    _, trace = traced(state, ids)
    found = rows_of(state.but(section="layers"), "norms", lang="ko")
    assert [row[0] for row in found] == ["", "임베딩", *(f"{n + 1}층" for n in range(len(found) - 2))]  # fmt: skip
    assert [name.lstrip("'") for name in found[0][1:]] == names(state, ids)
    shown = [[float(n) for n in row[1:]] for row in found[1:]]
    assert shown == looking.stream_norms(trace).tolist()
    candidates = rows_of(state.but(section="write"), "candidates")
    assert [[len(row)] for row in candidates] == [[4]] * 10


def test_a_token_is_no_formula_in_a_file():
    found = rows_of(GptState(model="shakespeare-64", prompt="=1", section="heads"), "weights")
    assert found[0][1].startswith("'=")


@pytest.mark.parametrize("section", ["write", "heads", "layers", "without", "tokens", "cache"])
def test_what_is_no_matrix_is_an_empty_file(section):
    for matrix, head in (("nothing", 0), ("weights", 99), ("", 0), (None, "x")):
        assert rows_of(GptState(model="shakespeare-64", section=section), matrix, head) == []
    for request in (None, [], {"tab": "gpt"}, {"tab": "gpt", "state": 3, "matrix": "q"}):
        assert table(request) == ""
