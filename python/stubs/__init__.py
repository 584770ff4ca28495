"""What make_stubs.py is made of."""
