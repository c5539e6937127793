# Archives a finished WAL segment in the object store: pgbackrest-archive.sh PATH, called by the server, which tries again until
# it succeeds.
#
# pgBackRest never writes over a segment with other content, nor archives WAL of another system than what is there.
#
# Variables: SCRIPTS, and those of pgbackrest.sh.
set -eu
. "$SCRIPTS/pgbackrest.sh"
pgbackrest archive-push "$1" && exit 0
# The first segment finds no archive. Only a server makes one, which is never done twice at once: each would have its own keys.
pgbackrest stanza-create --no-online
pgbackrest archive-push "$1"
