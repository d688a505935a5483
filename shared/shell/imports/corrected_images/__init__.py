"""Images of corrected documents: an import of the rejected documents of an image load file, after the correction.

Guaranteed: one import for each pair of a correction and an image load file, which begins without a request once both
have ended; it reads nothing but the rejected documents whose rows the correction has.
"""
