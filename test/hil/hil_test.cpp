// The whole way from a port to packets on the real event loop, the same for a device on the bench
// and for its simulator. HIL_LDROBOT=/dev/ttyUSB0,baud=115200,model=LD14 names a device and its
// options, HIL_RPLIDAR=udp:192.168.1.10:8089 a device's address; without it a simulator plays.
#include "test/support/allocation_counter.h"
#include "test/support/harness.h"

#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cinttypes>
#include <map>

#include "drivers/diagnosis.h"
#include "drivers/registry.h"
#include "hal/make_port.h"
#include "test/sim/runner.h"
#include "test/support/loop.h"
#include "test/support/temp_dir.h"

namespace {

using namespace std::chrono_literals;
using drivers::State;

// One row per driver. `variable`: names the port of a real device.
struct Device {
  const char* driver;
  const char* variable;
  std::map<std::string, std::string> simulator, options;
  // How the simulator is reached. A real device with two ports is named by the one for commands,
  // and told to send to a UDP port of ours; one that streams by UDP unasked by udp:HOST:PORT, its
  // address and our port.
  enum class By : std::uint8_t { pty, tcp, udp, streams_udp, tcp_and_udp } by = By::pty;
  double rate_hz = 0;  // of the simulator; 0: its default
};
const Device kLdrobot{"ldrobot", "HIL_LDROBOT", {{"model", "LD19"}}, {}};
const Device kRplidar{"rplidar", "HIL_RPLIDAR", {{"model", "A1"}}, {}};
const Device kHokuyoScip{"hokuyo_scip", "HIL_HOKUYO_SCIP", {{"model", "UTM-30LX"}}, {}};
const Device kDelta2{"delta2", "HIL_DELTA2", {{"model", "2A"}}, {}};
const Device kLslidarM10{"lslidar_m10", "HIL_LSLIDAR_M10", {{"model", "N10"}}, {}};
const Device kMip{"microstrain_mip", "HIL_MICROSTRAIN_MIP", {}, {}};
const Device kBno08xRvc{"bno08x_rvc", "HIL_BNO08X_RVC", {}, {}};
const Device kEpson{"epson", "HIL_EPSON", {}, {}};
const Device kInertialLabs{"inertial_labs", "HIL_INERTIAL_LABS", {}, {}};
const Device kLpms{"lpms", "HIL_LPMS", {}, {}};
const Device kFdilink{"fdilink", "HIL_FDILINK", {}, {}};
const Device kUm7{"um7", "HIL_UM7", {}, {}};
const Device kVectornav{"vectornav", "HIL_VECTORNAV", {}, {}};
const Device kWitmotion{"witmotion", "HIL_WITMOTION", {}, {}};
const Device kBno055{"bno055", "HIL_BNO055", {}, {}};
const Device kHipnuc{"hipnuc", "HIL_HIPNUC", {}, {}};
const Device kXsens{"xsens", "HIL_XSENS", {}, {}};
const Device kNgimu{"ngimu", "HIL_NGIMU", {}, {}};
const Device kXimu3{"ximu3", "HIL_XIMU3", {}, {}};
const Device kSbg{"sbg", "HIL_SBG", {}, {}};
const Device kAnpp{"anpp", "HIL_ANPP", {}, {}};
const Device kXv11{"xv11", "HIL_XV11", {}, {}};
const Device kHldsLds01{"hlds_lds01", "HIL_HLDS_LDS01", {{"running", "off"}}, {}};
const Device kCamsenseX1{"camsense_x1", "HIL_CAMSENSE_X1", {}, {}};
const Device kBluesea{"bluesea", "HIL_BLUESEA", {}, {}};
const Device kCoinD4{"coin_d4", "HIL_COIN_D4", {}, {}};
const Device kSickCola{
    "sick_cola", "HIL_SICK_COLA", {{"model", "LMS111"}}, {{"frequency_hz", "50"}}, Device::By::tcp};
const Device kSickSafety{"sick_safety", "HIL_SICK_SAFETY", {}, {}, Device::By::tcp_and_udp, 50};
const Device kSickCompact{
    "sick_compact", "HIL_SICK_COMPACT", {}, {{"imu", "false"}}, Device::By::tcp_and_udp};
const Device kPepperlFuchs{"pepperl_fuchs", "HIL_PEPPERL_FUCHS", {}, {}, Device::By::tcp_and_udp};
const Device kLakibeam{"lakibeam", "HIL_LAKIBEAM", {}, {}, Device::By::streams_udp};
const Device kLslidarN301{"lslidar_n301", "HIL_LSLIDAR_N301", {}, {}, Device::By::streams_udp};
const Device kLeuzeRsl{"leuze_rsl", "HIL_LEUZE_RSL", {}, {}, Device::By::streams_udp};
const Device kVanjee{"vanjee", "HIL_VANJEE", {}, {}, Device::By::udp};
const Device kYdlidar{"ydlidar", "HIL_YDLIDAR", {{"model", "X4"}}, {}};

constexpr hal::Duration kSteady = 1s;
constexpr hal::Duration kTick = 20ms;

bool strict() {
  const char* const value = std::getenv("LIDARD_STRICT");
  return value != nullptr && std::string_view(value) == "1";
}

// An address of this machine where nobody listens.
std::string free_address() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  const int probe = ::socket(AF_INET, SOCK_STREAM, 0);
  CHECK_EQUAL(0, ::bind(probe, any, size));
  CHECK_EQUAL(0, ::getsockname(probe, any, &size));
  ::close(probe);
  return "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

// A simulator in a child process, on a pty or a TCP port.
class Simulator {
 public:
  Simulator(const Device& device, const std::string& link) {
    std::array<int, 2> ready{};
    CHECK_EQUAL(0, ::pipe(ready.data()));
    pid_ = ::fork();
    if (pid_ == 0) play(device, link, ready[1]);
    ::close(ready[1]);
    pollfd line{ready[0], POLLIN, 0};
    CHECK_EQUAL(1, ::poll(&line, 1, 10'000));
    ::close(ready[0]);
  }
  ~Simulator() { unplug(); }
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  void pause() const { ::kill(pid_, SIGSTOP); }
  void go_on() const { ::kill(pid_, SIGCONT); }
  void unplug() {
    if (pid_ <= 0) return;
    go_on();
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  [[noreturn]] static void play(const Device& device, const std::string& link, int ready) {
    ::dup2(ready, STDOUT_FILENO);
    sim::RunOptions options;
    options.driver = device.driver;
    options.set = device.simulator;
    const bool streams = device.by == Device::By::streams_udp;
    (device.by == Device::By::pty   ? options.pty
     : device.by == Device::By::udp ? options.udp
     : streams                      ? options.to
                                    : options.tcp) = link;
    if (streams || device.by == Device::By::tcp_and_udp) options.udp = "127.0.0.1:0";
    options.rate_hz = device.rate_hz;
    options.for_s = 60;
    ::_exit(sim::run(options));
  }
  pid_t pid_ = -1;
};

// Counts, without the heap.
struct Watcher final : drivers::PacketSink {
  void on_packet(drivers::SensorId, const drivers::Packet& packet, hal::Time) override {
    ++packets;
    hal::Time at{};
    if (const auto* const slice = std::get_if<drivers::ScanSlice>(&packet)) {
      at = slice->first;
      // A whole scan leaves out what its device does not see.
      covered +=
          whole_turns ? period : slice->step * static_cast<std::int64_t>(slice->beams.size());
    } else {
      at = std::get<drivers::ImuSample>(packet).at;
      covered += period;
    }
    backward += at <= newest;
    newest = at;
  }
  void on_state(drivers::SensorId, State, hal::Time) override {}
  hal::Duration period{};  // nominal, of an IMU or of whole scans
  bool whole_turns = false;
  std::uint64_t packets = 0, backward = 0;
  hal::Duration covered{};  // by the packets, as the device's nominal rate has it
  hal::Time newest = hal::Time::min();
};

// Where the device is, from "PORT,key=value,...".
struct Place {
  explicit Place(const Device& device, const char* text, const drivers::Row& row)
      : options(row.options) {
    port.baud = row.default_baud;
    for (const auto& [key, value] : device.options) set(key, value);
    std::string_view rest(text);
    const std::string_view where = rest.substr(0, rest.find(','));
    for (std::size_t comma; (comma = rest.find(',')) != rest.npos;) {
      rest.remove_prefix(comma + 1);
      const std::string_view pair = rest.substr(0, rest.find(','));
      const std::size_t equals = std::min(pair.find('='), pair.size() - 1);
      set(pair.substr(0, equals), pair.substr(equals + 1));
    }
    if (where.starts_with("udp:")) {
      const auto peer = hal::parse_host_port(where.substr(4));
      CHECK_TRUE_TEXT(static_cast<bool>(peer), "udp:HOST:PORT of the device is wanted");
      port.from = peer->host;
      const bool streams = device.by == Device::By::streams_udp;
      if (!streams) port.peer = *peer;
      parse("udp:" + std::to_string(streams ? peer->port : 0));
    } else {
      parse((where.find(':') == where.npos ? "serial:" : "") + std::string(where));
    }
  }
  void parse(const std::string& spec) {
    const auto parsed = hal::parse_port_spec(spec);
    CHECK_TRUE_TEXT(static_cast<bool>(parsed), spec.c_str());
    port.spec = *parsed;
  }
  void set(std::string_view key, std::string_view value) {
    if (key == "baud") {
      port.baud = std::atoi(std::string(value).c_str());
      return;
    }
    const hal::Status done = options.set(key, value);
    if (!done) FAIL(done.error().detail.c_str());
  }
  drivers::Options options;
  hal::PortOptions port;
};

// One device on the real loop, with its driver.
class Bench {
 public:
  explicit Bench(const Device& device) : device_(device), row_(*drivers::find(device.driver)) {
    const char* const real = std::getenv(device.variable);
    if (real == nullptr) simulator_.emplace(device, link_);
    const bool is_udp = device.by == Device::By::udp || device.by == Device::By::streams_udp;
    const std::string simulated = (device.by == Device::By::pty ? ""
                                   : is_udp                     ? "udp:"
                                                                : "tcp:") +
                                  link_;
    Place place(device, real != nullptr ? real : simulated.c_str(), row_);
    drivers::DriverSetup setup;
    setup.ports[0] = hal::make_port(world_.loop, place.port);
    if (device.by == Device::By::tcp_and_udp) {
      setup.ports[1] = std::exchange(setup.ports[0], data_of(place.port.spec.host));
    }
    setup.baud = place.port.spec.kind == hal::PortSpec::Kind::serial ? place.port.baud : 0;
    setup.sink = &watcher_;
    const drivers::Figures figures = row_.figures(place.options, setup.baud);
    watcher_.period = hal::from_seconds(1 / figures.packets_hz);
    watcher_.whole_turns = figures.packets_hz == figures.turns_hz;
    driver_ = row_.make(place.options, std::move(setup));
    std::printf("\n%s: %s", device.driver, real != nullptr ? real : "simulator");
  }

  void run() {
    hal::Ticker tick(world_.loop, kTick, [this](hal::Time now) { driver_->tick(now); });
    start();
    run_steadily();
    if (simulator_) survive_pause();
    if (simulator_) survive_unplugging();
    stop();
  }

 private:
  std::unique_ptr<hal::Port> data_of(const std::string& host) {
    return hal::make_port(world_.loop, {.spec = {.kind = hal::PortSpec::Kind::udp}, .from = host});
  }

  template <class Claim>
  hal::Duration expect(const char* what, Claim&& claim, hal::Duration within) {
    const hal::Time begin = world_.clock.now();
    const bool held = world_.run_until(claim);
    const hal::Duration took = world_.clock.now() - begin;
    std::printf(", %s %.3f s", what, hal::to_seconds(took));
    std::fflush(stdout);
    if (!held) FAIL((std::string("not ") + what + ": " + driver_->health().why.c_str()).c_str());
    if (strict()) CHECK_TEXT(took <= within, what);
    return took;
  }

  void start() {
    driver_->start(world_.clock.now());
    expect(
        "streaming after", [this] { return watcher_.packets > 0; }, 5s);
  }

  void run_steadily() {
    world_.loop.run_for(world_.passes, 100ms);  // what had waited in buffers
    const hal::Duration before = watcher_.covered;
    const hal::Time begin = world_.clock.now();
    const test::AllocationCounter counter;
    world_.loop.run_for(world_.passes, kSteady);
    LONGS_EQUAL(0, counter.count());
    const double rate =
        hal::to_seconds(watcher_.covered - before) / hal::to_seconds(world_.clock.now() - begin);
    std::printf(", %.1f %% of the nominal rate", 100 * rate);
    CHECK_TEXT(rate > 0 && rate < 2, "the rate");
    if (strict()) CHECK_TEXT(rate > 0.9 && rate < 1.1, "the rate");
    examine();
  }

  void survive_pause() {
    simulator_->pause();
    expect(
        "silent after", [this] { return driver_->health().state != State::streaming; }, 1s);
    simulator_->go_on();
    expect_packets("back after a pause of the device");
  }

  void survive_unplugging() {
    simulator_.reset();
    expect(
        "gone after", [this] { return driver_->health().state == State::backoff; }, 1s);
    simulator_.emplace(device_, link_);
    expect_packets("back after unplugging");
  }

  void expect_packets(const char* what) {
    const std::uint64_t before = watcher_.packets;
    expect(
        what, [&] { return watcher_.packets > before + 2; }, 5s);
    examine();
  }

  void stop() {
    driver_->stop(world_.clock.now());
    expect(
        "stopped after", [this] { return driver_->stopped(); }, 500ms);
    examine();
    std::printf("\n");
  }

  void examine() const {
    const drivers::Health h = driver_->health();
    LONGS_EQUAL(0, watcher_.backward);
    UNSIGNED_LONGS_EQUAL(h.packets, watcher_.packets);
    CHECK_TRUE(h.balances());
  }

  const Device& device_;
  const drivers::Row& row_;
  const test::TempDir directory_;
  const std::string link_ =
      device_.by != Device::By::pty ? free_address() : directory_.file("device");
  std::optional<Simulator> simulator_;
  test::RealLoop world_;
  Watcher watcher_;
  std::unique_ptr<drivers::Driver> driver_;
};

}  // namespace

TEST_GROUP(Hil){};

TEST(Hil, LdrobotStreamsFromPortToPackets) { Bench(kLdrobot).run(); }
TEST(Hil, RplidarStreamsFromPortToPackets) { Bench(kRplidar).run(); }
TEST(Hil, MicrostrainMipStreamsFromPortToPackets) { Bench(kMip).run(); }
TEST(Hil, Bno08xRvcStreamsFromPortToPackets) { Bench(kBno08xRvc).run(); }
TEST(Hil, EpsonStreamsFromPortToPackets) { Bench(kEpson).run(); }
TEST(Hil, InertialLabsStreamsFromPortToPackets) { Bench(kInertialLabs).run(); }
TEST(Hil, LpmsStreamsFromPortToPackets) { Bench(kLpms).run(); }
TEST(Hil, FdilinkStreamsFromPortToPackets) { Bench(kFdilink).run(); }
TEST(Hil, NgimuStreamsFromPortToPackets) { Bench(kNgimu).run(); }
TEST(Hil, Ximu3StreamsFromPortToPackets) { Bench(kXimu3).run(); }
TEST(Hil, SbgStreamsFromPortToPackets) { Bench(kSbg).run(); }
TEST(Hil, AnppStreamsFromPortToPackets) { Bench(kAnpp).run(); }
TEST(Hil, HokuyoScipStreamsFromPortToPackets) { Bench(kHokuyoScip).run(); }
TEST(Hil, Delta2StreamsFromPortToPackets) { Bench(kDelta2).run(); }
TEST(Hil, Um7StreamsFromPortToPackets) { Bench(kUm7).run(); }
TEST(Hil, VectornavStreamsFromPortToPackets) { Bench(kVectornav).run(); }
TEST(Hil, WitmotionStreamsFromPortToPackets) { Bench(kWitmotion).run(); }
TEST(Hil, Bno055StreamsFromPortToPackets) { Bench(kBno055).run(); }
TEST(Hil, HipnucStreamsFromPortToPackets) { Bench(kHipnuc).run(); }
TEST(Hil, XsensStreamsFromPortToPackets) { Bench(kXsens).run(); }
TEST(Hil, Xv11StreamsFromPortToPackets) { Bench(kXv11).run(); }
TEST(Hil, HldsLds01StreamsFromPortToPackets) { Bench(kHldsLds01).run(); }
TEST(Hil, CamsenseX1StreamsFromPortToPackets) { Bench(kCamsenseX1).run(); }
TEST(Hil, BlueseaStreamsFromPortToPackets) { Bench(kBluesea).run(); }
TEST(Hil, CoinD4StreamsFromPortToPackets) { Bench(kCoinD4).run(); }
TEST(Hil, SickColaStreamsFromPortToPackets) { Bench(kSickCola).run(); }
TEST(Hil, SickSafetyStreamsFromPortToPackets) { Bench(kSickSafety).run(); }
TEST(Hil, SickCompactStreamsFromPortToPackets) { Bench(kSickCompact).run(); }
TEST(Hil, PepperlFuchsStreamsFromPortToPackets) { Bench(kPepperlFuchs).run(); }
TEST(Hil, LakibeamStreamsFromPortToPackets) { Bench(kLakibeam).run(); }
TEST(Hil, LslidarN301StreamsFromPortToPackets) { Bench(kLslidarN301).run(); }
TEST(Hil, LeuzeRslStreamsFromPortToPackets) { Bench(kLeuzeRsl).run(); }
TEST(Hil, VanjeeStreamsFromPortToPackets) { Bench(kVanjee).run(); }
TEST(Hil, YdlidarStreamsFromPortToPackets) { Bench(kYdlidar).run(); }
TEST(Hil, LslidarM10StreamsFromPortToPackets) { Bench(kLslidarM10).run(); }
