"""The command `foregrad`, which is a program of its own: this only starts it."""

import os
import sys
from pathlib import Path

PROGRAM = Path(__file__).with_name("foregrad")


def main(called: str | None = None) -> None:
    """Becomes the program, with the arguments of this process; called is its name in hints."""
    try:
        os.execv(PROGRAM, [called or sys.argv[0], *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"foregrad: the program {PROGRAM} of this installation cannot be started "
                 f"({error.strerror}); install the package again")


if __name__ == "__main__":
    main(f"{sys.executable} -m foregrad")
