// The client for C: a Client, with exceptions caught.
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "windhover/io/c/client_handle.h"

namespace windhover {
namespace {

std::string text_of(const char* text) { return text == nullptr ? "" : text; }

ClientOptions options_of(const windhover_client_options& o) {
  ClientOptions c;
  c.producer = o.producer;
  c.first_sequence = o.first_sequence;
  c.begins_here = o.begins_here != 0;
  c.durability = static_cast<v1::Durability>(o.durability);
  c.model = text_of(o.model);
  c.token = text_of(o.token);
  c.tls.ca_file = text_of(o.ca_file);
  c.tls.server_name = text_of(o.server_name);
  c.tls.certificate = text_of(o.certificate);
  c.tls.key = text_of(o.key);
  c.fingerprint = o.fingerprint;
  c.connect_timeout = std::chrono::milliseconds(o.connect_timeout_ms);
  c.reply_timeout = std::chrono::milliseconds(o.reply_timeout_ms);
  c.retry_for = std::chrono::milliseconds(o.retry_for_ms);
  c.wire_float = o.wire_float != 0;
  c.resend_bytes = o.resend_bytes;
  return c;
}

constexpr std::size_t kFirstServer = offsetof(windhover_server, network);

static_assert(static_cast<int>(v1::DURABILITY_UNSPECIFIED) == WINDHOVER_DURABILITY_ANY &&
              static_cast<int>(v1::DURABILITY_MEMORY) == WINDHOVER_DURABILITY_MEMORY &&
              static_cast<int>(v1::DURABILITY_LOGGED) == WINDHOVER_DURABILITY_LOGGED);

}  // namespace
}  // namespace windhover

using windhover::fail;
using windhover::guarded;

void windhover_client_options_init(windhover_client_options* options, size_t size) {
  const windhover::ClientOptions c;
  windhover_client_options o{};
  o.model = o.token = o.ca_file = o.server_name = o.certificate = o.key = "";
  o.connect_timeout_ms = static_cast<std::uint32_t>(c.connect_timeout.count());
  o.reply_timeout_ms = static_cast<std::uint32_t>(c.reply_timeout.count());
  o.retry_for_ms = static_cast<std::uint32_t>(c.retry_for.count());
  o.resend_bytes = c.resend_bytes;
  windhover::begin(o, options, size);
}

void windhover_server_init(windhover_server* server, size_t size) {
  windhover::begin({}, server, size, windhover::kFirstServer);
}

void windhover_totals_init(windhover_totals* totals, size_t size) {
  windhover::begin({}, totals, size);
}

windhover_status windhover_client_create(windhover_client** client) {
  if (client == nullptr) return WINDHOVER_INVALID_ARGUMENT;
  *client = nullptr;
  try {
    *client = new windhover_client;
  } catch (...) {
    return WINDHOVER_NO_MEMORY;
  }
  return WINDHOVER_OK;
}

void windhover_client_destroy(windhover_client* client) { delete client; }

const char* windhover_client_error(const windhover_client* client) {
  return client == nullptr ? "there is no client: it is NULL" : client->error.data();
}

windhover_status windhover_client_connect(windhover_client* client, const char* address,
                                          const windhover_client_options* options) {
  if (client == nullptr) return WINDHOVER_INVALID_ARGUMENT;
  if (address == nullptr) {
    return fail(client, WINDHOVER_INVALID_ARGUMENT, "address must not be NULL");
  }
  windhover_client_options defaults;
  windhover_client_options_init(&defaults, sizeof defaults);
  if (options == nullptr) options = &defaults;
  if (const auto status = windhover::check_given(options); status != WINDHOVER_OK) {
    return fail(client, status, windhover::sentence_of_given(status));
  }
  if (options->durability < WINDHOVER_DURABILITY_ANY ||
      options->durability > WINDHOVER_DURABILITY_LOGGED) {
    return fail(client, WINDHOVER_INVALID_ARGUMENT,
                "options.durability must be one of windhover_durability");
  }
  return guarded(client,
                 [&] { return client->client.connect(address, windhover::options_of(*options)); });
}

windhover_status windhover_client_reconnect(windhover_client* client) {
  if (client == nullptr) return WINDHOVER_INVALID_ARGUMENT;
  return guarded(client, [&] { return client->client.reconnect(); });
}

windhover_status windhover_client_close(windhover_client* client) {
  if (client == nullptr) return WINDHOVER_INVALID_ARGUMENT;
  client->client.close();
  return WINDHOVER_OK;
}

uint64_t windhover_client_missing(const windhover_client* client, uint64_t* first) {
  const windhover::MissingRows missing =
      client == nullptr ? windhover::MissingRows{} : client->client.missing();
  if (first != nullptr) *first = missing.first;
  return missing.count;
}

