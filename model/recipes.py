"""How the shipped models were trained: a recipe each, from corpus to folder.

`python -m model train NAME` follows one; `python -m model losses` computes the
losses on the cards again.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch

from model.batches import Batch, in_turn, separate_texts, tutored, windows
from model.checkpoint import CARD, Checkpoint, load_checkpoint, save_checkpoint, write_json
from model.corpora import CORPORA, Split, documents, read_corpus, read_text
from model.evaluation import HeldOutLoss, held_out_loss
from model.gpt import GPT, GPTConfig
from model.ngram import NgramModel
from model.sampling import complete
from model.tokenizer import Tokenizer, train_merges
from model.training import Step, TrainingConfig, train
from model.training_state import TrainingState


@dataclass(frozen=True)
class Recipe:
    """Everything that decides a training run. `gpt.vocab_size` is how many BPE tokens to learn."""

    name: str
    corpus: str
    gpt: GPTConfig
    training: TrainingConfig
    batch_size: int
    prompt: str  # begins the samples taken on the way
    tutor: float = 0.0  # how much of the targets an n-gram model gives; for short texts
    tutor_n: int = 5  # how many symbols in a row it counts


RECIPES = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            "shakespeare",
            "tinyshakespeare",
            GPTConfig(1024, 128, n_layer=6, n_head=6, n_embd=192, dropout=0.2, bias=False),
            TrainingConfig(
                steps=6000,
                optimizer="muon",
                learning_rate=3e-3,
                muon_learning_rate=8e-3,
                bfloat16=True,
                evaluate_every=400,
                patience=6,
                seed=1,
            ),
            batch_size=16,
            prompt="ROMEO:",
        ),
        Recipe(
            "shakespeare-64",
            "tinyshakespeare",
            GPTConfig(1024, 128, n_layer=4, n_head=4, n_embd=64, bias=False),
            TrainingConfig(
                steps=8000,
                optimizer="muon",
                learning_rate=1e-2,
                muon_learning_rate=2e-2,
                evaluate_every=250,
                seed=1,
            ),
            batch_size=16,
            prompt="ROMEO:",
        ),
        Recipe(
            "korean",
            "korean_chatbot",
            GPTConfig(1024, 128, n_layer=3, n_head=8, n_embd=256, dropout=0.05, bias=False),
            TrainingConfig(
                steps=11000,
                optimizer="muon",
                learning_rate=2e-3,
                muon_learning_rate=5e-3,
                final_rate=0.02,
                bfloat16=True,
                evaluate_every=500,
                patience=8,
                seed=1,
            ),
            batch_size=64,
            prompt="오늘 뭐 하지\n",
            tutor=0.7,
            tutor_n=7,
        ),
    )
}


@dataclass(frozen=True)
class Prepared:
    """A recipe with its text read, its tokenizer learned and its model drawn."""

    recipe: Recipe
    source: str  # the corpus's name, or the file of one's own
    split: Split
    tokenizer: Tokenizer
    gpt: GPT


def prepare(
    recipe: Recipe, *, data: Path | None = None, text: Path | None = None, device: str = "cpu"
) -> Prepared:
    """`data` is the corpus's file where it is at hand; `text` any file to learn from instead.

    Raises `CorpusError`.
    """
    split = read_text(text) if text else read_corpus(recipe.corpus, data)
    tokenizer = Tokenizer.from_merges(train_merges(split.train, recipe.gpt.vocab_size), recipe.name)
    torch.manual_seed(recipe.training.seed)
    gpt = GPT(replace(recipe.gpt, vocab_size=tokenizer.n_vocab))  # a short text gives fewer tokens
    return Prepared(recipe, text.name if text else recipe.corpus, split, tokenizer, gpt.to(device))


def follow(prepared: Prepared, state: TrainingState) -> Iterator[Step]:
    """Train as the recipe says. Raises what `train` raises."""
    recipe, tokenizer, split = prepared.recipe, prepared.tokenizer, prepared.split
    seed, T = recipe.training.seed, prepared.gpt.config.block_size
    if split.separator:
        start = tokenizer.encode("\n")
        texts = [start + tokenizer.encode(t) for t in documents(split.train, split.separator)]
        batch = separate_texts(texts, T, recipe.batch_size, seed)
        if recipe.tutor:
            batch = in_turn(list(tutored_folds(texts, recipe, T, tokenizer.n_vocab)))
    else:
        ids = torch.tensor(tokenizer.encode(split.train))
        batch = windows(ids, T, recipe.batch_size, seed)
    return train(
        prepared.gpt,
        batch,
        recipe.training,
        evaluate=lambda gpt: loss_on(gpt, tokenizer, split).per_character,
        sample=lambda gpt: complete(gpt, tokenizer, recipe.prompt, 64, temperature=0.8, seed=seed),
        state=state,
    )


def about(prepared: Prepared) -> dict[str, str]:
    """What decides a run, but how long it is: a state about anything else is another run's."""
    recipe = asdict(prepared.recipe)
    every = recipe | recipe["gpt"] | recipe["training"]
    every["text"] = hashlib.sha256(prepared.split.train.encode()).hexdigest()[:12]
    for name in ("gpt", "training", "prompt", "steps", "patience", "evaluate_every"):
        del every[name]
    return {name: str(value) for name, value in every.items()}


