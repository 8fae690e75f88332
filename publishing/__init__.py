"""Publishing policy: a bundle is examined whole, then counts; or an earlier one counts again.

Both the command line and the gateway publish through here, so that neither can do less than the other.
"""
