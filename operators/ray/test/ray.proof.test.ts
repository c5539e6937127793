import {
  exactRole,
  repairsChildren,
  survivesCrashesAndErrors,
  survivesCrdDeletion,
  survivesDeletion,
  survivesFaults,
  survivesSpecChanges,
} from "@konverge/operator-suite";
import { RayCluster, RayJob, RayService, rayOperator } from "@konverge/ray-operator";
import { autoscaled, switchedOff } from "./autoscaling-scenarios.ts";
import { scheduled } from "./cron-job-scenarios.ts";
import { faultTolerant } from "./fault-tolerance-scenarios.ts";
import { jobDeletesItself, jobOfUser, jobOnCluster, jobOverHttp } from "./job-mode-scenarios.ts";
import { jobFails, jobRuns, jobSuspended } from "./job-scenarios.ts";
import { cluster, lives, recovers, replaced, withoutAddresses } from "./scenarios.ts";
import { secured } from "./security-scenarios.ts";
import { serviceResized, serviceRuns, serviceSuspended, serviceUpgraded, upgradeFails } from "./service-scenarios.ts";

exactRole(rayOperator, [
  cluster,
  lives,
  replaced,
  switchedOff,
  secured,
  jobFails,
  jobDeletesItself,
  jobOverHttp,
  scheduled,
  faultTolerant,
  serviceUpgraded,
]);

const mask = withoutAddresses;
survivesFaults("a cluster is made, whatever fails", rayOperator, cluster, { mask });
survivesCrashesAndErrors("a cluster is scaled, suspended and deleted, whatever fails", rayOperator, lives, { mask });
survivesCrashesAndErrors("a cluster's pods are replaced, whatever fails", rayOperator, replaced, { mask });
survivesCrashesAndErrors("a cluster finds room later, whatever fails", rayOperator, recovers, { mask });
survivesCrashesAndErrors("the autoscaler's decisions are followed, whatever fails", rayOperator, autoscaled, {
  mask,
});
survivesDeletion(
  "an autoscaled cluster goes with its account and rights, in each phase",
  rayOperator,
  autoscaled,
  RayCluster,
  {
    mask,
  },
);
survivesDeletion("a cluster goes with all it has, in each phase", rayOperator, replaced, RayCluster, { mask });
survivesCrashesAndErrors("an autoscaled cluster is switched off, whatever fails", rayOperator, switchedOff, {
  mask,
  slow: true,
});
repairsChildren("each field of a cluster's pods and Service is repaired", rayOperator, cluster, { mask });
repairsChildren("each field of an autoscaler's account and rights is repaired", rayOperator, autoscaled, { mask });
survivesCrdDeletion("a cluster survives that its kind goes and comes", rayOperator, cluster, { mask });
survivesCrdDeletion("an autoscaled cluster survives that its kind goes and comes", rayOperator, autoscaled, { mask });
survivesSpecChanges("a cluster is as before after its spec is changed, and back", rayOperator, cluster, { mask });
survivesFaults("a job runs and its cluster goes, whatever fails", rayOperator, jobRuns, { mask });
survivesCrashesAndErrors("a job is tried again, whatever fails", rayOperator, jobFails, { mask });
survivesCrashesAndErrors("a job is suspended and resumed, whatever fails", rayOperator, jobSuspended, { mask });
survivesDeletion("a job goes with all it has, in each phase", rayOperator, jobFails, RayJob, { mask });
survivesFaults("a cluster gets its token and its policies, whatever fails", rayOperator, secured, { mask });
survivesCrashesAndErrors("a job runs on a cluster that is there, whatever fails", rayOperator, jobOnCluster, { mask });
survivesCrashesAndErrors(
  "a job is deleted with all it has, step by step, whatever fails",
  rayOperator,
  jobDeletesItself,
  {
    mask,
  },
);
survivesCrashesAndErrors("a job of a user is followed to its end, whatever fails", rayOperator, jobOfUser, { mask });
survivesCrashesAndErrors("jobs start on a schedule, whatever fails", rayOperator, scheduled, { mask });
survivesFaults("a cluster's keys are removed from Redis, whatever fails", rayOperator, faultTolerant, { mask });
survivesDeletion("a fault-tolerant cluster goes with its keys, in each phase", rayOperator, faultTolerant, RayCluster, {
  mask,
});
survivesFaults("a service runs, whatever fails", rayOperator, serviceRuns, { mask });
survivesFaults("a service's cluster is replaced, whatever fails", rayOperator, serviceUpgraded, { mask });
survivesCrashesAndErrors("an upgrade that fails is undone, whatever fails", rayOperator, upgradeFails, { mask });
survivesCrashesAndErrors("a service's cluster changes in place, whatever fails", rayOperator, serviceResized, { mask });
survivesCrashesAndErrors("a service is suspended and resumed, whatever fails", rayOperator, serviceSuspended, { mask });
survivesDeletion("a service goes with all it has, in each phase", rayOperator, serviceUpgraded, RayService, { mask });
repairsChildren("each field of a service's clusters and Services is repaired", rayOperator, serviceRuns, { mask });
