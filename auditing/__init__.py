"""What a person does with the record of what was decided: verify it, export it, judge it again under another bundle.

Reads only, and is imported by none of the product.
"""
