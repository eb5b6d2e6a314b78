#!/bin/sh
# Installs what building and testing needs, as far as it is missing, with apt-get (Debian 12).
# Usage: install.sh build|test
set -eu
build='g++ gcc cmake ninja-build pkg-config libserialport-dev libboost-dev libeigen3-dev libyaml-cpp-dev
  libcli11-dev nlohmann-json3-dev libzstd-dev liblz4-dev'
tests='libcpputest-dev libbenchmark-dev procps iproute2 python3-minimal libpython3-stdlib'
case "${1:-build}" in
  build) wanted=$build ;;
  test) wanted="$build $tests" ;;
  *) echo "usage: $0 build|test" >&2; exit 64 ;;
esac
missing=''
for package in $wanted; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
    missing="$missing $package"
done
[ -n "$missing" ] || exit 0
echo "Installing:$missing"
as_root=''
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || {
    echo "Packages are missing and this is neither root nor is there sudo. As root:" >&2
    echo "  apt-get install$missing" >&2
    exit 1
  }
  as_root=sudo
fi
$as_root apt-get update -qq
# shellcheck disable=SC2086  # a list of packages is meant
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
