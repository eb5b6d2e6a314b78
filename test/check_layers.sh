#!/bin/sh
# Includes point one way (hal <- drivers <- collation <- config <- app) and every package has one
# home. Run from anywhere; prints each offence; exit status 1 if there is one.
cd "$(dirname "$0")/.." || exit 2
bad=0
forbid() { # what, regular expression, files...
  what=$1 pattern=$2
  shift 2
  found=$(grep -rnE --include='*.h' --include='*.cpp' -- "$pattern" "$@" 2>/dev/null)
  [ -z "$found" ] && return
  printf '%s:\n%s\n' "$what" "$found"
  bad=1
}
forbid 'hal includes a layer above it' '#include "(drivers|collation|config|app|test)/' hal
forbid 'drivers includes a layer above it' '#include "(collation|config|app|test)/' drivers
forbid 'collation includes a layer above it' '#include "(config|app|test)/' collation
forbid 'config includes a layer above it' '#include "(app|test)/' config
forbid 'a simulator sees a layer above hal' '#include "(drivers|collation|config|app)/' test/sim
forbid 'app sees the tests (lidarctl alone may link test/sim)' '#include "test/' \
  $(find app -maxdepth 1 -name '*.h' -o -maxdepth 1 -name '*.cpp')
forbid 'lidarctl sees more of the tests than the simulators' \
  '#include "test/(unit|support|bench|fuzz|hil|interop)' app
forbid 'libserialport or Boost.Asio outside hal' '#include <(libserialport|boost/asio)' \
  drivers collation config app
forbid 'Eigen outside collation' '#include <Eigen' hal drivers config
forbid 'yaml-cpp outside config' '#include <yaml-cpp' hal drivers collation app
forbid 'CppUTest outside test/support' '#include [<"]CppUTest' hal drivers collation config app \
  test/unit test/hil test/sim
forbid 'CLI11 or nlohmann-json outside lidarctl' '#include <(CLI/|nlohmann)' \
  hal drivers collation config $(find app -maxdepth 1 -name '*.h' -o -maxdepth 1 -name '*.cpp')
forbid 'zstd or lz4 outside lidarctl/compression.cpp' '#include <(zstd|lz4)' hal drivers collation \
  config $(find app -name '*.h' -o -name '*.cpp' | grep -v lidarctl/compression.cpp)
for entry in *; do
  case $entry in
    app | build | collation | config | drivers | hal | test | toolchains) ;;
    CMakeLists.txt | CMakePresets.json | README.md | LICENSE | CHANGELOG.md | CONTRIBUTING.md) ;;
    *) echo "not a top-level name of this project: $entry"; bad=1 ;;
  esac
done
[ $bad -eq 0 ] && echo 'layers: fine'
exit $bad
