"""The second reference: a harness that copies lists, to be compared with the first one. Source: design section 9.

It is written from the contract and shares no code with the first reference, only the data types of a prompt.
"""
