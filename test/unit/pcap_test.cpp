#include <algorithm>
#include <random>

#include "hal/pcap/flows.h"
#include "test/support/harness.h"
#include "test/support/pcap_writer.h"

using namespace test::pcap;
using hal::pcap::Flow;
using test::Stream;

namespace {

constexpr std::int64_t kS = 1'000'000'000, kT = 1'700'000'000 * kS;

Stream text(std::string_view t) {
  const auto b = std::as_bytes(std::span(t));
  return {b.begin(), b.end()};
}

struct Log final : hal::pcap::FlowSink {
  void on_payload(const Flow& flow, hal::Bytes bytes, std::int64_t unix_ns,
                  std::uint64_t lost) override {
    std::string s;
    for (const std::byte b : bytes) s += static_cast<char>(b);
    parts.push_back(s);
    all += s;
    flows.push_back(flow);
    times.push_back(unix_ns);
    losses.push_back(lost);
  }
  std::vector<std::string> parts;
  std::string all;
  std::vector<Flow> flows;
  std::vector<std::int64_t> times;
  std::vector<std::uint64_t> losses;
};

}  // namespace

TEST_GROUP(Pcap) {
  Log log;
  hal::pcap::PacketStats packets;
  hal::pcap::FlowStats flows;
  std::size_t unread = 0;

  void read(const Stream& bytes) {
    log = {};
    hal::pcap::File file(bytes);
    hal::pcap::Reassembly whole;
    hal::pcap::Flows streams(log);
    while (const auto frame = file.next()) {
      if (const auto packet = whole.take(*frame)) streams.take(*packet);
    }
    whole.finish();
    streams.finish();
    packets = whole.stats();
    flows = streams.stats();
    unread = file.unread();
  }
  // Of Ethernet frames, 1 ms apart.
  void read_frames(const std::vector<Stream>& ips) {
    Writer w;
    std::int64_t at = kT;
    for (const Stream& packet : ips) w.add(ethernet(packet), at += 1'000'000);
    read(w.file);
  }
};

TEST(Pcap, BothByteOrdersAndBothResolutionsAreRead) {
  for (const bool big : {false, true}) {
    for (const bool ns : {false, true}) {
      Writer w(big, ns);
      w.add(ethernet(udp_ip(text("abc"))), kT + 123'456'789);
      read(w.file);
      STRCMP_EQUAL("abc", log.all.c_str());
      LONGS_EQUAL(kT + (ns ? 123'456'789 : 123'456'000), log.times[0]);
      LONGS_EQUAL(0, unread);
      LONGS_EQUAL(2111, log.flows[0].source_port);
      LONGS_EQUAL(40000, log.flows[0].destination_port);
      CHECK_TRUE(log.flows[0].source == kDevice && log.flows[0].destination == kHost);
    }
  }
}

TEST(Pcap, EveryLinkTypeLeadsToTheSamePacket) {
  const Stream packet = udp_ip(text("abc"));
  const auto behind = [&](std::size_t head, std::size_t type_at, unsigned type) {
    Stream s(head);
    s[type_at] = std::byte(type >> 8), s[type_at + 1] = std::byte(type & 255);
    test::append(s, packet);
    return s;
  };
  Stream null_little(4), null_big(4);
  null_little[0] = std::byte{2}, null_big[3] = std::byte{2};
  test::append(null_little, packet), test::append(null_big, packet);
  const std::vector<std::pair<unsigned, Stream>> links{
      {1, ethernet(packet)},
      {1, ethernet(packet, {0x8100})},
      {1, ethernet(packet, {0x88A8, 0x8100})},
      {113, behind(16, 14, 0x0800)},
      {276, behind(20, 0, 0x0800)},
      {101, packet},
      {12, packet},
      {228, packet},
      {0, null_little},
      {0, null_big},
      {108, null_big},
  };
  for (const auto& [link, frame] : links) {
    Writer w(false, false, link);
    w.add(frame, kT);
    read(w.file);
    STRCMP_EQUAL("abc", log.all.c_str());
  }
  Writer w(false, false, 127);  // radio
  w.add(packet, kT);
  read(w.file);
  STRCMP_EQUAL("", log.all.c_str());
  LONGS_EQUAL(1, packets.other);
}

