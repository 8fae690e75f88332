"""The demo shop: a business system of its own, with its own process, database, rules and faults.

Run it with `python -m demo.shop`; everything it does is reached over HTTP.
"""
