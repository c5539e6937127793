/** Adds items to a list. It takes any number of them: arguments, as of `list.push(...items)`, are put on the stack. */
export function append<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item);
}
