/** The name of an image in full, as containerd stores it: `postgres` is docker.io/library/postgres:latest. */
export function fullImageName(name: string): string {
  const [first = "", ...rest] = name.split("/");
  const hasRegistry = rest.length > 0 && (/[.:]/.test(first) || first === "localhost");
  const path = hasRegistry ? name : `docker.io/${rest.length === 0 ? "library/" : ""}${name}`;
  const last = path.slice(path.lastIndexOf("/") + 1);
  return /[:@]/.test(last) ? path : `${path}:latest`;
}
