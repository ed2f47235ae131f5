"""Bytes of the wire against the generated messages."""

import numpy as np
import pytest

from windhover import frames as wire
from windhover import rows as rows_module
from windhover import windhover_pb2 as pb
from windhover.errors import InvalidInput, ProtocolError
from windhover.posterior import Draws, Posterior
from windhover.provenance import (
    Horizon,
    ModelKind,
    PosteriorReason,
    PosteriorStatus,
    Provenance,
)
from windhover.reasons import Reason, _WORDS
from windhover.sent_frames import SentFrame, SentFrames
from windhover.status import PredictionScore


def parsed(frame):
    reader = wire.FrameReader()
    reader.feed(frame)
    (body,) = reader.frames()
    return pb.Request.FromString(body)


def rows_of(x, y, columns=3, sparse=False, single_precision=None):
    return rows_module.rows_of(
        x, y, columns=columns, sparse=sparse, single_precision=single_precision
    )


@pytest.mark.parametrize("value", [0, 1, 127, 128, 300, 2**32 - 1, 2**64 - 1])
def test_varint_is_what_protobuf_writes(value):
    message = pb.Request(id=value) if value else pb.Request()
    assert wire.field(1, value) == message.SerializeToString()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_dense_rows_are_the_message(kind):
    X = np.arange(12, dtype=kind).reshape(4, 3)
    y = np.arange(4, dtype=kind)
    rows = rows_of(X, y)
    frame = wire.framed(
        5, 3, [wire.field(3, 2), *rows.parts(1, 3, features=4, targets=6, indices=8)]
    )
    observe = parsed(frame).observe
    bits = "f32" if kind is np.float32 else "f64"
    assert parsed(frame).id == 5 and observe.rows == 2
    assert list(getattr(observe, "features_" + bits)) == X[1:3].ravel().tolist()
    assert list(getattr(observe, "targets_" + bits)) == [1, 2]


def test_sparse_rows_are_the_message_from_arrays_and_scipy():
    scipy_sparse = pytest.importorskip("scipy.sparse")
    X = np.array([[0, 1, 0], [2, 0, 3], [0, 0, 0], [0, 0, 4.0]])
    y = np.arange(4.0)
    for given in (X, scipy_sparse.csr_matrix(X), scipy_sparse.coo_matrix(X)):
        rows = rows_of(given, y, sparse=True)
        frame = wire.framed(1, 3, rows.parts(1, 4, features=4, targets=6, indices=8))
        observe = parsed(frame).observe
        assert list(observe.features_f64) == [2, 3, 4]
        assert list(observe.indices) == [0, 2, 2]
        assert list(observe.row_ends) == [2, 2, 3]


def test_pieces_fit_into_frames_and_cover_all_rows():
    X = np.ones((1000, 3))
    pieces = list(rows_of(X, X[:, 0]).pieces(100, 32 * 64))
    assert pieces[0] == (0, 64) and pieces[-1][1] == 1000
    assert all(a[1] == b[0] for a, b in zip(pieces, pieces[1:]))
    sparse = rows_of(X, X[:, 0], sparse=True)
    assert list(sparse.pieces(100, 32 * 64))[0] == (0, 42)  # 3 values and an end of 12 bytes a row
    with pytest.raises(InvalidInput, match="larger than a frame"):
        list(rows_of(X, X[:, 0]).pieces(100, 31))


@pytest.mark.parametrize(
    "x, y, why",
    [
        (np.ones((2, 4)), np.ones(2), "4 columns, the model has 3"),
        (np.ones((2, 3)), np.ones(3), "2 rows, y has 3"),
        (np.ones((2, 3, 1)), np.ones(2), "shape"),
        (np.ones((2, 3)), np.ones((2, 1)), "shape"),
        ([["a", "b", "c"]], [1.0], "numbers"),
    ],
)
def test_arrays_that_do_not_belong_are_refused_here(x, y, why):
    with pytest.raises(InvalidInput, match=why):
        rows_of(x, y)


def test_frames_are_found_however_they_are_cut():
    messages = [b"", b"a", b"b" * 200, b"e" * 70000]
    stream = b"".join(wire.varint(len(m)) + m for m in messages)
    reader = wire.FrameReader()
    found = []
    for begin in range(0, len(stream), 97):
        reader.feed(stream[begin : begin + 97])
        found += reader.frames()
    assert found == messages


