/** The name under which a controller runs that another one returned: its metrics and field manager have it. */
export function dynamicName(parent: string, name: string): string {
  return `${parent}/${name}`;
}

/** Whether a field manager is one of `managers`, or that of a controller that one of them returned. */
export function isOwnManager(manager: string, managers: ReadonlySet<string>): boolean {
  if (managers.has(manager)) return true;
  for (let i = manager.indexOf("/"); i > 0; i = manager.indexOf("/", i + 1)) {
    if (managers.has(manager.slice(0, i))) return true;
  }
  return false;
}
