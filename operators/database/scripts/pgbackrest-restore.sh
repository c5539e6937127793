# What restore.sh does otherwise with backups in an object store; read in by it.
#
# SOURCE becomes a folder that describes the store as if it were a volume: `info` of each backup, and a file for each WAL segment,
# with the time at which it came there. Only their content is missing; pgBackRest checks that when it brings it.
#
# Variables: STORE, SCRIPTS, and those of restore.sh and pgbackrest.sh.
command -v pgbackrest > /dev/null || fail "the image has no pgBackRest: set spec.image to one that has PostgreSQL and pgBackRest"
. "$SCRIPTS/pgbackrest.sh"

describe() {
  about=$(pgbackrest info --output=json) || fail "$STORE cannot be read: the log of the pod says why"
  trouble=$(printf %s "$about" | sed -n 's/.*"status":{"code":99,"message":"\([^"\\]*\).*"status":.*/\1/p')
  [ -z "$trouble" ] || fail "$STORE cannot be read: $trouble"
  system=$(printf %s "$about" | sed -n 's/.*"system-id":\([0-9]*\).*/\1/p')
  version=$(printf %s "$about" | sed -n 's/.*"system-id":[0-9]*,"version":"\([^"]*\)".*/\1/p')
  mkdir -p "$SOURCE/base" "$SOURCE/wal/$system"
  backups | while read -r stopped started stop start wal size name label; do
    mkdir "$SOURCE/base/$name"
    {
      echo "started=$(moment "$started")"
      echo "stopped=$(moment "$((stopped + 1))")"
      echo "stopLSN=$stop"
      echo "startWAL=$wal"
      echo "system=$system"
      echo "version=$version"
      echo "label=${label:-$name}"
    } > "$SOURCE/base/$name/info"
  done
  pgbackrest repo-ls --recurse --output=json archive/db | sed 's/},/\n/g' | sed -n 's#.*/\([0-9A-F]\{24\}\(\.partial\)\{0,1\}\)-[^"]*":{.*"time":\([0-9]*\).*#\1 \3#p' | while read -r segment time; do
    touch -d "@$time" "$SOURCE/wal/$system/$segment"
  done
  for history in $(pgbackrest repo-ls --recurse archive/db | grep '\.history$'); do
    pgbackrest repo-get "archive/db/$history" > "$SOURCE/wal/$system/${history##*/}" || fail "$STORE cannot be read: the log of the pod says why"
  done
}

# Servers are made with segments of this size.
segment_size() {
  echo 16777216
}

verify() {
  [ -n "$(value label "$BACKUP")" ]
}

fetch() {
  export PGBACKREST_PG1_PATH="$work"
  pgbackrest restore --set="$(value label "$BACKUP")" --type=none || fail "backup $BACKUP cannot be fetched whole from $STORE: the log of the pod says why"
}

# That a segment is not there ends the recovery; that it cannot be had now must not, and stops the server.
get_command() {
  echo 'pgbackrest archive-get "$f" "%p" || exit $(($? > 1 ? 255 : 1))'
}

# When a segment came to the store tells only that it was written earlier. A backup that began after the target found all WAL before.
is_before_end() {
  [ -n "$TARGET_TIME" ] || return 1
  for name in $(ls "$SOURCE/base"); do
    if [ "$(seconds "$TARGET_TIME")" -lt "$(seconds "$(value started "$name")")" ]; then return 0; fi
  done
  return 1
}

forget() {
  for system in $(pgbackrest repo-ls archive/db | grep -- -); do
    for path in $(pgbackrest repo-ls "archive/db/$system" | grep "^$1"); do
      pgbackrest repo-rm --recurse "archive/db/$system/$path"
    done
  done
}

where="$STORE"
SOURCE=$(mktemp -d)
case $MODE in check | restore | drill) describe ;; esac
