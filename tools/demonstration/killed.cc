#include "windhover/tools/demonstration/killed.h"

#include <chrono>
#include <memory>
#include <thread>

#include "windhover/tools/client/answers.h"
#include "windhover/tools/demonstration/background.h"
#include "windhover/tools/temporary_folder.h"

namespace windhover {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kLongestWait = 20s;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

KilledResult run_killed(const std::string& program, std::vector<std::string> arguments,
                        SendOptions send, std::uint64_t rows,
                        const std::function<Provenance(Client&)>& ask) {
  const TemporaryFolder folder;
  arguments.insert(
      arguments.end(),
      {"--data.folder", folder.in("data"), "--data.checkpoint_period", "500",
       "--server.observe.tcp_address", "", "--server.observe.unix_path", folder.in("observe"),
       "--server.query.tcp_address", "", "--server.query.unix_path", folder.in("query")});
  KilledResult result;
  const std::string counter = heap_counter_beside(program);
  auto daemon = std::make_unique<ChildDaemon>(program, arguments, counter);
  send.address = daemon->observe_address();
  send.durable = true;
  SendThread sender(std::move(send));
  Client client;
  connect_or_throw(client, daemon->query_address());
  v1::StatusResult status;
  const auto until = Clock::now() + kLongestWait;
  while (!sender.done() && result.rows_at_kill < rows / 2 && Clock::now() < until) {
    std::this_thread::sleep_for(1ms);
    check_reply(client, client.status(status), "asking for the status");
    result.rows_at_kill = status.head();
  }
  client.close();
  const auto killed = Clock::now();
  (void)daemon->stop(SIGKILL);
  daemon = std::make_unique<ChildDaemon>(program, arguments, counter);
  result.seconds_to_ready = seconds_since(killed);
  connect_or_throw(client, daemon->query_address());
  Provenance provenance = ask(client);
  result.seconds_to_answer = seconds_since(killed);
  result.rows_at_ready = daemon->recovered();
  while (provenance.sequence < result.rows_at_ready && seconds_since(killed) < 20) {
    std::this_thread::sleep_for(1ms);
    provenance = ask(client);
  }
  result.seconds_to_all = seconds_since(killed);
  client.close();
  result.sent = sender.result();
  result.stopped = daemon->stop();
  result.rows_at_end = result.stopped.observations;
  return result;
}

}  // namespace windhover