windhover_status windhover_client_go_back(windhover_client* client, uint64_t sequence) {
  if (client == nullptr) return WINDHOVER_INVALID_ARGUMENT;
  const windhover::MissingRows& missing = client->client.missing();
  if (sequence < missing.first || sequence - missing.first >= missing.count) {
    return fail(client, WINDHOVER_INVALID_ARGUMENT, "no row of that sequence number is missing");
  }
  return guarded(client, [&] { return client->client.go_back(sequence); });
}

windhover_status windhover_client_leave_missing(windhover_client* client) {
  if (client == nullptr) return WINDHOVER_INVALID_ARGUMENT;
  if (client->client.missing().count == 0) {
    return fail(client, WINDHOVER_INVALID_ARGUMENT, "no row is missing");
  }
  return guarded(client, [&] { return client->client.leave_missing(); });
}

windhover_status windhover_client_server(const windhover_client* client, windhover_server* server) {
  if (client == nullptr || server == nullptr) return WINDHOVER_INVALID_ARGUMENT;
  const auto status = windhover::check_wanted(server, windhover::kFirstServer);
  if (status != WINDHOVER_OK) return status;
  if (!client->client.connected()) return WINDHOVER_CLOSED;
  const windhover::v1::Welcome& welcome = client->client.welcome();
  windhover_server out{};
  out.features = welcome.features();
  out.dimension = welcome.dimension();
  out.classes = welcome.classes();
  out.max_nonzeros = welcome.max_nonzeros();
  out.max_query_rows = welcome.max_query_rows();
  out.fingerprint = welcome.fingerprint();
  out.network = welcome.network() ? 1 : 0;
  windhover::give(out, server);
  return WINDHOVER_OK;
}

windhover_status windhover_client_send(windhover_client* client, const windhover_rows* rows) {
  if (client == nullptr) return WINDHOVER_INVALID_ARGUMENT;
  if (const auto status = windhover::check_rows(rows); status != WINDHOVER_OK) {
    return fail(client, status);
  }
  const bool sparse = rows->row_ends != nullptr;
  const bool connected = client->client.connected();
  const windhover::v1::Welcome& welcome = client->client.welcome();
  // Divided, because a product of two numbers from outside may overflow.
  if (connected && rows->rows > 0 &&
      (sparse != (welcome.max_nonzeros() > 0) ||
       (!sparse && (rows->feature_values % rows->rows != 0 ||
                    rows->feature_values / rows->rows != welcome.features())))) {
    return fail(client, WINDHOVER_WRONG_DIMENSION,
                "the rows do not have the shape of the server's model");
  }
  windhover::ObserveRows out;
  out.features = {rows->features, rows->feature_values};
  out.targets = {rows->targets, rows->rows};
  if (sparse) {
    out.indices = {rows->indices, rows->feature_values};
    out.row_ends = {rows->row_ends, rows->rows};
  }
  const double* offsets = windhover::offsets_of(*rows);
  if (offsets != nullptr) out.offsets = {offsets, rows->rows};
  const double* weights = windhover::weights_of(*rows);
  if (weights != nullptr) out.weights = {weights, rows->rows};
  const double* trials = windhover::trials_of(*rows);
  if (trials != nullptr) out.trials = {trials, rows->rows};
  return guarded(client, [&] { return client->client.send_observe(out); });
}

windhover_status windhover_client_wait(windhover_client* client) {
  if (client == nullptr) return WINDHOVER_INVALID_ARGUMENT;
  return guarded(client, [&] { return client->client.wait_acknowledged(); });
}

windhover_status windhover_client_totals(const windhover_client* client, windhover_totals* totals) {
  if (client == nullptr || totals == nullptr) return WINDHOVER_INVALID_ARGUMENT;
  const auto status = windhover::check_wanted(totals);
  if (status != WINDHOVER_OK) return status;
  const windhover::ObserveTotals& of = client->client.totals();
  windhover_totals out{};
  out.sent = of.sent;
  out.accepted = of.accepted;
  out.refused = of.refused;
  out.duplicate = of.duplicate;
  out.unknown = of.unknown;
  out.durable = of.durable;
  out.lost = of.lost;
  out.head = of.head;
  windhover::give(out, totals);
  return WINDHOVER_OK;
}

windhover_status windhover_client_refused(windhover_client* client, windhover_refused_row* listed,
                                          size_t room, size_t* count) {
  if (client == nullptr) return WINDHOVER_INVALID_ARGUMENT;
  if (listed == nullptr && room > 0) {
    return fail(client, WINDHOVER_INVALID_ARGUMENT, "listed must not be NULL where it has room");
  }
  return guarded(client, [&] {
    const std::vector<windhover::ClientRefusedRow> rows = client->client.take_refused_rows();
    for (std::size_t i = 0; i < std::min(room, rows.size()); ++i) {
      listed[i] = {rows[i].row, windhover::to_c(rows[i].reason)};
    }
    if (count != nullptr) *count = rows.size();
    return windhover::Status::kOk;
  });
}
