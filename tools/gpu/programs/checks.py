"""Says what this machine is, and which of the things that the GPU lane depends on work here. One line for each: `ok` or `FAIL`.

Arguments: the Python with PyTorch, and `gpu` or `none`. The programs of a node are those in PATH.
"""

import concurrent.futures
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

PYTHON, HAS_GPU = sys.argv[1], sys.argv[2] == "gpu"
FOLDER = os.path.dirname(os.path.abspath(__file__))
GIB = 1 << 30
# Below this much memory it is filled once: some virtual machines get theirs as they use it, and the kubelet reads its size only at its start.
ENOUGH = 24 * GIB

FACTS = {
    "kernel": "uname -r",
    "system": "grep PRETTY_NAME /etc/os-release",
    "processors": "nproc",
    "memory": "grep -E '^(MemTotal|MemAvailable|SwapTotal)' /proc/meminfo | tr '\\n' ' '",
    "disk": "df -h / | tail -n 1",
    "mounts": "grep -E '^[^ ]+ (/|/tmp|/opt|/usr|/root|/var|/run|/dev/shm) |cgroup|nvidia' /proc/mounts | cut -c -160",
    "own group": "cat /proc/self/cgroup",
    "controllers": "cat /sys/fs/cgroup/cgroup.controllers",
    "controllers for groups below": "cat /sys/fs/cgroup/cgroup.subtree_control",
    "process 1": "cat /proc/1/comm",
    "capabilities": "grep CapEff /proc/self/status",
    "addresses": "ip -brief address",
    "routes": "ip route",
    "name servers": "ls -l /etc/resolv.conf; cat /etc/resolv.conf",
    "kernel's options": "zcat /proc/config.gz | grep -E '^CONFIG_(CGROUP_BPF|OVERLAY_FS|VETH|BRIDGE|NFT_COMPAT|NF_TABLES|NFT_NAT|"
    "NETFILTER_XT_(MATCH_(COMMENT|CONNTRACK|STATISTIC|RECENT|ADDRTYPE)|TARGET_MASQUERADE|MARK))=' | tr '\\n' ' '",
    "programs": "for p in containerd runc ip iptables conntrack mount umount unshare nsenter tar xz sysctl hostname readlink ldd python3;"
    " do printf '%s=%s ' $p $(command -v $p || echo MISSING); done",
}
GPU_FACTS = {
    "GPU's files": "ls -l /dev/nvidia*",
    "driver": "head -n 1 /proc/driver/nvidia/version; ls /usr/local/nvidia /usr/local/nvidia/lib64 | tr '\\n' ' '",
    "GPU": "cat /proc/driver/nvidia/gpus/*/information; PATH=$PATH:/usr/local/nvidia/bin nvidia-smi -L",
}

# What kube-proxy, the plugin portmap and Konverge use of iptables.
RULES = """*nat
:LANE - [0:0]
-A LANE -m comment --comment "a comment" -j MARK --or-mark 0x4000
-A LANE -m mark ! --mark 0x4000/0x4000 -j RETURN
-A LANE -p tcp -m conntrack --ctstate NEW -m statistic --mode random --probability 0.5 -j RETURN
-A LANE -m recent --name KUBE-SEP --rcheck --seconds 10800 --reap -j RETURN
-A LANE -m addrtype --dst-type LOCAL -j RETURN
-A LANE -p tcp -m tcp --dport 80 -j DNAT --to-destination 10.0.0.1:80
-A POSTROUTING -s 10.201.0.0/24 ! -d 10.201.0.0/24 ! -o none -j MASQUERADE
-A LANE -j MASQUERADE --random-fully
COMMIT
*filter
:LANE - [0:0]
-A LANE -m conntrack --ctstate INVALID -j DROP
-A LANE -p udp -j REJECT
COMMIT
"""
NETWORK = """set -e
ip link set lo up
ip link add bridge0 type bridge
ip link set bridge0 up
ip address add 10.201.99.1/24 dev bridge0
unshare --net sleep 20 & other=$!
sleep 0.3
ip link add end0 type veth peer name eth0 netns $other
ip link set end0 master bridge0 up
nsenter --target $other --net ip address add 10.201.99.2/24 dev eth0
nsenter --target $other --net ip link set eth0 up
nsenter --target $other --net ip route add default via 10.201.99.1
kill $other"""
OVERLAY = """set -e
cd "$(mktemp -d)"
mkdir lower upper work merged
mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work merged
echo 1 > merged/file
umount merged"""
GROUPS = """set -e
cd /sys/fs/cgroup
if [ -e cgroup.controllers ]; then
  for one in cpuset cpu io memory pids hugetlb; do if grep -qw $one cgroup.controllers; then echo +$one > cgroup.subtree_control; fi; done
  mkdir -p konverge-check/below
  echo +memory > konverge-check/cgroup.subtree_control
  echo 1G > konverge-check/below/memory.max
  sh -c 'echo $$ > konverge-check/below/cgroup.procs'
  rmdir konverge-check/below konverge-check
else
  ls
fi"""
NAMESPACES = """unshare --fork --pid --mount --mount-proc --net --uts --ipc sh -euc '
hostname lane-check
[ "$(uname -n)" = lane-check ]
mount -n --make-rprivate /
mount -n -t tmpfs -o mode=755 tmpfs /mnt
mkdir /mnt/one
mount -n --bind /etc /mnt/one
mount -n --make-rshared /
sysctl -qw net.ipv4.ip_forward=1
[ "$(cat /proc/sys/net/ipv4/ip_forward)" = 1 ]'"""
COMPUTE = """import torch
has = torch.cuda.is_available()
x = torch.ones(4, device="cuda" if has else "cpu")
print(torch.__version__, torch.cuda.get_device_name() if has else "the processor", float((x * 2).sum()))"""


