"""The door for `python -m demo.shop`.

It hands over to the command line and ends with its exit code.
"""

import sys

from demo.shop.commandline import main

if __name__ == "__main__":
    sys.exit(main())
