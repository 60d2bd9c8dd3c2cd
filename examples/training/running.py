"""What the examples share: arguments, a bar of progress, and a plot of what was learned.

The bar comes from tqdm and the plot from matplotlib, if they are installed (pip install 'leafgrad[examples]'). Without
tqdm a line is printed now and then; without matplotlib there is no plot, and the example says so.
"""

import argparse
from pathlib import Path

import leafgrad as torch


def arguments(description, steps):
    """The steps to train for, and where the plot goes; the seed is set."""
    name = Path(description.splitlines()[0].partition(":")[0]).name
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=steps, help=f"how many to train for (default: {steps})")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers (default: 0)")
    parser.add_argument("--plot", default=f"{name}.png", help=f"the file of the plot (default: {name}.png)")
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    return given


class Progress:
    """Steps 0, 1, ..., shown as a bar with the last loss: `for step in progress: ...; progress.note(loss)`."""

    def __init__(self, steps, show=True):
        self.steps, self.losses, self.bar = steps, [], None
        self.show = show
        if show:
            try:
                from tqdm import tqdm

                self.bar = tqdm(total=steps)
            except ImportError:
                pass

    def __iter__(self):
        yield from range(self.steps)
        if self.bar is not None:
            self.bar.close()

    def note(self, loss):
        self.losses.append(loss)
        if self.bar is not None:
            self.bar.set_postfix(loss=f"{loss:.4f}")
            self.bar.update()
        elif self.show and (len(self.losses) % max(1, self.steps // 10) == 0 or len(self.losses) == self.steps):
            print(f"step {len(self.losses):4d} of {self.steps}: loss {loss:.4f}", flush=True)


def save_plot(path, losses, draw=None, title=""):
    """The losses, and beside them what `draw(axes)` shows."""
    try:
        import matplotlib
    except ImportError:
        print("no plot: matplotlib is not installed")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2 if draw else 1, figsize=(10 if draw else 5, 4), squeeze=False)
    axes[0, 0].plot(losses)
    axes[0, 0].set(xlabel="step", ylabel="loss", title=title)
    if draw:
        draw(axes[0, 1])
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)
    print(f"plot in {path}")
