# Keeps one PostgreSQL server as the topology says: the one primary, a standby of it, or stopped.
#
# The topology is a file that the operator writes and the node brings into the pod; it is read every INTERVAL seconds:
#   term         grows with each change of who leads; what is older than what this volume has seen is not obeyed
#   primary      the pod that accepts writes; empty while none does
#   upstream     the pod that standbys stream from; empty while they must not (their positions are being compared)
#   members      all pods, each with the address of its server: name=host:port
#   synchronous  how many standbys must confirm a commit
#   fresh        "yes" until there are data: only then may an empty volume become a new database
#   checkpoint   a number while the primary is about to hand over or to restart: it makes a checkpoint, once for each number
#   fenced       pods whose servers do not run until that ends, whatever they are
#   restart      a pod and a number: its server restarts, once for each number
#   source       where the server of another Database is that this one follows; empty while it does not (see server-replica.sh)
#
# Variables: POD_NAME, VOLUME, PGDATA, TOPOLOGY, CREDENTIALS, CONFIG, RUN, PORT, INTERVAL, SCRIPTS, STOP_SECONDS, FENCE_SECONDS, DECLARED, and
# APPLICATION and TLS if there are; those of server-archive.sh if WAL is archived.
set -u
umask 077
export PGPASSFILE="$RUN/pgpass"
export PGCONNECT_TIMEOUT=5
server=''
needed=''
# A connection to a node that is lost ends soon.
limits='keepalives_idle=10 keepalives_interval=5 keepalives_count=3 tcp_user_timeout=30000'
. "$SCRIPTS/server-parameters.sh"
. "$SCRIPTS/server-archive.sh"
. "$SCRIPTS/server-lease.sh"
. "$SCRIPTS/server-replica.sh"
. "$SCRIPTS/declared.sh"

say() {
  echo "server.sh: $*" >&2
}

# Tells status.sh how far the topology is carried out.
state() {
  echo "$1 $term" > "$RUN/state.new"
  mv "$RUN/state.new" "$RUN/state"
}

has_data() {
  [ -s "$PGDATA/PG_VERSION" ]
}

is_standby() {
  [ -f "$PGDATA/standby.signal" ]
}

is_up() {
  [ -n "$server" ] && kill -0 "$server" 2> /dev/null
}

# As the administrator. What this script changes must not wait for standbys, and passwords must not be logged.
sql() {
  PGOPTIONS="-c synchronous_commit=local -c log_statement=none -c log_min_duration_statement=-1" \
    psql -X -q -A -t -v ON_ERROR_STOP=1 -h "$RUN" -p "$PORT" -U postgres -d postgres "$@"
}

# All pods but this one.
others() {
  for member in $members; do
    [ "${member%%=*}" = "$POD_NAME" ] || echo "${member%%=*}"
  done
}

slot_of() {
  echo "member_$1" | tr - _
}

# How to reach another member's server.
conninfo() {
  address=$(echo "$members" | tr ' ' '\n' | sed -n "s/^$1=//p")
  echo "host=${address%:*} port=${address##*:} user=replicator passfile=$PGPASSFILE application_name=$POD_NAME $limits"
}

timeline() {
  control "Latest checkpoint's TimeLineID"
}

# The standbys of which a number must confirm each commit.
confirming() {
  [ "$synchronous" -eq 0 ] || echo "ANY $synchronous ($(others | sed 's/.*/"&"/' | paste -s -d , -))"
}

# Copies the certificate and its key, which the server refuses if others can read it.
take_certificate() {
  for file in tls.crt tls.key; do
    cat "$TLS/$file" > "$RUN/$file.new"
    mv "$RUN/$file.new" "$RUN/$file"
  done
}

