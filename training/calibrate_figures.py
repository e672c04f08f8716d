"""Calibrates the figure network's logits, on crops that it was not trained on.

``python -m training.calibrate_figures CROPS.npz...`` prints, for ``vision.figures``, the logistic scale and shift of a
foot's logit (is there a figure whose foot is within 0.15 tile?) and the scale of the lying logit, and the error of
feet. The last twentieth of each file is used, which training holds out.
"""

from __future__ import annotations

import sys

import numpy as np

from training.train_figures import ROUND
from vision.feet import peaks
from vision.figurenet import FigureNet


def fit(x: np.ndarray, y: np.ndarray, shift: bool = True) -> tuple[float, float]:
    """Fit scale and shift of a logistic curve, by Newton's method."""
    a = np.array([1.0, 0.0])
    design = np.column_stack([x, np.ones(len(x)) if shift else np.zeros(len(x))])
    for _ in range(30):
        p = 1 / (1 + np.exp(-np.clip(design @ a, -30, 30)))
        hessian = (design * (p * (1 - p))[:, None]).T @ design + 1e-6 * np.eye(2)
        a = a + np.linalg.solve(hessian, design.T @ (y - p))
    return float(a[0]), float(a[1])


def main() -> int:
    net = FigureNet()
    there, lying, off = [], [], []
    for name in sys.argv[1:]:
        data = np.load(name)
        start = len(data["crops"]) * 19 // 20
        crops, leans, feet = (data[k][start:] for k in ("crops", "leans", "feet"))
        felt = net.ask(crops, leans)
        for n, truth in enumerate(feet):
            truth = truth[~np.isnan(truth[:, 0])]
            for peak in peaks(felt, n, -6.0):
                if (np.abs(peak.foot - 0.5) > 0.5).any():
                    continue
                apart = np.hypot(*(truth[:, :2] - peak.foot).T) if len(truth) else np.array([9.0])
                best = int(apart.argmin())
                there.append((peak.there, apart[best] < 0.15))
                if apart[best] < 0.15:
                    off.append(apart[best])
                    if int(truth[best, 2]) not in ROUND and peak.there > -1:
                        lying.append((peak.lying, truth[best, 3]))
    for what, pairs, shift in (("there", there, True), ("lying", lying, False)):
        x, y = np.array(pairs, float).T
        scale, constant = fit(x, y, shift)
        p = 1 / (1 + np.exp(-(scale * x + constant)))
        print(f"{what}: scale {scale:.2f} shift {constant:.2f}; {len(x)} cases, right {((p > 0.5) == y).mean():.4f}")
    print(f"feet off by {np.mean(off):.4f}, 90 % within {np.quantile(off, 0.9):.4f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
