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
    """What the parameters of a model are called, as `windhover posterior` has them: by its `columns`,
    or by x1, x2, ... where these have no names. `width`: columns of a row; `classes`: of softmax, otherwise 0. Those of a
    `network` have none; of one on a server that does not say so it is known by their number alone.
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
        mean, mode, sd: of the posterior; mode is NaN of a network.
        sd_robust: of the sandwich, which holds when the model does not; or NaN.
        q5, q50, q95: quantiles of the draws.
        ess_bulk, ess_tail: how many independent draws the chains' own are worth.
        r_hat: of the chains; `provenance.r_hat_chance` is the most that chance makes of it.
        mcse_mean: Monte Carlo error of the chains' mean.
        autocorrelation_time: of one chain, in steps, or NaN.
        prior_precision: given or learned.
        drift_score: what has moved: how much larger the newest tenth of the window would have it, in
            standard deviations of that difference; NaN where it is not known.
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
        """A row a parameter, a column an array. Needs pandas."""
        import pandas

        columns = {name: getattr(self, name) for name in POSTERIOR_ARRAYS}
        return pandas.DataFrame(columns, index=list(names or self.names))


POSTERIOR_ARRAYS = tuple(Posterior.__dataclass_fields__)[1:-1]


@dataclass(frozen=True, repr=False)
class Draws(Answer):
    """All retained draws of one snapshot.

    Attributes:
        theta: shape (draws, dimension), a parameter a column, the intercept last.
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
        """A row a draw, a column a parameter. Needs pandas."""
        import pandas

        return pandas.DataFrame(self.theta, columns=list(self.names))

    def to_inferencedata(self) -> Any:
        """ArviZ InferenceData: `posterior` has theta, with the coordinate `parameter`. Needs ArviZ.

        The draws are those of all chains mixed, as one chain: take `ess_bulk` and `r_hat` from
        `posterior()`, not from ArviZ. A copy, whose attributes say that, and the status.
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
