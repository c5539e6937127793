import { type ApiRequest, type Random, seededRandom, type Transport } from "@konverge/core";
import type { FaultInjector } from "../stage/ground.ts";
import type { Scenario } from "../stage/stage.ts";
import { API_FAULTS, type ApiFault } from "./api-faults.ts";
import { endStateDifferences } from "./end-state.ts";
import { failureText, playToEnd, type SurvivalOptions } from "./play-to-end.ts";

/** How failing requests are explored. */
export interface ApiErrorRunOptions extends SurvivalOptions {
  /**
   * No more runs than so many, chosen by the seed among all requests and faults. Default: each write with each fault, and
   * each other request with one.
   */
  readonly runs?: number;
  readonly seed?: number;
}

/** What was found out by failing an operator's requests. */
export interface ApiErrorFindings {
  /** How many requests the scenario took without a fault. */
  readonly requests: number;
  readonly runs: number;
  /** Empty, if it survives. */
  readonly problems: readonly string[];
}

/** One request, by its number, and what happens to it. */
interface Trial {
  readonly at: number;
  readonly fault: ApiFault;
  readonly what: string;
}

/**
 * Plays a scenario once cleanly, then once for each request and fault: one request of the operators is answered with an
 * error, or its connection is cut before or after it took effect, or its watch is ended because the server no longer
 * remembers. Each run must end as the clean one did.
 */
export async function apiErrorRuns(scenario: Scenario, options: ApiErrorRunOptions = {}): Promise<ApiErrorFindings> {
  const seen: ApiRequest[] = [];
  const clean = await playToEnd(scenario, options, {
    around: (next) => counted(next, (request) => seen.push(request)),
  });
  const trials = chosen(seen, options, seededRandom(options.seed ?? 1));
  const problems: string[] = [];
  for (const { at, fault, what } of trials) {
    const where = `request ${at} of ${seen.length} (${what}) ${fault.name}`;
    try {
      const { state } = await playToEnd(scenario, options, failing(at, fault));
      for (const problem of endStateDifferences(clean.state, state)) problems.push(`${where}: ${problem}`);
    } catch (error) {
      problems.push(`${where}: ${failureText(error)}`);
    }
  }
  return { requests: seen.length, runs: trials.length + 1, problems };
}

/** Lets one fault happen to the request of that number, or to the first after it that it fits. */
function failing(at: number, fault: ApiFault): FaultInjector {
  let [count, happened] = [0, false];
  return {
    around: (next) => (request) => {
      if (isRoutine(request)) return next(request);
      count++;
      if (happened || count < at || !fault.fits(request)) return next(request);
      happened = true;
      return fault.happen(request, next);
    },
  };
}

function counted(next: Transport, tell: (request: ApiRequest) => void): Transport {
  return (request) => {
    if (!isRoutine(request)) tell(request);
    return next(request);
  };
}

/** Leases and events come whenever there is time, which numbers would not survive. */
function isRoutine({ path, method }: ApiRequest): boolean {
  return path.includes("/leases") || (method !== "GET" && path.includes("/events"));
}

function chosen(requests: readonly ApiRequest[], { runs }: ApiErrorRunOptions, random: Random): Trial[] {
  const all = requests.flatMap((request, i) => {
    const fitting = API_FAULTS.filter((fault) => fault.fits(request));
    // A read that fails is a read that fails: one way each is enough, all ways on the whole.
    const tried = request.method === "GET" && runs === undefined ? [random.pick(fitting)] : fitting;
    const what = `${request.method} ${request.path.replace(/\?.*/, "")}`;
    return tried.map((fault) => ({ at: i + 1, fault, what }));
  });
  if (runs === undefined || runs >= all.length) return all;
  const rest = [...all];
  return Array.from({ length: runs }, () => rest.splice(random.below(rest.length), 1)[0]!);
}
