# What server.sh does for the archive, so that a change of the primary leaves no hole in it; read in by server.sh.
#
# - A standby holds what it receives for archived. Before it is promoted, it queues all of that: the last primary may have ended
#   before it archived it.
# - A standby keeps what its primary has not archived, as long as the volume has room for it.
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
  psql -X -q -A -t "$(leader_conninfo) dbname=postgres" > "$RUN/history" 2> /dev/null <<SQL || return 1
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

# Does something beside all else that is done here, and again after a while.
watch() {
  is_archived || return 0
  if [ -n "$watching" ] && kill -0 "$watching" 2> /dev/null; then return; fi
  { "$1"; sleep "${WATCH_INTERVAL:-25}"; } &
  watching=$!
}

# Of a primary: keeps at hand what the archive has. What cannot be learned now stays as it was.
learn_archive() {
  drop_slot ''
  if sh "$SCRIPTS/archive-facts.sh" > "$RUN/archive.new"; then mv "$RUN/archive.new" "$RUN/archive"; fi
}

# The slot by which a standby keeps WAL for the archive.
drop_slot() {
  sql -c "select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = 'unarchived' $1" > /dev/null
}

# Of a standby: keeps what its primary has yet to archive, as long as max_slot_wal_keep_size lets it: it may be the next primary.
keep_unarchived() {
  [ -n "$primary" ] || return 0
  # Where the first segment begins that waits; what has been replayed is whole if none does.
  first=$(psql -X -q -A -t "$(conninfo "$primary") dbname=postgres" 2> /dev/null <<'SQL'
select coalesce(min(substr(name, 9, 16)), 'FFFFFFFF00000000') from pg_ls_dir('pg_wal/archive_status', true, false) name
  where name ~ '^[0-9A-F]{24}\.ready$';
SQL
  ) && [ -n "$first" ] || return 0
  place=$(printf %X/%X "$((0x${first%????????}))" "$((0x${first#????????} * $(control "Bytes per WAL segment")))")
  drop_slot "and wal_status = 'lost'"
  sql <<SQL > /dev/null
select pg_create_physical_replication_slot('unarchived', true)
  where not exists (select from pg_replication_slots where slot_name = 'unarchived');
select pg_replication_slot_advance(slot_name, place)
  from pg_replication_slots, least('$place'::pg_lsn, pg_last_wal_replay_lsn()) place
  where slot_name = 'unarchived' and restart_lsn < place;
SQL
}
