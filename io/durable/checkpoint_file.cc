#include "windhover/io/durable/checkpoint_file.h"

#include <algorithm>
#include <array>
#include <utility>

#include "windhover/io/durable/log_format.h"

namespace windhover {
namespace {

// "WHCHKPNT" and "WHCHKEND" as they stand on disk.
constexpr std::uint64_t kCheckpointMagic = 0x544e504b48434857;
constexpr std::uint64_t kCheckpointEnd = 0x444e454b48434857;
constexpr std::uint64_t kCheckpointVersion = 1;
constexpr std::uint64_t kVersionWithOwners = 2;
constexpr std::size_t kHeaderBytes = 64;
constexpr std::size_t kTrailerBytes = 24;

Error checkpoint_damaged(const char* sentence, std::uint64_t number) noexcept {
  return {Status::kMalformed, sentence, static_cast<double>(number)};
}

}  // namespace

Status CheckpointWriter::fail(Status status) noexcept {
  status_ = status;
  error_number_ = file_.error_number();
  return status;
}

Status CheckpointWriter::begin(Folder& folder, const char* name,
                               const CheckpointFacts& facts) noexcept {
  filled_ = 0;
  flushed_ = body_bytes_ = 0;
  checksum_.reset();
  status_ = Status::kOk;
  error_number_ = 0;
  file_.close();
  Result<File> opened =
      File::open(folder, name, OpenFile::kCreate, "a checkpoint's file cannot be made");
  if (!opened.ok()) {
    status_ = opened.status();
    error_number_ = static_cast<int>(opened.error().number);
    return status_;
  }
  file_ = std::move(opened).value();
  std::array<std::byte, kHeaderBytes> header{};
  std::byte* to = header.data();
  for (const std::uint64_t number :
       {kCheckpointMagic, facts.owners ? kVersionWithOwners : kCheckpointVersion, facts.instance,
        facts.frames, facts.head, facts.fingerprint, static_cast<std::uint64_t>(facts.time_ns)}) {
    store_number(to, number);
    to += 8;
  }
  return append(header);
}

Status CheckpointWriter::append(std::span<const std::byte> bytes) noexcept {
  checksum_.update(bytes);
  while (!bytes.empty()) {
    const std::size_t piece = std::min(bytes.size(), buffer_.size() - filled_);
    std::copy_n(bytes.begin(), piece, buffer_.subspan(filled_).begin());
    filled_ += piece;
    bytes = bytes.subspan(piece);
    if (filled_ < buffer_.size()) continue;
    if (const Status status = flush(); !ok(status)) return status;
  }
  return Status::kOk;
}

Status CheckpointWriter::flush() noexcept {
  if (const Status status = file_.write(flushed_, buffer_.first(filled_)); !ok(status)) {
    return fail(status);
  }
  flushed_ += filled_;
  filled_ = 0;
  return Status::kOk;
}

Status CheckpointWriter::write(std::span<const std::byte> bytes) noexcept {
  if (!ok(status_)) return status_;
  if (!active()) return Status::kNotReady;
  body_bytes_ += bytes.size();
  return append(bytes);
}

Status CheckpointWriter::finish() noexcept {
  if (ok(status_) && !active()) return Status::kNotReady;
  std::array<std::byte, kTrailerBytes> trailer;
  store_number(trailer.data(), body_bytes_);
  store_number(trailer.data() + 8, kCheckpointEnd);
  if (ok(status_)) (void)append(std::span(trailer).first(16));
  store_number(trailer.data() + 16, checksum_.value());
  if (ok(status_)) (void)append(std::span(trailer).subspan(16));
  if (ok(status_)) (void)flush();
  if (ok(status_)) {
    if (const Status status = file_.sync(); !ok(status)) (void)fail(status);
  }
  file_.close();
  return status_;
}

Result<CheckpointReader> CheckpointReader::open(Folder& folder, const char* name,
                                                std::span<std::byte> buffer) noexcept {
  Result<CheckpointReader> reader = open_unverified(folder, name, buffer);
  if (!reader.ok()) return reader;
  if (const Error error = reader.value().verify(); !windhover::ok(error.status)) return error;
  return reader;
}

Result<CheckpointReader> CheckpointReader::open_unverified(Folder& folder, const char* name,
                                                           std::span<std::byte> buffer) noexcept {
  Result<File> opened =
      File::open(folder, name, OpenFile::kRead, "the checkpoint cannot be opened");
  if (!opened.ok()) return opened.error();
  CheckpointReader reader(std::move(opened).value(), buffer);
  if (const Error error = reader.read_facts(); !windhover::ok(error.status)) return error;
  return reader;
}

Result<CheckpointFacts> CheckpointReader::peek(Folder& folder, const char* name) noexcept {
  const Result<CheckpointReader> reader = open_unverified(folder, name, {});
  if (!reader.ok()) return reader.error();
  return reader.value().facts();
}

Error CheckpointReader::read_facts() noexcept {
  const Result<std::uint64_t> size = file_.size();
  if (!size.ok()) return size.error();
  if (size.value() < kHeaderBytes + kTrailerBytes) {
    return checkpoint_damaged("the checkpoint ends too early", size.value());
  }
  std::array<std::byte, kHeaderBytes> header;
  std::array<std::byte, kTrailerBytes> trailer;
  const std::uint64_t trailer_at = size.value() - kTrailerBytes;
  if (!windhover::ok(file_.read(0, header)) || !windhover::ok(file_.read(trailer_at, trailer))) {
    return unreadable();
  }
  const auto number = [&](std::size_t i) { return load_number(&header[8 * i]); };
  if (number(0) != kCheckpointMagic) return checkpoint_damaged("the file is no checkpoint", 0);
  if (number(1) != kCheckpointVersion && number(1) != kVersionWithOwners) {
    return {Status::kUnsupported, "the checkpoint is of a version that this program does not read",
            static_cast<double>(number(1))};
  }
  facts_ = {number(2),
            number(3),
            number(4),
            number(5),
            static_cast<std::int64_t>(number(6)),
            trailer_at - kHeaderBytes,
            number(1) == kVersionWithOwners};
  if (load_number(trailer.data()) != facts_.body_bytes ||
      load_number(&trailer[8]) != kCheckpointEnd) {
    return checkpoint_damaged("the checkpoint does not end as it should", trailer_at);
  }
  return {};
}

Error CheckpointReader::verify() noexcept {
  Checksum sum;
  const std::uint64_t summed = kHeaderBytes + facts_.body_bytes + kTrailerBytes - 8;
  for (std::uint64_t at = 0; at < summed;) {
    const auto piece = buffer_.first(std::min<std::uint64_t>(buffer_.size(), summed - at));
    if (!windhover::ok(file_.read(at, piece))) return unreadable();
    sum.update(piece);
    at += piece.size();
  }
  std::array<std::byte, 8> expected;
  if (!windhover::ok(file_.read(summed, expected))) return unreadable();
  if (sum.value() != load_number(expected.data())) {
    return checkpoint_damaged("the checkpoint is damaged", facts_.body_bytes);
  }
  return {};
}

Error CheckpointReader::unreadable() const noexcept {
  // Shorter than it said a moment ago, or an errno.
  if (file_.error_number() == 0) return checkpoint_damaged("the checkpoint ends too early", 0);
  return error_of(-file_.error_number(), "the checkpoint cannot be read");
}

std::uint64_t CheckpointReader::place() const noexcept { return kHeaderBytes + given_; }

Status CheckpointReader::read(std::span<std::byte> bytes) noexcept {
  if (bytes.size() > left()) return Status::kClosed;
  while (!bytes.empty()) {
    if (taken_ == filled_) {
      const auto piece = buffer_.first(std::min<std::uint64_t>(buffer_.size(), left()));
      if (const Status status = file_.read(kHeaderBytes + given_, piece); !windhover::ok(status)) {
        return status;
      }
      taken_ = 0;
      filled_ = piece.size();
    }
    const auto piece = buffer_.subspan(taken_, std::min(bytes.size(), filled_ - taken_));
    std::copy(piece.begin(), piece.end(), bytes.begin());
    bytes = bytes.subspan(piece.size());
    taken_ += piece.size();
    given_ += piece.size();
  }
  return Status::kOk;
}

}  // namespace windhover
