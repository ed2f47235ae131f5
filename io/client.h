// Talks to a Windhover server from another process or thread: blocking, for programs and tests.
//
//   Client client;
//   if (!ok(client.connect("127.0.0.1:7171", {.producer = 7}))) complain(client.error_text());
//   client.send_observe(rows);                  // any number of times, pipelined
//   client.wait_acknowledged();                 // client.totals() says what became of every row
//   client.reconnect();                         // when a call returned kClosed or kTimeout
//   client.predict(request, summaries, provenance);
//
// Addresses: "host:port", "tcp:host:port", "[v6]:port", "tls://host:port", "unix:/path". One thread
// at a time uses a Client. Unlike the server it allocates. Nothing throws: every call returns a
// Status, and error_text() then says in a sentence what went wrong.
#ifndef WINDHOVER_IO_CLIENT_H_
#define WINDHOVER_IO_CLIENT_H_

#include <span>
#include <string_view>
#include <vector>

#include "windhover/io/client_replies.h"
#include "windhover/io/client_stream.h"
#include "windhover/runtime/diagnostics/event_log.h"
#include "windhover/runtime/observation.h"
#include "windhover/runtime/prediction/predictive.h"

namespace windhover {

// A ClientConnection with a ClientStream of rows, and questions beside them: each flushes what is
// pending, sends, and waits for its own answer.
class Client final : public ClientStream {
 public:
  Client() = default;

  // With request.keys the rows are kept until outcomes() has their keys, where Welcome.takes_keys;
  // summaries[i].pending says what became of each.
  Status predict(const PredictRequest& request, std::vector<PredictiveSummary>& summaries,
                 Provenance& provenance);
  Status posterior(std::vector<ParameterSummary>& summaries, Provenance& provenance);
  // All retained draws of one snapshot: provenance.draws x dimension numbers, draw after draw.
  Status draws(std::vector<double>& theta, Provenance& provenance);
  Status status(v1::StatusResult& result);
  // What happened, of rows asked about with a key, on the observe endpoint: one target a key.
  // Returns once all are acknowledged; keys that were refused are listed in `result`. After kClosed
  // or kTimeout tell them again: what had arrived is then a duplicate, or unknown where its place
  // has been taken or the server has restarted meanwhile.
  Status outcomes(std::span<const std::string_view> keys, std::span<const double> targets,
                  v1::OutcomeResult& result);
  // All models of the server.
  Status models(std::vector<v1::ModelState>& states);
  // What has happened to the model that this connection speaks of, oldest first.
  Status events(std::vector<Event>& events);
  // Changes the model that this connection speaks of; `state`: how it stands then.
  Status change_model(const v1::ChangeModel& change, v1::ModelState& state);
  // Has the server add, replace or remove a model, and waits until it has, or has refused:
  // result.reason() and error(). kTimeout where `go_on`, which is asked now and then, says no more.
  Status host_model(const v1::HostModel& order, v1::HostModelResult& result,
                    const std::function<bool()>& go_on = {});
};

}  // namespace windhover

#endif  // WINDHOVER_IO_CLIENT_H_
