"""Which root check explains that others could not be checked."""

from collections.abc import Collection, Iterable, Mapping

from driftwatch.model import Report, Result, State


class Causes:
    """The causes in one report, followed to their roots: a bad certificate also hides the endpoint."""

    def __init__(self, report: Report) -> None:
        """Follow every cause once."""
        self._results = {result.check: result for result in report.results}
        self._roots = {result.check: self._follow(result) for result in report.results}
        blocks: dict[str, list[str]] = {}
        for result in report.results:
            root = self._roots[result.check]
            if root is not None:
                blocks.setdefault(root.check, []).append(result.check)
        self.blocks: Mapping[str, tuple[str, ...]] = {root: tuple(checks) for root, checks in blocks.items()}
        """By root check, the checks that it explains, in the report's order."""
        self.unasked: Mapping[str, tuple[str, ...]] = {
            root: tuple(check for check in checks if self._results[check].state is State.NOT_CHECKED)
            for root, checks in blocks.items()
        }
        """Of these, the ones that were not checked; the others failed with it."""

    def root(self, result: Result) -> Result | None:
        """The result that explains this one.

        None for a result that needs no explanation, and for one whose explanation does not hold (the named
        check is not there, or has nothing wrong with it): that one is not checked for a reason of its own.
        """
        return self._roots[result.check]

    def roots_first(self, earlier: Collection[str] = ()) -> Iterable[Result]:
        """Every result, those that explain others, or explained them ``earlier``, before the rest."""
        roots = {*self.blocks, *earlier}
        return sorted(
            self._results.values(),
            key=lambda result: (self._roots[result.check] is not None, result.check not in roots),
        )

    def _follow(self, result: Result) -> Result | None:
        seen = {result.check}
        root = result
        while root.cause is not None:
            if root.cause in seen or root.cause not in self._results:
                return None
            seen.add(root.cause)
            root = self._results[root.cause]
        return None if root is result or root.state is State.VERIFIED else root
