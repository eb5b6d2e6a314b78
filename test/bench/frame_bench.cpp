// Framing and decoding of a stream that lies in memory, in reads of 64 bytes: ns per beam or
// sample, and bytes per second.
//
// Reference on a 2.3 GHz x86-64 core, 64-byte reads: ldlidar_stl_sdk 54-116 ns per point,
// rplidar_sdk's unpacker 15 (express), mip_sdk's parser with its fields 109 ns per packet; a
// throw-away LD19 decoder without clock or counters 2.7.
#include <benchmark/benchmark.h>

#include "drivers/registry.h"
#include "drivers/sick_compact/sick_compact.h"
#include "test/bench/items.h"
#include "test/sim/player.h"
#include "test/support/anpp_packets.h"
#include "test/support/block_datagrams.h"
#include "test/support/compact_telegram.h"
#include "test/support/epson_bursts.h"
#include "test/support/fdilink_frame.h"
#include "test/support/hipnuc_frame.h"
#include "test/support/inertial_labs_frames.h"
#include "test/support/leuze_datagrams.h"
#include "test/support/lpms_frames.h"
#include "test/support/mip_packet.h"
#include "test/support/osc_packet.h"
#include "test/support/rplidar_frames.h"
#include "test/support/rvc_frames.h"
#include "test/support/sbg_frames.h"
#include "test/support/um7_packet.h"
#include "test/support/vn_messages.h"
#include "test/support/wit_frames.h"
#include "test/support/ximu3_message.h"
#include "test/support/xsens_messages.h"

namespace {

using namespace std::chrono_literals;
using Stream = std::vector<std::byte>;

struct CountingSink final : drivers::PacketSink {
  void on_packet(drivers::SensorId, const drivers::Packet& packet, hal::Time) override {
    const auto* const slice = std::get_if<drivers::ScanSlice>(&packet);
    items += slice ? slice->beams.size() + slice->echoes.size() : 1;
  }
  void on_state(drivers::SensorId, drivers::State, hal::Time) override {}
  std::uint64_t items = 0;
};

// 30 s: after that the stamps of an LD19 begin again.
Stream played(const char* driver, const sim::Options& set = {}) {
  const hal::Time begin = hal::from_ns(0);
  const auto player =
      sim::Player::make({.row = *sim::find_model(driver), .set = set, .faults = {}}, begin);
  Stream stream;
  for (hal::Time now = begin; now < begin + 30s; now = (*player)->advance(now)) {
    for (sim::Write write; (*player)->take(now, write);) {
      stream.insert(stream.end(), write.bytes.begin(), write.bytes.end());
    }
  }
  return stream;
}

Stream ldrobot_stream() { return played("ldrobot"); }
Stream delta2_stream() { return played("delta2"); }
Stream xv11_stream() { return played("xv11"); }
Stream hlds_lds01_stream() { return played("hlds_lds01"); }
Stream camsense_x1_stream() { return played("camsense_x1"); }
Stream bluesea_stream() { return played("bluesea", {{"running", "on"}, {"format", "C7"}}); }
Stream sick_cola_stream() {
  return played("sick_cola", {{"streaming", "on"}, {"model", "LMS511"}});
}
Stream coin_d4_stream() { return played("coin_d4", {{"running", "on"}}); }
Stream lslidar_m10_stream() { return played("lslidar_m10", {{"running", "on"}}); }

// Express capsules of ten turns a second.
Stream rplidar_stream() {
  Stream stream = test::rplidar::descriptor(0x82, 84, true);
  for (unsigned i = 0; i < 10'000; ++i) {
    const Stream capsule = test::rplidar::express(i * 14.4, 2000 + i % 100, i == 0, i);
    stream.insert(stream.end(), capsule.begin(), capsule.end());
  }
  return stream;
}

// Nodes of five bytes, of an A1 that turns eight times a second.
Stream rplidar_nodes_stream() {
  Stream stream = test::rplidar::descriptor(0x81, 5, true);
  for (unsigned i = 0; i < 250'000; ++i) {
    const Stream node = test::rplidar::node(i % 250 * 1.44, 2000 + i % 100, 20, i % 250 == 0);
    stream.insert(stream.end(), node.begin(), node.end());
  }
  return stream;
}

// Acceleration, rate and reference time at 500 Hz.
Stream mip_stream() {
  Stream stream;
  for (std::int64_t i = 0; i < 20'000; ++i) {
    const Stream fields = test::joined(test::joined(test::mip::kAccelAtRest, test::mip::kGyro),
                                       test::mip::reference(i * 2'000'000));
    const Stream packet = test::mip::packet(0x80, fields);
    stream.insert(stream.end(), packet.begin(), packet.end());
  }
  return stream;
}

Stream xsens_stream() {
  Stream stream;
  for (unsigned i = 1; i <= 10'000; ++i) {
    const Stream message = test::xsens::at_rest(i, 100 * i);
    stream.insert(stream.end(), message.begin(), message.end());
  }
  return stream;
}

// Answers to polls, of which no two that follow each other are the same.
Stream bno055_stream() {
  Stream stream;
  Stream block = test::hex(
      "BB 2D 0A 00 EC FF D5 03 40 01 00 00 80 FD 09 00 EE FF 1B 00 A0 05 E0 FF 10 00 41 2D 00 00 "
      "00 00 41 2D 00 00 00 00 00 00 00 00 00 00 D5 03 19");
  for (unsigned i = 0; i < 10'000; ++i) {
    block[2] = static_cast<std::byte>(i);
    stream.insert(stream.end(), block.begin(), block.end());
  }
  return stream;
}

Stream hipnuc_stream() {
  Stream stream;
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    const Stream frame = test::hipnuc::hi91(10 * i);
    stream.insert(stream.end(), frame.begin(), frame.end());
  }
  return stream;
}

