#!/bin/sh
# Runs the GPU lane of Konverge on this machine, with the programs beside this file where the machine has none of its own.
#
#   run [--preflight] [arguments of `npm run test:gpu --`]
#
# --preflight runs only the scenarios that all others depend on: a node, the device plugin, and a pod that computes on the GPU.
# Into the folder $OUT (default: results, beside this file) come what is measured, the output, and the logs of the node and its pods.
# After $KONVERGE_LANE_SECONDS (default: 540) in all, the lane is ended, with what it has until then.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bin=$here/bin repository=$here/repository
export OUT="${OUT:-$here/results}"
[ "$(id -u)" = 0 ] || { echo "the GPU lane needs root: run this with sudo" >&2; exit 1; }
mkdir -p "$OUT" "$bin" "$here/sums"
if [ -z "${KONVERGE_LANE_OUTPUT:-}" ]; then
  export KONVERGE_LANE_OUTPUT="$OUT/output.log"
  { status=0; sh "$here/run" "$@" || status=$?; echo "$status" > "$here/status"; } 2>&1 | tee "$KONVERGE_LANE_OUTPUT"
  exit "$(cat "$here/status")"
fi
begun=$(date +%s)
step() { echo "[$(($(date +%s) - begun)) s] $*"; }
only=
if [ "${1:-}" = --preflight ]; then
  shift
  only='advertises the GPU|a pod computes'
fi

# A machine may lack even xz: the archive's own is not compressed.
step "unpacking"
xz=$(command -v xz || true)
if [ -z "$xz" ]; then
  printf '#!/bin/sh\nexec env LD_LIBRARY_PATH=%s %s "$@"\n' "$here/packed" "$here/packed/xz" > "$bin/xz"
  chmod 755 "$here/packed/xz" "$bin/xz"
  xz=$bin/xz
