# Brings a dump back into a running server. What the server has now is dumped first, and brought back if the dump does not load.
#
# Variables: MODE (check: only whether it can be done; restore; undo: what was there, if the restore was cut off), NAME,
# SOURCE (the backups, as backup-dump.sh leaves them), BACKUP (default: the newest), REPORT, SCRIPTS, and those of
# backup-sql.sh.
set -eu
export LC_ALL=C
. "$SCRIPTS/backup-sql.sh"
before="$SOURCE/before-$NAME.sql"

fail() {
  echo "restore-dump.sh: $1" >&2
  echo "error=$1" > "$REPORT"
  exit 1
}

check() {
  if [ -z "$BACKUP" ]; then BACKUP=$(grep -H '^stopped=' "$SOURCE"/dumps/*/info | sed 's#^\(.*\)/info:stopped=\(.*\)#\2 \1#' | sort -r | sed -n '1s#.*/##p'); fi
  [ -n "$BACKUP" ] || fail "there are no dumps in $SOURCE/dumps"
  dump="$SOURCE/dumps/$BACKUP/dump.sql"
  [ -e "$SOURCE/dumps/$BACKUP/info" ] || fail "there is no dump $BACKUP in $SOURCE/dumps"
  is_whole "$dump" || fail "dump $BACKUP is damaged: it does not come to its end"
  echo "backup=$BACKUP" > "$REPORT"
}

restore() {
  check
  if [ ! -e "$before" ]; then
    dump_all "$before.partial"
    is_whole "$before.partial" || fail "what the server has could not be dumped first"
    sync "$before.partial"
    mv "$before.partial" "$before"
  fi
  if ! load_all "$dump"; then
    load_all "$before" || fail "dump $BACKUP does not load, and what was there does not either: it is in $before"
    fail "dump $BACKUP does not load; what was there is back. The log of the pod says why"
  fi
}

undo() {
  if [ -e "$before" ]; then load_all "$before"; fi
  finish
}

finish() {
  rm -f "$before" "$before.partial"
}

"$MODE"