Stream bno08x_rvc_stream() {
  Stream stream;
  for (unsigned i = 0; i < 10'000; ++i) {
    const Stream one = test::rvc::frame(i % 256, {.yaw = static_cast<int>(i), .roll = 700});
    stream.insert(stream.end(), one.begin(), one.end());
  }
  return stream;
}
// Short logs alone.
Stream sbg_stream() {
  Stream stream;
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    const Stream one = test::sbg::imu_short(i * 10'000);
    stream.insert(stream.end(), one.begin(), one.end());
  }
  return stream;
}
// Raw sensors and the time of their tick.
Stream anpp_stream() {
  Stream stream;
  for (int i = 0; i < 10'000; ++i) {
    const Stream both = test::joined(test::anpp::raw(), test::anpp::running(0.01 * i));
    stream.insert(stream.end(), both.begin(), both.end());
  }
  return stream;
}

// All processed data and the attitude, of which one sample is made.
Stream um7_stream() {
  Stream stream;
  for (int i = 0; i < 10'000; ++i) {
    const Stream both = test::joined(test::um7::processed(0.01 * i), test::um7::attitude(0.01 * i));
    stream.insert(stream.end(), both.begin(), both.end());
  }
  return stream;
}

// 20 000 frames, each with the stamp of its place.
template <class Frame>
Stream repeated(Frame&& frame) {
  Stream stream;
  for (unsigned i = 0; i < 20'000; ++i) {
    const Stream one = frame(i);
    stream.insert(stream.end(), one.begin(), one.end());
  }
  return stream;
}
Stream epson_stream() {
  return repeated([](unsigned i) { return test::epson::sample(i * 313 & 0xFFFF); });
}
Stream inertial_labs_stream() {
  return repeated([](unsigned i) { return test::inertial_labs::sample(i * 10'000'000LL); });
}
Stream lpms_stream() {
  return repeated([](unsigned i) { return test::lpms::ig1(i * 5); });
}
// Both frames of an instant, of which one sample is made.
Stream fdilink_stream() {
  Stream stream;
  for (unsigned i = 0; i < 10'000; ++i) {
    const double t = 0.005 * i;
    const Stream both =
        test::joined(test::fdilink::inertial(2 * i, t), test::fdilink::attitude(2 * i + 1, t));
    stream.insert(stream.end(), both.begin(), both.end());
  }
  return stream;
}

