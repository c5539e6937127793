# Takes a base backup, proves that it is whole, and lets older ones go.
#
# A backup is a folder $BACKUPS/base/NAME with the files of the server in `data` and what is known of it in `info`. It gets
# its name when it is whole. A second try with the same name goes on after what the first has done.
#
# Variables: HOST, STANDBY_HOST (asked first, where there are standbys), PORT, USERNAME, PASSWORD, BACKUPS, NAME, REPORT,
# SCRIPTS, and those of backup-prune.sh.
set -eu
export LC_ALL=C
export PGPORT="$PORT" PGUSER="$USERNAME" PGPASSWORD="$PASSWORD" PGCONNECT_TIMEOUT=10 PGDATABASE=postgres

fail() {
  echo "backup.sh: $1" >&2
  echo "error=$1" > "$REPORT"
  exit 1
}

target="$BACKUPS/base/$NAME"
partial="$BACKUPS/base/.$NAME"
if [ ! -e "$target" ]; then
  rm -rf "$partial"
  export PGHOST="$HOST"
  if [ -n "$STANDBY_HOST" ] && pg_isready -q -h "$STANDBY_HOST"; then PGHOST="$STANDBY_HOST"; fi
  pg_basebackup -D "$partial/data" -X stream -c fast --manifest-checksums=SHA256 || fail "the server $PGHOST did not give a backup: the log of the pod says why"
  pg_verifybackup -q "$partial/data" || fail "the backup from $PGHOST is not whole: the log of the pod says what is wrong"
  # By the server's clock, which commits are dated by.
  stopped=$(psql -XAt -c "select to_char(now() at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')")
  manifest="$partial/data/backup_manifest"
  label="$partial/data/backup_label"
  {
    echo "method=physical"
    echo "started=$(sed -n 's/^START TIME: \(....-..-..\) \(..:..:..\) .*/\1T\2Z/p' "$label")"
    echo "stopped=${stopped:?}"
    echo "startLSN=$(sed -n 's/.*"Start-LSN": "\([^"]*\)".*/\1/p' "$manifest")"
    echo "stopLSN=$(sed -n 's/.*"End-LSN": "\([^"]*\)".*/\1/p' "$manifest" | tail -n 1)"
    echo "startWAL=$(sed -n 's/^START WAL LOCATION: .* (file \([0-9A-F]*\))$/\1/p' "$label")"
    echo "system=$(pg_controldata -D "$partial/data" | sed -n 's/^Database system identifier: *//p')"
    echo "version=$(cat "$partial/data/PG_VERSION")"
    echo "size=$(($(du -sk "$partial/data" | cut -f 1) * 1024))"
    echo "host=$PGHOST"
  } > "$partial/info"
  sync "$partial/info"
  mv "$partial" "$target"
fi
kept=$(KIND=base sh "$SCRIPTS/backup-prune.sh") || fail "older backups could not be removed: the log of the pod says why"
cat "$target/info" > "$REPORT"
# Half a list would be a wrong one: there is room for some thousand characters.
if [ "${#kept}" -le 3000 ]; then echo "kept=$kept" >> "$REPORT"; fi
