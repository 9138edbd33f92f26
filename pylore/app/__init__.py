"""What can be asked of lore: typed requests in, typed results out; nothing is printed here.

The command line, the SDK and whatever comes later make a request, call one function and
show what it returns. What is to be said to a person is returned as notes. The working
directory and the environment are theirs to read.
"""
