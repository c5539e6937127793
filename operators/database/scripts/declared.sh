# Carries out the roles, databases, schemas and extensions that are declared, on the primary; read in by server.sh.
#
# The file is JSON and goes to PostgreSQL as it is: names and texts are quoted there, and never become part of a shell's command or of a
# connection string. What differs is changed, what does not is not written. Each failure is noted, and keeps nothing else from being done.
#
# Variables: those of server.sh, and DECLARED, DECLARED_SECONDS (after which it is looked at again; default: 30).
applying=''
declared_digest=''
declared_at=0

# Runs SQL of a file in a database, whose name comes in a variable of libpq: as an argument it could be a connection string. What fails
# is reported by the SQL itself, and must not be logged: a statement can have a password's verifier.
declared_sql() {
  PGDATABASE="$1"
  shift
  PGDATABASE="$PGDATABASE" PGOPTIONS="-c synchronous_commit=local -c log_statement=none -c log_min_duration_statement=-1 -c log_min_error_statement=panic -c lock_timeout=10s" \
    psql -X -q -A -t -h "$RUN" -p "$PORT" -U postgres "$@"
}

# What is declared of the database with this number, as a text.
of_database() {
  declared_sql postgres -v index="$1" -v field="$2" <<'SQL'
\set declared `cat "$RUN/declared.json"`
select :'declared'::jsonb -> 'databases' -> :index ->> :'field';
SQL
}

# Schemas and extensions of the database with this number. Without a connection there is one failure: that.
carry_out_database() {
  name=$(of_database "$1" name)
  [ "$(of_database "$1" ensure)" = present ] || return 0
  declared_sql "$name" -v index="$1" -f "$SCRIPTS/declared-schemas.sql" 2> "$RUN/declared.error" && return
  declared_sql postgres -v message="$(head -n 1 "$RUN/declared.error")" -v index="$1" <<'SQL'
\set declared `cat "$RUN/declared.json"`
select jsonb_build_object('kind', 'database', 'name', :'declared'::jsonb -> 'databases' -> :index ->> 'name', 'message', :'message');
SQL
}

# Absent databases are dropped before absent roles, which can own them. Prints what failed, a line each.
carry_out() {
  declared_sql postgres -v ensure=present -f "$SCRIPTS/declared-roles.sql" || return
  count=$(declared_sql postgres <<'SQL'
\set declared `cat "$RUN/declared.json"`
select jsonb_array_length(:'declared'::jsonb -> 'databases');
SQL
  ) && [ -n "$count" ] || return
  number=0
  while [ "$number" -lt "$count" ]; do
    problem=$(declared_sql postgres -v index="$number" -f "$SCRIPTS/declared-database.sql" 2> /dev/null) || return
    if [ -n "$problem" ]; then printf '%s\n' "$problem"; else carry_out_database "$number" || return; fi
    number=$((number + 1))
  done
  declared_sql postgres -v ensure=absent -f "$SCRIPTS/declared-roles.sql"
}

# Beside all else that is done here: an extension can take long. Only a primary has something to report.
report_declared() {
  carry_out > "$RUN/declared.problems" || return
  read -r role _ < "$RUN/state"
  [ "$role" = primary ] || return
  # Not echo, which changes what looks like an escape.
  printf 'declared=%s\ndeclaredProblems=[%s]\n' "$declared_digest" "$(paste -s -d , "$RUN/declared.problems")" > "$RUN/declared.new"
  mv "$RUN/declared.new" "$RUN/declared"
}

keep_declared() {
  if ! [ -s "$DECLARED/declared.json" ]; then
    rm -f "$RUN/declared"
    declared_digest=''
    return
  fi
  if [ -n "$applying" ] && kill -0 "$applying" 2> /dev/null; then return; fi
  cat "$DECLARED/declared.json" > "$RUN/declared.json"
  digest=$(sha256sum < "$RUN/declared.json" | cut -d ' ' -f 1)
  if [ "$digest" = "$declared_digest" ] && [ $(($(uptime) - declared_at)) -lt "${DECLARED_SECONDS:-30}" ]; then return; fi
  declared_digest=$digest
  declared_at=$(uptime)
  report_declared &
  applying=$!
}
