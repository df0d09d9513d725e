"""A checkpoint comes back as it was saved; a damaged or foreign folder is refused by name."""

from __future__ import annotations

import ast
import json
import pickle
from dataclasses import asdict
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from model import Checkpoint, Tokenizer, load_checkpoint
from model.checkpoint import CARD, CONFIG, NAMES, RANKS, WEIGHTS, save_checkpoint
from model.errors import (
    CheckpointError,
    CheckpointFileError,
    CheckpointMissingError,
    CheckpointShapeError,
)
from model.tokenizer import save_ranks, train_merges
from tests.model.small import SHORT, small_gpt

ROOT = Path(__file__).parents[2]
FILES = {WEIGHTS, CONFIG, RANKS, CARD}
V = 280


def learned(vocab_size: int) -> Tokenizer:
    return Tokenizer.from_merges(train_merges(SHORT.read_text(encoding="utf-8"), vocab_size))


@pytest.fixture
def saved():
    card = {"name": "short", "corpus": {"이름": "짧은 글"}, "losses": [1.5, 2.5]}
    return Checkpoint(small_gpt(vocab_size=V, dtype=torch.float32), learned(V), card)


@pytest.fixture
def folder(saved, tmp_path) -> Path:
    save_checkpoint(tmp_path / "made" / "here", saved)
    return tmp_path / "made" / "here"


@pytest.mark.parametrize("sizes", [{}, {"bias": False}, {"dropout": 0.2, "n_head": 3}], ids=str)
def test_a_checkpoint_comes_back(tmp_path, saved, sizes):
    gpt = small_gpt(vocab_size=V, dtype=torch.float32, **sizes).train()
    save_checkpoint(tmp_path, Checkpoint(gpt, saved.tokenizer, saved.card))
    loaded = load_checkpoint(tmp_path)
    assert loaded.card == saved.card
    assert loaded.gpt.config == gpt.config
    assert loaded.tokenizer.encode("the library") == saved.tokenizer.encode("the library")
    assert loaded.tokenizer.n_vocab == V
    for name, p in loaded.gpt.named_parameters():
        expected = gpt.get_parameter(name)
        assert p.dtype == torch.float32
        assert torch.equal(p, expected.half().float())
        torch.testing.assert_close(p, expected, rtol=2**-11, atol=2**-24)  # what half keeps
    assert loaded.gpt.lm_head.weight is loaded.gpt.wte.weight
    assert not loaded.gpt.training
    idx = torch.tensor([loaded.tokenizer.encode("river")])
    torch.testing.assert_close(loaded.gpt(idx), gpt.eval()(idx), atol=0.05, rtol=0)


def test_what_is_in_the_folder(folder, saved):
    assert {path.name for path in folder.iterdir()} == FILES
    tensors = load_file(folder / WEIGHTS)
    assert {t.dtype for t in tensors.values()} == {torch.float16}
    assert tensors.keys() == dict(saved.gpt.named_parameters()).keys()  # lm_head once, as wte
    assert json.loads((folder / CONFIG).read_text(encoding="utf-8")) == asdict(saved.gpt.config)
    assert "짧은 글" in (folder / CARD).read_text(encoding="utf-8")


def test_a_loaded_model_can_go_on_learning(folder):
    gpt = load_checkpoint(folder).gpt.train()
    gpt(torch.zeros(1, 3, dtype=torch.long)).sum().backward()
    assert all(p.requires_grad and p.grad is not None for p in gpt.parameters())


def test_saving_twice_keeps_the_later(folder, saved):
    save_checkpoint(folder, Checkpoint(small_gpt(n_layer=1, vocab_size=V), saved.tokenizer, {}))
    assert load_checkpoint(folder).gpt.config.n_layer == 1
    assert load_checkpoint(str(folder)).card == {}


# Damage: a change of the folder, and the file that the error names


def cut(file: str, keep: float = 0.5):
    def damage(folder: Path) -> None:
        data = (folder / file).read_bytes()
        (folder / file).write_bytes(data[: int(keep * len(data))])

    return damage


