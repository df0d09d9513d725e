"""GPT-2s in Hugging Face's layout, as transformers writes them, give transformers' numbers."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import GPT2Config, GPT2LMHeadModel, GPT2Model

from model import GPTConfig, load_checkpoint, load_gpt2
from model.checkpoint import gpt2_names, with_weights
from model.errors import CheckpointError, CheckpointFileError, CheckpointMissingError
from tests.model.small import with_theirs

SHAPES = {
    "notes": {"vocab_size": 65, "n_positions": 32, "n_layer": 4, "n_head": 4, "n_embd": 64},
    "one head": {"vocab_size": 11, "n_positions": 9, "n_layer": 1, "n_head": 1, "n_embd": 6},
    "heads one wide": {"vocab_size": 30, "n_positions": 16, "n_layer": 2, "n_head": 8, "n_embd": 8},
}


def theirs(**settings: object) -> GPT2LMHeadModel:
    """A GPT-2 of transformers, every parameter drawn: biases and LayerNorms as well."""
    torch.manual_seed(11)
    given = {**SHAPES["one head"], "bos_token_id": None, "eos_token_id": None, **settings}
    model = GPT2LMHeadModel(GPT2Config(**given, attn_implementation="eager"))
    with torch.no_grad():
        for p in model.parameters():
            p.normal_(std=0.3)
    return model.eval()


@pytest.fixture
def folder(tmp_path) -> Path:
    """A small GPT-2 as `save_pretrained` leaves it."""
    theirs().save_pretrained(tmp_path / "gpt2")
    return tmp_path / "gpt2"


def change(folder: Path, **settings: object) -> None:
    """Settings of config.json replaced, or with None taken out."""
    path = folder / "config.json"
    config = json.loads(path.read_text()) | settings
    path.write_text(json.dumps({k: v for k, v in config.items() if v is not None}))


def check_equal(ours, model, bound=1e-4):
    """Logits and every layer's weights, for prompts of one token, a few, and the longest."""
    config = ours.config
    for T in (1, 3, config.block_size):
        idx = torch.randint(config.vocab_size, (2, T))
        steps = []
        with torch.no_grad():
            expected = model(idx, output_attentions=True, output_hidden_states=True)
            torch.testing.assert_close(ours(idx), expected.logits, atol=bound, rtol=0)
            ours(idx, trace=steps)
        for block, weights, stream in zip(
            steps[0].blocks, expected.attentions, expected.hidden_states[:-1], strict=True
        ):
            torch.testing.assert_close(block.attn.heads.weights, weights, atol=bound, rtol=0)
            torch.testing.assert_close(block.resid_pre, stream, atol=bound, rtol=0)
        torch.testing.assert_close(steps[0].normed, expected.hidden_states[-1], atol=bound, rtol=0)


@pytest.mark.parametrize("sizes", SHAPES.values(), ids=SHAPES)
def test_logits_and_attention_are_transformers(tmp_path, sizes):
    model = theirs(**sizes)
    model.save_pretrained(tmp_path)
    ours = load_gpt2(tmp_path)
    assert not ours.training
    assert ours.n_parameters == model.num_parameters()
    assert ours.config == GPTConfig(
        sizes["vocab_size"],
        sizes["n_positions"],
        n_layer=sizes["n_layer"],
        n_head=sizes["n_head"],
        n_embd=sizes["n_embd"],
    )
    check_equal(ours, model)


def test_gpt2s_own_size_is_the_default():
    """In memory: on disk it is half a gigabyte."""
    torch.manual_seed(12)
    model = GPT2LMHeadModel(GPT2Config()).eval()
    ours = with_weights(GPTConfig(), gpt2_names(model.state_dict()), Path("gpt2"))
    idx = torch.randint(50257, (1, 40))
    with torch.no_grad():
        torch.testing.assert_close(ours(idx), model(idx).logits, atol=1e-4, rtol=0)
    assert ours.n_parameters == model.num_parameters()


def test_small_pair_of_the_other_tests_is_equal():
    ours, model = with_theirs()
    idx = torch.randint(ours.config.vocab_size, (2, ours.config.block_size))
    torch.testing.assert_close(ours(idx), model(idx).logits, atol=1e-4, rtol=0)


