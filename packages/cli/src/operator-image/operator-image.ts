import { join } from "node:path";
import { type ContainerProcess, type Program, runChild } from "@konverge/cluster";
import { type Clock, realClock } from "@konverge/core";
import { CommanderError } from "commander";
import { startedModule } from "../started-files.ts";
import { UsageError } from "../usage-error.ts";
import type { OperatorCatalog } from "./catalog.ts";
import { type PodRequest, podRequest } from "./pod-request.ts";
import { processFlags } from "./process-flags.ts";
import type { ContainerRequest, Listening } from "./run-container.ts";

/** Where a pod has the identity it acts with. */
const ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

/** The image that operators' Deployments run, in any version. */
export const OPERATOR_IMAGE = "konverge/operators";

/** The time that the operators live by. */
export interface OperatorTime {
  /** The cluster's. */
  readonly clock: Clock;
  /** How many times as fast as the machine's it goes. Default: 1. */
  readonly timeScale?: number;
}

/**
 * The image of operators as a program: each container is a separate process, which runs operators of the catalog with
 * the pod's service account. It reaches the cluster by its port, as any pod would, and has the permissions of its role.
 *
 * Anyone who can create pods chooses args and environment. So they are parsed here and reduced to a {@link PodRequest}, which
 * names nothing but what the catalog has, and the process gets few permissions: see {@link processFlags}.
 */
export function operatorProgram(catalog: OperatorCatalog, { clock, timeScale = 1 }: OperatorTime): Program {
  return async (container) => {
    const request = requestOf(container, catalog);
    if (typeof request === "number") return request;
    const folder = await container.folder();
    const time = { machine: realClock().now(), cluster: clock.now(), scale: timeScale };
    const first: ContainerRequest = { ...request, account: join(folder, ACCOUNT), time };
    return runChild(container, {
      file: process.execPath,
      args: [...processFlags(catalog.code, folder), startedModule("operator-container")],
      env: necessaryVariables(),
      cwd: folder,
      channel: { first, receive: (message) => expose(container, message as Partial<Listening>) },
    });
  };
}

/** What a container asks for, or its exit code if that cannot be done. */
function requestOf({ args, env, write }: ContainerProcess, catalog: OperatorCatalog): PodRequest | number {
  try {
    return podRequest(args, env, catalog, write);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    if (!(error instanceof UsageError)) throw error;
    write(`konverge: ${error.message}\n`);
    return 1;
  }
}

function expose({ expose }: ContainerProcess, { port, localPort }: Partial<Listening>): void {
  if (isPort(port) && isPort(localPort)) expose(port, { port: localPort });
}

function isPort(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) > 0 && Number(value) < 65_536;
}

/** Windows starts nothing without it; elsewhere a process needs no variables at all. */
function necessaryVariables(): Record<string, string> {
  const root = process.env["SystemRoot"];
  return process.platform === "win32" && root ? { SystemRoot: root } : {};
}