fi
# Each file is unpacked again when it has changed.
unpack() {
  name=${1##*/} sum=$(cksum < "$1")
  [ "$(cat "$here/sums/$name" 2>/dev/null)" != "$sum" ] || return 0
  case $name in
    code.tar.xz) rm -rf "$repository"; mkdir "$repository"; "$xz" -dc "$1" | tar -xf - -C "$repository" ;;
    system.tar.xz) rm -rf "$here/system"; mkdir "$here/system"; "$xz" -dc "$1" | tar -xf - -C "$here/system" ;;
    *.xz) rm -f "$bin/${name%.xz}"; "$xz" -dc "$1" > "$bin/${name%.xz}"; chmod 755 "$bin/${name%.xz}" ;;
  esac
  echo "$sum" > "$here/sums/$name"
}
jobs=
for file in "$here"/packed/*.xz; do unpack "$file" & jobs="$jobs $!"; done
for job in $jobs; do wait "$job"; done

# Programs of the archive with libraries of their own, beside those of the machine.
libraries=$here/system/lib
wrap() {
  printf '#!/bin/sh\nLD_LIBRARY_PATH=%s XTABLES_LIBDIR=%s exec %s "$@"\n' "$libraries" "$libraries/xtables" "$2" > "$bin/$1"
  chmod 755 "$bin/$1"
}
for name in ip conntrack mount umount unshare nsenter; do wrap "$name" "$here/system/bin/$name"; done
for name in iptables iptables-save iptables-restore ip6tables ip6tables-save ip6tables-restore; do
  wrap "$name" "$here/system/bin/xtables-nft-multi $name"
done
# Without the machine's libseccomp, runc gets the one of the archive.
if ! "$bin/runc" --version > /dev/null 2>&1; then
  mv "$bin/runc" "$here/system/bin/runc"
  wrap runc "$here/system/bin/runc"
fi
cat > "$bin/sysctl" <<'S'
#!/bin/sh
# What Konverge uses of sysctl: -qw KEY=VALUE.
for word; do case $word in *=*) echo "${word#*=}" > "/proc/sys/$(echo "${word%%=*}" | tr . /)" ;; esac; done
S
printf '#!/bin/sh\n[ $# = 0 ] && exec cat /proc/sys/kernel/hostname\necho "$1" > /proc/sys/kernel/hostname\n' > "$bin/hostname"
chmod 755 "$bin/sysctl" "$bin/hostname"

# Where the daemons of a node look: links for what the machine lacks, removed at the end.
export TMPDIR="$here/tmp"
links= copying=
clean_up() {
  [ -z "$copying" ] || kill "$copying" 2> /dev/null || true
  for link in $links; do rm -f "$link"; done
  umount "$TMPDIR" 2> /dev/null || true
  rm -rf "$TMPDIR"
}
trap clean_up EXIT
trap 'exit 130' INT TERM
PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
mkdir -p /usr/local/sbin "$TMPDIR"
for name in containerd containerd-shim-runc-v2 ctr runc ip conntrack sysctl hostname mount umount unshare nsenter \
  iptables iptables-save iptables-restore ip6tables ip6tables-save ip6tables-restore; do
  command -v "$name" > /dev/null || { ln -sf "$bin/$name" "/usr/local/sbin/$name"; links="$links /usr/local/sbin/$name"; }
done
# The programs of the machine come first where it has them.
for name in mount umount unshare nsenter; do [ -L "/usr/local/sbin/$name" ] || rm -f "$bin/$name"; done
if ! [ -e /opt/cni/bin ] && ! [ -e /usr/lib/cni/ptp ]; then
  mkdir -p /opt/cni "$here/cni"
  for name in ptp host-local portmap loopback; do ln -sf "$bin/$name" "$here/cni/$name"; done
  ln -sfn "$here/cni" /opt/cni/bin
  links="$links /opt/cni/bin"
fi

# Where Konverge looks for what was built.
cache=$here/cache/konverge
version=$(cat "$here/system/kubernetes-version") plugin=$(cat "$here/system/device-plugin-version")
mkdir -p "$cache/real/$version" "$cache/gpu/$plugin"
for name in kubelet kube-proxy; do ln -f "$bin/kube-node" "$cache/real/$version/$name"; done
cp "$here/system/pause.tar" "$cache/real/$version/"
ln -f "$bin/nvidia-device-plugin" "$cache/gpu/$plugin/nvidia-device-plugin"
export XDG_CACHE_HOME="$here/cache" PATH="$bin:$PATH"
export NODE_COMPILE_CACHE="$here/cache/compiled"

# containerd keeps layers in folders that overlayfs must accept: not those of another overlay.
overlay_works() {
  mkdir -p "$TMPDIR/try/lower" "$TMPDIR/try/upper" "$TMPDIR/try/work" "$TMPDIR/try/merged"
  layers="lowerdir=$TMPDIR/try/lower,upperdir=$TMPDIR/try/upper,workdir=$TMPDIR/try/work"
  mount -t overlay overlay -o "$layers" "$TMPDIR/try/merged" && umount "$TMPDIR/try/merged"
}
if ! overlay_works; then
  step "no overlay can be made in $TMPDIR: a tmpfs takes its place"
  mount -t tmpfs -o mode=1777 tmpfs "$TMPDIR"
fi
rm -rf "$TMPDIR/try"
ip link set lo up || true

cd "$repository"
step "checks"
timeout 100 "$bin/node" --disable-warning=ExperimentalWarning scripts/test-gpu.ts --checks "$@" || true

# The node's folder is removed with it: its logs, and those of its pods, are kept from time to time.
keep_logs() {
  for folder in "$TMPDIR"/konverge-nodes-*/nodes/*/*; do
    [ -d "$folder/log" ] || continue
    mkdir -p "$here/logs/${folder##*/}"
    cp -r "$folder/log/." "$here/logs/${folder##*/}/" 2> /dev/null || true
    cp "$folder"/*.json "$folder"/*.toml "$folder"/init.sh "$here/logs/${folder##*/}/" 2> /dev/null || true
  done
}
rm -rf "$here/logs"
mkdir "$here/logs"
(trap - EXIT INT TERM; while :; do sleep 5; keep_logs; done) &
copying=$!

step "the lane"
status=0
timeout -k 45 "$((${KONVERGE_LANE_SECONDS:-540} - $(date +%s) + begun))" "$bin/node" --disable-warning=ExperimentalWarning scripts/test-gpu.ts \
  ${only:+--only "$only"} "$@" || status=$?
step "the lane has ended with status $status"
kill "$copying"
copying=
keep_logs
tar -czf "$OUT/logs.tar.gz" -C "$here" logs
if [ "$status" != 0 ]; then
  for log in "$here"/logs/*/*.log; do
    echo "== ${log#"$here/logs/"}"
    tail -n 6 "$log" | cut -c -300
  done
fi
[ -e "$OUT/gpu-lane.md" ] && cat "$OUT/gpu-lane.md"
exit $status
