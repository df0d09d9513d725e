"""The Block tab: one block step by step, and up to twelve of them stacked.

state.py says what a person has set, run.py what the model makes of it; steps.py and
stack.py lay out the two sections, why.py writes the sums behind their numbers,
examples.py holds the states worth seeing.
"""
