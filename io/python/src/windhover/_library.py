"""libwindhover.so by ctypes: the structs and functions of io/c that `Engine` needs.

The tests compile the headers and compare every size and place with those here.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import (
    POINTER,
    c_char_p,
    c_double,
    c_int,
    c_int64,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)
from typing import Any

NAME = "libwindhover.so.0"
MAX_QUANTILES = 16
MAX_THRESHOLDS = 8
MAX_EVENTS = 64

Numbers = POINTER(c_double)


def _fields(text: str) -> list[tuple[str, Any]]:
    """From "TYPE name name; TYPE name"."""
    types = {"d": c_double, "D": Numbers, "i": c_int, "i64": c_int64, "s": c_char_p, "z": c_size_t}
    types |= {"u32": c_uint32, "u64": c_uint64, "p": c_void_p}
    groups = [group.split() for group in text.split(";")]
    return [(name, types[group[0]]) for group in groups for name in group[1:]]


class Failure(ctypes.Structure):
    _fields_ = _fields("s sentence; d number")


class EngineOptions(ctypes.Structure):
    _fields_ = _fields(
        "z struct_size; s model; u32 features max_nonzeros; i intercept;"
        "d prior_precision intercept_precision; i learn_prior_precision;"
        "d noise_variance degrees_of_freedom; u32 classes hidden hidden2; s sampler;"
        "u32 minibatch_size chains; d temperature; i horizon; u64 window_size window_slack;"
        "u32 max_frame_rows; d draws_per_observation; i score_predictions checkpoints;"
        "u32 learner_threads retained_draws max_readers max_query_rows;"
        "u64 seed schema_fingerprint; i offset; u32 labels_pending;"
        "d labels_timeout_seconds labels_timeout_outcome; i weight surprising_rows structure"
    )


class Rows(ctypes.Structure):
    _fields_ = _fields(
        "z struct_size rows; D features; z feature_values; D targets; p indices row_ends;"
        "D offsets weights trials"
    )


class RefusedRow(ctypes.Structure):
    _fields_ = _fields("u64 row; i reason")


class Question(ctypes.Structure):
    _fields_ = _fields(
        "z struct_size rows; D features; z feature_values; p indices row_ends; D outcomes quantiles;"
        "z quantile_count; D thresholds; z threshold_count; d interval; u64 thompson_id; D offsets;"
        "p keys; D trials"
    )


class Prediction(ctypes.Structure):
    _fields_ = _fields(
        "d linpred_mean linpred_sd epred_mean epred_sd mean sd var_epistemic var_aleatoric"
        " interval_lower interval_upper entropy expected_entropy mutual_information log_score pit"
        " crps brier prob_best expected_regret thompson conformal_lower conformal_upper;"
        "u64 conformal_set; d conformal_alpha; i pending"
    )


class ProvenanceStruct(ctypes.Structure):
    _fields_ = _fields(
        "z struct_size; u64 snapshot_id sequence n_seen n_eff steps; i64 age_ns; u64 draws;"
        "i status reason horizon; u64 recovery_target divergences;"
        "d ess_bulk ess_tail r_hat autocorrelation_time draws_per_observation ou_ratio law_ratio"
        " misspecification_index prior_conflict score_autocorrelation drift_score repeated_rows"
        " coverage_90 noise_variance noise_variance_sd conformal_coverage_90;"
        "u64 drift_onset; i64 drift_onset_time_ns; d r_hat_chance"
    )

    @property
    def state(self) -> int:
        """As the message of the wire calls it."""
        return int(self.status)


class AnswerStruct(ctypes.Structure):
    _fields_ = _fields(
        "z struct_size; p predictions; z prediction_size; D quantiles exceedance; z classes;"
        "D probabilities probabilities_sd probabilities_lower probabilities_upper; p provenance"
    )


class Parameter(ctypes.Structure):
    _fields_ = _fields(
        "d mean mode sd sd_robust q5 q50 q95 ess_bulk r_hat ess_tail mcse_mean"
        " autocorrelation_time prior_precision drift_score"
    )


class JoinedStruct(ctypes.Structure):
    _fields_ = _fields("z struct_size; u64 accepted refused duplicate")


class EventStruct(ctypes.Structure):
    _fields_ = _fields(
        "u64 id; i kind from status reason; i64 time_ns; u64 times; i64 first_time_ns; u64 row;"
        "d number before; u64 drift_onset; i64 drift_onset_time_ns"
    )

    @property
    def state(self) -> int:
        """As the message of the wire calls it."""
        return int(self.status)


WRITE = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t)
READ = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t)

# Each returns a windhover_status.
_CALLS: dict[str, list[Any]] = {
    "engine_footprint": [POINTER(EngineOptions), POINTER(c_size_t), POINTER(Failure)],
    "engine_create": [POINTER(EngineOptions), POINTER(c_void_p), POINTER(Failure)],
    "engine_observe_rows": [
        c_void_p,
        POINTER(Rows),
        POINTER(RefusedRow),
        c_size_t,
        POINTER(c_size_t),
        POINTER(c_size_t),
    ],
    "engine_outcomes": [
        c_void_p,
        POINTER(c_char_p),
        Numbers,
        c_size_t,
        POINTER(RefusedRow),
        c_size_t,
        POINTER(JoinedStruct),
    ],
    "engine_settle_labels": [c_void_p],
    "engine_pause": [c_void_p, c_int],
    "engine_poll": [c_void_p, c_int, POINTER(c_int)],
    "engine_start": [c_void_p],
    "engine_stop": [c_void_p],
    "engine_save": [c_void_p, WRITE, c_void_p],
    "engine_restore": [c_void_p, READ, c_void_p, POINTER(Failure)],
    "reader_create": [c_void_p, POINTER(c_void_p)],
    "reader_predict": [c_void_p, POINTER(Question), POINTER(AnswerStruct)],
    "reader_posterior": [c_void_p, c_void_p, c_size_t, c_size_t, c_void_p],
    "reader_events": [
        c_void_p,
        POINTER(EventStruct),
        c_size_t,
        c_size_t,
        POINTER(c_size_t),
    ],
    "reader_draws": [c_void_p, c_size_t, c_size_t, Numbers, c_size_t, c_void_p],
    "reader_release": [c_void_p],
}
_INITS = {
    "engine_options": EngineOptions,
    "rows": Rows,
    "question": Question,
    "provenance": ProvenanceStruct,
    "answer": AnswerStruct,
    "joined": JoinedStruct,
}
_loaded: dict[str, ctypes.CDLL] = {}


def load() -> ctypes.CDLL:
    """The library that the environment variable WINDHOVER_LIBRARY names, or the system's.

    Raises:
        OSError: there is none, or it is not one.
    """
    path = os.environ.get("WINDHOVER_LIBRARY") or NAME
    if path not in _loaded:
        try:
            library = ctypes.CDLL(path)  # a call lets other threads of Python run
        except OSError as error:
            raise OSError(
                f"{error}: apt install ./libwindhover0_*.deb, or name it in WINDHOVER_LIBRARY"
            ) from None
        if not hasattr(library, "windhover_engine_create"):
            raise OSError(f"{path}: not the library of this engine")
        for name, arguments in _CALLS.items():
            call = getattr(library, f"windhover_{name}")
            call.argtypes, call.restype = arguments, c_int
        for name, struct in _INITS.items():
            call = getattr(library, f"windhover_{name}_init")
            call.argtypes, call.restype = [POINTER(struct), c_size_t], None
        for name in ("engine_destroy", "reader_destroy"):
            call = getattr(library, f"windhover_{name}")
            call.argtypes, call.restype = [c_void_p], None
        library.windhover_engine_dimension.argtypes = [c_void_p]
        library.windhover_engine_dimension.restype = c_uint32
        for name in ("head", "pending_labels"):
            call = getattr(library, f"windhover_engine_{name}")
            call.argtypes, call.restype = [c_void_p], c_uint64
        for name in ("status", "reason"):
            call = getattr(library, f"windhover_{name}_text")
            call.argtypes, call.restype = [c_int], c_char_p
        _loaded[path] = library
    return _loaded[path]


def made(library: ctypes.CDLL, name: str) -> Any:
    """A struct with the library's defaults."""
    struct = _INITS[name]()
    getattr(library, f"windhover_{name}_init")(ctypes.byref(struct), ctypes.sizeof(struct))
    return struct
