"""Questions from a seed, and what grading says to right, wrong, and unreadable answers."""

from __future__ import annotations

import pytest

from lessons.answers import AnswerError, OrderError, ShapeAnswerError, grade
from lessons.course import asked
from lessons.grading import NotANumberError
from lessons.mistakes import mistake_words
from lessons.questions import QuizError, apart, made, question

GENERATED = [q for q in asked().values() if q.generated]
NUMBERS = [q for q in GENERATED if q.kind in ("number", "cell")]


def of(kind):
    return [q for q in asked().values() if q.kind == kind]


def test_every_kind_of_question_is_asked_somewhere():
    kinds = {"choice", "choices", "number", "cell", "shape", "order", "line"}
    assert {q.kind for q in asked().values()} == kinds


@pytest.mark.parametrize("source", GENERATED, ids=lambda q: q.quiz_id)
def test_the_same_seed_asks_the_same_and_another_seed_another(source):
    assert made(source, 3).ask == made(source, 3).ask
    assert made(source, 3).answer == made(source, 3).answer
    assert len({made(source, seed).ask.en for seed in range(5)}) > 1


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("source", NUMBERS, ids=lambda q: q.quiz_id)
def test_a_right_number_is_right_and_each_mistake_is_named(source, lang):
    asking = made(source, 5)
    for typed in (f"{asking.answer:.2f}", f"{asking.answer:.6f}", asking.answer):
        assert grade(asking, typed, lang).correct
    assert len(asking.mistakes) >= 2
    for name, wrong in asking.mistakes.items():
        graded = grade(asking, f"{wrong:.2f}", lang)
        assert not graded.correct
        assert graded.mistake == name
        assert mistake_words()[name].name[lang] in graded.feedback
        assert mistake_words()[name].text[lang] in graded.feedback


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("source", NUMBERS, ids=lambda q: q.quiz_id)
def test_an_unknown_number_gets_the_solution_only_after_a_second_try(source, lang):
    asking = made(source, 5)
    far = asking.answer + 1000.0
    assert all(apart(far, wrong) for wrong in asking.mistakes.values())
    first, second = (grade(asking, far, lang, tries=n) for n in (1, 2))
    assert first.mistake is second.mistake is None
    assert asking.worked(lang) not in first.feedback
    assert asking.worked(lang) in second.feedback


@pytest.mark.parametrize("source", [*of("choice"), *of("line")], ids=lambda q: q.quiz_id)
def test_each_choice_gets_its_own_explanation(source):
    asking = made(source, 2)
    for choice in asking.choices:
        for lang in ("en", "ko"):
            graded = grade(asking, choice.value, lang)
            assert graded.correct == choice.right
            assert choice.why(lang) in graded.feedback
    with pytest.raises(AnswerError, match="no_such"):
        grade(asking, "no_such", "en")


@pytest.mark.parametrize("source", of("choices"), ids=lambda q: q.quiz_id)
def test_several_choices_are_right_only_together(source):
    asking = made(source, 2)
    assert grade(asking, list(asking.answer), "en").correct
    assert grade(asking, ", ".join(asking.answer), "ko").correct
    for part in asking.answer if len(asking.answer) > 1 else ():
        missing = grade(asking, [value for value in asking.answer if value != part], "en")
        assert not missing.correct
    everything = grade(asking, [c.value for c in asking.choices], "en")
    wrong = [c for c in asking.choices if not c.right]
    assert everything.correct == (not wrong)
    assert all(c.why.en in everything.feedback for c in wrong)


@pytest.mark.parametrize("nothing", [[], ["", " "], "", " , "])
def test_no_choice_at_all_is_no_answer(nothing):
    """It would be told which ones belong."""
    with pytest.raises(AnswerError):
        grade(made(of("choices")[0], 2), nothing, "en")


@pytest.mark.parametrize("source", of("order"), ids=lambda q: q.quiz_id)
def test_an_order_is_shown_shuffled_and_says_what_comes_too_early(source):
    for seed in range(6):
        asking = made(source, seed)
        assert tuple(c.value for c in asking.choices) != asking.answer
    assert grade(asking, list(asking.answer), "en").correct
    swapped = [asking.answer[1], asking.answer[0], *asking.answer[2:]]
    graded = grade(asking, swapped, "ko")
    early = next(c for c in asking.choices if c.value == swapped[0])
    assert not graded.correct
    assert early.why.ko in graded.feedback
    assert "0단계" not in graded.feedback
    with pytest.raises(OrderError):
        grade(asking, swapped[:-1], "en")


