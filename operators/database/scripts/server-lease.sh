# Stops a primary that is cut off, before another server is promoted; read in by server.sh.
#
# - A primary with standbys needs a lease, which lasts FENCE_SECONDS. Without a lease of its term no server starts as the primary, and
#   none is promoted. When it expires, the server stops at once, and starts again when the operator extends the lease.
# - The operator extends it with its queries (see status.sh), and so does a standby that receives what the primary writes. Both prove that
#   there was contact after a moment of this node's own clock, which counts from there: the operator returns the token of an earlier
#   report, a standby confirms what was written then. It does not matter how long a message was on its way.
# - A server without others needs no lease.
#
# Variables: those of server.sh, and FENCE_SECONDS.
watching_lease=''

# Seconds since the node has started; no change of its time changes them.
uptime() {
  read -r seconds _ < /proc/uptime
  echo "${seconds%.*}"
}

# The latest moment at which there was certainly contact: in a term, or in any.
contact() {
  cat "$RUN/lease.operator" "$RUN/lease.standbys" 2> /dev/null |
    awk -v term="${1:-}" '(term == "" || $1 == term) && $2 > last { last = $2 } END { print last + 0 }'
}

is_leased() {
  [ -z "${FENCE_SECONDS:-}" ] || [ -z "$(others)" ] || [ $(($(uptime) - $(contact "$term"))) -lt "$FENCE_SECONDS" ]
}

# What a server that has no lease is: it was stopped, or has not led yet.
wait_for_lease() {
  if [ -f "$RUN/fenced" ]; then state fenced; else state waiting; fi
}

# The process that accepts connections, if it runs: a file alone can be of an earlier one.
find_postmaster() {
  read -r postmaster 2> /dev/null < "$PGDATA/postmaster.pid" &&
    [ "$(readlink "/proc/$postmaster/cwd")" = "$(cd "$PGDATA" && pwd -P)" ]
}

# A standby extends the lease in the term that this server has carried out.
extend_lease() {
  echo "$term $1" > "$RUN/lease.new"
  mv "$RUN/lease.new" "$RUN/lease.standbys"
}

# Writes something, which a standby confirms only if it receives now.
ask_standbys() {
  began=$(uptime)
  place=$(sql -c "select pg_logical_emit_message(true, 'lease', '')") || return
  names=$(others | paste -s -d , -)
  for _ in 1 2 3 4 5; do
    if [ -n "$(sql -c "select pid from pg_stat_replication where application_name = any('{$names}') and write_lsn >= '$place'")" ]; then
      extend_lease "$began"
      return
    fi
    sleep "$INTERVAL"
  done
}

# Stops the server without waiting for anything. What does not stop by itself is killed.
cut_off() {
  say "had no contact with the operator or a standby for $FENCE_SECONDS seconds: it stops, because another server can be promoted"
  echo "$term" > "$RUN/fenced"
  kill -QUIT "$postmaster"
  for _ in 1 2 3 4 5; do
    sleep 1
    find_postmaster || return
  done
  for process in /proc/[0-9]*; do
    [ "$(readlink "$process/cwd")" = "$(cd "$PGDATA" && pwd -P)" ] && kill -KILL "${process#/proc/}"
  done
}

# Beside all else that is done here, since a checkpoint or a query can take long.
watch_lease() {
  asking=''
  while sleep "$INTERVAL" && kill -0 $$ 2> /dev/null; do
    . "$TOPOLOGY/topology"
    read -r role term 2> /dev/null < "$RUN/state" || continue
    if [ -z "$(others)" ]; then
      # So that it has one when it gets its first standby.
      rm -f "$RUN/fencing"
      extend_lease "$(uptime)"
      continue
    fi
    echo "$FENCE_SECONDS" > "$RUN/fencing"
    # One that stops in good order takes no writes.
    if is_standby || [ "$role" = stopping ]; then continue; fi
    find_postmaster || continue
    age=$(($(uptime) - $(contact)))
    # Standbys are asked only when the operator is late: what is written for it fills the archive of an idle database.
    if [ "$age" -ge "$FENCE_SECONDS" ]; then
      cut_off
    elif [ $((age * 3)) -ge $((FENCE_SECONDS * 2)) ]; then
      if [ -z "$asking" ] || ! kill -0 "$asking" 2> /dev/null; then
        ask_standbys &
        asking=$!
      fi
    fi
  done
}

keep_watch() {
  [ -n "${FENCE_SECONDS:-}" ] || return 0
  if [ -n "$watching_lease" ] && kill -0 "$watching_lease" 2> /dev/null; then return; fi
  watch_lease &
  watching_lease=$!
}
