#include "test/sim/vanjee_frames.h"

#include "test/sim/wire.h"

namespace sim::vanjee {
namespace {

constexpr std::uint64_t kNtpOfUnix = 2'208'988'800;  // s from 1900 to 1970
constexpr std::size_t kTail = 4, kLeastFrame = 30;
constexpr std::size_t kWordsOf719 = 300;

unsigned device_of(Kind kind) {
  switch (kind) {
    case Kind::mini716:
      return 0x000D;
    case Kind::h718:
      return 0x000E;
    case Kind::w719:
      return 0x190A;
  }
  return 0;
}

void put_zeros(ByteVector& to, std::size_t until) {
  if (to.size() < until) to.resize(until);
}

void put_ntp(ByteVector& to, std::int64_t unix_ns) {
  const auto ns = static_cast<std::uint64_t>(unix_ns);
  put_be(to, unix_ns == 0 ? 0 : ns / 1'000'000'000 + kNtpOfUnix, 4);
  put_be(to, ((ns % 1'000'000'000) << 32) / 1'000'000'000, 4);
}

ByteVector head(Kind kind, const Part& part) {
  ByteVector bytes;
  put_be(bytes, 0xFFAA, 2);
  put_be(bytes, 0, 2);  // length, by finish()
  put_be(bytes, part.frame, 2);
  put_be(bytes, part.told.ms, 4);
  put8(bytes, 1);
  put8(bytes, 2);
  put_be(bytes, device_of(kind), 2);
  return bytes;
}

ByteVector finish(ByteVector bytes) {
  const std::size_t length = bytes.size();  // of the whole frame without the first four bytes
  bytes[2] = static_cast<std::byte>(length >> 8);
  bytes[3] = static_cast<std::byte>(length & 0xFFU);
  put_be(bytes, 0, 2);
  put_be(bytes, 0xEEEE, 2);
  seal(bytes);
  return bytes;
}

unsigned check_of(hal::Bytes frame) {
  unsigned check = 0;
  for (const std::byte b : frame.subspan(2, frame.size() - 2 - kTail)) {
    check ^= std::to_integer<unsigned>(b);
  }
  return check;
}

ByteVector packet_of_719(const Part& part) {
  ByteVector bytes = head(Kind::w719, part);
  put_be(bytes, 0, 2);  // no error, no status
  put8(bytes, 5);
  put8(bytes, part.rate_code);
  put8(bytes, part.number);
  put_be(bytes, 0, 2);
  for (std::size_t i = 0; i < kWordsOf719; ++i) put_be(bytes, part.values[i], 4);
  put_ntp(bytes, part.told.unix_ns);
  put8(bytes, 0);
  return finish(std::move(bytes));
}

}  // namespace

ByteVector packet(Kind kind, const Part& part) {
  if (kind == Kind::w719) return packet_of_719(part);
  const bool is_mini = kind == Kind::mini716, is_synchronised = part.told.unix_ns != 0;
  ByteVector bytes = head(kind, part);
  if (is_mini) put_ntp(bytes, part.told.unix_ns);
  put_zeros(bytes, 20);
  if (!is_mini) put_be(bytes, is_synchronised ? 0x0100 : 0, 2);
  put_be(bytes, 0x0202, 2);
  put_zeros(bytes, is_mini ? 75 : 74);
  put_be(bytes, part.turn, 4);
  if (!is_mini) put8(bytes, 1);
  put8(bytes, part.rate_code);
  put8(bytes, part.packets);
  put8(bytes, part.number);
  put8(bytes, part.holds_intensities ? 1 : 0);
  put_be(bytes, part.values.size(), 2);
  for (const std::uint32_t value : part.values) put_be(bytes, value, 2);
  if (!is_mini && is_synchronised) {
    put_ntp(bytes, part.told.unix_ns);
    put_zeros(bytes, bytes.size() + 8);
  }
  return finish(std::move(bytes));
}

std::optional<Request> parse(Kind kind, hal::Bytes frame) {
  const std::size_t size = frame.size();
  if (size < kLeastFrame || get_be(frame, 0, 2) != 0xFFAA || get_be(frame, 2, 2) != size - 4 ||
      get_be(frame, size - 2, 2) != 0xEEEE || get_be(frame, size - 4, 2) != check_of(frame) ||
      get_be(frame, 12, 2) != device_of(kind)) {
    return std::nullopt;
  }
  return Request{u8_at(frame, 22), u8_at(frame, 23)};
}

void seal(ByteVector& frame) {
  frame[frame.size() - 4] = std::byte{0};
  frame[frame.size() - 3] = static_cast<std::byte>(check_of(frame));
}

std::size_t points_at(Kind kind) { return kind == Kind::w719 ? 21 : 85; }

std::size_t points_bytes(Kind kind, hal::Bytes frame) {
  return kind == Kind::w719 ? 4 * kWordsOf719 : 2 * get_be(frame, 83, 2);
}

}  // namespace sim::vanjee
