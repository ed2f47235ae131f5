// The field numbers of windhover.proto that the server reads and writes by hand. That they agree
// with the generated classes is checked in tests/io/codec_read_test.cc.
#ifndef WINDHOVER_IO_WIRE_FIELDS_H_
#define WINDHOVER_IO_WIRE_FIELDS_H_

namespace windhover {

namespace request_field {
enum : int {
  kId = 1,
  kHello,
  kObserve,
  kPredict,
  kPosteriorSummary,
  kDraws,
  kStatus,
  kProducerStatus,
  kTakeCheckpoint,
  kListModels,
  kChangeModel,
  kHostModel,
  kOutcome,
  kListEvents
};
}
namespace response_field {
enum : int {
  kId = 1,
  kWelcome,
  kObserveAck,
  kPredictResult,
  kPosteriorSummaryResult,
  kDrawsResult,
  kStatusResult,
  kRefusal,
  kProducerStatusResult,
  kTakeCheckpointResult,
  kListModelsResult,
  kChangeModelResult,
  kHostModelResult,
  kOutcomeResult,
  kListEventsResult
};
}
namespace hello_field {
enum : int { kVersionMin = 1, kVersionMax, kModelFingerprint = 4, kDurability, kModel, kToken };
}
namespace observe_field {
enum : int {
  kProducer = 1,
  kFirstSequence,
  kRows,
  kFeaturesF32,
  kFeaturesF64,
  kTargetsF32,
  kTargetsF64,
  kIndices,
  kRowEnds,
  kBeginsHere,
  kOffsets,
  kWeights,
  kTrials
};
}
namespace predict_field {
enum : int {
  kRows = 1,
  kFeaturesF32,
  kFeaturesF64,
  kIndices,
  kRowEnds,
  kQuantileProbabilities,
  kThresholds,
  kOutcomes,
  kIntervalProbability,
  kThompsonId,
  kOffsets,
  kKeys,
  kTrials,
  kPosteriorSpread
};
}
namespace outcome_field {
enum : int { kKeys = 1, kTargets };
}
namespace draws_field {
enum : int { kSnapshotId = 1, kFirst, kCount };
}
namespace producer_status_field {
enum : int { kProducer = 1 };
}
namespace take_checkpoint_field {
enum : int { kRequest = 1 };
}
namespace list_models_field {
enum : int { kFirst = 1 };
}
namespace list_events_field {
enum : int { kAfter = 1 };
}
namespace change_model_field {
enum : int { kAnsweredBy = 1, kPause };
}
namespace host_model_field {
enum : int { kAction = 1, kName, kConfiguration, kDeleteData, kRequest };
}

}  // namespace windhover

#endif  // WINDHOVER_IO_WIRE_FIELDS_H_
