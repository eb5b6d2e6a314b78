// Names and definitions of the ROS 2 messages that lidard writes, as MCAP wants them: encoding
// `ros2msg`, every type that is used follows after a line of 80 '='.
#pragma once

#include <string_view>

namespace app {

inline constexpr std::string_view kSchemaEncoding = "ros2msg";
inline constexpr std::string_view kMessageEncoding = "cdr";

struct MessageType {
  std::string_view name, definition;
  std::string_view schema_encoding = kSchemaEncoding, encoding = kMessageEncoding;
};

inline constexpr std::string_view kProfile = "ros2";
// Metadata that the profile wants with every channel.
inline constexpr std::string_view kQosKey = "offered_qos_profiles";

extern const MessageType kPointCloud2Type;
extern const MessageType kLaserScanType;
extern const MessageType kImuType;
extern const MessageType kMagneticFieldType, kFluidPressureType, kTemperatureType;
extern const MessageType kDiagnosticArrayType;
extern const MessageType kTfMessageType;

}  // namespace app
