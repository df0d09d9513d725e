"""The recipes of the shipped models, and the command line from a text to a folder with a card."""

from __future__ import annotations

import hashlib
import json
import math
import re
import shutil
import socket
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from model import GPT, checkpoint, load_checkpoint
from model.__main__ import corpus_file, main
from model.corpora import CORPORA, last_tenth
from model.evaluation import held_out_loss
from model.recipes import RECIPES, tutored_folds
from tests.conftest import ROOT
from tests.model.small import SHORT

TEXT = SHORT.read_text(encoding="utf-8")
FILES = {"card.json", "config.json", "loss.png", "model.safetensors", "ranks.tiktoken"}


# The recipes


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_each_recipe_is_of_a_named_corpus_and_fits_its_limits(recipe):
    assert recipe.corpus in CORPORA
    assert recipe.name in checkpoint.NAMES
    parameters = GPT(recipe.gpt).n_parameters
    assert parameters <= 4_900_000
    assert 2 * parameters < 10_000_000  # bytes of the file, in half precision


def test_the_notes_own_shape_is_trained():
    shape = RECIPES["shakespeare-64"].gpt
    assert (shape.n_layer, shape.n_head, shape.n_embd) == (4, 4, 64)


# python -m model train


@pytest.fixture
def small_recipe(monkeypatch):
    """`shakespeare-64`, made so small that a step takes no time; it prompts with what it never saw."""
    recipe = RECIPES["shakespeare-64"]
    small = replace(
        recipe,
        gpt=replace(recipe.gpt, vocab_size=300, block_size=16, n_layer=2, n_embd=8, n_head=2),
        training=replace(recipe.training, steps=500, evaluate_every=2, warmup_steps=2),
        batch_size=4,
        prompt="👋",
    )
    monkeypatch.setitem(RECIPES, recipe.name, small)
    return small


def trained(folder: Path, *more: str) -> checkpoint.Checkpoint:
    """What the command leaves in `folder`/out after a few steps."""
    arguments = ["--out", str(folder / "out"), "--state", str(folder / "state"), "--device", "cpu"]
    main(["train", "shakespeare-64", *arguments, *(more or ("--text", str(SHORT), "--steps", "5"))])
    return load_checkpoint(folder / "out")


def test_a_text_of_ones_own_becomes_a_model(tmp_path, small_recipe, capsys):
    found = trained(tmp_path)
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
    assert (tmp_path / "out" / "loss.png").read_bytes().startswith(b"\x89PNG\r\n")
    assert found.gpt.config == replace(small_recipe.gpt, vocab_size=found.tokenizer.n_vocab)
    assert found.tokenizer.decode(found.tokenizer.encode(TEXT)) == TEXT
    said = capsys.readouterr()
    assert re.search(r"step 4  held-out loss a character \d\.\d{4}\n  '👋", said.out)
    assert str(found.card["held_out"]) in said.out
    assert "Traceback" not in said.err


def test_the_card_is_complete_and_says_nothing_of_this_machine(tmp_path, small_recipe):
    found = trained(tmp_path)
    card = dict(found.card)
    loss = held_out_loss(found.gpt, found.tokenizer, last_tenth(TEXT).held_out)
    assert card.pop("held_out") == {
        "nats_per_character": round(loss.per_character, 4),
        "nats_per_byte": round(loss.per_byte, 4),
        "characters": len(last_tenth(TEXT).held_out),
        "tokens": loss.tokens,
    }
    seen = card.pop("learned")
    assert seen["characters"] == len(last_tenth(TEXT).held_out)
    part = held_out_loss(found.gpt, found.tokenizer, TEXT[: seen["characters"]])
    assert seen["nats_per_character"] == round(part.per_character, 4)
    curve = card.pop("curve")
    assert [point["step"] for point in curve] == [2, 4, 5]
    assert all(math.isfinite(point[key]) for point in curve for key in ("loss", "val_loss"))
    assert card.pop("seconds") >= 0
    assert re.search(r"\d+ threads, torch \d", card.pop("machine"))
    training = replace(small_recipe.training, steps=5)
    assert card == {
        "name": "shakespeare-64",
        "corpus": {"name": "short.txt"},
        "command": "python -m model train shakespeare-64 --steps 5 --text short.txt",
        "recipe": asdict(replace(small_recipe, training=training)),
        "parameters": found.gpt.n_parameters,
        "steps": 5,
        "tokens_seen": 5 * 4 * 16,
        "separator": "",
    }
    whole = (tmp_path / "out" / "card.json").read_text(encoding="utf-8")
    for private in (str(tmp_path), str(ROOT), str(Path.home()) + "/", socket.gethostname()):
        assert private not in whole


