# What server.sh does for the archive, so that a change of the primary leaves no hole in it; read in by server.sh.
#
# - A standby holds what it receives for archived. Before it is promoted, it queues all of that: the last primary may have ended
#   before it archived it.
# - A former primary archives what only it has before anything of it is taken back. What cannot be archived at that time is set
#   aside on the volume and archived later: no server waits for the archive.
# - Only WAL that led to the present timeline is archived. What was written after another server was promoted is of no history that
#   goes on, and a restore must not find it under the name of what was.
#
# Variables: those of server.sh, and BACKUPS or STORE and WATCH_INTERVAL if WAL is archived.
aside="$VOLUME/unarchived"
archiving=''
watching=''

is_archived() {
  [ -n "${BACKUPS:-}${STORE:-}" ]
}

control() {
  pg_controldata -D "$PGDATA" | sed -n "s/^$1: *//p"
}

# Archives a file of the system with this number.
push() {
  if [ -n "${STORE:-}" ]; then sh "$SCRIPTS/pgbackrest-archive.sh" "$2"; else SYSTEM="$1" sh "$SCRIPTS/archive.sh" "$2" "${2##*/}"; fi
}

# The files in pg_wal that PostgreSQL has marked `done` or `ready`, and that belong to a history: a line for each of its timelines,
# with the place where it was left.
marked() {
  size=$(control "Bytes per WAL segment")
  while read -r timeline place _; do
    [ -n "$place" ] || continue
    name=$(printf %08X "$timeline")
    end=$((0x${place%/*} * 4294967296 + 0x${place#*/} / size))
    for mark in "$PGDATA/pg_wal/archive_status/$name"????????????????."$1"; do
      [ -e "$mark" ] && [ $((0x$(basename "$mark" ".$1" | cut -c 9-))) -lt "$end" ] && basename "$mark" ".$1"
    done
    [ ! -e "$PGDATA/pg_wal/archive_status/$name.history.$1" ] || echo "$name.history"
  done
}

# Of a standby that is about to be promoted: all that it has received whole is archived unless it is there.
queue_received() {
  is_archived || return 0
  received=$(sql -c 'select greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())') && [ -n "$received" ] || return 1
  history=$(ls "$PGDATA/pg_wal" | grep '\.history$' | tail -n 1)
  [ -n "$history" ] && present=$((0x${history%.history})) || present=$(timeline)
  { echo "$present $received"; [ -z "$history" ] || cat "$PGDATA/pg_wal/$history"; } | marked done | while read -r name; do
    mv "$PGDATA/pg_wal/archive_status/$name.done" "$PGDATA/pg_wal/archive_status/$name.ready"
  done
  sync "$PGDATA/pg_wal/archive_status"
}

# Of a former primary: all that it has not archived is archived or set aside. Fails if neither can be done, or the primary, which
# knows what belongs to its history, does not answer.
save_unarchived() {
  is_archived || return 0
  psql -X -q -A -t "$(conninfo "$primary") dbname=postgres" > "$RUN/history" 2> /dev/null <<SQL || return 1
select timeline_id || E' 7FFFFFFF/FFFFFFFF\n' || coalesce(convert_from(pg_read_binary_file(
  'pg_wal/' || lpad(upper(to_hex(timeline_id)), 8, '0') || '.history', 0, 1048576, true), 'UTF8'), '') from pg_control_checkpoint();
SQL
  system=$(control "Database system identifier")
  tried=''
  for name in $(marked ready < "$RUN/history"); do
    [ -z "$tried" ] && push "$system" "$PGDATA/pg_wal/$name" && continue
    # One that fails means that others do: they are not waited for.
    tried=yes
    set_aside "$name" || return 1
  done
}

set_aside() {
  mkdir -p "$aside/$system"
  cp -p "$PGDATA/pg_wal/$1" "$aside/$system/.$1" && sync "$aside/$system/.$1" && mv "$aside/$system/.$1" "$aside/$system/$1"
}

# Archives what was set aside, beside all else that is done here.
archive_aside() {
  [ -d "$aside" ] || return 0
  if [ -n "$archiving" ] && kill -0 "$archiving" 2> /dev/null; then return; fi
  {
    for file in "$aside"/*/*; do
      system=${file%/*}
      push "${system##*/}" "$file" && rm "$file"
    done
    find "$aside" -depth -type d -exec rmdir {} + 2> /dev/null || sleep 5
  } &
  archiving=$!
}

# Whether the archive has the segment that goes on at a place.
is_restorable() {
  is_archived || return 1
  segment=$(printf %08X%08X%08X "$(timeline)" $((0x${1%/*})) $((0x${1#*/} / $(control "Bytes per WAL segment"))))
  sh "$SCRIPTS/restore-wal.sh" "$segment" "$RUN/segment" && rm "$RUN/segment"
}

# Of a primary: keeps at hand what the archive has, beside all else that is done here. What cannot be learned now stays as it was.
watch_archive() {
  is_archived || return 0
  if [ -n "$watching" ] && kill -0 "$watching" 2> /dev/null; then return; fi
  {
    if sh "$SCRIPTS/archive-facts.sh" > "$RUN/archive.new"; then mv "$RUN/archive.new" "$RUN/archive"; fi
    sleep "$WATCH_INTERVAL"
  } &
  watching=$!
}
