#include "test/sim/ximu3_messages.h"

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "test/sim/room.h"
#include "test/sim/wire.h"

namespace sim::ximu3 {
namespace {

// Stuffs all of it and ends the message.
ByteVector sealed(const ByteVector& plain) {
  ByteVector out;
  for (const std::byte byte : plain) {
    if (byte == std::byte{0x0A}) {
      put_be(out, 0xDBDC, 2);
    } else if (byte == std::byte{0xDB}) {
      put_be(out, 0xDBDD, 2);
    } else {
      out.push_back(byte);
    }
  }
  put8(out, 0x0A);
  return out;
}

ByteVector head(Style style, char letter, std::int64_t us) {
  ByteVector out;
  if (style == Style::binary) {
    put8(out, static_cast<unsigned char>(letter) | 0x80U);
    put_le(out, static_cast<std::uint64_t>(us), 8);
  } else {
    put_text(out, std::string(1, letter) + "," + std::to_string(us));
  }
  return out;
}

ByteVector ended(Style style, ByteVector out) {
  if (style == Style::binary) return sealed(out);
  put_text(out, "\r\n");
  return out;
}

Quaternion in_world(const Quaternion& q, World world) {
  switch (world) {
    case World::nwu:
      return to_nwu_flu(q);
    case World::enu:
      return q;
    case World::ned:
      return to_ned_frd(q);
  }
  return q;
}

// Row by row.
std::vector<double> matrix_of(const Quaternion& q) {
  const auto [w, x, y, z] = q;
  return {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
          2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
          2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
}

std::vector<double> euler_of(const Quaternion& q) {  // roll, pitch, yaw; degrees
  const std::vector<double> m = matrix_of(q);
  return {degrees(std::atan2(m[7], m[8])), degrees(std::asin(std::fmax(-1, std::fmin(1, -m[6])))),
          degrees(std::atan2(m[3], m[0]))};
}

Vector3 in_body(const Vector3& flu, World world) {
  Vector3 out = world == World::ned ? flu_to_frd(flu) : flu;
  for (double& part : out) part += 0.0;  // no -0
  return out;
}

Vector3 turned(const Quaternion& q, const Vector3& v) {
  return into_body({q[0], -q[1], -q[2], -q[3]}, v);
}

// Without gravity, g; in the sensor's axes.
Vector3 linear_of(const Motion& m, World world) {
  const Vector3 up = into_body(m.orientation, {0.0, 0.0, 1.0});
  Vector3 out{};
  for (std::size_t i = 0; i < 3; ++i) out[i] = m.accel[i] / kStandardGravity - up[i];
  return in_body(out, world);
}

}  // namespace

ByteVector message(Style style, char letter, std::int64_t us, std::span<const double> numbers) {
  ByteVector out = head(style, letter, us);
  for (const double v : numbers) {
    if (style == Style::binary) {
      put_le_f32(out, v);
    } else {
      char text[32];
      std::snprintf(text, sizeof text, ",%.4f", v);
      put_text(out, text);
    }
  }
  return ended(style, std::move(out));
}

ByteVector note(Style style, char letter, std::int64_t us, std::string_view text) {
  ByteVector out = head(style, letter, us);
  if (style == Style::ascii) put8(out, ',');
  put_text(out, text);
  return ended(style, std::move(out));
}

ByteVector inertial(Style style, std::int64_t us, const Motion& m, World world) {
  std::vector<double> all;
  for (const double v : in_body(m.gyro, world)) all.push_back(degrees(v));
  for (const double v : in_body(m.accel, world)) all.push_back(v / kStandardGravity);
  return message(style, 'I', us, all);
}

ByteVector attitude(Style style, std::int64_t us, const Motion& m, Attitude kind, World world) {
  const Quaternion q = in_world(m.orientation, world);
  std::vector<double> all(q.begin(), q.end());
  const auto add = [&all](const Vector3& v) { all.insert(all.end(), v.begin(), v.end()); };
  switch (kind) {
    case Attitude::quaternion:
      return message(style, 'Q', us, all);
    case Attitude::matrix:
      return message(style, 'R', us, matrix_of(q));
    case Attitude::euler:
      return message(style, 'A', us, euler_of(q));
    case Attitude::linear:
      add(linear_of(m, world));
      return message(style, 'L', us, all);
    case Attitude::earth:
      add(turned(q, linear_of(m, world)));
      return message(style, 'E', us, all);
  }
  return {};
}

}  // namespace sim::ximu3
