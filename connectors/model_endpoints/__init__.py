"""Model endpoints as evaluated configuration, and the one client that asks them.

Knows the OpenAI protocol and models.toml; nothing of prompts, turns or policy.
"""
