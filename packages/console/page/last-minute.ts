import type { ControllerSample, Sample } from "../src/protocol.ts";

const MINUTE = 60_000;

/**
 * The controllers of the newest sample, with the means of the last minute: between two samples, most controllers have nothing to
 * do. The latency is that of the last reconciles within it.
 */
export function lastMinute(samples: readonly Sample[]): ControllerSample[] {
  const latest = samples.at(-1);
  if (!latest) return [];
  const recent = samples.filter(({ at }) => at > latest.at - MINUTE);
  return latest.controllers.map((one) => {
    const own = recent.flatMap(({ controllers }) =>
      controllers.filter(
        ({ controller, operator, pod }) =>
          controller === one.controller && operator === one.operator && pod === one.pod,
      ),
    );
    const mean = (value: (sample: ControllerSample) => number) =>
      own.reduce((sum, sample) => sum + value(sample), 0) / own.length;
    const p95 = own.findLast((sample) => sample.p95 !== undefined)?.p95;
    return {
      ...one,
      rate: mean(({ rate }) => rate),
      errors: mean(({ errors }) => errors),
      retries: mean(({ retries }) => retries),
      writes: mean(({ writes }) => writes),
      ...(p95 !== undefined && { p95 }),
    };
  });
}
