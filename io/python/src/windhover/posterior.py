"""The posterior and its draws as numpy arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .provenance import Answer, ModelKind, Provenance
from .results import FloatArray

if TYPE_CHECKING:
    import pandas


def parameter_names(
    width: int,
    dimension: int,
    kind: ModelKind,
    classes: int,
    network: bool = False,
    columns: Sequence[str] | None = None,
) -> tuple[str, ...]:
    """Names of a model's parameters, as `windhover posterior` prints them: those of its `columns`,
    or x1, x2, ... without.

    `width` is the number of columns of a row, `classes` that of a softmax model, otherwise 0. The
    weights of a `network`, or of a model whose number of parameters fits no other, are theta0, ...
    """
    blocks = [f"{k}: " for k in range(1, classes)] or [""]
    if kind is ModelKind.HETEROSCEDASTIC:
        blocks = ["log variance: ", ""]
    names = list(columns or (f"x{i}" for i in range(1, width + 1)))
    if dimension > len(blocks) * width:
        names.append("intercept")
    if network or dimension != len(blocks) * len(names):
        return tuple(f"theta{i}" for i in range(dimension))
    return tuple(block + name for block in blocks for name in names)


@dataclass(frozen=True, repr=False)
class Posterior(Answer):
    """Marginals of the parameters: each array has one number a parameter, the intercept last.

    Attributes:
        mean, mode, sd: of the posterior; mode is NaN for a network.
        sd_robust: by the sandwich, which holds where the model does not; or NaN.
        q5, q50, q95: quantiles of the draws.
        ess_bulk, ess_tail: effective numbers of draws.
        r_hat: of the chains; `provenance.r_hat_chance` is its 99 % quantile where all chains agree.
        mcse_mean: Monte Carlo error of the chains' mean.
        autocorrelation_time: of one chain, in steps, or NaN.
        prior_precision: given or learned.
        drift_score: how much larger the parameter is by the newest tenth of the window than by the
            rest, in standard deviations of that difference; NaN where it is not known.
    """

    provenance: Provenance
    mean: FloatArray
    mode: FloatArray
    sd: FloatArray
    sd_robust: FloatArray
    q5: FloatArray
    q50: FloatArray
    q95: FloatArray
    ess_bulk: FloatArray
    r_hat: FloatArray
    ess_tail: FloatArray
    mcse_mean: FloatArray
    autocorrelation_time: FloatArray
    prior_precision: FloatArray
    drift_score: FloatArray
    names: tuple[str, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.mean)

    def __repr__(self) -> str:
        return f"<Posterior of {len(self)} parameters, status {self.status}, reason {self.reason}>"

    def to_dataframe(self, names: Sequence[str] | None = None) -> pandas.DataFrame:
        """One row for each parameter, one column for each array. Needs pandas."""
        import pandas

        columns = {name: getattr(self, name) for name in POSTERIOR_ARRAYS}
        return pandas.DataFrame(columns, index=list(names or self.names))


POSTERIOR_ARRAYS = tuple(Posterior.__dataclass_fields__)[1:-1]


@dataclass(frozen=True, repr=False)
class Draws(Answer):
    """All retained draws of one snapshot.

    Attributes:
        theta: shape (draws, dimension): one column for each parameter, the intercept last.
        names: of the columns.
    """

    provenance: Provenance
    theta: FloatArray
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.theta)

    def __repr__(self) -> str:
        draws, dimension = self.theta.shape
        return f"<{draws} draws of {dimension} parameters, status {self.status}>"

    def to_dataframe(self) -> pandas.DataFrame:
        """One row for each draw, one column for each parameter. Needs pandas."""
        import pandas

        return pandas.DataFrame(self.theta, columns=list(self.names))

    def to_inferencedata(self) -> Any:
        """A copy as ArviZ InferenceData: `posterior` has theta, with the coordinate `parameter`.
        Needs ArviZ.

        The draws of all chains are mixed into one chain: take `ess_bulk` and `r_hat` from
        `posterior()`, not from ArviZ. The attributes say so, and have the status.
        """
        import arviz

        groups = {"posterior": {"theta": self.theta[np.newaxis].copy()}}
        named = {"coords": {"parameter": list(self.names)}, "dims": {"theta": ["parameter"]}}
        if int(arviz.__version__.split(".")[0]) >= 1:
            data = arviz.from_dict(groups, **named)
        else:
            data = arviz.from_dict(**groups, **named)
        data["posterior"].attrs.update(
            status=str(self.status),
            reason=str(self.reason),
            inference_library="windhover",
            comment="draws of all chains mixed, as one chain: ess and r_hat are posterior()'s",
        )
        return data
