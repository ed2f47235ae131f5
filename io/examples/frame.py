"""Rows as people have them, to a server and back: houses.csv, with text, dates and empty cells.

    python frame.py houses.csv 127.0.0.1:7171 houses.toml

houses.toml is the server's own schema: `windhoverd --model.schema houses.toml`.
"""

import csv
import sys

import windhover

with open(sys.argv[1], newline="") as file:
    sales = list(csv.DictReader(file))  # pandas.read_csv(...) does as well

schema = windhover.Schema.load(sys.argv[3])
rows = schema.rows(sales)
asked = schema.questions(
    [
        {
            "sold": "2024-01-15",
            "district": "centre",
            "sqm": 85,
            "garden": garden,
            "built": None,
            "visits": 4,
        }
        for garden in (False, True)
    ]
)
with windhover.connect(sys.argv[2], schema=schema) as m:
    m.observe(rows.X, rows.y, **rows.extras)
    sent = m.wait().head
    answer = m.predict(asked.X, **asked.extras)
    while answer.provenance.sequence < sent:  # until answers hold these rows
        answer = m.predict(asked.X, **asked.extras)
    lower, upper = answer.interval(0.9)
    for i, garden in enumerate(["without a garden", "with one"]):
        print(f"{garden}: {answer.mean[i]:.0f}, 90 % within {lower[i]:.0f} .. {upper[i]:.0f}")