# What this server adds to the settings of all. They are read again when they have changed.
settle() {
  echo "*:*:*:replicator:$(cat "$CREDENTIALS/replication-password")" > "$PGPASSFILE"
  [ -z "${TLS:-}" ] || take_certificate
  {
    # A standby that is away for long is copied again: its WAL must not fill the volume. The settings of all may say otherwise.
    echo "max_slot_wal_keep_size = $(df -P -k "$VOLUME" | awk 'NR == 2 { printf "%d", $2 / 5 }')kB"
    cat "$CONFIG/postgresql.conf"
    raised_limits
    # With other rules this is another text, so that they are read.
    echo "# $(sha256sum < "$CONFIG/pg_hba.conf")"
    echo "hba_file = '$CONFIG/pg_hba.conf'"
    echo "port = $PORT"
    echo "unix_socket_directories = '$RUN'"
    echo "synchronous_standby_names = '$(confirming)'"
    if [ -n "${TLS:-}" ]; then
      echo "ssl = on"
      echo "ssl_cert_file = '$RUN/tls.crt'"
      echo "ssl_key_file = '$RUN/tls.key'"
      # With another certificate this is another text, so that it is read.
      echo "# $(cat "$RUN/tls.crt" "$RUN/tls.key" | sha256sum)"
    fi
    if follows_source; then
      echo "primary_conninfo = '$(source_conninfo)'"
    elif [ -n "$upstream" ] && [ "$upstream" != "$POD_NAME" ]; then
      echo "primary_conninfo = '$(conninfo "$upstream")'"
      echo "primary_slot_name = '$(slot_of "$POD_NAME")'"
    fi
    # Not while positions are compared: nothing must arrive then. For who is promoted it tells which timelines are taken.
    if is_archived && [ -n "$primary" ] && [ -z "$source" ]; then echo "restore_command = 'sh \"\$SCRIPTS/restore-wal.sh\" \"%f\" \"%p\"'"; fi
  } > "$RUN/postgresql.conf.new"
  cmp -s "$RUN/postgresql.conf.new" "$RUN/postgresql.conf" && return
  mv "$RUN/postgresql.conf.new" "$RUN/postgresql.conf"
  if is_up; then kill -HUP "$server"; fi
  sha256sum < "$CONFIG/postgresql.conf" | cut -d ' ' -f 1 > "$RUN/configuration"
}

start_server() {
  postgres -D "$PGDATA" -c config_file="$RUN/postgresql.conf" &
  server=$!
}

# In a mode, and immediately if that takes more than the given number of seconds.
stop_server() {
  pg_ctl stop -D "$PGDATA" -m "$1" -t "${2:-86400}" > /dev/null || pg_ctl stop -D "$PGDATA" -m immediate > /dev/null
  wait "$server"
  server=''
}

# Less when the pod is terminating.
pause() {
  sleep "$INTERVAL" &
  wait $!
}

# Notes the term on the volume, under a name that says what was done in it.
remember() {
  [ "$(cat "$VOLUME/$1" 2> /dev/null)" = "$term" ] && return
  echo "$term" > "$VOLUME/$1.new"
  sync "$VOLUME/$1.new"
  mv "$VOLUME/$1.new" "$VOLUME/$1"
}

# Whether another member has lived on without this one: then its writes count, and not what is here.
is_overtaken() {
  for other in $(others); do
    theirs=$(psql -X -A -t -F ' ' "$(conninfo "$other") replication=yes" -c IDENTIFY_SYSTEM 2> /dev/null | cut -d ' ' -f 2)
    [ "${theirs:-0}" -gt "$(timeline)" ] && return 0
  done
  return 1
}

