# The part of server.sh that is about parameters: what a standby needs more of than is requested, and restarts for what a reload does
# not change.

# A standby neither starts nor replays with less of these than its primary had when it wrote the WAL. Until the WAL reports that the
# primary has less, a standby has as much: servers can restart in any order.
raised_limits() {
  is_standby || return 0
  pg_controldata -D "$PGDATA" | sed -n '
    s/^max_connections setting: */max_connections /p
    s/^max_worker_processes setting: */max_worker_processes /p
    s/^max_wal_senders setting: */max_wal_senders /p
    s/^max_prepared_xacts setting: */max_prepared_transactions /p
    s/^max_locks_per_xact setting: */max_locks_per_transaction /p' |
    awk -F "[ =']+" 'FNR == NR { has[tolower($1)] = $2; next } has[$1] + 0 < $2 { print $1 " = " $2 }' "$CONFIG/postgresql.conf" -
}

# Stops the server, once for each number that the topology has for this pod: what follows in server.sh starts it again. A primary has
# made the checkpoint of that number before, so that it stops within moments.
stop_for_restart() {
  number=${restart#* }
  [ "${restart% *}" = "$POD_NAME" ] && is_up && [ "$(cat "$RUN/restarted" 2> /dev/null)" != "$number" ] || return 0
  is_standby || [ "$(cat "$RUN/flushed" 2> /dev/null)" = "$number" ] || return 0
  echo "$number" > "$RUN/restarted"
  say "restarts with new parameters"
  state restarting
  stop_server fast 300
}
