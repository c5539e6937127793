# How pgBackRest reaches the object store; for other scripts to read in.
#
# Keys come from files that change when their Secrets do, and are never arguments of a command. What pgBackRest has to say goes to
# the log, so that its output can be read.
#
# Variables: PGDATA, STORE_SECRETS, and settings by pgBackRest's own names (PGBACKREST_REPO1_…).
PGBACKREST_REPO1_S3_KEY=$(cat "$STORE_SECRETS/access-key-id")
PGBACKREST_REPO1_S3_KEY_SECRET=$(cat "$STORE_SECRETS/secret-access-key")
export PGBACKREST_REPO1_S3_KEY PGBACKREST_REPO1_S3_KEY_SECRET
if [ -e "$STORE_SECRETS/passphrase" ]; then
  PGBACKREST_REPO1_CIPHER_PASS=$(cat "$STORE_SECRETS/passphrase")
  export PGBACKREST_REPO1_CIPHER_PASS
fi
export PGBACKREST_STANZA=db PGBACKREST_PG1_PATH="$PGDATA"
export PGBACKREST_LOG_LEVEL_FILE=off PGBACKREST_LOG_LEVEL_CONSOLE=off PGBACKREST_LOG_LEVEL_STDERR=warn
# How many backups stay is said where they are removed.
export PGBACKREST_REPO1_RETENTION_FULL=9999999

# The backups, the oldest first, a line each: when it ended and began in seconds since 1970, where in the WAL it ended and began,
# the first WAL segment, bytes, its name if it has one, and the label that pgBackRest has given it.
backups() {
  pgbackrest info --output=json | sed 's/"type":"full"/\n/g' | sed -n \
    -e 's/"annotation":{"name":"\([^"]*\)"[^}]*}\(.*\)"label":"/\2"label":"\1 /' \
    -e 's/.*"archive":{"start":"\([^"]*\)".*"size":\([0-9]*\)},"label":"\([^"]*\)","lsn":{"start":"\([^"]*\)","stop":"\([^"]*\)"}.*"timestamp":{"start":\([0-9]*\),"stop":\([0-9]*\)}.*/\7 \6 \5 \4 \1 \2 \3/p'
}

# A moment in seconds as others are written. That of a backup's end is rounded up: within its last second it had not ended.
moment() {
  date -u -d "@$1" +%Y-%m-%dT%H:%M:%SZ
}
