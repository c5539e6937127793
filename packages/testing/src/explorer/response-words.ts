/** The metadata of the object that a response is. */
export function metadataOf(
  body: string,
): { name?: string; resourceVersion?: string; generateName?: string } | undefined {
  try {
    return (JSON.parse(body) as { metadata?: { name?: string; resourceVersion?: string } }).metadata;
  } catch {
    return undefined;
  }
}

/** `201`, `409 AlreadyExists`. */
export function resultText(status: number, body: string): string {
  if (status < 400) return String(status);
  try {
    return `${status} ${(JSON.parse(body) as { reason?: string }).reason ?? ""}`.trim();
  } catch {
    return String(status);
  }
}
