import type { Client } from "@konverge/client";
import type { Clock } from "@konverge/core";
import type { ApiServerAddress } from "../streams/cluster-network.ts";
import type { ExposedPorts } from "../streams/exposed-ports.ts";
import type { Images } from "./image.ts";
import type { PodTokens } from "./pod-tokens.ts";
import type { Place } from "./run.ts";

/** What containers with programs need of their cluster. */
export interface ProgramSite {
  readonly client: Client;
  readonly clock: Clock;
  readonly images: Images;
  readonly exposed: ExposedPorts;
  readonly place: Place;
  readonly apiServer: ApiServerAddress | undefined;
}

/** The same, for one pod. */
export interface ProgramHost extends ProgramSite {
  readonly tokens: PodTokens;
}
