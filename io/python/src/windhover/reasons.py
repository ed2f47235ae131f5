"""Why a server refuses, by number and in words."""

from __future__ import annotations

import enum


class Reason(enum.IntEnum):
    """Why a row, a frame or a request was refused; numbers as on the wire.

    Reasons of a newer server become `REFUSED`.
    """

    OK = 0
    INVALID_CONFIG = 1
    ARENA_TOO_SMALL = 2
    INVALID_ARGUMENT = 3
    WINDOW_FULL = 4
    WRONG_DIMENSION = 5
    NOT_FINITE = 6
    TARGET_OUT_OF_DOMAIN = 7
    INDEX_OUT_OF_RANGE = 8
    INDICES_NOT_INCREASING = 9
    TOO_MANY_NONZEROS = 10
    TOO_LARGE = 11
    MALFORMED = 12
    UNSUPPORTED = 13
    NOT_PERMITTED = 14
    UNAVAILABLE = 15
    TIMEOUT = 16
    CLOSED = 17
    NOT_READY = 18
    DIVERGED = 19
    NOT_POSITIVE_DEFINITE = 20
    IO_ERROR = 21
    REFUSED = 22
    LOG_FULL = 23
    OFFSET_OUT_OF_RANGE = 24
    OFFSET_NOT_TAKEN = 25
    KEY_NOT_TAKEN = 26
    UNKNOWN_KEY = 27
    KEY_TIMED_OUT = 28
    WEIGHT_OUT_OF_RANGE = 29
    WEIGHT_NOT_TAKEN = 30
    TRIALS_OUT_OF_RANGE = 31
    TRIALS_NOT_TAKEN = 32
    TRIALS_MISSING = 33
    SEQUENCE_GAP = 64
    PRODUCER_BUSY = 65
    TABLE_FULL = 66
    FINGERPRINT_MISMATCH = 67
    HELLO_REQUIRED = 68
    UNKNOWN_PRODUCER = 69
    TOO_MANY_PRODUCERS = 70
    NOT_DURABLE = 71
    UNKNOWN_MODEL = 72

    @classmethod
    def _missing_(cls, value: object) -> Reason | None:
        return cls.REFUSED if isinstance(value, int) else None

    @property
    def words(self) -> str:
        """The reason in plain words."""
        return _WORDS[self]


_WORDS = {
    Reason.OK: "nothing is wrong",
    Reason.INVALID_CONFIG: "the configuration is not valid",
    Reason.ARENA_TOO_SMALL: "the server's memory block is too small",
    Reason.INVALID_ARGUMENT: "an argument is not valid",
    Reason.WINDOW_FULL: "the learner is behind and the window has no room",
    Reason.WRONG_DIMENSION: "the row has another number of columns than the model",
    Reason.NOT_FINITE: "a number is NaN, infinite or beyond 1e35",
    Reason.TARGET_OUT_OF_DOMAIN: "the target is not one that the model knows",
    Reason.INDEX_OUT_OF_RANGE: "a column number is not below the number of columns",
    Reason.INDICES_NOT_INCREASING: "column numbers do not increase within a row",
    Reason.TOO_MANY_NONZEROS: "a row has more nonzero values than the model takes",
    Reason.TOO_LARGE: "the request is larger than the server takes",
    Reason.MALFORMED: "the server could not read the request",
    Reason.UNSUPPORTED: "the server, this endpoint of it or the model does not do that",
    Reason.NOT_PERMITTED: "not permitted",
    Reason.UNAVAILABLE: "the server has no room for it now",
    Reason.TIMEOUT: "the server waited too long for this client",
    Reason.CLOSED: "the server is stopping",
    Reason.NOT_READY: "there is no posterior yet",
    Reason.DIVERGED: "the chains diverged",
    Reason.NOT_POSITIVE_DEFINITE: "a matrix is not positive definite",
    Reason.IO_ERROR: "the server's disk or network failed",
    Reason.REFUSED: "it says no more than that",
    Reason.LOG_FULL: "the server's log has no room until its next checkpoint",
    Reason.OFFSET_OUT_OF_RANGE: "the offset is NaN or too large",
    Reason.OFFSET_NOT_TAKEN: "the model's rows have no offset: model.offset is false",
    Reason.KEY_NOT_TAKEN: "the server keeps no keys: labels.pending, how many may wait, is 0",
    Reason.UNKNOWN_KEY: "nobody has asked with this key, or long ago, or before a restart",
    Reason.KEY_TIMED_OUT: "the outcome came later than labels.timeout_seconds",
    Reason.WEIGHT_OUT_OF_RANGE: "the weight is not between 1e-6 and 1e6",
    Reason.WEIGHT_NOT_TAKEN: "the model counts every row once: model.weight is false",
    Reason.TRIALS_OUT_OF_RANGE: "the number of trials is not a whole number of 1 to 1e9",
    Reason.TRIALS_NOT_TAKEN: "the model's rows have no trials: it is not binomial",
    Reason.TRIALS_MISSING: "the model is binomial: each row needs the number of its trials",
    Reason.SEQUENCE_GAP: "rows of this producer are missing before these",
    Reason.PRODUCER_BUSY: "another connection speaks for this producer",
    Reason.TABLE_FULL: "the server knows as many producers as it can",
    Reason.FINGERPRINT_MISMATCH: "rows mean something else to the server than to this client",
    Reason.HELLO_REQUIRED: "the conversation has not begun with Hello",
    Reason.UNKNOWN_PRODUCER: "the server does not know the producer: its first row must be row 0",
    Reason.TOO_MANY_PRODUCERS: "this connection speaks for as many producers as it may",
    Reason.NOT_DURABLE: "the server keeps no log on disk",
    Reason.UNKNOWN_MODEL: "the server has no model of that name",
}
