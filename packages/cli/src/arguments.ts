import { InvalidArgumentError } from "commander";

/** A whole number, not below zero. */
export function whole(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError("it must be a whole number.");
  return Number(text);
}

/** The number of a port; 0 stands for any that is free. */
export function port(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError("it must be a number up to 65535.");
  return Number(text);
}

/** A number above zero. */
export function factor(text: string): number {
  if (!(Number(text) > 0)) throw new InvalidArgumentError("it must be a number above 0.");
  return Number(text);
}
