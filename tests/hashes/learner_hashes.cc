// Runs every scenario in driven mode and prints two 64-bit hashes of each: of all iterates, the
// heads taken, and what is served at ten moments; and of what is said and counted of it then.
//
//   learner_hashes [NAME]           prints "HASH HASH NAME" a line, of all or of those with NAME
//   learner_hashes --check FILE     compares; 77, skipped: made with another compiler or library
//   learner_hashes --record FILE    writes it
//
// Kernels are those of AVX2 at most, so that a file is of all processors that have it.
// A commit that is to change no result leaves expected.txt as it is; one that mends a result says
// in its message which hashes change.
#include <gnu/libc-version.h>

#include <bit>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>

#include "windhover/platform/cpu.h"
#include "windhover/samplers/registry.h"
#include "windhover/tests/hashes/scenarios.h"

namespace windhover::test {
namespace {

class Hash {
 public:
  void mix(std::uint64_t word) {
    value_ = (value_ ^ word) * 1099511628211ULL;
    value_ ^= value_ >> 29;
  }
  void mix(double x) { mix(std::bit_cast<std::uint64_t>(std::isnan(x) ? kOneNan : x)); }
  void mix(const double* x, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) mix(x[i]);
  }
  std::uint64_t value() const { return value_; }

 private:
  // Signs and payloads of NaN depend on how the compiler ordered an addition.
  static constexpr double kOneNan = std::numeric_limits<double>::quiet_NaN();
  std::uint64_t value_ = 14695981039346656037ULL;
};

struct Hashes {
  Hash served;  // iterates, parameters, draws, answers
  Hash said;    // provenance, counters
  std::string text() const {
    char line[40];
    std::snprintf(line, sizeof line, "%016llx %016llx",
                  static_cast<unsigned long long>(served.value()),
                  static_cast<unsigned long long>(said.value()));
    return line;
  }
};

struct Iterates {
  Hash* hash;
  std::size_t dimension;
};

void mix_iterate(void* self, std::uint16_t chain, const double* theta) noexcept {
  const auto& iterates = *static_cast<Iterates*>(self);
  iterates.hash->mix(std::uint64_t{chain});
  iterates.hash->mix(theta, iterates.dimension);
}

void mix_head(void* self, std::uint64_t round, std::uint64_t head) noexcept {
  static_cast<Hash*>(self)->mix(round);
  static_cast<Hash*>(self)->mix(head);
}

void mix_provenance(Hash& hash, const Provenance& p) {
  for (const std::uint64_t x : {p.snapshot_id, p.sequence, p.n_seen, p.n_eff, p.steps,
                                std::uint64_t{p.draws}, p.divergences}) {
    hash.mix(x);
  }
  for (const double x :
       {p.ess_bulk, p.ess_tail, p.r_hat, p.autocorrelation_time, p.draws_per_observation,
        p.ou_ratio, p.law_ratio, p.misspecification_index, p.score_autocorrelation, p.drift_score,
        p.repeated_rows, p.noise_variance, p.noise_variance_sd}) {
    hash.mix(x);
  }
  for (const auto x : {static_cast<std::uint64_t>(p.status), static_cast<std::uint64_t>(p.reason),
                       static_cast<std::uint64_t>(p.age_ns)}) {
    hash.mix(x);
  }
}

void mix_answers(Hashes& hashes, TestEngine& engine, const Scenario& s, const Data& data) {
  const std::size_t features = s.config.model.features;
  constexpr std::size_t kRows = 3;
  constexpr double kQuantiles[] = {0.05, 0.5};
  std::vector<double> values;
  std::vector<std::uint32_t> indices, ends;
  PredictRequest request = question(kRows, {});
  const bool sparse = s.config.model.max_nonzeros > 0;
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t j = 0; j < features; ++j) {
      const double x = data.x(static_cast<Index>(17 * row), static_cast<Index>(j));
      if (sparse && x == 0) continue;
      values.push_back(x);
      indices.push_back(static_cast<std::uint32_t>(j));
    }
    ends.push_back(static_cast<std::uint32_t>(values.size()));
  }
  request.features = values;
  if (sparse) {
    request.indices = indices;
    request.row_ends = ends;
  }
  const std::vector<double> trials = {1, 20, 1e5};
  if (s.config.model.has_trials()) request.trials = trials;
  const Response response = find_model(s.config.model.name)->response;
  if (response != Response::kCategorical) request.quantile_probabilities = kQuantiles;
  Provenance provenance;
  for (const PredictiveSummary& a : engine.answers(request, &provenance)) {
    for (const double x :
         {a.linpred_mean, a.linpred_sd, a.epred_mean, a.epred_sd, a.mean, a.sd, a.interval_lower,
          a.interval_upper, a.quantiles[0], a.entropy, a.mutual_information, a.prob_best,
          a.expected_regret, a.probs[0], a.probs[1], a.probs_sd[1]}) {
      hashes.served.mix(x);
    }
  }
  mix_provenance(hashes.said, provenance);
}

