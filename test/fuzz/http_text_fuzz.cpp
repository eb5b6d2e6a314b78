// Any bytes as an HTTP reply, and as the JSON object in it.
#include <cstdlib>
#include <span>

#include "drivers/http_text.h"
#include "drivers/json_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const hal::Bytes bytes = std::as_bytes(std::span(data, size));
  if (size == 0) return 0;
  for (const bool last : {false, true}) {
    const std::size_t length = drivers::measure_http(bytes, 512, last);
    if (length == drivers::kNeedMore || length == drivers::kNotAFrame) continue;
    if (length > 512) std::abort();
    if (length > size) continue;
    const auto reply = drivers::read_http(bytes.first(length));
    if (!reply) continue;
    const drivers::JsonText json(reply->body);
    for (const char* key : {"error_code", "error_text", "handle", ""}) {
      const auto value = json.find(key);
      if (value && value->size() > reply->body.size()) std::abort();
      (void)json.number(key);
    }
  }
  return 0;
}
