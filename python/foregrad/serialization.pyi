"""save() and load(): dictionaries, lists, tensors and numbers in one file, without pickle."""

import os
from typing import Any, BinaryIO

_File = str | os.PathLike[str] | BinaryIO

def save(obj: Any, f: _File) -> None: ...
def load(f: _File, map_location: Any = None, *, weights_only: bool = True) -> Any: ...
