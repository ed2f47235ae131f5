"""Data frames by a schema: the same rows as a file with the same cells, and answers of them."""

import asyncio
import csv
import datetime
import decimal
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import windhover
from windhover import cells
from windhover.daemon import Daemon, DaemonFailed

ROOT = Path(__file__).resolve().parents[3]
ROWS = 400


@pytest.fixture(autouse=True)
def command(windhover_command, monkeypatch):
    monkeypatch.setenv("WINDHOVER", windhover_command)
    return windhover_command


def houses():
    """Columns by name: numbers, text with a comma, whole numbers that may be missing, yes or no,
    and times."""
    rng = np.random.default_rng(3)
    sqm = rng.uniform(30, 150, ROWS)
    district = rng.choice(["north", "so,uth", 'e"ast'], ROWS)
    built = rng.integers(1900, 2020, ROWS).astype(float)
    built[::7] = np.nan
    garden = rng.random(ROWS) < 0.3
    begin = np.datetime64("2024-01-01T00:30")
    when = begin + rng.integers(0, 9000, ROWS).astype("timedelta64[h]")
    price = 3000 * sqm + 20000 * (district == "north") + 50000 * garden
    return {
        "sqm": sqm,
        "district": list(district),
        "built": built,
        "garden": garden,
        "when": when,
        "price": price + rng.normal(0, 20000, ROWS),
    }


def in_rows(columns):
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def encoded_by_hand(command, schema, text, tmp_path, *options):
    (tmp_path / "S.toml").write_text(schema.text)
    (tmp_path / "F.csv").write_text(text)
    words = ["encode", tmp_path / "F.csv", "--schema", tmp_path / "S.toml", *options]
    said = subprocess.run([command, *words], check=True, capture_output=True, text=True).stdout
    return np.loadtxt(said.splitlines()[1:], delimiter=",", ndmin=2)


def test_a_frame_becomes_the_rows_of_a_file_with_its_cells(command, tmp_path):
    columns = houses()
    schema = windhover.Schema.of(columns, "price")
    rows = schema.rows(columns)
    lines = ["sqm,district,built,garden,when,price"]
    for sqm, district, built, garden, when, price in zip(*columns.values()):
        quoted = '"' + district.replace('"', '""') + '"'
        year = "" if np.isnan(built) else f"{built:.0f}"
        time = str(when).replace("T", " ") + ":00"
        lines.append(f"{sqm!r},{quoted},{year},{garden},{time},{price!r}")
    by_hand = encoded_by_hand(command, schema, "\n".join(lines), tmp_path)
    np.testing.assert_array_equal(rows.index + 1, by_hand[:, 0])
    np.testing.assert_array_equal(rows.y, by_hand[:, 1])
    np.testing.assert_array_equal(rows.X, by_hand[:, 2:])
    np.testing.assert_array_equal(rows.y, columns["price"])
    assert rows.X.shape == (ROWS, len(schema.names))
    assert rows.extras == {}
    assert len(rows) == ROWS
    names = list(schema.names)
    north = rows.X[:, names.index("district=north")]
    np.testing.assert_array_equal(north, np.array(columns["district"]) == "north")
    np.testing.assert_array_equal(
        rows.X[:, names.index("built missing")], np.isnan(columns["built"])
    )
    np.testing.assert_array_equal(rows.X[:, names.index("garden")] > 0, columns["garden"])


def test_columns_rows_and_a_data_frame_are_the_same(command):
    pandas = pytest.importorskip("pandas")
    columns = houses()
    schema = windhover.Schema.of(columns, "price")
    frame = pandas.DataFrame(columns)
    frame["built"] = frame["built"].astype("Int64")  # with pandas.NA
    frame["district"] = frame["district"].astype("category")
    frame.loc[3, "when"] = pandas.NaT
    columns["when"][3] = np.datetime64("NaT")
    expected = schema.rows(columns)
    assert len(expected) == ROWS - 1  # the schema has no column for a missing time
    assert 3 not in expected.index
    for other in (frame, in_rows(columns)):
        rows = schema.rows(other)
        np.testing.assert_array_equal(rows.X, expected.X)
        np.testing.assert_array_equal(rows.y, expected.y)
        np.testing.assert_array_equal(rows.index, expected.index)


