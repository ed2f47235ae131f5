#include "windhover/tools/bench/timing.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>

#include "windhover/platform/memory.h"
#include "windhover/tools/heap/heap_counter.h"

namespace windhover {

namespace {

double seconds_of(const timeval& t) {
  return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
}

double process_seconds() noexcept {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

MachineTimes machine_times() noexcept {
  unsigned long long user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0,
                     stolen = 0;
  char line[256] = {};
  std::FILE* file = std::fopen("/proc/stat", "r");
  if (file == nullptr) return {};
  const bool got = std::fgets(line, sizeof(line), file) != nullptr;
  std::fclose(file);
  if (!got || std::sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice,
                          &system, &idle, &wait, &irq, &soft, &stolen) != 8) {
    return {};
  }
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  return {static_cast<double>(user + nice + system + irq + soft) / ticks,
          static_cast<double>(stolen) / ticks};
}

}  // namespace

// heap_calls() is read last here and first in figures(), so that their own calls do not count.
ProcessSpan::ProcessSpan() noexcept
    : start_(wall_seconds()),
      heap_(std::nullopt),
      own_(process_seconds()),
      machine_(machine_times()) {
  heap_ = heap_calls();
}

Json ProcessSpan::figures() const {
  const auto heap = heap_calls();
  const double took = wall_seconds() - start_;
  const double own = process_seconds() - own_;
  const MachineTimes machine = machine_times();
  Json out = {{"resident_bytes", resident_bytes()}, {"heap_calls", nullptr}};
  if (heap && heap_) out["heap_calls"] = *heap - *heap_;
  out["cpu_seconds"] = own;
  const double others = std::max(0.0, machine.busy - machine_.busy - own);
  out["others_cpu"] = took > 0 ? others / took : 0.0;
  out["stolen_cpu"] = took > 0 ? (machine.stolen - machine_.stolen) / took : 0.0;
  return out;
}

}  // namespace windhover
