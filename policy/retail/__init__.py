"""The retail policy's facts: a shop's world and a request for one of its tools, turned into one Cedar request.

Pure: counts, sums and memberships are found here; what they mean is decided by the rules of the bundle alone.
"""
