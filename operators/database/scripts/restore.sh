# Brings a base backup back, with the WAL up to a chosen moment. MODE says which part of it:
#   check    whether it can be done; writes nothing
#   restore  beside the data that are there; only what has come up as a server takes their place, and they stay aside
#   undo     puts back what was there
#   finish   removes what was there
#   drill    restores the newest backup into PGDATA, which is for that alone, checks what came up, and removes it
# Each part can be cut off at any point and begun again.
#
# Variables: MODE, NAME, PGDATA, SOURCE (the backups, as backup.sh and archive.sh leave them), BACKUP (default: the newest
# from which the target can be reached), TARGET_TIME, TARGET_LSN, TARGET_XID (at most one; default: the end of the archive),
# TARGET_TIMELINE, IN_PLACE (yes: data that are there may be replaced), ARCHIVE (what archive.sh
# writes for the restored server, where it is on the same volume), USERNAME, REPORT; for a drill DRILL (`random`: up to a second
# that chance chooses), QUERY and QUERY_DATABASE (must not return false or nothing; default: none is asked); with STORE also SCRIPTS, and instead of SOURCE
# those of pgbackrest-restore.sh.
set -eu
export LC_ALL=C
where="${SOURCE:-}"
work="$PGDATA.restoring-$NAME"
aside="$PGDATA.before-$NAME"

fail() {
  echo "restore.sh: $1" >&2
  echo "error=$1" >> "$REPORT"
  exit 1
}

value() {
  sed -n "s/^$1=//p" "$SOURCE/base/$2/info"
}

# A moment as a number: seconds.
seconds() {
  date -u -d "$(echo "$1" | sed 's/T/ /; s/[.Z].*//')" +%s
}

# The same in microseconds.
micros() {
  fraction=$(echo "$1" | sed -n 's/.*\.\([0-9]*\)Z/\1/p')
  echo "$(seconds "$1")$(echo "${fraction}000000" | cut -c 1-6)"
}

# A place in the WAL as a number: bytes.
bytes() {
  echo $((0x${1%/*} * 4294967296 + 0x${1#*/}))
}

# Whether the target lies before the end of a backup: it cannot be reached from there.
is_before() {
  if [ -n "$TARGET_TIME" ]; then [ "$(micros "$TARGET_TIME")" -lt "$(micros "$(value stopped "$1")")" ] && return 0; fi
  if [ -n "$TARGET_LSN" ]; then [ "$(bytes "$TARGET_LSN")" -lt "$(bytes "$(value stopLSN "$1")")" ] && return 0; fi
  return 1
}

# Finds the backup to begin with.
choose() {
  oldest=''
  for name in $(for info in "$SOURCE"/base/*/info; do sed -n "s#^stopped=\(.*\)#\1 ${info%/info}#p" "$info"; done | sort -r | sed 's#.*/##'); do
    oldest="$name"
    if [ -z "$BACKUP" ] && ! is_before "$name"; then BACKUP="$name"; fi
  done
  [ -n "$oldest" ] || fail "there are no backups in $where"
  [ -n "$BACKUP" ] || fail "the target lies before the first backup: possible is $(value stopped "$oldest") ($(value stopLSN "$oldest")) and later"
  [ -e "$SOURCE/base/$BACKUP/info" ] || fail "there is no backup $BACKUP in $where"
  is_before "$BACKUP" && fail "the target lies before the end of backup $BACKUP: possible is $(value stopped "$BACKUP") ($(value stopLSN "$BACKUP")) and later"
  export WAL="$SOURCE/wal/$(value system "$BACKUP")"
}

# Of a backup on a volume. For those in a store, all of these are done otherwise.
segment_size() {
  pg_controldata -D "$SOURCE/base/$BACKUP/data" | sed -n 's/^Bytes per WAL segment: *//p'
}

verify() {
  pg_verifybackup -q "$SOURCE/base/$BACKUP/data"
}

fetch() {
  cp -a "$SOURCE/base/$BACKUP/data" "$work"
}

# A server that did not know of its successor may have gone on in the segment in which its timeline was left: what led on is in the
# one with `.partial`.
restore_command() {
  latest=''
  if [ "${TARGET_TIMELINE:-latest}" = latest ]; then latest='[ ! -e "$WAL/%f.partial" ] || f=%f.partial; '; fi
  echo "f=%f; $latest$(get_command)"
}

get_command() {
  echo 'cp "$WAL/$f" "%p"'
}

forget() {
  if [ -n "$ARCHIVE" ]; then rm -f "$ARCHIVE/wal/$2/$1"*; fi
}

# Which timeline a restore goes through, and where it leaves each for the next one: timeline:segment, the last without an end.
find_way() {
  case ${TARGET_TIMELINE:-latest} in
    latest) last=$(ls "$WAL" 2> /dev/null | sed -n 's/^\([0-9A-F]\{8\}\)\.history$/\1/p' | tail -n 1) ;;
    current) last='' ;;
    *) last=$(printf %08X "$TARGET_TIMELINE") ;;
  esac
  last=${last:-$(value startWAL "$BACKUP" | cut -c 1-8)}
  way=''
  if [ -e "$WAL/$last.history" ]; then
    while read -r timeline place _; do
      if [ -n "$place" ]; then way="$way $timeline:$(($(bytes "$place") / size))"; fi
    done < "$WAL/$last.history"
  fi
  way="$way $((0x$last)):"
}

