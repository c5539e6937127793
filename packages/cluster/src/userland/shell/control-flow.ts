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

/** `break` or `continue` of this many nested loops. */
export class LeaveLoop extends Error {
  readonly levels: number;
  readonly isContinue: boolean;

  constructor(levels: number, isContinue: boolean) {
    super(isContinue ? "continue" : "break");
    this.levels = levels;
    this.isContinue = isContinue;
  }
}
