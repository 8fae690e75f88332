"""Measures understanding, claims, retrieval and drafting on marked texts, and prints tables with intervals.

It speaks through public doors alone; what it prints stands in docs/evaluations.md with the day it was measured.
"""