# Sets the passwords of the Secret when they are new. A next password comes before the present one.
set_passwords() {
  chosen="$CREDENTIALS/password"
  [ -s "$CREDENTIALS/next-password" ] && chosen="$CREDENTIALS/next-password"
  wanted=$(cat "$chosen" "$CREDENTIALS/replication-password" "$CREDENTIALS/monitor-password" | sha256sum)
  [ "$wanted" = "$(cat "$RUN/passwords" 2> /dev/null)" ] && return
  sql <<SQL || return 1
\set password \`cat '$chosen'\`
\set replication \`cat '$CREDENTIALS/replication-password'\`
\set monitor \`cat '$CREDENTIALS/monitor-password'\`
select 'create role replicator' where not exists (select from pg_roles where rolname = 'replicator') \gexec
select 'create role monitor' where not exists (select from pg_roles where rolname = 'monitor') \gexec
alter role postgres password :'password';
alter role replicator login replication password :'replication';
alter role monitor login password :'monitor';
grant pg_monitor to monitor;
grant execute on function pg_ls_dir(text, boolean, boolean), pg_stat_file(text, boolean), pg_read_binary_file(text),
  pg_read_binary_file(text, bigint, bigint, boolean) to replicator;
grant pg_read_all_settings to replicator;
select format('grant execute on function %s to replicator', oid::regprocedure) from pg_proc
  where proname in ('pg_backup_start', 'pg_backup_stop', 'pg_start_backup', 'pg_stop_backup', 'pg_create_restore_point',
    'pg_switch_wal') \gexec
SQL
  echo "$wanted" > "$RUN/passwords"
  sha256sum < "$chosen" | cut -d ' ' -f 1 > "$RUN/password"
}

# Makes the role and the database of the application, if there is one, and sets the password of the Secret when it is new. What is
# there already stays.
set_application() {
  [ -n "${APPLICATION:-}" ] || return 0
  wanted=$(cat "$APPLICATION/username" "$APPLICATION/dbname" "$APPLICATION/password" | sha256sum)
  [ "$wanted" = "$(cat "$RUN/application" 2> /dev/null)" ] && return
  sql <<SQL || return 1
\set owner \`cat '$APPLICATION/username'\`
\set database \`cat '$APPLICATION/dbname'\`
\set password \`cat '$APPLICATION/password'\`
select format('create role %I', :'owner') where not exists (select from pg_roles where rolname = :'owner') \gexec
alter role :"owner" login password :'password';
select format('create database %I owner %I', :'database', :'owner')
  where not exists (select from pg_database where datname = :'database') \gexec
SQL
  echo "$wanted" > "$RUN/application"
}

# Each other member has a slot, so that what it still needs stays. On a standby, and for who has left, there is none; one that
# has lost its WAL can no longer be used, and is recreated.
keep_slots() {
  slots=$(for other in $1; do slot_of "$other"; done | paste -s -d , -)
  sql <<SQL > /dev/null
select pg_create_physical_replication_slot(name, true) from unnest('{$slots}'::name[]) name
  where name not in (select slot_name from pg_replication_slots);
select pg_drop_replication_slot(slot_name) from pg_replication_slots
  where starts_with(slot_name, 'member_') and not active and (slot_name <> all ('{$slots}'::name[]) or wal_status = 'lost');
SQL
}

# Others can be rewound to this server only when its control file names the timeline that it writes, or receives. pg_rewind 15 sees no
# difference before that.
note_timeline() {
  written=$(sql <<'SQL'
select case when pg_is_in_recovery() then (select received_tli from pg_stat_wal_receiver)
  else ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int end;
SQL
  ) || return 1
  [ -z "$written" ] || [ "$written" -eq "$(timeline)" ] || sql -c checkpoint
}

# Writes out what is only in memory while writes are still taken, so that the stop of a hand-over has little left to do.
flush() {
  [ -n "$checkpoint" ] && [ "$(cat "$RUN/flushing" 2> /dev/null)" != "$checkpoint" ] || return 0
  echo "$checkpoint" > "$RUN/flushing"
  { sql -c checkpoint && echo "$checkpoint" > "$RUN/flushed"; } &
}

lead() {
  if follows_source; then
    follow_source
    return
  fi
  if ! has_data; then
    [ "$fresh" = yes ] || { state empty; return; }
    say "makes a new database"
    rm -rf "$PGDATA.new"
    initdb -k -D "$PGDATA.new" -U postgres -E UTF8 -A scram-sha-256 --pwfile="$CREDENTIALS/password" > /dev/null || return
    mv "$PGDATA.new" "$PGDATA"
  fi
  is_up || is_standby || ! is_overtaken || { state overtaken; return; }
  if ! is_up || is_standby; then
    is_leased || { wait_for_lease; return; }
    rm -f "$RUN/fenced"
    is_up || start_server
  fi
  remember term
  rm -f "$VOLUME/demoted"
  if is_standby; then
    queue_received || return
    say "becomes the primary of term $term"
    pg_ctl promote -D "$PGDATA" > /dev/null || return
  fi
  note_timeline && set_passwords && keep_slots "$(others)" && state primary && watch learn_archive && flush && set_application && keep_declared
}

# Whether the primary can be copied from: it takes writes, or it follows another Database, too; and its control file names its timeline.
is_ready_to_be_followed() {
  [ "$(psql -X -A -t "$(leader_conninfo) dbname=postgres" 2> /dev/null <<SQL
select timeline_id = case when not pg_is_in_recovery() then ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int
  when '$source' <> '' then $(identity 2 | grep . || echo 0) end from pg_control_checkpoint();
SQL
  )" = t ]
}

# Whether the primary has no longer got the WAL from a place on: t or f, nothing if it does not answer. No place, no need.
is_gone() {
  [ -n "$1" ] || { echo f; return; }
  psql -X -A -t "$(leader_conninfo) dbname=postgres" 2> /dev/null <<SQL
select (div('$1'::pg_lsn + 1 - '0/0', size) < min(('x' || substr(name, 9, 8))::bit(32)::bigint * div(4294967296, size)
    + ('x' || substr(name, 17))::bit(32)::bigint)) from pg_ls_dir('pg_wal', true, false) name,
  lateral (select setting::numeric from pg_settings where pg_settings.name = 'wal_segment_size') settings(size)
  where name ~ '^[0-9A-F]{24}$' group by size;
SQL
}

# Makes what is here a copy of the primary: by taking back what it does not have, or else from scratch.
join() {
  is_ready_to_be_followed || { state waiting; return; }
  if follows_source && has_data && is_foreign; then
    state foreign
    return
  fi
  if is_up; then stop_server fast; fi
  state joining
  if has_data && ! [ -f "$VOLUME/rewinding" ]; then
    save_unarchived || { state waiting; return; }
    touch "$VOLUME/rewinding"
    # What is taken back begins again at a place where both were one. Without the primary's WAL from there on it would find
    # its own, in which it went another way.
    pg_rewind -D "$PGDATA" --source-server="$(leader_conninfo) dbname=postgres" &&
      [ "$(is_gone "$(sed -n 's/^START WAL LOCATION: \([^ ]*\) .*/\1/p' "$PGDATA/backup_label" 2> /dev/null)")" = f ] &&
      rm "$VOLUME/rewinding"
  fi
  if ! has_data || [ -f "$VOLUME/rewinding" ]; then
    say "copies all of $primary"
    rm -rf "$PGDATA" "$PGDATA.new"
    pg_basebackup -D "$PGDATA.new" -d "$(leader_conninfo)" -c fast || return
    rm -f "$VOLUME/rewinding"
    mv "$PGDATA.new" "$PGDATA"
  fi
  touch "$PGDATA/standby.signal"
  remember followed
}

# From where on a standby that receives nothing needs WAL.
NEEDED='select greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) where not exists (select from pg_stat_wal_receiver)'

follow() {
  remember term
  rm -f "$RUN/passwords" "$RUN/application" "$RUN/archive" "$RUN/declared"
  declared_digest=''
  if is_up && ! is_standby; then
    say "is no longer the primary: it stops"
    # Who hands over stops in good order, so that standbys get all of it; who was replaced stops at once.
    state stopping
    if [ "$upstream" = "$POD_NAME" ]; then stop_server fast 300; else stop_server immediate; fi
  fi
  if [ -n "$primary" ] && [ "$(cat "$VOLUME/followed" 2> /dev/null)" != "$term" ]; then
    join
    return
  fi
  if ! has_data; then
    state empty
  elif ! is_standby; then
    state stopped
  else
    # While it replays what is archived, it needs nothing of its primary.
    [ -z "$primary" ] || catch_up || return
    is_up || start_server
    keep_slots '' || return
    [ -n "$source" ] || watch keep_unarchived
    # Without an upstream nothing must arrive anymore before this is reported.
    [ -z "$upstream" ] && [ -n "$(sql -c 'select pid from pg_stat_wal_receiver')" ] || state standby
  fi
}

is_fenced() {
  case " $fenced " in *" $POD_NAME "*) ;; *) return 1 ;; esac
}

# The user has fenced this server: its pod and its data stay as they are.
halt() {
  if is_up; then
    say "is fenced: it stops"
    state stopping
    stop_server fast 300
  fi
  rm -f "$RUN/passwords" "$RUN/application" "$RUN/archive" "$RUN/declared"
  state halted
}

# The pod ends. A server has the pod's grace to write everything out; a primary with standbys has as long as in a hand-over, and reports
# where it has stopped until the operator has asked, so that one of them replaces it without a loss.
end() {
  is_up || exit 0
  if is_standby || [ -z "$(others)" ]; then
    stop_server fast "${STOP_SECONDS:-40}"
    exit 0
  fi
  state stopping
  stop_server fast 300
  rm -f "$RUN/asked"
  state stopped
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    pause
    [ -f "$RUN/asked" ] && break
  done
  # The answer is on its way.
  pause
  exit 0
}
trap end TERM INT

# What an earlier container of this pod has left is not true any more.
rm -rf "$PGDATA/postmaster.pid" "$RUN"/*
tr -d - < /proc/sys/kernel/random/uuid > "$RUN/life"
# When a kubelet mounts a volume, it lets the fsGroup write everywhere; PostgreSQL refuses a data directory with that mode.
if has_data; then chmod 0700 "$PGDATA"; fi

while :; do
  checkpoint=''
  restart=''
  fenced=''
  source=''
  . "$TOPOLOGY/topology"
  keep_watch
  if [ "$term" -lt "$(cat "$VOLUME/term" 2> /dev/null || echo 0)" ]; then
    say "waits for a newer topology than that of term $term"
    state waiting
  elif is_fenced; then
    halt
  else
    settle
    stop_for_restart
    archive_aside
    if [ "$primary" = "$POD_NAME" ]; then lead; else follow; fi
  fi
  pause
done
