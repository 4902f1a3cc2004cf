"""Arguments, exit codes and the one record that every ending sends."""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from planner.domain.errors import ExitCode, InputError, PlannerError, ProbeError
from planner.domain.probe import ProbeKind
from probes.device import run_device
from probes.device_options import DeviceOptions
from probes.endpoint.options import EndpointOptions
from probes.lifeline import Interrupted, InterruptGuard, watch_stdin
from probes.machine import run_machine
from probes.session import Emitter, EndedBy, RefusalError, Session, Status, private_stdout

Run = Callable[[Session, InterruptGuard], tuple[Status, EndedBy]]


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message[:1].upper()}{message[1:]}.", f"See `{self.prog} --help`.")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one probe as this process's job; return its exit code."""
    return execute(argv, Emitter(private_stdout()), own_process=True)


def execute(argv: Sequence[str] | None, emitter: Emitter, *, own_process: bool) -> int:
    """Run one probe and return its exit code (0, 2 refused before loading, 4 failed, 130 interrupted).

    Only in its `own_process` does it watch stdin and take over the signals.
    """
    try:
        args = _parser().parse_args(argv)
        kind: ProbeKind = args.command
        run = _RUNS[kind](args)
    except PlannerError as error:
        emitter.emit("error", code=getattr(error, "code", "input"), message=error.message, hint=error.hint)
        return int(error.exit_code)
    watch = own_process and not args.no_stdin_watch
    return run_probe(kind, run, emitter, own_process=own_process, watch=watch)


def run_probe(kind: ProbeKind, run: Run, emitter: Emitter, *, own_process: bool, watch: bool = False) -> int:
    """Run a probe under the interrupt guard; every ending after the start sends a record."""
    session = Session(kind, emitter)

    def last_words() -> None:
        session.finish("cancelled", "user")

    guard = InterruptGuard(last_words)
    if own_process:
        guard.install()
    if watch:
        watch_stdin(guard)
    code = ExitCode.OK
    status: Status = "failed"
    ended_by: EndedBy = "error"
    try:
        status, ended_by = run(session, guard)
        if status == "failed":
            code = ExitCode.PROBE_FAILED
    except (RefusalError, InputError) as error:
        details = error.details if isinstance(error, RefusalError) else {}
        session.error(getattr(error, "code", "input"), error.message, error.hint, **details)
        return int(ExitCode.WRONG_INPUT)
    except Interrupted:
        status, ended_by, code = "cancelled", "user", ExitCode.INTERRUPTED
    except ProbeError as error:
        session.error(getattr(error, "code", "failed"), error.message, error.hint)
        code = ExitCode.PROBE_FAILED
    except Exception as error:
        traceback.print_exc(file=sys.stderr)
        session.error("internal", f"The probe broke: {type(error).__name__}: {error}")
        code = ExitCode.PROBE_FAILED
    guard.delivering.set()
    session.finish(status, ended_by)
    return int(code)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m probes", description="Measure, and print one JSON object a line.")
    common = _Parser(add_help=False)
    common.add_argument("--no-stdin-watch", action="store_true", help="go on when stdin reaches its end")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    _device_arguments(commands.add_parser("device", parents=[common], help="a GGUF model on this machine"))
    _endpoint_arguments(commands.add_parser("endpoint", parents=[common], help="an OpenAI-compatible server"))
    machine = commands.add_parser("machine", parents=[common], help="facts of this machine")
    machine.add_argument("--bandwidth", action="store_true", help="also measure the memory bandwidth")
    return parser


