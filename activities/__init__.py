"""The only door to the world: each activity is one step; it sorts failures and decides nothing by itself.

Small classes holding their collaborators, built once in `worker.py`.
"""