void mix_engine(Hashes& hashes, TestEngine& engine, const Scenario& s, const Data& data) {
  mix_answers(hashes, engine, s, data);
  Hash& hash = hashes.served;
  for (const ParameterSummary& p : engine.parameters()) {
    hash.mix(&p.mean, sizeof p / sizeof p.mean);
  }
  const RowMatrix draws = engine.draws();
  hash.mix(draws.data(), static_cast<std::size_t>(draws.size()));
  const Learner& learner = engine->learner();
  hashes.said.mix(learner.round());
  hashes.said.mix(static_cast<std::uint64_t>(learner.view().phase));
  hash.mix(learner.view().chains.data(), learner.view().chains.size());
  if (learner.view().estimates != nullptr) {
    const std::span<const double> noise = learner.view().estimator().noise().values();
    hash.mix(noise.data(), noise.size());
  }
  for (int id = 0; id < static_cast<int>(RuntimeCounter::kCount); ++id) {
    const auto counter = static_cast<RuntimeCounter>(id);
    const std::uint64_t count = engine->counters().get(counter);
    const bool extra = counter == RuntimeCounter::kRowsRefusedOffset ||
                       counter == RuntimeCounter::kRowsRefusedWeight ||
                       counter == RuntimeCounter::kRowsRefusedTrials ||
                       counter == RuntimeCounter::kRowsSurprising ||
                       counter == RuntimeCounter::kRowsDownWeighted ||
                       counter >= RuntimeCounter::kLabelsKept;
    if (!extra || count > 0) hashes.said.mix(count);
  }
}

// false: the window is full.
bool offer(TestEngine& engine, const Scenario& s, const Data& data, Index first, Index rows) {
  if (s.config.model.max_nonzeros == 0) {
    return engine->observe(TestEngine::batch(data, first, rows), {}).status != Status::kWindowFull;
  }
  std::vector<double> values;
  std::vector<std::uint32_t> indices, ends;
  for (Index i = first; i < first + rows; ++i) {
    for (Index j = 0; j < data.x.cols(); ++j) {
      if (data.x(i, j) == 0) continue;
      values.push_back(data.x(i, j));
      indices.push_back(static_cast<std::uint32_t>(j));
    }
    ends.push_back(static_cast<std::uint32_t>(values.size()));
  }
  ObservationBatch b = TestEngine::batch(data, first, rows);
  b.features = reinterpret_cast<const std::byte*>(values.data());
  b.feature_values = values.size();
  b.indices = reinterpret_cast<const std::byte*>(indices.data());
  b.row_ends = reinterpret_cast<const std::byte*>(ends.data());
  return engine->observe(b, {}).status != Status::kWindowFull;
}

Index frame_rows(Stream stream, double u, double v) {
  if (stream == Stream::kIdle) return 60;
  if (stream == Stream::kStarved) return 1 + static_cast<Index>(400 * u);
  if (stream == Stream::kBursts && v < 0.1) return 250;
  return 1 + static_cast<Index>(40 * u);
}

Hashes run(const Scenario& s) {
  const Data data = data_of(s);
  ManualClock clock;
  TestEngine engine(s.config, &clock);
  Hashes hashes;
  Iterates iterates{&hashes.served, engine->dimension()};
  engine->learner().set_trace(mix_iterate, &iterates);
  engine->learner().set_head_sink(mix_head, &hashes.served);
  const VectorXd u = uniforms(99, 3 * data.rows() + 3);
  Index used = 0;
  Index at = 0;
  Index next_look = 0;
  while (at < data.rows()) {
    const Index rows = std::min(frame_rows(s.stream, u[used], u[used + 1]), data.rows() - at);
    const int rounds = static_cast<int>((s.stream == Stream::kStarved ? 3 : 12) * u[used + 2]);
    used += 3;
    while (!offer(engine, s, data, at, rows)) engine->poll(1);
    at += rows;
    clock.advance_ns(300'000);
    if (s.stream == Stream::kIdle) {
      engine->poll(2000);
    } else {
      engine->poll(rounds);
    }
    if (at >= next_look) {
      mix_engine(hashes, engine, s, data);
      next_look += data.rows() / 10;
    }
  }
  engine.poll_rounds(400);
  mix_engine(hashes, engine, s, data);
  return hashes;
}

// What the bits depend on beside the code.
std::string made_with() {
  return std::string("# ") + to_string(instruction_set()) + ", g++ " + __VERSION__ + ", glibc " +
         gnu_get_libc_version();
}

int record(const char* path) {
  std::ofstream out(path);
  out << made_with() << "\n";
  for (const Scenario& s : scenarios()) {
    out << run(s).text() << " " << s.name << "\n";
  }
  return out.good() ? 0 : 1;
}

int check_against(const char* path) {
  std::ifstream in(path);
  std::string first;
  if (!std::getline(in, first)) {
    std::fprintf(stderr, "%s cannot be read\n", path);
    return 1;
  }
  if (first != made_with()) {
    std::printf("skipped, the recorded bits are of \"%s\", this is \"%s\"\n", first.c_str(),
                made_with().c_str());
    return 77;
  }
  std::map<std::string, std::string> expected;
  std::string served, said, name;
  while (in >> served >> said >> name) expected[name] = served + " " + said;
  int wrong = 0;
  for (const Scenario& s : scenarios()) {
    const std::string now = run(s).text();
    if (expected[s.name] == now) continue;
    std::fprintf(stderr, "%s: %s recorded, %s now\n", s.name.c_str(), expected[s.name].c_str(),
                 now.c_str());
    ++wrong;
  }
  std::printf("%zu scenarios, %d with other bits than recorded\n", scenarios().size(), wrong);
  return wrong == 0 && expected.size() == scenarios().size() ? 0 : 1;
}

int main_of(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--check") == 0) return check_against(argv[2]);
  if (argc == 3 && std::strcmp(argv[1], "--record") == 0) return record(argv[2]);
  for (const Scenario& s : scenarios()) {
    if (argc > 1 && s.name.find(argv[1]) == std::string::npos) continue;
    std::printf("%s %s\n", run(s).text().c_str(), s.name.c_str());
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace windhover::test

int main(int argc, char** argv) {
  windhover::limit_instruction_set(windhover::InstructionSet::kAvx2);
  return windhover::test::main_of(argc, argv);
}
