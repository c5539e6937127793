import { onEmbedded } from "@konverge/operator-suite";
import { autoscaled, switchedOff } from "./autoscaling-scenarios.ts";
import { badSchedules, scheduled } from "./cron-job-scenarios.ts";
import { annotated, badRedis, cleanupFails, faultTolerant, redisHangs, unheld } from "./fault-tolerance-scenarios.ts";
import {
  jobBesideHead,
  jobBesideHeadFails,
  jobDeletesItself,
  jobNotBegun,
  jobOfUser,
  jobOnCluster,
  jobOverHttp,
} from "./job-mode-scenarios.ts";
import {
  badJobs,
  jobAutoscaled,
  jobDeletedAfterItsEnd,
  jobFails,
  jobRetried,
  jobRuns,
  jobSuspended,
  jobTooLong,
  lateStatus,
} from "./job-scenarios.ts";
import { badInput, cluster, lives, lostNode, replaced } from "./scenarios.ts";
import { badSecurity, replacedAtOnce, secured } from "./security-scenarios.ts";
import {
  badServices,
  dashboardSilent,
  headForgets,
  notUpgraded,
  serveStartsSlowly,
  serviceResized,
  serviceRuns,
  serviceSuspended,
  serviceUpgraded,
  upgradeFails,
} from "./service-scenarios.ts";

onEmbedded("a head, its Service and workers, as upstream makes them", cluster);
onEmbedded("workers are repaired, scaled, deleted by name, suspended", lives);
onEmbedded("pods that ended are replaced; outdated ones one at a time, the head last", replaced);
onEmbedded("pods on lost nodes, which never end, are replaced", lostNode);
onEmbedded("bad input is refused or reported, and works when it is fixed", badInput);
onEmbedded("workers are added and removed as Ray's own autoscaler decides", autoscaled);
onEmbedded("a cluster whose autoscaler is switched off is its user's again", switchedOff);
onEmbedded("a job runs on a dedicated cluster, which is deleted when its time is over", jobRuns);
onEmbedded(
  "a status that a replaced process writes late does not start a cluster for a job that has ended",
  lateStatus,
);
onEmbedded("a job that has ended is not submitted again when its Job is deleted", jobDeletedAfterItsEnd);
onEmbedded("a job that fails is tried again on another cluster, up to its limit", jobFails);
onEmbedded("a submitting pod that is lost is replaced; a failed try is not the last", jobRetried);
onEmbedded("a suspended job keeps nothing and starts from the beginning", jobSuspended);
onEmbedded("a job that takes too long fails, and nothing of it continues", jobTooLong);
onEmbedded("the sizes of a job's groups are the autoscaler's to decide", jobAutoscaled);
onEmbedded("jobs that could never run are refused", badJobs);
onEmbedded("a container beside the head submits a job", jobBesideHead);
onEmbedded("a job that a container beside the head submits is tried again on another cluster", jobBesideHeadFails);
onEmbedded("a job is submitted over HTTP, once, with the token of its cluster", jobOverHttp);
onEmbedded("a job that a user submits is followed to its end", jobOfUser);
onEmbedded("a job runs on a cluster that is there, which stays", jobOnCluster);
onEmbedded("of a finished job the workers go first, then its cluster, then the job itself", jobDeletesItself);
onEmbedded("a job that does not begin in time fails, and nothing of it stays", jobNotBegun);
onEmbedded("jobs start on a schedule, stay when they have ended, and go with it", scheduled);
onEmbedded("schedules that nothing can follow are refused", badSchedules);
onEmbedded("a cluster gets a token, which stays, and policies, which go with the field", secured);
onEmbedded("options that would leave a cluster open are refused", badSecurity);
onEmbedded("all pods of a cluster are replaced at once, or none, if its strategy says so", replacedAtOnce);
onEmbedded("workers outlive a head whose state is in Redis; its keys are removed with the cluster", faultTolerant);
onEmbedded("fault tolerance can be requested with an annotation, as in older manifests", annotated);
onEmbedded("a cluster whose keys cannot be removed from Redis goes, and an event names them", cleanupFails);
onEmbedded("a Redis that does not answer does not hold a deleted cluster forever", redisHangs);
onEmbedded("a cluster without fault tolerance has no finalizer", unheld);
onEmbedded("Redis is configured in one place", badRedis);
onEmbedded("a service's applications are sent to its cluster; a change of them is deployed in place", serviceRuns);
onEmbedded("a service's cluster is replaced without downtime", serviceUpgraded);
onEmbedded("an upgrade that fails leaves the traffic where it is", upgradeFails);
onEmbedded("sizes and added groups change the cluster of a service in place", serviceResized);
onEmbedded(
  "a head without its state gets the applications again; one that does not serve gets no requests",
  headForgets,
);
onEmbedded("a suspended service keeps nothing and serves again afterwards", serviceSuspended);
onEmbedded("with the strategy None the cluster of a service is not replaced", notUpgraded);
onEmbedded("services that could never serve are refused", badServices);
onEmbedded("a dashboard that does not answer is reported, and asked again", dashboardSilent);
onEmbedded("a dashboard that starts Ray Serve has a minute to accept the applications", serveStartsSlowly);
