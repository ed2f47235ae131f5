"""Writes houses.csv, the rows of this manual's examples: invented, so that the truth is known.

price = 2,900 a square metre, + 120,000 in the harbour, + 60,000 in the centre, + 25,000 with a
garden, - 300 a year of age, + noise of sd 30,000; visits of the advertisement are counts with mean
exp(1.2 + 0.004 sqm + 0.5 in the centre). One cell of `built` in twelve is empty.
"""

import csv
import datetime
import math
import random
import sys

DISTRICTS = {"north": 0, "south": 0, "harbour": 120_000, "centre": 60_000}
ROWS = 3000


def count(numbers: random.Random, mean: float) -> int:
    """A draw from Poisson's law, by products of uniform numbers (Knuth)."""
    limit, k, product = math.exp(-mean), 0, numbers.random()
    while product > limit:
        k += 1
        product *= numbers.random()
    return k


def main() -> None:
    numbers = random.Random(1)
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["sold", "district", "sqm", "garden", "built", "visits", "price"])
    for row in range(ROWS):
        sold = datetime.date(2023, 1, 1) + datetime.timedelta(days=row * 700 // ROWS)
        district = numbers.choice(list(DISTRICTS))
        sqm = round(numbers.uniform(35, 180))
        garden = numbers.random() < 0.4
        built = numbers.randint(1930, 2022)
        visits = count(numbers, math.exp(1.2 + 0.004 * sqm + 0.5 * (district == "centre")))
        price = 2900 * sqm + DISTRICTS[district] + 25_000 * garden - 300 * (2022 - built)
        price += numbers.gauss(0, 30_000)
        shown = "" if numbers.random() < 1 / 12 else built
        table.writerow(
            [sold, district, sqm, "yes" if garden else "no", shown, visits, round(price, -2)]
        )


main()
