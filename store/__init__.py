"""The only SQL: tables, migrations, one function per transaction, read views.

Imports the domain alone; a violated constraint leaves here as a typed refusal.
"""
