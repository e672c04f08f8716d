"""Train the network that measures figures (needs PyTorch and onnx, which bastide itself does not).

``python -m training.make_size_crops CUTS.npz COUNT SEED`` for some seeds, then
``python -m training.train_sizes STATE.pt OUT.onnx CUTS.npz... --of N [--minutes M]``; run again with the same STATE to
resume. The last twentieth of every file is held out for evaluation. The network in ``vision/models`` was trained on the
seeds 11 (14538 cuts), 12 (14438), 21 and 23 (7000 each), N 450000, six minutes of one core; pieces of the first two
differed only as makers' do (``SIZES`` of ``training.make_size_crops`` were (1.0, 1.0)).
"""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from training.learning import Training, arguments, block, down, load
from vision.figurenet import KINDS
from vision.sizes import CUT_PX, SPREADS, USUAL

WIDTHS = (16, 32, 56, 80)
FREEDOM = 4.0  # degrees of freedom of the error's distribution (Student's t): some silhouettes are of two pieces


class Net(nn.Module):
    """(N, 5, CUT_PX, CUT_PX) as `vision.sizes.given` makes it to (N, 2): the logarithm of the width relative to a usual
    follower's, and that of its standard deviation."""

    def __init__(self) -> None:
        super().__init__()
        a, b, c, d = WIDTHS
        self.d1, self.b1 = down(5, a, 5), block(a)
        self.d2, self.b2 = down(a, b), block(b)
        self.d3, self.b3 = down(b, c), block(c)
        self.d4, self.b4 = down(c, d), block(d)
        self.thin = nn.Conv2d(d, 32, 1)
        self.one, self.two = nn.Linear(32 * (CUT_PX // 16) ** 2, 96), nn.Linear(96, 2)
        nn.init.constant_(self.two.bias, 0.0)
        with torch.no_grad():
            self.two.bias[1] = math.log(0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        colour = x[:, :3]
        x = torch.cat([colour - colour.mean(dim=(2, 3), keepdim=True) * 0.5 - 0.25, x[:, 3:]], dim=1)
        for down_, branch in ((self.d1, self.b1), (self.d2, self.b2), (self.d3, self.b3), (self.d4, self.b4)):
            x = down_(x)
            x = F.relu(x + branch(x))
        x = F.relu(self.thin(x)).flatten(1)
        return self.two(F.relu(self.one(x)))


def loss_of(out: torch.Tensor, size: torch.Tensor) -> torch.Tensor:
    spread = out[:, 1].clamp(*SPREADS)
    off = (out[:, 0] - size) * torch.exp(-spread)
    return (spread + (FREEDOM + 1) / 2 * torch.log1p(off**2 / FREEDOM)).mean()


def batch(data: dict[str, torch.Tensor], rows: torch.Tensor, rng: np.random.Generator | None) -> torch.Tensor:
    """The network's input; with ``rng`` mirrored and in other colours at random."""
    cuts = data["cuts"][rows].permute(0, 3, 1, 2).float() / 255
    if rng is not None:
        if rng.random() < 0.5:
            cuts = cuts.flip(3)
        cuts = cuts[:, [*rng.permutation(3).tolist(), 3]]
        gain = torch.from_numpy(rng.uniform(0.75, 1.25, (len(rows), 3, 1, 1)).astype(np.float32))
        cuts = torch.cat([(cuts[:, :3] * gain).clamp(0, 1), cuts[:, 3:]], 1)
    lean = data["leans"][rows][:, None, None, None].expand(-1, 1, CUT_PX, CUT_PX)
    return torch.cat([cuts, lean], 1)


@torch.no_grad()
def measure(net: nn.Module, held: dict[str, torch.Tensor]) -> str:
    """Per posture: the robust deviation of the errors, and of the errors relative to the stated deviations."""
    net.eval()
    out = torch.cat([net(batch(held, rows, None)) for rows in torch.arange(len(held["cuts"])).split(256)])
    off = (out[:, 0] - torch.log(held["truth"][:, 0] / USUAL)).numpy()
    stated = torch.exp(out[:, 1].clamp(*SPREADS)).numpy()
    lying = held["truth"][:, 2].numpy() > 0
    usual = held["truth"][:, 1].numpy() <= KINDS.index("large")
    text = []
    for name, rows in (("standing", ~lying & usual), ("lying", lying & usual), ("others", ~usual)):
        z = (off / stated)[rows]
        text.append(f"{name} {rows.sum()}: off {_robust(off[rows]):.4f} relative {_robust(z):.2f} beyond 3 "
                    f"{(np.abs(z) > 3).mean():.3f}")
    net.train()
    return "\n".join(text)


def _robust(values: np.ndarray) -> float:
    return float(np.median(np.abs(values - np.median(values)))) * 1.4826


def main() -> int:
    parser = arguments(__doc__, rate=2e-3)
    parser.add_argument("--of", type=int, default=450_000, help="cuts of the whole schedule")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    training = Training(Net, options.rate, options.state)
    data, held = load(options.crops, ("cuts", "leans", "truth"))
    sizes = torch.log(data["truth"][:, 0] / USUAL)

    def loss(rows: torch.Tensor, rng: np.random.Generator) -> torch.Tensor:
        given = batch(data, rows, rng).contiguous(memory_format=torch.channels_last)
        return loss_of(training.say(given), sizes[rows])

    training.run(loss, len(data["cuts"]), size=64, until=options.of, total=options.of, minutes=options.minutes,
                 shown={1000: lambda: measure(training.net, held)})
    print(measure(training.net, held), flush=True)
    training.save(options.out, (5, CUT_PX, CUT_PX), "given")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
