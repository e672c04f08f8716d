"""Train the network that finds inns, cathedrals and goods (needs PyTorch and onnx, which bastide itself does not).

``python -m training.make_sign_crops CROPS.npz COUNT SEED`` for some seeds, then
``python -m training.train_signs STATE.pt OUT.onnx CROPS.npz... --epochs N``; run again with the same STATE to go on.
The last twentieth of every file is held out and only measured. The network in ``vision/models`` has seen the seeds
31 and 32, 20000 crops each, with ``--epochs 5 --of 5``.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from vision.signs import CELLS, CROP_PX, MARGIN, SIGNS

WIDTHS = (24, 40, 72)
CORE = 0.55  # of a sign's half width: cells nearer to its middle must say it; those of the rest may say what they like


def block(wide: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(wide, wide, 3, padding=1, bias=False),
        nn.BatchNorm2d(wide),
        nn.ReLU(inplace=True),
        nn.Conv2d(wide, wide, 3, padding=1, bias=False),
        nn.BatchNorm2d(wide),
    )


class Net(nn.Module):
    """(N, 3, CROP_PX, CROP_PX) BGR 0 .. 1 to logits (N, SIGNS, CELLS, CELLS)."""

    def __init__(self) -> None:
        super().__init__()
        a, b, c = WIDTHS

        def down(i: int, o: int, size: int) -> nn.Module:
            return nn.Sequential(
                nn.Conv2d(i, o, size, stride=2, padding=size // 2, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True)
            )

        self.d1, self.d2, self.b2 = down(3, a, 5), down(a, b, 3), block(b)
        self.d3, self.b3, self.b4 = down(b, c, 3), block(c), block(c)
        self.last = nn.Conv2d(c, len(SIGNS), 1)
        nn.init.constant_(self.last.bias, -4.0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x - x.mean(dim=(2, 3), keepdim=True) * 0.5 - 0.25
        x = self.d2(self.d1(x))
        x = self.d3(F.relu(x + self.b2(x)))
        x = F.relu(x + self.b3(x))
        return self.last(F.relu(x + self.b4(x)))


def targets(places: torch.Tensor) -> torch.Tensor:
    """(N, SIGNS, CELLS, CELLS) 1 at a sign's core, -1 on the rest of it, 0 elsewhere, of (N, SIGNS, 3) places."""
    step = (1 + 2 * MARGIN) / CELLS
    middles = (torch.arange(CELLS) + 0.5) * step - MARGIN
    far = torch.hypot(
        middles[None, None, None, :] - places[..., 0, None, None],
        middles[None, None, :, None] - places[..., 1, None, None],
    )
    half = places[..., 2, None, None]
    out = torch.where(far < half * 1.5, -1.0, 0.0)  # comparisons with a missing sign's NaN are false
    out = torch.where(far < torch.clamp(half * CORE, min=0.75 * step), 1.0, out)
    return out


def loss_of(out: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """Focal loss of the cells, and cross-entropy of each sign's best cell."""
    truth = targets(places)
    each = F.binary_cross_entropy_with_logits(out, truth.clamp(0, 1), reduction="none")
    p = torch.sigmoid(out)
    hard = torch.where(truth > 0, 1 - p, p) ** 2 * (truth >= 0)
    cells = (hard * each).sum() / (truth > 0).sum().clamp(min=1)
    has = (~places[..., 0].isnan()).float()
    return cells + 2 * F.binary_cross_entropy_with_logits(out.amax(dim=(2, 3)), has)


@torch.no_grad()
def measure(net: Net, x: torch.Tensor, places: torch.Tensor) -> str:
    net.eval()
    best = torch.cat([net(part.permute(0, 3, 1, 2).float() / 255).amax(dim=(2, 3)) for part in x.split(256)])
    net.train()
    has = ~places[..., 0].isnan()
    said = []
    for n, name in enumerate(SIGNS):
        loss = F.binary_cross_entropy_with_logits(best[:, n], has[:, n].float())
        hit, false = (best[:, n] > 0)[has[:, n]].float().mean(), (best[:, n] > 0)[~has[:, n]].float().mean()
        said.append(f"{name} {hit:.3f} false {false:.4f} loss {loss:.3f}")
    return ", ".join(said)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("state", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("crops", type=Path, nargs="+")
    parser.add_argument("--epochs", type=float, default=1, help="passes to make now")
    parser.add_argument("--of", type=float, default=8, help="passes of the whole schedule")
    parser.add_argument("--rate", type=float, default=2.5e-3)
    parser.add_argument("--minutes", type=float, default=8, help="stop, keeping the state, after that long")
    options = parser.parse_args()
    torch.manual_seed(1)
    start = time.time()
    net = Net().to(memory_format=torch.channels_last)
    optimiser = torch.optim.AdamW(net.parameters(), lr=options.rate, weight_decay=0.01)
    done = 0
    if options.state.exists():
        saved = torch.load(options.state, weights_only=False)
        net.load_state_dict(saved["net"])
        optimiser.load_state_dict(saved["optimiser"])
        done = saved["done"]
    parts = [np.load(f) for f in options.crops]
    arrays = {k: [p[k] for p in parts] for k in ("crops", "places")}
    held = {k: torch.from_numpy(np.concatenate([a[len(a) * 19 // 20 :] for a in v])) for k, v in arrays.items()}
    data = {k: torch.from_numpy(np.concatenate([a[: len(a) * 19 // 20] for a in v])) for k, v in arrays.items()}
    del parts, arrays
    every = data["crops"].shape[0]
    size, total, stop = 64, int(options.of * every), done + int(options.epochs * every)
    rng = np.random.default_rng(done + 7)
    step = 0
    while done < min(stop, total) and time.time() - start < options.minutes * 60:
        rows = torch.from_numpy(rng.integers(0, every, size))
        for group in optimiser.param_groups:
            group["lr"] = (
                options.rate * min(1.0, done / 5000 + 0.05) * (0.5 + 0.5 * np.cos(np.pi * done / total)) + 1e-5
            )
        x = data["crops"][rows].permute(0, 3, 1, 2).float() / 255
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out = net(x)
        loss = loss_of(out.float(), data["places"][rows])
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimiser.step()
        done += size
        step += 1
        if step % 100 == 0:
            print(f"{done} of {total} loss {loss.item():.3f} {time.time() - start:.0f}s", flush=True)
        if step % 400 == 0:
            print(measure(net, held["crops"][:1500], held["places"][:1500]), flush=True)
    print(measure(net, held["crops"], held["places"]), flush=True)
    torch.save({"net": net.state_dict(), "optimiser": optimiser.state_dict(), "done": done}, options.state)
    net.eval()
    torch.onnx.export(
        net,
        torch.zeros(1, 3, CROP_PX, CROP_PX),
        str(options.out),
        input_names=["crop"],
        output_names=["said"],
        dynamic_axes={"crop": {0: "n"}, "said": {0: "n"}},
        dynamo=False,
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
