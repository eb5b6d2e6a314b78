// A simulated SICK safety scanner in simulated time, and a second reading of what it sends.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "test/sim/wire.h"
#include "test/support/harness.h"
#include "test/unit/sim_fixture.h"

namespace safety_test {

using sim::get_be;
using sim::get_le;
using sim_test::bytes_of;
using sim_test::hex_of;

inline std::int32_t i32_at(hal::Bytes bytes, std::size_t at) {
  return static_cast<std::int32_t>(get_le(bytes, at, 4));
}

// Payloads put together from the datagrams of `frames`, by identification.
inline std::map<unsigned, sim::ByteVector> joined(const std::vector<sim::Frame>& frames) {
  std::map<unsigned, sim::ByteVector> payloads;
  for (const sim::Frame& frame : frames) {
    if (frame.way.channel != sim::Channel::data) continue;
    const hal::Bytes bytes(frame.bytes);
    STRCMP_EQUAL("4D 53 33 20 4D 44 01 01", hex_of(bytes.first(8)).c_str());
    sim::ByteVector& payload = payloads[unsigned(get_le(bytes, 12, 4))];
    payload.resize(get_le(bytes, 8, 4));
    const std::size_t offset = get_le(bytes, 16, 4);
    CHECK_TRUE(offset + bytes.size() - 24 <= payload.size());
    std::copy(bytes.begin() + 24, bytes.end(), payload.begin() + std::ptrdiff_t(offset));
  }
  return payloads;
}

struct Block {
  std::size_t offset, size;
};
inline Block block(hal::Bytes payload, std::size_t place) {
  return {get_le(payload, place, 2), get_le(payload, place + 2, 2)};
}

struct Scanner : sim_test::Bench {
  explicit Scanner(const sim::Options& set, double rate_hz = 0.0)
      : Bench("sick_safety", set, rate_hz) {}

  std::map<unsigned, sim::ByteVector> payloads(double seconds) {
    out.clear();
    run_for(seconds);
    return joined(out.frames);
  }
  // The reply to a CoLa2 request; it must come by the control channel.
  sim::ByteVector ask(const sim::ByteVector& request) {
    sim::Output said;
    model->receive(sim::Channel::control, request, now, said);
    sim::ByteVector all;
    for (const sim::Frame& frame : said.frames) {
      CHECK_TRUE(frame.way.channel == sim::Channel::control);
      all.insert(all.end(), frame.bytes.begin(), frame.bytes.end());
    }
    return all;
  }
  sim::ByteVector ask(const char* letters, const sim::ByteVector& body, unsigned session) {
    sim::ByteVector request = bytes_of("02020202");
    sim::put_be(request, 10 + body.size(), 4);
    sim::put_be(request, 0, 2);
    sim::put_be(request, session, 4);
    sim::put_be(request, 7, 2);
    sim::put_text(request, letters);
    request.insert(request.end(), body.begin(), body.end());
    return ask(request);
  }
  unsigned open(unsigned seconds = 60) {
    sim::ByteVector body;
    sim::put8(body, seconds);
    sim::put_be(body, 1, 4);
    const sim::ByteVector answer = ask("OX", body, 0);
    STRCMP_EQUAL("4F 41", hex_of(hal::Bytes(answer).subspan(16)).c_str());
    return unsigned(get_be(answer, 10, 4));
  }
  // The letters and the body of the answer, as text.
  std::string answer(const char* letters, const std::string& body, unsigned session) {
    const sim::ByteVector reply = ask(letters, bytes_of(body), session);
    CHECK_EQUAL(reply.size() - 8, get_be(reply, 4, 4));
    CHECK_EQUAL(7, get_be(reply, 14, 2));
    return hex_of(hal::Bytes(reply).subspan(16));
  }
};

}  // namespace safety_test
