// A server in the process of the test, and rows for it.
#ifndef WINDHOVER_TESTS_TOOLS_SERVED_H_
#define WINDHOVER_TESTS_TOOLS_SERVED_H_

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>

#include "windhover/io/server.h"
#include "windhover/platform/memory.h"
#include "windhover/runtime/engine.h"
#include "windhover/runtime/learner_thread.h"
#include "windhover/tests/tools/support.h"
#include "windhover/tools/client/send.h"
#include "windhover/tools/data/schema.h"

namespace windhover {

inline constexpr int kRows = 4000;

inline std::string schema_file(bool sparse, const std::string& more = "") {
  return file_with(
      sparse ? "served_sparse.toml" : "served_dense.toml",
      std::string("target = \"y\"\nmissing = \"skip\"\nsparse = ") + (sparse ? "true" : "false") +
          "\n[[feature]]\nfield = \"a\"\nkind = \"number\"\nshift = 0\nscale = 1\n"
          "[[feature]]\nfield = \"c\"\nkind = \"category\"\ncategories = [\"u\", \"v\"]\n"
          "other = \"zero\"\n" +
          more);
}

inline std::string data_file() {
  std::string text = "a,c,y\n";
  for (int i = 0; i < kRows; ++i) {
    const double a = std::sin(i * 1.7);
    const char* c = i % 3 == 0 ? "u" : i % 3 == 1 ? "v" : "w";
    const bool y = 0.8 * a + (i % 3 == 0 ? 0.7 : -0.2) + 2 * std::sin(i * 12.9898) > 0;
    text += std::to_string(a) + "," + c + "," + (i % 100 == 50 ? "?" : y ? "1" : "0") + "\n";
  }
  return file_with("served.csv", text);
}

// An engine, its learner and a server on a Unix-domain socket.
class Served {
 public:
  Served(const std::string& socket, const Schema& schema, const char* model)
      : socket_(socket), block_(bytes_for(schema, model)) {
    EngineConfig config = config_for(schema, model);
    const std::size_t engine_bytes = Engine::footprint(config).value();
    engine_ = Engine::create(config, block_.bytes().first(engine_bytes), clock_).value();
    ServerConfig server_config;
    server_config.observe.unix_path = socket_;
    const std::size_t server_bytes = Server::footprint(server_config, config).value();
    server_block_ = std::make_unique<MappedBlock>(server_bytes);
    server_ = Server::create(server_config, *engine_, server_block_->bytes(), clock_).value();
    EXPECT_TRUE(server_->open().ok());
    EXPECT_TRUE(ok(learner_.start(*engine_, {}, IdleStrategy::kPark)));
    EXPECT_TRUE(ok(server_->start()));
  }
  ~Served() {
    server_->request_stop();
    server_->join();
    learner_.stop();
  }

  std::string address() const { return "unix:" + socket_; }
  Engine& engine() { return *engine_; }

 private:
  static EngineConfig config_for(const Schema& schema, const char* model) {
    EngineConfig config;
    config.model.name = model;
    config.model.features = schema.features();
    config.model.prior_precision = 1;  // in the units of the encoded rows, as the reference's
    config.model.intercept_precision = 0.1;
    config.model.max_nonzeros = schema.sparse() ? schema.max_nonzeros() : 0;
    config.window_size = 2000;
    config.max_frame_rows = 1000;
    config.schema_fingerprint = schema.fingerprint();
    return config;
  }
  static std::size_t bytes_for(const Schema& schema, const char* model) {
    return Engine::footprint(config_for(schema, model)).value();
  }

  std::string socket_;
  RealClock clock_;
  MappedBlock block_;
  std::unique_ptr<MappedBlock> server_block_;
  Engine* engine_ = nullptr;
  LearnerThread learner_;
  std::unique_ptr<Server> server_;
};

inline SendOptions options_for(const Served& served, const std::string& schema) {
  SendOptions o;
  o.path = data_file();
  o.address = served.address();
  o.schema = schema;
  o.batch = 100;
  return o;
}

}  // namespace windhover

#endif  // WINDHOVER_TESTS_TOOLS_SERVED_H_
