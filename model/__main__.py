"""The command line: `python -m model train NAME` and `python -m model losses`.

Several processes: `torchrun --nproc-per-node 2 -m model train NAME`.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path

import torch

from model import recipes
from model.checkpoint import SHIPPED
from model.corpora import CORPORA
from model.errors import ChoiceError, PlaygroundError
from model.training_state import TrainingState


def main(arguments: list[str] | None = None) -> None:
    """Parse, do, and say errors of use as one sentence."""
    parser = argparse.ArgumentParser(prog="python -m model", description=__doc__)
    commands = parser.add_subparsers(required=True)
    train = commands.add_parser("train", help="train a model as its recipe says")
    train.add_argument("name", choices=list(recipes.RECIPES))
    train.add_argument("--data", type=Path, help="the corpus's file, or a folder that holds it")
    train.add_argument("--text", type=Path, help="any UTF-8 text file to learn from instead")
    train.add_argument(
        "--out",
        type=Path,
        help="folder of the result (default: the shipped one's, or trained/ and the text's name)",
    )
    train.add_argument("--state", type=Path, help="folder to resume from (default: in .training/)")
    train.add_argument("--steps", type=int, help="fewer or more than the recipe's")
    train.add_argument("--threads", type=int, help="processor threads (default: all)")
    train.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    train.set_defaults(do=train_command)
    losses = commands.add_parser("losses", help="compute the losses on the cards again")
    losses.add_argument("names", nargs="*", default=list(recipes.RECIPES))
    losses.add_argument("--data", type=Path, help="a folder that holds the corpora")
    losses.set_defaults(do=losses_command)
    chosen = parser.parse_args(arguments)
    try:
        chosen.do(chosen)
    except PlaygroundError as error:
        sys.exit(str(error))


def train_command(chosen: argparse.Namespace) -> None:
    """Train with a progress bar; the result, its card and the picture of its curve in --out."""
    from tqdm import tqdm  # the extra `train`

    recipe = recipes.RECIPES[chosen.name]
    if chosen.steps is not None:
        recipe = replace(recipe, training=replace(recipe.training, steps=chosen.steps))
    if chosen.threads:
        torch.set_num_threads(chosen.threads)
    if chosen.device == "cuda":  # under torchrun each process has a GPU of its own
        chosen.device = f"cuda:{os.environ.get('LOCAL_RANK', 0)}"
    prepared = recipes.prepare(
        recipe, data=corpus_file(chosen.data, recipe.corpus), text=chosen.text, device=chosen.device
    )
    name = chosen.text.stem if chosen.text else chosen.name
    state = TrainingState(chosen.state or Path(".training") / name, recipes.about(prepared))
    first = os.environ.get("RANK", "0") == "0"
    with tqdm(total=recipe.training.steps, disable=not first, mininterval=5) as bar:
        for step in recipes.follow(prepared, state):
            bar.update(step.step - bar.n)
            bar.set_postfix(loss=f"{step.loss:.3f}", tokens=f"{step.tokens_per_second:.0f}/s")
            if step.val_loss is not None and first:
                bar.write(f"step {step.step}  held-out loss a character {step.val_loss:.4f}")
                bar.write(f"  {step.sample!r}")
    if first:
        folder = chosen.out or (Path("trained") / name if chosen.text else SHIPPED / name)
        command = "python -m model " + " ".join(["train", chosen.name, *shown(chosen)])
        saved = recipes.finished(prepared, state, folder, command)
        draw_curve(saved.card["curve"], folder / "loss.png")
        print(f"{folder}: {saved.card['held_out']}")


def shown(chosen: argparse.Namespace) -> list[str]:
    """The options that decide the result, without paths of this machine."""
    steps = ["--steps", str(chosen.steps)] if chosen.steps is not None else []
    return steps + (["--text", chosen.text.name] if chosen.text else [])


def losses_command(chosen: argparse.Namespace) -> None:
    """A line a model: the loss computed from the files beside the one on the card."""
    for name in chosen.names:
        if name not in recipes.RECIPES:
            raise ChoiceError(name="name", found=name, choices=" | ".join(recipes.RECIPES))
        corpus = recipes.RECIPES[name].corpus
        card = recipes.load_checkpoint(name).card
        for key, loss in recipes.losses_again(name, corpus_file(chosen.data, corpus)).items():
            print(
                f"{name}, {key.replace('_', ' ')}: {loss.per_character:.4f} nats a character "
                f"(card: {card[key]['nats_per_character']}), {loss.per_byte:.4f} a byte "
                f"(card: {card[key]['nats_per_byte']}), {loss.characters:,} characters"
            )


def corpus_file(path: Path | None, corpus: str) -> Path | None:
    """A corpus's file: `path` itself, or the one of its name in that folder."""
    if path is None or not path.is_dir():
        return path
    return next(iter(sorted(path.glob(f"{CORPORA[corpus].name}.*[!E]"))), path / corpus)


def draw_curve(curve: list[dict[str, float]], path: Path) -> None:
    """A card's curve as a picture: the held-out loss above, the batches' below, a unit each."""
    import matplotlib  # the extra `train`

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    steps = [point["step"] for point in curve]
    figure, axes = plt.subplots(2, figsize=(6, 5), layout="constrained", sharex=True)
    for axis, key, title in (
        (axes[0], "val_loss", "held out, nats a character"),
        (axes[1], "loss", "one batch, nats a token, dropout on"),
    ):
        axis.plot(steps, [point[key] for point in curve])
        axis.set_title(title, fontsize=10)
    axes[1].set_xlabel("step")
    figure.savefig(path, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main()
