"""Average the weights of two networks, one of which was fine-tuned from the other: the result misreads less than either
(P. Izmailov et al., "Averaging Weights Leads to Wider Optima and Better Generalization", 2018).

``python -m training.average ONE.onnx OTHER.onnx OUT.onnx``; outputs that only OTHER has are OTHER's. Needs onnx.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from training.train_structure import ROWS_BEFORE_FIELDS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("one", "other", "out"):
        parser.add_argument(name, type=Path)
    options = parser.parse_args()
    one, out = onnx.load(str(options.one)), onnx.load(str(options.other))
    for of_one, of_out in zip(_weights(one), _weights(out), strict=True):
        mine, mean = numpy_helper.to_array(of_one), numpy_helper.to_array(of_out).copy()
        rows = slice(None) if mine.shape == mean.shape else ROWS_BEFORE_FIELDS
        mean[rows] = (mine + mean[rows]) / 2
        of_out.CopyFrom(numpy_helper.from_array(mean.astype(np.float32), of_out.name))
    onnx.save(out, str(options.out))
    return 0


def _weights(model: onnx.ModelProto) -> list[onnx.TensorProto]:
    """The weights of its layers, in order."""
    held = {i.name: i for i in model.graph.initializer}
    return [held[name] for node in model.graph.node if node.op_type in ("Conv", "Gemm") for name in node.input[1:]]


if __name__ == "__main__":
    raise SystemExit(main())
