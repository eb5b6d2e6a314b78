// Payloads put together again from fragments, whatever a network does to them.
#include "drivers/sick_safety/reassembly.h"

#include <map>
#include <set>

#include "test/support/allocation_counter.h"
#include "test/support/framing_properties.h"
#include "test/support/stream.h"

using namespace std::chrono_literals;
using drivers::safety::Fragment;
using drivers::safety::Reassembly;
using drivers::safety::ReassemblyStats;
using test::Stream;

namespace {

Stream payload(std::uint32_t id, std::size_t size = 5000) {
  Stream out(size);
  for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<std::byte>(id * 31 + i * 7 + i / 256);
  return out;
}

}  // namespace

TEST_GROUP(SickSafetyReassembly) {
  Reassembly parts;
  hal::Time now{1000s};
  std::vector<Stream> complete;

  void add(const Stream& p, std::uint32_t id, std::size_t at, std::size_t n) {
    const Fragment fragment{id, static_cast<std::uint32_t>(p.size()),
                            static_cast<std::uint32_t>(at), hal::Bytes(p).subspan(at, n)};
    const hal::Bytes whole = parts.add(fragment, now);
    if (!whole.empty()) complete.emplace_back(whole.begin(), whole.end());
    const ReassemblyStats& s = parts.stats();
    LONGS_EQUAL(s.fragments, s.repeated + s.used + s.abandoned + parts.held());
  }
};

TEST(SickSafetyReassembly, AnyOrderGivesThePayloadOnce) {
  std::vector<unsigned> order{0, 1, 2, 3, 4};
  std::uint32_t id = 0;
  do {
    const Stream p = payload(++id);
    complete.clear();
    for (const unsigned i : order) add(p, id, i * 1000, 1000);
    LONGS_EQUAL(1, complete.size());
    CHECK_TRUE(complete[0] == p);
  } while (std::next_permutation(order.begin(), order.end()));
  LONGS_EQUAL(120, parts.stats().complete);
  LONGS_EQUAL(0, parts.stats().repeated);
}

TEST(SickSafetyReassembly, WhatIsRepeatedCountsOnceAlsoBehindTheEnd) {
  const Stream p = payload(1);
  for (const std::size_t at : {0U, 0U, 2000U, 1000U, 2000U, 3000U, 4000U, 4000U, 0U}) {
    add(p, 1, at, 1000);
  }
  LONGS_EQUAL(1, complete.size());
  LONGS_EQUAL(4, parts.stats().repeated);
  LONGS_EQUAL(0, parts.held());
}

TEST(SickSafetyReassembly, FragmentsMayOverlap) {
  const Stream p = payload(1);
  add(p, 1, 0, 1500);
  add(p, 1, 3000, 2000);
  add(p, 1, 4000, 500);  // nothing new
  add(p, 1, 1000, 2500);
  LONGS_EQUAL(1, complete.size());
  CHECK_TRUE(complete[0] == p);
  LONGS_EQUAL(1, parts.stats().repeated);
}

TEST(SickSafetyReassembly, PayloadsInterleave) {
  const Stream one = payload(1), two = payload(2, 3000);
  add(one, 1, 0, 2500);
  add(two, 2, 1500, 1500);
  add(two, 2, 0, 1500);
  add(one, 1, 2500, 2500);
  LONGS_EQUAL(2, complete.size());
  CHECK_TRUE(complete[0] == two && complete[1] == one);
}

TEST(SickSafetyReassembly, WhatStaysIncompleteIsGivenUpInTime) {
  const Stream p = payload(1);
  add(p, 1, 0, 1000);
  add(p, 1, 2000, 1000);
  now += Reassembly::kOldest + 1ns;
  add(payload(2), 2, 0, 1000);
  LONGS_EQUAL(1, parts.stats().incomplete);
  LONGS_EQUAL(3, parts.stats().missing);
  LONGS_EQUAL(2, parts.stats().abandoned);
  LONGS_EQUAL(1, parts.held());
  for (const std::size_t at : {1000U, 3000U, 4000U}) add(p, 1, at, 1000);  // too late
  LONGS_EQUAL(0, complete.size());
  LONGS_EQUAL(3, parts.stats().repeated);
}

