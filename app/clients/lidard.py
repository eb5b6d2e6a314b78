"""Reads the stream of lidard: Python 3.8 or later, its standard library alone.

    import lidard
    for message in lidard.Client("/run/lidard/stream.sock"):
        view = message.view()
        if isinstance(view, lidard.Cloud):
            for x, y, z, intensity, time in view:
                ...

The stream is MCAP with ROS 2 messages in CDR. What was kept for those who come later (poses,
configuration, state) comes first, then everything in order of log time. Who reads too slowly loses
the oldest messages; Client.lost counts them. Messages are whole and stay valid.
"""

import math
import socket
import struct
import time

LONGEST_RECORD = 64 << 20  # bytes; a longer one is no stream of lidard
_MAGIC = b"\x89MCAP0\r\n"


class Error(Exception):
    """The stream has ended, or is none."""


class Message:
    """What a topic told: `data` is CDR; times are Unix, in ns."""

    __slots__ = ("topic", "type", "sequence", "log_time_ns", "publish_time_ns", "data")

    def __init__(self, topic, type_, sequence, log_time_ns, publish_time_ns, data):
        self.topic = topic  # "/front/points"
        self.type = type_  # "sensor_msgs/msg/PointCloud2"
        self.sequence = sequence  # counts what the topic's source produced: a gap is a loss
        self.log_time_ns = log_time_ns  # when it was measured
        self.publish_time_ns = publish_time_ns  # when it was sent
        self.data = data

    def view(self):
        """A Cloud, Scan, Imu or Diagnostics; None for messages of other types."""
        kind = _VIEWS.get(self.type)
        return kind(self.data) if kind else None


class Client:
    """Iterates over messages. With `reconnect` it outlives the daemon, and `on_change` is called
    with words whenever the connection is lost or back; without, Error is raised at the end."""

    def __init__(self, path="/run/lidard/stream.sock", reconnect=False, on_change=None):
        self.path = path
        self.messages = 0
        self.lost = 0  # by the numbers of their channels
        self._reconnect = reconnect
        self._on_change = on_change or (lambda words: None)
        self._socket = None
        if not reconnect:
            self._connect()

    def close(self):
        if self._socket:
            self._socket.close()
        self._socket = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __iter__(self):
        while True:
            try:
                if self._socket is None:
                    self._connect()
                    self._on_change(f"{self.path}: connected")
                yield from self._read_messages()
            except (OSError, Error) as error:
                self.close()
                if not self._reconnect:
                    raise
                self._on_change(f"{error}; trying again")
                time.sleep(1)

    def _connect(self):
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(self.path)
        except OSError as error:
            connection.close()
            raise OSError(error.errno, f"{self.path}: {error.strerror}") from None
        self._socket = connection

    def _read_messages(self):
        schemas, channels, sequences = {}, {}, {}
        with self._socket.makefile("rb", buffering=1 << 16) as stream:
            if _exactly(stream, len(_MAGIC)) != _MAGIC:
                raise Error(f"{self.path}: this is no MCAP")
            while True:
                opcode, length = struct.unpack("<BQ", _exactly(stream, 9))
                if length > LONGEST_RECORD:
                    raise Error(f"{self.path}: a record is too long")
                record = _exactly(stream, length)
                if opcode == 3:  # schema
                    schemas[struct.unpack_from("<H", record)[0]] = _text(record, 2)
                elif opcode == 4:  # channel
                    number, schema = struct.unpack_from("<HH", record)
                    channels[number] = (_text(record, 4), schemas.get(schema, ""))
                elif opcode == 5:  # message
                    number, sequence, log_time, publish_time = struct.unpack_from("<HIQQ", record)
                    topic, type_ = channels[number]
                    before = sequences.get(number, 0)
                    if before and sequence > before + 1:
                        self.lost += sequence - before - 1
                    sequences[number] = sequence
                    self.messages += 1
                    yield Message(topic, type_, sequence, log_time, publish_time, record[22:])


def _exactly(stream, n):
    data = stream.read(n)
    if len(data) < n:
        raise Error("the stream has ended")
    return data


def _text(record, at):
    (size,) = struct.unpack_from("<I", record, at)
    return record[at + 4 : at + 4 + size].decode()


