"""Parts of the DataLoader that programs import: collate, fetch and worker."""

from foregrad.utils.data._utils import collate, fetch, worker  # noqa: F401

MP_STATUS_CHECK_INTERVAL = 5.0
"""Seconds that workers get to end by themselves, and between looks whether they are alive."""
