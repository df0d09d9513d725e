"""Tabs made of settings, matrices and charts, where `Tab` (typed vectors, one attention) does not fit.

A tab of this kind is a `Form`: a state, the fields in it, its words and examples, and
functions from a state to matrices (`Flow`) and to HTML. See form.py for what it may say,
fields.py for the kinds of settings, chart.py for curves, state.py for what every state has,
actions.py for what every tab can do.
"""
