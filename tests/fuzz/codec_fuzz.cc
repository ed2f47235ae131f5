// Whatever the server's reader accepts, a generated parser accepts and reads alike.
#include "windhover/io/codec.h"

#include "windhover/tests/fuzz/driver.h"
#include "windhover/tests/io/random_messages.h"

namespace windhover::testing {

std::string make_case(std::mt19937_64& random) {
  v1::Request request = random_request(random);
  if (random() % 4 == 0) {
    auto* unknown = request.GetReflection()->MutableUnknownFields(&request);
    unknown->AddVarint(100, random());
    unknown->AddLengthDelimited(200, std::string(random() % 40, 'x'));
    if (random() % 4 == 0) unknown->AddGroup(300)->AddFixed32(1, 2);
  }
  return request.SerializeAsString();
}

}  // namespace windhover::testing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace windhover;
  using namespace windhover::testing;
  RequestView view;
  if (!ok(decode_request(std::as_bytes(std::span(data, size)), view))) return 0;
  v1::Request request;
  require(request.ParseFromArray(data, static_cast<int>(size)));
  require(same_request(view, request));
  return 0;
}
