// Predicts rows that are about to be sent.
#ifndef WINDHOVER_TOOLS_CLIENT_SEND_SCORE_H_
#define WINDHOVER_TOOLS_CLIENT_SEND_SCORE_H_

#include <cstdint>
#include <vector>

#include "windhover/io/client.h"
#include "windhover/runtime/prediction/predictive.h"
#include "windhover/tools/client/prequential.h"
#include "windhover/tools/client/questions.h"
#include "windhover/tools/client/send.h"
#include "windhover/tools/data/schema.h"

namespace windhover {

// Asks a server of a logistic model about one row in so many, over a connection of its own, before
// the row is sent, so that the posterior has not seen the row.
class SendScore {
 public:
  // `server` is connected to the endpoint that takes the rows. UserError where its model is not
  // logistic.
  SendScore(const SendOptions& options, const Client& server, const Schema& schema);

  // Row `number` of the file, counted from 0.
  void add(std::uint64_t number, const EncodedRow& row);

  const Prequential& score() const { return score_; }

 private:
  const Schema& schema_;
  std::uint64_t every_;
  Client client_;
  QuestionRows question_;
  std::vector<PredictiveSummary> summaries_;
  Prequential score_;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLIENT_SEND_SCORE_H_
