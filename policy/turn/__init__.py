"""A turn's decision: from what was understood and what the account holds to the next step; pure functions, no clock.

A step is a proposal of what to do: what may be done is judged by the rules beside this folder.
"""
