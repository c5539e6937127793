# Upgrades the data of a stopped primary to another major version of PostgreSQL. MODE says which part of it:
#   programs  copies the programs of this image, the old version, to where a container of the new version finds them
#   check     rehearses all of it on a copy that a running server gives; the servers go on meanwhile
#   restore   upgrades a copy of PGDATA; only what has started with the new version takes its place, and the old data stay aside
#   undo      puts the old data back, unless the new version has taken writes
#   finish    removes the old data
# Each part can be cut off at any point and begun again. What is linked by pg_upgrade is always a copy: the data of the old version are not
# touched before they are removed.
#
# Variables: MODE, NAME, PGDATA, PROGRAMS, FROM and TO (major versions), CONFIG, REPORT; for a rehearsal HOST, PORT and PASSWORD of the
# role replicator.
set -eu
export LC_ALL=C
copy="${PGDATA:-}.copy-$NAME"
work="${PGDATA:-}.upgrading-$NAME"
aside="${PGDATA:-}.before-$NAME"
LIBRARIES='^(ld-linux|libc|libm|libdl|librt|libpthread)[.-]'

fail() {
  echo "upgrade.sh: $1" >&2
  echo "error=$1" >> "$REPORT"
  exit 1
}

# What the control file of a cluster tells, which only programs of its version can read.
control() {
  "$1/pg_controldata" -D "$2" | sed -n "s/^$3: *//p"
}

# The programs find what belongs to them by its place relative to their own. Libraries that the new image may have in another version
# come along, and are used by these programs alone.
programs() {
  bin=$(dirname "$(readlink -f "$(command -v postgres)")")
  # Its data directory does not matter here, but it must be named.
  share=$(initdb --show -D "$PROGRAMS/none" 2>&1 | sed -n 's/^share_path=//p')
  for folder in "$(dirname "$bin")" "$share"; do
    [ -d "$folder" ] && [ "$folder" != /usr ] || fail "the programs of version $FROM are in $folder, from where they cannot be copied: use another image"
    mkdir -p "$PROGRAMS/root$folder"
    cp -a "$folder/." "$PROGRAMS/root$folder"
  done
  mkdir -p "$PROGRAMS/libraries"
  ldd "$bin"/* 2> /dev/null | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p' | sort -u | while read -r library; do
    basename "$library" | grep -Eq "$LIBRARIES" || cp -L "$library" "$PROGRAMS/libraries/"
  done
  for program in "$PROGRAMS/root$bin"/*; do
    name=$(basename "$program")
    mv "$program" "$program.program"
    printf '#!/bin/sh\nLD_LIBRARY_PATH="%s${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" exec "%s" "$@"\n' "$PROGRAMS/libraries" "$program.program" > "$program"
    chmod 755 "$program"
  done
  echo "$PROGRAMS/root$bin" > "$PROGRAMS/bin"
}

# Whether these are the programs of the versions that are expected.
find_programs() {
  old=$(cat "$PROGRAMS/bin")
  new=$(dirname "$(readlink -f "$(command -v postgres)")")
  "$old/postgres" --version > "$scratch/version" 2>&1 || fail "the programs of version $FROM do not run in the image of version $TO: $(tail -n 1 "$scratch/version")"
  grep -q "PostgreSQL) $FROM[^0-9]" "$scratch/version" || fail "the image of version $FROM has $(cat "$scratch/version")"
  "$new/postgres" --version | grep -q "PostgreSQL) $TO[^0-9]" || fail "the image of version $TO has $("$new/postgres" --version)"
  [ -x "$new/pg_upgrade" ] || fail "the image of version $TO has no pg_upgrade"
}

# What a log says against it: a parameter that is not accepted, or the last serious thing.
why() {
  { grep -m 1 'configuration parameter' "$1" || grep -i -e fatal -e panic -e error "$1" | tail -n 1; } | sed 's/.*\(LOG\|FATAL\|PANIC\|ERROR\): *//'
}

