// Loaded before a program: its time of day is off by KONVERGE_CLOCK_SKEW milliseconds, as on a machine without time synchronization.
const skew = Number(process.env["KONVERGE_CLOCK_SKEW"]);
const RealDate = Date;

class SkewedDate extends RealDate {
  constructor(...args: unknown[]) {
    super(...((args.length === 0 ? [SkewedDate.now()] : args) as []));
  }

  static override now(): number {
    return RealDate.now() + skew;
  }
}

globalThis.Date = SkewedDate as DateConstructor;
