/** The fields of a request's body; a SyntaxError if it is no JSON object. */
export function fieldsOf(body: string): object {
  const value: unknown = JSON.parse(body);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new SyntaxError(`the body is a JSON object with the fields of the request, not ${body.slice(0, 100)}`);
}
