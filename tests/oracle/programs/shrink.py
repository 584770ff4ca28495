"""Makes a random program that differs as short as possible: drops statements while it differs."""
import json

from compare import compare


class Session:
    """A worker that runs the text of programs as they come."""

    def __init__(self, process):
        self.process = process

    def run(self, source):
        """The worker's line; {"crash": ...} after the end of the process."""
        try:
            self.process.stdin.write(json.dumps(source) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        return json.loads(line) if line else {"crash": "the process ended"}


def first_difference(start, source, alive):
    """(aspect, ours, torch's) of the first observation that differs, or None."""
    answers = {}
    for library in ("foregrad", "torch"):
        if library not in alive:
            alive[library] = Session(start(library))
        answers[library] = alive[library].run(source)
        if "crash" in answers[library]:
            alive[library].process.wait()
            del alive[library]
    found = compare(answers["foregrad"], answers["torch"])
    return next(((label, *d) for label, d in found if d and "version" not in d[0]), None)


def shrink(start, source, alive):
    """The shortest text that still differs in the same way, and how; alive keeps the workers."""
    wanted = first_difference(start, source, alive)
    if wanted is None:
        return source, None
    lines, best = source.split("\n"), wanted
    for _ in range(2):  # a line that a statement needed may go once the statement is gone
        for i in reversed(range(len(lines))):
            shorter = lines[:i] + lines[i + 1:]
            found = first_difference(start, "\n".join(shorter), alive)
            if found and found[1] == wanted[1] and same_failure(found, wanted):
                lines, best = shorter, found
    return "\n".join(lines), best


def stop(alive):
    for session in alive.values():
        session.process.stdin.close()
        session.process.wait()


def same_failure(found, wanted):
    """A shorter program may not swap an interesting exception for a missing name."""
    return all("NameError" not in text or "NameError" in before
               for text, before in zip(found[2:], wanted[2:]))
