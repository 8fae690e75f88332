"""`python -m demo.tour --ready FILE`; a request to end is heeded like Ctrl-C, so faults are cleared on the way out."""

import signal
import sys

from demo.tour.commandline import main

signal.signal(signal.SIGTERM, signal.default_int_handler)
sys.exit(main())
