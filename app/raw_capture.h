// The `capture` key: all that the ports and the clock said, to a file that a replay can read. A
// child process writes the file, so that no disk ever holds the daemon up.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "app/mcap_stream.h"
#include "hal/capture.h"

namespace app {

inline constexpr std::string_view kRawTopic = "raw";
inline constexpr std::string_view kRawEncoding = "lidard-raw";
// `sensor` of the input socket's records; its `channel` is the place of the connection.
inline constexpr std::uint8_t kInputSocket = 255;
inline constexpr std::string_view kConfigurationName = "lidard.yaml";

class RawCapture final : public hal::Tap {
 public:
  // Forks: to be made before any device or socket is opened. `configuration`: text of the file,
  // attached to the capture.
  static hal::Result<std::unique_ptr<RawCapture>> begin(hal::EventLoop& loop,
                                                        const std::string& path,
                                                        const std::string& configuration);
  ~RawCapture();

  void on_record(const hal::RawRecord&) override;
  void flush();                    // at the end of a pass
  void close();                    // the run is over: nothing more is recorded
  void end(hal::Duration within);  // the child gets the rest and closes the file

  // Records that the child was too slow for: the capture has a hole there.
  std::uint64_t dropped() const;

 private:
  RawCapture(hal::EventLoop& loop, pid_t child);

  McapStream stream_;
  std::uint16_t channel_ = 0;
  bool is_closed_ = false;
  pid_t child_;
};

}  // namespace app
