import {
  exactRole,
  repairsChildren,
  survivesCrashesAndErrors,
  survivesCrdDeletion,
  survivesDeletion,
  survivesFaults,
  survivesSpecChanges,
} from "@konverge/operator-suite";
import { TrainingJob, trainingOperator } from "@konverge/training-operator";
import type { AnyObject } from "konverge";
import { isPod, withoutChance } from "./jobs.ts";
import { aJobRuns } from "./lifecycle-scenarios.ts";
import { aFullLife, anElasticLife, theRest, volcanoToo } from "./survival-scenarios.ts";

const mask = withoutChance;
const slow = true;

survivesCrashesAndErrors("a job ends the same, whatever fails", trainingOperator, aFullLife, {
  mask,
  slow,
});

survivesCrashesAndErrors("an elastic job goes without a trace, whatever fails", trainingOperator, anElasticLife, {
  mask,
  slow,
});

survivesDeletion("a job goes with all it has, in each phase", trainingOperator, aFullLife, TrainingJob, {
  mask,
  slow,
  // The results of a training outlive it, unless its volume says otherwise.
  kept: ({ kind }) => kind === "PersistentVolumeClaim",
});
repairsChildren("each field of a job's children is repaired", trainingOperator, aJobRuns, {
  mask,
  slow,
  except: isPod,
});

survivesFaults("a job runs, whatever fails", trainingOperator, aJobRuns, { mask: withoutAttempts, slow });

exactRole(trainingOperator, [aFullLife, anElasticLife, theRest, volcanoToo]);
survivesCrdDeletion("a job survives that its kind goes and comes", trainingOperator, aJobRuns, { mask, slow });
survivesSpecChanges("a job is as before after its spec is changed, and back", trainingOperator, aJobRuns, {
  mask: withoutAttempts,
  slow,
  // A job that is past its deadline has failed, and what has failed stays so.
  except: (_job, pointer) => pointer === "/spec/activeDeadlineSeconds",
});

/** How often the gang began again is history, and so is what its pods continue with: it begins again with each lost pod. */
function withoutAttempts(object: AnyObject): AnyObject {
  const isHistory = ({ name }: { name?: string }) => /^(RESUME|TRAINING_ATTEMPT)/.test(name ?? "");
  const text = JSON.stringify(mask(object), (key, value: unknown) => {
    if (/(^|\/)attempt$|^disruptions$/.test(key)) return "…";
    return key === "env" && Array.isArray(value) ? value.filter((one: object) => !isHistory(one)) : value;
  });
  return JSON.parse(text) as AnyObject;
}