class _Cdr:
    """Numbers are aligned to their size, counted from behind the first 4 bytes."""

    def __init__(self, data):
        self.data, self.at = data, 4

    def take(self, format_):
        size = struct.calcsize("<" + format_[-1])
        self.at += -(self.at - 4) % size
        values = struct.unpack_from("<" + format_, self.data, self.at)
        self.at += struct.calcsize("<" + format_)
        return values if len(values) > 1 else values[0]

    def text(self):
        size = self.take("I")
        value = bytes(self.data[self.at : self.at + size - 1]).decode()
        self.at += size
        return value

    def floats(self):
        n = self.take("I")
        return self.take(f"{n}f") if n > 1 else (self.take("f"),) * n

    def raw(self):
        size = self.take("I")
        value = memoryview(self.data)[self.at : self.at + size]
        self.at += size
        return value

    def header(self):
        seconds, nanoseconds = self.take("iI")
        return seconds * 1_000_000_000 + nanoseconds, self.text()


class Cloud:
    """Iterates over points as tuples in the order of `fields`: x, y, z in m, intensity (the device's
    own number), time in s relative to the stamp, and of merged clouds origin (which lidar)."""

    def __init__(self, data):
        cdr = _Cdr(data)
        self.stamp_ns, self.frame_id = cdr.header()
        height, width = cdr.take("II")
        self._count = height * width
        self.fields, format_, end = [], "<", 0
        for _ in range(cdr.take("I")):
            name, offset, kind = cdr.text(), cdr.take("I"), cdr.take("B")
            cdr.take("I")
            self.fields.append(name)
            format_ += f"{offset - end}x" + _POINT_FIELDS[kind]
            end = offset + struct.calcsize("<" + _POINT_FIELDS[kind])
        cdr.take("B")
        step = cdr.take("I")
        cdr.take("I")
        self._points = cdr.raw()
        self._struct = struct.Struct(format_ + f"{step - end}x")

    def __len__(self):
        return self._count

    def __iter__(self):
        return self._struct.iter_unpack(self._points)

    def __getitem__(self, i):
        return self._struct.unpack_from(self._points, range(self._count)[i] * self._struct.size)


class Scan:
    """Ranges in m from angle_min on, counter-clockwise, in rad; inf: nothing in reach."""

    def __init__(self, data):
        cdr = _Cdr(data)
        self.stamp_ns, self.frame_id = cdr.header()
        (
            self.angle_min,
            self.angle_max,
            self.angle_increment,
            self.time_increment,
            self.scan_time,
            self.range_min,
            self.range_max,
        ) = cdr.take("7f")
        self.ranges = cdr.floats()
        self.intensities = cdr.floats()


class Imu:
    """orientation (x, y, z, w), angular_velocity in rad/s, linear_acceleration in m/s^2 with gravity
    in it; None: not known."""

    def __init__(self, data):
        cdr = _Cdr(data)
        self.stamp_ns, self.frame_id = cdr.header()
        self.orientation = self._known(cdr, "4d")
        self.angular_velocity = self._known(cdr, "3d")
        self.linear_acceleration = self._known(cdr, "3d")

    @staticmethod
    def _known(cdr, format_):
        vector, covariance = cdr.take(format_), cdr.take("9d")
        return None if covariance[0] == -1 or math.isnan(vector[0]) else vector


class Diagnostics:
    """`statuses`: (level, name, message, {key: value}) of each; level 0 ok, 1 warning, 2 error."""

    def __init__(self, data):
        cdr = _Cdr(data)
        self.stamp_ns, _ = cdr.header()
        self.statuses = []
        for _ in range(cdr.take("I")):
            level, name, message = cdr.take("B"), cdr.text(), cdr.text()
            cdr.text()
            values = {cdr.text(): cdr.text() for _ in range(cdr.take("I"))}
            self.statuses.append((level, name, message, values))


_POINT_FIELDS = {1: "b", 2: "B", 3: "h", 4: "H", 5: "i", 6: "I", 7: "f", 8: "d"}
_VIEWS = {
    "sensor_msgs/msg/PointCloud2": Cloud,
    "sensor_msgs/msg/LaserScan": Scan,
    "sensor_msgs/msg/Imu": Imu,
    "diagnostic_msgs/msg/DiagnosticArray": Diagnostics,
}