def written(file: str, content: str | bytes):
    data = content.encode() if isinstance(content, str) else content
    return lambda folder: (folder / file).write_bytes(data)


def removed(file: str):
    return lambda folder: (folder / file).unlink()


def a_folder_instead(file: str):
    def damage(folder: Path) -> None:
        (folder / file).unlink()
        (folder / file).mkdir()

    return damage


def config_with(**settings: object):
    def damage(folder: Path) -> None:
        found = json.loads((folder / CONFIG).read_text()) | settings
        found = {key: value for key, value in found.items() if value is not ...}
        (folder / CONFIG).write_text(json.dumps(found))

    return damage


OF_A_FILE = {
    **{f"no {file}": (removed(file), file) for file in sorted(FILES - {CONFIG})},
    **{f"{file} is a folder": (a_folder_instead(file), file) for file in sorted(FILES - {CONFIG})},
    **{f"{file} cut off": (cut(file), file) for file in sorted(FILES)},
    **{f"{file} empty": (written(file, b""), file) for file in sorted(FILES)},
    **{f"{file} is noise": (written(file, bytes(range(255, 0, -1))), file) for file in FILES},
    **{f"{file} is a list": (written(file, "[1, 2]"), file) for file in (CONFIG, CARD)},
    **{f"{file} is nested": (written(file, "[" * 100_000), file) for file in (CONFIG, CARD)},
    "weights short of their last byte": (cut(WEIGHTS, 0.9999), WEIGHTS),
    "weights are a page": (written(WEIGHTS, "<!doctype html>" * 99), WEIGHTS),
    "config lacks a size": (config_with(n_head=...), CONFIG),
    "config's size is a word": (config_with(n_layer="two"), CONFIG),
    "config's size has a fraction": (config_with(n_layer=2.0), CONFIG),
    "config's size is nothing": (config_with(n_embd=None), CONFIG),
    "config's size is a list": (config_with(vocab_size=[V]), CONFIG),
    "config's size is not a number": (config_with(block_size=float("nan")), CONFIG),
    "config's size is negative": (config_with(block_size=-8), CONFIG),
    "config's heads do not divide": (config_with(n_head=5), CONFIG),
    "config's dropout is whole": (config_with(dropout=1), CONFIG),
    "config of another model": (config_with(model_type="llama"), CONFIG),
    "tokenizer of fewer tokens": (lambda f: save_ranks(learned(V - 1), f / RANKS), RANKS),
    "tokenizer of more tokens": (lambda f: save_ranks(learned(V + 1), f / RANKS), RANKS),
}


@pytest.mark.parametrize(("damage", "file"), OF_A_FILE.values(), ids=OF_A_FILE)
def test_a_damaged_file_is_named(folder, damage, file):
    damage(folder)
    with pytest.raises(CheckpointFileError) as caught:
        load_checkpoint(folder)
    for lang in ("en", "ko"):
        assert file in caught.value.text(lang)
        assert folder.name in caught.value.text(lang)
    assert caught.value.text("en") != caught.value.text("ko")


def with_tensors(change):
    """The file of weights written again with its tensors changed."""

    def damage(folder: Path) -> None:
        tensors = load_file(folder / WEIGHTS)
        change(tensors)
        save_file(tensors, folder / WEIGHTS)

    return damage


