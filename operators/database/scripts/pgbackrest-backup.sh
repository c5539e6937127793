# Takes a base backup into the object store, and lets older ones go with the WAL that only they need.
#
# pgBackRest reads the files of the server in PGDATA, checks their pages, and ends when the WAL of the backup is archived. A second
# try with the same name goes on after what the first has done.
#
# Variables: HOST, PORT, USERNAME, PASSWORD, PGDATA, STORE, NAME, KEEP, KEEP_FOR (as for backup-prune.sh), REPORT, SCRIPTS, and
# those of pgbackrest.sh.
set -eu
export LC_ALL=C
export PGHOST="$HOST" PGPORT="$PORT" PGUSER="$USERNAME" PGPASSWORD="$PASSWORD" PGCONNECT_TIMEOUT=10 PGDATABASE=postgres
export PGBACKREST_PG1_PORT="$PORT" PGBACKREST_PG1_USER="$USERNAME"

fail() {
  echo "pgbackrest-backup.sh: $1" >&2
  echo "error=$1" > "$REPORT"
  exit 1
}

command -v pgbackrest > /dev/null || fail "the image has no pgBackRest: set spec.image to one that has PostgreSQL and pgBackRest"
. "$SCRIPTS/pgbackrest.sh"
[ "$(psql -XAt -c 'select pg_is_in_recovery()')" = f ] || fail "$HOST is not the primary, of which backups are taken: create another DatabaseBackup"

# The server makes the archive when it has WAL for it.
if ! pgbackrest repo-get archive/db/archive.info > /dev/null; then
  psql -XAtq -c 'select pg_switch_wal()' > /dev/null
  waited=0
  until pgbackrest repo-get archive/db/archive.info > /dev/null 2>&1; do
    [ "$waited" -lt 90 ] || fail "$HOST has archived no WAL in $STORE: its log says why"
    waited=$((waited + 1))
    sleep 1
  done
fi
if ! backups | grep -q " $NAME [^ ]*$"; then
  pgbackrest backup --type=full --start-fast --no-expire-auto --annotation="name=$NAME" || fail "the server $HOST did not give a backup: the log of the pod says why"
fi

bound=99999999999
if [ -n "$KEEP_FOR" ]; then bound=$(($(date +%s) - KEEP_FOR)); fi
count=0
covered=no
kept=''
while read -r stopped started stop start wal size name label; do
  if [ "$count" -ge "$KEEP" ] && [ "$covered" = yes ]; then break; fi
  count=$((count + 1))
  kept="$kept${kept:+,}$name"
  if [ "$stopped" -lt "$bound" ]; then covered=yes; fi
  [ "$name" = "$NAME" ] || continue
  {
    echo "method=physical"
    echo "started=$(moment "$started")"
    echo "stopped=$(moment "$((stopped + 1))")"
    echo "startLSN=$start"
    echo "stopLSN=$stop"
    echo "startWAL=$wal"
    echo "size=$size"
    echo "label=$label"
    echo "host=$HOST"
  } > "$REPORT"
done <<LIST
$(backups | sort -rn)
LIST
# WAL that is older than the oldest of these goes, too.
pgbackrest expire --repo1-retention-full="$count" || fail "older backups could not be removed: the log of the pod says why"
# Half a list would be a wrong one: there is room for some thousand characters.
if [ "${#kept}" -le 3000 ]; then echo "kept=$kept" >> "$REPORT"; fi
