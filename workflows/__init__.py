"""The order of events: deterministic workflows that act on recorded answers and decide nothing themselves.

They import the domain and name activities; nothing here reads a clock, a file or the network.
"""
