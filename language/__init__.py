"""Understanding and drafting: what a customer's words propose, and what evidence lets the bot say.

Pure: a proposal here is never an authority, and only `domain` is imported.
"""
