"""The encoder–decoder tab: document 3's "+2", trained live, and every attention inside it.

state.py says what a person has set, runs.py trains and remembers, look.py asks the model
at a step; training.py, attention.py and places.py are the three sections.
"""
