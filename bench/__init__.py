"""Measurements of turns, histories and memory beside their floors.

It measures real processes through public doors.
"""
