"""Experiment 14: look at the weights. Change the text, layer or head and run it again.
실험 14: 가중치 들여다보기. 글, 층, 헤드를 바꾸어 다시 실행해 보십시오.
"""

import sys

from lessons.words import Words
from model import load_checkpoint
from model.looking import attention_weights, even_patterns, patterns, trace_of

MODEL = "shakespeare"  # or "korean" · 또는 "korean"
TEXT = "ROMEO: But soft, what light through yonder window breaks?"
LAYER, HEAD = 3, 1  # both counted from 0 · 둘 다 0부터

TITLE = Words(
    "{layers} layers of {heads} heads. Layer {layer}, head {head}: for each token the three it looks at most.",
    "{layers}층, 층마다 헤드 {heads}개. {layer}번 층 {head}번 헤드: 토큰마다 가장 많이 보는 토큰 셋.",
)
MEASURED = Words(
    "Measured: how much of its attention this head gives to these places (in brackets: an even head).",
    "이 헤드가 다음 자리에 주는 주의의 몫(괄호 안은 모든 토큰을 고르게 보는 헤드).",
)
PLACES = {
    "previous": Words("the token before", "바로 앞 토큰"),
    "first": Words("the first token", "첫 토큰"),
    "self": Words("the token itself", "자기 자신"),
    "same": Words("the same token earlier", "앞에 나온 같은 토큰"),
    "local": Words("the three before", "바로 앞 세 토큰"),
}

if __name__ == "__main__":
    lang = sys.argv[1] if len(sys.argv) > 1 else "en"
    checkpoint = load_checkpoint(MODEL)
    ids = checkpoint.tokenizer.encode(TEXT)
    pieces = [repr(checkpoint.tokenizer.decode([i])) for i in ids]
    weights = attention_weights(trace_of(checkpoint.gpt, ids))  # (n_layer, n_head, T, T)
    layers, heads = weights.shape[:2]
    print(TITLE(lang, layers=layers, heads=heads, layer=LAYER, head=HEAD))
    for i, row in enumerate(weights[LAYER, HEAD]):
        # Of the first token's row topk(3) would also show two weights of 0: the mask.
        best = row.topk(min(3, i + 1))
        seen = ", ".join(
            f"{pieces[j]} {w:.1%}"
            for w, j in zip(best.values.tolist(), best.indices.tolist(), strict=True)
        )
        print(f"{i:>3} {pieces[i]:<12} -> {seen}")
    print(MEASURED(lang))
    even = even_patterns(ids)
    for name, share in patterns(weights[LAYER, HEAD], ids).items():
        if not share.isnan():  # no token of this text has such a place
            print(f"  {PLACES[name](lang)}: {share.item():.1%} ({even[name]:.1%})")