def test_a_schema_is_kept_in_a_file(tmp_path):
    schema = windhover.Schema.of(houses(), "price", "--leave-out", "built")
    assert "built" not in schema.names
    schema.save(tmp_path / "houses.toml")
    again = windhover.Schema.load(tmp_path / "houses.toml")
    assert again.names == schema.names
    assert again.fingerprint == schema.fingerprint != 0
    assert again.target == "price" and again.classes == ()


async def aio_connected(address, schema):
    async with windhover.aio.connect(address, schema=schema):
        pass


def test_asks_a_server_by_name(windhoverd, tmp_path):
    columns = houses()
    schema = windhover.Schema.of(columns, "price")
    path = tmp_path / "houses.toml"
    schema.save(path)
    rows = schema.rows(columns)
    north = {"sqm": 85, "district": "north", "built": None, "garden": False}
    asked = schema.questions([{**north, "when": datetime.datetime(2024, 5, 1, 10)}])
    assert asked.y is None
    with Daemon({"model.schema": path}, program=windhoverd) as daemon:
        with windhover.connect(daemon.observe, query=daemon.query, schema=schema) as m:
            m.observe(rows.X, rows.y, **rows.extras)
            m.wait()
            answer = m.predict(asked.X, **asked.extras)
            while answer.provenance.sequence < ROWS:
                answer = m.predict(asked.X, **asked.extras)
        other = windhover.Schema.of(columns, "price", "--leave-out", "built")
        with pytest.raises(windhover.Refused, match="another schema") as refused:
            windhover.connect(daemon.observe, schema=other)
        assert refused.value.reason == windhover.Reason.FINGERPRINT_MISMATCH
        with pytest.raises(windhover.Refused, match="another schema"):
            asyncio.run(aio_connected(daemon.observe, other))
        asyncio.run(aio_connected(daemon.observe, schema))
    # 275,000 +- 20,000 is true; the mean's own error is some 2,000.
    assert abs(answer.mean[0] - 275_000) < 15_000
    assert 15_000 < answer.sd[0] < 30_000


