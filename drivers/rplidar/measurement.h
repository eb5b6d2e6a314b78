// Makes slices of RPLIDAR measurements: a capsule needs its successor, nodes are gathered, and time
// is counted.
#pragma once

#include "drivers/decoded.h"
#include "drivers/rplidar/formats.h"

namespace drivers::rplidar {

// What a collator waits beyond the delivery.
inline constexpr hal::Duration kPatience = std::chrono::milliseconds(10);

class Measurement {
 public:
  // `sample_us`: between two samples; 0: as usual for the format.
  explicit Measurement(double sample_us) : sample_us_(sample_us) {}

  // A measurement was started: what came before has nothing to do with what comes now. Nodes that
  // wait still go out, on their own.
  void begin(double sample_us);
  // The next frame of the running measurement. A capsule is decoded when the one after it comes,
  // and is dropped when that is not its successor. `damaged`: a damaged frame came before.
  // Nodes come out kGathered at a time, sooner where they do not follow each other; one that starts
  // a turn at once and alone.
  void take(const Format&, const Frame&, bool damaged, Decoded&);
  // Nodes that wait for others that will not come, and how long they may wait for those.
  void finish(Decoded&);
  hal::Duration patience() const { return gathered_ > 0 ? kPatience : hal::Duration::max(); }
  void forget();  // the port was opened anew: what waits is of before

 private:
  bool follows(const Format&, const Frame&, double turned, bool damaged);
  std::int64_t frames_since(const Format&, const Frame&, double turned) const;
  void take_node(const Format&, const Frame&, bool joins, Decoded&);
  void release(const Format&, Bytes next, double turned, Decoded&);
  void hold(const Frame&);
  Timing timing_of(const Format&, std::int64_t samples, hal::Time arrival) const;
  double sample_us(const Format& format) const {
    return sample_us_ > 0 ? sample_us_ : format.sample_us;
  }

  double sample_us_;
  std::int64_t samples_ = 0;  // measured until the end of the newest frame, lost ones included
  // Nominal angles in degrees, clockwise; -1: none yet.
  double start_ = -1;      // of the newest frame
  double last_beam_ = -1;  // of the newest capsule that was decoded
  double usual_turn_ = 0;  // from one frame to the next; 0: not known yet
  bool doubted_ = false;   // the newest step was not believed

  bool holds_ = false;  // a capsule that waits for its successor:
  std::array<std::byte, kMostCapsuleBytes> held_{};
  std::size_t held_size_ = 0;
  std::int64_t held_samples_ = 0;
  hal::Time held_arrival_{};

  // Nodes that wait. What goes out is read while the next is gathered.
  std::array<std::array<Beam, kGathered>, 2> nodes_{};
  std::size_t gathering_ = 0, gathered_ = 0;  // which of the two, and how many are there
  bool closed_ = false;                       // none may join them any more
  double nodes_us_ = 0;                       // between two of them
  // The one that came with least delay: the others were held up on their way.
  std::size_t swiftest_ = 0;
  std::int64_t swiftest_samples_ = 0;
  hal::Time swiftest_at_{};

  std::array<Beam, kMostSamples> beams_{};
};

}  // namespace drivers::rplidar
