// A Prometheus that runs beside a test (Debian: prometheus).
#ifndef WINDHOVER_TESTS_SYSTEM_PROMETHEUS_H_
#define WINDHOVER_TESTS_SYSTEM_PROMETHEUS_H_

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "windhover/tests/io/http/http_peer.h"
#include "windhover/tests/system/run_program.h"
#include "windhover/tests/temporary_folder.h"

namespace windhover::testing {

inline const std::string kPrometheus = "/usr/bin/prometheus";
inline const std::string kMonitoringFolder =
    std::string(WINDHOVER_SOURCE_DIR) + "/tools/daemon/monitoring/";

inline bool has_program(const std::string& path) { return access(path.c_str(), X_OK) == 0; }

// A port that is free, below those that the system gives to connections and to whoever asks for
// any: none of those takes it before its program listens there, or while that one restarts.
inline std::uint16_t free_port() {
  std::random_device random;
  std::uniform_int_distribution<int> among(10'000, 30'000);
  for (;;) {
    const auto port = static_cast<std::uint16_t>(among(random));
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    const bool free = bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    close(socket);
    if (free) return port;
  }
}

// A Prometheus of our own that scrapes one daemon five times a second, with our rules.
class Prometheus {
 public:
  // `job`: more lines of the job, each with its four blanks and its end; `arguments`: more of the
  // program.
  explicit Prometheus(const std::string& target, const std::string& job = "",
                      const std::vector<std::string>& arguments = {})
      : port_(free_port()) {
    const std::string config = temporary_path("prometheus.yml");
    std::ofstream(config) << "global: {scrape_interval: 200ms, evaluation_interval: 200ms}\n"
                          << "rule_files: [\"" << kMonitoringFolder << "alerts.yml\"]\n"
                          << "scrape_configs:\n  - job_name: windhover\n"
                          << job << "    static_configs:\n      - targets: [\"" << target
                          << "\"]\n";
    log_ = temporary_path("prometheus_log");
    std::vector<std::string> words = {
        kPrometheus, "--config.file=" + config,
        "--storage.tsdb.path=" + temporary_path("data-" + std::to_string(port_)),
        "--web.listen-address=127.0.0.1:" + std::to_string(port_)};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log_.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    EXPECT_EQ(posix_spawn(&pid_, kPrometheus.c_str(), &actions, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
  }
  ~Prometheus() {
    if (pid_ <= 0) return;
    kill(pid_, SIGTERM);
    int state = 0;
    waitpid(pid_, &state, 0);
  }
  Prometheus(const Prometheus&) = delete;
  Prometheus& operator=(const Prometheus&) = delete;

  // `data` of an answer of its API; null: it does not answer so.
  nlohmann::json ask(const std::string& path) const {
    HttpPeer peer("127.0.0.1:" + std::to_string(port_));
    if (!peer.connected() || !peer.send("GET /api/v1/" + path + " HTTP/1.0\r\n\r\n")) return {};
    const std::string answer = peer.rest();
    const std::size_t body = answer.find("\r\n\r\n");
    if (body == std::string::npos) return {};
    const auto parsed = nlohmann::json::parse(answer.substr(body + 4), nullptr, false);
    return parsed.is_object() && parsed.value("status", "") == "success" ? parsed.at("data")
                                                                         : nlohmann::json();
  }
  // The one value of an expression; -1: there is none.
  double value(const std::string& expression) const {
    const nlohmann::json data = ask("query?query=" + expression);
    if (data.is_null() || data.at("result").size() != 1) return -1;
    return std::stod(data.at("result")[0].at("value")[1].get<std::string>());
  }
  std::string log() const { return content_of(log_); }

 private:
  std::uint16_t port_;
  pid_t pid_ = -1;
  std::string log_;
};

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_SYSTEM_PROMETHEUS_H_
