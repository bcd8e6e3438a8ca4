"""Types of options: a wrong value is refused in one line that names the flag and what would be possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from protocols.cli.grouped import GPU
from seqsearch.core.errors import UserError
from seqsearch.core.limits import out_of_bounds
from seqsearch.core.text import as_sentence, did_you_mean
from seqsearch.core.typed import brief

if TYPE_CHECKING:
    Words = click.Choice[str]
    Read = click.ParamType[Any]
else:  # click 8.1, which is supported, knows no types in brackets
    Words = click.Choice
    Read = click.ParamType


class Choice(Words):
    """One of some words; of another it says which may have been meant."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """
        Raises:
            click.BadParameter: it is none of them.
        """
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            word = "cuda" if str(value).lower() in GPU else str(value)
            meant = did_you_mean(word, map(str, self.choices))
            self.fail(f"{error.message} {as_sentence(meant)}".strip(), param, ctx)


class Whole(click.IntRange):
    """A whole number between two bounds, both inclusive; its help shows them."""

    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """
        Raises:
            UserError: it is no whole number, or out of bounds.
        """
        return int(_checked(value, int, "a whole number", self, param))


class Number(click.FloatRange):
    """A number between two bounds, both inclusive; its help shows them."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """
        Raises:
            UserError: it is no number, or out of bounds.
        """
        return float(_checked(value, float, "a number", self, param))


class Measured(Read):
    """A quantity with a unit, as `seqsearch.core.units` reads it."""

    name = "quantity"

    def __init__(self, read: Callable[[Any], float]) -> None:
        self.read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """
        Raises:
            UserError: it is none, or out of bounds.
        """
        try:
            return self.read(value)
        except UserError as error:
            raise UserError(f"{_flag(param)} {error}") from None


class WholeOrText(click.types.StringParamType):
    """A whole number between two bounds, or a text that the settings evaluate."""

    name = "integer|text"

    def __init__(self, minimum: int, maximum: int) -> None:
        self.bounds = Whole(minimum, maximum)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """
        Raises:
            UserError: a number out of bounds.
        """
        whole = isinstance(value, int) or (isinstance(value, str) and value.strip().lstrip("+-").isdecimal())
        return self.bounds.convert(value, param, ctx) if whole else str(value)


def _checked(
    value: Any, kind: type, what: str, bounds: click.IntRange | click.FloatRange, param: click.Parameter | None
) -> Any:
    try:
        number = kind(value)
    except (ValueError, OverflowError):
        raise UserError(f"{_flag(param)} {brief(value)}: must be {what}") from None
    if wrong := out_of_bounds(number, bounds.min, bounds.max):
        raise UserError(f"{_flag(param)} {brief(number)}: {wrong}")
    return number


def _flag(param: click.Parameter | None) -> str:
    return param.opts[0] if param else "value"