OF_A_TENSOR = {
    "missing": (with_tensors(lambda t: t.pop("ln_f.weight")), "ln_f.weight", ["None", "(12,)"]),
    "wte missing": (with_tensors(lambda t: t.pop("wte.weight")), "wte.weight", ["None"]),
    "extra": (
        with_tensors(lambda t: t.update(more=torch.zeros(3))),
        "more",
        ["(3,)", "None"],
    ),
    "another shape": (
        with_tensors(lambda t: t.update({"wpe.weight": torch.zeros(9, 12)})),
        "wpe.weight",
        ["(9, 12)", "(8, 12)"],
    ),
    "turned": (
        with_tensors(lambda t: t.update({"wpe.weight": torch.zeros(12, 8)})),
        "wpe.weight",
        ["(12, 8)", "(8, 12)"],
    ),
    "flat": (
        with_tensors(lambda t: t.update({"ln_f.bias": torch.tensor(0.0)})),
        "ln_f.bias",
        ["()", "(12,)"],
    ),
    "a longer block in the config": (
        config_with(block_size=16),
        "wpe.weight",
        ["(8, 12)", "(16, 12)"],
    ),
    "another layer in the config": (config_with(n_layer=3), "blocks.2.", ["None"]),
    "no biases in the config": (config_with(bias=False), ".bias", ["None"]),
}


@pytest.mark.parametrize(("damage", "tensor", "shapes"), OF_A_TENSOR.values(), ids=OF_A_TENSOR)
def test_a_tensor_that_does_not_fit_is_named_with_both_shapes(folder, damage, tensor, shapes):
    damage(folder)
    with pytest.raises(CheckpointShapeError) as caught:
        load_checkpoint(folder)
    for lang in ("en", "ko"):
        for part in (tensor, *shapes, folder.name):
            assert part in caught.value.text(lang)


@pytest.mark.parametrize(
    "name", ["", "shakespear", "KOREAN", "/nowhere", "../korean", "한국어", "x" * 300, "a\0b"]
)
def test_an_unknown_name_is_answered_by_the_known_ones(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CheckpointMissingError) as caught:
        load_checkpoint(name)
    for lang in ("en", "ko"):
        for part in (name, CONFIG, *NAMES):
            assert part in caught.value.text(lang)


def test_a_folder_without_config_is_no_checkpoint(folder):
    (folder / CONFIG).unlink()
    for path in (folder, folder / WEIGHTS, folder.parent):
        with pytest.raises(CheckpointMissingError):
            load_checkpoint(path)


# Nothing is unpickled


class Trap:
    """Unpickled, it leaves a file behind."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return (Path.touch, (self.path,))


@pytest.mark.parametrize("file", sorted(FILES))
@pytest.mark.parametrize("by_torch", [True, False])
def test_a_pickle_is_refused_and_not_run(folder, tmp_path, file, by_torch):
    sprung, trap = tmp_path / "sprung", Trap(tmp_path / "sprung")
    if by_torch:
        torch.save(trap, folder / file)
    else:
        (folder / file).write_bytes(pickle.dumps(trap))
    with pytest.raises(CheckpointError):
        load_checkpoint(folder)
    assert not sprung.exists()
    pickle.loads(pickle.dumps(trap))  # the trap is one
    assert sprung.exists()


PICKLERS = {"pickle", "_pickle", "cPickle", "dill", "joblib", "shelve", "marshal", "cloudpickle"}


def unpicklers(source: str) -> set[str]:
    """What in a source could unpickle: modules that do, and torch.load by any spelling."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names} & PICKLERS
        if isinstance(node, ast.ImportFrom):
            found |= {(node.module or "").split(".")[0]} & PICKLERS
            if node.module in ("torch", "numpy"):
                found |= {alias.name for alias in node.names} & {"load"}
        if isinstance(node, ast.Attribute) and node.attr == "load":
            found |= {ast.unparse(node)} & {"torch.load", "torch.jit.load", "np.load", "numpy.load"}
    return found


def test_the_search_finds_what_unpickles():
    for source in ("import pickle", "from pickle import loads", "torch.load(f)"):
        assert unpicklers(source)
    assert unpicklers("from torch import load as l")
    assert not unpicklers("json.loads(x); state.load(gpt)")


def test_no_code_of_ours_can_unpickle():
    rooms = [
        path for room in ("model", "lessons", "playground") for path in (ROOT / room).rglob("*.py")
    ]
    assert ROOT / "model" / "checkpoint.py" in rooms
    for path in [*rooms, ROOT / "app.py"]:
        assert unpicklers(path.read_text(encoding="utf-8")) == set(), path
