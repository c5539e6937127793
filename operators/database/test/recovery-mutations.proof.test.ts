import assert from "node:assert/strict";
import { archiveHolds } from "./archive-script.ts";
import { backupHolds, startStandby } from "./backup-script.ts";
import { drillHolds } from "./drill-script.ts";
import { badDumpsHold, dumpingHolds, loadingHolds, mysqlDumpsHold } from "./dump-script.ts";
import { withPostgres } from "./postgres.ts";
import { pruneHolds } from "./prune-script.ts";
import { databaseWith, PASSWORD, RecoveryRoom } from "./recovery-room.ts";
import { checkHolds, copyOf, makeHistory, newDataHold, RESTORES } from "./restore-script.ts";
import { type Scene, type Unnoticed, unmissedLines } from "./script-mutations.ts";

/** Programs speak English here; elsewhere their answers could not be read. */
const LANGUAGE: Unnoticed = { line: "export LC_ALL=C", why: "no other language is installed" };
/** Of backup-prune.sh. */
const KILLED: Unnoticed = {
  line: 'find "$wal"',
  why: "what killed pods left there is a day old by a time that nothing can set",
};
/** Lines of restore.sh. */
const RESTORE_UNNOTICED: readonly Unnoticed[] = [
  { line: 'reach="$end ($(value stopLSN "$BACKUP"))"', why: "it is advice: up to where a restore can go" },
  {
    line: "reach=\"$end ($(printf '%X/%X' $((stop / 4294967296)) $((stop % 4294967296))))\"",
    why: "it is advice, too",
  },
  {
    line: 'chmod 700 "$work"',
    why: "the copy of a backup has its mode here; on volumes that are given to a group it has not",
  },
  {
    line: 'rm -f "$work/standby.signal"',
    why: "backups are taken without it; one that somebody has copied there may have it",
  },
  { line: "echo \"listen_addresses = ''\"", why: "no client tries to connect meanwhile" },
  { line: "echo \"archive_command = ''\"", why: "that is PostgreSQL's default" },
  {
    line: `echo "recovery_target_timeline = '\${TARGET_TIMELINE:-latest}'"`,
    why: "the latest history is PostgreSQL's default as well",
  },
  {
    line: `if [ "\${TARGET_TIMELINE:-latest}" = latest ]`,
    why: "for servers that fail over, which have stories of their own",
  },
  {
    line: '[ "$system" = "$(value system "$BACKUP")" ]',
    why: "a backup whose data are of another system is damaged here",
  },
  { line: "if ! pg_controldata", why: "these data have checksums" },
  { line: "way=''", why: "no variable has this name in the pod" },
  { line: "*) last=$(printf", why: "a timeline that is named is the latest here, or that of the backup" },
  { line: "latest=''", why: "no variable has this name in the pod" },
  { line: "sleep 0.2", why: "it spares the processor" },
  { line: `if [ -n "\${STORE:-}" ]`, why: "these backups are on a volume" },
  { line: 'cat "$scratch/log" >&2', why: "it is for those who read the pod's log" },
  {
    line: 'if ! is_before_end || ! grep -q \'recovery ended before configured recovery target was reached\' "$scratch/log"; then fail "the backup did not come up: $(why)"; fi',
    why: "the second try fails in the same words",
  },
];
/** Scenes that are played at the same time: mostly they wait. */
const lanes = 3;
/** Milliseconds. What works takes seconds. */
const patience = 20_000;

withPostgres(
  "every line of archive.sh is needed",
  async (room) => {
    const data = await room.newData(PASSWORD);
    const scene: Scene = {
      name: "archives",
      async play(change) {
        const here = new RecoveryRoom(room);
        here.useScripts(change);
        await archiveHolds(here, data);
      },
    };
    const turns = [
      { from: 'cmp -s "$1" "$folder/$2" && exit 0', to: 'cmp -s "$1" "$folder/$2" || exit 0' },
      { from: "cp -p ", to: "cp " },
      { from: '[ -e "$folder/$2" ]', to: '[ ! -e "$folder/$2" ]' },
      { from: "  exit 1", to: "  exit 0" },
    ];
    assert.deepEqual(
      await unmissedLines([{ script: "archive.sh", unnoticed: [LANGUAGE], turns }], [scene], { lanes }),
      [],
    );
  },
  { patience },
);

withPostgres(
  "every line of backup-prune.sh is needed",
  async (room) => {
    const scene: Scene = {
      name: "prunes",
      async play(change) {
        const here = new RecoveryRoom(room);
        here.useScripts(change);
        await pruneHolds(here);
      },
    };
    const unnoticed = [
      LANGUAGE,
      KILLED,
      { line: "count=0", why: "this shell counts from nothing as from 0; others do not" },
    ];
    const turns = [
      { from: '[ "$count" -le "$KEEP" ]', to: '[ "$count" -lt "$KEEP" ]' },
      { from: '"$KEEP" ] || [ "$covered" = no ]', to: '"$KEEP" ] && [ "$covered" = no ]' },
      { from: '-le "$bound" ]', to: '-ge "$bound" ]' },
      { from: "done | sort -r)", to: "done | sort)" },
      { from: "sort -k 1.9", to: "sort -k 1.1" },
      { from: "-mmin +1440", to: "-mmin -1440" },
      { from: 'if [ -n "$oldest" ]', to: 'if [ -z "$oldest" ]' },
    ];
    assert.deepEqual(await unmissedLines([{ script: "backup-prune.sh", unnoticed, turns }], [scene], { lanes }), []);
  },
  { patience },
);

