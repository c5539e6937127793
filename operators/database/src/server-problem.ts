import type { Pod } from "konverge/kinds";

/** Why the server does not come up, in a word and in a sentence. */
export interface ServerProblem {
  readonly reason: string;
  readonly message: string;
  /** Nothing will come of it by itself. */
  readonly fatal: boolean;
}

/** What keeps a pod from running, without the parts that change from look to look. */
export function serverProblem(pod: Pod | undefined): ServerProblem | undefined {
  const scheduled = pod?.status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (scheduled?.status === "False" && scheduled.reason === "Unschedulable") {
    const { message = "the pod finds no node" } = scheduled;
    // A volume that is being made is on its way.
    if (message.includes("unbound immediate PersistentVolumeClaims")) return undefined;
    return { reason: "Unschedulable", message, fatal: false };
  }
  for (const { image, state, lastState } of pod?.status?.containerStatuses ?? []) {
    const { reason = "" } = state?.waiting ?? {};
    if (/ErrImage|ImagePull|InvalidImage/.test(reason)) {
      return { reason: "ImageCannotBePulled", message: `the image ${image} cannot be pulled`, fatal: true };
    }
    if (/CreateContainer|RunContainer/.test(reason)) {
      return {
        reason: "ServerCannotStart",
        message: `the server cannot be started: ${state?.waiting?.message ?? reason}`,
        fatal: true,
      };
    }
    if (reason === "CrashLoopBackOff") {
      const code = lastState?.terminated?.exitCode;
      return { reason: "ServerCrashes", message: `the server exits with code ${code}; its log says why`, fatal: true };
    }
  }
  return undefined;
}
