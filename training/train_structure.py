"""Train the network that reads what every edition shares (needs PyTorch and onnx, which bastide itself does not).

``python -m training.make_crops CROPS.npz 36000 SEED`` for some seeds, then
``python -m training.train_structure STATE.pt OUT.onnx CROPS.npz... --epochs N [--of M]``; run again with the same
STATE to go on. The last twentieth of every file is held out and only measured. The network in ``vision/models`` saw
the seeds 11 to 14, 36000 crops each of boxes without goods (this folder at d22e258), with ``--of 2.944``, and went on
from there (``--start``) with the seeds 21 to 24, 24000 crops each, ``--rate 1.2e-3 --epochs 3 --of 3``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from torch import nn

from training.learning import Training, arguments, block, down, in_passes, load
from vision.structure import CROP_PX, OUTPUTS, PAIRS

WIDTHS = (20, 40, 72, 112)


class Net(nn.Module):
    """(N, 3, CROP_PX, CROP_PX) BGR 0 .. 1 to (N, OUTPUTS)."""

    def __init__(self) -> None:
        super().__init__()
        a, b, c, d = WIDTHS

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
        for halved, near in ((self.d1, self.b1), (self.d2, self.b2), (self.d3, self.b3), (self.d4, self.b4)):
            x = halved(x)
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
def measure(net: nn.Module, x: torch.Tensor, truth: torch.Tensor, offset: torch.Tensor) -> str:
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


def start_from(net: nn.Module, file: Path) -> None:
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


def fix_norms(net: nn.Module) -> None:
    for module in net.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.eval()


def main() -> int:
    parser = arguments(__doc__, rate=2.5e-3)
    in_passes(parser)
    parser.add_argument("--start", type=Path, help="a network (ONNX) to go on from; its normalisations stay fixed")
    options = parser.parse_args()
    start: Path | None = options.start
    training = Training(Net, options.rate, options.state, begin=start and (lambda net: start_from(net, start)))
    data, held = load(options.crops, ("crops", "truths", "offsets"))
    held["crops"] = held["crops"].permute(0, 3, 1, 2)

    def loss(rows: torch.Tensor, rng: np.random.Generator) -> torch.Tensor:
        if start is not None:
            fix_norms(training.net)
        out = training.say(data["crops"][rows].permute(0, 3, 1, 2).float() / 255)
        return loss_of(out, data["truths"][rows], data["offsets"][rows])

    def measured(most: int | None = None) -> str:
        return measure(training.net, held["crops"][:most], held["truths"][:most], held["offsets"][:most])

    every = len(data["crops"])
    until = training.done + int(options.epochs * every)
    training.run(loss, every, size=96, until=until, total=int(options.of * every), minutes=options.minutes,
                 shown={600: lambda: measured(1500)})
    print(measured(), flush=True)
    training.save(options.out, (3, CROP_PX, CROP_PX), "crop")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
