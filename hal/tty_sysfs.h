// What sysfs tells of a terminal device. `sysfs` is kSysfs, or a made-up tree in tests.
#pragma once

namespace hal {

inline constexpr const char* kSysfs = "/sys";

// Driven by a serial core driver: bytes come one by one. USB adapters deliver bundles.
bool is_true_uart(const char* sysfs, const char* tty);

// A device that speaks USB itself (CDC ACM): its bytes pass no serial line.
bool is_usb_itself(const char* sysfs, const char* tty);

// Sets the timer after which a USB adapter delivers an incomplete bundle to 1 ms. Returns what it
// is then in ms, 0 where there is none.
int lower_latency_timer(const char* sysfs, const char* tty);

}  // namespace hal