def test_the_example_of_a_frame_goes_through_a_server(windhoverd, tmp_path):
    data = ROOT / "tools/manual/pages/data/houses.csv"
    with open(data, newline="") as file:
        windhover.Schema.of(list(csv.DictReader(file)), "price").save(tmp_path / "houses.toml")
    path = os.pathsep.join([str(Path(windhover.__file__).parents[1]), *sys.path])
    with Daemon({"model.schema": tmp_path / "houses.toml"}, program=windhoverd) as daemon:
        said = subprocess.run(
            [
                sys.executable,
                ROOT / "io/examples/frame.py",
                data,
                daemon.observe,
                tmp_path / "houses.toml",
            ],
            env={**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "ignore"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    number = r"(\d{6})"
    answer = f"{number}, 90 % within {number} .. {number}"
    found = re.fullmatch(f"without a garden: {answer}\nwith one: {answer}\n", said)
    assert found, said
    without, low, high, with_one, _, _ = map(int, found.groups())
    assert low < without < high and 0 < with_one - without < high - low


TARGETS = """
target = "bought"
trials = "visits"
weight = "copies"
[[feature]]
field = "x"
kind = "number"
shift = 1.0
scale = 2.0
"""


def test_trials_weights_and_exposures_go_along():
    schema = windhover.Schema(TARGETS)
    frame = {"x": [1, 5], "bought": [3, 0], "visits": [10, 4], "copies": [1, 2.5]}
    rows = schema.rows(frame)
    np.testing.assert_array_equal(rows.X, [[0.0], [2.0]])
    np.testing.assert_array_equal(rows.y, [3, 0])
    assert sorted(rows.extras) == ["trials", "weights"]
    np.testing.assert_array_equal(rows.extras["trials"], [10, 4])
    np.testing.assert_array_equal(rows.extras["weights"], [1, 2.5])
    asked = schema.questions([{"x": 3, "visits": 7}])
    np.testing.assert_array_equal(asked.X, [[1.0]])
    assert list(asked.extras) == ["trials"]
    np.testing.assert_array_equal(asked.extras["trials"], [7])
    exposed = windhover.Schema(TARGETS.replace("trials", "exposure"))
    rows = exposed.rows(frame)
    assert sorted(rows.extras) == ["offsets", "weights"]
    np.testing.assert_allclose(rows.extras["offsets"], np.log([10, 4]), rtol=1e-15)
    np.testing.assert_array_equal(rows.extras["weights"], [1, 2.5])
    assert exposed.questions([{"x": 3}]).extras["offsets"] == [0]


SPARSE = """
target = "spam"
positive = "yes"
sparse = true
separator = ";"
decimal = ","
[[feature]]
field = "size"
kind = "number"
shift = 0.0
scale = 1.0
[[feature]]
hash = ["text"]
words = true
buckets = 64
"""


def test_sparse_rows_are_written_as_the_schema_reads_them(command, tmp_path):
    schema = windhover.Schema(SPARSE)
    assert schema.names is None
    assert schema.classes == ("not yes", "yes")
    frame = {
        "size": [1.5, 0, 0],
        "text": ["free; money free", "", "hello"],
        "spam": ["yes", "no", "no"],
    }
    rows = schema.rows(frame)
    np.testing.assert_array_equal(rows.y, [1, 0, 0])
    assert isinstance(rows.X, windhover.SparseRows)
    assert rows.X.indptr[1] == 3 and rows.X.indptr[2] == 3 and rows.X.indptr[3] == 4
    assert rows.X.data[0] == 1.5 and sorted(rows.X.data[1:3]) == [1.0, 2.0]
    assert rows.X.indices[0] == 0 and all(1 <= i <= 64 for i in rows.X.indices[1:])
    empty = schema.rows({"size": [0], "text": [""], "spam": ["no"]})
    assert list(empty.X.indptr) == [0, 0] and empty.X.indices.size == 0


def test_what_is_wrong_is_said_in_the_words_of_a_frame():
    columns = houses()
    schema = windhover.Schema.of(columns, "price")
    with pytest.raises(
        windhover.InvalidInput, match='line 3, column sqm: "big".*\n.*allow_skipped=True'
    ):
        schema.rows({**columns, "sqm": [50, "big"] + [60] * (ROWS - 2)})
    left = schema.rows({**columns, "sqm": [50, "big"] + [60] * (ROWS - 2)}, allow_skipped=True)
    assert 1 not in left.index and len(left) == ROWS - 1
    with pytest.raises(windhover.InvalidInput, match='the frame has no column "district"'):
        schema.questions([{"sqm": 85, "built": 1990}])
    with pytest.raises(windhover.InvalidInput, match="line 2, column when"):
        schema.questions(
            [{"sqm": 85, "district": "north", "built": 1, "garden": 1, "when": "soon"}]
        )
    with pytest.raises(windhover.InvalidInput, match="one name"):
        schema.rows({("a", "b"): [1]})
    with pytest.raises(windhover.InvalidInput, match="two columns are called 1"):
        schema.rows({1: [1], "1": [2]})
    with pytest.raises(windhover.InvalidInput, match="not a list of int"):
        schema.rows([1, 2])
    for cell in ([1], b"x", np.zeros(2), datetime.timedelta(1), np.timedelta64(1, "h")):
        with pytest.raises(windhover.InvalidInput, match="column sqm: .* of type"):
            schema.rows([{"sqm": cell}])
    with pytest.raises(windhover.InvalidInput, match="beyond the year 9999"):
        schema.rows([{"when": np.datetime64("12000-01-01")}])
    with pytest.raises(windhover.InvalidInput, match="no Unicode"):
        schema.rows([{"district": "a\ud800"}])
    for column in ({0: 1}, {1, 2}, np.zeros((2, 2)), np.array(3)):
        with pytest.raises(windhover.InvalidInput, match="sequence of cells"):
            schema.rows({"sqm": column})
    with pytest.raises(windhover.InvalidInput, match="different lengths: a 1, b 2"):
        schema.rows({"a": [1], "b": [1, 2]})
    with pytest.raises(windhover.InvalidInput, match="columns with names.*not ndarray"):
        schema.rows(np.zeros((2, 2)))
    with pytest.raises(windhover.InvalidInput, match=r"single row is \[{...}\]"):
        schema.questions({"sqm": 85})
    with pytest.raises(windhover.InvalidInput, match="no columns"):
        schema.rows([])
    with pytest.raises(windhover.InvalidInput, match='no column "cost"'):
        windhover.Schema.of(columns, "cost")
    with pytest.raises(windhover.InvalidInput, match="the schema"):
        windhover.Schema("target = ")


NUMBERED = """
target = "3"
[[feature]]
field = "1"
kind = "number"
shift = 0.0
scale = 1.0
missing = "column"
[[feature]]
field = "2"
kind = "number"
shift = 0.0
scale = 1.0
missing = "column"
"""


@pytest.mark.parametrize("files", ["", "header = false\n", 'separator = "tab"\nquotes = false\n'])
def test_columns_are_found_by_name_alone(files):
    schema = windhover.Schema(files + NUMBERED)
    rows = schema.rows({3: [30.0], "2": [20], 1: [10]})
    np.testing.assert_array_equal(rows.X, [[10, 0, 20, 0]])
    np.testing.assert_array_equal(rows.y, [30])
    np.testing.assert_array_equal(schema.questions([{1: 5, 2: 7}]).X, [[5, 0, 7, 0]])
    for other in ({"1": [1], "x": [2]}, {0: [1], 2: [7]}):
        with pytest.raises(windhover.InvalidInput, match='no column "[12]"; it has [^,]*, [^,]*$'):
            schema.questions(other)


def test_a_proposed_schema_takes_the_target_by_name():
    rng = np.random.default_rng(5)
    frame = {i: rng.normal(size=200) for i in range(4)}
    schema = windhover.Schema.of(frame, "1")
    np.testing.assert_array_equal(schema.rows(frame).y, frame[1])
    assert schema.names == ("0", "2", "3")
    with pytest.raises(windhover.InvalidInput, match='no column "4"; it has 0, 1, 2, 3'):
        windhover.Schema.of(frame, "4")


TEXTS = """
target = "y"
[[feature]]
field = "t"
kind = "category"
categories = ["", "NA", "a\\rb", "a\\nb", "5\\" pipe, long"]
other = "column"
"""


@pytest.mark.parametrize("files", ["", "quotes = false\n", 'separator = ";"\n'])
def test_every_text_is_one_cell_of_one_row(files):
    schema = windhover.Schema(files + TEXTS)
    texts = [" ", "a\rb", "", '5" pipe, long', "a\nb", "NA", "\t", "b"]
    for more in ({}, {"z": [1] * len(texts)}):  # one column, and several
        asked = schema.questions({"t": texts, **more})
        np.testing.assert_array_equal(asked.index, np.arange(len(texts)))
        place = [0, 2, 0, 4, 3, 1, 0, 5]
        np.testing.assert_array_equal(asked.X, np.eye(6)[place])


def test_numbers_are_written_in_the_form_of_the_schema():
    schema = windhover.Schema('decimal = ","\nthousands = true\n' + TARGETS)
    values = [decimal.Decimal("1.234"), 1.234, np.float32(1.234), "1,234", decimal.Decimal("1E+3")]
    frame = {
        "x": values,
        "bought": [1] * 5,
        "visits": [2] * 5,
        "copies": [decimal.Decimal("1.5")] * 5,
    }
    rows = schema.rows(frame)
    np.testing.assert_allclose(rows.X[:, 0] * 2 + 1, [1.234, 1.234, 1.234, 1.234, 1000], rtol=1e-12)
    np.testing.assert_array_equal(rows.extras["weights"], [1.5] * 5)


def test_single_precision_has_the_digits_that_a_file_would_have():
    pandas = pytest.importorskip("pandas")
    values = np.array([0.1, 0.3] * 100, dtype="f4")
    frame = pandas.DataFrame({"g": values, "y": np.arange(200.0)})
    schema = windhover.Schema.of(frame, "y", "--category", "g")
    assert schema.names == ("g=0.1", "g=0.3")
    np.testing.assert_array_equal(schema.questions([{"g": 0.1}]).X, [[1, 0]])
    np.testing.assert_array_equal(schema.rows(frame).X[:, 1], np.arange(200) % 2)


@pytest.mark.parametrize(
    ("script", "match"),
    [
        ("kill -9 $$", "ended with -9"),
        ("echo good day", "JSON"),
        (
            'echo "windhover: The following argument was not expected: --json" >&2; exit 2',
            "0.2 or later",
        ),
    ],
)
def test_a_command_that_is_another_one_is_not_the_frames_fault(
    script, match, monkeypatch, tmp_path
):
    program = tmp_path / "windhover"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("WINDHOVER", str(program))
    with pytest.raises(DaemonFailed, match=match):
        windhover.Schema(TARGETS)


def test_rows_that_are_lost_on_the_way_are_noticed(command, monkeypatch, tmp_path):
    schema = windhover.Schema(NUMBERED)
    program = tmp_path / "windhover"
    monkeypatch.setenv("WINDHOVER", str(program))
    for cut in (f'head -n 2 | "{command}" "$@"', f'"{command}" "$@" | head -n 2'):
        program.write_text(f"#!/bin/sh\n{cut}\n")
        program.chmod(0o755)
        with pytest.raises(DaemonFailed, match="other rows|have come"):
            schema.questions([{1: 5, 2: 7}] * 3)


def test_says_where_the_command_is_missing(monkeypatch):
    monkeypatch.setenv("WINDHOVER", "/no/such/program")
    with pytest.raises(
        DaemonFailed, match="set WINDHOVER to the path.*install the package windhover"
    ):
        windhover.Schema(TARGETS)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (float("nan"), ""),
        (np.datetime64("NaT"), ""),
        (decimal.Decimal("sNaN"), ""),
        (False, "False"),
        (np.True_, "True"),
        (3.0, "3"),
        (np.float32(0.1), '"0,1"'),
        (1e300, "1e+300"),
        (np.int64(-7), "-7"),
        (2**60, "1152921504606846976"),
        (datetime.date(2024, 2, 29), "2024-02-29"),
        (datetime.time(8, 5), "08:05:00"),
        (np.datetime64("2024-02-29T08:05"), "2024-02-29 08:05:00"),
        (" a ", " a "),
        ("a\rb", '"a\rb"'),
    ],
)
def test_a_value_as_a_cell(value, text):
    written, count = cells.csv_of({"a": [value], "b": ["x"]}, ",")
    assert count == 1
    assert written.decode() == f"a,b\r\n{text},x\r\n"


