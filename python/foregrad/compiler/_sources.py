"""The snapshot: all reads of a Python function besides its arguments, when it is captured.

Every later call makes the reads again (_C.Reads), so that a captured function is never stale.
"""

import collections
import operator
import weakref

from foregrad import _C
from foregrad.compiler._code import names_in, reaches_all_in
from foregrad.compiler._places import Place
from foregrad.compiler._walk import OF_FUNCTIONS, Walk


class Snapshot(Walk):
    """Everything that functions and objects read now; `reads` reads it again."""

    def __init__(self, roots, *args, **kwargs):
        super().__init__(roots, *args, **kwargs)
        self._roots, self.count = roots, len(self._reads)
        self.reads = _C.Reads(self._reads)
        self.tensors, self.floats = self.reads.again()

    def holds_abstract(self):
        """Whether a tensor of the function that was captured is still reached from outside."""
        after = Snapshot(self._roots, mentioned=self.names)
        return any(_C.is_abstract(tensor) for tensor in after.tensors)

    def finds_more(self, names):
        """Whether code that mentions these names too may read more than was found."""
        return Snapshot(self._roots, self._moving, mentioned=self.names | names).count > self.count

    def reads_by(self, codes):
        """The reads that code may make, with all contents of the containers that it names."""
        names = {name for code in codes for name in (*names_in(code), *code.co_freevars)}
        everything = any(map(reaches_all_in, codes))
        inside, found, count = set(), [], -1
        while count != len(found):
            count, found = len(found), []
            for read in self._reads:
                how, holder, key = read[:3]
                if how in ("kind", "attributes") and isinstance(holder, weakref.ref):
                    holder = holder()
                name = self._cells.get(id(holder)) if how == "cell" else key
                if (everything or id(holder) in inside
                        or (isinstance(name, str) and (name in names or name in OF_FUNCTIONS))):
                    found.append(read)
                    if how not in ("kind", "attributes", "lineage"):
                        inside.add(id(_C.read(how, holder, key)))
        return found

    def check_as_before(self):
        """Raises an error if the captured function changed anything that it reads."""
        tensors, _ = self.reads.again()
        if not all(map(operator.is_, tensors, self.tensors)):
            raise RuntimeError("a tensor is another one")
        for holder, original in self.originals:
            if id(holder) in self.grown and len(holder) != len(original):
                raise RuntimeError(f"a list has {len(holder)} items, not {len(original)}")

    def knows(self, value):
        """Whether an object was there before the function was captured."""
        return id(value) in self._seen

    def restore(self):
        """Undoes the changes that the capture of a function made, before it runs eagerly."""
        for how, holder, key, expected, value in self._reads:
            if how in ("attribute", "class_entry") and expected in ("same", "value", "bits"):
                Place(how, holder, key).put_back(value)
        for place, value in self.variables:
            if place.read() is not value:
                place.write(value)
        for holder, original in self.originals:
            if isinstance(holder, list):
                holder[:] = original
            elif isinstance(holder, collections.deque):
                holder.clear()
                holder.extend(original)
            elif isinstance(holder, (dict, set)) and holder != original:
                holder.clear()
                holder.update(original)