def shell(script, limit=20, given=None):
    done = subprocess.run(["sh", "-c", script], input=given, capture_output=True, text=True, timeout=limit)
    return done.returncode, (done.stdout + done.stderr).strip()


def said(script):
    try:
        return shell(script)[1].replace("\n", " | ")[:1500]
    except subprocess.TimeoutExpired:
        return "no answer"


def programs():
    versions = ["node --version", "containerd --version", "runc --version", "ctr --version", "kube-node --version"]
    versions += ["ip -V", "iptables --version", "ip6tables --version", "conntrack --version", "mount --version"]
    versions += ["unshare --version", "nsenter --version", "tar --version", "ldd --version"]
    failed = [f"{one}: {text[-200:]}" for one in versions for code, text in [shell(one)] if code != 0]
    return 1 if failed else 0, "; ".join(failed)


def rules():
    restore = "unshare --net sh -euc 'cat > /dev/null < /dev/null; iptables-restore -w 10; iptables-save | wc -l'"
    code, text = shell(restore, given=RULES)
    if code == 0:
        return code, text
    # Which of them it is.
    table, failed = "", []
    for line in RULES.splitlines():
        if line.startswith("*"):
            table = line[1:]
        elif line.startswith("-A"):
            one = f"*{table}\n:LANE - [0:0]\n{line}\nCOMMIT\n"
            code, said = shell("unshare --net iptables-restore -w 10", given=one)
            if code != 0:
                failed.append(f"{line}: {said}")
    return 1, f"{text} || " + " || ".join(failed)


def container():
    """A container as the lane's: its runtime completes what runc would start."""
    spec = importlib.util.spec_from_file_location("runtime", os.path.join(FOLDER, "machine-runtime.py"))
    runtime = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(runtime)
    bundle = tempfile.mkdtemp()
    root = os.path.join(bundle, "rootfs")
    for name in ("usr", "opt", "etc", "tmp", "proc", "sys", "dev", "run"):
        os.makedirs(os.path.join(root, name))
    for name in ("bin", "sbin", "lib", "lib64"):
        os.symlink("usr/" + name, os.path.join(root, name))
    subprocess.run(["runc", "spec"], cwd=bundle, check=True)
    file = os.path.join(bundle, "config.json")
    with open(file) as opened:
        config = json.load(opened)
    prefixes = [sys.prefix, sys.base_prefix, os.path.dirname(os.path.dirname(os.path.realpath(PYTHON)))]
    base = ["/usr", "/opt", "/etc/ld.so.cache", "/etc/alternatives", *[os.path.realpath(one) for one in prefixes]]
    base = list(dict.fromkeys(one for one in base if one in base[:4] or not one.startswith(("/usr", "/opt"))))
    variables = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "KONVERGE_BASE": ":".join(base)}
    if HAS_GPU:
        variables["NVIDIA_VISIBLE_DEVICES"] = "all"
    process = config["process"]
    process.update(terminal=False, args=[PYTHON, "-c", COMPUTE], user={"uid": 1000, "gid": 1000})
    process["env"] = [f"{name}={value}" for name, value in variables.items()]
    process["capabilities"] = {}
    config["root"] = {"path": "rootfs", "readonly": True}
    config["mounts"].append({"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["mode=1777"]})
    config["linux"]["cgroupsPath"] = "/konverge-check"
    runtime.complete(config)
    with open(file, "w") as opened:
        json.dump(config, opened)
    try:
        code, text = shell(f"cd {bundle} && runc run konverge-check", 60)
        if HAS_GPU and "processor" in text:
            code = 1
        return code, text
    finally:
        shutil.rmtree(bundle, ignore_errors=True)


def memory(name):
    with open("/proc/meminfo") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(name + ":"))


def fill_memory():
    before, held = memory("MemTotal"), []
    if before >= ENOUGH or not HAS_GPU:
        return 0, f"{before / GIB:.0f} GiB"
    waits, end = 0, time.monotonic() + 15
    while waits < 15 and time.monotonic() < end and memory("MemTotal") < 2 * ENOUGH:
        if memory("MemAvailable") > 2 * GIB:
            held.append(b"\1" * (GIB // 2))
        else:
            waits += 1
            time.sleep(0.2)
    return 0, f"{before / GIB:.1f} GiB, {memory('MemTotal') / GIB:.1f} GiB after {len(held) / 2} GiB were filled"


CHECKS = {
    "programs start": programs,
    "namespaces": lambda: shell(NAMESPACES),
    "a bridge with a link": lambda: shell(f"unshare --net sh -c '{NETWORK}'"),
    "rules": rules,
    "an overlay": lambda: shell(OVERLAY),
    "control groups": lambda: shell(GROUPS),
    "memory": fill_memory,
    "a container computes": container,
}


def check(name, work):
    begun = time.monotonic()
    try:
        code, text = work()
    except Exception as error:
        code, text = 1, f"{type(error).__name__}: {error}"
    text = text.replace("\n", " | ")[-1500:]
    print(f"{'ok' if code == 0 else 'FAIL':4} {name} ({time.monotonic() - begun:.1f} s) {text}", flush=True)
    return code == 0


def main():
    facts = {**FACTS, **(GPU_FACTS if HAS_GPU else {})}
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for name, text in zip(facts, pool.map(said, facts.values())):
            print(f"{name}: {text}", flush=True)
    sys.exit(0 if all([check(name, work) for name, work in CHECKS.items()]) else 1)


main()
