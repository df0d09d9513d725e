"""The tab of inverse attention: a weight that is wanted, and the vectors that give it.

state.py says what a person has set and what the model makes of it, flow.py lays out the
matrices, view.py the sentence, the buttons and the curve. The words and examples of the
tab are in playground/tabs/inverse.py.
"""
