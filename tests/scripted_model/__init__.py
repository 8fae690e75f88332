"""A server of our own that speaks the OpenAI protocol and plays models: good ones, broken ones and hostile ones.

It reads a request as any model would, imports nothing of the product, and may be switched from script to script.
"""
