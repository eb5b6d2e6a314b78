"""As much of rclpy's interface as the bridge to ROS 2 uses, and a run of the bridge on it: prints
what would be published. Usage: stub.py FOLDER_OF_THE_BRIDGE SOCKET SECONDS"""

import collections
import json
import sys
import threading
import time
import types

folder, path, seconds = sys.argv[1:]
published = collections.Counter()
qualities, types_, said = {}, {}, []


class QoSProfile:
    def __init__(self, *, depth, reliability=None, durability=None):
        self.depth, self.reliability, self.durability = depth, reliability, durability


class Publisher:
    def __init__(self, topic):
        self.topic = topic

    def publish(self, data):
        assert isinstance(data, bytes) and data[:2] == b"\x00\x01"
        published[self.topic] += 1


class Logger:
    def info(self, words):
        said.append(words)

    warning = info


class Node:
    def create_publisher(self, class_, topic, quality):
        qualities[topic] = [quality.depth, quality.reliability, quality.durability]
        types_[topic] = class_.__name__
        return Publisher(topic)

    def get_logger(self):
        return Logger()


def module(name, **contents):
    sys.modules[name] = types.ModuleType(name)
    for key, value in contents.items():
        setattr(sys.modules[name], key, value)
    return sys.modules[name]


running = True
policy = collections.namedtuple("Policy", "RELIABLE BEST_EFFORT TRANSIENT_LOCAL")
policies = policy("reliable", "best effort", "transient local")
rclpy = module(
    "rclpy",
    init=lambda: None,
    create_node=lambda name: Node(),
    ok=lambda: running,
    spin=lambda node: time.sleep(float(seconds)),
    try_shutdown=lambda: None,
)
rclpy.qos = module(
    "rclpy.qos", QoSProfile=QoSProfile, ReliabilityPolicy=policies, DurabilityPolicy=policies
)
for package, names in {
    "sensor_msgs": ["PointCloud2", "LaserScan", "Imu"],
    "tf2_msgs": ["TFMessage"],
}.items():  # diagnostic_msgs is not installed here
    module(package)
    module(package + ".msg", **{name: type(name, (), {}) for name in names})

sys.path.insert(0, folder)
import lidard_ros2  # noqa: E402

sys.argv = ["lidard_ros2.py", path]
lidard_ros2.main()
print(json.dumps({"published": published, "qualities": qualities, "types": types_, "said": said}))
