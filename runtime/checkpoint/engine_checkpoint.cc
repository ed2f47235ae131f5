// What an engine does to be saved and restored.
#include <memory>

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

}  // namespace

void Engine::Layout::take_capture() noexcept {
  parts.window.take_lease(capture_lease());
  checkpoint::StateCopy copy(capture->room());
  visit_learned(copy);
  copy.end();
  const std::size_t counters_at = copy.size() + sizeof(SectionHeader);
  visit_counters(copy);
  copy.end();
  if (capture->end(parts.window.lease(), counters_at, copy)) return;
  parts.window.end_lease(capture_lease());
  capture->release();
}

// Rows first: the sooner they are written, the less the writer of the window has to wait.
Status Engine::Layout::write_capture(Sink& sink, std::uint64_t head) noexcept {
  if (!capture->fits()) return Status::kTooLarge;
  Window& window = parts.window;
  const PackedRows packed(window.layout());
  Header header;
  header.fingerprint = engine.fingerprint();
  header.configuration = checkpoint::configuration_hash(config);
  header.first = window.kept_from(capture_lease());
  header.head = head;
  header.lease = capture->head();
  checkpoint::Writer writer(sink);
  if (const Status status = writer.begin(header); !ok(status)) return status;
  if (const Status status = writer.configuration(config); !ok(status)) return status;
  const std::span<std::byte> room = capture->rows();
  for (std::uint64_t row = header.first; row < head;) {
    RowsHeader rows{row, 0};
    std::size_t size = sizeof(rows);
    while (row < head && size + packed.bytes_of(window.slot_of(row)) <= room.size()) {
      packed.pack(window.slot_of(row), &room[size]);
      size += packed.bytes_of(window.slot_of(row++));
    }
    window.keep_from(capture_lease(), row);
    rows.count = row - rows.first;
    std::memcpy(room.data(), &rows, sizeof(rows));
    const Status status = writer.section(SectionHeader(checkpoint::kRows), room.first(size));
    if (!ok(status)) return status;
  }
  window.end_lease(capture_lease());
  // The observe thread's counter has gone on since; this is what it was at `head`.
  static_assert(static_cast<int>(RuntimeCounter::kRowsAccepted) == 0);
  std::memcpy(capture->counters(), &head, sizeof(head));
  if (const Status status = writer.sections(capture->state()); !ok(status)) return status;
  return writer.end();
}

Status Engine::save(Sink& sink) noexcept {
  Layout& engine = *layout_;
  if (engine.capture == nullptr) return Status::kUnsupported;
  if (!engine.capture->begin_unasked()) return Status::kUnavailable;
  engine.take_capture();
  const Status status = save_captured(sink, head());
  release_capture();
  return status;
}

Status Engine::request_capture() noexcept {
  if (layout_->capture == nullptr) return Status::kUnsupported;
  return layout_->capture->request() ? Status::kOk : Status::kUnavailable;
}

bool Engine::captured() const noexcept {
  return layout_->capture != nullptr && layout_->capture->taken();
}

std::uint64_t Engine::captured_head() const noexcept { return layout_->capture->head(); }

Status Engine::save_captured(Sink& sink, std::uint64_t head) noexcept {
  Capture* capture = layout_->capture;
  if (capture == nullptr) return Status::kUnsupported;
  if (!capture->taken()) return Status::kUnavailable;
  if (head < capture->head() || head > this->head()) return Status::kInvalidArgument;
  if (!capture->begin_write()) return Status::kUnavailable;
  return layout_->write_capture(sink, head);
}

void Engine::release_capture() noexcept {
  Layout& engine = *layout_;
  if (engine.capture == nullptr || !engine.capture->call_off()) return;
  engine.parts.window.end_lease(engine.capture_lease());
  engine.capture->release();
}

