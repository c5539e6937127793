import {
  exactRole,
  repairsChildren,
  survivesApiErrors,
  survivesCrashes,
  survivesCrdDeletion,
  survivesDeletion,
} from "@konverge/operator-suite";
import { TrainingJob, trainingOperator } from "@konverge/training-operator";
import { isPod, withoutChance } from "./jobs.ts";
import { aJobRuns } from "./lifecycle-scenarios.ts";
import { aFullLife, anElasticLife, theRest, volcanoToo } from "./survival-scenarios.ts";

const mask = withoutChance;

survivesCrashes("a job ends the same, whenever the operator dies", trainingOperator, aFullLife, {
  mask,
});

survivesCrashes("an elastic job goes without a trace, whenever the operator dies", trainingOperator, anElasticLife, {
  mask,
});

survivesApiErrors("a job ends the same, whatever request fails", trainingOperator, aFullLife, { mask, runs: 60 });
survivesApiErrors("a job runs, whatever request fails", trainingOperator, aJobRuns, { mask });
survivesDeletion("a job goes with all it has, in each phase", trainingOperator, aFullLife, TrainingJob, {
  mask,
  // The results of a training outlive it, unless its volume says otherwise.
  kept: ({ kind }) => kind === "PersistentVolumeClaim",
});
repairsChildren("each field of a job's children is repaired", trainingOperator, aJobRuns, { mask, except: isPod });

exactRole(trainingOperator, [aFullLife, anElasticLife, theRest, volcanoToo]);
survivesCrdDeletion("a job survives that its kind goes and comes", trainingOperator, aJobRuns, { mask });
