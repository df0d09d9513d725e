"""The claims of this station: one function each, its numbers computed when it is called.

A verdict in questions.toml has a blank for each name that the function of its question
returns. Nothing is looked up: what a verdict says, `model` or torch has just computed
(what takes a training is computed once and kept).
"""

from .document_1 import (
    backward_changes,
    four_sixteens,
    high_scores_raise,
    original_gone,
    stream_shape,
    three_voices,
)
from .document_2 import (
    both_ways,
    dot_of_three,
    first_token_ahead,
    flash_identical,
    fnet,
    fused_qkv,
    hook,
    memory_of_scores,
    query_of_the_word,
    romeo,
    third_row,
    twice_the_length,
)
from .document_3 import (
    order_blind,
    plus_two_alone,
    plus_two_learns,
    plus_two_listens,
    scores_to_88,
    six_blocks,
    untrained_88,
)
from .document_4 import (
    dropout_doubles,
    naive_softmax,
    random_init,
    renormalised,
    second_context_vector,
)

__all__ = [
    "backward_changes",
    "both_ways",
    "dot_of_three",
    "dropout_doubles",
    "first_token_ahead",
    "flash_identical",
    "fnet",
    "four_sixteens",
    "fused_qkv",
    "high_scores_raise",
    "hook",
    "memory_of_scores",
    "naive_softmax",
    "order_blind",
    "original_gone",
    "plus_two_alone",
    "plus_two_learns",
    "plus_two_listens",
    "query_of_the_word",
    "random_init",
    "renormalised",
    "romeo",
    "scores_to_88",
    "second_context_vector",
    "six_blocks",
    "stream_shape",
    "third_row",
    "three_voices",
    "twice_the_length",
    "untrained_88",
]
