// Drives a fuzz target without libFuzzer: deterministic cases from a seed, most of them damaged, or
// the files of a folder as they are.
#include "windhover/tests/fuzz/driver.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t n) { return static_cast<std::size_t>(random() % n); }

void damage(std::string& bytes, Random& random) {
  for (std::size_t times = below(random, 4); times > 0; --times) {
    if (bytes.empty()) return;
    const std::size_t at = below(random, bytes.size());
    const std::size_t length = 1 + below(random, std::min<std::size_t>(16, bytes.size() - at));
    switch (below(random, 7)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(random, 8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(random());
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3:
        bytes.erase(at, length);
        break;
      case 4:
        bytes.insert(below(random, bytes.size() + 1), bytes.substr(at, length));
        break;
      case 5:  // varints that are long, negative or huge
        bytes.insert(at, length, static_cast<char>(0x80 | random()));
        break;
      default:
        bytes[at] = static_cast<char>("\x00\x01\x7f\x80\xff"[below(random, 5)]);
    }
  }
}

// A copy of exactly that size, so that AddressSanitizer sees a read behind it.
void run(const std::string& bytes) {
  const std::vector<std::uint8_t> exact(bytes.begin(), bytes.end());
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

struct Close {
  void operator()(std::FILE* file) const { (void)std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

// Says why with a sentence; the exit code.
int fail(const char* path, const char* what, const char* why) {
  std::fprintf(stderr, "%s: %s: %s.\n", path, what, why);
  return 2;
}

bool read_file(const char* path, std::string& bytes) {
  const File file(std::fopen(path, "rb"));
  if (file == nullptr) return false;
  char some[4096];
  while (const std::size_t n = std::fread(some, 1, sizeof some, file.get())) bytes.append(some, n);
  return std::ferror(file.get()) == 0;
}

bool write_file(const char* path, const std::string& bytes) {
  File file(std::fopen(path, "wb"));
  if (file == nullptr) return false;
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  return std::fclose(file.release()) == 0 && written;
}

// Each file of a folder. An empty folder would prove nothing.
int run_files(const char* folder) {
  using windhover::testing::Outcome;
  using windhover::testing::outcome;
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (std::filesystem::directory_iterator file(folder, error), end; !error && file != end;
       file.increment(error)) {
    files.push_back(file->path());
  }
  if (error) return fail(folder, "the corpus cannot be listed", error.message().c_str());
  if (files.empty()) return fail(folder, "the corpus cannot be run", "it is empty");
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    const std::string name = file.filename().string();
    std::printf("%s\n", name.c_str());
    std::fflush(stdout);  // the last name is that of the case that ended the program
    std::string bytes;
    if (!read_file(file.c_str(), bytes)) {
      return fail(file.c_str(), "the case cannot be read", std::strerror(errno));
    }
    outcome = Outcome::kUntold;
    run(bytes);
    if (name.compare(0, 4, "good") == 0 && outcome != Outcome::kGood) {
      std::fprintf(stderr, "%s: it was not read as good.\n", file.c_str());
      return 1;
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t cases = 20'000;
  std::uint64_t seed = 1;
  const char* save = nullptr;
  for (int i = 1; i < argc; i += 2) {
    const bool valued = i + 1 < argc;
    if (valued && std::strcmp(argv[i], "--cases") == 0) {
      cases = std::strtoull(argv[i + 1], nullptr, 10);
    } else if (valued && std::strcmp(argv[i], "--seed") == 0) {
      seed = std::strtoull(argv[i + 1], nullptr, 10);
    } else if (valued && std::strcmp(argv[i], "--corpus") == 0) {
      return run_files(argv[i + 1]);
    } else if (valued && std::strcmp(argv[i], "--save") == 0) {
      save = argv[i + 1];
    } else {
      std::fprintf(stderr, "usage: %s [--cases N] [--seed N] [--save FILE] | --corpus FOLDER\n",
                   argv[0]);
      return 2;
    }
  }
  Random random(seed);
  for (std::uint64_t i = 0; i < cases; ++i) {
    std::string bytes = windhover::testing::make_case(random);
    damage(bytes, random);
    if (save != nullptr && !write_file(save, bytes)) {  // the last one stays
      return fail(save, "the case cannot be written", std::strerror(errno));
    }
    run(bytes);
  }
  std::printf("%llu cases, seed %llu: nothing found\n", static_cast<unsigned long long>(cases),
              static_cast<unsigned long long>(seed));
  return 0;
}
