"""The service desk's judgement: what is due when, what comes first for whom, and how long a wait may be.

Pure: the moment is an argument, and what is measured is given.
"""
