"""The line search of LBFGS: a step that satisfies the strong Wolfe conditions."""

import math
from typing import NamedTuple

ENOUGH_DECREASE, ENOUGH_FLATTER = 1e-4, 0.9


class Point(NamedTuple):
    """A place on the line: step, loss, gradient there, slope along the line."""

    step: float
    loss: float
    gradient: object
    slope: float


def lowest_between(a, b, bounds=None):
    """The step to the minimum of the cubic through two points with their slopes; the middle of the
    bounds where it has none."""
    low, high = bounds or (min(a.step, b.step), max(a.step, b.step))
    bend = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.step - b.step)
    square = bend ** 2 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2.0
    root = math.sqrt(square)
    left, right = (a, b) if a.step <= b.step else (b, a)
    step = right.step - (right.step - left.step) * (
        (right.slope + root - bend) / (right.slope - left.slope + 2 * root))
    return min(max(step, low), high)


def strong_wolfe(evaluate, start, step, size, smallest_change, most=25):
    """The point that is found, and the number of evaluations.

    evaluate(step) is the point there; start: the point of step 0; size: the largest element of the
    direction. Doubling brackets a minimum, cubic interpolation narrows the bracket.
    """
    bracket, count, done = _bracketed(evaluate, start, step, most)
    stalled, evaluations = False, count + 1
    low = _place_of_lower(bracket)
    while not done and count < most:
        a, b = bracket
        if abs(b.step - a.step) * size < smallest_change:
            break
        step, stalled = _next_step(a, b, stalled)
        now = evaluate(step)
        count, evaluations = count + 1, evaluations + 1
        if _is_too_high(now, start) or now.loss >= bracket[low].loss:
            bracket[1 - low] = now
            low = _place_of_lower(bracket)
            continue
        done = _is_flat(now, start)
        if not done and now.slope * (bracket[1 - low].step - bracket[low].step) >= 0:
            bracket[1 - low] = bracket[low]
        bracket[low] = now
    return bracket[low], evaluations


def _is_too_high(point, start):
    return point.loss > start.loss + ENOUGH_DECREASE * point.step * start.slope


def _is_flat(point, start):
    return abs(point.slope) <= -ENOUGH_FLATTER * start.slope


def _place_of_lower(bracket):
    return 0 if bracket[0].loss <= bracket[-1].loss else 1


def _bracketed(evaluate, start, step, most):
    """Points around a minimum, or one that satisfies the conditions; the number of steps; whether
    it does."""
    before, now = start, evaluate(step)
    for count in range(most):
        if _is_too_high(now, start) or (count > 1 and now.loss >= before.loss):
            return [before, now], count, False
        if _is_flat(now, start):
            return [now], count, True
        if now.slope >= 0:
            return [before, now], count, False
        bounds = (now.step + 0.01 * (now.step - before.step), now.step * 10)
        before, now = now, evaluate(lowest_between(before, now, bounds))
    return [start, now], most, False


def _next_step(a, b, stalled):
    """A step inside of the bracket, and whether it is so near to an end that the next one may not
    be."""
    step = lowest_between(a, b)
    low, high = min(a.step, b.step), max(a.step, b.step)
    margin = 0.1 * (high - low)
    if min(high - step, step - low) >= margin:
        return step, False
    if not stalled and low < step < high:
        return step, True
    nearer_high = abs(step - high) < abs(step - low)
    return (high - margin if nearer_high else low + margin), False
