"""An argument parser whose errors are one line with the nearest option, and whose help shows examples."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from planner.domain.errors import InputError, nearest

_CHOICE = re.compile(r"argument (?P<name>.+?): invalid choice: '(?P<given>.*)' \(choose from (?P<known>.*)\)", re.S)
_INVALID = re.compile(r"argument (?P<name>.+?): invalid (?P<type>\w+) value: (?P<given>.*)", re.S)
_TYPES = {"int": "a whole number", "float": "a number"}


class Parser(argparse.ArgumentParser):
    """argparse without abbreviations, with errors as InputError."""

    def __init__(self, *args: Any, examples: str = "", **kwargs: Any) -> None:
        kwargs.setdefault("allow_abbrev", False)
        kwargs.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        if examples:
            kwargs["epilog"] = "examples:\n" + "\n".join(f"  {line}" for line in examples.strip().splitlines())
        super().__init__(*args, **kwargs)

    def error(self, message: str) -> NoReturn:
        """Raise InputError in place of printing the usage."""
        text, hint = _reworded(message)
        raise InputError(text, hint or f"See `{self.prog} --help`.")


def parse(parser: Parser, arguments: Sequence[str]) -> argparse.Namespace:
    """Return the parsed arguments; raises InputError for what no command knows, naming the nearest option."""
    namespace, unknown = parser.parse_known_args(list(arguments))
    if unknown:
        raise _unknown(_deepest(parser, arguments), unknown[0])
    return namespace


def options_of(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the option strings of a parser."""
    for action in parser._actions:
        yield from action.option_strings


def _unknown(parser: argparse.ArgumentParser, word: str) -> InputError:
    name = word.split("=", 1)[0]
    if not name.startswith("-"):
        return InputError(f"Unexpected argument {name!r}.", f"See `{parser.prog} --help`.")
    hint = nearest(name, options_of(parser)) or f"See `{parser.prog} --help`."
    return InputError(f"Unknown option {name}.", hint)


def _deepest(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.ArgumentParser:
    for word in arguments:
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction) and word in action.choices:
                return _deepest(action.choices[word], arguments[list(arguments).index(word) + 1 :])
    return parser


def _reworded(message: str) -> tuple[str, str]:
    choice = _CHOICE.fullmatch(message)
    if choice:
        known = [word.strip(" '") for word in choice["known"].split(",")]
        hint = nearest(choice["given"], known) or f"Choose from: {', '.join(known)}."
        return f"{_name(choice['name'])}: there is no {choice['given']!r}.", hint
    invalid = _INVALID.fullmatch(message)
    if invalid:
        wanted = _TYPES.get(invalid["type"], invalid["type"])
        return f"{_name(invalid['name'])}: {invalid['given']} is not {wanted}.", ""
    return message[:1].upper() + message[1:].rstrip(".") + ".", ""


def _name(argument: str) -> str:
    return argument.rpartition("/")[2]