def test_a_row_of_one_missing_value_is_a_row():
    written, count = cells.csv_of({"a": [None, 1]})
    assert (written.decode(), count) == ("a,a_\r\n,0\r\n1,0\r\n", 2)


def test_a_schema_is_a_value():
    schema = windhover.Schema.of(houses(), "price")
    other = windhover.Schema(schema.text)
    assert schema == other and hash(schema) == hash(other) and schema != schema.text
    assert schema != windhover.Schema.of(houses(), "sqm")
    assert pickle.loads(pickle.dumps(schema)) == schema
    count = len(schema.names)
    print_as = f"<Schema of price, {count} features, fingerprint {schema.fingerprint:016x}>"
    assert repr(schema) == print_as
    for name in ("text", "names", "target", "more"):
        with pytest.raises(AttributeError, match="a schema is immutable"):
            setattr(schema, name, "other")
    with pytest.raises(AttributeError, match="a schema is immutable"):
        del schema.text


def test_schemas_that_cannot_be_are_told_in_words():
    for text in ("", " \n"):
        with pytest.raises(windhover.InvalidInput, match="^the schema is empty$"):
            windhover.Schema(text)
    for option in ("--names", "--json", "--help", "-h"):
        with pytest.raises(windhover.InvalidInput, match=f"^{option} makes no schema"):
            windhover.Schema.of(houses(), "price", option)
    durations = {"a": [datetime.timedelta(1)] * 9, "price": list(range(9))}
    with pytest.raises(windhover.InvalidInput, match="is a duration, which has no unit: give a n"):
        windhover.Schema.of(durations, "price")


