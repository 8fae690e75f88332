"""The catalogue of actions: one module for each kind, with its payload, its facts for policy and its notes for people.

Pure; what a kind needs beside its module is its rules, its words, its connector's request and its tests.
"""
