"""Errors of use: what a person can do wrong, said with both numbers.

    PlaygroundError (a ValueError)
    ├── ShapeError        sizes that do not fit together
    │   ├── RankError        too few axes
    │   ├── WidthError       q and k of different widths: no dot product
    │   ├── LengthError      as many keys as values, please
    │   ├── LeadingAxesError q, k and v of different batches or heads
    │   ├── AxisError        one axis of a trace with two sizes
    │   ├── ProjectionError  x @ W with widths that differ
    │   ├── MaskShapeError   a mask that does not fit the scores
    │   └── CacheError       more tokens than the cache holds
    ├── HeadsError        n_head does not divide the width
    │   └── SliceError       n_head does not divide the inputs
    ├── NotFiniteError    NaN or infinity where a number is needed
    ├── OverflowsError    numbers so large that their products are infinite
    ├── FullyMaskedError  a query with no key left to attend to
    ├── MaskTypeError     a mask that is not boolean
    ├── DropoutError      a rate outside [0, 1)
    ├── SizeError         a size below 1
    ├── RangeError        a number outside its range
    ├── PromptError       ids a model cannot start from
    ├── TooLongError      more tokens than block_size
    ├── ChoiceError       a name that is none of the choices
    ├── ShortTextError    a text shorter than one window
    ├── CacheMaskError    a KV cache where there is no causal mask
    ├── TextLengthError   a text too short or too long to be learned live
    ├── AlphabetError     a text of too many different characters
    ├── CharacterError    a character that a task does not have
    ├── ShareError        a batch that does not divide among the processes
    ├── DivergedError     a training loss that is no longer a number
    │   └── LiveDivergedError       the same where the learning rate stays one
    ├── StateError        a training folder that does not fit the model
    ├── CorpusError       a corpus that is not what its sum says, or cannot be had
    ├── TextFileError     a text file of one's own that cannot be read
    ├── CheckpointError   a checkpoint that cannot be loaded
    │   ├── CheckpointMissingError  no such name or folder
    │   ├── CheckpointFileError     a file missing or damaged
    │   └── CheckpointShapeError    a tensor that is not what the configuration says
    ├── RanksError        a file of BPE ranks with a gap
    └── GPT2FilesError    GPT-2's tokenizer neither on this machine nor to be had

Each class carries its sentence in English and in Korean, side by side, so that
a message cannot exist in one language only. `str(error)` is the English one;
`error.text("ko")` the Korean one. `assert` is for what cannot happen; these
classes are for what a person did.
"""

from __future__ import annotations


class PlaygroundError(ValueError):
    """The root. `values` fill the blanks of `en` and `ko`; both use all of them."""

    en = ""
    ko = ""

    def __init__(self, **values: object) -> None:
        self.values = values
        super().__init__(self.text("en"))

    def text(self, lang: str) -> str:
        """The sentence in `lang` ("en" or "ko"). It can be sent: half a character becomes ?."""
        said = (self.ko if lang == "ko" else self.en).format(**self.values)
        return said.encode("utf-8", "replace").decode()  # a lone surrogate, which JSON allows


class ShapeError(PlaygroundError):
    """Sizes that do not fit together."""


class RankError(ShapeError):
    en = "{name} has {rank} axes {shape}; it needs at least {needed}: (..., tokens, width)."
    ko = "{name}의 축은 {rank}개 {shape}입니다. (..., 토큰, 너비)처럼 적어도 {needed}개가 필요합니다."


class WidthError(ShapeError):
    en = "Each query has {q_width} numbers but each key has {k_width}; a dot product needs as many in both."
    ko = "쿼리 벡터의 숫자는 {q_width}개, 키 벡터의 숫자는 {k_width}개입니다. 점곱을 하려면 개수가 같아야 합니다."


class LengthError(ShapeError):
    en = "There are {keys} keys but {values_} values; every key needs its own value."
    ko = "키는 {keys}개, 값은 {values_}개입니다. 키마다 값이 하나씩 있어야 합니다."


class LeadingAxesError(ShapeError):
    en = "The axes before (tokens, width) are {q} in q, {k} in k and {v} in v; they must fit together."
    ko = "(토큰, 너비) 앞의 축이 q에서는 {q}, k에서는 {k}, v에서는 {v}입니다. 서로 맞아야 합니다."


class AxisError(ShapeError):
    en = "Axis {axis} has size {first} in {first_name} but {second} in {second_name}; it must be one size."
    ko = "{axis} 축의 크기가 {first_name}에서는 {first}, {second_name}에서는 {second}입니다. 한 가지 크기여야 합니다."


