"""`python -m leafgrad`: see cli.py."""

from leafgrad.cli import main

if __name__ == "__main__":
    main()
