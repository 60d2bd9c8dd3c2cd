"""Makes seeds.json: what every block of examples/seeds prints under an installed PyTorch after `torch.manual_seed(0)`.

python tests/data/make_seeds.py
"""

import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import seed_blocks

if __name__ == "__main__":
    outcomes = {name: seed_blocks.run_with_torch(name) for name in seed_blocks.NAMES}
    seed_blocks.store(torch.__version__.split("+")[0], outcomes)
    for name, outcome in outcomes.items():
        print(name, f"{outcome.error}: {outcome.first_line}" if outcome.error else "runs")
    print(f"{len(outcomes)} blocks written to {seed_blocks.STORED.relative_to(seed_blocks.ROOT)}")
