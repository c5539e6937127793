import { type ApiRequest, type Random, seededRandom, type Transport } from "@konverge/core";
import type { FaultInjector } from "../environment/test-backend.ts";
import type { Scenario } from "../environment/test-environment.ts";
import { runDifferences } from "../explorer/end-state.ts";
import { API_FAULTS, type ApiFault } from "./api-faults.ts";
import { failureText, playToEnd, type SurvivalOptions } from "./play-to-end.ts";

/** Options of {@link apiErrorRuns}. */
export interface ApiErrorRunOptions extends SurvivalOptions {
  /**
   * The maximum number of runs, chosen by the seed among all requests and faults. Default: each write with each fault, and
   * each read with one.
   */
  readonly runs?: number;
  readonly seed?: number;
}

/** The result of {@link apiErrorRuns}. */
export interface ApiErrorFindings {
  /** The number of requests of the scenario without a fault. */
  readonly requests: number;
  readonly runs: number;
  /** Empty if the operator survives every fault. */
  readonly problems: readonly string[];
}

/** One request, by its number, and what happens to it. */
interface Trial {
  readonly at: number;
  readonly fault: ApiFault;
  readonly what: string;
}

/**
 * Runs a scenario once without a fault, then once for each request and fault: one request of the operators gets an error
 * response, or its connection is closed before or after it took effect, or its watch ends with 410 Gone. Every run must end
 * in the same state as the first.
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
      for (const problem of runDifferences(clean.state, state)) problems.push(`${where}: ${problem}`);
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
