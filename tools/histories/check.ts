import { Evidence } from "./evidence.ts";
import type { Check, History, Retention } from "./history.ts";
import { notLinearizable } from "./linearizable.ts";
import { wrongLists } from "./lists.ts";
import { notMonotone, Observed, tooOld } from "./revisions.ts";
import { disorder, each, expiredTooSoon, gaps, invented } from "./streams.ts";

/** Holds everything that clients have observed against the guarantees of the Kubernetes API. */
export function check(history: History, retention: Retention): Check[] {
  const evidence = new Evidence(history);
  const observed = new Observed(history);
  const { operations, streams } = history;
  return [
    { what: "every response is one that a correct server gives", problems: history.surprises },
    { what: "a revision is one change of one object, for all clients", problems: evidence.contradictions },
    { what: "operations on each object are linearizable", problems: notLinearizable(operations, evidence) },
    { what: "revisions grow with time", problems: notMonotone(operations, observed) },
    { what: "reads are as recent as requested", problems: tooOld(history, observed, evidence) },
    { what: "lists are the state at their revision", problems: wrongLists(history, evidence) },
    { what: "watches deliver in order, and nothing twice", problems: each(streams, disorder) },
    {
      what: "watches have no gap, and no bookmark is ahead of an event",
      problems: each(streams, (stream) => gaps(stream, evidence)),
    },
    { what: "watches report only what was requested", problems: each(streams, invented(history)) },
    { what: "410 is only for what has expired", problems: expiredTooSoon(history, evidence, retention) },
  ];
}
