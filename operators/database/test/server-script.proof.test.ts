import assert from "node:assert/strict";
import { test } from "node:test";
import { script } from "@konverge/database-operator";
import * as adoptionStories from "./adoption-stories.ts";
import * as archiveStories from "./archive-stories.ts";
import * as leaseStories from "./lease-stories.ts";
import * as parameterStories from "./parameter-stories.ts";
import { MachineRoom } from "./postgres.ts";
import { findPostgres } from "./postgres-tools.ts";
import * as replicaClusterStories from "./replica-cluster-stories.ts";
import * as stories from "./replication-stories.ts";
import { type Scene, type Subject, unmissedLines } from "./script-mutations.ts";

/** Scenes that are played at the same time: mostly they wait. */
const LANES = 4;
/** Milliseconds. What works takes a second or two; what does not is waited for as long. */
const PATIENCE = 15_000;

const SUBJECTS: readonly Subject[] = [
  {
    script: "server.sh",
    unnoticed: [
      { line: "set -u", why: "no variable is missing here" },
      { line: "say ", why: "it only tells" },
      { line: 'cmp -s "$RUN/postgresql.conf.new"', why: "it only saves reading what is the same" },
      { line: 'wait "$server"', why: "pg_ctl waits for its end as well; this only takes the ended process away" },
      { line: "server=''", why: "another process would have to get the number of the one that has ended" },
      { line: "checkpoint=''", why: "for topologies of an operator that asked for none" },
      {
        line: 'rm -f "$RUN/asked"',
        why: "the folders of a test outlive their pod, so that it can be asked at any time",
      },
      { line: '[ -f "$RUN/asked" ] && break', why: "it only saves waiting" },
      { line: "pause", why: "without it the script asks again at once, which only costs" },
      { line: "restart=''", why: "for topologies of an operator that ordered none" },
      { line: "source=''", why: "for topologies of an operator that knew of no sources" },
      { line: '[ -n "$source" ] || watch keep_unarchived', why: "what follows another Database archives nothing here" },
      { line: "if follows_source && has_data && is_foreign", why: "for a source that becomes another system later" },
      { line: "state foreign", why: "for a source that becomes another system later" },
      { line: '[ -n "$checkpoint" ]', why: "it only saves checkpoints" },
      { line: 'echo "$checkpoint" > "$RUN/flushing"', why: "it only saves checkpoints" },
      { line: "state stopping", why: "it only tells; what comes next replaces it within a second" },
      { line: "state joining", why: "it only tells; what comes next replaces it within a second" },
      { line: "export PGCONNECT_TIMEOUT=5", why: "on one machine every address answers at once" },
      {
        line: '[ "$(cat "$VOLUME/$1" 2> /dev/null)" = "$term" ] && return',
        why: "it only saves writing what is there",
      },
      { line: 'sync "$VOLUME/$1.new"', why: "there is no power cut here" },
      {
        line: '[ "$wanted" = "$(cat "$RUN/passwords" 2> /dev/null)" ] && return',
        why: "it only saves setting what is set",
      },
      { line: 'echo "$wanted" > "$RUN/passwords"', why: "it only saves setting what is set" },
      {
        line: '[ "$wanted" = "$(cat "$RUN/application" 2> /dev/null)" ] && return',
        why: "it only saves setting what is set",
      },
      { line: 'echo "$wanted" > "$RUN/application"', why: "it only saves setting what is set" },
      { line: 'rm -f "$RUN/passwords"', why: "for a password that was changed and changed back while another led" },
      { line: "grant pg_read_all_settings to replicator", why: "for pgBackRest, which these servers do without" },
      { line: "select format('grant execute on function", why: "for pgBackRest, too" },
      { line: "wait $!", why: "without it the script asks again at once, which only costs" },
    ],
    turns: [
      { from: "umask 077", to: "umask 022" },
      { from: "synchronous_commit=local", to: "synchronous_commit=on" },
      { from: "log_statement=none", to: "log_statement=all" },
      { from: '[ "$synchronous" -eq 0 ]', to: '[ "$synchronous" -ne 0 ]' },
      { from: '"ANY $synchronous', to: '"FIRST $synchronous' },
      { from: "$2 / 5 }", to: "$2 / 50 }" },
      { from: ':-0}" -gt', to: ':-0}" -ge' },
      { from: '[ -s "$CREDENTIALS/next-password" ]', to: '[ ! -s "$CREDENTIALS/next-password" ]' },
      { from: "login replication password", to: "login password" },
      { from: "and not active and", to: "and active and" },
      { from: "or wal_status = 'lost'", to: "or wal_status = 'reserved'" },
      { from: '[ "$written" -eq', to: '[ "$written" -ne' },
      { from: '[ "$fresh" = yes ]', to: '[ "$fresh" != yes ]' },
      { from: "is_standby || ! is_overtaken", to: "is_standby || is_overtaken" },
      { from: "keep_slots '' || return", to: 'keep_slots "$(others)" || return' },
      { from: ')" = f ] &&', to: ')" = t ] &&' },
      { from: 'if [ "$upstream" = "$POD_NAME" ]; then', to: 'if [ "$upstream" != "$POD_NAME" ]; then' },
      { from: "stop_server fast 300; else", to: "stop_server immediate 300; else" },
      { from: "else stop_server immediate;", to: "else stop_server fast;" },
      { from: '2> /dev/null)" != "$term" ]; then', to: '2> /dev/null)" = "$term" ]; then' },
      { from: 'if [ "$term" -lt', to: 'if [ "$term" -le' },
      { from: 'if [ "$primary" = "$POD_NAME" ]; then lead', to: 'if [ "$primary" != "$POD_NAME" ]; then lead' },
    ],
  },
  {
    script: "server-parameters.sh",
    unnoticed: [
      { line: "s/^max_worker_processes", why: "max_connections stands for it" },
      { line: "s/^max_wal_senders", why: "max_connections stands for it" },
      { line: "s/^max_locks_per_xact", why: "max_connections stands for it" },
      { line: "say ", why: "it only logs" },
      { line: "state restarting", why: "it only reports; what follows replaces it within a second" },
    ],
    turns: [
      { from: "is_standby || return 0", to: "! is_standby || return 0" },
      { from: "has[$1] + 0 < $2", to: "has[$1] + 0 > $2" },
      { from: '= "$POD_NAME" ] && is_up &&', to: '!= "$POD_NAME" ] && is_up &&' },
      { from: '!= "$number" ] ||', to: '= "$number" ] ||' },
    ],
  },
  {
    script: "server-archive.sh",
    unnoticed: [
      { line: "archiving=''", why: "no variable has this name in the pod" },
      { line: `if [ -n "\${STORE:-}" ]`, why: "these backups are on a volume" },
      { line: '[ -n "$place" ] || continue', why: "an empty line names no file" },
      { line: 'sync "$PGDATA/pg_wal/archive_status"', why: "there is no power cut here" },
      { line: 'if [ -n "$archiving" ] && kill -0', why: "what is done twice is done" },
      { line: "tried=", why: "it only saves attempts that fail" },
      { line: '[ -z "$tried" ] && push', why: "what is set aside is archived soon after" },
      { line: '[ -d "$aside" ] || return 0', why: "without it the script only complains" },
      { line: "archiving=$!", why: "what is done twice is done" },
      { line: `system=\${file%/*}`, why: "in the process that has set it aside it is known already" },
      { line: "is_archived || return 0", why: "without an archive it only complains" },
      { line: 'if [ -n "$watching" ] && kill -0', why: "it only saves learning what is known" },
      { line: 'drop_slot "and wal_status', why: "one that was lost keeps nothing, and is recreated only to keep more" },
      { line: '[ -n "$primary" ] || return 0', why: "without a primary there is no server to query" },
      { line: "watching=", why: "it only saves learning what is known" },
    ],
    turns: [
      { from: '-lt "$end" ] && basename', to: '-le "$end" ] && basename' },
      {
        from: "select greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())'",
        to: "select '7FFFFFFF/0'::pg_lsn'",
      },
    ],
  },
  {
    script: "restore-wal.sh",
    unnoticed: [
      { line: "export LC_ALL=C", why: "no other language is installed" },
      { line: '[ -e "$history" ] || continue', why: "what is not there names no timeline" },
      { line: '. "$SCRIPTS/pgbackrest.sh"', why: "these backups are on a volume" },
      { line: "timeout 20 pgbackrest", why: "so they are" },
    ],
    turns: [{ from: "[ $((0x$segment)) -lt", to: "[ $((0x$segment)) -le" }],
  },
  {
    script: "archive-facts.sh",
    unnoticed: [
      { line: "set -eu", why: "nothing fails here" },
      { line: "export LC_ALL=C", why: "no other language is installed" },
      { line: '. "$SCRIPTS/pgbackrest.sh"', why: "these backups are on a volume" },
      { line: '[ -e "$info" ] && grep -q', why: "there are no backups of another system" },
    ],
    turns: [{ from: "n != last + 1", to: "n == last + 1" }],
  },
  {
    script: "status.sh",
    unnoticed: [
      { line: 'touch "$RUN/asked"', why: "it only saves waiting" },
      { line: "set -u", why: "no variable is missing here" },
      { line: "\\endif", why: "at the end of all, without it psql only complains" },
    ],
    turns: [
      { from: "greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())::text", to: "'0/0'::text" },
      { from: "case when pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn()", to: "case when false" },
      { from: "status = 'streaming'", to: "status <> 'streaming'" },
      { from: "error is not null and", to: "error is null and" },
      { from: "where pending_restart;", to: "where not pending_restart;" },
      { from: "<> 'off' as archives", to: "= 'off' as archives" },
      { from: "like '%.ready'", to: "like '%.done'" },
      { from: "cluster state: *shut down", to: "cluster state: *in production" },
    ],
  },
  {
    script: "alive.sh",
    unnoticed: [],
    turns: [
      { from: "primary* | standby*", to: "standby*" },
      { from: "primary* | standby*", to: "primary*" },
      { from: "primary* | standby*", to: "*" },
    ],
  },
];

const tools = findPostgres();
test("every line of the scripts of servers is needed", { skip: "why" in tools ? tools.why : false }, async () => {
  assert.ok("bin" in tools);
  const all = {
    ...stories,
    ...archiveStories,
    ...adoptionStories,
    ...parameterStories,
    ...leaseStories,
    ...replicaClusterStories,
  };
  const scenes = Object.entries(all).map(
    ([name, story]): Scene => ({
      name,
      async play(change) {
        await using room = new MachineRoom(tools, { patience: PATIENCE });
        const names = SUBJECTS.map((one) => one.script);
        await story(room, { scripts: Object.fromEntries(names.map((one) => [one, change(one, script(one))])) });
      },
    }),
  );
  assert.deepEqual(await unmissedLines(SUBJECTS, scenes, { lanes: LANES }), []);
});
