# What backup-dump.sh and restore-dump.sh do with a server, whichever it is.
#
# Variables: ENGINE, HOST, PORT, USERNAME, PASSWORD.
export PGPASSWORD="$PASSWORD" MYSQL_PWD="$PASSWORD"

# All databases into a file.
dump_all() {
  case $ENGINE in
    postgres) pg_dumpall -h "$HOST" -p "$PORT" -U "$USERNAME" --clean --if-exists > "$1" ;;
    mysql) mysqldump -h "$HOST" -P "$PORT" -u "$USERNAME" --all-databases --single-transaction --routines --events > "$1" ;;
  esac
}

# Whether a dump has come to its end: its last lines say so.
is_whole() {
  tail -n 5 "$1" | grep -q -e '^-- PostgreSQL database cluster dump complete$' -e '^-- Dump completed'
}

# What MySQL runs after a dump: the users in it take effect at once, and the administrator keeps the password of the Secret.
after_dump() {
  quoted=$(printf %s "$PASSWORD" | sed "s/[\\\\']/\\\\&/g")
  printf '%s\n' 'flush privileges;' "alter user if exists '$USERNAME'@'%' identified by '$quoted', '$USERNAME'@'localhost' identified by '$quoted';"
}

# A file into the server. Roles that are there stay, and those that the operator looks after keep their passwords;
# databases give way to those of the dump, even while a client is connected. Rows of tables are not touched.
load_all() {
  case $ENGINE in
    postgres)
      sed -e '1,/^-- Databases$/{' \
        -e '/^DROP ROLE /d' \
        -e 's/^CREATE ROLE \(.*\);$/DO $$BEGIN CREATE ROLE \1; EXCEPTION WHEN duplicate_object THEN NULL; END$$;/' \
        -e "/^ALTER ROLE \\(postgres\\|replicator\\|monitor\\|$USERNAME\\) WITH /d" \
        -e 's/^\(DROP DATABASE IF EXISTS .*\);$/\1 WITH (FORCE);/' \
        -e '}' \
        -e '/^COPY .* FROM stdin;$/,/^\\\.$/!s/^\(DROP DATABASE \(postgres\|template1\)\);$/\1 WITH (FORCE);/' \
        "$1" | psql -X -q -v ON_ERROR_STOP=1 -h "$HOST" -p "$PORT" -U "$USERNAME" -d postgres > /dev/null
      ;;
    mysql) { cat "$1" && after_dump; } | mysql -h "$HOST" -P "$PORT" -u "$USERNAME" ;;
  esac
}
