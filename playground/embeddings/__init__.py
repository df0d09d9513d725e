"""The tab of embeddings and positions: the tables a model looks its tokens and places up in.

state.py says what a person has set, words.py which tokens a typed word is, sums.py how
dot products and lengths are written out; then a file for each part of the tab: positions.py,
neighbours.py (with arithmetic on words) and added.py. The words and examples of the tab are
in playground/tabs/positions.py.
"""