def tutored_folds(
    texts: list[list[int]], recipe: Recipe, T: int, n_vocab: int, folds: int = 5
) -> Iterator[Callable[[int], Batch]]:
    """A fifth of the texts at a time, with a tutor that counted the other four.

    So the tutor speaks of every text as of one it has not seen.
    """
    for fold in range(folds):
        others = [text for i, text in enumerate(texts) if i % folds != fold]
        batch = separate_texts(texts[fold::folds], T, recipe.batch_size, recipe.training.seed)
        yield tutored(batch, NgramModel(others, n_vocab, recipe.tutor_n), recipe.tutor)


def loss_on(gpt: GPT, tokenizer: Tokenizer, split: Split) -> HeldOutLoss:
    return held_out_loss(gpt, tokenizer, split.held_out, separator=split.separator)


def finished(prepared: Prepared, state: TrainingState, folder: Path, command: str) -> Checkpoint:
    """Save the model with its card; the losses on it are those of the saved, halved weights.

    Returns the checkpoint as loaded again from `folder`.
    """
    recipe = prepared.recipe
    corpus = CORPORA.get(prepared.source)
    card = {
        "name": recipe.name,
        "corpus": {"name": prepared.source},
        "command": command,
        "recipe": asdict(recipe),
        "parameters": prepared.gpt.n_parameters,
        "steps": state.step,
        "tokens_seen": state.tokens,
        "seconds": round(state.seconds),
        "machine": machine(prepared.gpt),
        "separator": prepared.split.separator,  # what a short text ends with; "" for one long text
        "curve": [asdict(point) for point in state.curve],
    }
    if corpus:
        card["corpus"] = {
            key: getattr(corpus, key) for key in ("name", "address", "sha256", "licence", "rule")
        }
    save_checkpoint(folder, Checkpoint(prepared.gpt, prepared.tokenizer, card))
    saved = load_checkpoint(folder)
    card["held_out"] = on_card(loss_on(saved.gpt, saved.tokenizer, prepared.split))
    card["learned"] = on_card(loss_on(saved.gpt, saved.tokenizer, learned(prepared.split)))
    write_json(folder / CARD, card)
    return load_checkpoint(folder)


def on_card(loss: HeldOutLoss) -> dict[str, float]:
    return {
        "nats_per_character": round(loss.per_character, 4),
        "nats_per_byte": round(loss.per_byte, 4),
        "characters": loss.characters,
        "tokens": loss.tokens,
    }


def learned(split: Split) -> Split:
    """As much of the text learned from as was held out, whole short texts: how far the two losses
    lie apart is how far a model has overfitted.
    """
    end = len(split.held_out)
    if split.separator:
        end = split.train.index(split.separator, end) + len(split.separator)
    return replace(split, held_out=split.train[:end])


def machine(gpt: GPT) -> str:
    """What it was trained on, in words."""
    device = gpt.wte.weight.device
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{platform.machine()}, {torch.get_num_threads()} threads, torch {torch.__version__}"


def losses_again(name: str, data: Path | None = None) -> dict[str, HeldOutLoss]:
    """Of a shipped model, computed from its files: as on its card under `held_out` and `learned`."""
    checkpoint = load_checkpoint(name)
    split = read_corpus(checkpoint.card["corpus"]["name"], data)
    parts = {"held_out": split, "learned": learned(split)}
    return {key: loss_on(checkpoint.gpt, checkpoint.tokenizer, part) for key, part in parts.items()}
