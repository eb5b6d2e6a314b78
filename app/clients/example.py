#!/usr/bin/env python3
"""Prints one line per message of a running lidard. Usage: example.py [SOCKET [MESSAGES]]"""

import itertools
import sys

import lidard


def describe(view):
    if isinstance(view, lidard.Cloud):
        text = f" {len(view)} points in {view.frame_id}"
        if len(view):
            x, y, z = view[-1][:3]
            text += f", the last at {x:.3f} {y:.3f} {z:.3f}"
        return text
    if isinstance(view, lidard.Scan):
        return f" {len(view.ranges)} ranges from {view.angle_min:.3f} to {view.angle_max:.3f} rad"
    if isinstance(view, lidard.Imu) and view.linear_acceleration:
        x, y, z = view.linear_acceleration
        return f" accel {x:.3f} {y:.3f} {z:.3f}" + (", with attitude" if view.orientation else "")
    return ""


def main(path="/run/lidard/stream.sock", messages=None):
    client = lidard.Client(path)
    for message in itertools.islice(client, int(messages) if messages else None):
        print(message.topic, message.sequence, message.log_time_ns, end="")
        print(describe(message.view()), flush=True)
    print(f"{client.messages} messages, {client.lost} lost", file=sys.stderr)


try:
    main(*sys.argv[1:])
except (OSError, lidard.Error) as error:
    sys.exit(f"example.py: {error}")
