import { type Context, controller, isAlreadyExists, isNotFound, type Result, timestamp, use, watch } from "konverge";
import { Job, PersistentVolumeClaim, Pod } from "konverge/kinds";
import { Database } from "./database.ts";
import { DatabaseRestore } from "./database-restore.ts";
import { DATA, labelsOf } from "./names.ts";
import { awaitsBootstrap, BOOTSTRAPPED, RESTORING } from "./restore-hold.ts";
import {
  dataClaimOf,
  planOf,
  RESTORE_OF,
  RESTORE_PARTS,
  type RestorePart,
  type RestorePlan,
  restoreJobFor,
  restoreJobName,
} from "./restore-jobs.ts";
import { nextMove, type PartState, type RestoreFacts, type RestoreMove, undoMove } from "./restore-progress.ts";
import { failed, moved, pending, tellMove } from "./restore-status.ts";
import { reportOf, startJob } from "./task-jobs.ts";
import { dataClaimFor, jobEnd } from "./task-pod.ts";
import type { TaskReport } from "./task-report.ts";

const DATABASE = "database-name";

/** Brings backups back: checks, stops the servers, restores beside the old data, starts, and only then lets those go. */
export function databaseRestores() {
  return controller(DatabaseRestore, {
    watches: [
      watch<Database, DatabaseRestore>(Database, {
        references: ({ metadata, spec }) =>
          [spec.database, spec.from?.database ?? spec.database].map((name) => `${metadata.namespace}/${name}`),
      }),
      watch<Job, DatabaseRestore>(Job, { labelSelector: RESTORE_OF, to: ofRestore }),
      watch<Pod, DatabaseRestore>(Pod, { labelSelector: RESTORE_OF, to: ofRestore }),
      watch<Pod, DatabaseRestore>(Pod, { labelSelector: "app=database", to: ofRestored }),
      watch<PersistentVolumeClaim, DatabaseRestore>(PersistentVolumeClaim, {
        labelSelector: "app=database",
        to: ofRestored,
      }),
    ],
    uses: [
      use(Job, ["get", "create", "patch"]),
      use(Pod, ["list"]),
      use(PersistentVolumeClaim, ["create", "delete"]),
      use(Database, ["patch"]),
    ],
    finalizer: "databases.example.com/restore",
    async reconcile(restore, context): Promise<Result<DatabaseRestore> | undefined> {
      const { phase } = restore.status ?? {};
      if (phase === "Completed" || phase === "Failed") return undefined;
      const database = databaseOf(restore, context);
      const plan = database && planFor(restore, database, context);
      const why = whyNot(restore, database, plan, context);
      if (why) return why.fatal ? failed(restore, why.reason, why.message, context) : pending(why.reason, why.message);
      const facts = await factsOf(plan!, context);
      const move = nextMove(facts);
      await carryOut(plan!, move, facts, context);
      const reports = await reportsOf(plan!, context);
      tellMove(restore, move, reports, context.events);
      return moved(plan!, move, reports, timestamp(context.clock.now()));
    },
    async cleanup(restore, context) {
      const { phase } = restore.status ?? {};
      const database = databaseOf(restore, context);
      const plan = database && planFor(restore, database, context);
      // Without its Database there is nothing to put back; Jobs go with the object.
      if (!plan || (phase === "Completed" && !isHolder(restore, database))) return undefined;
      const facts = await factsOf(plan, context);
      const isAtWork = facts.parts.restore === "working" && !facts.parts.undo;
      if (isAtWork && (await stopped(restore, context)) === false) return { waitingFor: "the restoring pod to stop" };
      const move = undoMove(facts, "Failed");
      await carryOut(plan, move, facts, context);
      if (move.phase === "Failed" || move.phase === "Completed") return undefined;
      const job = restoreJobName(restore, "undo");
      if (move.stuck) return { waitingFor: `help: job ${job} could not put the old data back; its pods' logs say why` };
      return { waitingFor: move.phase === "Finishing" ? "the old data to be removed" : "the old data to be put back" };
    },
  });
}

function ofRestore({ metadata }: Job | Pod): string[] {
  return metadata.labels?.[RESTORE_OF] ? [`${metadata.namespace}/${metadata.labels[RESTORE_OF]}`] : [];
}

/** Servers tell by an annotation on their Database which restore waits for them; it is looked at with the Database. */
function ofRestored({ metadata }: Pod | PersistentVolumeClaim): string[] {
  return waiting.get(`${metadata.namespace}/${metadata.labels?.[DATABASE]}`) ?? [];
}

const databaseOf = ({ metadata, spec }: DatabaseRestore, { cache }: Context) =>
  cache.get(Database, `${metadata.namespace}/${spec.database}`);
