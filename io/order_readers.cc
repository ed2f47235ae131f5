#include "windhover/io/order_readers.h"

#include "windhover/io/wire_fields.h"

namespace windhover {

bool read_hello(WireWalker& in, std::uint32_t wire, HelloRequest& hello) noexcept {
  return in.message(wire, [&](std::uint32_t field, std::uint32_t inner) {
    switch (field) {
      case hello_field::kVersionMin:
        return in.u32(inner, hello.version_min);
      case hello_field::kVersionMax:
        return in.u32(inner, hello.version_max);
      case hello_field::kModelFingerprint:
        return in.fixed64(inner, hello.model_fingerprint);
      case hello_field::kDurability:
        return in.u32(inner, hello.durability);
      case hello_field::kModel:
        return in.ascii(inner, hello.model);
      case hello_field::kToken:
        return in.ascii(inner, hello.token);
      default:
        return in.skip(inner);
    }
  });
}

bool read_producer_status(WireWalker& in, std::uint32_t wire, ProducerStatusQuery& query) noexcept {
  return in.message(wire, [&](std::uint32_t field, std::uint32_t inner) {
    return field == producer_status_field::kProducer ? in.u64(inner, query.producer)
                                                     : in.skip(inner);
  });
}

bool read_take_checkpoint(WireWalker& in, std::uint32_t wire, TakeCheckpointQuery& query) noexcept {
  return in.message(wire, [&](std::uint32_t field, std::uint32_t inner) {
    return field == take_checkpoint_field::kRequest ? in.u64(inner, query.request) : in.skip(inner);
  });
}

bool read_list_models(WireWalker& in, std::uint32_t wire, ListModelsQuery& query) noexcept {
  return in.message(wire, [&](std::uint32_t field, std::uint32_t inner) {
    return field == list_models_field::kFirst ? in.u32(inner, query.first) : in.skip(inner);
  });
}

bool read_list_events(WireWalker& in, std::uint32_t wire, ListEventsQuery& query) noexcept {
  return in.message(wire, [&](std::uint32_t field, std::uint32_t inner) {
    return field == list_events_field::kAfter ? in.u64(inner, query.after) : in.skip(inner);
  });
}

bool read_change_model(WireWalker& in, std::uint32_t wire, ChangeModelQuery& query) noexcept {
  return in.message(wire, [&](std::uint32_t field, std::uint32_t inner) {
    switch (field) {
      case change_model_field::kAnsweredBy:
        return in.ascii(inner, query.answered_by);
      case change_model_field::kPause:
        return in.u32(inner, query.pause);
      default:
        return in.skip(inner);
    }
  });
}

bool read_host_model(WireWalker& in, std::uint32_t wire, HostModelQuery& query) noexcept {
  return in.message(wire, [&](std::uint32_t field, std::uint32_t inner) {
    std::uint64_t flag = 0;
    switch (field) {
      case host_model_field::kAction:
        return in.u32(inner, query.action);
      case host_model_field::kName:
        return in.ascii(inner, query.name);
      case host_model_field::kConfiguration:
        return in.ascii(inner, query.configuration);
      case host_model_field::kDeleteData:
        if (!in.u64(inner, flag)) return false;
        query.delete_data = flag != 0;
        return true;
      case host_model_field::kRequest:
        return in.u64(inner, query.request);
      default:
        return in.skip(inner);
    }
  });
}

}  // namespace windhover
