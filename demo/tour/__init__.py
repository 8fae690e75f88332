"""The guided tour: plays seven scenes on a running stack, prints what really happened, and says whether it was right.

A stranger to the rest: it speaks HTTP to the api and the shop, and asks the command line for tokens.
"""
