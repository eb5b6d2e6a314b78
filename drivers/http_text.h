// The replies of devices that are commanded by HTTP: their length, status and body. RFC 9112, as
// far as an answer to a request of HTTP/1.0 needs it.
//
// Ask with HTTP/1.0: then no body comes in chunks and no Host is wanted.
#pragma once

#include <optional>
#include <string_view>

#include "drivers/framer.h"

namespace drivers {

struct HttpReply {
  int status = 0;           // 200: as asked
  std::string_view reason;  // "Not Found"; may be empty
  std::string_view body;    // as long as the frame
};

// Length of the reply that starts at b[0], as a Framing gives it. Without a Content-Length the body
// reaches to the hang-up (`is_last`: it has come), or to the end of its JSON object when it is one.
std::size_t measure_http(Bytes b, std::size_t most, bool is_last);

// Of a whole reply; nullopt: that is none.
std::optional<HttpReply> read_http(Bytes frame);

}  // namespace drivers
