// What a simulated MTi answers in its config state: who it is, and its settings.
#pragma once

#include <vector>

#include "test/sim/xsens_data.h"

namespace sim::xsens {

enum Id : unsigned {
  kReqDid = 0x00,
  kConfiguration = 0x0D,
  kGoToMeasurement = 0x10,
  kGoToConfig = 0x30,
  kData = 0x36,
  kWakeUp = 0x3E,
  kWakeUpAck = 0x3F,
  kReset = 0x40,
  kError = 0x42,
};
enum ErrorCode : unsigned {
  kInvalidMessage = 4,
  kTimerOverflow = 30,
  kBaudOutOfRange = 32,
  kBadParameter = 33,
};

// Settings are kept at once, over a loss of power, too; the line's rate is in force from then on.
class Dialogue {
 public:
  Dialogue(const ModelInfo& info, unsigned hz, unsigned baud);

  // Acknowledgement, reply or error; its bus is left to the caller.
  Message answer(const Message& message);
  ByteVector device_id(unsigned bytes) const;
  ByteVector configuration() const;

  const std::vector<Item>& items() const { return items_; }
  unsigned next_baud() const { return next_baud_; }

 private:
  Message baud(hal::Bytes data);
  Message output(hal::Bytes data);

  const ModelInfo& info_;
  std::vector<Item> items_;
  unsigned next_baud_;
};

}  // namespace sim::xsens
