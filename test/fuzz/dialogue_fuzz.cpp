// A device that answers as it should, except where the input says otherwise: it loses, damages,
// cuts, repeats or invents frames, resets, is unplugged, refuses to be opened and lets time pass.
#include <deque>

#include "drivers/ldrobot/ldrobot.h"
#include "drivers/microstrain_mip/microstrain_mip.h"
#include "drivers/rplidar/rplidar.h"
#include "test/fuzz/device_fuzz.h"
#include "test/sim/models.h"

namespace {

using test::must;
using namespace std::chrono_literals;

// The bytes of the input one by one; zeros, which mean no mischief, when they are used up.
class Choices {
 public:
  explicit Choices(hal::Bytes input) : left_(input) {}
  unsigned next() {
    if (left_.empty()) return 0;
    const auto value = std::to_integer<unsigned>(left_[0]);
    left_ = left_.subspan(1);
    return value;
  }
  hal::Bytes take(std::size_t n) {
    const hal::Bytes taken = left_.first(std::min(n, left_.size()));
    left_ = left_.subspan(taken.size());
    return taken;
  }
  bool empty() const { return left_.empty(); }

 private:
  hal::Bytes left_;
};

template <class D>
class Conversation {
 public:
  Conversation(const char* name, const drivers::Options& options, const sim::Options& set,
               hal::Bytes input)
      : choices_(input),
        row_(*sim::find_model(name)),
        settings_(*sim::Settings::check(row_.options, set)),
        model_(std::move(*row_.make({settings_, device_clock_}))),
        driver_(options, setup()) {}

  void hold() {
    power_up();
    driver_.start(clock_.now());
    for (int i = 0; i < kSteps && !choices_.empty(); ++i) step();
    port_->refuse_open = port_->refuse_write = false;
    driver_.stop(clock_.now());
    const hal::Time end = clock_.now() + drivers::kStopWithin + 20ms;
    while (!driver_.stopped() && clock_.now() < end) step();
    must(driver_.stopped() && !port_->is_open());
  }

 private:
  static constexpr int kSteps = 2000;

  drivers::DriverSetup setup() {
    drivers::DriverSetup setup;
    auto port = std::make_unique<test::FakePort>(clock_);
    port_ = port.get();
    setup.ports[0] = std::move(port);
    setup.baud = 115200;
    setup.sink = &sink_;
    return setup;
  }

  void power_up() {
    device_clock_.restart(clock_.now());
    out_.clear();
    pending_.clear();
    due_ = clock_.now();
    model_->power_up(clock_.now(), out_);
  }

  void step() {
    listen();
    if (clock_.now() >= due_) due_ = model_->advance(clock_.now(), out_);
    for (sim::Frame& frame : out_.frames) pending_.push_back(std::move(frame));
    out_.clear();
    while (!pending_.empty() && pending_.front().at <= clock_.now()) {
      const sim::ByteVector bytes = std::move(pending_.front().bytes);
      pending_.pop_front();
      speak(bytes);
    }
    const unsigned choice = choices_.next();
    clock_.advance(choice < 250 ? 1ms + choice % 8 * 3ms : 700ms);
    driver_.tick(clock_.now());
    must(driver_.health().balances());
  }

  void listen() {
    for (; heard_ < port_->writes.size(); ++heard_) {
      model_->receive(sim::Channel::data, port_->writes[heard_], clock_.now(), out_);
      due_ = clock_.now();
    }
  }

  void speak(sim::ByteVector bytes) {
    const unsigned choice = choices_.next();
    if (choice < 160) return port_->deliver(bytes);
    switch (choice % 12) {
      case 0:  // lost
        return;
      case 1:
        bytes[choices_.next() % bytes.size()] ^= std::byte{1} << (choice / 12 % 8);
        return port_->deliver(bytes);
      case 2:
        bytes.resize(choices_.next() % bytes.size());
        return port_->deliver(bytes);
      case 3:
        port_->deliver(bytes);
        return port_->deliver(bytes);
      case 4:
        port_->deliver(choices_.take(1 + choices_.next()));
        return port_->deliver(bytes);
      case 5:
        return model_->falsify(bytes, random_), port_->deliver(bytes);
      case 6:
        return power_up();
      case 7:
        return port_->unplug();
      case 8:
        port_->refuse_open = !port_->refuse_open;
        return port_->deliver(bytes);
      case 9:
        port_->refuse_write = !port_->refuse_write;
        return port_->deliver(bytes);
      case 10:  // late
        clock_.advance(std::chrono::milliseconds(choices_.next()));
        return port_->deliver(bytes);
      default:
        for (std::byte& b : bytes) port_->deliver({&b, 1});
    }
  }

  Choices choices_;
  test::ManualClock clock_;
  sim::DeviceClock device_clock_{1};
  sim::Random random_{1};
  const sim::ModelRow& row_;
  sim::Settings settings_;
  std::unique_ptr<sim::DeviceModel> model_;
  sim::Output out_;
  std::deque<sim::Frame> pending_;
  hal::Time due_{};
  test::FuzzSink sink_;
  test::FakePort* port_ = nullptr;
  std::size_t heard_ = 0;
  drivers::DeviceDriver<D> driver_;
};

template <class D>
void converse(const char* name, const sim::Options& set, hal::Bytes input) {
  drivers::Options options(D::options());
  const auto model = set.find("model");
  if (model != set.end() && std::is_same_v<D, drivers::Ldrobot>) {
    must(static_cast<bool>(options.set("model", model->second)));
  }
  Conversation<D>(name, options, set, input).hold();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const hal::Bytes input = std::as_bytes(std::span(data + 1, size - 1));
  switch (data[0] % 4) {
    case 0:
      converse<drivers::Rplidar>("rplidar", {{"model", "A1"}}, input);
      return 0;
    case 1:
      converse<drivers::Rplidar>("rplidar", {{"model", "S2"}}, input);
      return 0;
    case 2:
      converse<drivers::MicrostrainMip>("microstrain_mip", {}, input);
      return 0;
    default:
      converse<drivers::Ldrobot>("ldrobot", {{"model", "LD14P"}, {"running", "off"}}, input);
      return 0;
  }
}
