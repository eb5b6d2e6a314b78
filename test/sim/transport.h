// How a simulated device meets the host: a pty, a UDP socket or a TCP listener. Never blocks.
#pragma once

#include <poll.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hal/bytes.h"
#include "hal/result.h"
#include "test/sim/device_model.h"

namespace sim {

class Transport {
 public:
  using Sink = std::function<void(hal::Bytes)>;

  virtual ~Transport() = default;

  // Plugged in and pulled out; open() after close() comes back at the same address.
  virtual hal::Status open() = 0;
  virtual void close() = 0;

  // What to wait for. A pty that nobody has open is asked again by time, not by poll().
  virtual void add_polls(std::vector<pollfd>& polls) const = 0;

  // One call of `sink` per datagram or portion. Of many clients one is read at a time: its replies
  // leave before another asks.
  virtual void read(const Sink& sink) = 0;

  // Sends to whoever listens; what nobody takes is lost, as on a wire. A reply goes to the last
  // one that asked, a datagram to whom `way` names.
  virtual void write(hal::Bytes bytes, const Way& way, bool is_reply) = 0;

  virtual std::string address() const = 0;  // for the ready line

  // Baud rate that the host has set, 0 = cannot be known.
  virtual unsigned host_baud() const { return 0; }
};

// `link` becomes a symbolic link to the far end; an old symbolic link there is replaced.
std::unique_ptr<Transport> make_pty(const std::string& link);
// `bind` and `to` are HOST:PORT; `to` may be empty: then data go to the last sender.
std::unique_ptr<Transport> make_udp(const std::string& bind, const std::string& to);
std::unique_ptr<Transport> make_tcp(const std::string& bind);

}  // namespace sim