// Rates and attitude of each instant, of which one sample is made.
Stream ximu3_stream() {
  Stream stream;
  for (unsigned i = 0; i < 10'000; ++i) {
    const std::uint64_t us = 5000 * std::uint64_t{i};
    const Stream both = test::joined(test::ximu3::rates(us), test::ximu3::attitude(us));
    stream.insert(stream.end(), both.begin(), both.end());
  }
  return stream;
}

// Sensors and attitude of each instant on a line, of which one sample is made.
Stream ngimu_stream() {
  Stream stream;
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t t = test::osc::time_of(0.02 * i);
    for (const Stream& message : {test::osc::sensors(), test::osc::attitude()}) {
      const Stream packet = test::osc::slip(test::osc::bundle(t, {message}));
      stream.insert(stream.end(), packet.begin(), packet.end());
    }
  }
  return stream;
}

// Start-up time, attitude, rate and acceleration.
Stream vectornav_stream() {
  Stream stream;
  for (std::int64_t i = 1; i <= 20'000; ++i) {
    const Stream message = test::vn::sample(i * 2'500'000);
    stream.insert(stream.end(), message.begin(), message.end());
  }
  return stream;
}

// Acceleration, rate, angles and quaternion, of which one sample is made.
Stream witmotion_stream() {
  Stream stream;
  for (int i = 0; i < 10'000; ++i) {
    const Stream frames = test::wit::set(i % 90);
    stream.insert(stream.end(), frames.begin(), frames.end());
  }
  return stream;
}

// A UTM-30LX, found streaming.
Stream hokuyo_stream() {
  return played("hokuyo_scip", {{"model", "UTM-30LX"}, {"found", "streaming"}});
}

// An X4: packets of 40 samples with their angles to be corrected.
Stream ydlidar_stream() {
  Stream stream;
  const auto put = [&stream](unsigned v) {
    stream.push_back(static_cast<std::byte>(v));
    stream.push_back(static_cast<std::byte>(v >> 8));
  };
  for (unsigned i = 0; i < 10'000; ++i) {
    const unsigned first = i * 1280 % 23'040 << 1 | 1, last = (i * 1280 + 1248) % 23'040 << 1 | 1;
    unsigned check = 0x55AA ^ 40 << 8 ^ first ^ last;
    for (unsigned k = 0; k < 40; ++k) check ^= 4000 + k * (i % 300);
    for (const unsigned v : {0x55AAU, 40U << 8, first, last, check}) put(v);
    for (unsigned k = 0; k < 40; ++k) put(4000 + k * (i % 300));
  }
  return stream;
}

