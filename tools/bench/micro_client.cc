// The client's side of the wire, and rows on their way to it from a file; see micro_benchmarks.cc.
// A client does call the heap.
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <span>
#include <string>
#include <thread>

#include "windhover/io/client.h"
#include "windhover/io/codec.h"
#include "windhover/io/framing.h"
#include "windhover/tools/bench/heap_column.h"
#include "windhover/tools/bench/loopback.h"
#include "windhover/tools/bench/micro_stream.h"
#include "windhover/tools/data/schema.h"
#include "windhover/tools/temporary_folder.h"

namespace windhover::micro_client {
namespace {

// A server that welcomes one client, acknowledges what it sends and drops it: leaves the cost of
// sending. Runs on a thread of its own until the client has gone; the client must go first. No heap
// call after construction.
class WireSink {
 public:
  explicit WireSink(std::uint32_t features) : buffer_(kBuffer) {
    welcome_.features = features;
    welcome_.dimension = features + 1;
    welcome_.frame_cap = 64 * 1024;
    welcome_.reply_cap = kSmallReplyBound;
    welcome_.max_rows = 32'768;
    welcome_.observes = true;
    listener_ = listen_on_loopback(address_);
    thread_ = std::thread([this] { run(); });
  }
  ~WireSink() {
    ::shutdown(listener_, SHUT_RDWR);  // ends accept() where no client came
    thread_.join();
    ::close(listener_);
  }
  WireSink(const WireSink&) = delete;
  WireSink& operator=(const WireSink&) = delete;

  const std::string& address() const { return address_; }

 private:
  static constexpr std::size_t kBuffer = std::size_t{1} << 18;

  void run() noexcept {
    const int client = ::accept(listener_, nullptr, nullptr);
    std::size_t held = 0;
    for (;;) {
      const ssize_t n = ::recv(client, buffer_.data() + held, buffer_.size() - held, 0);
      if (n <= 0) break;
      held += static_cast<std::size_t>(n);
      const std::size_t used = take({buffer_.data(), held});
      held -= used;
      std::memmove(buffer_.data(), buffer_.data() + used, held);
      if (size_ > 0) (void)::send(client, reply_.data(), size_, MSG_NOSIGNAL);
      size_ = 0;
    }
    if (client >= 0) ::close(client);
  }

  // Takes whole frames, and puts the answer to all of them into reply_. Returns the bytes taken.
  std::size_t take(std::span<const std::byte> bytes) noexcept {
    std::size_t used = 0;
    ack_.frames = 0;
    ack_.accepted = 0;
    for (;;) {
      const FrameScan scan = scan_frame(bytes.subspan(used), UINT32_MAX);
      RequestView request;
      if (scan.kind != FrameScan::kFrame || !ok(decode_request(scan.frame, request))) break;
      used += scan.consumed;
      if (request.kind == RequestKind::kHello) size_ = encode(request.id, welcome_, reply_);
      if (request.kind != RequestKind::kObserve) continue;
      ack_.id = request.id;
      ack_.accepted += request.observe.batch.rows;
      ++ack_.frames;
    }
    if (ack_.frames > 0) size_ = encode(ack_, reply_);
    return used;
  }

  WelcomeReply welcome_;
  ObserveAckReply ack_;
  std::vector<std::byte> buffer_;
  std::array<std::byte, kSmallReplyBound> reply_;
  std::size_t size_ = 0;  // bytes to be sent
  std::string address_;
  int listener_ = -1;
  std::thread thread_;
};

// Rows that are encoded as they come and written, 64 KiB at a time, into a socket. range: features,
// rows a frame, non-zeros.
void send_observe(benchmark::State& state) {
  constexpr std::uint32_t kRows = 4096;
  ModelConfig model;
  model.features = argument(state, 0);
  model.max_nonzeros = argument(state, 2);
  const MicroRows from(model, kRows);
  const std::vector<double> targets(kRows, 1.0);
  ObserveRows rows;
  rows.features = from.values();
  rows.targets = targets;
  if (model.max_nonzeros > 0) {
    rows.indices = from.indices();
    rows.row_ends = from.row_ends();
  }
  WireSink sink(model.features);
  Client client;
  ClientOptions options;
  options.max_rows_per_frame = static_cast<std::size_t>(state.range(1));
  Status status = client.connect(sink.address(), options);
  measure(state, [&] {
    if (ok(status)) status = client.send_observe(rows);
    if (ok(status)) status = client.poll_acknowledgements();
  });
  if (ok(status)) status = client.wait_acknowledged();
  const std::int64_t sent = std::int64_t{kRows} * state.iterations();
  if (!ok(status) || client.totals().accepted != static_cast<std::uint64_t>(sent)) {
    state.SkipWithError(client.error_text().c_str());
  }
  state.SetItemsProcessed(sent);
}

// Lines like those of the flights: a date, two categories, a number.
class FlightLines {
 public:
  static constexpr std::size_t kLines = 50'000;

