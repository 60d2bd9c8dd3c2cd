"""torch.utils.serialization.config: how files are loaded and saved where nothing else is said."""

from leafgrad._files.options import load as load
from leafgrad._files.options import save as save
