"""Extensions of click: modules that load on demand, several words after one flag, and suggestions for typos."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from pkgutil import resolve_name
from typing import Any, get_args

import click
from click.shell_completion import CompletionItem

from scalestudy.errors import UserError
from scalestudy.record.files import failed


class LazyGroup(click.Group):
    """A group of commands, each a `module:attribute` that is imported when the command is called or listed."""

    def __init__(
        self,
        *,
        commands: Mapping[str, str],
        elsewhere: Mapping[str, str],
        hidden: Mapping[str, str] | None = None,
        **settings: Any,
    ) -> None:
        """Create a group. elsewhere: names in other groups -> how to call them, only for suggestions.

        hidden: commands that can be called but are not listed.
        """
        super().__init__(**settings)
        self.listed, self.elsewhere = commands, elsewhere
        self.known = {**commands, **(hidden or {})}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.listed)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.known:
            return None
        command: click.Command = resolve_name(self.known[cmd_name])
        command.name = cmd_name
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        word = args[0]
        if word not in self.known and not word.startswith("-") and not ctx.resilient_parsing:
            meant = {**self.elsewhere, **{name: f"{ctx.command_path} {name}" for name in self.listed}}
            near = [word] if word in meant else get_close_matches(word, meant, n=1)
            advice = f"did you mean `{meant[near[0]]}`?" if near else f"the commands are {', '.join(self.listed)}"
            raise click.UsageError(f"no command {word}; {advice}", ctx)
        return super().resolve_command(ctx, args)


class Several(click.Option):
    """An option that takes several words (`--scales 1x2 1x4`) and may be repeated; its value is a tuple."""

    def __init__(
        self,
        param_decls: Sequence[str] | None = None,
        *,
        more: Callable[[str], bool] = lambda word: True,
        **settings: Any,
    ) -> None:
        """Create an option. more: whether a second or later word belongs to the option, not to the command."""
        super().__init__(param_decls, multiple=True, **settings)
        self.more = more


class Verb(click.Command):
    """A command with options that take several words; it reports bad input without a traceback."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        several = {
            name: option for option in self.get_params(ctx) if isinstance(option, Several) for name in option.opts
        }
        try:
            return super().parse_args(ctx, repeated(args, several))
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except UserError as error:
            raise click.UsageError(str(error), ctx) from None
        except OSError as error:
            if error.filename is None:  # perhaps of the output
                raise
            raise click.UsageError(failed(error), ctx) from None


def repeated(words: Iterable[str], several: Mapping[str, Several]) -> list[str]:
    """Return the words with the flag repeated before each further word of an option: --a x y -> --a x --a y."""
    made: list[str] = []
    flag: str | None = None  # the option whose words may follow
    waiting, ended = False, False
    for word in words:
        ended = ended or word == "--"
        if ended or (word.startswith("-") and not waiting):
            flag = word if word in several and not ended else None
            waiting = flag is not None
        elif waiting:
            waiting = False
        elif flag and several[flag].more(word):
            made.append(flag)
        else:
            flag = None
        made.append(word)
    return made


class LazyChoice(click.ParamType):
    """One of the names in a mapping or Literal of a module, which is imported when a name is given."""

    name = "word"

    def __init__(self, place: str) -> None:
        """place: `module:attribute`."""
        self.place = place

    def words(self) -> list[str]:
        found = resolve_name(self.place)
        return list(get_args(found) or found)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        words = self.words()
        if value not in words:
            near = get_close_matches(value, words, n=1)
            advice = f"did you mean {near[0]}?" if near else f"not one of {', '.join(words)}"
            self.fail(f"{value}: {advice}", param, ctx)
        return value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(word) for word in self.words() if word.startswith(incomplete)]
