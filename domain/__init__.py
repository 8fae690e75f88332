"""The nouns of Interlock: frozen models, ids, money, the closed union of actions.

Everything here is pure: no clock, no I/O, no import from another room.
"""
