"""Models from the network, as PyTorch's hub loads them: nothing is downloaded here."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url",
           "set_dir"]

_dir: str | None = None


def _refuse(name, what):
    raise NotImplementedError(f"hub.{name}: got {what!r}, but code and files are not fetched from "
                              "the network here; download the weights and read them with "
                              "foregrad.load")


def get_dir() -> str:
    """The folder where programs keep what they downloaded."""
    if _dir is not None:
        return _dir
    home = os.getenv("XDG_CACHE_HOME", os.path.join("~", ".cache"))
    return os.path.join(os.path.expanduser(home), "foregrad", "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    """Sets that folder."""
    global _dir
    _dir = os.path.expanduser(d)


def load(repo_or_dir: str, model: str, *args: Any, **options: Any) -> NoReturn:
    """Loads a model of a repository."""
    _refuse("load", repo_or_dir)


def list(github: str, **options: Any) -> NoReturn:
    """Names of the models of a repository."""
    _refuse("list", github)


def help(github: str, model: str, **options: Any) -> NoReturn:
    """The documentation of such a model."""
    _refuse("help", github)


def download_url_to_file(url: str, dst: str, **options: Any) -> NoReturn:
    """Writes a file of the network."""
    _refuse("download_url_to_file", url)


def load_state_dict_from_url(url: str, model_dir: str | None = None, map_location: Any = None,
                             progress: bool = True, check_hash: bool = False,
                             file_name: str | None = None, weights_only: bool = False) -> Any:
    """Reads weights that were downloaded to the folder before; fetches none."""
    folder = model_dir or os.path.join(get_dir(), "checkpoints")
    path = os.path.join(folder, file_name or os.path.basename(url.partition("?")[0]))
    if not os.path.exists(path):
        raise NotImplementedError(
            "hub.load_state_dict_from_url: nothing is fetched from the network here, and "
            f"'{path}' does not exist; download {url} there")
    from foregrad.serialization import load as read

    return read(path, map_location)
