// The seam between collation and everything that consumes the ordered stream.
#pragma once

#include "collation/cloud.h"
#include "collation/imu_aligner.h"
#include "collation/message.h"
#include "drivers/packet.h"

namespace collation {

// Called in collated order. The data are valid during the call only. The sink does not call back
// into the collator.
class CollatedSink {
 public:
  virtual void add_sensor_data(drivers::SensorId, const TimedPointCloud&) = 0;
  virtual void add_sensor_data(drivers::SensorId, const ImuData&) = 0;
  virtual void add_sensor_data(drivers::SensorId, const OpaqueMessage&) = 0;

 protected:
  ~CollatedSink() = default;
};

}  // namespace collation
