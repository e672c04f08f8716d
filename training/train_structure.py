"""Train the network that reads what every edition shares (needs PyTorch and onnx, which bastide itself does not).

``python -m training.make_crops CROPS.npz 36000 SEED`` for some seeds, then
``python -m training.train_structure STATE.pt OUT.onnx CROPS.npz... --epochs N [--of M]``; run again with the same
STATE to go on. The last twentieth of every file is held out and only measured. The network in ``vision/models`` saw
the seeds 11 to 14, 36000 crops each of boxes without goods (this folder at d22e258), with ``--of 2.944``, and went on
from there (``--start``) with the seeds 21 to 24, 24000 crops each, ``--rate 1.2e-3 --epochs 3 --of 3``.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from torch import nn

from vision.structure import CROP_PX, OUTPUTS, PAIRS

WIDTHS = (20, 40, 72, 112)


def block(wide: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(wide, wide, 3, padding=1, bias=False),
        nn.BatchNorm2d(wide),
        nn.ReLU(inplace=True),
        nn.Conv2d(wide, wide, 3, padding=1, bias=False),
        nn.BatchNorm2d(wide),
    )


class Net(nn.Module):
    """(N, 3, CROP_PX, CROP_PX) BGR 0 .. 1 to (N, OUTPUTS)."""

    def __init__(self) -> None:
        super().__init__()
        a, b, c, d = WIDTHS

        def down(i: int, o: int, size: int = 3) -> nn.Module:
            return nn.Sequential(
                nn.Conv2d(i, o, size, stride=2, padding=size // 2, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True)
            )

        self.d1, self.b1 = down(3, a, 5), block(a)
        self.d2, self.b2 = down(a, b), block(b)
        self.d3, self.b3 = down(b, c), block(c)
        self.d4, self.b4 = down(c, d), block(d)
        self.squeeze = nn.Sequential(nn.Conv2d(d, 40, 1, bias=False), nn.BatchNorm2d(40), nn.ReLU(inplace=True))
        last = CROP_PX // 16
        self.head = nn.Sequential(
            nn.Flatten(),
            nn.Dropout(0.1),
            nn.Linear(40 * last * last, 192),
            nn.ReLU(inplace=True),
            nn.Linear(192, OUTPUTS),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x - x.mean(dim=(2, 3), keepdim=True) * 0.5 - 0.25
        for down, near in ((self.d1, self.b1), (self.d2, self.b2), (self.d3, self.b3), (self.d4, self.b4)):
            x = down(x)
            x = F.relu(x + near(x))
        return self.head(self.squeeze(x))


def loss_of(out: torch.Tensor, truth: torch.Tensor, offset: torch.Tensor) -> torch.Tensor:
    """Sum of what every answer costs, unasked questions left out."""
    sides = F.cross_entropy(out[:, :16].reshape(-1, 4), truth[:, :4].reshape(-1).long(), ignore_index=-1)
    binary, asked = truth[:, 4:], truth[:, 4:] >= 0
    each = F.binary_cross_entropy_with_logits(out[:, 16 : 16 + binary.shape[1]], binary.clamp(0, 1), reduction="none")
    n = len(PAIRS)
    parts = [each[:, k][asked[:, k]].mean() for k in (slice(0, n), slice(n, 2 * n), 2 * n, 2 * n + 1, 2 * n + 2)]
    known = ~offset.isnan()
    moved = F.smooth_l1_loss(out[:, -8:][known], offset[known], beta=0.02)
    return 2 * sides + parts[0] + parts[1] + parts[2] + 1.5 * parts[3] + 0.5 * parts[4] + 4 * moved


@torch.no_grad()
def measure(net: Net, x: torch.Tensor, truth: torch.Tensor, offset: torch.Tensor) -> str:
    net.eval()
    out = torch.cat([net(part.float() / 255) for part in x.split(512)])
    read = truth[:, 0] >= 0
    sides = (out[:, :16].reshape(-1, 4, 4).argmax(2) == truth[:, :4])[read]
    binary, asked = out[:, 16:-8] > 0, truth[:, 4:] >= 0
    n = len(PAIRS)
    names = {
        "towns": slice(0, n),
        "roads": slice(n, 2 * n),
        "cloister": slice(2 * n, 2 * n + 1),
        "pennant": slice(2 * n + 1, 2 * n + 2),
        "present": slice(2 * n + 2, 2 * n + 3),
    }
    said = [f"sides {sides.float().mean():.4f} all four {sides.all(1).float().mean():.4f}"]
    for name, part in names.items():
        said.append(f"{name} {(binary[:, part] == truth[:, 4:][:, part].bool())[asked[:, part]].float().mean():.4f}")
    known = ~offset.isnan()
    said.append(f"corners {(out[:, -8:][known] - offset[known]).abs().mean():.4f}")
    net.train()
    return " ".join(said)


def start_from(net: Net, file: Path) -> None:
    """Take the weights of a network that was written earlier.

    Its normalisations were folded into its convolutions, so those of ``net`` become fixed ones that change nothing.
    """
    model = onnx.load(str(file))
    held = {i.name: torch.from_numpy(onnx.numpy_helper.to_array(i).copy()) for i in model.graph.initializer}
    layers = [[held[name] for name in node.input[1:]] for node in model.graph.node if node.op_type in ("Conv", "Gemm")]
    convolutions, norms, linear = (
        [m for m in net.modules() if isinstance(m, what)] for what in (nn.Conv2d, nn.BatchNorm2d, nn.Linear)
    )
    with torch.no_grad():
        for layer, (weight, bias) in zip([*norms, *linear], layers, strict=True):
            layer.bias.copy_(bias)
            if isinstance(layer, nn.Linear):
                layer.weight.copy_(weight)
        for convolution, norm, (weight, _) in zip(convolutions, norms, layers, strict=False):
            convolution.weight.copy_(weight)
            norm.weight.fill_(1.0)
            norm.running_mean.zero_()
            norm.running_var.fill_(1.0 - norm.eps)


def fix_norms(net: Net) -> None:
    for module in net.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.eval()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("state", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("crops", type=Path, nargs="+")
    parser.add_argument("--epochs", type=float, default=1, help="passes to make now")
    parser.add_argument("--of", type=float, default=8, help="passes of the whole schedule")
    parser.add_argument("--rate", type=float, default=2.5e-3)
    parser.add_argument("--start", type=Path, help="a network (ONNX) to go on from; its normalisations stay fixed")
    parser.add_argument("--minutes", type=float, default=8, help="stop, keeping the state, after that long")
    options = parser.parse_args()
    torch.manual_seed(1)
    start = time.time()
    net = Net().to(memory_format=torch.channels_last)
    optimiser = torch.optim.AdamW(net.parameters(), lr=options.rate, weight_decay=0.01)
    done = 0
    if options.start is not None:
        start_from(net, options.start)
    if options.state.exists():
        saved = torch.load(options.state, weights_only=False)
        net.load_state_dict(saved["net"])
        optimiser.load_state_dict(saved["optimiser"])
        done = saved["done"]
    parts = [np.load(f) for f in options.crops]
    arrays = {k: [p[k] for p in parts] for k in ("crops", "truths", "offsets")}
    held = {k: torch.from_numpy(np.concatenate([a[len(a) * 19 // 20 :] for a in v])) for k, v in arrays.items()}
    data = {k: torch.from_numpy(np.concatenate([a[: len(a) * 19 // 20] for a in v])) for k, v in arrays.items()}
    del parts, arrays
    every = data["crops"].shape[0]
    held_x = held["crops"].permute(0, 3, 1, 2)
    size, total, stop = 96, int(options.of * every), done + int(options.epochs * every)
    rng = np.random.default_rng(done + 7)
    step = 0
    while done < min(stop, total) and time.time() - start < options.minutes * 60:
        rows = torch.from_numpy(rng.integers(0, every, size))
        for group in optimiser.param_groups:
            group["lr"] = (
                options.rate * min(1.0, done / 5000 + 0.05) * (0.5 + 0.5 * np.cos(np.pi * done / total)) + 1e-5
            )
        x = data["crops"][rows].permute(0, 3, 1, 2).float() / 255
        if options.start is not None:
            fix_norms(net)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out = net(x)
        loss = loss_of(out.float(), data["truths"][rows], data["offsets"][rows])
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimiser.step()
        done += size
        step += 1
        if step % 100 == 0:
            print(f"{done} of {total} loss {loss.item():.3f} {time.time() - start:.0f}s", flush=True)
        if step % 600 == 0:
            print(measure(net, held_x[:1500], held["truths"][:1500], held["offsets"][:1500]), flush=True)
    print(measure(net, held_x, held["truths"], held["offsets"]), flush=True)
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
