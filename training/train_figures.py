"""Train the network that detects wooden figures (needs PyTorch and onnx, which bastide itself does not).

``python -m training.make_piece_crops CROPS.npz COUNT SEED`` for some seeds, then ``python -m training.train_figures
STATE.pt OUT.onnx CROPS.npz... --of N [--minutes M]``; run again with the same STATE to resume. The last twentieth of
every file is held out for evaluation; ``python -m training.calibrate_figures`` then calibrates the logits. The
network in ``vision/models`` was trained on the seeds 21 (12000 crops), 22 (20000), 23 (20000, boards full of figures)
and 24 (14000, as 23, with more discs), N 355000, about an hour of half a core. Seeds 21 and 22 were drawn before
boards were as full, 21 to 23 before plain round print of a counter's size was left out of ``training.pieces``, and
all of them before a piece's size and a square's lean were drawn in another order; the effect of drawing all four with
the current code is not measured. The tiles under the figures were those of this folder at d22e258.
"""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from training.learning import Training, arguments, block, load
from vision.figurenet import CELLS, CHANNELS, CROP_PX, KINDS, MARGIN, TILE_PX

WIDTHS = (16, 40, 80, 112)
STRIDE = CROP_PX // CELLS
ROUND = (KINDS.index("disc"), KINDS.index("cube"))
RIM = 0.07  # of a tile: feet so close to the crop's border are ignored


def step(i: int, o: int, size: int, stride: int = 1) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(i, o, size, stride=stride, padding=size // 2, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True)
    )


class Net(nn.Module):
    """(N, 5, CROP_PX, CROP_PX) BGR 0 .. 1 and the lean's two parts to (N, CHANNELS, CELLS, CELLS)."""

    def __init__(self) -> None:
        super().__init__()
        a, b, c, d = WIDTHS
        self.d1, self.b1 = step(5, a, 5, 2), block(a)
        self.d2, self.b2 = step(a, b, 3, 2), block(b)
        self.d3, self.b3 = step(b, c, 3, 2), block(c)
        self.d4, self.b4 = step(c, d, 3, 2), block(d)
        self.up4 = nn.ConvTranspose2d(d, 64, 2, stride=2)
        self.s3, self.m3 = nn.Conv2d(c, 64, 1), step(64, 64, 3)
        self.up3 = nn.ConvTranspose2d(64, 48, 2, stride=2)
        self.s2, self.m2 = nn.Conv2d(b, 48, 1), step(48, 56, 3)
        self.out = nn.Conv2d(56, CHANNELS, 1)
        nn.init.constant_(self.out.bias, 0.0)
        with torch.no_grad():
            self.out.bias[0] = -4.0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        colour = x[:, :3]
        x = torch.cat([colour - colour.mean(dim=(2, 3), keepdim=True) * 0.5 - 0.25, x[:, 3:]], dim=1)
        x = self.d1(x)
        x = F.relu(x + self.b1(x))
        x = self.d2(x)
        two = F.relu(x + self.b2(x))
        x = self.d3(two)
        three = F.relu(x + self.b3(x))
        x = self.d4(three)
        x = F.relu(x + self.b4(x))
        x = self.m3(F.relu(self.up4(x) + self.s3(three)))
        x = self.m2(F.relu(self.up3(x) + self.s2(two)))
        return self.out(x)


_AT = (torch.arange(CELLS) + 0.5) * STRIDE / TILE_PX - MARGIN  # the cells' centres, in tiles
_CELL = STRIDE / TILE_PX


def targets(names: torch.Tensor, feet: torch.Tensor) -> dict[str, torch.Tensor]:
    """The targets for a batch."""
    n = len(names)
    x, y, kind, lying = feet.unbind(2)
    known = ~x.isnan()
    low, high = -MARGIN + RIM, 1 + MARGIN - RIM
    inner = known & (x > low) & (x < high) & (y > low) & (y < high)
    dx = x.nan_to_num(9)[:, :, None, None] - _AT[None, None, None, :]
    dy = y.nan_to_num(9)[:, :, None, None] - _AT[None, None, :, None]
    apart = dx**2 + dy**2
    heat = torch.exp(-apart / (2 * (0.9 * _CELL) ** 2))
    peak = (dx.abs() <= _CELL / 2) & (dy.abs() <= _CELL / 2) & inner[:, :, None, None]
    unsure = known & ~inner
    asked = ~((heat > 0.05) & unsure[:, :, None, None]).any(1)
    heat = (heat * inner[:, :, None, None]).amax(1)
    near, which = apart.masked_fill(~inner[:, :, None, None], 99).min(1)
    close = near < (1.3 * _CELL) ** 2
    rows = torch.arange(n)[:, None, None]
    flat_x, flat_y = x.nan_to_num(0)[rows, which], y.nan_to_num(0)[rows, which]
    place = torch.stack([flat_x - _AT[None, None, :], flat_y - _AT[None, :, None]], 1)
    kinds, lies = kind.nan_to_num(0)[rows, which].long(), lying.nan_to_num(0)[rows, which]
    fine = names.view(n, CELLS, 2, CELLS, 2)
    cover = (fine > 0).float().mean((2, 4))
    name = fine.amax((2, 4)).long()
    mine = (name - 1).clamp(min=0)
    home = torch.stack([x.nan_to_num(0)[rows, mine] - _AT[None, None, :],
                        y.nan_to_num(0)[rows, mine] - _AT[None, :, None]], 1)
    return {"heat": heat, "peak": peak.any(1), "asked": asked, "close": close, "place": place, "kinds": kinds,
            "lying": lies, "cover": cover, "home": home, "covered": (cover > 0.4) & known[rows, mine]}


