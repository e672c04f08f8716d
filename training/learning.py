"""Common parts of training the networks: layers, loading crops, the schedule, checkpoints, the ONNX export.

A run may be stopped at any time and resumed; the same files, state and options give the same network.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import nn

Tensors = dict[str, torch.Tensor]
WARM_UP = 5000  # crops until the full learning rate


def block(wide: int) -> nn.Module:
    """A residual branch, (N, wide, h, w) to the same shape."""
    return nn.Sequential(
        nn.Conv2d(wide, wide, 3, padding=1, bias=False),
        nn.BatchNorm2d(wide),
        nn.ReLU(inplace=True),
        nn.Conv2d(wide, wide, 3, padding=1, bias=False),
        nn.BatchNorm2d(wide),
    )


def down(i: int, o: int, size: int = 3) -> nn.Module:
    """Downsampling, (N, i, h, w) to (N, o, h / 2, w / 2)."""
    return nn.Sequential(
        nn.Conv2d(i, o, size, stride=2, padding=size // 2, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True)
    )


def arguments(doc: str | None, rate: float) -> argparse.ArgumentParser:
    """The common arguments of every training."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("state", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("crops", type=Path, nargs="+")
    parser.add_argument("--rate", type=float, default=rate)
    parser.add_argument("--minutes", type=float, default=8, help="stop, keeping the state, after that long")
    return parser


def in_passes(parser: argparse.ArgumentParser) -> None:
    """Arguments for the length, in epochs."""
    parser.add_argument("--epochs", type=float, default=1, help="passes to make now")
    parser.add_argument("--of", type=float, default=8, help="passes of the whole schedule")


def load(files: Iterable[Path], names: Sequence[str]) -> tuple[Tensors, Tensors]:
    """The arrays of these names from all files, and the held-out last twentieth of each file."""
    parts = [np.load(f) for f in files]
    arrays = {k: [p[k] for p in parts] for k in names}
    held = {k: torch.from_numpy(np.concatenate([a[len(a) * 19 // 20 :] for a in v])) for k, v in arrays.items()}
    data = {k: torch.from_numpy(np.concatenate([a[: len(a) * 19 // 20] for a in v])) for k, v in arrays.items()}
    return data, held


class Training:
    """One network in training, resumed from ``state`` if that file exists. ``begin`` may initialise a new network."""

    def __init__(
        self,
        make: Callable[[], nn.Module],
        rate: float,
        state: Path,
        *,
        begin: Callable[[nn.Module], None] | None = None,
    ) -> None:
        torch.manual_seed(1)
        self.start = time.time()
        self.net = make().to(memory_format=torch.channels_last)
        self.optimiser = torch.optim.AdamW(self.net.parameters(), lr=rate, weight_decay=0.01)
        self.rate, self.state, self.done = rate, state, 0
        if begin is not None:
            begin(self.net)
        if state.exists():
            saved = torch.load(state, weights_only=False)
            self.net.load_state_dict(saved["net"])
            self.optimiser.load_state_dict(saved["optimiser"])
            self.done = saved["done"]

    def say(self, x: torch.Tensor) -> torch.Tensor:
        """The network's output in training."""
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out = self.net(x)
        return out.float()

    def run(
        self,
        loss_of_rows: Callable[[torch.Tensor, np.random.Generator], torch.Tensor],
        crops: int,
        *,
        size: int,
        until: int,
        total: int,
        minutes: float,
        shown: Mapping[int, Callable[[], str]] | None = None,
    ) -> None:
        """Train on batches of ``size`` out of ``crops`` until ``until`` were seen, of a schedule of ``total``;
        ``shown`` is the text to print, and every how many batches."""
        rng = np.random.default_rng(self.done + 7)
        step = 0
        while self.done < min(until, total) and time.time() - self.start < minutes * 60:
            rows = torch.from_numpy(rng.integers(0, crops, size))
            part = min(1.0, self.done / WARM_UP + 0.05) * (0.5 + 0.5 * np.cos(np.pi * self.done / total))
            for group in self.optimiser.param_groups:
                group["lr"] = self.rate * part + 1e-5
            loss = loss_of_rows(rows, rng)
            self.optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.net.parameters(), 5.0)
            self.optimiser.step()
            self.done += size
            step += 1
            if step % 100 == 0:
                print(f"{self.done} of {total} loss {loss.item():.3f} {time.time() - self.start:.0f}s", flush=True)
            for every, text in (shown or {}).items():
                if step % every == 0:
                    print(text(), flush=True)

    def run_passes(
        self,
        loss_of_rows: Callable[[torch.Tensor, np.random.Generator], torch.Tensor],
        crops: int,
        options: argparse.Namespace,
        *,
        size: int,
        shown: Mapping[int, Callable[[], str]],
    ) -> None:
        """`run` for the length given by the arguments of `in_passes`."""
        until, total = self.done + int(options.epochs * crops), int(options.of * crops)
        self.run(loss_of_rows, crops, size=size, until=until, total=total, minutes=options.minutes, shown=shown)

    def save(self, out: Path, shape: tuple[int, ...], name: str) -> None:
        """Save the checkpoint, and the network as ONNX, with an input ``name`` of ``shape`` (or a batch of N)."""
        saved = {"net": self.net.state_dict(), "optimiser": self.optimiser.state_dict(), "done": self.done}
        torch.save(saved, self.state)
        self.net.eval()
        torch.onnx.export(
            self.net.to(memory_format=torch.contiguous_format),
            torch.zeros(1, *shape),
            str(out),
            input_names=[name],
            output_names=["said"],
            dynamic_axes={name: {0: "n"}, "said": {0: "n"}},
            dynamo=False,
        )
