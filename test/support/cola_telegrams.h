// CoLa telegrams that a test puts together, in both dialects, and the recorded ones.
#pragma once

#include <bit>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "test/support/harness.h"
#include "test/support/hex.h"
#include "test/support/places.h"
#include "test/support/stream.h"

namespace test::cola {

inline Stream ascii(std::string_view text) {
  Stream out{std::byte{2}};
  append(out, std::as_bytes(std::span(text)));
  out.push_back(std::byte{3});
  return out;
}

inline Stream binary(std::string_view text, hal::Bytes arguments = {}) {
  Stream payload;
  append(payload, std::as_bytes(std::span(text)));
  append(payload, arguments);
  Stream out = hex("02020202");
  for (int shift = 24; shift >= 0; shift -= 8) {
    out.push_back(static_cast<std::byte>(payload.size() >> shift));
  }
  append(out, payload);
  std::byte sum{};
  for (const std::byte b : payload) sum ^= b;
  out.push_back(sum);
  return out;
}

// Arguments of a telegram, of which either dialect can be made.
class Arguments {
 public:
  Arguments& number(std::uint32_t value, int width) {
    for (int shift = 8 * (width - 1); shift >= 0; shift -= 8) {
      binary_.push_back(static_cast<std::byte>(value >> shift));
    }
    std::array<char, 12> digits{};
    std::snprintf(digits.data(), digits.size(), " %X", static_cast<unsigned>(value));
    text_ += digits.data();
    return *this;
  }
  Arguments& u8(std::uint32_t v) { return number(v, 1); }
  Arguments& u16(std::uint32_t v) { return number(v, 2); }
  Arguments& u32(std::uint32_t v) { return number(v, 4); }
  Arguments& i32(std::int32_t v) { return number(static_cast<std::uint32_t>(v), 4); }
  Arguments& f32(float v) { return number(std::bit_cast<std::uint32_t>(v), 4); }
  Arguments& word(std::string_view word) {
    append(binary_, std::as_bytes(std::span(word)));
    text_.append(" ").append(word);
    return *this;
  }
  Stream of(bool in_binary, const std::string& head) const {
    return in_binary ? binary(head + " ", binary_) : ascii(head + text_);
  }

 private:
  Stream binary_;
  std::string text_;
};

// The recorded dialogue of an LMS511; empty where there are no captures.
struct Recorded {
  bool from_host;
  Stream bytes;
};
inline std::vector<Recorded> lms511_startup() {
  std::vector<Recorded> out;
  std::ifstream file(in_captures("sick-cola/lms511_startup.tsv"));
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream fields(line);
    std::string seconds, direction, bytes;
    fields >> seconds >> direction >> bytes;
    out.push_back({direction == "host>device", hex(bytes)});
  }
  if (out.empty()) UT_PRINT("no captures here: nothing tested");
  return out;
}

}  // namespace test::cola