def test_more_steps_go_on_from_the_state(tmp_path, small_recipe, capsys):
    first = trained(tmp_path).card
    assert capsys.readouterr().out.count("held-out loss") == 3
    more = trained(tmp_path, "--text", str(SHORT), "--steps", "7").card
    assert capsys.readouterr().out.count("held-out loss") == 2
    assert more["curve"][:3] == first["curve"]
    assert [point["step"] for point in more["curve"]] == [2, 4, 5, 6, 7]


def test_the_state_of_another_text_is_not_gone_on_with(tmp_path, small_recipe, monkeypatch):
    """Two texts of one alphabet: models of the same shapes."""
    texts = [tmp_path / name for name in ("one.txt", "two.txt")]
    for path, order in zip(texts, (1, -1), strict=True):
        path.write_text("\n".join(TEXT.splitlines()[::order]), encoding="utf-8")
    trained(tmp_path, "--text", str(texts[0]), "--steps", "2")
    weights = (tmp_path / "out" / "model.safetensors").read_bytes()
    with pytest.raises(SystemExit, match=r"text .* ≠ .*Choose another folder"):
        trained(tmp_path, "--text", str(texts[1]), "--steps", "2")
    assert (tmp_path / "out" / "model.safetensors").read_bytes() == weights
    faster = replace(small_recipe.training, learning_rate=0.5)
    monkeypatch.setitem(RECIPES, "shakespeare-64", replace(small_recipe, training=faster))
    with pytest.raises(SystemExit, match=r"learning_rate 0\.01 ≠ 0\.5"):
        trained(tmp_path, "--text", str(texts[0]), "--steps", "2")


def test_a_text_of_ones_own_leaves_the_shipped_model_alone(tmp_path, small_recipe, monkeypatch):
    """Without --out and --state, what is written has the text's name, not the recipe's."""
    monkeypatch.chdir(tmp_path)
    main(["train", "shakespeare-64", "--text", str(SHORT), "--steps", "2", "--device", "cpu"])
    assert {path.name for path in (tmp_path / "trained" / "short").iterdir()} == FILES
    assert (tmp_path / ".training" / "short").is_dir()


def test_the_same_command_gives_the_same_weights(tmp_path, small_recipe):
    for folder in ("one", "two"):
        trained(tmp_path / folder)
    one, two = (tmp_path / name / "out" / "model.safetensors" for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()


# The same with a named corpus, and python -m model losses


@pytest.fixture
def corpus(tmp_path, monkeypatch) -> Path:
    """A folder with our text in the place of tinyshakespeare."""
    sha256 = hashlib.sha256(SHORT.read_bytes()).hexdigest()
    ours = replace(CORPORA["tinyshakespeare"], sha256=sha256)
    monkeypatch.setitem(CORPORA, "tinyshakespeare", ours)
    folder = tmp_path / "data"
    folder.mkdir()
    shutil.copy(SHORT, folder / "tinyshakespeare.txt")
    (folder / "tinyshakespeare.LICENSE").write_text("Take it.")
    return folder


@pytest.mark.parametrize("named", ["folder", "file"])
def test_a_named_corpus_is_on_the_card_with_its_sum(tmp_path, small_recipe, corpus, named):
    data = corpus if named == "folder" else corpus / "tinyshakespeare.txt"
    card = trained(tmp_path, "--data", str(data), "--steps", "2").card
    assert card["corpus"] == {
        "name": "tinyshakespeare",
        "address": CORPORA["tinyshakespeare"].address,
        "sha256": CORPORA["tinyshakespeare"].sha256,
        "licence": "public domain",
        "rule": CORPORA["tinyshakespeare"].rule,
    }
    assert card["command"] == "python -m model train shakespeare-64 --steps 2"


def test_losses_are_computed_again_from_the_files(
    tmp_path, small_recipe, corpus, monkeypatch, capsys
):
    monkeypatch.setattr(checkpoint, "SHIPPED", tmp_path)
    card = trained(tmp_path, "--data", str(corpus), "--steps", "2").card
    (tmp_path / "out").rename(tmp_path / "shakespeare-64")
    capsys.readouterr()
    main(["losses", "shakespeare-64", "--data", str(corpus)])
    lines = []
    for key, name in (("held_out", "held out"), ("learned", "learned")):
        character, byte = card[key]["nats_per_character"], card[key]["nats_per_byte"]
        lines.append(
            f"shakespeare-64, {name}: {character:.4f} nats a character (card: {character}), "
            f"{byte:.4f} a byte (card: {byte}), {card[key]['characters']} characters\n"
        )
    assert card["held_out"] != card["learned"]
    assert capsys.readouterr().out == "".join(lines)
    path = tmp_path / "shakespeare-64" / "card.json"
    boasting = json.loads(path.read_text(encoding="utf-8"))
    boasting["held_out"]["nats_per_character"] = 0.1
    path.write_text(json.dumps(boasting), encoding="utf-8")
    main(["losses", "shakespeare-64", "--data", str(corpus)])
    true = card["held_out"]["nats_per_character"]
    assert f"held out: {true:.4f} nats a character (card: 0.1)" in capsys.readouterr().out


def test_a_corpus_is_found_in_its_folder(tmp_path):
    for name in ("korean_chatbot.LICENSE", "korean_chatbot.csv", "tinyshakespeare.txt"):
        (tmp_path / name).touch()
    assert corpus_file(tmp_path, "korean_chatbot") == tmp_path / "korean_chatbot.csv"
    assert corpus_file(tmp_path, "tinyshakespeare") == tmp_path / "tinyshakespeare.txt"
    assert corpus_file(tmp_path / "a.txt", "tinyshakespeare") == tmp_path / "a.txt"
    assert corpus_file(None, "korean_chatbot") is None


# Errors of use


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--text", "no/such.txt"], "such.txt"),
        (["--data", "no/such.txt"], "No such file or directory: 'no/such.txt'"),
        (["--data", "{tmp}"], "tinyshakespeare'"),
        (["--data", str(SHORT)], "sha256"),
        (["--text", "{tmp}/short"], "at least 100 characters"),
        (["--text", "{tmp}/latin"], "UnicodeDecodeError"),
        (["--text", str(SHORT), "--steps", "0"], "steps is 0"),
        (["--text", str(SHORT), "--steps", "-2"], "steps is -2"),
        (["--text", str(SHORT), "--state", "{tmp}/damaged"], "damaged does not fit"),
    ],
)
def test_what_cannot_be_trained_is_said_in_one_sentence(tmp_path, small_recipe, arguments, says):
    (tmp_path / "short").write_text("too short", encoding="utf-8")
    (tmp_path / "latin").write_bytes("é".encode("latin-1") * 99)
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "state.safetensors").write_bytes(b"no")
    with pytest.raises(SystemExit) as caught:
        trained(tmp_path, *(part.format(tmp=tmp_path) for part in arguments))
    assert says in caught.value.code
    assert re.fullmatch(r"[^\n]+[^.]\.", caught.value.code)
    assert not (tmp_path / "out").exists()