  FlightLines() {
    std::mt19937 generator(1);
    const auto below = [&](unsigned bound) { return static_cast<unsigned>(generator()) % bound; };
    std::ofstream file(path());
    file << "date,delay,distance,origin,destination\n";
    for (std::size_t i = 0; i < kLines; ++i) {
      const unsigned month = below(12) + 1;
      const unsigned day = below(28) + 1;
      const unsigned hour = below(24);
      file << fmt::format("{:02}{:02}{:02}{:02},{},{},{},{}\n", month, day, hour, below(60),
                          static_cast<int>(below(100)) - 20, below(2500) + 60,
                          airport(below(kAirports)), airport(below(kAirports)));
    }
  }

  std::string path() const { return folder_.in("flights.csv"); }
  static Schema schema() {
    std::string categories;
    for (unsigned i = 0; i < kAirports; ++i) categories += fmt::format("\"{}\", ", airport(i));
    std::string text = R"(target = "delay"
positive_above = 15
missing = "skip"
sparse = true
[derived.hour]
from = "date"
format = "MMDDhhmm"
part = "hour"
[[feature]]
field = "distance"
kind = "number"
shift = 700.0
scale = 550.0
[[feature]]
field = "hour"
kind = "harmonic"
period = 24.0
harmonics = 2
)";
    for (const char* field : {"origin", "destination"}) {
      text += fmt::format("[[feature]]\nfield = \"{}\"\nkind = \"category\"\ncategories = [{}]\n",
                          field, categories);
    }
    return Schema::from_text(text, "flights.toml");
  }

 private:
  static constexpr unsigned kAirports = 230;

  static std::string airport(unsigned i) {
    return {static_cast<char>('A' + i / 26), static_cast<char>('A' + i % 26), 'X'};
  }

  TemporaryFolder folder_;
};

// Reads the lines of a file, and encodes them as sparse rows; opening the file is not measured. An
// item is a line.
void read_lines(benchmark::State& state, bool encoded) {
  const FlightLines lines;
  const Schema schema = FlightLines::schema();
  EncodedRow row;
  row.values.reserve(schema.max_nonzeros());
  row.indices.reserve(schema.max_nonzeros());
  std::size_t read = 0;
  std::size_t good = 0;
  std::uint64_t calls = 0;
  for (auto _ : state) {
    state.PauseTiming();
    Table table(lines.path(), schema.table_options());
    const RowEncoder encoder(schema, table);
    state.ResumeTiming();
    const std::uint64_t before = heap_calls().value_or(0);
    while (table.next()) {
      ++read;
      good += !encoded || encoder.encode(table, row) ? 1 : 0;
    }
    calls += heap_calls().value_or(0) - before;
  }
  if (good != FlightLines::kLines * static_cast<std::size_t>(state.iterations())) {
    state.SkipWithError("lines are missing");
  }
  state.counters["heap_calls"] = static_cast<double>(calls);
  state.counters["resident_bytes"] = static_cast<double>(resident_bytes());
  state.SetItemsProcessed(static_cast<std::int64_t>(read));
}

BENCHMARK(send_observe)->Args({9, 1, 0})->Args({9, 256, 0})->Args({460, 256, 8});
BENCHMARK_CAPTURE(read_lines, cells, false);
BENCHMARK_CAPTURE(read_lines, rows, true);

}  // namespace
}  // namespace windhover::micro_client
