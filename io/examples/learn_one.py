"""A row at a time, as River has it: dicts in, the mean and how sure it is out."""

import csv
import sys
import time

from windhover.river import Regressor


def main(path: str) -> None:
    model = Regressor()  # starts a windhoverd of its own
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            x = {"sqm": float(row["sqm"]), "north": float(row["district"] == "north")}
            model.learn_one(x, float(row["price"]))
    asked = {"sqm": 85.0, "north": 1.0}
    while model.client.posterior().status == "warming_up":  # answers are of the newest posterior
        time.sleep(0.05)
    lower, upper = model.predict_interval_one(asked, 0.9)
    print(f"{model.predict_one(asked):.0f}, nine in ten within {lower:.0f} .. {upper:.0f}")


if __name__ == "__main__":
    main(sys.argv[1])
