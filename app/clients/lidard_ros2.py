#!/usr/bin/env python3
"""Republishes the stream of lidard in ROS 2, byte for byte, under its topics; needs no build.

    ros2 run --prefix python3 ...   # not needed: source ROS 2, then
    python3 lidard_ros2.py [SOCKET]

Sensor data go out best-effort, as subscribers of sensors ask; poses and configuration transient
local, so that who comes later gets them. It outlives the daemon, and says what was lost.
"""

import importlib
import sys
import threading

import rclpy
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

import lidard

LATCHED = ("/tf_static", "/diagnostics", "/lidard/configuration")


def quality(topic):
    if topic in LATCHED:
        return QoSProfile(
            depth=1,
            reliability=ReliabilityPolicy.RELIABLE,
            durability=DurabilityPolicy.TRANSIENT_LOCAL,
        )
    if topic.startswith("/lidard/"):
        return QoSProfile(depth=50, reliability=ReliabilityPolicy.RELIABLE)
    return QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)


def message_class(type_):
    package, _, name = type_.split("/")
    return getattr(importlib.import_module(f"{package}.msg"), name)


def republish(node, client):
    """Until ROS ends. Types that this ROS does not have are named once and left out."""
    publishers, lost = {}, 0
    for message in client:
        if not rclpy.ok():
            return
        if message.topic not in publishers:
            try:
                class_ = message_class(message.type)
                publishers[message.topic] = node.create_publisher(
                    class_, message.topic, quality(message.topic)
                )
            except (ImportError, AttributeError, ValueError):
                publishers[message.topic] = None
                node.get_logger().warning(f"{message.topic}: no type {message.type} here, left out")
        if publishers[message.topic]:
            publishers[message.topic].publish(message.data)
        if client.lost > lost:
            node.get_logger().warning(f"{client.lost - lost} messages lost: this program is too slow")
            lost = client.lost


def main():
    rclpy.init()
    node = rclpy.create_node("lidard")
    path = sys.argv[1] if len(sys.argv) > 1 else "/run/lidard/stream.sock"
    client = lidard.Client(path, reconnect=True, on_change=node.get_logger().info)
    threading.Thread(target=republish, args=(node, client), daemon=True).start()
    try:
        rclpy.spin(node)
    except KeyboardInterrupt:
        pass
    rclpy.try_shutdown()


if __name__ == "__main__":
    main()
