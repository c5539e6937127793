import { duration, z } from "konverge";

/** The field `route` of a spec. */
export const routeField = z.object({
  gateway: z
    .object({
      name: z.string().min(1).max(253),
      namespace: z.string().min(1).max(63).optional().describe("Default: the object's namespace."),
      sectionName: z.string().min(1).max(253).optional().describe("One of the gateway's listeners. Default: all."),
    })
    .describe("The Gateway that takes requests for the model."),
  hostnames: z
    .array(z.string().min(1).max(253))
    .max(16)
    .optional()
    .describe("Requests for these hosts. Default: those of the gateway's listeners."),
  path: z
    .string()
    .max(1024)
    .regex(/^\//)
    .default("/")
    .describe("Requests with this prefix, which the server does not see."),
  timeout: duration().optional().describe("How long an answer can take. Default: the gateway's."),
});

/** What a spec says about its route. */
export interface RouteSpec {
  readonly gateway: {
    readonly name: string;
    readonly namespace?: string | undefined;
    readonly sectionName?: string | undefined;
  };
  readonly hostnames?: readonly string[] | undefined;
  readonly path: string;
  readonly timeout?: string | undefined;
}
