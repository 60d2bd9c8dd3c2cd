"""`python -m leafgrad`: see _cli.py."""

from leafgrad._cli import main

if __name__ == "__main__":
    main()
