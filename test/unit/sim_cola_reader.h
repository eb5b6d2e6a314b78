// A second reading of CoLa: telegrams in text and binary, and the scans in them.
#pragma once

#include "test/support/harness.h"

#include <bit>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "test/unit/sim_fixture.h"

namespace cola_test {

inline std::string text_of(hal::Bytes bytes) {
  std::string text;
  for (const std::byte b : bytes) text += static_cast<char>(b);
  return text;
}
inline sim::ByteVector bytes_of(const std::string& text) {
  sim::ByteVector bytes;
  for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

inline std::string binary(const std::string& payload) {
  std::string frame(4, '\2');
  for (int shift = 24; shift >= 0; shift -= 8)
    frame += static_cast<char>((payload.size() >> shift) & 0xFFU);
  char check = 0;
  for (const char c : payload) check = static_cast<char>(check ^ c);
  return frame + payload + check;
}
inline std::string ascii(const std::string& payload) { return '\2' + payload + '\3'; }

// The payload of one whole telegram, everything around it checked.
inline std::string payload_of(const std::string& frame) {
  CHECK_TRUE(frame.size() > 4);
  if (frame[1] != '\2') {
    CHECK_EQUAL('\2', frame.front());
    CHECK_EQUAL('\3', frame.back());
    return frame.substr(1, frame.size() - 2);
  }
  const std::string payload = frame.substr(8, frame.size() - 9);
  CHECK_TRUE(binary(payload) == frame);
  return payload;
}

// Values one by one, of a telegram in either dialect.
class Values {
 public:
  explicit Values(const std::string& frame) : payload_(payload_of(frame)), text_(frame[1] != '\2') {
    at_ = payload_.find(' ', payload_.find(' ') + 1) + 1;
  }
  std::uint32_t integer(std::size_t bytes) {
    if (text_) return static_cast<std::uint32_t>(std::strtoul(word(0).c_str(), nullptr, 16));
    CHECK_TRUE(at_ + bytes <= payload_.size());
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i)
      value = (value << 8) | static_cast<unsigned char>(payload_[at_++]);
    return value;
  }
  double real() { return std::bit_cast<float>(integer(4)); }
  std::string word(std::size_t letters) {
    if (text_ && letters == 0) letters = std::min(payload_.find(' ', at_), payload_.size()) - at_;
    std::string found = payload_.substr(at_, letters);
    at_ += letters;
    if (text_) ++at_;
    return found;
  }
  bool done() const { return at_ >= payload_.size(); }

 private:
  std::string payload_;
  bool text_;
  std::size_t at_ = 0;
};

struct Channel {
  std::string name;
  double scale = 0.0, offset = 0.0, start_deg = 0.0, step_deg = 0.0;
  std::vector<unsigned> values;
};

struct Scan {
  unsigned version = 0, device = 0, serial = 0, status = 0, telegram = 0, scan = 0, power_up_us = 0,
           transmit_us = 0, inputs = 0, outputs = 0, hz100 = 0, samples100 = 0;
  int layer100 = 0;
  std::vector<unsigned> encoders;
  std::vector<Channel> wide, narrow;
  bool has_position = false, has_comment = false;
  std::string name, date;

  const Channel* channel(const std::string& wanted) const {
    for (const auto* channels : {&wide, &narrow})
      for (const Channel& c : *channels)
        if (c.name == wanted) return &c;
    return nullptr;
  }
};

inline std::vector<Channel> channels_of(Values& values, std::size_t width) {
  std::vector<Channel> channels(values.integer(2));
  for (Channel& c : channels) {
    c.name = values.word(5);
    c.scale = values.real();
    c.offset = values.real();
    c.start_deg = static_cast<std::int32_t>(values.integer(4)) / 1e4;
    c.step_deg = values.integer(2) / 1e4;
    c.values.resize(values.integer(2));
    for (unsigned& value : c.values) value = values.integer(width);
  }
  return channels;
}

inline Scan scan_of(const std::string& frame) {
  Values v(frame);
  Scan s;
  s.version = v.integer(2), s.device = v.integer(2), s.serial = v.integer(4);
  s.status = v.integer(1) << 8, s.status |= v.integer(1);
  s.telegram = v.integer(2), s.scan = v.integer(2);
  s.power_up_us = v.integer(4), s.transmit_us = v.integer(4);
  s.inputs = v.integer(1) << 8, s.inputs |= v.integer(1);
  s.outputs = v.integer(1) << 8, s.outputs |= v.integer(1);
  s.layer100 = static_cast<std::int16_t>(v.integer(2));
  s.hz100 = v.integer(4), s.samples100 = v.integer(4);
  s.encoders.resize(v.integer(2));
  for (unsigned& position : s.encoders) position = v.integer(4), v.integer(2);
  s.wide = channels_of(v, 2);
  s.narrow = channels_of(v, 1);
  s.has_position = v.integer(2) != 0;
  for (int i = 0; s.has_position && i < 6; ++i) v.real();
  if (s.has_position) v.integer(1);
  if (v.integer(2) != 0) s.name = v.word(v.integer(1));
  s.has_comment = v.integer(2) != 0;
  if (s.has_comment) CHECK_EQUAL(0, v.integer(1));
  if (v.integer(2) != 0) {
    const unsigned year = v.integer(2), month = v.integer(1), day = v.integer(1);
    const unsigned hour = v.integer(1), minute = v.integer(1), second = v.integer(1);
    char text[64];
    std::snprintf(text, sizeof text, "%u-%02u-%02u %02u:%02u:%02u.%06u", year, month, day, hour,
                  minute, second, v.integer(4));
    s.date = text;
  }
  CHECK_EQUAL(0, v.integer(2));
  CHECK_TRUE(v.done());
  return s;
}

}  // namespace cola_test