def _device_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", type=Path, required=True, metavar="FILE.gguf")
    parser.add_argument("--model-id", metavar="ID", help="id of this model in the profiles")
    parser.add_argument("--prompts", type=_lengths, default=(), metavar="N,N", help="prompt lengths")
    parser.add_argument("--depths", type=_lengths, default=(), metavar="N,N", help="decode depths")
    parser.add_argument("--threads", type=int, metavar="N")
    parser.add_argument("--gpu-layers", type=int, default=-1, metavar="N", help="-1 = all")
    parser.add_argument("--kv-quant", default="f16", metavar="TYPE")
    parser.add_argument("--no-flash-attention", action="store_true")
    parser.add_argument("--batch", type=int, default=2048, metavar="N")
    parser.add_argument("--ubatch", type=int, default=512, metavar="N")
    parser.add_argument("--precision", type=float, default=0.03, metavar="F", help="stop at ± this fraction")
    parser.add_argument("--max-seconds", type=float, default=40.0, metavar="S")
    parser.add_argument("--seed", type=int, metavar="N")
    parser.add_argument("--no-machine", action="store_true", help="skip the memory bandwidth")
    parser.add_argument("--verbose", action="store_true", help="the engine's log on stderr")


def _endpoint_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("base_url", metavar="BASE_URL", help="such as http://127.0.0.1:8000/v1")
    parser.add_argument("--model", required=True, metavar="NAME")
    parser.add_argument("--prompts", type=_lengths, default=(128, 1024), metavar="N,N", help="prompt lengths")
    parser.add_argument("--output", type=int, default=64, metavar="N", help="tokens to ask for")
    parser.add_argument("--concurrency", type=_lengths, default=(1, 4), metavar="N,N")
    parser.add_argument("--quant", default="as served", metavar="Q", help="what the server runs, if known")
    parser.add_argument("--engine", metavar="NAME", help="what the server is, if known")
    parser.add_argument("--key-env", metavar="NAME", help="environment variable that holds the key")
    parser.add_argument("--yes", action="store_true", help="agree to the cost")
    parser.add_argument("--max-usd", type=float, metavar="X")
    parser.add_argument("--usd-per-mtok-in", type=float, metavar="X")
    parser.add_argument("--usd-per-mtok-out", type=float, metavar="X")
    parser.add_argument("--max-seconds", type=float, default=60.0, metavar="S")
    parser.add_argument("--timeout", type=float, default=30.0, metavar="S", help="longest wait for one reply")
    parser.add_argument("--seed", type=int, metavar="N")


def _lengths(text: str) -> tuple[int, ...]:
    """Parse `128,512` into distinct lengths; raises ValueError, which argparse turns into a message."""
    return tuple(dict.fromkeys(int(part) for part in text.split(",")))


def _device_run(args: argparse.Namespace) -> Run:
    options = DeviceOptions(
        model=args.model,
        model_id=args.model_id,
        prompts=args.prompts,
        depths=args.depths,
        threads=args.threads,
        gpu_layers=args.gpu_layers,
        kv_quant=args.kv_quant,
        flash_attention=not args.no_flash_attention,
        n_batch=args.batch,
        n_ubatch=args.ubatch,
        precision=args.precision,
        max_seconds=args.max_seconds,
        seed=args.seed,
        machine=not args.no_machine,
        verbose=args.verbose,
    )
    return lambda session, guard: run_device(options, session, guard)


def _endpoint_run(args: argparse.Namespace) -> Run:
    from probes.endpoint.run import run_endpoint  # noqa: PLC0415 - the HTTP client takes a second to import

    options = EndpointOptions(
        base_url=args.base_url,
        model=args.model,
        prompts=args.prompts,
        output_tokens=args.output,
        concurrency=args.concurrency,
        quant=args.quant,
        engine=args.engine,
        key_env=args.key_env,
        yes=args.yes,
        max_usd=args.max_usd,
        usd_per_mtok_in=args.usd_per_mtok_in,
        usd_per_mtok_out=args.usd_per_mtok_out,
        max_seconds=args.max_seconds,
        timeout_s=args.timeout,
        seed=args.seed,
    )
    return lambda session, guard: run_endpoint(options, session, guard)


def _machine_run(args: argparse.Namespace) -> Run:
    return lambda session, guard: run_machine(session, guard, bandwidth=args.bandwidth)


_RUNS: dict[str, Callable[[argparse.Namespace], Run]] = {
    "device": _device_run,
    "endpoint": _endpoint_run,
    "machine": _machine_run,
}
