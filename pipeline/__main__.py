"""`python -m pipeline` is `doclease`."""

from pipeline.cli import main

if __name__ == "__main__":
    main()
