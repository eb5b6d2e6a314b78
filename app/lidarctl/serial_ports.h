// Which serial ports this machine has, and what is plugged in there, as sysfs and /dev tell.
#pragma once

#include <string>
#include <vector>

namespace lidarctl {

struct SerialPort {
  std::string path;                            // "/dev/ttyUSB0"
  std::string driver;                          // of the kernel: "cp210x"
  std::string vendor_id, product_id;           // USB, hexadecimal; empty: not USB
  std::string vendor, product, serial_number;  // as the device tells; may be empty
  std::string by_id, by_path;                  // links that stay when it is plugged anew
  std::vector<std::string> other_links;        // "/dev/lidar0"
  std::string holder;                          // "gpsd (pid 412)"; empty: nobody seen

  // What belongs in a configuration: a name of the user's own, by identity, by place, or its path.
  const std::string& best_name() const;
};

// Sorted by path; ports without hardware are left out. `sysfs` and `dev`: "/sys", "/dev".
std::vector<SerialPort> serial_ports(const std::string& sysfs, const std::string& dev);

}  // namespace lidarctl
