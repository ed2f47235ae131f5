// A server in the process of the test, and rows for it.
#ifndef WINDHOVER_TESTS_TOOLS_SERVED_H_
#define WINDHOVER_TESTS_TOOLS_SERVED_H_

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "windhover/tests/tools/support.h"
#include "windhover/tools/bench/load.h"
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

// A server of an engine for the rows of a schema, on a Unix-domain socket.
class Served : public ServedEngine {
 public:
  Served(const std::string& socket, const Schema& schema, const char* model)
      : ServedEngine(config_for(schema, model), {.observe_path = socket}) {}

  std::string address() const { return observe_address(); }

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
