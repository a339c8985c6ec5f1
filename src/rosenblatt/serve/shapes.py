"""What requests and answers look like: the OpenAPI document is made of these."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

LARGEST = 1e12  # of a value: sums of squares stay far from the end of floats
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]
Id = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Column = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Value = Annotated[float, Field(ge=-LARGEST, le=LARGEST, allow_inf_nan=False)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=100)]
Label = Text | Annotated[int, Field(strict=True, ge=-(2**31), lt=2**31)]
Count = Annotated[int, Field(ge=0)]


class Shape(BaseModel):
    """A JSON object without other keys."""

    model_config = ConfigDict(extra="forbid")


class Example(Shape):
    """One example: features, or a message as text (as bytes, post it as message/rfc822)."""

    id: Id | None = Field(None, description="By default a digest of the message or the features.")
    features: dict[Column, Value] | None = None
    message: str | None = None


class Questions(Shape):
    """Several examples."""

    learner: Name | None = None
    items: list[Example] = Field(max_length=10_000)


class Question(Example):
    """One example for a learner: by default `mail` for messages, else `default`."""

    learner: Name | None = None


class Correction(Example):
    """The true label of an example; one in the inbox is named by its id alone."""

    label: Label


class Lessons(Shape):
    """Several corrections, stored all or none."""

    learner: Name | None = None
    items: list[Correction] = Field(max_length=10_000)


class Lesson(Correction):
    """One correction for a learner."""

    learner: Name | None = None


class Undo(Shape):
    """A correction to take back: that of this id or message, or the latest one."""

    learner: Name | None = None
    id: Id | None = None
    message: str | None = None


class Answer(Shape):
    """What the learner thinks: of two labels, positive scores are for the first of `labels`."""

    id: str
    label: Label | None
    score: float
    unsure: bool


class Answers(Shape):
    """The answers to several examples, in their order."""

    answers: list[Answer]


class Receipt(Shape):
    """A correction that is on disk, and whether it was already."""

    id: str
    seq: int
    new: bool


class Receipts(Shape):
    """Corrections that are on disk, in their order."""

    receipts: list[Receipt]


class Undone(Shape):
    """The number of the correction that was taken back."""

    seq: int


class Reason(Shape):
    """A feature, and what it adds to the score."""

    name: str
    weight: float


class Recent(Shape):
    """One of the latest examples, as the learner marks it now."""

    id: str
    at: float = Field(description="Seconds since 1970.")
    sender: str | None
    subject: str | None
    features: dict[str, float] | None
    label: Label | None
    score: float
    unsure: bool
    correction: Label | None = Field(description="The label that it was taught with.")
    reasons: list[Reason]


class Inbox(Shape):
    """The latest examples, the newest first."""

    learner: str
    kind: Literal["mail", "features"]
    labels: list[Label]
    items: list[Recent]


class Tally(Shape):
    """Corrections, and how often the learner was wrong or unsure before it learned them."""

    corrections: Count
    mistakes: Count
    unsure: Count


class Day(Tally):
    """One day, in UTC."""

    day: str


class Totals(Tally):
    """What a learner did so far. `seen` counts answers since the server began."""

    learner: str
    seen: Count
    bound: float | None = Field(description="Of the mistakes, proven; none for over two labels.")
    bound_at: Count = Field(description="The number of corrections for which it was computed.")


class Stats(Totals):
    """The totals, day by day, and as a curve: corrections, mistakes, bound."""

    days: list[Day]
    curve: list[list[float | None]]


class Made(Shape):
    """A learner to be made."""

    name: Name
    kind: Literal["mail", "features"] = "features"
    learner: Literal["OnlineSVM", "Perceptron"] = "OnlineSVM"
    options: dict[str, Any] = Field(default_factory=dict, max_length=20)
    labels: Annotated[list[Text], Field(min_length=2, max_length=2)] | None = Field(
        None, description="Names of the two marks of mail."
    )


class Model(Shape):
    """What is known of a learner."""

    name: str
    kind: Literal["mail", "features"]
    learner: str
    options: dict[str, Any]
    labels: list[Label]
    features: Count
    corrections: Count
    position: list[int] = Field(description="Undone corrections so far, last correction.")
    weights: dict[str, float] | None = Field(description="The largest, for features of names.")


class Learners(Shape):
    """All learners."""

    learners: list[Model]


class Rows(Shape):
    """Labelled rows: lists of numbers, or features by name, which are 0 where they are missing."""

    rows: list[list[Value]] | list[dict[Column, Value]] = Field(min_length=1, max_length=100_000)
    labels: list[Label] = Field(min_length=1, max_length=100_000)


class Separation(Rows):
    """Rows, and whether a hyperplane separates their labels."""

    fit_intercept: bool = True
    max_seconds: Annotated[float, Field(gt=0, le=30)] = 10.0


class Verdict(Shape):
    """The answer and its proof, which `/verify` takes back with the rows."""

    verdict: Literal["separable", "weakly separable", "inseparable", "undecided"]
    explanation: str
    coef: list[float] | None
    intercept: float | None
    columns: list[str] | None = Field(description="The names of the columns, if they have names.")
    certificate: dict[str, Any] | None


class Claim(Rows):
    """A certificate, and the rows that it is about."""

    certificate: dict[str, Any]


class Check(Shape):
    """Whether the certificate holds."""

    ok: bool
    reason: str


class Refusal(Shape):
    """What is wrong, in a sentence."""

    error: str
