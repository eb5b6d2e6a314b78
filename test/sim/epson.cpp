#include "test/sim/epson.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "test/sim/epson_burst.h"
#include "test/sim/sample_pace.h"
#include "test/sim/wire.h"

namespace sim::epson {
namespace {

using namespace std::chrono_literals;

constexpr hal::Duration kReplyDelay = 50us, kStartUp = 800ms, kFilterTime = 1ms, kFlashTime = 200ms;
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr double kRates[] = {2000, 1000, 500, 250, 125, 62.5, 31.25, 15.625,
                             400,  200,  100, 80,  50,  40,   25,    20};

// Addresses of words; the high byte lies one above.
constexpr unsigned kModeCtrl = 0x02, kCount = 0x0A, kId = 0x4C;  // of window 0
constexpr unsigned kSigCtrl = 0x00, kMscCtrl = 0x02, kSmplCtrl = 0x04, kFilterCtrl = 0x06,
                   kUartCtrl = 0x08, kGlobCmd = 0x0A, kBurst1 = 0x0C, kBurst2 = 0x0E,
                   kProduct = 0x6A, kSerial = 0x74;  // of window 1
constexpr unsigned kWindow = 0x7E;

constexpr OptionRow kOptions[] = {
    choice("model", "G370PDG0", kProducts, "product, whose numbers it sends"),
    choice("baud", "460800", "230400|460800|921600", "line rate"),
    choice("streaming", "off", "off|on", "a program has left it sampling and sending"),
    choice("pps", "off", "off|on", "a pulse each second, which resets the count where it may"),
    kMotionOption,
};

using Registers = std::array<std::array<std::uint8_t, 128>, 2>;  // by window

void set(Registers& to, unsigned window, unsigned address, unsigned word) {
  to[window][address] = static_cast<std::uint8_t>(word & 0xFFU);
  to[window][address + 1] = static_cast<std::uint8_t>(word >> 8);
}
unsigned get(const Registers& from, unsigned window, unsigned address) {
  return from[window][address] | unsigned{from[window][address + 1]} << 8;
}
void set_text(Registers& to, unsigned address, std::string_view text) {
  for (const char c : text) to[1][address++] = static_cast<std::uint8_t>(c);
}

Registers factory(const Product& product) {
  Registers r{};
  set(r, 0, kId, 0x5345);
  set(r, 1, kSigCtrl, 0xFE00);
  set(r, 1, kMscCtrl, 0x0006);
  set(r, 1, kSmplCtrl, 0x0103);
  set(r, 1, kBurst1, 0xF006);
  set(r, 1, kBurst2, 0x7000);
  set_text(r, kProduct, product.name);
  set_text(r, kSerial, "00000042");
  return r;
}

class Model final : public DeviceModel {
 public:
  Model(const ModelInputs& inputs, std::optional<unsigned> rate)
      : clock_(inputs.clock),
        pace_(inputs.clock),
        product_(product_of(inputs.settings.word("model"))),
        motion_(motion_kind(inputs.settings)),
        baud_(static_cast<unsigned>(inputs.settings.number("baud"))),
        pps_(inputs.settings.on("pps")),
        streams_at_first_(inputs.settings.on("streaming")) {
    if (rate) set(saved_, 1, kSmplCtrl, *rate << 8 | 0x03);
  }

  void power_up(hal::Time now, Output&) override {
    registers_ = saved_;
    origin_ = now;
    request_.clear();
    window_ = 0;
    samples_ = 0;
    ready_at_ = now + kStartUp;
    filtered_at_ = now;
    samples_now_ = false;
    split_.clear();
    if (!std::exchange(streams_at_first_, false)) return;
    set(registers_, 1, kUartCtrl, 0x0001);
    set(registers_, 1, kBurst1, 0xF003);
    set(registers_, 1, kBurst2, 0x0000);
    ready_at_ = now;
    begin_sampling(now);
  }

  void receive(Channel, hal::Bytes bytes, hal::Time now, Output& out) override {
    while (next_sample() <= now) step(out);
    for (const std::byte byte : bytes) {
      request_.push_back(std::to_integer<unsigned>(byte));
      if (request_.size() < 3) continue;
      if (request_[2] == 0x0D) {
        // Until it is ready it tells no more than that.
        const bool always = request_[0] == kGlobCmd || request_[0] == (kWindow | 0x80U);
        if (now >= ready_at_ || always) obey(now, out);
        request_.clear();
      } else {
        request_.erase(request_.begin());
      }
    }
  }

  hal::Time advance(hal::Time now, Output& out) override {
    while (next_sample() <= now) step(out);
    return next_sample();
  }

  unsigned baud() const override { return baud_; }
  hal::Duration clock_period() const override { return hal::Duration(product_.count_ns << 16); }

