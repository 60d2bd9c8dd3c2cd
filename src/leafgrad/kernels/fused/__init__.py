"""Kernels of several steps in one pass over memory, in the language of leafgrad/kernels/language.py, by subject.

May import `kernels`. What is here is translated to C when the package is built, so nothing may depend on being run.
"""
