#include <bit>

#include "windhover/io/codec.h"
#include "windhover/io/order_readers.h"
#include "windhover/io/wire_fields.h"
#include "windhover/io/wire_walker.h"

namespace windhover {
namespace {

// Chooses the array that holds something. False: both do.
bool choose(const PackedArray& narrow, const PackedArray& wide, PackedArray& chosen,
            Scalar& scalar) noexcept {
  if (narrow.count > 0 && wide.count > 0) return false;
  scalar = narrow.count > 0 ? Scalar::kFloat32 : Scalar::kFloat64;
  chosen = narrow.count > 0 ? narrow : wide;
  return true;
}

// Whether the arrays agree, as far as that can be told without the model.
bool shape_agrees(std::size_t rows, std::size_t values, const PackedArray& indices,
                  const PackedArray& row_ends) noexcept {
  if (indices.count > 0 || row_ends.count > 0) {
    return row_ends.count == rows && indices.count == values;
  }
  return rows == 0 ? values == 0 : values % rows == 0;
}

// The array has one value a row, or none.
bool one_a_row(const PackedArray& array, std::size_t rows) noexcept {
  return array.count == 0 || array.count == rows;
}

bool read_key(WireWalker& in, std::uint32_t wire, KeyList& keys) noexcept {
  std::string_view key;
  if (!in.ascii(wire, key)) return false;
  if (keys.count++ == 0) keys.first = key;
  keys.end = key.data() + key.size();
  return true;
}

bool read_observe(WireWalker& in, std::uint32_t wire, const std::byte* somewhere,
                  ObserveRequest& observe) noexcept {
  std::uint32_t rows = 0;
  std::uint64_t begins_here = 0;
  PackedArray features_f32, features_f64, targets_f32, targets_f64, indices, row_ends, offsets;
  PackedArray weights, trials;
  const bool read = in.message(wire, [&](std::uint32_t field, std::uint32_t inner) {
    switch (field) {
      case observe_field::kProducer:
        return in.u64(inner, observe.producer);
      case observe_field::kFirstSequence:
        return in.u64(inner, observe.first_sequence);
      case observe_field::kRows:
        return in.u32(inner, rows);
      case observe_field::kFeaturesF32:
        return in.packed(inner, 4, features_f32);
      case observe_field::kFeaturesF64:
        return in.packed(inner, 8, features_f64);
      case observe_field::kTargetsF32:
        return in.packed(inner, 4, targets_f32);
      case observe_field::kTargetsF64:
        return in.packed(inner, 8, targets_f64);
      case observe_field::kIndices:
        return in.packed(inner, 4, indices);
      case observe_field::kRowEnds:
        return in.packed(inner, 4, row_ends);
      case observe_field::kBeginsHere:
        return in.u64(inner, begins_here);
      case observe_field::kOffsets:
        return in.packed(inner, 8, offsets);
      case observe_field::kWeights:
        return in.packed(inner, 8, weights);
      case observe_field::kTrials:
        return in.packed(inner, 8, trials);
      default:
        return in.skip(inner);
    }
  });
  PackedArray features, targets;
  Scalar of_features = Scalar::kFloat64;
  if (!read || !choose(features_f32, features_f64, features, of_features) ||
      !choose(targets_f32, targets_f64, targets, observe.batch.scalar)) {
    return false;
  }
  if (features.count > 0 && of_features != observe.batch.scalar) return false;
  const bool extras = (offsets.count | weights.count | trials.count) != 0;
  if (extras && !(one_a_row(offsets, rows) && one_a_row(weights, rows) && one_a_row(trials, rows)))
    return false;
  if (targets.count != rows || !shape_agrees(rows, features.count, indices, row_ends)) return false;

  // Empty arrays are not sent, so a frame of sparse rows without values shows only in its row ends.
  // The engine tells sparse from dense by the pointers.
  const bool sparse = row_ends.count > 0;
  observe.begins_here = begins_here != 0;
  observe.batch.rows = rows;
  observe.batch.features = features.data != nullptr ? features.data : somewhere;
  observe.batch.targets = targets.data;
  if (extras) {
    observe.batch.offsets = offsets.count > 0 ? offsets.data : nullptr;
    observe.batch.weights = weights.count > 0 ? weights.data : nullptr;
    observe.batch.trials = trials.count > 0 ? trials.data : nullptr;
  }
  observe.batch.feature_values = features.count;
  observe.batch.indices = !sparse ? nullptr : indices.data != nullptr ? indices.data : somewhere;
  observe.batch.row_ends = sparse ? row_ends.data : nullptr;
  return true;
}

bool read_predict(WireWalker& in, std::uint32_t wire, PredictQuery& predict) noexcept {
  PackedArray features_f32, features_f64;
  std::uint64_t interval = 0;
  std::uint64_t posterior_spread = 0;
  const bool read = in.message(wire, [&](std::uint32_t field, std::uint32_t inner) {
    switch (field) {
      case predict_field::kRows:
        return in.u32(inner, predict.rows);
      case predict_field::kFeaturesF32:
        return in.packed(inner, 4, features_f32);
      case predict_field::kFeaturesF64:
        return in.packed(inner, 8, features_f64);
      case predict_field::kIndices:
        return in.packed(inner, 4, predict.indices);
      case predict_field::kRowEnds:
        return in.packed(inner, 4, predict.row_ends);
      case predict_field::kQuantileProbabilities:
        return in.packed(inner, 8, predict.quantile_probabilities);
      case predict_field::kThresholds:
        return in.packed(inner, 8, predict.thresholds);
      case predict_field::kOutcomes:
        return in.packed(inner, 8, predict.outcomes);
      case predict_field::kOffsets:
        return in.packed(inner, 8, predict.offsets);
      case predict_field::kTrials:
        return in.packed(inner, 8, predict.trials);
      case predict_field::kKeys:
        return read_key(in, inner, predict.keys);
      case predict_field::kIntervalProbability:
        return in.fixed64(inner, interval);
      case predict_field::kThompsonId:
        return in.u64(inner, predict.thompson_id);
      case predict_field::kPosteriorSpread:
        return in.u64(inner, posterior_spread);
      default:
        return in.skip(inner);
    }
  });
  if (!read || !choose(features_f32, features_f64, predict.features, predict.scalar)) return false;
  const double probability = std::bit_cast<double>(interval);
  if (probability != 0.0) predict.interval_probability = probability;
  predict.posterior_spread = posterior_spread != 0;
  if (!one_a_row(predict.outcomes, predict.rows) || !one_a_row(predict.offsets, predict.rows) ||
      !one_a_row(predict.trials, predict.rows)) {
    return false;
  }
  if (predict.keys.count != 0 && predict.keys.count != predict.rows) return false;
  return shape_agrees(predict.rows, predict.features.count, predict.indices, predict.row_ends);
}

bool read_outcome(WireWalker& in, std::uint32_t wire, OutcomeQuery& outcome) noexcept {
  const bool read = in.message(wire, [&](std::uint32_t field, std::uint32_t inner) {
    switch (field) {
      case outcome_field::kKeys:
        return read_key(in, inner, outcome.keys);
      case outcome_field::kTargets:
        return in.packed(inner, 8, outcome.targets);
      default:
        return in.skip(inner);
    }
  });
  return read && outcome.keys.count == outcome.targets.count;
}

bool read_draws(WireWalker& in, std::uint32_t wire, DrawsQuery& draws) noexcept {
  return in.message(wire, [&](std::uint32_t field, std::uint32_t inner) {
    switch (field) {
      case draws_field::kSnapshotId:
        return in.u64(inner, draws.snapshot_id);
      case draws_field::kFirst:
        return in.u32(inner, draws.first);
      case draws_field::kCount:
        return in.u32(inner, draws.count);
      default:
        return in.skip(inner);
    }
  });
}

bool read_empty(WireWalker& in, std::uint32_t wire) noexcept {
  return in.message(wire, [&](std::uint32_t, std::uint32_t inner) { return in.skip(inner); });
}

}  // namespace

Status decode_request(std::span<const std::byte> frame, RequestView& request) noexcept {
  request.id = 0;
  request.kind = RequestKind::kUnknown;
  if (frame.size() > INT32_MAX) return Status::kMalformed;
  WireWalker in(frame);
  // A second body would replace or merge with the first: refused, so that there is one reading.
  const auto first = [&](RequestKind kind) {
    const bool alone = request.kind == RequestKind::kUnknown;
    request.kind = kind;
    return alone;
  };
  bool good = true;
  while (good && !in.at_end()) {
    std::uint32_t field = 0;
    std::uint32_t wire = 0;
    if (!in.tag(field, wire)) return Status::kMalformed;
    switch (field) {
      case request_field::kId:
        good = in.u64(wire, request.id);
        break;
      case request_field::kHello:
        request.hello = {};
        good = first(RequestKind::kHello) && read_hello(in, wire, request.hello);
        break;
      case request_field::kObserve:
        request.observe = {};
        good =
            first(RequestKind::kObserve) && read_observe(in, wire, frame.data(), request.observe);
        break;
      case request_field::kPredict:
        request.predict = {};
        good = first(RequestKind::kPredict) && read_predict(in, wire, request.predict);
        break;
      case request_field::kPosteriorSummary:
        good = first(RequestKind::kPosteriorSummary) && read_empty(in, wire);
        break;
      case request_field::kDraws:
        request.draws = {};
        good = first(RequestKind::kDraws) && read_draws(in, wire, request.draws);
        break;
      case request_field::kStatus:
        good = first(RequestKind::kStatus) && read_empty(in, wire);
        break;
      case request_field::kProducerStatus:
        request.producer_status = {};
        good = first(RequestKind::kProducerStatus) &&
               read_producer_status(in, wire, request.producer_status);
        break;
      case request_field::kTakeCheckpoint:
        request.take_checkpoint = {};
        good = first(RequestKind::kTakeCheckpoint) &&
               read_take_checkpoint(in, wire, request.take_checkpoint);
        break;
      case request_field::kListModels:
        request.list_models = {};
        good = first(RequestKind::kListModels) && read_list_models(in, wire, request.list_models);
        break;
      case request_field::kChangeModel:
        request.change_model = {};
        good =
            first(RequestKind::kChangeModel) && read_change_model(in, wire, request.change_model);
        break;
      case request_field::kHostModel:
        request.host_model = {};
        good = first(RequestKind::kHostModel) && read_host_model(in, wire, request.host_model);
        break;
      case request_field::kListEvents:
        request.list_events = {};
        good = first(RequestKind::kListEvents) && read_list_events(in, wire, request.list_events);
        break;
      case request_field::kOutcome:
        request.outcome = {};
        good = first(RequestKind::kOutcome) && read_outcome(in, wire, request.outcome);
        break;
      default:
        good = in.skip(wire);
    }
  }
  return good ? Status::kOk : Status::kMalformed;
}

void read_keys(const KeyList& keys, int field, std::span<std::string_view> out) noexcept {
  if (keys.count == 0) return;
  out[0] = keys.first;
  std::size_t count = 1;
  const char* const begin = keys.first.data() + keys.first.size();
  WireWalker in(std::as_bytes(std::span(begin, keys.end)));
  std::uint32_t number = 0;
  std::uint32_t wire = 0;
  while (count < keys.count && in.tag(number, wire)) {
    const bool is_key = number == static_cast<std::uint32_t>(field);
    if (!(is_key ? in.ascii(wire, out[count++]) : in.skip(wire))) return;
  }
}

}  // namespace windhover