  void falsify(ByteVector& frame, Random& random) const override {
    if (frame.size() < 20 || frame[0] != std::byte{0x80}) return;
    for (std::size_t i = 5; i < std::min<std::size_t>(frame.size() - 5, 17); ++i)
      frame[i] = static_cast<std::byte>(random.below(256));
    seal(frame, get(registers_, 1, kBurst1));
  }

 private:
  hal::Time next_sample() const { return samples_now_ ? pace_.next() : kNever; }
  bool is_automatic() const { return (registers_[1][kUartCtrl] & 1) != 0; }
  // The count is one of time since the last pulse, or wrap; else of samples.
  bool counts_time() const { return registers_[1][kMscCtrl] >> 6 == 1; }

  void obey(hal::Time now, Output& out) {
    const unsigned address = request_[0] & 0x7FU;
    if ((request_[0] & 0x80U) != 0) return write(address, request_[1], now);
    if (address % 2 != 0) return;
    const unsigned word = read(address, now);
    ByteVector reply;
    put8(reply, address), put_be(reply, word, 2), put8(reply, 0x0D);
    if (samples_now_ && is_automatic()) {
      split_ = reply;  // into the burst that comes
    } else {
      out.send(now + kReplyDelay, reply);
    }
  }

  unsigned read(unsigned address, hal::Time now) const {
    if (address == kWindow) return window_;
    if (window_ == 0 && address == kModeCtrl) return samples_now_ ? 0 : 1U << 10;
    if (window_ == 0 && address == kCount) return samples_ & 0xFFFFU;
    const unsigned word = get(registers_, window_, address);
    if (window_ == 1 && address == kFilterCtrl) return word | (now < filtered_at_ ? 1U << 5 : 0);
    if (window_ == 1 && address == kGlobCmd) return now < ready_at_ ? 1U << 10 : 0;
    return word;
  }

  void write(unsigned address, unsigned value, hal::Time now) {
    if (address == kWindow) {
      window_ = value & 1U;
      return;
    }
    if (window_ == 0) {
      if (address == kModeCtrl + 1 && value == 1) begin_sampling(now);
      if (address == kModeCtrl + 1 && value == 2) samples_now_ = false;
      return;
    }
    if (samples_now_ || address >= kProduct) return;  // settings are taken in configuration mode
    if (address == kGlobCmd) return command(value, now);
    registers_[1][address] = static_cast<std::uint8_t>(value);
    if (address == kFilterCtrl) filtered_at_ = now + kFilterTime;
  }

  void command(unsigned value, hal::Time now) {
    if ((value & 0x80U) != 0) {  // reset
      registers_ = saved_;
      window_ = 0;
      ready_at_ = now + kStartUp;
    }
    if ((value & 0x08U) != 0) {  // into flash
      saved_ = registers_;
      ready_at_ = now + kFlashTime;
    }
  }

  void begin_sampling(hal::Time now) {
    samples_now_ = true;
    samples_ = 0;
    pace_.start(now, kRates[registers_[1][kSmplCtrl + 1] & 0x0FU]);
  }

  void step(Output& out) {
    const hal::Time at = pace_.next();
    pace_.pass();
    ++samples_;
    if (!is_automatic()) return;
    const Motion motion = motion_at(hal::to_seconds(at - origin_), motion_);
    const std::int64_t ns = clock_.stamp(at);
    const std::int64_t in_count = pps_ ? ns % kSecond : ns;
    const std::int64_t count = in_count / product_.count_ns;
    const unsigned told =
        counts_time() ? static_cast<unsigned>(count & 0xFFFF) : samples_ & 0xFFFFU;
    ByteVector burst = burst_of(product_, {motion, told}, get(registers_, 1, kBurst1),
                                get(registers_, 1, kBurst2));
    burst.insert(burst.begin() + static_cast<std::ptrdiff_t>(burst.size() / 2), split_.begin(),
                 split_.end());
    split_.clear();
    out.send(at, std::move(burst));
    const std::int64_t stamp = counts_time() ? ns - in_count + count * product_.count_ns : ns;
    out.imus.push_back({at, stamp, motion.accel, motion.gyro});
  }

  DeviceClock& clock_;
  SamplePace pace_;
  const Product& product_;
  MotionKind motion_;
  unsigned baud_;
  bool pps_, streams_at_first_;
  Registers saved_ = factory(product_), registers_ = saved_;
  std::vector<unsigned> request_;
  ByteVector split_;
  unsigned window_ = 0, samples_ = 0;
  bool samples_now_ = false;
  hal::Time origin_{}, ready_at_{}, filtered_at_{};
};

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

// --rate: one of the rates that it has.
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  const auto hz = samples_per_s(inputs, 1000.0, kRates[15], kRates[0]);
  if (!hz) return hz.error();
  std::optional<unsigned> code;
  for (unsigned i = 0; i < std::size(kRates); ++i) {
    if (kRates[i] <= *hz && (!code || kRates[i] > kRates[*code])) code = i;
  }
  return std::unique_ptr<DeviceModel>(std::make_unique<Model>(inputs, code));
}

}  // namespace sim::epson
