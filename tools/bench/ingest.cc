// Rows a second over TCP or Unix-domain sockets while the learner runs, past its cold start, beside
// the bytes a second of such a connection and the rows a second of the generated parser on the same
// frames.
#include "windhover/tools/bench/harness.h"

namespace windhover {

namespace {

// Without options: shapes that show the cost of a frame, a row, a byte and many connections, and
// the difference without TCP and in single precision.
std::vector<IngestShape> default_shapes(const BenchOptions& o) {
  std::vector<IngestShape> out = {
      {10, 0, 1, 1},    {10, 0, 16, 1},  {10, 0, 256, 1},   {10, 0, 1, 32}, {10, 0, 256, 32},
      {100, 0, 256, 1}, {1000, 0, 1, 1}, {1000, 0, 256, 1}, {461, 8, 1, 1}, {461, 8, 256, 1}};
  for (IngestShape& shape : out) {
    shape.single_precision = o.single_precision;
    shape.unix_sockets = o.unix_sockets;
  }
  if (!o.single_precision && !o.unix_sockets) {
    out.push_back({10, 0, 256, 1, true, false});
    out.push_back({10, 0, 256, 1, false, true});
  }
  return out;
}

}  // namespace

std::vector<IngestShape> ingest_shapes(const BenchOptions& o) {
  std::vector<IngestShape> asked;
  if (o.dimensions.empty() && o.rows_per_frame.empty() && o.connections.empty() &&
      o.nonzeros == 0) {
    asked = default_shapes(o);
  }
  if (asked.empty()) {
    for (const auto dimension : list_or(o.dimensions, {o.nonzeros > 0 ? 461U : 10U})) {
      for (const auto connections : list_or(o.connections, {1})) {
        for (const auto rows : list_or(o.rows_per_frame, {1, 16, 256})) {
          asked.push_back(
              {dimension, o.nonzeros, rows, connections, o.single_precision, o.unix_sockets});
        }
      }
    }
  }
  // Two numbers of rows that are both more than a frame takes become one run.
  std::vector<IngestShape> out;
  for (IngestShape shape : asked) {
    shape.rows_per_frame = rows_that_fit(shape.rows_per_frame, shape.dimension, shape.nonzeros);
    const auto same = [&](const IngestShape& s) { return name_of(s) == name_of(shape); };
    if (std::ranges::none_of(out, same)) out.push_back(shape);
  }
  return out;
}

std::string name_of(const IngestShape& s) {
  return fmt::format("D={} {}{} {} a frame {} conn{}", s.dimension,
                     s.nonzeros > 0 ? fmt::format("sparse {}", s.nonzeros) : "dense",
                     s.single_precision ? " f32" : "", s.rows_per_frame, s.connections,
                     s.unix_sockets ? " Unix" : "");
}

namespace {

Json run_shape(const BenchOptions& o, const IngestShape& s, double loopback) {
  const double seconds = o.seconds > 0 ? o.seconds : 1.5;
  const LoadRows rows{s.dimension - 1, s.nonzeros, s.rows_per_frame, s.single_precision, true};
  // Measured before the server and its learner want the processors.
  const FrameBytes frames(rows);
  const double parsed = static_cast<double>(frames.ends.size() * s.rows_per_frame) /
                        generated_parser_seconds(frames.bytes, 0.05);
  ServedEngine served(
      served_config(o, s.dimension, s.nonzeros),
      {.max_sessions = std::max(64U, s.connections), .unix_sockets = s.unix_sockets});
  settle(served, rows, false);
  const FrameSource source(served.observe_address(), rows, {o.rate, s.connections});
  sleep_for(std::min(0.3, seconds));  // all connections under way
  const IngestSpan span(served);
  const ProcessSpan process_span;
  sleep_for(seconds);
  Json process = process_span.figures();
  const Json ingest = span.figures();
  source.check();
  const double rows_per_second = ingest.at("rows_per_second").get<double>();
  const double bytes = rows_per_second * frames.bytes_per_row();
  Json out = {
      {"name", name_of(s)}, {"dimension", s.dimension}, {"rows_per_frame", s.rows_per_frame}};
  out.update(ingest);
  out["mb_per_second"] = bytes / 1e6;
  out["of_loopback"] = bytes / loopback;
  out["of_generated_parser"] = rows_per_second / parsed;
  out.update(process);
  return out;
}

}  // namespace

Json run_ingest(const BenchOptions& options) {
  const StreamLimits tcp = measure_stream(StreamKind::kTcp, 0.5);
  const StreamLimits local = measure_stream(StreamKind::kUnix, 0.5);
  Json out = {{"chains", options.chains},
              {"limits", {{"tcp", to_json(tcp)}, {"unix", to_json(local)}}},
              {"runs", Json::array()}};
  for (const IngestShape& shape : ingest_shapes(options)) {
    const StreamLimits& limits = shape.unix_sockets ? local : tcp;
    out["runs"].push_back(run_shape(options, shape, limits.bytes_per_second));
  }
  return out;
}

}  // namespace windhover
