// `lidarctl decode` of measurements that come in several datagrams, captured from the network.
#include <sstream>

#include "test/support/harness.h"
#include "test/support/pcap_writer.h"
#include "test/support/safety_data.h"
#include "test/system/bench.h"
#include "test/system/json.h"

namespace pcap = test::pcap;
using test::Json;
using test::Ran;

namespace {

constexpr std::int64_t kBegin = 1'700'000'000'123'456'789, kPeriod = 30'000'000;

// Twenty scans of 600 beams in two datagrams each; those of scan 3 change places, of scan 7 the
// second is missing, of scan 9 it is cut short.
test::Stream twenty_scans() {
  pcap::Writer writer(false, true);
  for (std::uint32_t k = 1; k <= 20; ++k) {
    test::safety::Scan scan;
    scan.points = test::safety::points(600, 1000 + k);
    scan.sequence = scan.scan = k;
    scan.ms = 30 * k;
    auto datagrams = test::safety::fragments(test::safety::payload(scan), k);
    if (k == 3) std::swap(datagrams[0], datagrams[1]);
    if (k == 7) datagrams.pop_back();
    if (k == 9) datagrams[1].resize(datagrams[1].size() - 10);
    for (const test::Stream& datagram : datagrams)
      writer.add(pcap::ethernet(pcap::udp_ip(datagram)), kBegin + k * kPeriod);
  }
  return writer.file;
}

}  // namespace

TEST_GROUP(SystemDecodeUdp) { test::Bench bench; };

TEST(SystemDecodeUdp, FragmentsOfSafetyScannersEndWithTheirDatagrams) {
  const test::Stream file = twenty_scans();
  test::write_file(bench.file("x.pcap"), {reinterpret_cast<const char*>(file.data()), file.size()});
  const Ran ran = bench.lidarctl({"decode", "sick_safety", bench.file("x.pcap")});
  LONGS_EQUAL_TEXT(0, ran.status, ran.err.c_str());
  std::vector<Json> lines;
  std::istringstream out(ran.out);
  for (std::string line; std::getline(out, line);) lines.push_back(Json::parse(line));
  LONGS_EQUAL(18 + 1, lines.size());
  const Json& stats = lines.back();
  DOUBLES_EQUAL(39, stats["frames"].number(), 0);
  DOUBLES_EQUAL(18, stats["packets"].number(), 0);
  DOUBLES_EQUAL(0, stats["garbage_bytes"].number() + stats["tail_bytes"].number(), 0);
  std::uint32_t k = 0;
  for (std::size_t i = 0; i < 18; ++i) {
    do ++k;
    while (k == 7 || k == 9);
    DOUBLES_EQUAL(30e6 * k, lines[i]["device_ns"].number(), 0);
    const auto& beams = lines[i]["beams"].list();
    LONGS_EQUAL(600, beams.size());
    DOUBLES_EQUAL(1e-3 * (1000 + k), beams[0][1].number(), 1e-6);
    DOUBLES_EQUAL(1e-3 * (1599 + k), beams[599][1].number(), 1e-6);
    DOUBLES_EQUAL(static_cast<double>(kBegin + k * kPeriod), lines[i]["first_ns"].number(), 31e6);
  }
}
