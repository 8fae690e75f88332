"""What the shop takes from its environment: the two keys, and nothing else.

Only this module reads it.
"""

import os


def keys_from_environment() -> tuple[str, str]:
    """The read key and the write key, empty where they are not set."""
    return os.environ.get("SHOP_READ_KEY", ""), os.environ.get("SHOP_WRITE_KEY", "")