withPostgres(
  "every line of backup.sh is needed",
  async (room) => {
    const begun = new RecoveryRoom(room);
    // The many backups would fill the machine with WAL.
    await begun.begin({ archive_command: "true" });
    const standby = await startStandby(begun);
    const scene: Scene = {
      name: "backs up",
      async play(change) {
        const here = begun.beside();
        here.useScripts(change);
        try {
          await backupHolds(here, standby);
        } finally {
          room.remove(here.volume);
        }
      },
    };
    const turns = [
      { from: '[ ! -e "$target" ]', to: '[ -e "$target" ]' },
      { from: "-X stream", to: "-X none" },
      { from: '-n "$STANDBY_HOST" ] &&', to: '-n "$STANDBY_HOST" ] ||' },
      { from: '"End-LSN"', to: '"Start-LSN"' },
      { from: "pg_verifybackup -q", to: "true" },
      { from: "KIND=base", to: "KIND=dumps" },
    ];
    assert.deepEqual(
      await unmissedLines([{ script: "backup.sh", unnoticed: [LANGUAGE], turns }], [scene], { lanes }),
      [],
    );
  },
  { patience },
);

withPostgres(
  "every line of the scripts for dumps is needed",
  async (room) => {
    const scenes = [mysqlDumpsHold, dumpingHolds, loadingHolds, badDumpsHold].map(
      (holds): Scene => ({
        name: holds.name,
        // A dump that loads half leaves a server that is of no use to others.
        async play(change) {
          const here = new RecoveryRoom(room, databaseWith({ method: "logical" }));
          here.useScripts(change);
          await here.begin();
          try {
            await holds(here);
          } finally {
            await here.end();
            room.remove(here.volume);
          }
        },
      }),
    );
    const subjects = [
      {
        script: "backup-dump.sh",
        unnoticed: [LANGUAGE],
        turns: [
          { from: 'dump_all "$dump" && is_whole "$dump"', to: 'dump_all "$dump" || is_whole "$dump"' },
          { from: "KIND=dumps", to: "KIND=base" },
        ],
      },
      {
        script: "backup-sql.sh",
        unnoticed: [],
        turns: [
          { from: " --clean --if-exists", to: "" },
          { from: "--single-transaction", to: "--skip-lock-tables" },
          { from: '{ cat "$1" && after_dump; }', to: 'cat "$1"' },
          { from: "psql -X -q -v ON_ERROR_STOP=1", to: "psql -X -q" },
        ],
      },
      {
        script: "restore-dump.sh",
        unnoticed: [LANGUAGE],
        turns: [
          { from: "| sort -r |", to: "| sort |" },
          { from: 'if [ ! -e "$before" ]', to: 'if [ -e "$before" ]' },
          { from: 'if ! load_all "$dump"', to: 'if load_all "$dump"' },
        ],
      },
    ];
    assert.deepEqual(await unmissedLines(subjects, scenes, { lanes }), []);
  },
  { patience },
);

withPostgres(
  "every line of restore.sh is needed",
  async (room) => {
    const history = await makeHistory(room);
    const scenes = [checkHolds, newDataHold, drillHolds, ...RESTORES].map(
      (holds): Scene => ({
        name: holds.name,
        async play(change) {
          const { here, volume } = copyOf(history);
          here.useScripts(change);
          try {
            await holds(history, here, volume);
          } finally {
            await here.end();
            room.remove(here.volume, volume);
          }
        },
      }),
    );
    const turns = [
      { from: '"$(micros "$TARGET_TIME")" -lt', to: '"$(micros "$TARGET_TIME")" -le' },
      { from: '"$(bytes "$TARGET_LSN")" -lt', to: '"$(bytes "$TARGET_LSN")" -gt' },
      { from: "done | sort -r | sed", to: "done | sort | sed" },
      { from: '[ "$place" -ge "$next" ]', to: '[ "$place" -gt "$next" ]' },
      { from: '[ "$place" -eq "$next" ]', to: '[ "$place" -ge "$next" ]' },
      { from: '"$(seconds "$TARGET_TIME")" -gt', to: '"$(seconds "$TARGET_TIME")" -lt' },
      { from: '"$(bytes "$TARGET_LSN")" -gt "$stop"', to: '"$(bytes "$TARGET_LSN")" -lt "$stop"' },
      { from: "archive_mode = on", to: "archive_mode = off" },
      { from: "recovery_target_action = promote", to: "recovery_target_action = shutdown" },
      { from: "%Z}+00", to: "%Z}+01" },
      { from: '[ "$IN_PLACE" != yes ]', to: '[ "$IN_PLACE" = yes ]' },
      { from: "if ! is_before_end ||", to: "if is_before_end ||" },
      { from: 'if [ -n "$ARCHIVE" ]', to: 'if [ -z "$ARCHIVE" ]' },
    ];
    assert.deepEqual(
      await unmissedLines([{ script: "restore.sh", unnoticed: [LANGUAGE, ...RESTORE_UNNOTICED], turns }], scenes, {
        lanes,
      }),
      [],
    );
  },
  { patience },
);
