// Checkpoints in memory, whole, damaged, or signed anew after a change.
#ifndef WINDHOVER_TESTS_RUNTIME_MEMORY_STREAM_H_
#define WINDHOVER_TESTS_RUNTIME_MEMORY_STREAM_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "windhover/platform/checksum.h"
#include "windhover/runtime/checkpoint/format.h"
#include "windhover/runtime/checkpoint/sink.h"
#include "windhover/runtime/engine.h"

namespace windhover::test {

using Bytes = std::vector<std::byte>;

class MemorySink final : public Sink {
 public:
  // The call number `fails_at`, counted from 0, fails.
  explicit MemorySink(std::size_t fails_at = ~std::size_t{0}) : fails_at_(fails_at) {}
  Status write(std::span<const std::byte> more) noexcept override {
    if (calls_++ == fails_at_) return Status::kIoError;
    bytes.insert(bytes.end(), more.begin(), more.end());
    return Status::kOk;
  }
  std::size_t calls() const { return calls_; }

  Bytes bytes;

 private:
  std::size_t fails_at_;
  std::size_t calls_ = 0;
};

class MemorySource final : public Source {
 public:
  explicit MemorySource(std::span<const std::byte> bytes, Status at_end = Status::kClosed)
      : left_(bytes), at_end_(at_end) {}
  Status read(std::span<std::byte> out) noexcept override {
    if (out.size() > left_.size()) return at_end_;
    if (!out.empty()) std::memcpy(out.data(), left_.data(), out.size());
    left_ = left_.subspan(out.size());
    return Status::kOk;
  }
  std::size_t left() const { return left_.size(); }

 private:
  std::span<const std::byte> left_;
  Status at_end_;
};

inline Bytes bytes_of(Engine& engine) {
  MemorySink sink;
  EXPECT_EQ(engine.state().save(sink), Status::kOk);
  return sink.bytes;
}

inline Error restore_error(Engine& engine, std::span<const std::byte> bytes) {
  MemorySource source(bytes);
  return engine.state().restore(source).error();
}

// A checkpoint in its pieces, to be changed and put together with checksums that fit.
struct OpenCheckpoint {
  struct Section {
    checkpoint::SectionHeader header;
    Bytes payload;
  };
  checkpoint::Header header;
  std::vector<Section> sections;

  explicit OpenCheckpoint(std::span<const std::byte> bytes) {
    header = checkpoint::load<checkpoint::Header>(bytes.data());
    bytes = bytes.subspan(sizeof(header));
    while (!bytes.empty()) {
      const auto of = checkpoint::load<checkpoint::SectionHeader>(bytes.data());
      const auto payload = bytes.subspan(sizeof(of), of.length);
      sections.push_back({of, Bytes(payload.begin(), payload.end())});
      bytes = bytes.subspan(sizeof(of) + of.length + sizeof(std::uint64_t));
    }
  }
  Section& named(std::string_view name) {
    for (Section& section : sections) {
      if (section.header.is(name)) return section;
    }
    ADD_FAILURE() << name;
    return sections.front();
  }
  Bytes signed_anew() {
    Bytes out;
    const auto put = [&](std::span<const std::byte> more) {
      out.insert(out.end(), more.begin(), more.end());
    };
    std::uint64_t sum =
        checksum(checkpoint::bytes_of(header).first(offsetof(checkpoint::Header, checksum)));
    header.checksum = sum;
    put(checkpoint::bytes_of(header));
    for (Section& section : sections) {
      section.header.length = section.payload.size();
      Checksum next(sum);
      next.update(checkpoint::bytes_of(section.header));
      next.update(section.payload);
      sum = next.value();
      put(checkpoint::bytes_of(section.header));
      put(section.payload);
      put(checkpoint::bytes_of(sum));
    }
    return out;
  }
};

}  // namespace windhover::test

#endif  // WINDHOVER_TESTS_RUNTIME_MEMORY_STREAM_H_