void decode(benchmark::State& state, const char* driver, Stream (*make)()) {
  constexpr std::size_t kRead = 64;
  const Stream stream = make();
  const drivers::Row& row = *drivers::find(driver);
  const drivers::Options options(row.options);
  CountingSink sink;
  const auto decoder = row.make_decoder(options, row.default_baud, sink);
  hal::Time now{1000s};
  std::size_t at = 0;
  std::int64_t bytes = 0;
  for (auto _ : state) {
    const std::size_t n = std::min(kRead, stream.size() - at);
    decoder->feed({hal::Bytes(stream).subspan(at, n), now += 2ms});
    bytes += static_cast<std::int64_t>(n);
    at = at + n == stream.size() ? 0 : at + n;
  }
  if (sink.items == 0 && bytes > 10'000) state.SkipWithError("nothing was decoded");
  bench::report_items(state, sink.items);
  state.SetBytesProcessed(bytes);
}

void decode_ldrobot(benchmark::State& state) { decode(state, "ldrobot", ldrobot_stream); }
void decode_rplidar(benchmark::State& state) { decode(state, "rplidar", rplidar_stream); }
void decode_rplidar_nodes(benchmark::State& state) {
  decode(state, "rplidar", rplidar_nodes_stream);
}
void decode_mip(benchmark::State& state) { decode(state, "microstrain_mip", mip_stream); }
void decode_epson(benchmark::State& state) { decode(state, "epson", epson_stream); }
void decode_lpms(benchmark::State& state) { decode(state, "lpms", lpms_stream); }
void decode_inertial_labs(benchmark::State& state) {
  decode(state, "inertial_labs", inertial_labs_stream);
}
void decode_fdilink(benchmark::State& state) { decode(state, "fdilink", fdilink_stream); }
void decode_xsens(benchmark::State& state) { decode(state, "xsens", xsens_stream); }
void decode_bno055(benchmark::State& state) { decode(state, "bno055", bno055_stream); }
void decode_hipnuc(benchmark::State& state) { decode(state, "hipnuc", hipnuc_stream); }
void decode_ximu3(benchmark::State& state) { decode(state, "ximu3", ximu3_stream); }
void decode_ngimu(benchmark::State& state) { decode(state, "ngimu", ngimu_stream); }
void decode_vectornav(benchmark::State& state) { decode(state, "vectornav", vectornav_stream); }
void decode_witmotion(benchmark::State& state) { decode(state, "witmotion", witmotion_stream); }
void decode_bno08x_rvc(benchmark::State& state) { decode(state, "bno08x_rvc", bno08x_rvc_stream); }
void decode_sbg(benchmark::State& state) { decode(state, "sbg", sbg_stream); }
void decode_anpp(benchmark::State& state) { decode(state, "anpp", anpp_stream); }
void decode_um7(benchmark::State& state) { decode(state, "um7", um7_stream); }
void decode_bluesea(benchmark::State& state) { decode(state, "bluesea", bluesea_stream); }
void decode_sick_cola(benchmark::State& state) { decode(state, "sick_cola", sick_cola_stream); }
void decode_coin_d4(benchmark::State& state) { decode(state, "coin_d4", coin_d4_stream); }
void decode_ydlidar(benchmark::State& state) { decode(state, "ydlidar", ydlidar_stream); }
void decode_hokuyo(benchmark::State& state) { decode(state, "hokuyo_scip", hokuyo_stream); }
void decode_delta2(benchmark::State& state) { decode(state, "delta2", delta2_stream); }
void decode_xv11(benchmark::State& state) { decode(state, "xv11", xv11_stream); }
void decode_hlds(benchmark::State& state) { decode(state, "hlds_lds01", hlds_lds01_stream); }
void decode_camsense(benchmark::State& state) { decode(state, "camsense_x1", camsense_x1_stream); }
void decode_lslidar_m10(benchmark::State& state) {
  decode(state, "lslidar_m10", lslidar_m10_stream);
}

// Packets of an R2000 as it sends them by UDP: 332 points, distance and amplitude.
std::vector<Stream> pepperl_fuchs_packets() {
  hal::Time now = hal::from_ns(0);
  const auto player = std::move(
      *sim::Player::make({.row = *sim::find_model("pepperl_fuchs"), .set = {}, .faults = {}}, now));
  const auto ask = [&](const std::string& command) {
    const std::string request = "GET /cmd/" + command + " HTTP/1.0\r\n\r\n";
    player->receive(sim::Channel::control, std::as_bytes(std::span(request)), now);
    player->advance(now);
    std::string answer;
    for (sim::Write write; player->take(now, write);)
      for (const std::byte b : write.bytes) answer += static_cast<char>(b);
    return answer;
  };
  const std::string answer =
      ask("request_handle_udp?address=127.0.0.1&port=5000&packet_type=C&watchdog=off");
  const std::size_t at = answer.find('"', answer.find(':', answer.find("\"handle\""))) + 1;
  ask("start_scanoutput?handle=" + answer.substr(at, answer.find('"', at) - at));
  std::vector<Stream> packets;
  const hal::Time end = now + 60s;  // far more than they take
  while (packets.size() < 4000 && now < end) {
    now = player->advance(now);
    for (sim::Write write; player->take(now, write);) packets.push_back(write.bytes);
  }
  return packets;
}

// A datagram at a time; every echo is a point.
void decode_datagrams(benchmark::State& state, const char* driver,
                      const std::vector<Stream>& datagrams, hal::Duration period = 6667us,
                      std::initializer_list<std::pair<const char*, const char*>> set = {}) {
  if (datagrams.empty()) return state.SkipWithError("its simulator sent nothing");
  const drivers::Row& row = *drivers::find(driver);
  drivers::Options options(row.options);
  for (const auto& [key, value] : set) {
    if (!options.set(key, value)) state.SkipWithError("no such option");
  }
  CountingSink sink;
  const auto decoder = row.make_decoder(options, 0, sink);
  hal::Time now{1000s};
  std::size_t at = 0;
  for (auto _ : state) {
    decoder->feed({datagrams[at], now += period, {}, 0, true});
    at = (at + 1) % datagrams.size();
  }
  if (sink.items == 0 && state.iterations() > 100) state.SkipWithError("nothing was decoded");
  bench::report_items(state, sink.items);
}

// Two returns a beam, as many datagrams as make whole turns.
void decode_lakibeam(benchmark::State& state) {
  std::vector<Stream> datagrams;
  test::blocks::LakibeamStream device;
  for (int i = 0; i < 2300; ++i) datagrams.push_back(device.next(true));
  decode_datagrams(state, "lakibeam", datagrams);
}
void decode_lslidar_n301(benchmark::State& state) {
  std::vector<Stream> datagrams;
  for (unsigned i = 0; i < 3000; ++i) {
    const auto azimuths = test::blocks::even(i * 720 % 36'000, 60);
    datagrams.push_back(test::blocks::n301(azimuths, i * 2000 % 1'000'000, true));
  }
  decode_datagrams(state, "lslidar_n301", datagrams);
}

// Of a 719: distance and strength in a word.
void decode_vanjee(benchmark::State& state) {
  hal::Time now = hal::from_ns(0);
  const auto player = std::move(*sim::Player::make({.row = *sim::find_model("vanjee"),
                                                    .set = {{"model", "719"}, {"running", "on"}},
                                                    .faults = {}},
                                                   now));
  std::vector<Stream> datagrams;
  while (datagrams.size() < 3600) {
    now = player->advance(now);
    for (sim::Write write; player->take(now, write);) datagrams.push_back(write.bytes);
  }
  decode_datagrams(state, "vanjee", datagrams, 2778us, {{"model", "719"}});
}

// Of an RSL 400, distance and amplitude: a status and eight blocks a scan.
void decode_leuze_rsl(benchmark::State& state) {
  std::vector<Stream> datagrams;
  for (std::uint32_t scan = 1; scan <= 300; ++scan)
    for (Stream& datagram : test::leuze::scan(0, scan)) datagrams.push_back(std::move(datagram));
  decode_datagrams(state, "leuze_rsl", datagrams, 4444us);
}

void decode_pepperl_fuchs(benchmark::State& state) {
  decode_datagrams(state, "pepperl_fuchs", pepperl_fuchs_packets());
}

// A microScan3's scans of 2751 beams with all blocks, ten datagrams in 30 ms.
void decode_sick_safety(benchmark::State& state) {
  hal::Time now = hal::from_ns(0);
  const auto player = std::move(*sim::Player::make(
      {.row = *sim::find_model("sick_safety"), .set = {{"preset", "on"}}, .faults = {}}, now));
  std::vector<Stream> datagrams;
  while (datagrams.size() < 10'000) {
    now = player->advance(now);
    for (sim::Write write; player->take(now, write);) datagrams.push_back(write.bytes);
  }
  decode_datagrams(state, "sick_safety", datagrams, 3ms);
}

// A picoScan's segments of 240 beams with three echoes, a datagram each; every echo is a point. The
// checksum is left out: it is hal/crc32's to be fast.
void decode_sick_compact(benchmark::State& state) {
  struct Unchecked : drivers::CompactFraming {
    static bool intact(hal::Bytes) { return true; }
  };
  std::vector<Stream> datagrams;
  for (std::uint64_t n = 0; n < 10'000; ++n) datagrams.push_back(test::compact::pico(n, 3));
  const drivers::Options options(drivers::SickCompact::options());
  drivers::SickCompact device(options);
  drivers::Stamper stamper(device.clock_model(), 0, {});
  drivers::Decoded decoded;
  drivers::StreamFramer<Unchecked> framer;
  Unchecked framing;
  hal::Time now{1000s};
  std::uint64_t points = 0;
  std::size_t at = 0;
  for (auto _ : state) {
    framer.feed(framing, {datagrams[at], now += 4167us, {}, 0, true}, [&](const drivers::Frame& f) {
      decoded.clear();
      device.decode(f, decoded);
      for (drivers::Decoded::Item& item : decoded.items()) {
        if (stamper.stamp(item.packet, item.timing) != drivers::Stamper::Outcome::stamped) continue;
        const auto& slice = std::get<drivers::ScanSlice>(item.packet);
        points += slice.beams.size() + slice.echoes.size();
      }
    });
    at = (at + 1) % datagrams.size();
  }
  if (points == 0) state.SkipWithError("nothing was decoded");
  bench::report_items(state, points);
}

}  // namespace

BENCHMARK(decode_ldrobot)->Name("frame/ldrobot");
BENCHMARK(decode_rplidar)->Name("frame/rplidar");
BENCHMARK(decode_rplidar_nodes)->Name("decode/rplidar_nodes");
BENCHMARK(decode_mip)->Name("frame/mip");
BENCHMARK(decode_epson)->Name("decode/epson");
BENCHMARK(decode_lpms)->Name("decode/lpms");
BENCHMARK(decode_inertial_labs)->Name("decode/inertial_labs");
BENCHMARK(decode_fdilink)->Name("decode/fdilink");
BENCHMARK(decode_xsens)->Name("decode/xsens");
BENCHMARK(decode_bno055)->Name("decode/bno055");
BENCHMARK(decode_hipnuc)->Name("decode/hipnuc");
BENCHMARK(decode_ximu3)->Name("decode/ximu3");
BENCHMARK(decode_ngimu)->Name("decode/ngimu");
BENCHMARK(decode_vectornav)->Name("decode/vectornav");
BENCHMARK(decode_witmotion)->Name("decode/witmotion");
BENCHMARK(decode_bno08x_rvc)->Name("decode/bno08x_rvc");
BENCHMARK(decode_sbg)->Name("decode/sbg");
BENCHMARK(decode_anpp)->Name("decode/anpp");
BENCHMARK(decode_um7)->Name("decode/um7");
BENCHMARK(decode_bluesea)->Name("decode/bluesea");
BENCHMARK(decode_pepperl_fuchs)->Name("decode/pepperl_fuchs");
BENCHMARK(decode_sick_compact)->Name("decode/sick_compact");
BENCHMARK(decode_lakibeam)->Name("decode/lakibeam");
BENCHMARK(decode_lslidar_n301)->Name("decode/lslidar_n301");
BENCHMARK(decode_vanjee)->Name("decode/vanjee");
BENCHMARK(decode_leuze_rsl)->Name("decode/leuze_rsl");
BENCHMARK(decode_sick_safety)->Name("decode/sick_safety");
BENCHMARK(decode_sick_cola)->Name("decode/sick_cola");
BENCHMARK(decode_coin_d4)->Name("decode/coin_d4");
BENCHMARK(decode_ydlidar)->Name("decode/ydlidar");
BENCHMARK(decode_hokuyo)->Name("decode/hokuyo_scip");
BENCHMARK(decode_delta2)->Name("decode/delta2");
BENCHMARK(decode_xv11)->Name("decode/xv11");
BENCHMARK(decode_hlds)->Name("decode/hlds_lds01");
BENCHMARK(decode_camsense)->Name("decode/camsense_x1");
BENCHMARK(decode_lslidar_m10)->Name("decode/lslidar_m10");
