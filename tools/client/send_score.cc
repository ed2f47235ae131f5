#include "windhover/tools/client/send_score.h"

#include "windhover/tools/client/answers.h"
#include "windhover/tools/error.h"

namespace windhover {

SendScore::SendScore(const SendOptions& options, const Client& server, const Schema& schema)
    : schema_(schema), every_(options.score_every), score_(options.score_memory) {
  if (server.welcome().model() != v1::MODEL_KIND_LOGISTIC) {
    throw UserError("--score needs a server with a logistic model");
  }
  connect_or_throw(client_, options.score_address.empty() ? options.address : options.score_address,
                   options.connection);
}

void SendScore::add(std::uint64_t number, const EncodedRow& row) {
  if (number % every_ == 0) {
    question_.clear();
    question_.add(row, schema_);
    PredictRequest request;
    question_.put_into(request);
    Provenance provenance;
    Status status = client_.predict(request, summaries_, provenance);
    const bool gone = status == Status::kClosed || status == Status::kTimeout;
    if (gone && ok(client_.reconnect())) {  // a server closes silent connections
      status = client_.predict(request, summaries_, provenance);
    }
    check_reply(client_, status, "predicting");
    score_.add(summaries_.at(0).epred_mean, row.target > 0.5);
  }
  score_.observe(row.target > 0.5);
}

}  // namespace windhover
