// One commit of the log to the disk that holds the temporary folder (TMPDIR), beside the same bytes
// in LMDB and beside a bare write and fdatasync; see micro_benchmarks.cc. Latencies in
// microseconds. Each works within 256 MiB, so that all of them write over what they wrote before.
#include <lmdb.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "windhover/io/durable/log_writer.h"
#include "windhover/io/durable/posix_folder.h"
#include "windhover/platform/clock.h"
#include "windhover/tools/bench/durable.h"
#include "windhover/tools/bench/heap_column.h"
#include "windhover/tools/bench/timing.h"
#include "windhover/tools/temporary_folder.h"

namespace windhover::micro_log {
namespace {

constexpr LogOptions kLog{256ULL << 20, 16ULL << 20, 2ULL << 20};

// Times commit(i), which returns whether it succeeded, and shows the median and the 99th
// percentile.
template <class Commit>
void time_commits(benchmark::State& state, Commit&& commit) {
  std::vector<double> taken;  // us
  taken.reserve(1 << 20);
  RealClock clock;
  bool all = true;
  std::uint64_t i = 0;
  measure(state, [&] {
    const std::int64_t begin = clock.now_ns();
    all = commit(i++) && all;
    if (taken.size() < taken.capacity())
      taken.push_back(1e-3 * static_cast<double>(clock.now_ns() - begin));
  });
  if (!all || taken.empty()) {
    state.SkipWithError("a commit failed");
    return;
  }
  state.counters["p50_us"] = quantile(taken, 0.5);
  state.counters["p99_us"] = quantile(taken, 0.99);
  state.SetBytesProcessed(state.range(0) * state.iterations());
}

void log_commit(benchmark::State& state) {
  const TemporaryFolder place;
  Result<PosixFolder> folder = PosixFolder::open(place.path().c_str(), true);
  std::vector<std::byte> scratch(1 << 20);
  if (!folder.ok() ||
      !ok(LogWriter::create(folder.value(), {.instance = 1, .salt = 2, .options = kLog}, false,
                            scratch)
              .status)) {
    state.SkipWithError("no log");
    return;
  }
  MappedBlock block(LogWriter::footprint(kLog));
  prefault(block.bytes());
  Arena arena(block.bytes());
  LogWriter log = LogWriter::open(folder.value(), arena).value();
  const auto bytes = unlike_blocks(static_cast<std::size_t>(state.range(0)));
  time_commits(state, [&](std::uint64_t i) {
    LoggedFrame frame;
    frame.number = i;
    std::span<std::byte> room;
    if (!ok(log.add(frame, bytes.size(), room))) return false;
    std::copy(bytes.begin(), bytes.end(), room.begin());
    if (log.used_bytes() > kLog.bytes / 2) log.release_below(i);
    return ok(log.commit());
  });
}

// The same bytes: the least that a commit can cost.
void bare_commit(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  try {
    BareFile file(kLog.bytes, bytes);
    time_commits(state, [&](std::uint64_t) { return file.commit(bytes); });
  } catch (const RunError& error) {
    state.SkipWithError(error.what());
  }
}

// One transaction for each commit: a frame is appended under its number, and past 256 MiB the
// oldest is removed.
void lmdb_commit(benchmark::State& state, unsigned flags) {
  const TemporaryFolder place;
  MDB_env* env = nullptr;
  MDB_txn* txn = nullptr;
  MDB_dbi db = 0;
  bool made = mdb_env_create(&env) == 0 && mdb_env_set_mapsize(env, 4 * kLog.bytes) == 0 &&
              mdb_env_open(env, place.path().c_str(), flags, 0600) == 0 &&
              mdb_txn_begin(env, nullptr, 0, &txn) == 0 &&
              mdb_dbi_open(txn, nullptr, MDB_INTEGERKEY, &db) == 0 && mdb_txn_commit(txn) == 0;
  auto bytes = unlike_blocks(static_cast<std::size_t>(state.range(0)));
  const std::uint64_t kept = kLog.bytes / std::max<std::uint64_t>(bytes.size(), kLogBlock);
  time_commits(state, [&](std::uint64_t i) {
    if (!made || mdb_txn_begin(env, nullptr, 0, &txn) != 0) return false;
    MDB_val key{sizeof i, &i};
    MDB_val value{bytes.size(), bytes.data()};
    bool good = mdb_put(txn, db, &key, &value, MDB_APPEND) == 0;
    if (i >= kept) {
      std::uint64_t oldest = i - kept;
      MDB_val old{sizeof oldest, &oldest};
      good = good && mdb_del(txn, db, &old, nullptr) == 0;
    }
    if (good) return mdb_txn_commit(txn) == 0;
    mdb_txn_abort(txn);
    return false;
  });
  if (env != nullptr) mdb_env_close(env);
}

// range: bytes of the rows in a commit: 1 row of 10 features, 32 rows, 256 rows, and larger ones.
#define WINDHOVER_COMMIT_SIZES                                                             \
  Arg(88)->Arg(32 * 88)->Arg(256 * 88)->Arg(256 << 10)->Arg(1 << 20)->UseRealTime()->Unit( \
      benchmark::kMicrosecond)
BENCHMARK(log_commit)->WINDHOVER_COMMIT_SIZES;
BENCHMARK(bare_commit)->WINDHOVER_COMMIT_SIZES;
BENCHMARK_CAPTURE(lmdb_commit, default, 0U)->WINDHOVER_COMMIT_SIZES;
BENCHMARK_CAPTURE(lmdb_commit, writemap, MDB_WRITEMAP)->WINDHOVER_COMMIT_SIZES;
#undef WINDHOVER_COMMIT_SIZES

}  // namespace
}  // namespace windhover::micro_log
