#include "windhover/io/http/json_fault.h"

namespace windhover {

const char* words_of(v1::Reason reason) noexcept {
  switch (reason) {
    case v1::REASON_INVALID_ARGUMENT:
      return "an argument is not valid";
    case v1::REASON_WRONG_DIMENSION:
      return "a row has another number of columns than the model";
    case v1::REASON_NOT_FINITE:
      return "a number is NaN, infinite or too large";
    case v1::REASON_TARGET_OUT_OF_DOMAIN:
      return "a target is not one that the model knows";
    case v1::REASON_INDEX_OUT_OF_RANGE:
      return "a column is not below the number of columns";
    case v1::REASON_INDICES_NOT_INCREASING:
      return "columns do not increase within a row";
    case v1::REASON_TOO_MANY_NONZEROS:
      return "a row has more values than the model takes";
    case v1::REASON_TOO_LARGE:
      return "it is larger than the server takes";
    case v1::REASON_UNSUPPORTED:
      return "the server or the model does not do that";
    case v1::REASON_UNAVAILABLE:
      return "the snapshot that was paged through is gone: begin again without snapshot_id";
    case v1::REASON_NOT_READY:
      return "there is no posterior yet";
    case v1::REASON_OFFSET_OUT_OF_RANGE:
      return "an offset is NaN or too large";
    case v1::REASON_OFFSET_NOT_TAKEN:
      return "the model's rows have no offset: model.offset is false";
    case v1::REASON_WEIGHT_OUT_OF_RANGE:
      return "a weight is not between 1e-6 and 1e6";
    case v1::REASON_WEIGHT_NOT_TAKEN:
      return "the model counts every row once: model.weight is false";
    case v1::REASON_TRIALS_OUT_OF_RANGE:
      return "a number of trials is not a whole number of 1 to 1e9";
    case v1::REASON_TRIALS_NOT_TAKEN:
      return "the model's rows have no trials: it is not binomial";
    case v1::REASON_TRIALS_MISSING:
      return "the model is binomial: each row needs the number of its trials";
    case v1::REASON_LOG_FULL:
      return "the server's log has no room until its next checkpoint";
    case v1::REASON_WINDOW_FULL:
      return "the learner is behind and the window has no room";
    case v1::REASON_SEQUENCE_GAP:
      return "rows of this producer are missing before these; number is the first_sequence "
             "expected";
    case v1::REASON_UNKNOWN_PRODUCER:
      return "the server does not know the producer: its first row must be row 0, or begins_here";
    case v1::REASON_PRODUCER_BUSY:
      return "another connection speaks for this producer";
    case v1::REASON_TABLE_FULL:
      return "the server knows as many producers as it may, of all or of this identity: number";
    case v1::REASON_TOO_MANY_PRODUCERS:
      return "the connection speaks for as many producers as it may: number";
    case v1::REASON_NOT_PERMITTED:
      return "not permitted";
    default:
      return "the request was refused";
  }
}

}  // namespace windhover
