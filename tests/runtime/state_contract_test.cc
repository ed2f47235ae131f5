// The state of an engine is whole: saved at any moment and restored into another engine, of the
// same configuration and with a past of its own, it goes on bit for bit. Likewise through the bytes
// of a checkpoint.
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <thread>

#include "windhover/runtime/checkpoint/stream.h"
#include "windhover/samplers/registry.h"
#include "windhover/tests/hashes/scenarios.h"
#include "windhover/tests/runtime/memory_stream.h"
#include "windhover/tests/runtime/saved_state.h"

namespace windhover::test::state_contract_test {
namespace {

constexpr unsigned char kPoison = 0xA5;

// An engine on a stream, and what it shows on the way.
class Host {
 public:
  Host(const EngineConfig& config, const Scenario& scenario, const Data& data,
       std::int64_t clock_ns, unsigned char fill)
      : scenario_(scenario), data_(data), clock_(clock_ns), engine_(config, &clock_, fill) {
    engine_->learner().set_trace(record_iterate, this);
    engine_->learner().set_head_sink(record_head, this);
    u_ = uniforms(99, 3 * data.rows() + 3);
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  TestEngine& engine() { return engine_; }
  Index position() const { return at_; }
  void go_to(Index row, Index used) {
    at_ = row;
    used_ = used;
  }
  Index used() const { return used_; }
  // What is now there is now here.
  void share_wall_clock(Host& other) { clock_.set_wall_ns(other.clock_.wall_ns()); }

  // A frame, and `rounds` rounds, or as many as the scenario has after it.
  void step(int rounds = -1) {
    const bool starved = scenario_.stream == Stream::kStarved;
    const Index most = starved ? 300 : scenario_.stream == Stream::kBursts ? 120 : 40;
    const Index rows =
        std::min(1 + static_cast<Index>(static_cast<double>(most) * u_[used_]), data_.rows() - at_);
    if (rounds < 0) rounds = static_cast<int>((starved ? 3 : 12) * u_[used_ + 1]);
    used_ += 2;
    if (rows > 0) {
      while (!offer(at_, rows)) engine_->poll(1);
    }
    at_ += rows;
    clock_.advance_ns(300'000);
    engine_->poll(rounds);
  }
  bool at_end() const { return at_ >= data_.rows(); }

  // Iterates and heads since the last call.
  std::vector<std::uint64_t> take_trace() { return std::exchange(trace_, {}); }

  // All that a host sees.
  std::vector<std::uint64_t> visible() {
    std::vector<std::uint64_t> bits;
    const auto add = [&](const double* x, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) bits.push_back(std::bit_cast<std::uint64_t>(x[i]));
    };
    Provenance p;
    for (const ParameterSummary& s : engine_.parameters(&p)) add(&s.mean, sizeof s / sizeof s.mean);
    const RowMatrix draws = engine_.draws();
    add(draws.data(), static_cast<std::size_t>(draws.size()));
    for (const PredictiveSummary& a : engine_.answers(some_question())) {
      for (const double x : {a.linpred_mean, a.linpred_sd, a.mean, a.sd, a.interval_lower,
                             a.interval_upper, a.prob_best, a.probs[0], a.probs_sd[0]}) {
        add(&x, 1);
      }
    }
    for (const double x : {p.ess_bulk, p.ess_tail, p.r_hat, p.r_hat_chance, p.autocorrelation_time,
                           p.draws_per_observation, p.ou_ratio, p.law_ratio,
                           p.misspecification_index, p.score_autocorrelation, p.drift_score,
                           p.repeated_rows, p.noise_variance, p.noise_variance_sd}) {
      add(&x, 1);
    }
    for (const std::uint64_t x :
         {p.snapshot_id, p.sequence, p.n_seen, p.n_eff, p.steps, std::uint64_t{p.draws},
          p.divergences, static_cast<std::uint64_t>(p.status), static_cast<std::uint64_t>(p.reason),
          static_cast<std::uint64_t>(p.horizon), engine_->head(), engine_->learner().round(),
          static_cast<std::uint64_t>(engine_->learner().view().phase)}) {
      bits.push_back(x);
    }
    for (std::size_t id = 0; id < engine_->counters().size(); ++id) {
      bits.push_back(engine_->counters().get(static_cast<RuntimeCounter>(id)));
    }
    return bits;
  }

 private:
  static void record_iterate(void* self, std::uint16_t chain, const double* theta) noexcept {
    Host& run = *static_cast<Host*>(self);
    run.trace_.push_back(chain);
    for (std::uint32_t j = 0; j < run.engine_->dimension(); ++j) {
      run.trace_.push_back(std::bit_cast<std::uint64_t>(theta[j]));
    }
  }
  static void record_head(void* self, std::uint64_t round, std::uint64_t head) noexcept {
    Host& run = *static_cast<Host*>(self);
    run.trace_.push_back(round);
    run.trace_.push_back(head);
  }

  // The row's features as they are sent.
  void add_row(Index row) {
    for (Index j = 0; j < data_.x.cols(); ++j) {
      if (sparse() && data_.x(row, j) == 0) continue;
      values_.push_back(data_.x(row, j));
      indices_.push_back(static_cast<std::uint32_t>(j));
    }
    ends_.push_back(static_cast<std::uint32_t>(values_.size()));
  }
  void clear_rows() {
    values_.clear();
    indices_.clear();
    ends_.clear();
  }
  bool sparse() const { return scenario_.config.model.max_nonzeros > 0; }

  // false: the window is full.
  bool offer(Index first, Index rows) {
    ObservationBatch batch = TestEngine::batch(data_, first, rows);
    if (sparse()) {
      clear_rows();
      for (Index i = first; i < first + rows; ++i) add_row(i);
      batch.features = reinterpret_cast<const std::byte*>(values_.data());
      batch.feature_values = values_.size();
      batch.indices = reinterpret_cast<const std::byte*>(indices_.data());
      batch.row_ends = reinterpret_cast<const std::byte*>(ends_.data());
    }
    return engine_->observe(batch, {}).status != Status::kWindowFull;
  }

  PredictRequest some_question() {
    clear_rows();
    for (const Index row : {3, 40, 77}) add_row(row);
    PredictRequest request = question(3, values_);
    if (sparse()) {
      request.indices = indices_;
      request.row_ends = ends_;
    }
    return request;
  }

  const Scenario& scenario_;
  const Data& data_;
  ManualClock clock_;
  TestEngine engine_;
  VectorXd u_;
  Index at_ = 0;
  Index used_ = 0;
  std::vector<std::uint64_t> trace_;
  std::vector<double> values_;
  std::vector<std::uint32_t> indices_, ends_;
};

// Another engine that has lived on other rows, in memory that was never clean, with another clock.
std::unique_ptr<Host> other_run(const Scenario& s, const Data& data, std::uint32_t threads) {
  EngineConfig config = s.config;
  const bool one = !keeps_window(config.horizon) || config.structure == Structure::kDiagonal;
  if (!one) config.learner_threads = threads;
  auto other = std::make_unique<Host>(config, s, data, 9'000'000'000, kPoison);
  other->go_to(data.rows() / 2, 50);
  for (int i = 0; i < 14; ++i) other->step();
  other->take_trace();
  return other;
}

void restore(Host& run, const SavedState& state, Host& from) {
  StateRestorer restorer(state);
  run.engine()->state().visit_state(restorer);
  ASSERT_TRUE(restorer.fits()) << "other numbers are asked for than were shown";
  run.go_to(from.position(), from.used());
  run.share_wall_clock(from);
}

// The same through bytes, and every section has a name that errors can say.
void restore(Host& run, const Bytes& checkpoint, Host& from) {
  const Error error = restore_error(*run.engine(), checkpoint);
  ASSERT_EQ(error.status, Status::kOk) << error.sentence;
  const std::string unknown = checkpoint::sentence_of_damage(checkpoint::SectionHeader("?"));
  for (const auto& section : OpenCheckpoint(checkpoint).sections) {
    EXPECT_NE(checkpoint::sentence_of_damage(section.header), unknown)
        << section.header.name.data();
  }
  run.go_to(from.position(), from.used());
  run.share_wall_clock(from);
}

// `original` is saved as it stands and goes on by so many steps; an engine restored from it goes
// the same way.
void expect_same_future(Host& original, const Scenario& s, const Data& data, int steps,
                        std::uint32_t threads) {
  const SavedState state = save(*original.engine());
  ASSERT_EQ(difference(save(*original.engine()), state), "") << "saving changed it";
  const auto restored = other_run(s, data, threads);
  if (threads == 1) {
    restore(*restored, state, original);
  } else {
    restore(*restored, bytes_of(*original.engine()), original);
  }
  ASSERT_EQ(difference(save(*restored->engine()), state), "") << "not all was restored";
  original.take_trace();
  ASSERT_EQ(restored->visible(), original.visible()) << "it answers otherwise at once";
  for (int i = 0; i < steps && !original.at_end(); ++i) {
    original.step();
    restored->step();
    ASSERT_EQ(difference(save(*restored->engine()), save(*original.engine())), "")
        << "step " << i << " on";
  }
  ASSERT_EQ(restored->take_trace(), original.take_trace());
  ASSERT_EQ(restored->visible(), original.visible());
}

std::vector<Scenario> all_scenarios() {
  std::vector<Scenario> all = scenarios();
  for (const ModelEntry& entry : model_registry()) {
    for (const Horizon horizon : {Horizon::kFading, Horizon::kAll}) {
      for (const std::uint32_t nonzeros : {0U, 4U}) {
        Scenario s{std::string("no-window/") + to_string(horizon) + "/" + std::string(entry.name) +
                       (nonzeros > 0 ? "/sparse" : ""),
                   scenarios().front().config};
        s.config.model.name = entry.name;
        s.config.model.max_nonzeros = nonzeros;
        s.config.horizon = horizon;
        s.config.sampler.chains = 0;
        if (check(s.config).ok()) all.push_back(s);
      }
    }
  }
  for (Scenario& s : all) {
    // An adaptive one of 240 rows would have one memory.
    const bool adaptive = s.config.horizon == Horizon::kAdaptive;
    if (!adaptive) s.config.window_size = std::min<std::uint64_t>(s.config.window_size, 240);
    s.config.retained_draws = 8;
    s.config.checkpoints = true;
    s.rows = 900;
  }
  return all;
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const Scenario& s : all_scenarios()) names.push_back(s.name);
  return names;
}

class StateContract : public testing::TestWithParam<std::string> {
 protected:
  StateContract() {
    for (Scenario& s : all_scenarios()) {
      if (s.name == GetParam()) scenario = s;
    }
  }
  Scenario scenario;
};

TEST_P(StateContract, restored_engine_goes_on_bit_for_bit) {
  const Data data = data_of(scenario);
  Host original(scenario.config, scenario, data, 1'000'000, 0);
  std::uint32_t threads = 1;  // 2: and through bytes
  // Before the first row, in the cold start, while C is measured, and later on.
  for (const int steps : {0, 3, 1, 2, 3, 5, 7, 9}) {
    for (int i = 0; i < steps; ++i) original.step();
    ASSERT_NO_FATAL_FAILURE(expect_same_future(original, scenario, data, 2, threads));
    threads = 3 - threads;
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, StateContract, testing::ValuesIn(names()),
                         [](const testing::TestParamInfo<std::string>& tested) {
                           std::string name = tested.param;
                           for (char& c : name) {
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           }
                           return name;
                         });

Scenario scenario_named(const std::string& name) {
  for (const Scenario& s : scenarios()) {
    if (s.name != name) continue;
    Scenario found = s;
    found.config.checkpoints = true;
    return found;
  }
  ADD_FAILURE() << name;
  return {};
}

// Polls a round at a time until the engine is where the test wants it.
template <class Reached>
void expect_same_future_once(const Scenario& s, Reached&& reached) {
  const Data data = data_of(s);
  Host original(s.config, s, data, 1'000'000, 0);
  bool there = false;
  while (!there && !original.at_end()) {
    original.step(0);
    for (int round = 0; round < 6 && !there; ++round) {
      original.engine()->poll(1);
      there = reached(original.engine());
    }
  }
  ASSERT_TRUE(there) << "the stream does not lead there";
  expect_same_future(original, s, data, 12, 2);
}

// A pass of the cold start takes several rounds.
TEST(StateContractAtAMoment, half_a_pass_of_the_cold_start) {
  Scenario s = scenario_named("setting/standardize-logistic");
  s.config.window_size = 12'000;
  s.config.model.features = 40;
  s.config.window_slack = 8192;
  s.rows = 6000;
  const Data data = data_of(s);
  Host original(s.config, s, data, 1'000'000, 0);
  while (original.position() < 5000) original.step(0);
  original.engine()->poll(2);
  ASSERT_EQ(original.engine()->learner().view().phase, Learner::Phase::kWarmingUp);
  ASSERT_EQ(original.engine()->learner().view().estimator().done().rows(), 0.0);
  expect_same_future(original, s, data, 6, 2);
}

TEST(StateContractAtAMoment, approach) {
  expect_same_future_once(scenario_named("model/logistic"), [](TestEngine& e) {
    return e->learner().view().phase == Learner::Phase::kApproach;
  });
}

TEST(StateContractAtAMoment, burn_in) {
  expect_same_future_once(scenario_named("model/logistic"), [](TestEngine& e) {
    return e->learner().view().phase == Learner::Phase::kBurnIn;
  });
}

TEST(StateContractAtAMoment, chains_have_just_diverged) {
  Scenario s = scenario_named("setting/chains-lost");
  s.config.sampler.name = "sgld";
  s.config.sampler.initial_temperature = 2;
  s.config.sampler.step_size = 100;
  expect_same_future_once(
      s, [](TestEngine& e) { return e->counters().get(RuntimeCounter::kDivergences) > 0; });
}

TEST(StateContractAtAMoment, seeding_of_chains_without_a_window) {
  expect_same_future_once(scenario_named("horizon/all/sparse"), [](TestEngine& e) {
    return e->learner().view().phase == Learner::Phase::kApproach;
  });
}

// Rows from a part of the feature space not seen before: the posterior is looked for anew.
TEST(StateContractAtAMoment, just_started_over) {
  Scenario s = scenario_named("stream/poisson/outliers");
  bool began = false;
  expect_same_future_once(s, [&](TestEngine& e) {
    const bool warming_up = e->learner().view().phase == Learner::Phase::kWarmingUp;
    began = began || !warming_up;
    return began && warming_up;
  });
}

// Helpers read the transform of the features that was restored.
TEST(StateContractAtAMoment, two_threads_at_work) {
  Scenario s = scenario_named("setting/standardize");
  s.rows = 900;
  const Data data = data_of(s);
  Host original(s.config, s, data, 1'000'000, 0);
  for (int i = 0; i < 20; ++i) original.step();
  ASSERT_EQ(original.engine()->learner().view().phase, Learner::Phase::kSampling);
  const auto restored = other_run(s, data, 2);
  restore(*restored, save(*original.engine()), original);
  std::atomic<bool> running{true};
  std::thread helper([&] {
    while (running.load()) {
      if (restored->engine()->assist(1) == 0) std::this_thread::yield();
    }
  });
  original.take_trace();
  for (int i = 0; i < 12; ++i) {
    original.step();
    restored->step();
  }
  running.store(false);
  helper.join();
  EXPECT_EQ(difference(save(*restored->engine()), save(*original.engine())), "");
  EXPECT_EQ(restored->take_trace(), original.take_trace());
}

}  // namespace
}  // namespace windhover::test::state_contract_test
