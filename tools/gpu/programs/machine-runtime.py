#!/usr/bin/env python3
"""runc for a machine without images: containers can have files of the machine itself, and its NVIDIA GPUs.

It is called as runc is, and calls runc. Before a container is created, its bundle is completed:

- KONVERGE_BASE in the container's environment is a list of the machine's paths, separated by colons: those that exist are mounted
  read-only at the same place. An image that names /usr and /opt contains hardly anything itself.
- NVIDIA_VISIBLE_DEVICES, which the device plugin sets, names GPUs by UUID or index, or `all`: the container gets their device
  files and the driver's libraries, as nvidia-container-runtime does it.
"""

import json
import os
import re
import shutil
import stat
import sys

# Where drivers are that are no part of the machine's own packages.
DRIVER = "/usr/local/nvidia"
NO_GPU = ("", "void", "none")


def environment(process):
    return dict(one.split("=", 1) for one in process.get("env", []) if "=" in one)


def base_mounts(paths):
    found = [path for path in paths.split(":") if path.startswith("/") and os.path.exists(path)]
    return [{"destination": path, "type": "bind", "source": path, "options": ["rbind", "ro"]} for path in found]


def gpu_files(visible, dev="/dev", proc="/proc/driver/nvidia/gpus"):
    """The device files of a driver that all GPUs share, and those of the visible ones."""
    files = sorted(name for name in os.listdir(dev) if name.startswith("nvidia"))
    files = [os.path.join(dev, name) for name in files]
    files = [path for path in files if stat.S_ISCHR(os.stat(path).st_mode)]
    wanted = visible.split(",")
    minors = {}
    for gpu in os.listdir(proc) if os.path.isdir(proc) else []:
        with open(os.path.join(proc, gpu, "information")) as file:
            text = file.read()
        uuid, minor = re.search(r"GPU UUID:\s*(\S+)", text), re.search(r"Device Minor:\s*(\d+)", text)
        if uuid and minor:
            minors[uuid[1]] = minor[1]

    def is_visible(path):
        minor = re.fullmatch(r"nvidia(\d+)", os.path.basename(path))
        # Without the table of GPUs, no UUID can be told from another.
        if not minor or "all" in wanted or not minors:
            return True
        return minor[1] in wanted or any(uuid in wanted for uuid, number in minors.items() if number == minor[1])

    return [path for path in files if is_visible(path)]


def add_gpus(config, files):
    linux = config.setdefault("linux", {})
    devices, rules = linux.setdefault("devices", []), linux.setdefault("resources", {}).setdefault("devices", [])
    known = {one["path"]: one for one in devices}
    for path in files:
        found = os.stat(path)
        numbers = {"type": "c", "major": os.major(found.st_rdev), "minor": os.minor(found.st_rdev)}
        # Whatever the machine's own permissions are: users of containers are not its users.
        if path in known:
            known[path]["fileMode"] = 0o666
        else:
            devices.append({"path": path, "fileMode": 0o666, "uid": 0, "gid": 0, **numbers})
        rules.append({"allow": True, "access": "rwm", **numbers})


def add_driver(config, driver=DRIVER):
    libraries = os.path.join(driver, "lib64")
    if not os.path.isdir(libraries):
        return
    mounts, process = config.setdefault("mounts", []), config["process"]
    if not any(driver.startswith(one["destination"] + "/") for one in mounts if "rbind" in one.get("options", [])):
        mounts.insert(0, {"destination": driver, "type": "bind", "source": driver, "options": ["rbind", "ro"]})
    before = environment(process).get("LD_LIBRARY_PATH", "")
    others = [one for one in process["env"] if not one.startswith("LD_LIBRARY_PATH=")]
    process["env"] = others + ["LD_LIBRARY_PATH=" + ":".join(one for one in (before, libraries) if one)]


def complete(config):
    variables = environment(config["process"])
    # First: volumes can be mounted into what comes from the machine.
    config["mounts"] = base_mounts(variables.get("KONVERGE_BASE", "")) + config.get("mounts", [])
    visible = variables.get("NVIDIA_VISIBLE_DEVICES", "")
    if visible not in NO_GPU:
        add_gpus(config, gpu_files(visible))
        add_driver(config)


def main(words):
    if "create" in words and "--bundle" in words:
        file = os.path.join(words[words.index("--bundle") + 1], "config.json")
        with open(file) as opened:
            config = json.load(opened)
        complete(config)
        with open(file, "w") as opened:
            json.dump(config, opened)
    runc = shutil.which("runc")
    if not runc:
        sys.exit("runc is not in PATH")
    os.execv(runc, [runc, *words])


if __name__ == "__main__":
    main(sys.argv[1:])
