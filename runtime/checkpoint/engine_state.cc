#include "windhover/runtime/checkpoint/engine_state.h"

#include <algorithm>
#include <cstring>

#include "windhover/runtime/checkpoint/capture.h"
#include "windhover/runtime/checkpoint/config_fields.h"
#include "windhover/runtime/checkpoint/stream.h"
#include "windhover/runtime/engine_layout.h"

namespace windhover {

namespace {

using checkpoint::Capture;
using checkpoint::Header;
using checkpoint::RowsHeader;
using checkpoint::SectionHeader;

constexpr Error kNoCheckpoints{
    Status::kUnsupported, "checkpoints must be true in the configuration of what is restored", 0};
constexpr Error kUnderWay{Status::kUnavailable, "a capture is under way: release it first", 0};

// Whether such rows fit this window.
Result<bool> check_rows(const Header& header, const Window& window) noexcept {
  const std::uint64_t first = header.lease > window.size() ? header.lease - window.size() : 0;
  if (header.first != first || header.lease > header.head) {
    return Error{Status::kMalformed, "the header of the checkpoint contradicts itself"};
  }
  const std::uint64_t waiting = header.head - header.lease;
  if (waiting > window.capacity() - window.size()) {
    return Error{Status::kInvalidConfig,
                 "window_slack must hold the rows that waited when the checkpoint was saved; so "
                 "many",
                 static_cast<double>(waiting)};
  }
  return true;
}

Capture* make_capture(const EngineConfig& config, Arena& arena) noexcept {
  if (!config.checkpoints) return nullptr;
  const std::size_t bytes = Capture::state_bound(arena, config);
  arena.region("checkpoint");
  const std::size_t row = PackedRows(RowLayout(config.model)).largest();
  const std::size_t key = config.labels.pending > 0 ? PendingLabels::largest_saved(config) : 0;
  return arena.make<Capture>(arena, bytes, std::max(row, key));
}

}  // namespace

EngineState::EngineState(EngineLayout& engine, Arena& arena) noexcept
    : engine_(engine), capture_(make_capture(engine.config, arena)) {}

std::uint32_t EngineState::lease() const noexcept { return engine_.config.max_followers; }

const std::atomic<bool>* EngineState::wanted() const noexcept {
  return capture_ == nullptr ? nullptr : &capture_->wanted();
}

void EngineState::take_wanted() noexcept {
  if (capture_->begin()) take();
}

void EngineState::visit_state(StateVisitor& visitor) noexcept {
  engine_.parts.window.visit_state(visitor);
  engine_.visit_learned(visitor);
  engine_.visit_counters(visitor);
}

void EngineState::take() noexcept {
  engine_.parts.window.take_lease(lease());
  checkpoint::StateCopy copy(capture_->room());
  engine_.visit_learned(copy);
  copy.end();
  const std::size_t counters_at = copy.size() + sizeof(SectionHeader);
  engine_.visit_counters(copy);
  copy.end();
  if (capture_->end(engine_.parts.window.lease(), counters_at, copy)) return;
  engine_.parts.window.end_lease(lease());
  capture_->release();
}

// Rows are written first, so that the writer of the window waits for as short as possible.
Status EngineState::write(Sink& sink, std::uint64_t head) noexcept {
  if (!capture_->fits()) return Status::kTooLarge;
  Window& window = engine_.parts.window;
  const PackedRows packed(window.layout());
  Header header;
  header.fingerprint = engine_.engine.fingerprint();
  header.configuration = checkpoint::configuration_hash(engine_.config);
  header.first = window.kept_from(lease());
  header.head = head;
  header.lease = capture_->head();
  checkpoint::Writer writer(sink);
  if (const Status status = writer.begin(header); !ok(status)) return status;
  if (const Status status = writer.configuration(engine_.config); !ok(status)) return status;
  const std::span<std::byte> room = capture_->rows();
  for (std::uint64_t row = header.first; row < head;) {
    RowsHeader rows{row, 0};
    std::size_t size = sizeof(rows);
    while (row < head && size + packed.bytes_of(window.slot_of(row)) <= room.size()) {
      packed.pack(window.slot_of(row), &room[size]);
      size += packed.bytes_of(window.slot_of(row++));
    }
    window.keep_from(lease(), row);
    rows.count = row - rows.first;
    std::memcpy(room.data(), &rows, sizeof(rows));
    const Status status = writer.section(SectionHeader(checkpoint::kRows), room.first(size));
    if (!ok(status)) return status;
  }
  window.end_lease(lease());
  // The counter of accepted rows belongs to the observe thread and has gone on; at `head` it was
  // this.
  static_assert(static_cast<int>(RuntimeCounter::kRowsAccepted) == 0);
  std::memcpy(capture_->counters(), &head, sizeof(head));
  if (const Status status = writer.sections(capture_->state()); !ok(status)) return status;
  if (const Status status = write_keys(writer, head); !ok(status)) return status;
  return writer.end();
}

// One key at a time: others go on asking and joining meanwhile.
Status EngineState::write_keys(checkpoint::Writer& writer, std::uint64_t head) noexcept {
  PendingLabels* const table = engine_.labels.table_;
  if (table == nullptr) return Status::kOk;
  const std::span<std::byte> room = capture_->rows();
  const std::size_t largest = PendingLabels::largest_saved(engine_.config);
  const SavedKeysHeader header = table->saved_header();
  std::memcpy(room.data(), &header, sizeof(header));
  std::size_t size = sizeof(header);
  for (std::uint32_t place = 0; place < table->places(); ++place) {
    size += table->save(place, head, capture_->head(), &room[size]);
    const bool last = place + 1 == table->places();
    if (!last && room.size() - size >= largest) continue;
    const Status status = writer.section(SectionHeader(checkpoint::kKeys), room.first(size));
    if (!ok(status)) return status;
    size = sizeof(header);
  }
  return Status::kOk;
}

Status EngineState::save(Sink& sink) noexcept {
  if (capture_ == nullptr) return Status::kUnsupported;
  if (!capture_->begin_unasked()) return Status::kUnavailable;
  take();
  const Status status = save_captured(sink, engine_.parts.window.head());
  release_capture();
  return status;
}

Status EngineState::request_capture() noexcept {
  if (capture_ == nullptr) return Status::kUnsupported;
  return capture_->request() ? Status::kOk : Status::kUnavailable;
}

bool EngineState::captured() const noexcept { return capture_ != nullptr && capture_->taken(); }

std::uint64_t EngineState::captured_head() const noexcept { return capture_->head(); }

Status EngineState::save_captured(Sink& sink, std::uint64_t head) noexcept {
  if (capture_ == nullptr) return Status::kUnsupported;
  if (!capture_->taken()) return Status::kUnavailable;
  if (head < capture_->head() || head > engine_.parts.window.head()) {
    return Status::kInvalidArgument;
  }
  if (!capture_->begin_write()) return Status::kUnavailable;
  return write(sink, head);
}

void EngineState::release_capture() noexcept {
  if (capture_ == nullptr || !capture_->call_off()) return;
  engine_.parts.window.end_lease(lease());
  capture_->release();
}

Result<bool> EngineState::restore(Source& source) noexcept {
  if (capture_ == nullptr) return kNoCheckpoints;
  if (!capture_->begin_unasked()) return kUnderWay;
  const Result<bool> restored = read(source);
  if (restored.ok()) {
    capture_->release();
  } else {
    engine_.start_anew();  // makes this object anew, too
  }
  return restored;
}

// Verified sections of the learner are gathered in the buffer for captures. Rows go to their slots,
// where nobody sees them before the head is published.
Result<bool> EngineState::read(Source& source) noexcept {
  checkpoint::Reader reader(source);
  const Result<Header> begun = reader.begin();
  if (!begun.ok()) return begun.error();
  const Header& header = begun.value();
  const std::span<std::byte> room = capture_->room();
  Result<bool> result =
      reader.configuration(header, engine_.config, engine_.engine.fingerprint(), room);
  if (result.ok()) result = check_rows(header, engine_.parts.window);
  std::size_t used = 0;
  std::uint64_t learned_at = 0;  // where the learner's first section begins
  std::uint64_t next = header.first;
  engine_.labels.reset();
  PendingLabels* const keys = engine_.labels.table_;
  while (result.ok()) {
    const auto section = reader.next(capture_->rows(), room.subspan(used));
    if (!section.ok()) return section.error();
    const auto& [of, payload] = section.value();
    if (of.is(checkpoint::kEnd)) break;
    if (of.is(checkpoint::kRows)) {
      if (!read_rows(payload, next, header.head)) return reader.damaged();
    } else if (of.is(checkpoint::kKeys)) {
      if (of.version != SectionHeader().version) {
        return Error{Status::kUnsupported, checkpoint::sentence_of_version("keys"), 0};
      }
      if (keys != nullptr && !keys->restore(payload, header.head)) return reader.damaged();
    } else {
      if (used == 0) learned_at = reader.section_at();
      used += sizeof(of) + payload.size();
    }
  }
  if (!result.ok()) return result;
  if (next != header.head) {
    return Error{Status::kMalformed,
                 "the checkpoint lacks rows that its header speaks of; the first of them is",
                 static_cast<double>(next)};
  }
  engine_.parts.window.restore(header.head, header.lease);
  if (engine_.scorer != nullptr) engine_.scorer->reset();
  result = put(room.first(used), learned_at);
  if (result.ok() && keys != nullptr) keys->end_restore();
  return result;
}

bool EngineState::read_rows(std::span<const std::byte> payload, std::uint64_t& next,
                            std::uint64_t head) noexcept {
  const PackedRows packed(engine_.parts.window.layout());
  if (payload.size() < sizeof(RowsHeader)) return false;
  const auto rows = checkpoint::load<RowsHeader>(payload.data());
  payload = payload.subspan(sizeof(rows));
  if (rows.first != next || rows.count > head - next) return false;
  if (!packed.holds(payload, rows.count)) return false;
  for (; next < rows.first + rows.count; ++next) {
    if (!ok(packed.unpack(payload, engine_.parts.window.slot_of(next)))) return false;
    payload = payload.subspan(packed.first_row(payload));
  }
  return true;
}

// Puts the numbers of verified sections into the engine's parts. A section that does not fit is of
// another version, or was made to deceive.
Result<bool> EngineState::put(std::span<const std::byte> sections, std::uint64_t at) noexcept {
  checkpoint::StateRestorer restorer(sections, engine_.block(), at);
  engine_.visit_learned(restorer);
  engine_.visit_counters(restorer);
  const char* misfit = restorer.misfit();
  if (misfit == nullptr) {
    if (engine_.parts.learner->head() == engine_.parts.window.lease()) return true;
    return Error{Status::kMalformed,
                 "the header of the checkpoint contradicts its section 'learner'"};
  }
  if (restorer.of_another_version()) {
    return Error{Status::kUnsupported, checkpoint::sentence_of_version(misfit), 0};
  }
  return Error{Status::kMalformed, checkpoint::sentence_of_damage(SectionHeader(misfit)),
               static_cast<double>(restorer.misfit_at())};
}

}  // namespace windhover
