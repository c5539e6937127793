# Tells how the server of this pod is doing, one fact per line: name=value. What is not known is left out.
#
#   role, term   how far server.sh has carried out the topology, and which
#   timeline, lsn  up to where the data of a standby go, or of a server that has stopped in good order
#   streaming    "yes" if a standby receives from its primary
#   behind       seconds since a standby replayed something that it has not got all of
#   confirming   which standbys a primary waits for, or would
#   volumeTerm, data  the latest term that the volume has seen, and whether the data on it are of a primary or a standby
#   demoted      where the writes of a primary ended that follows another Database now
#   size, used   of the volume, in KiB
#   unarchived, archiveLag, archiveFailures  of a primary that archives its WAL: segments that wait, seconds that the oldest
#                has waited, and how often it did not succeed
#   aside        files that this server had not archived when it was the primary, and that still wait for it
#   checkpoint   the last that was asked for before a hand-over, and made
#   restarted    the last restart that was ordered, and begun
#   configuration  a digest of the configuration that the server has read
#   pendingRestart  parameters that get their new value only by a restart
#   rejected     parameters that the server does not accept
#   token        of this report: the operator returns it, which proves that it was there later
#   fencing      seconds without contact after which this server stops by itself while it leads
#   declared, declaredProblems  the digest of the declared roles and databases that a primary has carried out, and what failed, as JSON
#   segmentSize, position, history, archived, waiting, backups  of a primary that archives its WAL: see archive-facts.sh
#   password     a digest of the administrator's password that the server was last given
#
# Its argument extends the lease of the primary, or of the next one (see server-lease.sh): the term in which it leads, and the token of an
# earlier report, which counts only in the container that has given it.
#
# Variables: VOLUME, PGDATA, RUN, PORT.
set -u

touch "$RUN/asked"
life=$(cat "$RUN/life" 2> /dev/null)
token=${1:-}
token=${token#*.}
if [ -n "$token" ] && [ "${token%.*}" = "$life" ]; then
  read -r _ last 2> /dev/null < "$RUN/lease.operator" || last=0
  if [ "${token#*.}" -ge "$last" ]; then
    echo "${1%%.*} ${token#*.}" > "$RUN/lease.$$"
    mv "$RUN/lease.$$" "$RUN/lease.operator"
  fi
fi
read -r role term 2> /dev/null < "$RUN/state" && echo "role=$role" && echo "term=$term"
read -r uptime _ < /proc/uptime
[ -n "$life" ] && echo "token=$life.${uptime%.*}"
[ -f "$RUN/fencing" ] && echo "fencing=$(cat "$RUN/fencing")"
[ -f "$RUN/password" ] && echo "password=$(cat "$RUN/password")"
[ -d "$VOLUME/unarchived" ] && echo "aside=$(find "$VOLUME/unarchived" -type f ! -name '.*' | wc -l)"
[ -f "$RUN/archive" ] && cat "$RUN/archive"
[ -f "$RUN/declared" ] && cat "$RUN/declared"
[ -f "$RUN/flushed" ] && echo "checkpoint=$(cat "$RUN/flushed")"
[ -f "$VOLUME/term" ] && echo "volumeTerm=$(cat "$VOLUME/term")"
[ -s "$VOLUME/demoted" ] && echo "demoted=$(cat "$VOLUME/demoted")"
if [ -s "$PGDATA/PG_VERSION" ]; then
  if [ -f "$PGDATA/standby.signal" ]; then echo data=standby; else echo data=primary; fi
fi
df -P -k "$VOLUME" | awk 'NR == 2 { print "size=" $2; print "used=" $3 }'
[ -f "$RUN/restarted" ] && echo "restarted=$(cat "$RUN/restarted")"
[ -f "$RUN/configuration" ] && echo "configuration=$(cat "$RUN/configuration")"
if pg_isready -q -h "$RUN" -p "$PORT" -U postgres; then
  psql -X -q -A -t -h "$RUN" -p "$PORT" -U postgres -d postgres <<'SQL'
-- Reading the files marks what needs a restart, also before the server itself has read them.
select 'rejected=' || coalesce(string_agg(distinct coalesce(name, 'a line'), ' '), '') from pg_file_settings
  where error is not null and coalesce(name, '') <> all (select name from pg_settings where pending_restart);
select 'pendingRestart=' || coalesce(string_agg(name, ' ' order by name), '') from pg_settings where pending_restart;
select 'confirming=' || current_setting('synchronous_standby_names');
select pg_is_in_recovery() as standby \gset
\if :standby
select 'lsn=' || coalesce(greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())::text, '0/0');
select 'timeline=' || coalesce((select received_tli from pg_stat_wal_receiver), (select timeline_id from pg_control_checkpoint()));
select 'streaming=' || case when exists (select from pg_stat_wal_receiver where status = 'streaming') then 'yes' else 'no' end;
select 'behind=' || case when pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() then 0
  else coalesce(extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::int, 0) end;
\else
select 'timeline=' || ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int;
select current_setting('archive_mode') <> 'off' as archives \gset
\if :archives
select 'archiveFailures=' || failed_count from pg_stat_archiver;
select format(E'unarchived=%s\narchiveLag=%s', count(*), greatest(0, extract(epoch from clock_timestamp() - min(modification))::int))
  from pg_ls_archive_statusdir() where name like '%.ready';
\endif
\endif
SQL
elif pg_controldata -D "$PGDATA" 2> /dev/null | grep -q 'cluster state: *shut down'; then
  pg_controldata -D "$PGDATA" | sed -n "s/^Latest checkpoint location: */lsn=/p; s/^Latest checkpoint's TimeLineID: */timeline=/p"
fi
