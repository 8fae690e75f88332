"""What a visitor can try without any account elsewhere: the demo shop and its data.

A stranger to the rest of the project: it imports none of the other rooms and speaks HTTP only.
"""
