import { PORT } from "../container-layout.ts";
import type { Engine } from "./engine.ts";

const PERIOD = 10;

/** Probes of a server that answers at this path when its model is loaded. */
export function httpProbes(path: string): Engine["probes"] {
  const check = { httpGet: { path, port: PORT.name } };
  return (startupSeconds) => ({
    startupProbe: {
      ...check,
      periodSeconds: PERIOD,
      // Large models take their time to load.
      failureThreshold: Math.max(1, Math.ceil(startupSeconds / PERIOD)),
    },
    readinessProbe: { ...check, periodSeconds: 5 },
    livenessProbe: { ...check, periodSeconds: PERIOD, failureThreshold: 6 },
  });
}
