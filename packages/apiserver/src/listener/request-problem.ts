/** The answer to what is no HTTP request, as Go's server words it: the last thing that is said on a connection. */
export function requestProblem(code: string | undefined): string {
  const status = STATUSES[code ?? ""] ?? "400 Bad Request";
  return `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${status}`;
}

const STATUSES: Record<string, string> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};
