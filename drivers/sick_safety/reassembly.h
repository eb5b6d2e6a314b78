// Puts payloads together again that were sent in fragments: lost, repeated and reordered ones, in
// bounded memory and time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "hal/bytes.h"
#include "hal/time.h"

namespace drivers::safety {

struct Fragment {
  std::uint32_t id = 0;      // of the payload
  std::uint32_t total = 0;   // its length
  std::uint32_t offset = 0;  // of these bytes in it; they lie within `total`
  hal::Bytes bytes{};        // at least one
};

// fragments = repeated + used + abandoned + those of payloads that are held. Counters only grow.
struct ReassemblyStats {
  std::uint64_t fragments = 0;
  std::uint64_t repeated = 0;   // nothing new, or their payload is complete or given up
  std::uint64_t used = 0;       // of complete payloads
  std::uint64_t abandoned = 0;  // of payloads that were given up
  std::uint64_t complete = 0, incomplete = 0;  // payloads; incomplete: given up
  std::uint64_t missing = 0;  // fragments that never came, of payloads that were given up
};

class Reassembly {
 public:
  // Of every block at its largest: 2751 beams, 24 sets of intrusions.
  static constexpr std::size_t kMostPayload = 24 * 1024;
  // Payloads in the making. When another begins, the oldest is given up.
  static constexpr std::size_t kSets = 8;
  // A payload whose first fragment came so long ago is given up. The fragments of a scan follow
  // each other within milliseconds.
  static constexpr hal::Duration kOldest = std::chrono::milliseconds(500);

  Reassembly();

  // The payload that this fragment completes, else empty. Valid until the next call. `at` does not
  // decrease.
  hal::Bytes add(const Fragment&, hal::Time at);
  // Gives up what is held.
  void forget();
  const ReassemblyStats& stats() const { return stats_; }
  std::size_t held() const;  // fragments of payloads in the making

 private:
  struct Part {
    std::uint32_t begin, end;
  };
  struct Set {
    bool is_free = true;
    std::uint32_t id = 0, total = 0;
    hal::Time began{};
    std::uint32_t fragments = 0, longest = 0;  // so far; bytes of the longest
    std::size_t parts = 0;
    std::array<Part, 32> part{};  // what is there: apart, in order
    std::array<std::byte, kMostPayload> payload;
  };
  struct Gone {
    std::uint32_t id = 0, total = 0;
    hal::Time at = hal::Time::min();
  };
  enum class Cover : std::uint8_t { added, covered, too_many_parts };

  Set* find(const Fragment&);
  Set& begin(const Fragment&, hal::Time at);
  bool is_gone(const Fragment&, hal::Time at) const;
  static Cover cover(Set&, std::uint32_t begin, std::uint32_t end);
  void end(Set&, hal::Time at);
  void give_up(Set&, hal::Time at);

  std::unique_ptr<std::array<Set, kSets>> sets_;
  std::array<Gone, 2 * kSets> gone_{};  // payloads that ended last
  std::size_t next_gone_ = 0;
  ReassemblyStats stats_;
};

}  // namespace drivers::safety
