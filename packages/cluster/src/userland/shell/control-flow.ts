/** Ends the shell. */
export class ExitShell extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`exit ${status}`);
    this.status = status;
  }
}

/** Ends the function that runs. */
export class LeaveFunction extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`return ${status}`);
    this.status = status;
  }
}

/** Ends a turn of so many loops, or the loops themselves. */
export class LeaveLoop extends Error {
  readonly levels: number;
  readonly goesOn: boolean;

  constructor(levels: number, goesOn: boolean) {
    super(goesOn ? "continue" : "break");
    this.levels = levels;
    this.goesOn = goesOn;
  }
}
