"""leafgrad.utils.serialization: settings for files. May import `_files`."""

from leafgrad.utils.serialization import config as config
