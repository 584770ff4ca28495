"""Settings of PyTorch's code generator, which mean nothing here."""

from foregrad._foreign_settings import install

config = install(__name__)
