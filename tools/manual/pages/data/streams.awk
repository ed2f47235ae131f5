# Rows x,y of a known truth, y = 1 + 2 x + noise, and what goes wrong with them by `kind`:
#   awk -v n=3000 -v kind=drift -f streams.awk > drift.csv
function uniform() { state = (state * 16807) % 2147483647; return state / 2147483647 }
function normal(   i, sum) { sum = -6; for (i = 0; i < 12; ++i) sum += uniform(); return sum }
BEGIN {
  state = 42
  print "x,y"
  for (row = 0; row < n; ++row) {
    x = normal()
    noise = normal()
    if (kind == "drift" && row >= 0.9 * n) slope = 3; else slope = 2
    if (kind == "dependent") noise = last = 0.9 * last + noise
    if (kind == "skewed") noise = exp(1.2 * noise)
    y = 1 + slope * x + noise
    if (kind == "counts") y = int(exp(0.5 * x + 1 + 1.2 * noise))
    print x "," y
  }
}
