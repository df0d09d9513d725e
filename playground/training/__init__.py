"""The Training tab: a tiny GPT learns a task while one watches, alone or beside a second one.

state.py says what a person has set, runs.py trains and remembers, look.py asks the models
at a step; learning.py, attention.py and weight.py are the three sections.
"""
