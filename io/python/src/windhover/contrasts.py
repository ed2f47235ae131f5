"""Effects of a field's categories beside one another. Each category has a column, and only their
differences are known."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .asked import Asked
from .errors import InvalidInput
from .posterior import Draws, Posterior
from .provenance import Answer, Provenance
from .results import FloatArray, Predictions
from .steps import Steps

if TYPE_CHECKING:
    import pandas

    from .shared import Shared

_HALF_WIDTH = 1.6448536269514722  # a normal's 90 % interval, in standard deviations


@dataclass(frozen=True, repr=False)
class Contrasts(Answer):
    """How far each column of a group is above the group's average, or above one of its columns.
    Arrays have one number a column, for each block of parameters (a class; variance, mean).

    Attributes:
        mean, sd, q5, q95: of the contrast.
        draws: number of draws that `sd` is of, with a relative error of about 1 / sqrt(2 draws);
            0: it is exact.
        names: of the parameters.
    """

    provenance: Provenance
    mean: FloatArray
    sd: FloatArray
    draws: int
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.mean)

    def __repr__(self) -> str:
        return f"<Contrasts of {len(self)} columns, status {self.status}, reason {self.reason}>"

    @property
    def q5(self) -> FloatArray:
        """A chance of one in twenty that it is smaller."""
        return self.mean - _HALF_WIDTH * self.sd

    @property
    def q95(self) -> FloatArray:
        """A chance of one in twenty that it is larger."""
        return self.mean + _HALF_WIDTH * self.sd

    def to_dataframe(self, names: Sequence[str] | None = None) -> pandas.DataFrame:
        """A row a contrast: mean, sd, q5, q95. Needs pandas."""
        import pandas

        table = {name: getattr(self, name) for name in ("mean", "sd", "q5", "q95")}
        return pandas.DataFrame(table, index=list(names or self.names))


class Group:
    """Columns of the categories of one field, and what is subtracted from each.

    `names` are those of all parameters, by number; `shown` those by column name, if there are any.

    Raises:
        InvalidInput: there are fewer than two columns, one is given twice, or is not one of the
            `features`; `against` is not one of them; or the model is a network.
    """

    def __init__(
        self,
        columns: Sequence[int],
        against: int | None,
        features: int,
        names: tuple[str, ...],
        shown: tuple[str, ...] | None = None,
    ) -> None:
        if names[:1] == ("theta0",):
            raise InvalidInput("the weights of a network are of no column")
        if len(names) < features:
            raise InvalidInput(f"{len(names)} parameters are too few for {features} columns")
        try:
            self.columns = [operator.index(column) for column in columns]
        except TypeError:
            raise InvalidInput(f"columns={columns!r}: whole numbers, counted from 0") from None
        distinct = set(self.columns)
        if len(distinct) < 2 or len(distinct) < len(self.columns):
            raise InvalidInput(f"columns={list(columns)}: two or more, each once")
        if not all(0 <= column < features for column in distinct):
            raise InvalidInput(f"columns={list(columns)}: of 0 to {features - 1}")
        if against is not None and against not in distinct:
            raise InvalidInput(f"against={against}: one of columns={list(columns)}, or None")
        self._features = features
        self._names = names
        self._shown = shown or names
        share = 1 / len(self.columns)
        self._weights = np.array(
            [share if against is None else float(column == against) for column in self.columns]
        )

    @property
    def _contrasts(self) -> FloatArray:
        """Shape (columns, columns): one contrast a row."""
        contrasts: FloatArray = np.eye(len(self.columns)) - self._weights
        return contrasts

    def rows(self) -> FloatArray:
        """The rows for exact(): the average, then the average plus and minus each contrast."""
        table = np.zeros((1 + 2 * len(self.columns), self._features))
        table[:, self.columns] = self._weights
        table[1::2, self.columns] += self._contrasts
        table[2::2, self.columns] -= self._contrasts
        return table

    @property
    def has_one_predictor(self) -> bool:
        """Not one for each class, nor one for the mean and one for the variance."""
        return len(self._names) <= self._features + 1

    def exact(self, answer: Predictions) -> Contrasts | None:
        """The contrasts from the `answer` to rows(), for a model with one linear predictor; None
        where it is of several snapshots. The variance along a contrast is half the second
        difference of the linear predictor's variance.
        """
        if len({provenance.snapshot_id for provenance in answer.provenances}) > 1:
            return None
        mean, variance = answer.linpred_mean, answer.linpred_sd**2
        along = (variance[1::2] + variance[2::2]) / 2 - variance[0]
        return Contrasts(
            answer.provenance,
            (mean[1::2] - mean[2::2]) / 2,
            np.sqrt(np.maximum(along, 0)),
            0,
            tuple(self._shown[column] for column in self.columns),
        )

    def drawn(self, posterior: Posterior, draws: Draws) -> Contrasts:
        """Means from the posterior, sd from the draws, for each block of parameters."""
        stride = self._features + self._names[-1].endswith("intercept")
        at = np.arange(0, len(posterior), stride)[:, np.newaxis] + self.columns
        return Contrasts(
            posterior.provenance,
            (posterior.mean[at] @ self._contrasts.T).ravel(),
            (draws.theta[:, at] @ self._contrasts.T).std(axis=0, ddof=1).ravel(),
            len(draws),
            tuple(self._shown[i] for i in at.ravel()),
        )


def contrast_steps(client: Shared, columns: Sequence[int], against: int | None) -> Steps[Contrasts]:
    """The steps of Client.contrasts()."""
    group = Group(
        columns, against, client.features, client._parameter_names(False), client._parameter_names()
    )
    if group.has_one_predictor and not client._questions.welcome.max_nonzeros:
        asked = Asked(posterior_spread=True)
        results = yield from client._predict_steps(group.rows(), asked, None, None, None, None)
        exact = group.exact(Predictions(results, asked.interval, asked.quantiles))
        if exact is not None:
            return exact
    posterior = yield from client._posterior_steps()
    return group.drawn(posterior, (yield from client._draws_steps()))