class ProjectionError(ShapeError):
    en = "{name} has {rows} rows but each vector has {width} numbers; x @ W needs one row for each of the {width}."
    ko = "{name}의 행은 {rows}개, 벡터의 숫자는 {width}개입니다. x @ W를 하려면 행도 {width}개여야 합니다."


class MaskShapeError(ShapeError):
    en = "The mask is {mask} but the scores are {scores}; one must fit the other, (queries, keys)."
    ko = "마스크의 모양은 {mask}, 점수의 모양은 {scores}입니다. (쿼리, 키)로 서로 맞아야 합니다."


class CacheError(ShapeError):
    en = "The cache holds {capacity} tokens; {length} are in it and {more} more do not fit."
    ko = "캐시에는 토큰 {capacity}개가 들어갑니다. 이미 {length}개가 있어 {more}개를 더 넣을 수 없습니다."


class HeadsError(PlaygroundError):
    en = "A width of {width} cannot be split among {n_head} heads; n_head must divide {width}."
    ko = "너비({width})를 헤드 {n_head}개로 똑같이 나눌 수 없습니다. n_head에는 {width}의 약수를 써야 합니다."


class SliceError(HeadsError):
    en = "Inputs {width} wide cannot be cut into {n_head} equal slices, one a head: use a width that {n_head} divides."
    ko = "너비가 {width}인 입력은 헤드마다 하나씩 {n_head}조각으로 똑같이 자를 수 없습니다. {n_head}의 배수인 너비를 쓰십시오."


class NotFiniteError(PlaygroundError):
    en = "{name} holds {value} at position {position}; every entry must be a finite number."
    ko = "{name}의 {position} 자리에 {value} 값이 있습니다. 모든 칸은 유한한 숫자여야 합니다."


class OverflowsError(PlaygroundError):
    en = "Computing {name} overflows: inputs as large as {largest} multiply to infinity. Use smaller numbers."
    ko = "{name} 계산이 넘칩니다. 입력이 {largest}까지 커서 곱하면 무한대가 됩니다. 더 작은 숫자를 쓰십시오."


class FullyMaskedError(PlaygroundError):
    en = (
        "Query {row} may attend to 0 of {keys} keys; softmax over nothing is NaN. Leave at least 1."
    )
    ko = "{row}번 쿼리가 볼 수 있는 키는 {keys}개 가운데 0개입니다. 아무것도 없는 소프트맥스는 NaN이므로 적어도 1개를 남겨야 합니다."


class MaskTypeError(PlaygroundError):
    en = "The mask has type {dtype}; it must be boolean, True where a query may attend."
    ko = "마스크의 자료형은 {dtype}입니다. 참/거짓(bool)이어야 하며, True가 '볼 수 있음'입니다."


class DropoutError(PlaygroundError):
    en = "The dropout rate is {dropout}; it must be at least 0 and below 1, since kept weights are divided by 1 - rate."
    ko = "드롭아웃 비율은 {dropout}입니다. 남은 가중치를 1 - 비율로 나누므로 0 이상 1 미만이어야 합니다."


class SizeError(PlaygroundError):
    en = "{name} is {found}; it must be at least 1."
    ko = "{name}은(는) {found}입니다. 1 이상이어야 합니다."


class TooLongError(PlaygroundError):
    en = "That is {length} tokens; this model reads at most {block_size}."
    ko = "토큰이 {length}개입니다. 이 모델이 읽을 수 있는 것은 {block_size}개까지입니다."


class RanksError(PlaygroundError):
    en = "The file of BPE ranks is damaged: {missing} is missing or unreadable among its {found} tokens."
    ko = "BPE 순위 파일이 손상되었습니다. 토큰 {found}개 가운데 {missing}이(가) 없거나 읽을 수 없습니다."


class GPT2FilesError(PlaygroundError):
    en = (
        "GPT-2's tokenizer files are not on this machine and could not be downloaded ({reason}). "
        "Run once where there is a network, or set TIKTOKEN_CACHE_DIR to a folder that holds them."
    )
    ko = (
        "GPT-2 토크나이저 파일이 이 컴퓨터에 없고 내려받지도 못했습니다({reason}). "
        "네트워크가 되는 곳에서 한 번 실행하거나, 파일이 있는 폴더를 TIKTOKEN_CACHE_DIR로 지정하십시오."
    )


class ChoiceError(PlaygroundError):
    en = "{name} is {found}; it must be one of: {choices}."
    ko = "{name}의 값은 {found}입니다. 다음 가운데 하나여야 합니다: {choices}."


class ShortTextError(PlaygroundError):
    en = "The text has {found} tokens; a training window needs at least {needed}."
    ko = "글의 토큰은 {found}개입니다. 학습 창 하나에 적어도 {needed}개가 필요합니다."


