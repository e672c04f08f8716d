"""Train the network that reads what all editions have in common (needs PyTorch and onnx, which bastide itself does
not).

``python -m training.make_crops CROPS.npz 36000 SEED`` for some seeds, then
``python -m training.train_structure STATE.pt OUT.onnx CROPS.npz... --epochs N [--of M]``; run again with the same STATE
to resume. The last twentieth of every file is held out for evaluation. The network in ``vision/models`` was trained on
the seeds 11 to 14, 36000 crops each of boxes without goods (this folder at d22e258), with ``--of 2.944``, then
fine-tuned (``--start``, always 24000 crops a seed, ``--epochs 3 --of 3``) with the seeds 21 to 24, ``--rate 1.2e-3``
(this folder at e508da0), 41, 42, 45 and 46, ``--rate 1.2e-3`` (41 and 42: villages as they are now, the catalogue
before c3f8831), and 45 to 48, ``--rate 1e-3`` (47 and 48: with roads that swing aside). With outputs for fields added
it was fine-tuned on 51 to 54, ``--rate 1.2e-3``; the network is the ``training.average`` of the
last two.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from torch import nn

from training.learning import Training, arguments, block, down, in_passes, load
from vision.structure import CROP_PX, JOINED, OUTPUTS, PAIRS

WIDTHS = (20, 40, 72, 112)
_N = len(PAIRS)
_MARKS = len(JOINED) * _N
QUESTIONS = {  # binary outputs, by their position among the targets after the letters of the sides
    **{kind: slice(k * _N, (k + 1) * _N) for k, (kind, _) in enumerate(JOINED)},
    "cloister": slice(_MARKS, _MARKS + 1),
    "pennant": slice(_MARKS + 1, _MARKS + 2),
    "present": slice(_MARKS + 2, _MARKS + 3),
}
# of the last layer, in networks without outputs for fields
ROWS_BEFORE_FIELDS = [n for n in range(OUTPUTS) if not 16 + QUESTIONS["field"].start <= n < 16 + _MARKS]
COUNTS = {"pennant": 1.5, "present": 0.5}  # weight of an output in the loss, if not 1


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
    """Sum of the losses of all outputs, undefined ones left out."""
    sides = F.cross_entropy(out[:, :16].reshape(-1, 4), truth[:, :4].reshape(-1).long(), ignore_index=-1)
    binary, asked = truth[:, 4:], truth[:, 4:] >= 0
    each = F.binary_cross_entropy_with_logits(out[:, 16 : 16 + binary.shape[1]], binary.clamp(0, 1), reduction="none")
    parts = {name: each[:, k][asked[:, k]].mean() for name, k in QUESTIONS.items()}
    known = ~offset.isnan()
    moved = F.smooth_l1_loss(out[:, -8:][known], offset[known], beta=0.02)
    return 2 * sides + sum(COUNTS.get(name, 1.0) * part for name, part in parts.items()) + 4 * moved


@torch.no_grad()
def measure(net: nn.Module, x: torch.Tensor, truth: torch.Tensor, offset: torch.Tensor) -> str:
    net.eval()
    out = torch.cat([net(part.float() / 255) for part in x.split(512)])
    read = truth[:, 0] >= 0
    sides = (out[:, :16].reshape(-1, 4, 4).argmax(2) == truth[:, :4])[read]
    binary, asked = out[:, 16:-8] > 0, truth[:, 4:] >= 0
    said = [f"sides {sides.float().mean():.4f} all four {sides.all(1).float().mean():.4f}"]
    for name, part in QUESTIONS.items():
        said.append(f"{name} {(binary[:, part] == truth[:, 4:][:, part].bool())[asked[:, part]].float().mean():.4f}")
    known = ~offset.isnan()
    said.append(f"corners {(out[:, -8:][known] - offset[known]).abs().mean():.4f}")
    net.train()
    return " ".join(said)


def start_from(net: nn.Module, file: Path) -> None:
    """Load the weights of an exported network.

    Its batch normalisations were folded into its convolutions, so those of ``net`` are fixed to identity.
    """
    model = onnx.load(str(file))
    held = {i.name: torch.from_numpy(onnx.numpy_helper.to_array(i).copy()) for i in model.graph.initializer}
    layers = [[held[name] for name in node.input[1:]] for node in model.graph.node if node.op_type in ("Conv", "Gemm")]
    convolutions, norms, linear = (
        [m for m in net.modules() if isinstance(m, what)] for what in (nn.Conv2d, nn.BatchNorm2d, nn.Linear)
    )
    with torch.no_grad():
        for layer, (weight, bias) in zip([*norms, *linear], layers, strict=True):
            if isinstance(layer, nn.Linear) and len(bias) < layer.out_features:  # a network without outputs for fields
                layer.bias[ROWS_BEFORE_FIELDS], layer.weight[ROWS_BEFORE_FIELDS] = bias, weight
                continue
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

    training.run_passes(loss, len(data["crops"]), options, size=96, shown={600: lambda: measured(1500)})
    print(measured(), flush=True)
    training.save(options.out, (3, CROP_PX, CROP_PX), "crop")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