Result<bool> Engine::restore(Source& source) noexcept {
  Layout& engine = *layout_;
  if (engine.capture == nullptr) return kNoCheckpoints;
  if (!engine.capture->begin_unasked()) return kUnderWay;
  const Result<bool> restored = engine.read(source);
  if (restored.ok()) {
    engine.capture->release();
  } else {
    start_anew();
  }
  return restored;
}

// Verified sections of the learner gather in the buffer for captures; rows go to their slots, where
// nobody sees them before the head is published.
Result<bool> Engine::Layout::read(Source& source) noexcept {
  checkpoint::Reader reader(source);
  const Result<Header> begun = reader.begin();
  if (!begun.ok()) return begun.error();
  const Header& header = begun.value();
  const std::span<std::byte> room = capture->room();
  Result<bool> result = reader.configuration(header, config, engine.fingerprint(), room);
  if (result.ok()) result = check_rows(header, parts.window);
  std::size_t used = 0;
  std::uint64_t learned_at = 0;  // where the first section begins that is not of rows
  std::uint64_t next = header.first;
  while (result.ok()) {
    const auto section = reader.next(capture->rows(), room.subspan(used));
    if (!section.ok()) return section.error();
    const auto& [of, payload] = section.value();
    if (of.is(checkpoint::kEnd)) break;
    if (of.is(checkpoint::kRows)) {
      if (!read_rows(payload, next, header.head)) return reader.damaged();
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
  parts.window.restore(header.head, header.lease);
  if (labels != nullptr) labels->reset();
  if (scorer != nullptr) scorer->reset();
  return put(room.first(used), learned_at);
}

bool Engine::Layout::read_rows(std::span<const std::byte> payload, std::uint64_t& next,
                               std::uint64_t head) noexcept {
  const PackedRows packed(parts.window.layout());
  if (payload.size() < sizeof(RowsHeader)) return false;
  const auto rows = checkpoint::load<RowsHeader>(payload.data());
  payload = payload.subspan(sizeof(rows));
  if (rows.first != next || rows.count > head - next) return false;
  if (!packed.holds(payload, rows.count)) return false;
  for (; next < rows.first + rows.count; ++next) {
    if (!ok(packed.unpack(payload, parts.window.slot_of(next)))) return false;
    payload = payload.subspan(packed.first_row(payload));
  }
  return true;
}

// A verified section that does not fit is one of another version, or made to deceive.
Result<bool> Engine::Layout::put(std::span<const std::byte> sections, std::uint64_t at) noexcept {
  checkpoint::StateRestorer restorer(sections, block(), at);
  visit_learned(restorer);
  visit_counters(restorer);
  const char* misfit = restorer.misfit();
  if (misfit == nullptr) {
    if (parts.learner->head() == parts.window.lease()) return true;
    return Error{Status::kMalformed,
                 "the header of the checkpoint contradicts its section 'learner'"};
  }
  if (restorer.of_another_version()) {
    return Error{Status::kUnsupported, checkpoint::sentence_of_version(misfit), 0};
  }
  return Error{Status::kMalformed, checkpoint::sentence_of_damage(SectionHeader(misfit)),
               static_cast<double>(restorer.misfit_at())};
}

std::span<std::byte> Engine::Layout::block() noexcept {
  return {reinterpret_cast<std::byte*>(this), footprint(config).value()};
}

// As create() did. The numbers that the configuration's spans show stand in the block, where they
// are put again.
void Engine::start_anew() noexcept {
  Layout* const layout = layout_;
  const EngineConfig config = layout->config;
  Clock& clock = layout->clock;
  ReaderPlaces taken(config.max_readers, config.max_watchers);
  taken.take_as(layout->readers);
  const std::uint32_t followers = layout->followers;
  Arena arena(layout->block());
  arena.region("engine");
  (void)arena.make<Layout>(arena, config, clock);  // at the same place
  layout->start();
  layout->readers.take_as(taken);
  for (; layout->followers < followers; ++layout->followers) {
    layout->parts.window.take_lease(layout->followers);
  }
}

}  // namespace windhover
