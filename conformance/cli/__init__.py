"""The `forkproof` command. Subcommands are imported when they are used: start-up stays under 0.25 CPU-seconds.

Exit codes (design section 6): 0 ok, 1 failures, 2 incomplete, 3 usage, 4 a fault of forkproof itself. A command ends
with another code than 0 by `sys.exit(code)`. No traceback reaches a user.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

from forkproof.conformance.cli.wording import fail

__all__ = ["COMMANDS", "INTERNAL", "USAGE", "LazyGroup", "Subcommand", "main"]

USAGE = 3
"""Exit code: what was asked for makes no sense."""
INTERNAL = 4
"""Exit code: a fault of forkproof itself."""

_INTERRUPTED = 130

_EXAMPLES = """\b
Examples:
  forkproof run reference               the contract can be met: all traces on the reference
  forkproof harness install codex       put a real harness in place
  forkproof run codex --out out/codex   certify it, clause by clause
  forkproof explain CUT-1               what a clause asks, and which traces prove it
  forkproof lint my-traces              are these traces well made?
"""


@dataclass(frozen=True, slots=True)
class Subcommand:
    """A subcommand that is not imported yet: where it is (`module:attribute`) and one line about it."""

    target: str
    summary: str

    def load(self) -> click.Command:
        """Import it."""
        module, _, attribute = self.target.partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command


_HERE = "forkproof.conformance.cli"

COMMANDS: Mapping[str, Subcommand] = {
    "run": Subcommand(f"{_HERE}.run:run", "Play the traces on a harness and judge its forks."),
    "rejudge": Subcommand(f"{_HERE}.rejudge:rejudge", "Judge a recorded run again, without the harness."),
    "publish": Subcommand(f"{_HERE}.publish:publish", "Keep a run for others, compressed and with all explained."),
    "findings": Subcommand(f"{_HERE}.findings:findings", "Renew the page of what the published runs found."),
    "list": Subcommand(f"{_HERE}.listing:listing", "List harnesses, traces, clauses or mutants."),
    "explain": Subcommand(f"{_HERE}.explain:explain", "Explain a clause, a check, a code or a word of the language."),
    "lint": Subcommand(f"{_HERE}.lint:lint", "Check traces without playing them."),
    "selftest": Subcommand(f"{_HERE}.selftest:selftest", "Play the traces on broken references: are the faults found?"),
    "trace": Subcommand(f"{_HERE}.trace:trace", "Write traces: fill in what the reference does."),
    "schema": Subcommand(f"{_HERE}.schema:schema", "Print a JSON Schema."),
    "baseline": Subcommand(f"{_HERE}.baseline:baseline", "Keep the known deviations of a harness in step."),
    "adapter": Subcommand(f"{_HERE}.adapter:adapter", "Write an adapter in any language, and check it."),
    "harness": Subcommand(f"{_HERE}.harness:harness", "Install a harness, or find out why it does not run."),
}
"""Every subcommand by name, in the order of the help page."""


class LazyGroup(click.Group):
    """A group whose subcommands are imported on use, and whose errors are one line and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, without importing anything."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the subcommand of this name; None if there is none."""
        del ctx
        return COMMANDS[cmd_name].load() if cmd_name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the subcommand. Raises a usage error with the nearest name for an unknown one."""
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in COMMANDS:
            close = get_close_matches(name, COMMANDS, n=1)
            hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(COMMANDS)}"
            raise click.UsageError(f"no such command: {name}; {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of subcommands, from their summaries alone."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.summary) for name, command in COMMANDS.items()])

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run, and end the process: every error is one line on standard error and an exit code."""
        extra.setdefault("prog_name", "forkproof")
        run: Callable[..., Any] = super().main
        try:
            result = run(*args, standalone_mode=False, **extra)
            if not standalone_mode:
                return result
        except click.ClickException as error:
            if type(error).__name__ == "NoArgsIsHelpError":
                # click's way to show a group's help page; newer versions only, so known by its name.
                click.echo(error.format_message(), err=True)
                sys.exit(USAGE)
            fail(_one_line(error), USAGE)
        except click.Abort:
            fail("interrupted", _INTERRUPTED)
        except Exception as error:  # the last resort: no traceback reaches a user
            if os.environ.get("FORKPROOF_DEBUG"):
                raise
            fail(_fault(error), INTERNAL)
        sys.exit(result if isinstance(result, int) else 0)


def _one_line(error: click.ClickException) -> str:
    message = " ".join(error.format_message().split())
    if isinstance(error, click.UsageError) and error.ctx is not None:
        return f"{message[:1].lower()}{message[1:].rstrip('.')} (see {error.ctx.command_path} --help)"
    return message


def _fault(error: Exception) -> str:
    said = " ".join(str(error).split())
    return f"a fault of forkproof itself: {type(error).__name__}: {said} (FORKPROOF_DEBUG=1 shows where)"


@click.group(name="forkproof", cls=LazyGroup, epilog=_EXAMPLES, no_args_is_help=False, invoke_without_command=True)
@click.version_option(package_name="forkproof", prog_name="forkproof", message="%(prog)s %(version)s")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Certify what an AI agent harness really inherits when a conversation is forked."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