def test_a_name_without_a_recipe_is_said_in_one_sentence():
    with pytest.raises(SystemExit) as caught:
        main(["losses", "hamlet"])
    assert caught.value.code == (
        "name is hamlet; it must be one of: shakespeare | shakespeare-64 | korean."
    )


def test_the_command_itself_ends_with_the_sentence_alone(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "model", "train", "korean", "--text", str(tmp_path / "none.txt")],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(r"The text file .*none\.txt cannot be read .+\.\n", done.stderr)


# Many short texts, with a tutor


PAIRS = "Q,A,label\n" + "".join(f"질문 {n}{n}은?,{n}번 답이에요.,0\n" for n in range(40))


def test_short_texts_are_learned_with_a_tutor(tmp_path, monkeypatch):
    """From the file of questions and answers to a folder whose card says what ends a text."""
    path = tmp_path / "korean_chatbot.csv"
    path.write_text(PAIRS, encoding="utf-8")
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    monkeypatch.setitem(
        CORPORA, "korean_chatbot", replace(CORPORA["korean_chatbot"], sha256=sha256)
    )
    recipe = RECIPES["korean"]
    small = replace(
        recipe,
        gpt=replace(recipe.gpt, vocab_size=280, block_size=32, n_layer=1, n_head=2, n_embd=12),
        training=replace(recipe.training, evaluate_every=10, warmup_steps=2),
        batch_size=4,
        tutor=0.7,
    )
    monkeypatch.setitem(RECIPES, "korean", small)
    folders = ["--out", str(tmp_path / "out"), "--state", str(tmp_path / "state")]
    main(["train", "korean", "--data", str(path), "--steps", "20", "--device", "cpu", *folders])
    card = load_checkpoint(tmp_path / "out").card
    assert card["separator"] == "\n\n"
    assert card["recipe"]["tutor"] == 0.7
    assert card["curve"][-1]["val_loss"] < card["curve"][0]["val_loss"]


def test_a_tutor_never_saw_the_texts_it_speaks_of():
    """Each text is its own symbol, again and again: whoever saw it knows how it goes on."""
    texts = [[20, n, n, n, n] for n in range(20)]
    recipe = replace(RECIPES["korean"], batch_size=4, tutor=1.0)
    for batch in tutored_folds(texts, recipe, 8, 21):
        idx, soft = batch(0)
        for row, expected in zip(idx.tolist(), soft, strict=True):
            own = expected[-1, row[-1]]  # after n n n
            assert 0 < own < 0.1
