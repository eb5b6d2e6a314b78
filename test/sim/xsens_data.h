// The models of MTi devices, and the items of MTData2 that they send.
#pragma once

#include <vector>

#include "test/sim/motion.h"
#include "test/sim/xsens_wire.h"

namespace sim::xsens {

inline constexpr std::int64_t kTickNs = 100'000;  // of SampleTimeFine
inline constexpr unsigned kAccompanies = 0xFFFF;  // a frequency: with every message

struct ModelInfo {
  const char* name;
  const char* product_code;
  unsigned did_bytes;  // 4: 10- and 100-series, 8: 1- and 600-series
  unsigned base_hz;    // of its fastest data
  bool has_orientation, has_gnss;
  std::uint64_t wraps_at;  // ticks of SampleTimeFine
};
const ModelInfo& model_of(std::string_view name);
inline constexpr const char* kModels =
    "MTi-1|MTi-3|MTi-30|MTi-100|MTi-300|MTi-G-710|MTi-610|MTi-630";

struct Item {
  unsigned id = 0;  // with the nibble of its format
  unsigned hz = 0;
};

struct Sample {
  Motion motion;
  std::int64_t device_ns = 0;
  unsigned counter = 0;
  std::uint64_t fine = 0;  // SampleTimeFine, wrapped
  unsigned status = 0;
  double interval_s = 0.01;  // of the integrals
  bool is_whole = true;      // false: of a strapdown interval that had begun before measuring
};

// Rate at which the model sends an item that it was asked for at `hz`, perhaps less; 0: it has no
// such item. kAccompanies for what accompanies every message.
unsigned rate_of(const ModelInfo& model, unsigned id, unsigned hz);
// Identifier, size, payload; nothing where a sample that is not whole has none.
void put_item(ByteVector& to, const Item& item, const Sample& sample);

}  // namespace sim::xsens
