BEGIN {
  srand(1)
  print "user,ad,clicked"
  for (i = 0; i < 20000; ++i) {
    u = int(4000 * rand() ^ 3); a = int(300 * rand())
    p = 1 / (1 + exp(2 - 1.5 * sin(u) - sin(3 * a)))
    printf "u%d,a%d,%d\n", u, a, rand() < p
  }
}
