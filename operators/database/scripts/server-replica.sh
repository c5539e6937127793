# What server.sh does while its Database follows another one; read in by server.sh.
#
# - The server that leads here is a standby of the source, and the others receive from it. None takes writes, so that none needs a lease.
# - A volume without data becomes a copy of the source. Data of another system are never replaced, and their server goes on as it was.
# - A former primary stops, and starts as a standby with all that it has: the source may still have to receive the last of it. Only when
#   the source takes writes itself, and its history does not go through the end of what is here, is the rest taken back.
#
# Variables: those of server.sh.

# Whether this server receives from the source, and not from a member.
follows_source() {
  [ -n "$source" ] && [ "$primary" = "$POD_NAME" ]
}

# How to reach the source. Under this name, the source does not take it for a standby that confirms commits.
source_conninfo() {
  echo "$source user=replicator passfile=$PGPASSFILE application_name=replica_$POD_NAME $limits"
}

# The server that this one becomes a copy of.
leader_conninfo() {
  if follows_source; then source_conninfo; else conninfo "$primary"; fi
}

# The system, or the timeline, of the server that this one becomes a copy of; nothing if it does not answer.
identity() {
  psql -X -A -t -F ' ' "$(leader_conninfo) replication=yes" -c IDENTIFY_SYSTEM 2> /dev/null | cut -d ' ' -f "$1"
}

is_foreign() {
  theirs=$(identity 1)
  [ -n "$theirs" ] && [ "$theirs" != "$(control "Database system identifier")" ]
}

# Whether the history of the server that it receives from left this one's timeline before the end of what is here.
has_diverged() {
  [ -n "$source" ] || return 1
  if is_up; then
    # A receiver that runs may have come to where the histories part, and wait there.
    place=$(sql -c "select greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())
      where not exists (select from pg_stat_wal_receiver where status = 'streaming')")
  else
    place=$(printf '%s\n' "$(control "Latest checkpoint location")" "$(control "Minimum recovery ending location")" |
      awk -F / '{ printf "%8s%8s %s\n", $1, $2, $0 }' | sort | sed -n '$s/.* //p')
  fi
  [ -n "$place" ] || return 1
  ours=$(timeline)
  theirs=$(identity 2)
  [ -n "$theirs" ] && [ "$theirs" != "$ours" ] || return 1
  if follows_source; then
    # One that still follows this server has less for a moment.
    [ "$(psql -X -A -t "$(leader_conninfo) dbname=postgres" -c 'select pg_is_in_recovery()' 2> /dev/null)" = f ] || return 1
  fi
  [ "$theirs" -gt "$ours" ] || return 0
  # What is here may be of that timeline already, although no checkpoint says so.
  [ -z "$(find "$PGDATA/pg_wal" -name "$(printf %08X "$theirs")????????????????")" ] || return 1
  left=$(psql -X -A -t "$(leader_conninfo) replication=yes" -c "TIMELINE_HISTORY $theirs" 2> /dev/null |
    sed 's/^[^|]*|//' | awk -v timeline="$ours" '$1 == timeline { print $2 }')
  [ -n "$left" ] && [ $((0x${left%/*} * 4294967296 + 0x${left#*/})) -lt $((0x${place%/*} * 4294967296 + 0x${place#*/})) ]
}

# Becomes a copy again if what it needs cannot come anymore. It has had one round to receive it.
catch_up() {
  before=$needed
  needed=$(sql -c "$NEEDED")
  if has_diverged; then
    say "has what the server that it follows does not have: that is taken back"
  elif [ -n "$needed" ] && [ "$needed" = "$before" ] && [ "$(is_gone "$needed")" = t ] && ! is_restorable "$needed"; then
    say "was away for so long that the server that it follows has no longer got what it needs"
    touch "$VOLUME/rewinding"
  else
    return 0
  fi
  join
  return 1
}

# A former primary stops for good. Where its writes end is kept, so that its successor is promoted only when it has all of them.
demote() {
  if is_up; then
    say "follows $source from now on: it takes no more writes"
    state stopping
    stop_server fast 300
  fi
  if [ "$(control "Database cluster state")" = "shut down" ]; then
    control "Latest checkpoint location" > "$VOLUME/demoted.new"
    sync "$VOLUME/demoted.new"
    mv "$VOLUME/demoted.new" "$VOLUME/demoted"
  fi
  touch "$PGDATA/standby.signal"
}

follow_source() {
  if has_data && ! is_standby && is_foreign; then
    state foreign
    return
  fi
  remember term
  rm -f "$RUN/passwords" "$RUN/password" "$RUN/application" "$RUN/archive" "$RUN/declared"
  declared_digest=''
  if has_data && ! is_standby && ! [ -f "$VOLUME/rewinding" ]; then demote; fi
  if ! has_data || [ -f "$VOLUME/rewinding" ]; then
    join
    return
  fi
  catch_up || return
  is_up || start_server
  keep_slots "$(others)" && note_timeline && state primary && flush
}
