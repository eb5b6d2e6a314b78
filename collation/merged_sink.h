// The seam between what is derived from the ordered stream and the outputs.
#pragma once

#include "collation/collated_sink.h"
#include "collation/range_data_collator.h"

namespace collation {

class MergedSink : public CollatedSink {
 public:
  using CollatedSink::add_sensor_data;
  // Of one merge in the order of its own stamps, which lie before those of its sensors that have
  // left already. The data are valid during the call only.
  virtual void add_merged_data(std::size_t merge, const MergedCloud&) = 0;

 protected:
  ~MergedSink() = default;
};

}  // namespace collation
