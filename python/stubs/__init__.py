"""The parts of make_stubs.py: schemas, and signatures made from them."""