TEST(Pcap, SectionsInterfacesAndTheirResolutionsAreRead) {
  NgWriter w;
  w.interface(1);               // us
  w.interface(101, 9, 100);     // ns, 100 s later
  w.interface(101, 0x80 | 10);  // 1/1024 s
  w.interface(101, 12);         // ps
  const Stream packet = udp_ip(text("x"));
  w.packet(0, ethernet(packet), static_cast<std::uint64_t>(kT / 1000 + 5));
  w.packet(1, packet, static_cast<std::uint64_t>(kT + 5));
  w.packet(2, packet, 1024 * 10 + 512);
  w.packet(3, packet, 7'000'000);
  w.block(0x0BAD, Stream(8));  // of a kind that nobody knows
  w.section(true);
  w.interface(101, 3);
  w.packet(0, packet, 1'500);
  w.packet(1, packet, 1'500);  // an interface of the section before
  w.simple_packet(packet);
  read(w.file);
  STRCMP_EQUAL("xxxxxx", log.all.c_str());
  const std::int64_t expected[] = {kT + 5000, kT + 5 + 100 * kS, 10 * kS + kS / 2,
                                   7'000,     kS * 3 / 2,        0};
  for (std::size_t i = 0; i < 6; ++i) LONGS_EQUAL(expected[i], log.times[i]);
  LONGS_EQUAL(0, unread);
}

TEST(Pcap, TimesThatAreFarApartAreStillComparable) {
  constexpr std::int64_t kMost = hal::pcap::kFarthestNs;
  NgWriter w;
  w.interface(101, 9, -8'999'999'999);
  w.interface(101, 9, 8'999'999'999);
  const auto part = [](unsigned at, bool more) { return ip(Stream(16), {.at = at, .more = more}); };
  w.packet(0, part(0, true), 0);
  w.packet(1, part(16, true), ~std::uint64_t{0});  // too late for the one before
  w.packet(0, tcp_ip(100, text("a")), 0);
  w.packet(0, tcp_ip(102, text("c")), 0);
  w.packet(1, tcp_ip(103, text("d")), ~std::uint64_t{0});
  read(w.file);
  STRCMP_EQUAL("acd", log.all.c_str());
  LONGS_EQUAL(2, packets.unfinished);
  LONGLONGS_EQUAL(-kMost, log.times[0]);
  LONGLONGS_EQUAL(kMost, log.times[2]);
}

TEST(Pcap, AFileThatIsCutAnywhereGivesWhatIsWholeBefore) {
  Writer w;
  NgWriter ng(true);
  ng.interface(1);
  for (int i = 0; i < 3; ++i) {
    w.add(ethernet(udp_ip(text("abc"))), kT);
    ng.packet(0, ethernet(udp_ip(text("abc"))), 1);
  }
  for (const Stream& whole : {w.file, ng.file}) {
    std::size_t before = 0;
    for (std::size_t n = 0; n <= whole.size(); ++n) {
      const Stream part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
      read(part);
      CHECK_TRUE(log.parts.size() >= before && log.parts.size() <= 3);
      before = log.parts.size();
    }
    LONGS_EQUAL(3, before);
  }
}

TEST(Pcap, HostileLengthsEndTheFileThere) {
  Writer w;
  w.add(ethernet(udp_ip(text("abc"))), kT);
  const std::size_t good = w.file.size();
  w.add(ethernet(udp_ip(text("def"))), kT);
  for (std::size_t i = 0; i < 4; ++i) w.file[good + 8 + i] = std::byte{0xFF};
  read(w.file);
  STRCMP_EQUAL("abc", log.all.c_str());
  LONGS_EQUAL(w.file.size() - good, unread);

  for (const unsigned size : {0U, 8U, 13U, 0xFFFFFFFCU, 4096U}) {
    NgWriter ng;
    ng.interface(1);
    ng.packet(0, ethernet(udp_ip(text("abc"))), 1);
    const std::size_t at = ng.file.size();
    ng.packet(0, ethernet(udp_ip(text("def"))), 1);
    for (std::size_t i = 0; i < 4; ++i) ng.file[at + 4 + i] = static_cast<std::byte>(size >> 8 * i);
    read(ng.file);
    STRCMP_EQUAL("abc", log.all.c_str());
    LONGS_EQUAL(ng.file.size() - at, unread);
  }
}

TEST(Pcap, ABlockWhoseTwoSizesDifferEndsTheFileThere) {
  NgWriter ng;
  ng.interface(1);
  ng.packet(0, ethernet(udp_ip(text("abc"))), 1);
  const std::size_t at = ng.file.size();
  ng.packet(0, ethernet(udp_ip(text("def"))), 1);
  ng.file[ng.file.size() - 4] ^= std::byte{4};
  read(ng.file);
  STRCMP_EQUAL("abc", log.all.c_str());
  LONGS_EQUAL(ng.file.size() - at, unread);
}

TEST(Pcap, FramesThatWereNotCapturedWholeAreCountedAndLeftOut) {
  Writer w;
  w.add(ethernet(udp_ip(Stream(400))), kT, 96);
  w.add(ethernet(udp_ip(text("abc"))), kT, 96);
  read(w.file);
  STRCMP_EQUAL("abc", log.all.c_str());
  LONGS_EQUAL(1, packets.cut);
}

TEST(Pcap, FragmentsInAnyOrderAndTwiceMakeTheDatagram) {
  Stream payload(3000);
  for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<std::byte>(i * 7 / 3);
  const Stream whole = udp(payload);
  const auto part = [&](std::size_t from, std::size_t to) {
    return Stream(whole.begin() + static_cast<std::ptrdiff_t>(from),
                  whole.begin() + static_cast<std::ptrdiff_t>(std::min(to, whole.size())));
  };
  std::vector<Stream> fragments;
  for (std::size_t at = 0; at < whole.size(); at += 800) {
    fragments.push_back(
        ip(part(at, at + 800), {.at = static_cast<unsigned>(at), .more = at + 800 < whole.size()}));
  }
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    std::vector<Stream> order = fragments;
    order.push_back(fragments[random() % fragments.size()]);
    std::shuffle(order.begin(), order.end() - 1, random);
    read_frames(order);
    LONGS_EQUAL(1, log.parts.size());
    CHECK_TRUE(std::ranges::equal(std::as_bytes(std::span(log.all)), payload));
  }
  fragments.pop_back();
  read_frames(fragments);
  LONGS_EQUAL(0, log.parts.size());
  LONGS_EQUAL(1, packets.unfinished);
}

TEST(Pcap, OverlappingFragmentsChangeNothingThatCameBefore) {
  const Stream whole = udp(Stream(92, std::byte{'a'}));  // 100 bytes
  const Stream head(whole.begin(), whole.begin() + 64), tail(whole.begin() + 64, whole.end());
  const Stream evil(64, std::byte{'b'});
  read_frames({ip(head, {.at = 0, .more = true}), ip(evil, {.at = 0, .more = true}),
               ip(Stream(40, std::byte{'b'}), {.at = 32, .more = true}), ip(tail, {.at = 64})});
  LONGS_EQUAL(1, log.parts.size());
  // Bytes 64 to 72 came first with the overlap; none before them changed.
  STRCMP_EQUAL((std::string(56, 'a') + std::string(8, 'b') + std::string(28, 'a')).c_str(),
               log.all.c_str());
  // Behind the end that the last one told: given up.
  read_frames({ip(head, {.at = 0, .more = true}), ip(evil, {.at = 128, .more = true}),
               ip(tail, {.at = 64})});
  LONGS_EQUAL(0, log.parts.size());
}

TEST(Pcap, RoomAndPatienceForFragmentsEnd) {
  std::vector<Stream> open;
  for (unsigned id = 0; id < 100; ++id) open.push_back(ip(Stream(8), {.id = id, .more = true}));
  read_frames(open);
  LONGS_EQUAL(100, packets.unfinished);
  // A fragment that comes after a minute belongs to nobody.
  const Stream whole = udp(Stream(8));
  Writer w;
  w.add(ethernet(ip(Stream(whole.begin(), whole.begin() + 8), {.more = true})), kT);
  w.add(ethernet(ip(Stream(whole.begin() + 8, whole.end()), {.at = 8})), kT + 60 * kS);
  read(w.file);
  LONGS_EQUAL(0, log.parts.size());
}

TEST(Pcap, AStreamIsInOrderHoweverItsSegmentsCome) {
  const std::string all = "The quick brown fox jumps over the lazy dog";
  std::mt19937 random(9);
  for (int round = 0; round < 50; ++round) {
    const std::uint32_t first = round % 2 == 0 ? 1000 : 0xFFFFFFF0;  // wraps
    std::vector<Stream> segments;
    for (std::size_t at = 0; at < all.size(); at += 5) {
      segments.push_back(tcp_ip(first + 1 + static_cast<std::uint32_t>(at),
                                text(all.substr(at, 5 + random() % 7))));
    }
    std::shuffle(segments.begin(), segments.end(), random);
    segments.insert(segments.begin(), tcp_ip(first, {}, {}, kSyn));
    segments.insert(segments.end(), segments[2]);  // once more
    read_frames(segments);
    STRCMP_EQUAL(all.c_str(), log.all.c_str());
    LONGS_EQUAL(0, flows.lost_bytes);
    for (const std::uint64_t lost : log.losses) LONGS_EQUAL(0, lost);
  }
}

TEST(Pcap, AStreamSeenFromItsMiddleBeginsThere) {
  read_frames({tcp_ip(777, text("abc")), tcp_ip(780, text("def"))});
  STRCMP_EQUAL("abcdef", log.all.c_str());
}

TEST(Pcap, WhatNeverComesIsLostAndTold) {
  Writer w;
  w.add(ethernet(tcp_ip(100, text("abc"))), kT);
  w.add(ethernet(tcp_ip(110, text("klm"))), kT + kS);
  w.add(ethernet(tcp_ip(113, text("nop"))), kT + 2 * kS);
  read(w.file);
  STRCMP_EQUAL("abcklmnop", log.all.c_str());
  LONGS_EQUAL(7, flows.lost_bytes);
  LONGS_EQUAL(7, log.losses[1]);
  LONGS_EQUAL(0, log.losses[2]);
  // The one who waits knows that it is over after a while.
  w.add(ethernet(tcp_ip(116, text("qrs"))), kT + 10 * kS);
  read(w.file);
  LONGS_EQUAL(kT + 10 * kS, log.times[1]);
}

TEST(Pcap, WhatIsHeldOfAStreamIsBounded) {
  std::vector<Stream> segments{tcp_ip(0, text("a"))};
  for (std::uint32_t i = 1; i <= 1500; ++i) segments.push_back(tcp_ip(10 + 1000 * i, Stream(1000)));
  read_frames(segments);
  LONGS_EQUAL(1501, log.parts.size());
  CHECK_TRUE(log.times[1] < kT + 1'200 * 1'000'000LL);  // long before the end
  LONGS_EQUAL(1009, flows.lost_bytes);
}

TEST(Pcap, ManyStreamsAtATimeTakeABoundedRoom) {
  std::vector<Stream> segments;
  for (std::uint16_t i = 0; i < 300; ++i) {
    segments.push_back(tcp_ip(1, text("a"), {.destination_port = i}));
    segments.push_back(tcp_ip(9, text("b"), {.destination_port = i}));
  }
  read_frames(segments);
  LONGS_EQUAL(600, log.parts.size());
}

TEST(Pcap, AConnectionMadeAnewBeginsAnew) {
  read_frames({tcp_ip(100, {}, {}, kSyn), tcp_ip(101, text("abc")),
               tcp_ip(104, {}, {}, kFin | kAck), tcp_ip(90, {}, {}, kSyn),
               tcp_ip(91, text("def"))});
  STRCMP_EQUAL("abcdef", log.all.c_str());
  LONGS_EQUAL(0, flows.lost_bytes);
}

TEST(Pcap, AnythingAtAllIsHarmless) {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u ", seed);
  std::mt19937 random(seed);
  NgWriter ng;
  ng.interface(1);
  Writer w;
  for (std::uint32_t i = 0; i < 20; ++i) {
    const Stream packet = i % 3 == 0   ? udp_ip(Stream(i))
                          : i % 3 == 1 ? tcp_ip(100 * i, Stream(i))
                                       : ip(Stream(16), {.at = i * 8, .more = i % 2 == 0});
    ng.packet(0, ethernet(packet), i);
    w.add(ethernet(packet), kT);
  }
  for (const Stream& good : {ng.file, w.file}) {
    for (int round = 0; round < 3000; ++round) {
      Stream bad = good;
      for (unsigned n = random() % 8; n > 0; --n)
        bad[random() % bad.size()] = static_cast<std::byte>(random());
      read(bad);
    }
  }
}
