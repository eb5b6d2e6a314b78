// What a driver has to say about its device; DeviceDriver and DeviceDecoder do the rest.
#pragma once

#include "drivers/decoded.h"
#include "drivers/dialogue.h"
#include "drivers/options.h"
#include "drivers/routine.h"

namespace drivers {

// A device is passive and pure: no ports, no clock, no allocation after construction. It may also
// have
//   hal::Text<96> about() const            what it found out about itself: model, serial number
//   span<const Routine<D>> routines() const  what is said to it while it streams
//   static constexpr std::size_t kOutputs    1 unless it fills kImuOutput, too
//   static constexpr bool kControlHangsUp    it closes the control channel after each answer
//   static constexpr bool kDataOpensLater    it opens a data connection as told: reopen_at()
//   static double likeness(Bytes)            see recognise.h
//   void finish(Decoded&)                    gives what waits for frames; at silence and at the end
//   hal::Duration patience() const           how long what waits may wait for the next frame, then
//                                            it is finished; Duration::max(): nothing waits
// A framing may differ from channel to channel: framing(channel) returns another object of the
// type.
template <class D>
concept Device = requires(D d, const D c, const Frame& frame, const Options& options,
                          Decoded& decoded) {
  requires Framing<typename D::Framing>;
  D(options);
  d.restart();  // forget what earlier frames said: the port was opened anew
  { d.framing(Channel::data) } -> std::same_as<typename D::Framing&>;
  { d.decode(frame, decoded) } -> std::same_as<void>;  // `decoded` comes empty
  { c.clock_model() } -> std::same_as<ClockModel>;
  { D::start_script() } -> std::convertible_to<std::span<const Step<D>>>;
  { D::stop_script() } -> std::convertible_to<std::span<const Step<D>>>;
  { c.max_silence() } -> std::same_as<hal::Duration>;  // about three periods
};

template <class D>
constexpr std::size_t outputs_of() {
  if constexpr (requires { D::kOutputs; }) {
    static_assert(D::kOutputs <= kMaxOutputs);
    return D::kOutputs;
  } else {
    return 1;
  }
}

template <class D>
constexpr bool control_hangs_up() {
  if constexpr (requires { D::kControlHangsUp; }) {
    return D::kControlHangsUp;
  } else {
    return false;
  }
}

// Turns a second at most, as the device's figures have it; 0: it does not turn, or nobody knows.
template <class D>
double most_turns_hz(const Options& options, int baud) {
  if constexpr (requires { D::figures(options, baud); }) {
    return D::figures(options, baud).turns_hz;
  } else {
    return 0;
  }
}

template <class D>
constexpr bool data_opens_later() {
  if constexpr (requires { D::kDataOpensLater; }) {
    return D::kDataOpensLater;
  } else {
    return false;
  }
}

// The clocks of a device's outputs: one device clock, but each stream of packets has its own
// stamps.
class Stampers {
 public:
  Stampers(const ClockModel& model, int baud, const StampOptions& options)
      : all_{Stamper(model, baud, options), Stamper(model, baud, options)} {}

  Stamper::Outcome stamp(Decoded::Item& item) {
    return all_[item.output].stamp(item.packet, item.timing);
  }
  void reopen() {
    for (Stamper& stamper : all_) stamper.reopen();
  }
  void set_baud(int baud) {
    for (Stamper& stamper : all_) stamper.set_baud(baud);
  }
  void set_wall_clock(std::int64_t unix_minus_inner_ns) {
    for (Stamper& stamper : all_) stamper.set_wall_clock(unix_minus_inner_ns);
  }
  ClockHealth health(unsigned output) const { return all_[output].health(); }

 private:
  std::array<Stamper, kMaxOutputs> all_;
};

}  // namespace drivers