class CacheMaskError(PlaygroundError):
    en = "A KV cache of {length} tokens cannot take {more} more without the causal mask: they would change the outputs of all before them."
    ko = "코잘 마스크가 없으면 토큰 {length}개가 든 KV 캐시에 {more}개를 더 넣을 수 없습니다. 새 토큰이 앞에 있는 모든 토큰의 출력을 바꾸기 때문입니다."


class TextLengthError(PlaygroundError):
    en = "The text has {found} characters; {least} to {most} can be learned."
    ko = "글은 {found}자입니다. {least}자부터 {most}자까지 학습할 수 있습니다."


class AlphabetError(PlaygroundError):
    en = "The text uses {found} different characters; at most {most} are learned."
    ko = "글에 서로 다른 글자가 {found}개 있습니다. 최대 {most}개까지 학습할 수 있습니다."


class CharacterError(PlaygroundError):
    en = "“{found}” is not a character of this task; its {count} are “{alphabet}”."
    ko = (
        "‘{found}’은(는) 이 과제에 없는 글자입니다. 쓸 수 있는 글자 {count}개는 ‘{alphabet}’입니다."
    )


class ShareError(PlaygroundError):
    en = "A batch of {batch} cannot be shared among {count} processes; use a multiple of {count}."
    ko = "배치 {batch}개를 프로세스 {count}개에 똑같이 나눌 수 없습니다. {count}의 배수로 쓰십시오."


class DivergedError(PlaygroundError):
    en = "The loss became {loss} at step {step}; the learning rate ({rate:.2g} of its peak) is too high."
    ko = "{step}번째 걸음에서 손실이 {loss}이(가) 되었습니다. 학습률(최고값의 {rate:.2g}배)이 너무 높습니다."


class LiveDivergedError(DivergedError):
    en = "The loss or its gradient became {loss} at step {step}; the learning rate {rate:g} is too high. The weights are still those before this step."
    ko = "{step}번째 걸음에서 손실이나 그 기울기가 {loss}이(가) 되었습니다. 지금의 학습률({rate:g})이 너무 높습니다. 가중치는 이 걸음 앞의 값 그대로입니다."


class StateError(PlaygroundError):
    en = "The training state in {folder} does not fit this model: {reason}. Choose another folder, or delete it."
    ko = (
        "{folder}의 학습 상태가 이 모델에 맞지 않습니다: {reason}. 다른 폴더를 고르거나 지우십시오."
    )


class CorpusError(PlaygroundError):
    en = "The corpus {name} is not there: {reason}. It comes from {address}; a file can be named with --data."
    ko = "말뭉치 {name}을(를) 쓸 수 없습니다: {reason}. 원본은 {address}에 있습니다. --data로 파일을 지정할 수 있습니다."


class TextFileError(PlaygroundError):
    en = "The text file {path} cannot be read ({reason}); it must be there, be UTF-8 and hold at least {least} characters."
    ko = "글 파일 {path}을(를) 읽을 수 없습니다({reason}). 파일이 있어야 하고, UTF-8이어야 하며, 적어도 {least}자가 들어 있어야 합니다."


class CheckpointError(PlaygroundError):
    en = "The checkpoint {folder} cannot be loaded: {reason}."
    ko = "체크포인트 {folder}을(를) 불러올 수 없습니다: {reason}."


class CheckpointMissingError(CheckpointError):
    en = "There is no checkpoint {folder}: it is neither one of {names} nor a folder with a {file}."
    ko = "체크포인트 {folder}이(가) 없습니다. {names} 가운데 하나도, {file}이 있는 폴더도 아닙니다."


class CheckpointFileError(CheckpointError):
    en = "The checkpoint {folder} lacks {file}, or it is damaged ({reason})."
    ko = "체크포인트 {folder}에 {file}이(가) 없거나 손상되었습니다({reason})."


class CheckpointShapeError(CheckpointError):
    en = "In the checkpoint {folder} the tensor {tensor} has shape {found}; its configuration asks for {expected}."
    ko = "체크포인트 {folder}의 텐서 {tensor}은(는) 모양이 {found}입니다. 설정에 따른 모양은 {expected}입니다."


class RangeError(PlaygroundError):
    en = "{name} is {found}; it must be {wanted}."
    ko = "{name}의 값은 {found}입니다. 쓸 수 있는 값은 {wanted}입니다."


class PromptError(PlaygroundError):
    en = "A prompt of ids cannot be {found}; it must be {wanted}."
    ko = "프롬프트의 토큰 번호로 {found}은(는) 쓸 수 없습니다. 쓸 수 있는 것은 {wanted}입니다."
