// A serial line of which the test itself is the far party, or the tap on a simulator's line.
#pragma once

#include <string>
#include <vector>

#include "hal/bytes.h"
#include "hal/unique_fd.h"
#include "test/system/process.h"

namespace test {

class PtyLine {
 public:
  explicit PtyLine(const std::string& link);  // to what the daemon opens

  void write(hal::Bytes) const;
  void connect(const std::string& device);  // what either side sends goes to the other
  void pump();                              // moves what is there now, without waiting
  const std::vector<std::byte>& from_host() const { return from_host_; }
  void forget() { from_host_.clear(); }

 private:
  hal::UniqueFd near_, device_;
  std::vector<std::byte> from_host_;
};

}  // namespace test
