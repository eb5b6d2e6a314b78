// One sample of what a device tells of an instant in several messages: rates and accelerations in
// one, the attitude and the field in others, which come before it or behind it.
//
// A message is held while another of its instant is due: a device that sends one of a kind at a
// steady period is expected to send the next. What nobody joins goes out by itself.
#pragma once

#include <array>
#include <optional>

#include "drivers/decoded.h"

namespace drivers {

class JoinedSample {
 public:
  // `apart`: the most between the stamps of messages of one instant; never more than half of the
  // least period that was seen.
  explicit JoinedSample(hal::Duration apart) : most_apart_(apart.count()), apart_(apart.count()) {}

  // `timing` tells the device's own stamp. The sample's instant is that of its acceleration. Stamps
  // that two kinds of messages share are marked so; one that its own kind told before is not, and
  // is dropped where it is put on the time line.
  void put(const ImuSample& part, const Timing& timing, Decoded& out);
  void give(Decoded& out);  // what is held, if anything
  void forget();

 private:
  // What is awaited: kinds of messages. Others join what is there, or go by themselves.
  enum Kind : std::size_t { inertial, attitude, field, kKinds };
  struct Rhythm {
    std::optional<std::int64_t> newest{};
    std::int64_t period = 0;  // the least that was seen; 0: none yet
  };

  static bool has(const ImuSample& s, Kind kind);
  bool advance(const ImuSample& part, std::int64_t raw_ns);
  bool joins(const ImuSample& part, std::int64_t raw_ns) const;
  bool is_due(Kind kind) const;
  bool awaits_more() const;

  const std::int64_t most_apart_;
  std::int64_t apart_;
  std::array<Rhythm, kKinds> rhythm_{};
  bool is_held_ = false;
  ImuSample held_{};  // when is_held_
  Timing timing_{};
};

}  // namespace drivers