# A server of the old version on a copy: what a crash would have to recover is recovered, and what the new one must have is read.
examine() {
  rm -f "$copy/standby.signal" "$copy/postmaster.pid"
  "$old/pg_ctl" start -D "$copy" -w -t 3600 -l "$scratch/old.log" -o "-c config_file=$scratch/settings" > /dev/null || fail "the copy does not start with version $FROM: $(why "$scratch/old.log")"
  psql -X -A -t -F ' ' -h "$scratch" -U postgres -d template1 > "$scratch/cluster" <<'SQL'
select datlocprovider, pg_encoding_to_char(encoding), datcollate, datctype from pg_database where datname = 'template0';
SQL
  psql -X -A -t -h "$scratch" -U postgres -d template1 -c 'select count(*) from pg_database' > "$scratch/databases"
  "$old/pg_ctl" stop -D "$copy" -w -m fast -t 3600 > /dev/null
}

# An empty cluster of the new version that is like the old one.
make_new() {
  read -r provider encoding collate ctype < "$scratch/cluster"
  checksums=-k
  if [ "$(control "$old" "$copy" 'Data page checksum version')" = 0 ]; then
    checksums=''
    if [ "$TO" -ge 18 ]; then checksums=--no-data-checksums; fi
  fi
  size=$(($(control "$old" "$copy" 'Bytes per WAL segment') / 1048576))
  [ "$provider" = c ] || fail "the databases use the locale provider $provider, which is not supported: only libc is"
  rm -rf "$work"
  "$new/initdb" -D "$work" -U postgres -E "$encoding" --lc-collate="$collate" --lc-ctype="$ctype" $checksums --wal-segsize="$size" -A scram-sha-256 --pwfile="$scratch/unused" > "$scratch/initdb.log" 2>&1 || fail "version $TO cannot create a cluster like that of version $FROM: $(tail -n 1 "$scratch/initdb.log")"
}

# Reads what pg_upgrade objects to, with the files that list the objects.
objections() {
  tr -s ' \n' ' ' < "$scratch/upgrade.log" | sed 's/.*fatal *//; s/Failure, exiting.*//'
  find "$work/pg_upgrade_output.d" -name '*.txt' -exec head -n 5 {} + 2> /dev/null | tr -s '\n' ' '
}

upgrade() {
  make_new
  cd "$scratch"
  # In the same steps as pg_upgrade itself would: what it objects to is known before anything is done.
  for step in --check --link; do
    "$new/pg_upgrade" -b "$old" -B "$new" -d "$copy" -D "$work" -U postgres -s "$scratch" -p 50432 -P 50433 "$step" \
      -o "-c config_file=$scratch/settings" -O "-c config_file=$scratch/settings" > "$scratch/upgrade.log" 2>&1 && continue
    cat "$scratch/upgrade.log" >&2
    fail "pg_upgrade refuses: $(objections | cut -c 1-1500)"
  done
}

# Whether the new version starts with the parameters that the servers will have, and has all databases; statistics are made for it.
try_new() {
  { cat "$CONFIG/postgresql.conf"; cat "$scratch/settings"; echo "ssl = off"; echo "archive_mode = off"; } > "$scratch/servers.conf"
  "$new/pg_ctl" start -D "$work" -w -t 3600 -l "$scratch/new.log" -o "-c config_file=$scratch/servers.conf" > /dev/null || fail "version $TO does not start with the parameters of the servers: $(why "$scratch/new.log")"
  count=$(psql -X -A -t -h "$scratch" -U postgres -d template1 -c 'select count(*) from pg_database')
  [ "$count" = "$(cat "$scratch/databases")" ] || fail "$count databases were upgraded, of $(cat "$scratch/databases")"
  "$new/vacuumdb" -h "$scratch" -U postgres --all --analyze-only > "$scratch/vacuum.log" 2>&1 || fail "the upgraded databases cannot be read: $(why "$scratch/vacuum.log")"
  "$new/pg_ctl" stop -D "$work" -w -m fast -t 3600 > /dev/null
  if [ "$(control "$new" "$work" 'Data page checksum version')" != 0 ]; then
    "$new/pg_checksums" --check -D "$work" > "$scratch/checksums.log" 2>&1 || fail "pages of the upgraded data are damaged: $(why "$scratch/checksums.log")"
  fi
}