def loss_of(out: torch.Tensor, t: dict[str, torch.Tensor]) -> torch.Tensor:
    k = len(KINDS)
    foot = out[:, 0]
    p = torch.sigmoid(foot)
    peak = t["peak"]
    many = peak.sum().clamp(min=1)
    up = (F.softplus(-foot) * (1 - p) ** 2)[peak].sum()
    down = (F.softplus(foot) * p**2 * (1 - t["heat"]) ** 4)[~peak & t["asked"]].sum()
    close = t["close"]
    place = (out[:, 1:3] - t["place"]).abs().sum(1)[close].mean() / _CELL
    tall = close & (t["kinds"] != ROUND[0]) & (t["kinds"] != ROUND[1])
    lying = F.binary_cross_entropy_with_logits(out[:, 3][tall], t["lying"][tall])
    kinds = F.cross_entropy(out[:, 4 : 4 + k].permute(0, 2, 3, 1)[close], t["kinds"][close])
    silhouette = F.binary_cross_entropy_with_logits(out[:, 4 + k], t["cover"])
    home = (out[:, 5 + k :] - t["home"]).abs().sum(1)[t["covered"]].mean()
    return (up + down) / many + 0.5 * place + 2 * lying + 0.6 * kinds + 2.5 * silhouette + 2 * home


@torch.no_grad()
def measure(net: nn.Module, held: dict[str, torch.Tensor]) -> str:
    """Of the figures whose foot is on the square: detected, posture and kind right; and false positives."""
    net.eval()
    found = feet = wrong = lies = tall = kinds = 0
    off = []
    inter = union = 0.0
    for rows in torch.arange(len(held["crops"])).split(256):
        out = net(given(held, rows))
        t = targets(held["names"][rows], held["feet"][rows])
        top = torch.sigmoid(out[:, 0])
        top = top * (top == F.max_pool2d(top[:, None], 3, 1, 1)[:, 0])
        for n in range(len(rows)):
            truth = held["feet"][rows[n]]
            truth = truth[~truth[:, 0].isnan()]
            taken = set()
            for r, c in (top[n] > 0.4).nonzero().tolist():
                at = torch.stack([_AT[c] + out[n, 1, r, c], _AT[r] + out[n, 2, r, c]])
                if not ((at > 0) & (at < 1)).all():
                    continue
                near = (truth[:, :2] - at).norm(dim=1) if len(truth) else torch.ones(1) * 9
                best = int(near.argmin())
                if near[best] > 0.15 or best in taken:
                    wrong += 1
                    continue
                taken.add(best)
                if not ((truth[best, :2] > 0) & (truth[best, :2] < 1)).all():
                    continue
                found += 1
                off.append(float(near[best]))
                kind = int(truth[best, 2])
                kinds += int(out[n, 4 : 4 + len(KINDS), r, c].argmax()) == kind
                if kind not in ROUND:
                    tall += 1
                    lies += bool(out[n, 3, r, c] > 0) == bool(truth[best, 3])
            feet += int(((truth[:, :2] > 0) & (truth[:, :2] < 1)).all(1).sum())
        said, cover = out[:, 4 + len(KINDS)] > 0, t["cover"] > 0.5
        inter += float((said & cover).sum())
        union += float((said | cover).sum())
    net.train()
    return (f"feet {feet} found {found / feet:.4f} wrong {wrong} off {np.mean(off):.4f} "
            f"lying {lies / max(tall, 1):.4f} kind {kinds / max(found, 1):.4f} silhouettes {inter / union:.4f}")


def given(data: dict[str, torch.Tensor], rows: torch.Tensor) -> torch.Tensor:
    pictures = data["crops"][rows].permute(0, 3, 1, 2).float() / 255
    leans = data["leans"][rows][:, :, None, None].expand(-1, -1, CROP_PX, CROP_PX)
    return torch.cat([pictures, leans], 1)


def turned(data: dict[str, torch.Tensor], rows: torch.Tensor, k: int) -> dict[str, torch.Tensor]:
    """Rows of the data, rotated by ``k`` quarters clockwise."""
    crops, names = data["crops"][rows], data["names"][rows]
    lean, feet = data["leans"][rows].clone(), data["feet"][rows].clone()
    for _ in range(k):
        lean = torch.stack([-lean[:, 1], lean[:, 0]], 1)
        x, y = feet[:, :, 0].clone(), feet[:, :, 1].clone()
        feet[:, :, 0], feet[:, :, 1] = 1 - y, x
    return {"crops": torch.rot90(crops, -k, (1, 2)), "names": torch.rot90(names, -k, (1, 2)), "leans": lean,
            "feet": feet}


def main() -> int:
    parser = arguments(__doc__, rate=2e-3)
    parser.add_argument("--of", type=int, default=200_000, help="crops of the whole schedule")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    training = Training(Net, options.rate, options.state)
    data, held = load(options.crops, ("crops", "leans", "names", "feet"))
    size = 64

    def loss(rows: torch.Tensor, rng: np.random.Generator) -> torch.Tensor:
        batch = turned(data, rows, int(rng.integers(4)))
        out = training.say(given(batch, torch.arange(size)).contiguous(memory_format=torch.channels_last))
        return loss_of(out, targets(batch["names"], batch["feet"]))

    training.run(loss, len(data["crops"]), size=size, until=options.of, total=options.of, minutes=options.minutes)
    print(measure(training.net, held), flush=True)
    training.save(options.out, (5, CROP_PX, CROP_PX), "given")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
