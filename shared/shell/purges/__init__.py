"""Destroy what a case has, with a certificate: its rows, and every version of every object.

Guaranteed: work that runs is fenced before the first row is deleted; each row and each object is counted once, however
often a worker is killed; another case never waits for more than a batch of deletes, which locks rows of the case alone.
Not guaranteed: that nothing of the case is anywhere else; the certificate lists what remains outside.
"""
