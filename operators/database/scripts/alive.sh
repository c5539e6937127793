# Fails if the server should answer and does not. While it is made, copied or kept stopped, it should not.
#
# Variables: RUN, PORT.
case $(cat "$RUN/state" 2> /dev/null) in
  primary* | standby*) pg_isready -q -h "$RUN" -p "$PORT" -U postgres ;;
esac
