// Text messages of VectorNav sensors: "$VN" | three letters, fields separated by commas | '*' | two
// hexadecimal digits (exclusive or) or four (the CRC of the binary messages) of what is between '$'
// and '*' | CR LF. Sources as in vn_binary.h.
#pragma once

#include <string_view>

#include "drivers/framer.h"
#include "drivers/vectornav/vn_binary.h"
#include "hal/text.h"

namespace drivers::vn {

inline constexpr std::size_t kMaxText = 256;

// As Framing::measure(); `b` begins with '$'.
std::size_t measure_text(Bytes b);
bool is_intact_text(Bytes message);

struct TextMessage {
  std::string_view name;  // "YMR"
  std::string_view rest;  // its fields; both valid as long as the message
};
TextMessage text_message(Bytes message);  // of an intact one

// Whether messages of this name are measurements that come unasked.
bool is_measurement(std::string_view name);
// Of such a message. False when its content makes no sense.
bool measured(const TextMessage& message, Measurement& into);

// With '$', check and line end.
hal::Text<96> sealed(std::string_view command);

hal::Text<96> words_for_error(unsigned code);  // of "ERR"

}  // namespace drivers::vn
