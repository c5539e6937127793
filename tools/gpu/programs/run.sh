#!/bin/sh
# Runs the GPU lane of Konverge on this machine, with the programs beside this file where the machine has none of its own.
# Arguments are those of `npm run test:gpu --`; what it measures is written to the folder $OUT (default: results, beside this file).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bin=$here/bin repository=$here/repository
[ "$(id -u)" = 0 ] || { echo "the GPU lane needs root: run this with sudo" >&2; exit 1; }

# Each file is unpacked again when it has changed.
mkdir -p "$bin" "$here/sums"
unpack() {
  name=${1##*/} sum=$(cksum < "$1")
  [ "$(cat "$here/sums/$name" 2>/dev/null)" != "$sum" ] || return 0
  case $name in
    code.tar.xz) rm -rf "$repository"; mkdir "$repository"; tar -xJf "$1" -C "$repository" ;;
    system.tar.xz) rm -rf "$here/system"; mkdir "$here/system"; tar -xJf "$1" -C "$here/system" ;;
    *.xz) rm -f "$bin/${name%.xz}"; xz -dc "$1" > "$bin/${name%.xz}"; chmod 755 "$bin/${name%.xz}" ;;
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
wrap ip "$here/system/bin/ip"
wrap conntrack "$here/system/bin/conntrack"
for name in iptables iptables-save iptables-restore ip6tables ip6tables-save ip6tables-restore; do
  wrap "$name" "$here/system/bin/xtables-nft-multi $name"
done
cat > "$bin/sysctl" <<'S'
#!/bin/sh
# What Konverge uses of sysctl: -qw KEY=VALUE.
for word; do case $word in *=*) echo "${word#*=}" > "/proc/sys/$(echo "${word%%=*}" | tr . /)" ;; esac; done
S
printf '#!/bin/sh\n[ $# = 0 ] && exec cat /proc/sys/kernel/hostname\necho "$1" > /proc/sys/kernel/hostname\n' > "$bin/hostname"
chmod 755 "$bin/sysctl" "$bin/hostname"

# Where the daemons of a node look: links for what the machine lacks, removed at the end.
links=
remove_links() { for link in $links; do rm -f "$link"; done; }
trap remove_links EXIT
trap 'exit 130' INT TERM
PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
mkdir -p /usr/local/sbin
for name in containerd containerd-shim-runc-v2 ctr runc ip conntrack sysctl hostname \
  iptables iptables-save iptables-restore ip6tables ip6tables-save ip6tables-restore; do
  command -v "$name" > /dev/null || { ln -sf "$bin/$name" "/usr/local/sbin/$name"; links="$links /usr/local/sbin/$name"; }
done
if ! [ -e /opt/cni/bin ] && ! [ -e /usr/lib/cni/ptp ]; then
  mkdir -p /opt/cni "$here/cni"
  for name in ptp host-local portmap loopback; do ln -sf "$bin/$name" "$here/cni/$name"; done
  ln -s "$here/cni" /opt/cni/bin
  links="$links /opt/cni/bin"
fi

# Where Konverge looks for what was built.
cache=$here/cache/konverge
version=$(cat "$here/system/kubernetes-version") plugin=$(cat "$here/system/device-plugin-version")
mkdir -p "$cache/real/$version" "$cache/gpu/$plugin"
for name in kubelet kube-proxy; do ln -f "$bin/kube-node" "$cache/real/$version/$name"; done
cp "$here/system/pause.tar" "$cache/real/$version/"
ln -f "$bin/nvidia-device-plugin" "$cache/gpu/$plugin/nvidia-device-plugin"
export XDG_CACHE_HOME="$here/cache" PATH="$bin:$PATH" OUT="${OUT:-$here/results}"
export NODE_COMPILE_CACHE="$here/cache/compiled"
cd "$repository"
status=0
"$bin/node" --disable-warning=ExperimentalWarning scripts/test-gpu.ts "$@" || status=$?
[ -e "$OUT/gpu-lane.md" ] && cat "$OUT/gpu-lane.md"
exit $status
