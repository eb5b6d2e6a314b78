#!/bin/sh
# Four simulated sensors, the real daemon and its stream, printed for ten seconds. Installs what is
# missing, configures and builds first. Exit status 0 only if every sensor streamed, the order never
# went back and the books balance. Usage: bash app/demo.sh [SECONDS]
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-10}

sh toolchains/install.sh build
cmake --preset release -B build/demo -DLIDARD_BUILD_TESTS=OFF
cmake --build build/demo --target lidard lidarctl

bin=build/demo/app
dir=$(mktemp -d)
started=''
# Ends what was started here, devices last: the daemon stops their motors first.
end() {
  for pid in $started; do kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null || true; done
  rm -rf "$dir"
}
trap end EXIT
trap 'exit 1' INT TERM
sed "s|/tmp/lidard-demo|$dir|g" config/examples/demo.yaml >"$dir/lidard.yaml"
echo "The programs are in $bin; configuration, devices and socket of this run in $dir."

simulate() { # name, arguments of lidarctl simulate
  name=$1
  shift
  "$bin/lidarctl" simulate "$@" --truth "$dir/$name.truth" >"$dir/$name.ready" &
  started="$started $!"
}
simulate front rplidar --pty "$dir/front" --set model=A1
simulate rear ldrobot --pty "$dir/rear"
if awk '$2 ~ /:1F99$/ { taken = 1 } END { exit !taken }' /proc/net/udp; then # 8089
  echo 'UDP port 8089, which the simulated network lidar binds, is taken: is another demo running?' >&2
  exit 1
fi
simulate side rplidar --udp 127.0.0.1:8089 --set model=S2E
simulate imu microstrain_mip --pty "$dir/imu"
for name in front rear side imu; do
  tries=0
  until [ -s "$dir/$name.ready" ]; do
    tries=$((tries + 1))
    [ $tries -lt 100 ] || { echo "the simulator '$name' did not start" >&2; exit 1; }
    sleep 0.1
  done
done

"$bin/lidard" --config "$dir/lidard.yaml" &
started="$! $started"
tries=0
until [ -S "$dir/stream.sock" ]; do
  tries=$((tries + 1))
  [ $tries -lt 100 ] || { echo 'lidard did not start' >&2; exit 1; }
  sleep 0.1
done

"$bin/lidarctl" monitor --socket "$dir/stream.sock" --for "$seconds" --verify \
  --truth front="$dir/front.truth" --truth rear="$dir/rear.truth" \
  --truth side="$dir/side.truth" --truth imu="$dir/imu.truth"
