"""Pages, styles and scripts for staff and customers.

They know only the HTTP contract and import no room.
"""
