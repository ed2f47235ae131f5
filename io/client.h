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
// at a time uses a Client. Unlike the server it allocates. It throws nothing but std::bad_alloc:
// calls return a Status, and error_text() then says in a sentence what went wrong.
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

// A connection with a stream of rows (ClientStream), and questions. Each question sends what is
// pending and itself, and waits for its own answer.
class Client final : public ClientStream {
 public:
  Client() = default;

  // With request.keys, where Welcome.takes_keys, the server keeps the rows until outcomes() has
  // their keys; summaries[i].pending says what became of each key.
  Status predict(const PredictRequest& request, std::vector<PredictiveSummary>& summaries,
                 Provenance& provenance);
  Status posterior(std::vector<ParameterSummary>& summaries, Provenance& provenance);
  // All retained draws of one snapshot: provenance.draws x dimension numbers, draw after draw.
  Status draws(std::vector<double>& theta, Provenance& provenance);
  Status status(v1::StatusResult& result);
  // Sends the outcomes of rows that were asked about with a key, to the observe endpoint: one
  // target a key. Returns once all are acknowledged; `result` lists keys that were refused. After
  // kClosed or kTimeout send them again: one that had arrived is then a duplicate, or unknown where
  // its place has been taken or the server has restarted meanwhile.
  Status outcomes(std::span<const std::string_view> keys, std::span<const double> targets,
                  v1::OutcomeResult& result);
  // All models of the server on which this client has a role.
  Status models(std::vector<v1::ModelState>& states);
  // The newest events of this connection's model, oldest first.
  Status events(std::vector<Event>& events);
  // Changes this connection's model; `state` is its state afterwards.
  Status change_model(const v1::ChangeModel& change, v1::ModelState& state);
  // Orders that the server add, replace or remove a model, and waits for the outcome:
  // result.reason() and error(). kTimeout: `go_on`, which is called now and then, returned false.
  Status host_model(const v1::HostModel& order, v1::HostModelResult& result,
                    const std::function<bool()>& go_on = {});
};

}  // namespace windhover

#endif  // WINDHOVER_IO_CLIENT_H_
