"""`planner probe device`: a real model on this machine; builds the engine first where it is missing."""

# ruff: noqa: PLC0415 - `--help` loads neither the store nor the estimators
from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner.cli.output import Status, ask, can_ask, say
from planner.domain.errors import EnvironmentFault, InputError

if TYPE_CHECKING:
    from planner.workspace import Workspace

EXAMPLES = """\
planner probe device --model SmolLM2-135M-Instruct.Q4_1.gguf
planner probe device --model model.gguf --max-seconds 120 --gpu-layers 20
planner probe device --model model.gguf --json"""
PASSED_ON = ("model_id", "prompts", "depths", "threads", "gpu_layers", "kv_quant", "max_seconds")


def add_parser(actions: Any) -> None:
    """Add the command and its options."""
    parser = actions.add_parser(
        "device", help="a GGUF model on this machine", examples=EXAMPLES,
        description="Measures prefill and decode speed of a model file on this machine, usually in under a minute.",
    )  # fmt: skip
    parser.add_argument("--model", metavar="FILE.gguf", help="the model file to run")
    parser.add_argument("--model-id", metavar="ID", help="the model's id in the profiles, where the file is unclear")
    parser.add_argument("--prompts", metavar="N,N", help="prompt lengths in tokens")
    parser.add_argument("--depths", metavar="N,N", help="context depths for decode, in tokens")
    parser.add_argument("--threads", type=int, metavar="N", help="CPU threads (default: physical cores)")
    parser.add_argument("--gpu-layers", type=int, metavar="N", help="layers on the GPU (default: all)")
    parser.add_argument("--kv-quant", metavar="TYPE", help="KV cache type, such as f16 or q8_0")
    parser.add_argument("--max-seconds", type=float, metavar="S", help="time cap of the measurement (default: 40)")
    parser.add_argument("--yes", action="store_true", help="build what is missing without asking")
    parser.add_argument("--json", action="store_true", help="one JSON object a line; the record comes last")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Build the engine if it is missing and the person agrees, then measure."""
    from planner.cli.probe_run import measure
    from planner.workspace import Workspace

    if not arguments.model:
        raise InputError(
            "A device probe needs a model to run: --model FILE.gguf.",
            "Any GGUF file will do; small ones are measured faster.",
        )
    if not Path(arguments.model).is_file():
        raise InputError(f"--model: there is no file {arguments.model!r}.")
    workspace = Workspace()
    ensure_support(workspace, arguments.yes, f"planner probe device --model {arguments.model} --yes")
    return measure(workspace, child_arguments(arguments), arguments.json)


def child_arguments(arguments: argparse.Namespace) -> list[str]:
    """Return the arguments for the child process."""
    out = ["device", "--model", arguments.model]
    for name in PASSED_ON:
        value = getattr(arguments, name)
        if value is not None:
            # `--x=-1` and not `--x -1`, which argparse would take for another option.
            out.append(f"--{name.replace('_', '-')}={value}")
    return out


def ensure_support(workspace: Workspace, yes: bool, again: str) -> None:
    """Make sure that models can be run here; raises EnvironmentFault with the way out where they can't."""
    support = workspace.device_support()
    if support.available:
        return
    if not support.can_build:
        raise EnvironmentFault("llama-cpp-python is not installed and cannot be built here.", support.advice)
    by_hand = shlex.join(support.command)
    if not yes:
        if not can_ask():
            raise EnvironmentFault(
                f"llama-cpp-python is missing. {support.advice}", f"Run `{again}`, or build it by hand: `{by_hand}`."
            )
        if not ask(f"llama-cpp-python is missing. {support.advice} Build it now?"):
            raise EnvironmentFault("Nothing was built.", f"To build it by hand: `{by_hand}`.")
    _build(workspace)


def _build(workspace: Workspace) -> None:
    from planner.cli.probe_run import tell

    status = Status()
    try:
        for event in workspace.build_device_support():
            tell(status, event)
    finally:
        status.done()
    say("llama-cpp-python is ready")
