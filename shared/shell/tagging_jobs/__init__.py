"""Tag all exhibits that match filters, in the background, each of them once.

Guaranteed: each window of exhibits commits with the job's place, so that a killed worker repeats none; what matches is
decided for each exhibit under its lock. Not guaranteed: that exhibits which are added or changed meanwhile are tagged;
`remaining` counts those that were left at the end.
"""
