# Dumps all databases of a server as SQL, and lets older dumps go.
#
# A dump is a folder $BACKUPS/dumps/NAME with `dump.sql` and what is known of it in `info`. It gets its name when it is whole.
#
# Variables: ENGINE, HOST, PORT, USERNAME, PASSWORD, BACKUPS, NAME, REPORT, SCRIPTS, and those of backup-prune.sh.
set -eu
export LC_ALL=C
. "$SCRIPTS/backup-sql.sh"

fail() {
  echo "backup-dump.sh: $1" >&2
  echo "error=$1" > "$REPORT"
  exit 1
}

target="$BACKUPS/dumps/$NAME"
partial="$BACKUPS/dumps/.$NAME"
dump="$partial/dump.sql"
if [ ! -e "$target" ]; then
  rm -rf "$partial"
  mkdir -p "$partial"
  started=$(date -u +%Y-%m-%dT%H:%M:%SZ)
  { dump_all "$dump" && is_whole "$dump"; } || fail "the server $HOST did not give a whole dump: the log of the pod says why"
  {
    echo "method=logical"
    echo "started=$started"
    echo "stopped=$(date -u +%Y-%m-%dT%H:%M:%SZ)"
    echo "size=$(wc -c < "$dump" | tr -d ' ')"
    echo "host=$HOST"
  } > "$partial/info"
  sync "$dump" "$partial/info"
  mv "$partial" "$target"
fi
kept=$(KIND=dumps sh "$SCRIPTS/backup-prune.sh") || fail "older dumps could not be removed: the log of the pod says why"
cat "$target/info" > "$REPORT"
# Half a list would be a wrong one: there is room for some thousand characters.
if [ "${#kept}" -le 3000 ]; then echo "kept=$kept" >> "$REPORT"; fi
