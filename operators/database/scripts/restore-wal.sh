# Brings a file of the archive to a standby, for what its primary no longer has: restore-wal.sh NAME PATH, called by the server.
#
# A failure is never one that ends the server, and none takes long: it goes on with what its primary sends. The segment in which a
# timeline was left is not brought, nor a later one: the archive may have it from a server that did not know of its successor yet.
#
# Variables: PGDATA, and BACKUPS, or STORE, SCRIPTS and those of pgbackrest.sh.
export LC_ALL=C
control() {
  pg_controldata -D "$PGDATA" | sed -n "s/^$1: *//p"
}

if [ "${#1}" -eq 24 ]; then
  size=$(control "Bytes per WAL segment")
  segment=${1#????????}
  for history in "$PGDATA"/pg_wal/*.history; do
    [ -e "$history" ] || continue
    while read -r timeline place _; do
      [ "$((0x${1%"$segment"}))" = "$timeline" ] || continue
      [ $((0x$segment)) -lt $((0x${place%/*} * 4294967296 + 0x${place#*/} / size)) ] || exit 1
    done < "$history"
  done
fi
if [ -n "${STORE:-}" ]; then
  . "$SCRIPTS/pgbackrest.sh"
  timeout 20 pgbackrest archive-get "$1" "$2" || exit 1
else
  file="$BACKUPS/wal/$(control "Database system identifier")/$1"
  [ -e "$file" ] && timeout 60 cp "$file" "$2" || exit 1
fi