def test_a_target_may_be_a_whole_number_as_columns_are():
    rng = np.random.default_rng(1)
    columns = {0: rng.normal(size=90), 1: rng.normal(size=90)}
    columns[2] = 7 * columns[0] + rng.normal(size=90)
    schema = windhover.Schema.of(columns, 2)
    assert schema.target == "2" and schema.names == ("0", "1")
    np.testing.assert_allclose(schema.rows(columns).y, columns[2])
    with pytest.raises(windhover.InvalidInput, match='no column "3"; it has 0, 1, 2'):
        windhover.Schema.of(columns, 3)


def test_parameters_are_called_by_the_features_of_the_schema(daemon, tmp_path):
    schema = windhover.Schema.of(houses(), "price")
    schema.save(tmp_path / "S.toml")
    server = daemon(model__features=len(schema.names), model__schema=tmp_path / "S.toml")
    encoded = schema.rows(houses())
    names = (*schema.names, "intercept")
    with windhover.connect(server.observe, schema=schema) as m:
        m.observe(encoded.X, encoded.y)
        m.wait()
        assert m.posterior().names == m.draws().names == names
        assert m.contrasts([0, 1]).names == names[:2]

    async def asked():
        async with windhover.aio.connect(server.observe, schema=schema) as m:
            return (await m.posterior()).names

    assert asyncio.run(asked()) == names
