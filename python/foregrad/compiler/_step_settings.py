"""The settings of optimisers for compile_step(): a class for each row of the native table."""

from foregrad._optimizers import documentation_of, made_class, native_settings, table


class Settings:
    """Named numbers, checked by the library. No dataclass: loading that module takes longer than a
    warm start."""

    _row = {}  # of the table

    def _begin(self, settings):
        vars(self).update(settings)
        self._native(settings)

    @classmethod
    def _native(cls, settings):
        """The library's own settings, which it checks."""
        return native_settings(cls._row, settings)

    def __repr__(self):
        settings = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({settings})"

    def __eq__(self, other):
        return vars(self) == vars(other) if type(self) is type(other) else NotImplemented

    __hash__ = None  # they may be changed


def _made(row):
    members = {"_row": row, "__doc__": f"The settings of {row['name']}. {documentation_of(row)}"}
    return made_class(row["name"], Settings, list(row["settings"]), row["settings"],
                      "foregrad.compiler", members)


SETTINGS = {row["name"]: _made(row) for row in table().values()}