@pytest.mark.parametrize("source", of("shape"), ids=lambda q: q.quiz_id)
def test_a_shape_is_read_in_the_ways_people_write_it(source):
    asking = made(source, 2)
    sizes = str(asking.answer).replace(" ", "").split(",")
    for typed in (", ".join(sizes), f"[{','.join(sizes)}]", f"({' , '.join(sizes)})", sizes):
        assert grade(asking, typed, "en").correct
    for name, wrong in asking.mistakes.items():
        assert grade(asking, wrong, "en").mistake == name
    with pytest.raises(ShapeAnswerError):
        grade(asking, "?", "en")


def test_a_shape_may_be_whole_where_one_size_is_asked():
    source = asked()["10_block/middle_of_the_mlp"]
    asking = made(source, 1)
    assert "[2, 10, ?]" in asking.ask.en
    for typed in (256, "256", [256], [2, 10, 256], "[2, 10, 256]", "torch.Size([2, 10, 256])"):
        assert grade(asking, typed, "ko").correct
    for choice in source.choices:
        assert choice.why.en in grade(asking, f"[2, 10, {choice.value}]", "en").feedback
    assert not grade(asking, "[2, 11, 256]", "en").correct


def test_a_shape_with_thousands_is_read():
    asking = made(asked()["15_cost/all_scores"], 1)
    for typed in (
        "8, 12, 1,024, 1,024",
        "8,12,1,024,1,024",
        "8 × 12 × 1024 × 1024",
        "8 12 1024 1024",
        "8x12x1024x1024",
        "８，１２，１０２４，１０２４",
    ):
        assert grade(asking, typed, "en").correct, typed
    with pytest.raises(ShapeAnswerError):
        grade(asking, "8; 12", "en")
    with pytest.raises(ShapeAnswerError):
        grade(asking, "8" + " " * 900_000 + ",", "en")


@pytest.mark.parametrize(
    ("quiz_id", "unit"),
    [
        ("01_words_into_numbers/bytes_of", " tokens"),
        ("01_words_into_numbers/bytes_of", " token"),
        ("15_cost/one_head", " MiB"),
        ("15_cost/one_head", "mib"),
        ("05_q_k_v/c_attn_parameters", "개"),
        ("12_backpropagation/loss_before_training", " nats"),
    ],
)
def test_a_unit_that_the_question_speaks_of_may_be_written(quiz_id, unit):
    asking = made(asked()[quiz_id], 3)
    typed = f"{asking.answer:.2f}{unit}"
    assert grade(asking, typed, "ko").correct
    with pytest.raises(NotANumberError):
        grade(asking, f"{asking.answer:.2f} parsecs", "ko")


def test_a_list_of_one_stands_for_what_is_in_it():
    number = made(NUMBERS[0], 5)
    assert grade(number, [f"{number.answer:.2f}"], "en").correct
    choice = made(of("choice")[0], 5)
    assert grade(choice, [choice.answer], "en").correct


def test_percent_and_fractions_are_numbers_too():
    source = next(q for q in NUMBERS if 0.2 < made(q, 5).answer < 0.9)
    asking = made(source, 5)
    assert grade(asking, f"{100 * asking.answer:.2f} %", "en").correct
    assert grade(asking, f"{asking.answer * 3000:.1f}/3000", "en").correct
    with pytest.raises(NotANumberError):
        grade(asking, "about half", "en")


def test_a_question_that_is_shared_cannot_be_changed():
    for source in (GENERATED[0], of("line")[0]):
        asking = question(source.quiz_id, 3)
        assert question(source.quiz_id, 3) is asking
        assert asking == made(source, 3)
        with pytest.raises(TypeError):
            asking.mistakes["no_scale"] = 0


def test_an_unknown_question_is_refused_with_one_that_exists():
    with pytest.raises(QuizError, match=next(iter(asked()))):
        question("no/such", 1)
