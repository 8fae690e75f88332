"""Identity, admission and HTTP routes: a request becomes a transaction or a view.

It may import `domain`, `policy`, `store` and `workflows.messages`.
"""
