// Random requests and the comparison of what the server's reader and a generated parser make of
// them. Shared by the codec's test and its fuzzer.
#ifndef WINDHOVER_TESTS_IO_RANDOM_MESSAGES_H_
#define WINDHOVER_TESTS_IO_RANDOM_MESSAGES_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "windhover/io/codec.h"
#include "windhover/io/windhover.pb.h"

namespace windhover::testing {

using Random = std::mt19937_64;

inline std::uint64_t below(Random& random, std::uint64_t n) { return random() % n; }

template <class To, class From>
To load(const From* bytes) {
  To value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

// A well-formed request of a random kind.
inline v1::Request random_request(Random& random) {
  v1::Request request;
  request.set_id(random() >> below(random, 64));
  const auto real = [&] { return static_cast<double>(random() % 2001) / 100.0 - 10.0; };
  const std::uint64_t rows = below(random, 6);
  const std::uint64_t columns = 1 + below(random, 5);
  const bool narrow = below(random, 2) == 0;
  const bool sparse = below(random, 3) == 0;
  const auto fill_rows = [&](auto* body) {
    body->set_rows(static_cast<std::uint32_t>(rows));
    std::uint32_t values = 0;
    for (std::uint64_t i = 0; i < rows; ++i) {
      const std::uint64_t here = sparse ? below(random, columns + 1) : columns;
      for (std::uint64_t j = 0; j < here; ++j, ++values) {
        if (narrow) {
          body->add_features_f32(static_cast<float>(real()));
        } else {
          body->add_features_f64(real());
        }
        if (sparse) body->add_indices(static_cast<std::uint32_t>(j));
      }
      if (sparse) body->add_row_ends(values);
    }
  };
  // Few, so that they meet.
  const auto key = [&] { return std::string(below(random, below(random, 5) == 0 ? 70 : 4), 'k'); };
  switch (below(random, 15)) {
    case 0:
      request.mutable_hello()->set_version_min(static_cast<std::uint32_t>(below(random, 3)));
      request.mutable_hello()->set_version_max(static_cast<std::uint32_t>(random()));
      request.mutable_hello()->set_model(std::string(below(random, 70), 'm'));
      request.mutable_hello()->set_token(std::string(below(random, 70), 't'));
      request.mutable_hello()->set_model_fingerprint(random());
      request.mutable_hello()->set_durability(static_cast<v1::Durability>(below(random, 4)));
      break;
    case 1:
    case 2: {
      v1::Observe* observe = request.mutable_observe();
      observe->set_producer(below(random, 7));
      observe->set_first_sequence(random() >> below(random, 64));
      observe->set_begins_here(below(random, 2) == 0);
      fill_rows(observe);
      for (std::uint64_t i = 0; i < rows; ++i) {
        if (narrow) {
          observe->add_targets_f32(static_cast<float>(real()));
        } else {
          observe->add_targets_f64(real());
        }
      }
      if (below(random, 3) == 0) {
        for (std::uint64_t i = 0; i < rows; ++i) observe->add_offsets(real());
      }
      if (below(random, 3) == 0) {
        for (std::uint64_t i = 0; i < rows; ++i) observe->add_weights(real());
      }
      if (below(random, 3) == 0) {
        for (std::uint64_t i = 0; i < rows; ++i) observe->add_trials(real());
      }
      break;
    }
    case 3:
    case 4: {
      v1::Predict* predict = request.mutable_predict();
      fill_rows(predict);
      for (std::uint64_t i = below(random, 4); i > 0; --i) {
        predict->add_quantile_probabilities(real());
      }
      for (std::uint64_t i = below(random, 4); i > 0; --i) predict->add_thresholds(real());
      if (below(random, 2) == 0) {
        for (std::uint64_t i = 0; i < rows; ++i) predict->add_outcomes(real());
      }
      if (below(random, 3) == 0) {
        for (std::uint64_t i = 0; i < rows; ++i) predict->add_offsets(real());
      }
      if (below(random, 3) == 0) {
        for (std::uint64_t i = 0; i < rows; ++i) predict->add_trials(real());
      }
      if (below(random, 3) == 0) {
        for (std::uint64_t i = 0; i < rows; ++i) predict->add_keys(key());
      }
      predict->set_interval_probability(below(random, 2) == 0 ? 0.0 : real());
      predict->set_thompson_id(below(random, 2) * random());
      predict->set_posterior_spread(below(random, 2) == 0);
      break;
    }
    case 5:
      request.mutable_posterior_summary();
      break;
    case 6:
      request.mutable_draws()->set_snapshot_id(random());
      request.mutable_draws()->set_first(static_cast<std::uint32_t>(below(random, 100)));
      request.mutable_draws()->set_count(static_cast<std::uint32_t>(random()));
      break;
    case 7:
      request.mutable_producer_status()->set_producer(below(random, 7));
      break;
    case 8:
      request.mutable_take_checkpoint()->set_request(below(random, 2) * random());
      break;
    case 9:
      request.mutable_list_models()->set_first(static_cast<std::uint32_t>(random()));
      break;
    case 10:
      request.mutable_change_model()->set_answered_by(std::string(below(random, 70), 'm'));
      request.mutable_change_model()->set_pause(static_cast<v1::PauseChange>(below(random, 4)));
      break;
    case 11: {
      v1::HostModel& order = *request.mutable_host_model();
      order.set_action(static_cast<v1::HostAction>(below(random, 5)));
      order.set_name(std::string(below(random, 70), 'n'));
      order.set_configuration(std::string(below(random, 300), '='));
      order.set_delete_data(below(random, 2) != 0);
      order.set_request(below(random, 4));
      break;
    }
    case 12:
      for (std::uint64_t i = below(random, 6); i > 0; --i) {
        request.mutable_outcome()->add_keys(key());
        request.mutable_outcome()->add_targets(real());
      }
      request.mutable_outcome();
      break;
    case 13:
      request.mutable_list_events()->set_after(below(random, 2) * random());
      break;
    default:
      request.mutable_status();
  }
  return request;
}

template <class Element, class Field>
bool same_array(const std::byte* data, std::size_t count, const Field& field) {
  if (count != static_cast<std::size_t>(field.size())) return false;
  return count == 0 || std::memcmp(data, field.data(), count * sizeof(Element)) == 0;
}

template <class Element, class Field>
bool same_array(const PackedArray& array, const Field& field) {
  return same_array<Element>(array.data, array.count, field);
}

inline bool same_observe(const ObserveRequest& ours, const v1::Observe& theirs) {
  const ObservationBatch& b = ours.batch;
  const bool narrow = b.scalar == Scalar::kFloat32;
  const bool sparse = b.row_ends != nullptr;
  return ours.producer == theirs.producer() && ours.first_sequence == theirs.first_sequence() &&
         ours.begins_here == theirs.begins_here() && b.rows == theirs.rows() &&
         same_array<float>(b.features, narrow ? b.feature_values : 0, theirs.features_f32()) &&
         same_array<double>(b.features, narrow ? 0 : b.feature_values, theirs.features_f64()) &&
         same_array<float>(b.targets, narrow ? b.rows : 0, theirs.targets_f32()) &&
         same_array<double>(b.targets, narrow ? 0 : b.rows, theirs.targets_f64()) &&
         same_array<std::uint32_t>(b.indices, sparse ? b.feature_values : 0, theirs.indices()) &&
         same_array<std::uint32_t>(b.row_ends, sparse ? b.rows : 0, theirs.row_ends()) &&
         same_array<double>(b.offsets, b.offsets != nullptr ? b.rows : 0, theirs.offsets()) &&
         same_array<double>(b.weights, b.weights != nullptr ? b.rows : 0, theirs.weights()) &&
         same_array<double>(b.trials, b.trials != nullptr ? b.rows : 0, theirs.trials());
}

template <class Field>
bool same_keys(const KeyList& keys, int number, const Field& field) {
  if (keys.count != static_cast<std::size_t>(field.size())) return false;
  std::vector<std::string_view> texts(keys.count);
  read_keys(keys, number, texts);
  return std::equal(texts.begin(), texts.end(), field.begin());
}

inline bool same_predict(const PredictQuery& ours, const v1::Predict& theirs) {
  const bool narrow = ours.scalar == Scalar::kFloat32;
  const PackedArray none;
  const double interval = theirs.interval_probability();
  return ours.rows == theirs.rows() &&
         same_array<float>(narrow ? ours.features : none, theirs.features_f32()) &&
         same_array<double>(narrow ? none : ours.features, theirs.features_f64()) &&
         same_array<std::uint32_t>(ours.indices, theirs.indices()) &&
         same_array<std::uint32_t>(ours.row_ends, theirs.row_ends()) &&
         same_array<double>(ours.quantile_probabilities, theirs.quantile_probabilities()) &&
         same_array<double>(ours.thresholds, theirs.thresholds()) &&
         same_array<double>(ours.outcomes, theirs.outcomes()) &&
         same_array<double>(ours.offsets, theirs.offsets()) &&
         same_array<double>(ours.trials, theirs.trials()) &&
         same_keys(ours.keys, v1::Predict::kKeysFieldNumber, theirs.keys()) &&
         (interval == 0.0 ? ours.interval_probability == 0.9
                          : std::bit_cast<std::uint64_t>(ours.interval_probability) ==
                                std::bit_cast<std::uint64_t>(interval)) &&
         ours.thompson_id == theirs.thompson_id() &&
         ours.posterior_spread == theirs.posterior_spread();
}

// Whether both readers saw the same request.
inline bool same_request(const RequestView& ours, const v1::Request& theirs) {
  if (ours.id != theirs.id()) return false;
  switch (ours.kind) {
    case RequestKind::kUnknown:
      return theirs.body_case() == v1::Request::BODY_NOT_SET;
    case RequestKind::kHello:
      return theirs.has_hello() && ours.hello.version_min == theirs.hello().version_min() &&
             ours.hello.version_max == theirs.hello().version_max() &&
             ours.hello.model == theirs.hello().model() &&
             ours.hello.token == theirs.hello().token() &&
             ours.hello.model_fingerprint == theirs.hello().model_fingerprint() &&
             ours.hello.durability == static_cast<std::uint32_t>(theirs.hello().durability());
    case RequestKind::kObserve:
      return theirs.has_observe() && same_observe(ours.observe, theirs.observe());
    case RequestKind::kPredict:
      return theirs.has_predict() && same_predict(ours.predict, theirs.predict());
    case RequestKind::kPosteriorSummary:
      return theirs.has_posterior_summary();
    case RequestKind::kDraws:
      return theirs.has_draws() && ours.draws.snapshot_id == theirs.draws().snapshot_id() &&
             ours.draws.first == theirs.draws().first() &&
             ours.draws.count == theirs.draws().count();
    case RequestKind::kStatus:
      return theirs.has_status();
    case RequestKind::kProducerStatus:
      return theirs.has_producer_status() &&
             ours.producer_status.producer == theirs.producer_status().producer();
    case RequestKind::kTakeCheckpoint:
      return theirs.has_take_checkpoint() &&
             ours.take_checkpoint.request == theirs.take_checkpoint().request();
    case RequestKind::kListModels:
      return theirs.has_list_models() && ours.list_models.first == theirs.list_models().first();
    case RequestKind::kListEvents:
      return theirs.has_list_events() && ours.list_events.after == theirs.list_events().after();
    case RequestKind::kChangeModel:
      return theirs.has_change_model() &&
             ours.change_model.answered_by == theirs.change_model().answered_by() &&
             ours.change_model.pause == static_cast<std::uint32_t>(theirs.change_model().pause());
    case RequestKind::kHostModel:
      return theirs.has_host_model() &&
             ours.host_model.action == static_cast<std::uint32_t>(theirs.host_model().action()) &&
             ours.host_model.name == theirs.host_model().name() &&
             ours.host_model.configuration == theirs.host_model().configuration() &&
             ours.host_model.delete_data == theirs.host_model().delete_data() &&
             ours.host_model.request == theirs.host_model().request();
    case RequestKind::kOutcome:
      return theirs.has_outcome() &&
             same_keys(ours.outcome.keys, v1::Outcome::kKeysFieldNumber, theirs.outcome().keys()) &&
             same_array<double>(ours.outcome.targets, theirs.outcome().targets());
  }
  return false;
}

inline std::span<const std::byte> as_frame(const std::string& text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_IO_RANDOM_MESSAGES_H_