prepare() {
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  echo unused > "$scratch/unused"
  echo 'local all all trust' > "$scratch/hba"
  { echo "listen_addresses = ''"; echo "unix_socket_directories = '$scratch'"; echo "hba_file = '$scratch/hba'"; } > "$scratch/settings"
  find_programs
}

check() {
  began=$(date +%s)
  prepare
  rm -rf "$copy"
  PGPASSWORD="$PASSWORD" PGCONNECT_TIMEOUT=10 "$old/pg_basebackup" -D "$copy" -h "$HOST" -p "$PORT" -U replicator -X stream -c fast > "$scratch/copy.log" 2>&1 || fail "the server $HOST did not give a copy: $(tail -n 1 "$scratch/copy.log")"
  bytes=$(du -sk "$copy" | cut -f 1)
  examine
  upgrade
  try_new
  rm -rf "$copy" "$work"
  { echo "kilobytes=$bytes"; echo "seconds=$(($(date +%s) - began))"; } >> "$REPORT"
}

restore() {
  # All was done before, and not noted.
  if [ -d "$aside" ] && [ ! -d "$work" ] && [ ! -e "$work.ready" ]; then exit 0; fi
  prepare
  if [ ! -e "$work.ready" ]; then
    [ "$(cat "$PGDATA/PG_VERSION")" = "$FROM" ] || fail "the data are of version $(cat "$PGDATA/PG_VERSION"), not $FROM"
    [ ! -e "$PGDATA/standby.signal" ] || fail "the data are of a standby: the primary's are upgraded"
    [ "$(control "$old" "$PGDATA" 'Database cluster state')" = 'shut down' ] || fail "the server did not stop in order: start it with version $FROM again"
    rm -rf "$copy"
    needed=$(du -sk "$PGDATA" | cut -f 1)
    left=$(df -P -k "$PGDATA" | awk 'NR == 2 { print $4 }')
    cp -a --reflink=always "$PGDATA" "$copy" 2> /dev/null || {
      rm -rf "$copy"
      [ "$left" -gt "$((needed + needed / 10))" ] || fail "the volume has $((left / 1024)) MiB left, and a copy of the data needs $((needed / 1024)): raise spec.size"
      cp -a "$PGDATA" "$copy"
    }
    examine
    upgrade
    try_new
    # What is linked stays as it is when the other name of it is removed.
    rm -rf "$copy"
    "$new/initdb" --sync-only -D "$work" > /dev/null
    control "$new" "$work" 'Latest checkpoint location' > "$work.ready"
  fi
  if [ ! -d "$aside" ]; then mv "$PGDATA" "$aside"; fi
  if [ -d "$work" ]; then mv "$work" "$PGDATA"; fi
  mv "$work.ready" "$aside.began"
}

# The new version has taken no writes as long as it has made no checkpoint.
undo() {
  rm -rf "$copy"
  if [ -d "$aside" ]; then
    if [ -e "$PGDATA" ] && [ -e "$aside.began" ]; then
      new=$(dirname "$(readlink -f "$(command -v postgres)")")
      [ "$(control "$new" "$PGDATA" 'Database cluster state')" = 'shut down' ] && [ "$(control "$new" "$PGDATA" 'Latest checkpoint location')" = "$(cat "$aside.began")" ] ||
        fail "the servers have run with version $TO: going back would lose what was written since; the data of version $FROM are in $aside"
    fi
    rm -rf "$work"
    if [ -e "$PGDATA" ]; then mv "$PGDATA" "$work"; fi
    mv "$aside" "$PGDATA"
  fi
  rm -rf "$work" "$work.ready" "$aside.began"
}

finish() {
  [ "$(cat "$PGDATA/PG_VERSION")" = "$TO" ] || fail "the data in $PGDATA are not of version $TO: those of before are not removed"
  rm -rf "$aside" "$aside.began"
}

"$MODE"