TEST(SickSafetyReassembly, TheOldestMakesRoomForANewOne) {
  for (std::uint32_t id = 0; id < Reassembly::kSets + 1; ++id) {
    add(payload(id), id, 0, 1000);
    now += 1ms;
  }
  LONGS_EQUAL(1, parts.stats().incomplete);
  for (std::size_t at = 1000; at < 5000; at += 1000) add(payload(1), 1, at, 1000);
  LONGS_EQUAL(1, complete.size());
  add(payload(0), 0, 1000, 1000);
  LONGS_EQUAL(1, parts.stats().repeated);
}

TEST(SickSafetyReassembly, ANumberThatIsUsedAgainIsAnotherPayload) {
  add(payload(1), 1, 0, 1000);
  const Stream other = payload(9, 2000);
  add(other, 1, 0, 1000);  // the device began anew
  LONGS_EQUAL(1, parts.stats().incomplete);
  add(other, 1, 1000, 1000);
  CHECK_TRUE(complete.at(0) == other);
  now += Reassembly::kOldest + 1ns;
  add(other, 1, 0, 2000);
  LONGS_EQUAL(2, complete.size());
}

TEST(SickSafetyReassembly, CrumbsDoNotGrow) {
  const Stream p = payload(1, Reassembly::kMostPayload);
  const test::AllocationCounter counter;
  for (std::size_t at = 0; at < p.size(); at += 2) {
    const Fragment crumb{1, static_cast<std::uint32_t>(p.size()), static_cast<std::uint32_t>(at),
                         hal::Bytes(p).subspan(at, 1)};
    parts.add(crumb, now);
  }
  LONGS_EQUAL(0, counter.count());
  LONGS_EQUAL(1, parts.stats().incomplete);
  const ReassemblyStats& s = parts.stats();
  LONGS_EQUAL(s.fragments, s.repeated + s.used + s.abandoned + parts.held());
}

TEST(SickSafetyReassembly, ForgettingGivesUpWhatIsHeld) {
  add(payload(1), 1, 0, 1000);
  parts.forget();
  LONGS_EQUAL(0, parts.held());
  LONGS_EQUAL(1, parts.stats().abandoned);
  for (std::size_t at = 0; at < 5000; at += 1000) add(payload(1), 1, at, 1000);
  LONGS_EQUAL(1, complete.size());
}

// A tenth each is lost, repeated and late.
TEST(SickSafetyReassembly, EveryPayloadWhoseFragmentsAllCameComesOutOnce) {
  test::Random random(21);
  std::vector<std::pair<std::uint32_t, std::size_t>> sent, late;
  std::map<std::uint32_t, std::set<std::size_t>> came;
  for (std::uint32_t id = 0; id < 4000; ++id) {
    for (std::size_t at = 0; at < 5000; at += 1000) {
      if (random.below(10) == 0) continue;
      came[id].insert(at);
      const bool is_late = random.below(10) == 0;
      (is_late ? late : sent).emplace_back(id, at);
      if (random.below(10) == 0) sent.emplace_back(id, at);
      if (is_late || late.empty()) continue;
      sent.push_back(late.back());
      late.pop_back();
    }
  }
  std::size_t whole = 0;
  for (const auto& [id, fragments] : came) whole += fragments.size() == 5;
  for (const auto& [id, at] : late) whole -= came[id].size() == 5;
  const test::AllocationCounter counter;
  std::uint64_t allocated = 0;
  std::set<std::uint32_t> seen;
  for (const auto& [id, at] : sent) {
    const Stream p = payload(id);
    const std::size_t before = complete.size();
    const std::uint64_t count = counter.count();
    const hal::Bytes out = parts.add(
        {id, 5000, static_cast<std::uint32_t>(at), hal::Bytes(p).subspan(at, 1000)}, now += 200us);
    allocated += counter.count() - count;
    if (out.empty()) continue;
    CHECK_TRUE(Stream(out.begin(), out.end()) == p);
    CHECK_TRUE(seen.insert(id).second);
    LONGS_EQUAL(before, complete.size());
  }
  LONGS_EQUAL(0, allocated);
  LONGS_EQUAL(whole, seen.size());
  const ReassemblyStats& s = parts.stats();
  LONGS_EQUAL(sent.size(), s.fragments);
  LONGS_EQUAL(s.fragments, s.repeated + s.used + s.abandoned + parts.held());
}
