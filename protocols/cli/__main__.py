"""``python -m protocols.cli``: the command line where no console script is installed."""

from protocols.cli.main import main

main()
