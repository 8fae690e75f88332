"""Brings articles in from Markdown and out again, and says where two of them contradict each other.

What is imported is a new version; nothing that was ever said to a customer is changed.
"""
