"""Fills a new database: tenants, staff, articles, the base policy, and a demo that is alive.

Plays turns by hand through the same activities and transactions as the product; it is run once, or with --reset.
"""
