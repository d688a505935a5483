"""Zones of a case: where the exhibits are that each chunk created, by control number and by id.

A zone is the lowest and the highest control number and id of the exhibits that one chunk of an import created. Lists
skip zones that cannot hold their page. Guaranteed: a zone never misses an exhibit of its chunk; after an undo it may
cover more than is there.
"""