@pytest.mark.parametrize("prefix", [b"\xff\xff\xff\xff\xff", b"\x80\x00", b"\xff\xff\xff\xff\x7f"])
def test_a_length_that_cannot_be_is_an_error(prefix):
    reader = wire.FrameReader()
    reader.feed(prefix + b"x")
    with pytest.raises(ProtocolError):
        list(reader.frames())


def test_sent_frames_hold_acknowledged_ones_while_there_is_room():
    frames = SentFrames()
    for i in range(4):
        frames.push(SentFrame(i + 1, i * 10, i * 10, 10, b"x" * 100))
    assert frames.up_to(3) == (3, 30)
    frames.acknowledge(3)
    assert frames.rows_on_the_way == 10
    frames.trim(250, durable=0)
    assert frames.first_kept(40) == 20 and frames.find(3).rows == 10 and frames.find(1) is None
    frames.trim(250, durable=30)
    assert frames.first_kept(40) == 30 and frames.bytes_on_the_way == 100
    frames.erase(frames.find(4))
    assert frames.first_on_the_way(40) == 40 and frames.rows_on_the_way == 0


# --- What is written by hand says what the protocol says


def test_reasons_are_those_of_the_protocol_each_with_words():
    assert {f"REASON_{reason.name}": reason.value for reason in Reason} == dict(pb.Reason.items())
    assert set(_WORDS) == set(Reason)
    assert Reason(12345) is Reason.REFUSED


@pytest.mark.parametrize(
    "ours, theirs, prefix",
    [
        (PosteriorStatus, pb.PosteriorState, "POSTERIOR_STATE_"),
        (PosteriorReason, pb.PosteriorReason, "POSTERIOR_REASON_"),
        (Horizon, pb.Horizon, "HORIZON_"),
        (ModelKind, pb.ModelKind, "MODEL_KIND_"),
    ],
)
def test_enumerations_are_those_of_the_protocol_in_their_order(ours, theirs, prefix):
    names = [prefix + one.name for one in ours if one.name != "UNKNOWN"]
    assert names == theirs.keys() and theirs.values() == list(range(len(names)))


@pytest.mark.parametrize(
    "ours, message, others",
    [
        (Provenance, pb.Provenance, {"status": "state", "age": "age_ns"}),
        (Posterior, pb.PosteriorSummaryResult, {"names": None}),
        (PredictionScore, pb.PredictionScore, {}),
    ],
)
def test_records_have_every_field_of_their_message(ours, message, others):
    here = {others.get(name, name) for name in ours.__dataclass_fields__} - {None}
    assert here == {field.name for field in message.DESCRIPTOR.fields}


def test_coverage_is_nan_where_a_server_sends_none():
    assert np.isnan(Provenance.of(pb.Provenance()).coverage_90)
    assert Provenance.of(pb.Provenance(coverage_90=0.8)).coverage_90 == 0.8
    none = pb.Provenance(reason=pb.POSTERIOR_REASON_PREDICTIVE)
    assert Provenance.of(none).coverage_90 == 0.0


@pytest.mark.parametrize("version", ["0.17.1", "1.2.0"])
def test_inference_data_is_asked_for_in_the_words_of_either_arviz(monkeypatch, version):
    import sys
    from types import ModuleType, SimpleNamespace

    asked = {}

    def from_dict(groups=None, *, posterior=None, coords, dims):
        assert (groups is None) == version.startswith("0")
        asked.update(groups or {"posterior": posterior}, coords=coords, dims=dims)
        return {"posterior": SimpleNamespace(attrs=asked)}

    arviz = ModuleType("arviz")
    arviz.__version__, arviz.from_dict = version, from_dict
    monkeypatch.setitem(sys.modules, "arviz", arviz)
    theta = np.arange(6.0).reshape(3, 2)
    Draws(Provenance.of(pb.Provenance()), theta, ("x1", "intercept")).to_inferencedata()
    assert (asked["posterior"]["theta"] == theta[np.newaxis]).all()
    assert asked["coords"] == {"parameter": ["x1", "intercept"]}
    assert asked["dims"] == {"theta": ["parameter"]} and asked["status"] == "warming_up"
