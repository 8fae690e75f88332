"""The only clients of systems outside. Each states its contract and sorts answers into success, refusal or unknown.

Imports the domain alone; retries nothing by itself (Temporal retries).
"""
