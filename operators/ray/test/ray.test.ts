import { onEmbedded } from "@konverge/operator-suite";
import { autoscaled, switchedOff } from "./autoscaling-scenarios.ts";
import { badJobs, jobFails, jobRetried, jobRuns, jobSuspended, jobTooLong } from "./job-scenarios.ts";
import { badInput, cluster, lives, lostNode, replaced } from "./scenarios.ts";

onEmbedded("a head, its Service and workers, as upstream makes them", cluster);
onEmbedded("workers are repaired, scaled, deleted by name, suspended", lives);
onEmbedded("pods that ended are replaced; outdated ones one at a time, the head last", replaced);
onEmbedded("pods on lost nodes, which never end, are replaced", lostNode);
onEmbedded("bad input is refused or reported, and recovers when mended", badInput);
onEmbedded("workers come and go as Ray's own autoscaler decides", autoscaled);
onEmbedded("a cluster whose autoscaler is switched off is its user's again", switchedOff);
onEmbedded("a job runs on a dedicated cluster, which is deleted when its time is over", jobRuns);
onEmbedded("a job that fails is tried again on another cluster, up to its limit", jobFails);
onEmbedded("a submitting pod that is lost is replaced; a failed try is not the last", jobRetried);
onEmbedded("a suspended job keeps nothing and starts from the beginning", jobSuspended);
onEmbedded("a job that takes too long fails, and nothing of it continues", jobTooLong);
onEmbedded("jobs that could never run are refused", badJobs);
