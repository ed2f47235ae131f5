#include "windhover/io/codec.h"

#include <cctype>
#include <string>
#include <vector>

#include <google/protobuf/unknown_field_set.h>
#include <gtest/gtest.h>

#include "windhover/io/windhover.pb.h"
#include "windhover/io/wire_fields.h"
#include "windhover/tests/io/random_messages.h"

namespace windhover {
namespace {

using testing::as_frame;
using testing::below;
using testing::Random;
using testing::random_request;
using testing::same_request;

// --- The numbers written by hand are those of the definition.

constexpr bool same(int ours, int theirs) { return ours == theirs; }
static_assert(same(request_field::kId, v1::Request::kIdFieldNumber));
static_assert(same(request_field::kHello, v1::Request::kHelloFieldNumber));
static_assert(same(request_field::kObserve, v1::Request::kObserveFieldNumber));
static_assert(same(request_field::kPredict, v1::Request::kPredictFieldNumber));
static_assert(same(request_field::kPosteriorSummary, v1::Request::kPosteriorSummaryFieldNumber));
static_assert(same(request_field::kDraws, v1::Request::kDrawsFieldNumber));
static_assert(same(request_field::kStatus, v1::Request::kStatusFieldNumber));
static_assert(same(request_field::kProducerStatus, v1::Request::kProducerStatusFieldNumber));
static_assert(same(response_field::kProducerStatusResult,
                   v1::Response::kProducerStatusResultFieldNumber));
static_assert(same(response_field::kRefusal, v1::Response::kRefusalFieldNumber));
static_assert(same(hello_field::kModelFingerprint, v1::Hello::kModelFingerprintFieldNumber));
static_assert(same(hello_field::kDurability, v1::Hello::kDurabilityFieldNumber));
static_assert(same(observe_field::kRowEnds, v1::Observe::kRowEndsFieldNumber));
static_assert(same(observe_field::kBeginsHere, v1::Observe::kBeginsHereFieldNumber));
static_assert(same(observe_field::kOffsets, v1::Observe::kOffsetsFieldNumber));
static_assert(same(observe_field::kWeights, v1::Observe::kWeightsFieldNumber));
static_assert(same(observe_field::kTrials, v1::Observe::kTrialsFieldNumber));
static_assert(same(predict_field::kTrials, v1::Predict::kTrialsFieldNumber));
static_assert(same(predict_field::kOffsets, v1::Predict::kOffsetsFieldNumber));
static_assert(same(predict_field::kKeys, v1::Predict::kKeysFieldNumber));
static_assert(same(request_field::kOutcome, v1::Request::kOutcomeFieldNumber));
static_assert(same(response_field::kOutcomeResult, v1::Response::kOutcomeResultFieldNumber));
static_assert(same(outcome_field::kKeys, v1::Outcome::kKeysFieldNumber));
static_assert(same(outcome_field::kTargets, v1::Outcome::kTargetsFieldNumber));
static_assert(same(producer_status_field::kProducer, v1::ProducerStatus::kProducerFieldNumber));
static_assert(same(request_field::kTakeCheckpoint, v1::Request::kTakeCheckpointFieldNumber));
static_assert(same(response_field::kTakeCheckpointResult,
                   v1::Response::kTakeCheckpointResultFieldNumber));
static_assert(same(take_checkpoint_field::kRequest, v1::TakeCheckpoint::kRequestFieldNumber));
static_assert(same(request_field::kListModels, v1::Request::kListModelsFieldNumber));
static_assert(same(request_field::kChangeModel, v1::Request::kChangeModelFieldNumber));
static_assert(same(response_field::kListModelsResult, v1::Response::kListModelsResultFieldNumber));
static_assert(same(response_field::kChangeModelResult,
                   v1::Response::kChangeModelResultFieldNumber));
static_assert(same(list_models_field::kFirst, v1::ListModels::kFirstFieldNumber));
static_assert(same(request_field::kListEvents, v1::Request::kListEventsFieldNumber));
static_assert(same(response_field::kListEventsResult, v1::Response::kListEventsResultFieldNumber));
static_assert(same(list_events_field::kAfter, v1::ListEvents::kAfterFieldNumber));
static_assert(same(change_model_field::kAnsweredBy, v1::ChangeModel::kAnsweredByFieldNumber));
static_assert(same(change_model_field::kPause, v1::ChangeModel::kPauseFieldNumber));
static_assert(same(request_field::kHostModel, v1::Request::kHostModelFieldNumber));
static_assert(same(response_field::kHostModelResult, v1::Response::kHostModelResultFieldNumber));
static_assert(same(host_model_field::kAction, v1::HostModel::kActionFieldNumber));
static_assert(same(host_model_field::kName, v1::HostModel::kNameFieldNumber));
static_assert(same(host_model_field::kConfiguration, v1::HostModel::kConfigurationFieldNumber));
static_assert(same(host_model_field::kDeleteData, v1::HostModel::kDeleteDataFieldNumber));
static_assert(same(host_model_field::kRequest, v1::HostModel::kRequestFieldNumber));
static_assert(same(predict_field::kThompsonId, v1::Predict::kThompsonIdFieldNumber));
static_assert(same(hello_field::kModel, v1::Hello::kModelFieldNumber));
static_assert(same(hello_field::kToken, v1::Hello::kTokenFieldNumber));
static_assert(same(draws_field::kCount, v1::Draws::kCountFieldNumber));

// "REASON_TOO_LARGE" without its prefix, in lower case.
std::string lower_name(const std::string& name, std::size_t prefix) {
  std::string lower = name.substr(prefix);
  for (char& c : lower) c = static_cast<char>(std::tolower(c));
  return lower;
}

TEST(Codec, NamesOnTheWireAreTheLibrarys) {
  for (int i = 0; i < static_cast<int>(Status::kCount); ++i) {
    EXPECT_EQ(lower_name(v1::Reason_Name(static_cast<v1::Reason>(i)), 7),
              to_string(static_cast<Status>(i)));
  }
  EXPECT_EQ(v1::REASON_SEQUENCE_GAP, static_cast<int>(Refusal::kSequenceGap));
  EXPECT_EQ(v1::REASON_PRODUCER_BUSY, static_cast<int>(Refusal::kProducerBusy));
  EXPECT_EQ(v1::REASON_TABLE_FULL, static_cast<int>(Refusal::kTableFull));
  EXPECT_EQ(v1::REASON_FINGERPRINT_MISMATCH, static_cast<int>(Refusal::kFingerprintMismatch));
  EXPECT_EQ(v1::REASON_HELLO_REQUIRED, static_cast<int>(Refusal::kHelloRequired));
  EXPECT_EQ(v1::REASON_UNKNOWN_PRODUCER, static_cast<int>(Refusal::kUnknownProducer));
  EXPECT_EQ(v1::REASON_TOO_MANY_PRODUCERS, static_cast<int>(Refusal::kTooManyProducers));
  EXPECT_EQ(v1::REASON_NOT_DURABLE, static_cast<int>(Refusal::kNotDurable));
  EXPECT_EQ(v1::REASON_UNKNOWN_MODEL, static_cast<int>(Refusal::kUnknownModel));
  EXPECT_EQ(v1::Reason_descriptor()->value_count(), static_cast<int>(Status::kCount) + 9);
  EXPECT_EQ(v1::DURABILITY_MEMORY, static_cast<int>(Durability::kMemory));
  EXPECT_EQ(v1::DURABILITY_LOGGED, static_cast<int>(Durability::kLogged));

  ASSERT_EQ(v1::PosteriorState_MAX, static_cast<int>(PosteriorStatus::kRecovering));
  for (int i = 0; i <= v1::PosteriorState_MAX; ++i) {
    EXPECT_EQ(lower_name(v1::PosteriorState_Name(static_cast<v1::PosteriorState>(i)), 16),
              to_string(static_cast<PosteriorStatus>(i)));
  }
  ASSERT_EQ(v1::PosteriorReason_MAX, static_cast<int>(StatusReason::kPredictive));
  for (int i = 0; i <= v1::PosteriorReason_MAX; ++i) {
    EXPECT_EQ(lower_name(v1::PosteriorReason_Name(static_cast<v1::PosteriorReason>(i)), 17),
              to_string(static_cast<StatusReason>(i)));
  }
}

TEST(Codec, WhatBecameOfAKeyIsNamedAsInTheLibrary) {
  ASSERT_EQ(v1::PendingKey_MAX, static_cast<int>(PendingKey::kTableFull));
  for (int i = 0; i <= v1::PendingKey_MAX; ++i) {
    EXPECT_EQ(lower_name(v1::PendingKey_Name(static_cast<v1::PendingKey>(i)), 12),
              to_string(static_cast<PendingKey>(i)));
  }
}

TEST(Codec, EveryRandomRequestIsReadAsTheGeneratedParserReadsIt) {
  Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    const v1::Request request = random_request(random);
    const std::string bytes = request.SerializeAsString();
    RequestView view;
    ASSERT_EQ(decode_request(as_frame(bytes), view), Status::kOk) << request.DebugString();
    ASSERT_TRUE(same_request(view, request)) << request.DebugString();
  }
}

TEST(Codec, WhateverIsAcceptedAfterDamageTheGeneratedParserAcceptsAlike) {
  Random random(2);
  int accepted = 0;
  for (int i = 0; i < 40'000; ++i) {
    std::string bytes = random_request(random).SerializeAsString();
    if (bytes.empty()) continue;
    if (below(random, 2) == 0) {
      bytes.resize(below(random, bytes.size()));
    } else {
      for (std::uint64_t flips = 1 + below(random, 3); flips > 0; --flips) {
        bytes[below(random, bytes.size())] ^= static_cast<char>(1U << below(random, 8));
      }
    }
    RequestView view;
    if (!ok(decode_request(as_frame(bytes), view))) continue;
    ++accepted;
    v1::Request request;
    ASSERT_TRUE(request.ParseFromString(bytes));
    ASSERT_TRUE(same_request(view, request)) << request.DebugString();
  }
  EXPECT_GT(accepted, 1000);
}

TEST(Codec, UnknownFieldsAreSkippedAtEveryLevel) {
  Random random(3);
  for (int i = 0; i < 5'000; ++i) {
    v1::Request request = random_request(random);
    const v1::Request plain = request;
    std::vector<google::protobuf::Message*> levels = {&request};
    if (request.has_observe()) levels.push_back(request.mutable_observe());
    if (request.has_predict()) levels.push_back(request.mutable_predict());
    if (request.has_status()) levels.push_back(request.mutable_status());
    for (google::protobuf::Message* level : levels) {
      auto* unknown = level->GetReflection()->MutableUnknownFields(level);
      unknown->AddVarint(100, random());
      unknown->AddFixed32(1000, 7);
      unknown->AddFixed64(20, 8);
      unknown->AddLengthDelimited(536'870'911, std::string(below(random, 200), 'x'));
    }
    const std::string bytes = request.SerializeAsString();
    RequestView view;
    ASSERT_EQ(decode_request(as_frame(bytes), view), Status::kOk);
    ASSERT_TRUE(same_request(view, plain));
  }
}

TEST(Codec, AnUnknownBodyIsUnknownAndKeepsItsId) {
  v1::Request request;
  request.set_id(9);
  request.GetReflection()->MutableUnknownFields(&request)->AddLengthDelimited(15, "from later");
  const std::string bytes = request.SerializeAsString();
  RequestView view;
  ASSERT_EQ(decode_request(as_frame(bytes), view), Status::kOk);
  EXPECT_EQ(view.kind, RequestKind::kUnknown);
  EXPECT_EQ(view.id, 9U);
}

std::string observe_with(const std::string& body) {
  std::string bytes = "\x1a";  // field 3, length-delimited
  bytes += static_cast<char>(body.size());
  return bytes + body;
}

Status decode(const std::string& bytes) {
  RequestView view;
  return decode_request(as_frame(bytes), view);
}

TEST(Codec, PackedArrayGivenTwiceIsMalformed) {
  const std::string once = std::string("\x18\x01", 2) + "\x3a\x08" + std::string(8, '\0');
  EXPECT_EQ(decode(observe_with(once)), Status::kOk);
  EXPECT_EQ(decode(observe_with(once + std::string("\x3a\x00", 2))), Status::kMalformed);
}

TEST(Codec, UnpackedArrayIsMalformed) {
  const std::string unpacked = std::string("\x18\x01\x39", 3) + std::string(8, '\0');
  EXPECT_EQ(decode(observe_with(unpacked)), Status::kMalformed);
}

TEST(Codec, ArrayWithHalfAnElementIsMalformed) {
  EXPECT_EQ(decode(observe_with(std::string("\x3a\x07") + std::string(7, '\0'))),
            Status::kMalformed);
}

TEST(Codec, ArrayRunningOverItsMessageIsMalformed) {
  // Inside the frame, but beyond the Observe it is in.
  const std::string inner = observe_with(std::string("\x3a\x10", 2) + std::string(8, '\0'));
  EXPECT_EQ(decode(inner + std::string(8, '\0')), Status::kMalformed);
}

TEST(Codec, GroupsAreMalformed) {
  EXPECT_EQ(decode(std::string("\xa3\x06\xa4\x06", 4)), Status::kMalformed);  // group 100
}

TEST(Codec, FieldNumberZeroIsMalformed) {
  EXPECT_EQ(decode(std::string("\x00\x01", 2)), Status::kMalformed);
}

TEST(Codec, TwoBodiesAreMalformed) {
  const std::string status("\x3a\x00", 2);
  EXPECT_EQ(decode(status), Status::kOk);
  EXPECT_EQ(decode(status + status), Status::kMalformed);
  EXPECT_EQ(decode(status + std::string("\x2a\x00", 2)), Status::kMalformed);
}

TEST(Codec, OffsetsAreOneARowOrNone) {
  v1::Request observe;
  observe.mutable_observe()->set_rows(2);
  v1::Request predict;
  predict.mutable_predict()->set_rows(2);
  for (int i = 0; i < 2; ++i) {
    observe.mutable_observe()->add_targets_f64(1);
    observe.mutable_observe()->add_features_f64(1);
    predict.mutable_predict()->add_features_f64(1);
  }
  for (int count = 0; count < 4; ++count) {
    const Status expected = count == 0 || count == 2 ? Status::kOk : Status::kMalformed;
    EXPECT_EQ(decode(observe.SerializeAsString()), expected) << count;
    EXPECT_EQ(decode(predict.SerializeAsString()), expected) << count;
    observe.mutable_observe()->add_offsets(0.5);
    predict.mutable_predict()->add_offsets(0.5);
  }
}

TEST(Codec, WeightsAreOneARowOrNone) {
  v1::Request request;
  v1::Observe* observe = request.mutable_observe();
  observe->set_rows(2);
  for (int i = 0; i < 2; ++i) {
    observe->add_targets_f64(1);
    observe->add_features_f64(1);
  }
  for (int count = 0; count < 4; ++count) {
    const Status expected = count == 0 || count == 2 ? Status::kOk : Status::kMalformed;
    EXPECT_EQ(decode(request.SerializeAsString()), expected) << count;
    observe->add_weights(0.5);
  }
}

TEST(Codec, TrialsAreOneARowOrNone) {
  v1::Request rows;
  v1::Observe* observe = rows.mutable_observe();
  v1::Request question;
  v1::Predict* predict = question.mutable_predict();
  observe->set_rows(2);
  predict->set_rows(2);
  for (int i = 0; i < 2; ++i) {
    observe->add_targets_f64(1);
    observe->add_features_f64(1);
    predict->add_features_f64(1);
  }
  for (int count = 0; count < 4; ++count) {
    const Status expected = count == 0 || count == 2 ? Status::kOk : Status::kMalformed;
    EXPECT_EQ(decode(rows.SerializeAsString()), expected) << count;
    EXPECT_EQ(decode(question.SerializeAsString()), expected) << count;
    observe->add_trials(5);
    predict->add_trials(5);
  }
}

TEST(Codec, RowsThatContradictTheArraysAreMalformed) {
  v1::Request request;
  v1::Observe* observe = request.mutable_observe();
  observe->set_rows(2);
  observe->add_targets_f64(1);
  EXPECT_EQ(decode(request.SerializeAsString()), Status::kMalformed);
  observe->add_targets_f64(1);
  EXPECT_EQ(decode(request.SerializeAsString()), Status::kOk);
  observe->add_features_f64(1);
  EXPECT_EQ(decode(request.SerializeAsString()), Status::kMalformed);  // one value, two rows
  observe->add_features_f64(1);
  EXPECT_EQ(decode(request.SerializeAsString()), Status::kOk);
  observe->add_features_f32(1);
  EXPECT_EQ(decode(request.SerializeAsString()), Status::kMalformed);  // floats and doubles
}

TEST(Codec, NothingIsReadBehindTheFrame) {
  // Under AddressSanitizer a read behind the vector's end stops the test.
  Random random(4);
  for (int i = 0; i < 2'000; ++i) {
    const std::string whole = random_request(random).SerializeAsString();
    for (std::size_t n = 0; n <= whole.size(); n += 1 + below(random, 8)) {
      const std::vector<std::byte> exact(as_frame(whole).begin(),
                                         as_frame(whole).begin() + static_cast<std::ptrdiff_t>(n));
      RequestView view;
      (void)decode_request(exact, view);
    }
  }
}

}  // namespace
}  // namespace windhover
