// What people read about the keys, made from the table of keys and from those of the drivers.
#pragma once

#include <string>

namespace config {

// config/examples/every_key.yaml: every key with its default or an example. Loads without a fault.
std::string every_key_yaml();

// config/man/lidard.yaml.5.
std::string keys_troff();

}  // namespace config
