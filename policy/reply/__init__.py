"""What may be said: the facts that a draft may state, the four checks, and the one gate that lets a reply out.

Pure; readers that know languages by more than words are handed in.
"""
