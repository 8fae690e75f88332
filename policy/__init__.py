"""Judgement: Cedar bundles, their schema, the engine and pure decision functions.

Pure: `now` is an argument, and only `domain` is imported.
"""