def test_the_layout_of_older_files(tmp_path):
    """OpenAI's on the hub: no prefix, no lm_head, masks among the weights, few settings."""
    model = theirs()
    GPT2Model.save_pretrained(model.transformer, tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    assert "wte.weight" in tensors
    tensors["h.0.attn.bias"] = torch.ones(1, 1, 9, 9)
    tensors["h.0.attn.masked_bias"] = torch.tensor(-1e4)
    save_file(tensors, tmp_path / "model.safetensors")
    sizes = {**SHAPES["one head"], "n_ctx": 9, "layer_norm_epsilon": 1e-5, "model_type": "gpt2"}
    (tmp_path / "config.json").write_text(json.dumps(sizes))
    check_equal(load_gpt2(str(tmp_path)), model)


def test_half_precision_on_disk_is_float32_in_memory(tmp_path):
    model = theirs().half()
    model.save_pretrained(tmp_path)
    ours = load_gpt2(tmp_path)
    assert {p.dtype for p in ours.parameters()} == {torch.float32}
    check_equal(ours, model.float())


OTHER = {  # a setting that would give other numbers
    "another model": {"model_type": "gpt_neo"},
    "another activation": {"activation_function": "relu"},
    "a wider inside": {"n_inner": 25},
    "another epsilon": {"layer_norm_epsilon": 1e-3},
    "scores not scaled": {"scale_attn_weights": False},
    "scores scaled by layer": {"scale_attn_by_inverse_layer_idx": True},
    "an lm_head of its own": {"tie_word_embeddings": False},
    "a size that is no size": {"n_layer": "two"},
    "a size with a fraction": {"n_head": 1.5},
    "heads that do not divide": {"n_head": 4},
    "a size below 1": {"n_positions": 0},
    "a missing size": {"n_embd": None},
}


@pytest.mark.parametrize("settings", OTHER.values(), ids=OTHER)
def test_a_gpt2_that_computes_otherwise_is_refused(folder, settings):
    change(folder, **settings)
    with pytest.raises(CheckpointFileError) as caught:
        load_gpt2(folder)
    for lang in ("en", "ko"):
        assert "config.json" in caught.value.text(lang)


@pytest.mark.parametrize("settings", [{"n_layer": 2}, {"n_embd": 7}, {"vocab_size": 12}], ids=str)
def test_sizes_that_are_not_those_of_the_weights(folder, settings):
    change(folder, **settings)
    with pytest.raises(CheckpointError):
        load_gpt2(folder)


def test_a_folder_of_pickles_is_not_opened(folder):
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")
    with pytest.raises(CheckpointFileError) as caught:
        load_gpt2(folder)
    assert "model.safetensors" in caught.value.text("ko")


def test_its_tokenizer_comes_with_it(tmp_path, gpt2_files):
    theirs(vocab_size=50257).save_pretrained(tmp_path)
    checkpoint = load_checkpoint(tmp_path)
    assert checkpoint.tokenizer.encode("hello world") == [31373, 995]
    assert checkpoint.card["name"] == tmp_path.name


def test_a_vocabulary_that_is_not_gpt2s_is_refused(folder, gpt2_files):
    with pytest.raises(CheckpointFileError) as caught:
        load_checkpoint(folder)
    for lang in ("en", "ko"):
        assert "50257 tokens ≠ vocab_size 11" in caught.value.text(lang)


# From the hub, played by a server on this machine


@pytest.fixture
def hub(server, monkeypatch):
    """A server that is asked what would be asked of huggingface.co."""
    really = urllib.request.urlopen

    def urlopen(address, **keywords):
        return really(address.replace("https://huggingface.co", server.url), **keywords)

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    return server


def test_a_name_is_fetched_once(hub):
    model = theirs()
    model.save_pretrained(hub.folder / "someone" / "a-gpt2.v1" / "resolve" / "main")
    check_equal(load_gpt2("someone/a-gpt2.v1"), model)
    asked = [f"/someone/a-gpt2.v1/resolve/main/{f}" for f in ("config.json", "model.safetensors")]
    assert hub.asked == asked
    load_gpt2("someone/a-gpt2.v1")
    assert hub.asked == asked


@pytest.mark.parametrize("name", ["nobody/nothing", "nothing"])
def test_a_name_that_the_hub_lacks(hub, name):
    with pytest.raises(CheckpointFileError) as caught:
        load_gpt2(name)
    for lang in ("en", "ko"):
        assert name in caught.value.text(lang)
        assert "404" in caught.value.text(lang)


@pytest.mark.parametrize(
    "name", ["/nowhere/gpt2", "../gpt2", "a/b/c", "a b", "모델", "x" * 300, "a\0b", "a?b", ".."]
)
def test_what_is_no_name_is_not_asked_for(hub, name, tmp_path, monkeypatch):
    monkeypatch.chdir(hub.folder)
    with pytest.raises(CheckpointError if name == ".." else CheckpointMissingError):
        load_gpt2(name)
    assert hub.asked == []
