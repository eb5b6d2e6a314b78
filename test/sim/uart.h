// What a receiver makes of bytes that were sent at another baud rate.
#pragma once

#include "test/sim/device_model.h"

namespace sim {

// 8N1, samples in the middle of each bit as a UART does; bytes with a bad stop bit are kept, as a
// raw tty keeps them. Equal rates give the bytes unchanged.
ByteVector resample(hal::Bytes sent, unsigned sender_baud, unsigned receiver_baud);

}  // namespace sim
