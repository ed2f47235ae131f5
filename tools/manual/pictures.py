#!/usr/bin/env python3
"""Draws the manual's pictures from real answers, with gnuplot.

    tools/manual/pictures.py WINDHOVERD WINDHOVER

It starts daemons on Unix-domain sockets in a temporary folder, sends them the pages' data, and
writes tools/manual/pages/pictures/*.svg. The numbers of a run are those of the next, but for draws.
"""

import csv
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PAGES = Path(__file__).resolve().parent / "pages"
STYLE = """
set terminal svg size 720,{height} font "DejaVu Sans,13" background "white"
set output "{output}"
set datafile separator ","
set border 3 lc rgb "#59636e"
set tics nomirror out textcolor rgb "#1d2329"
set grid lc rgb "#e3e7eb"
set key textcolor rgb "#1d2329"
set style line 1 lc rgb "#0b5cad" lw 2.5
set style line 2 lc rgb "#c4572b" lw 2.5 dt 2
set style line 3 lc rgb "#3d8a5a" lw 2.5 dt 4
"""


class Model:
    """A daemon with one model, and the commands that ask it."""

    def __init__(self, programs, folder, schema, *options):
        self.windhover = programs[1]
        self.schema = schema
        self.at = [f"unix:{folder}/{name}_{time.monotonic_ns()}" for name in ("observe", "query")]
        observe, query = (address.removeprefix("unix:") for address in self.at)
        self.daemon = subprocess.Popen(
            [programs[0], "--model.schema", schema, "--server.observe.unix_path", observe]
            + ["--server.query.unix_path", query, "--server.observe.tcp_address", ""]
            + ["--server.query.tcp_address", "", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert "ready" in self.daemon.stdout.readline()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.daemon.terminate()
        self.daemon.wait()

    def tell(self, *arguments):
        return subprocess.run(
            [self.windhover, *arguments, "--schema", self.schema],
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    def send(self, file):
        self.tell("send", str(file), "--to", self.at[0])

    def settled(self, rows):
        """The posterior as JSON, once it is of so many rows and nothing more is to be done."""
        before = None
        while True:
            said = json.loads(self.tell("posterior", "--to", self.at[1], "--json"))
            now = said["provenance"]
            if now["sequence"] >= rows and now["snapshot_id"] == before:
                return said
            before = now["snapshot_id"]
            time.sleep(0.15)

    def predict(self, *arguments):
        return self.tell("predict", "--to", self.at[1], *arguments)


def write(path, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    return path


def draw(name, height, commands):
    output = PAGES / "pictures" / f"{name}.svg"
    script = STYLE.format(height=height, output=output) + commands
    subprocess.run(["gnuplot"], input=script, check=True, text=True)


def band(model, folder):
    """Price by floor space: how well the expectation is known, and where one house lies."""
    house = ["north", "yes", 1990, 4, "2024-12-01"]
    names = ["sqm", "district", "garden", "built", "visits", "sold"]
    questions = write(folder / "grid.csv", [names] + [[sqm] + house for sqm in range(35, 181, 5)])
    answers = folder / "grid_answers.csv"
    answers.write_text(model.predict("--file", str(questions)))
    with open(PAGES / "data/houses.csv", newline="") as file:
        alike = [
            r for r in csv.DictReader(file) if r["district"] == "north" and r["garden"] == "yes"
        ]
    points = write(folder / "points.csv", [[r["sqm"], r["price"]] for r in alike])
    columns = next(csv.reader(open(answers)))
    at = {
        name: columns.index("answer_" + name) + 1
        for name in ("mean", "epred_sd", "interval_lower", "interval_upper")
    }
    draw(
        "band",
        400,
        f"""
set xlabel "square metres"; set ylabel "price, thousands"; set key left top reverse Left
plot "{answers}" every ::1 using 1:(${at['interval_lower']}/1e3):(${at['interval_upper']}/1e3) \\
  with filledcurves lc rgb "#cfe0f3" title "one house, 90 %: interval\\\\_lower .. interval\\\\_upper", \\
  "{points}" using 1:($2/1e3) with points pt 7 ps 0.3 lc rgb "#59636e" title "houses in the north with a garden", \\
  "{answers}" every ::1 using 1:((${at['mean']}-1.645*${at['epred_sd']})/1e3):((${at['mean']}+1.645*${at['epred_sd']})/1e3) \\
  with filledcurves lc rgb "#0b5cad" title "their mean price, 90 %: epred\\\\_mean, epred\\\\_sd"
""",
    )


QUESTION = [
    word
    for name, value in {
        "district": "north",
        "garden": "yes",
        "built": "1990",
        "visits": "4",
        "sqm": "85",
        "sold": "2024-12-01",
    }.items()
    for word in ("--set", f"{name}={value}")
]


def growth(programs, folder, schema):
    """What more rows make smaller, and what they do not."""
    with open(PAGES / "data/houses.csv", newline="") as file:
        names, *rows = list(csv.reader(file))
    question = QUESTION[:-2]  # without the date, which the first rows hardly vary
    found = []
    sizes = [50, 75, 100, 150, 200, 300, 500, 750, 1000, 1500, 2000, 3000]
    for size in sizes:
        options = ["--engine.window_size", str(size)]
        with Model(programs, folder, schema, *options) as model:
            model.send(write(folder / "some.csv", [names] + rows[:size]))
            model.settled(size)
            answer = json.loads(model.predict(*question, "--json"))["predictions"][0]
            found.append([size, answer["epred_sd"], answer["sd"]])
    table = write(folder / "growth.csv", found)
    draw(
        "growth",
        340,
        f"""
set logscale xy; set xrange [45:3300]; set yrange [1000:60000]; set xlabel "rows"; set ylabel "of a price"
set xtics (50, 100, 200, 500, 1000, 2000, 3000); set ytics (1000, 3000, 10000, 30000); set key at graph 0.98, 0.72
plot "{table}" using 1:3 with linespoints ls 2 pt 7 ps 0.6 title "sd: of one house", \\
  "{table}" using 1:2 with linespoints ls 1 pt 7 ps 0.6 title "epred\\\\_sd: of their mean"
""",
    )
    return found


def density(model):
    """One answer with the fields that describe it."""
    answer = json.loads(
        model.predict(*QUESTION, "--quantile", "0.25", "--threshold", "300000", "--json")
    )["predictions"][0]
    values = {
        name: answer[name] / 1e3 for name in ("mean", "sd", "interval_lower", "interval_upper")
    }
    quarter = answer["quantiles"][0]["value"] / 1e3
    share = answer["exceedance"][0]["probability"]
    draw(
        "density",
        330,
        f"""
m = {values['mean']}; s = {values['sd']}
f(x) = exp(-0.5 * ((x - m) / s) ** 2) / (s * sqrt(2 * pi))
set samples 500; set xrange [m-3.4*s:m+3.4*s]; set yrange [0:f(m)*1.28]; unset ytics; unset key; set border 1
set xlabel "price, thousands"
set arrow 1 from m,0 to m,f(m) nohead lc rgb "#1d2329" dt 3
set label 1 "mean" at m,f(m)*1.06 center
set arrow 2 from {values['interval_lower']},f(m)*0.06 to {values['interval_upper']},f(m)*0.06 heads front lc rgb "#0b5cad" lw 2
set label 2 "interval, 90 %" at m-0.1*s,f(m)*0.12 right textcolor rgb "#0b5cad"
set label 3 "exceedance, P(y > 300) = {share:.3f}" at 303,f(m)*0.52 left textcolor rgb "#a3431d"
set arrow 4 from {quarter},0 to {quarter},f({quarter}) nohead lc rgb "#3d8a5a" lw 2
set label 4 "quantile 0.25" at {quarter}-3,f({quarter})*1.03 right textcolor rgb "#2c6b44"
set arrow 5 from m,f(m)*0.607 to m+s,f(m)*0.607 heads lc rgb "#59636e"
set label 5 "sd" at m+0.5*s,f(m)*0.655 center textcolor rgb "#59636e"
plot [m-3.4*s:m+3.4*s] f(x) with lines ls 1, \\
  '+' using (\\$1 > 300 ? \\$1 : NaN):(f(\\$1)) with filledcurves y1=0 lc rgb "#eebfa9"
""".replace(
            "\\$", "$"
        ),
    )


def memory(programs, folder):
    """How each horizon follows a slope that changes from 2 to 3."""
    awk = ["awk", "-v", "n=12000", "-v", "kind=good", "-f", str(PAGES / "data/streams.awk")]
    lines = subprocess.run(awk, check=True, capture_output=True, text=True).stdout.splitlines()
    rows = [[float(v) for v in line.split(",")] for line in lines[1:]]
    for index in range(6000, 12000):
        rows[index][1] += rows[index][0]
    schema = folder / "memory.toml"
    schema.write_text(
        'target = "y"\n[[feature]]\nfield = "x"\nkind = "number"\nshift = 0\nscale = 1\n'
    )
    horizons = {
        "window of 2,000": ["--engine.window_size", "2000"],
        "fading, worth 2,000": [
            "--engine.horizon",
            "fading",
            "--engine.window_size",
            "2000",
        ],
        "all": ["--engine.horizon", "all"],
    }
    curves = {}
    for name, options in horizons.items():
        curves[name] = []
        with Model(programs, folder, str(schema), *options) as model:
            for end in range(400, 12001, 400):
                model.send(write(folder / "piece.csv", [["x", "y"]] + rows[end - 400 : end]))
                said = model.settled(end)
                slope = next(p for p in said["parameters"] if p["name"] == "x")
                curves[name].append([end, slope["mean"], slope["sd"]])
    plots = []
    for style, (name, curve) in enumerate(curves.items(), 1):
        table = write(folder / f"memory_{style}.csv", curve)
        plots.append(f'"{table}" using 1:2 with lines ls {style} title "{name}"')
    draw(
        "memory",
        340,
        f"""
set xlabel "rows seen"; set ylabel "slope of x"; set yrange [1.8:3.2]; set key left top reverse Left
set arrow from 0,2 to 6000,2 nohead lc rgb "#9aa5b0" lw 1; set arrow from 6000,3 to 12000,3 nohead lc rgb "#9aa5b0" lw 1
plot {", ".join(plots)}
""",
    )
    return curves


def main():
    programs = [str(Path(argument).resolve()) for argument in sys.argv[1:3]]
    (PAGES / "pictures").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        houses = str(PAGES / "data/houses.csv")
        schema = folder / "houses.toml"
        schema.write_text(
            subprocess.run(
                [programs[1], "schema", houses, "--target", "price"],
                check=True,
                capture_output=True,
                text=True,
            ).stdout
        )
        with Model(programs, folder, str(schema)) as model:
            model.send(houses)
            model.settled(3000)
            band(model, folder)
            density(model)
        timeless = folder / "timeless.toml"
        timeless.write_text(
            subprocess.run(
                [programs[1], "schema", houses, "--target", "price", "--leave-out", "sold"],
                check=True,
                capture_output=True,
                text=True,
            ).stdout
        )
        for size, of_mean, of_one in growth(programs, folder, str(timeless)):
            print(f"{size} rows: epred_sd {of_mean:.0f}, sd {of_one:.0f}")
        for name, curve in memory(programs, folder).items():
            print(name, " ".join(f"{mean:.2f}" for _, mean, _ in curve))


main()
