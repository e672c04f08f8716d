"""Train the network that detects inns, cathedrals and goods (needs PyTorch and onnx, which bastide itself does not).

``python -m training.make_sign_crops CROPS.npz COUNT SEED`` for some seeds, then
``python -m training.train_signs STATE.pt OUT.onnx CROPS.npz... --epochs N``; run again with the same STATE to resume.
The last twentieth of every file is held out for evaluation. The network in ``vision/models`` was trained on the seeds
31 and 32, 20000 crops each, with ``--epochs 5 --of 5``.
"""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from training.learning import Training, arguments, block, down, in_passes, load
from vision.signs import CELLS, CROP_PX, MARGIN, SIGNS

WIDTHS = (24, 40, 72)
CORE = 0.55  # of a sign's half width: cells closer to its centre are positives; the other cells of the sign are ignored


class Net(nn.Module):
    """(N, 3, CROP_PX, CROP_PX) BGR 0 .. 1 to logits (N, SIGNS, CELLS, CELLS)."""

    def __init__(self) -> None:
        super().__init__()
        a, b, c = WIDTHS

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
    """(N, SIGNS, CELLS, CELLS) 1 at a sign's core, -1 (ignored) on the rest of it, 0 elsewhere, from (N, SIGNS, 3)
    places."""
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
def measure(net: nn.Module, x: torch.Tensor, places: torch.Tensor) -> str:
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
    parser = arguments(__doc__, rate=2.5e-3)
    in_passes(parser)
    options = parser.parse_args()
    training = Training(Net, options.rate, options.state)
    data, held = load(options.crops, ("crops", "places"))

    def loss(rows: torch.Tensor, rng: np.random.Generator) -> torch.Tensor:
        return loss_of(training.say(data["crops"][rows].permute(0, 3, 1, 2).float() / 255), data["places"][rows])

    def measured(most: int | None = None) -> str:
        return measure(training.net, held["crops"][:most], held["places"][:most])

    training.run_passes(loss, len(data["crops"]), options, size=64, shown={400: lambda: measured(1500)})
    print(measured(), flush=True)
    training.save(options.out, (3, CROP_PX, CROP_PX), "crop")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
