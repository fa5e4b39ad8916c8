"""Benchmarks: what Gatehouse takes, as a ratio to a named reference measured in the same run.

    bin/bench [--items 1000000] [--only loop] [--json measured.json]

Everything runs on embedded servers, in a database that is made for the run and dropped after it.
"""