# The timeline that a segment must be of.
timeline_at() {
  for one in $way; do
    left=${one#*:}
    if [ -z "$left" ] || [ "$1" -lt "$left" ]; then printf %08X "${one%:*}" && return; fi
  done
}

# When a file was written.
written() {
  date -u -r "$WAL/$1" +%Y-%m-%dT%H:%M:%SZ
}

# Whether all WAL is there from the backup to the end of the archive, and the target is in it.
check_wal() {
  size=$(segment_size)
  each=$((4294967296 / size))
  end=$(value stopped "$BACKUP")
  stop=$(bytes "$(value stopLSN "$BACKUP")")
  reach="$end ($(value stopLSN "$BACKUP"))"
  find_way
  # Up to its end a backup has its own WAL.
  next=$((stop / size))
  for name in $(ls "$WAL" 2> /dev/null | grep -x '[0-9A-F]\{24\}' | sort -k 1.9); do
    place=$((0x$(echo "$name" | cut -c 9-16) * each + 0x$(echo "$name" | cut -c 17-)))
    [ "$place" -ge "$next" ] && [ "$(timeline_at "$place")" = "$(echo "$name" | cut -c 1-8)" ] || continue
    [ "$place" -eq "$next" ] || fail "WAL is missing: no segment $(timeline_at "$next")$(printf '%08X%08X' $((next / each)) $((next % each))) in $where, but later ones; possible is $reach at the latest, with targetLSN"
    next=$((next + 1))
    stop=$((next * size))
    end=$(written "$name")
    reach="$end ($(printf '%X/%X' $((stop / 4294967296)) $((stop % 4294967296))))"
  done
  if [ -n "$TARGET_TIME" ] && [ "$(seconds "$TARGET_TIME")" -gt "$(seconds "$end")" ]; then fail "the target lies after the last archived WAL: possible is $reach at the latest"; fi
  if [ -n "$TARGET_LSN" ] && [ "$(bytes "$TARGET_LSN")" -gt "$stop" ]; then fail "the target lies after the last archived WAL: possible is $reach at the latest"; fi
}

# Whether all that was committed until the target is surely archived: files tell times only to the second.
is_before_end() {
  [ -n "$TARGET_TIME" ] && [ "$(seconds "$TARGET_TIME")" -lt "$(seconds "$end")" ]
}

check() {
  choose
  version=$(value version "$BACKUP")
  postgres --version | grep -q "PostgreSQL) $version[^0-9]" || fail "backup $BACKUP is of version $version, and this is $(postgres --version): restore with the version it is of"
  verify || fail "backup $BACKUP is damaged: the log of the pod says what is wrong"
  check_wal
  { echo "backup=$BACKUP"; echo "from=$(value stopped "$BACKUP")"; echo "reach=$end"; } > "$REPORT"
}

# Copies the backup and lets a private server replay the WAL. Its WAL is not archived before it is in place.
recover() {
  rm -rf "$work"
  fetch
  chmod 700 "$work"
  rm -f "$work/standby.signal"
  touch "$work/recovery.signal"
  {
    echo "listen_addresses = ''"
    echo "unix_socket_directories = '$scratch'"
    echo "hba_file = '$scratch/hba'"
    echo "hot_standby = off"
    echo "archive_mode = on"
    echo "archive_command = ''"
    echo "restore_command = '$(restore_command)'"
    echo "recovery_target_action = promote"
    echo "recovery_target_timeline = '${TARGET_TIMELINE:-latest}'"
    if [ -n "$1" ]; then echo "recovery_target_time = '${1%Z}+00'"; fi
    if [ -n "$TARGET_LSN" ]; then echo "recovery_target_lsn = '$TARGET_LSN'"; fi
    if [ -n "$TARGET_XID" ]; then echo "recovery_target_xid = '$TARGET_XID'"; fi
  } > "$scratch/settings"
  echo "local all all trust" > "$scratch/hba"
  pg_ctl start -D "$work" -l "$scratch/log" -o "-c config_file=$scratch/settings" || return 1
  # It answers when it has reached the target and started a new timeline.
  until pg_isready -q -h "$scratch"; do
    pg_ctl status -D "$work" > /dev/null || return 1
    sleep 0.2
  done
}

# The last serious thing that the server has said; that it does not answer yet is none.
why() {
  grep -e FATAL -e PANIC "$scratch/log" | grep -v 'the database system is' | tail -n 1
}

# Lets the private server reach the target, and notes what it is then.
come_up() {
  scratch=$(mktemp -d)
  if ! recover "$TARGET_TIME"; then
    cat "$scratch/log" >&2
    # Nothing was committed between the target and the end of the archive, which lies after it: all of it is wanted.
    if ! is_before_end || ! grep -q 'recovery ended before configured recovery target was reached' "$scratch/log"; then fail "the backup did not come up: $(why)"; fi
    recover '' || fail "the backup did not come up: $(why)"
  fi
  recovered=$(psql -XAt -h "$scratch" -d postgres -U "$USERNAME" -c "select 'recoveredTo=' || coalesce(to_char(pg_last_xact_replay_timestamp() at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"'), '')" -c "select 'timeline=' || timeline_id from pg_control_checkpoint()") || fail "the restored server does not answer"
}

# A second between the end of the backup and that of the archive.
random_time() {
  first=$(($(seconds "$(value stopped "$BACKUP")") + 1))
  span=$(($(seconds "$end") - first))
  if [ "$span" -gt 0 ]; then date -u -d "@$((first + $(od -A n -N 4 -t u4 /dev/urandom) % span))" +%Y-%m-%dT%H:%M:%SZ; fi
}

drill() {
  began=$(date +%s)
  check
  if [ "$DRILL" = random ]; then TARGET_TIME=$(random_time); fi
  echo "target=${TARGET_TIME:-$end}" >> "$REPORT"
  come_up
  system=$(pg_controldata -D "$work" | sed -n 's/^Database system identifier: *//p')
  [ "$system" = "$(value system "$BACKUP")" ] || fail "the restored server is of system $system, and backup $BACKUP of $(value system "$BACKUP")"
  if [ -n "$QUERY" ]; then
    answer=$(psql -XAt -v ON_ERROR_STOP=1 -h "$scratch" -U "$USERNAME" -d "$QUERY_DATABASE" -c "$QUERY" 2> "$scratch/said") || fail "the query of the drill failed: $(head -n 1 "$scratch/said")"
    case $answer in '' | f) fail "the query of the drill returned ${answer:-nothing}" ;; esac
  fi
  pg_ctl stop -D "$work" -w -m fast -t 3600
  if ! pg_controldata -D "$work" | grep -q 'checksum version: *0$'; then
    pg_checksums --check -D "$work" || fail "pages of the restored data are damaged: the log of the pod says which"
  fi
  rm -rf "$work"
  { echo "$recovered"; echo "seconds=$(($(date +%s) - began))"; } >> "$REPORT"
}

restore() {
  # All was done before, and not noted.
  if [ -d "$aside" ] && [ ! -d "$work" ]; then echo "backup=$BACKUP" > "$REPORT" && exit 0; fi
  if [ ! -e "$work.ready" ]; then
    if [ "$IN_PLACE" != yes ] && [ -e "$PGDATA/PG_VERSION" ]; then fail "there are data in $PGDATA already: they are not replaced"; fi
    check
    come_up
    pg_ctl stop -D "$work" -w -m fast -t 3600
    echo "$recovered" >> "$REPORT"
    initdb --sync-only -D "$work" > /dev/null
    touch "$work.ready"
  fi
  if [ ! -d "$aside" ]; then
    if [ -e "$PGDATA" ]; then mv "$PGDATA" "$aside"; else mkdir "$aside"; fi
  fi
  [ ! -e "$PGDATA" ] || fail "$PGDATA was created by another process during the restore: it is not replaced"
  mv "$work" "$PGDATA"
  rm "$work.ready"
}

undo() {
  rm -rf "$work" "$work.ready"
  if [ ! -d "$aside" ]; then exit 0; fi
  if [ -e "$PGDATA" ]; then
    # The timeline that started with the restore must not be followed by later restores, if any of it was archived.
    timeline=$(pg_controldata -D "$PGDATA" | sed -n "s/^Latest checkpoint's TimeLineID: *//p")
    system=$(pg_controldata -D "$PGDATA" | sed -n 's/^Database system identifier: *//p')
    forget "$(printf %08X "$timeline")" "$system"
    mv "$PGDATA" "$work"
  fi
  # An empty folder stands for no data at all.
  rmdir "$aside" 2> /dev/null || mv "$aside" "$PGDATA"
  rm -rf "$work"
}

finish() {
  [ -e "$PGDATA/PG_VERSION" ] || fail "there are no data in $PGDATA: what was there before is not removed"
  rm -rf "$aside"
}

if [ -n "${STORE:-}" ]; then . "$SCRIPTS/pgbackrest-restore.sh"; fi
"$MODE"
