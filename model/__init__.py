"""The teaching code: a GPT, computed one readable step at a time.

Read in this order: attention.py, multihead.py, cache.py, masking.py, mistakes.py;
then tokenizer.py, block.py, gpt.py, sampling.py, training.py, evaluation.py;
then, to try things out, stack.py, tasks.py, live.py, gradients.py, inverse.py,
embeddings.py, encoder_decoder.py, plus_two.py, cheaper.py, cost.py;
last checkpoint.py, corpora.py, recipes.py.
"""

from model.attention import AttentionTrace, attend, attend_fast, causal_mask, draw_keep, resume
from model.block import Block, BlockTrace
from model.cache import KVCache
from model.checkpoint import Checkpoint, load_checkpoint, load_gpt2
from model.errors import PlaygroundError
from model.gpt import GPT, GPTConfig, ModelTrace
from model.multihead import (
    MultiHeadAttention,
    MultiHeadTrace,
    merge_heads,
    multi_head,
    multi_head_fast,
    multi_head_loop,
    split_heads,
)
from model.sampling import GenerationStep, generate
from model.tokenizer import Tokenizer
from model.training import TrainingConfig, train

__all__ = [
    "GPT",
    "AttentionTrace",
    "Block",
    "BlockTrace",
    "Checkpoint",
    "GPTConfig",
    "GenerationStep",
    "KVCache",
    "ModelTrace",
    "MultiHeadAttention",
    "MultiHeadTrace",
    "PlaygroundError",
    "Tokenizer",
    "TrainingConfig",
    "attend",
    "attend_fast",
    "causal_mask",
    "draw_keep",
    "generate",
    "load_checkpoint",
    "load_gpt2",
    "merge_heads",
    "multi_head",
    "multi_head_fast",
    "multi_head_loop",
    "resume",
    "split_heads",
    "train",
]
