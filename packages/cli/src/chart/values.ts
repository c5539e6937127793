import type { Operator } from "@konverge/runtime";
import { printYaml } from "@konverge/schema";
import { type SettingSources, settingsOf } from "../operators/settings.ts";

/** A name of an image in parts. */
export interface ImageParts {
  readonly repository: string;
  readonly tag: string;
  readonly digest: string;
}

/** `registry:5000/team/notes:v1` or `…@sha256:…` in parts. */
export function imageParts(image: string): ImageParts {
  const [name = "", digest = ""] = image.split("@");
  const colon = name.indexOf(":", name.lastIndexOf("/") + 1);
  return colon < 0
    ? { repository: name, tag: "", digest }
    : { repository: name.slice(0, colon), tag: name.slice(colon + 1), digest };
}

interface Value {
  readonly description: string;
  readonly default: unknown;
  readonly schema: object;
}

const text = { type: "string" };
const named = { type: "array", items: { type: "object", required: ["name"], properties: { name: text } } };
const textMap = { type: "object", additionalProperties: { type: "string" } };
const flag = { type: "object", additionalProperties: false, properties: { enabled: { type: "boolean" } } };

/** What can be set in a chart, in the order of values.yaml. */
function chartValues(operator: Operator, image: ImageParts, sources: SettingSources): Record<string, Value> {
  const { settings = [] } = operator;
  const values = settingsOf(operator, sources);
  const scalar = { type: ["string", "number", "boolean", "null"] };
  return {
    image: {
      description:
        "Image of the operator. A digest has precedence over a tag; the default tag is the chart's appVersion.",
      default: { ...image, pullPolicy: "IfNotPresent" },
      schema: {
        type: "object",
        additionalProperties: false,
        properties: {
          repository: { type: "string", minLength: 1 },
          tag: text,
          digest: text,
          pullPolicy: { enum: ["Always", "IfNotPresent", "Never"] },
        },
        required: ["repository"],
      },
    },
    imagePullSecrets: {
      description: "Secrets with which nodes pull the image: - name: registry",
      default: [],
      schema: named,
    },
    replicas: {
      description: "Replicas of the operator. One of them is active, the others are on standby.",
      default: 1,
      schema: { type: "integer", minimum: 0 },
    },
    ...(!settings.some(({ env }) => env === "LOG_LEVEL") && {
      logLevel: {
        description: "Level of the log: trace, debug, info, warn, error or silent.",
        default: "info",
        schema: { enum: ["trace", "debug", "info", "warn", "error", "silent"] },
      },
    }),
    ...(settings.length > 0 && {
      settings: {
        description:
          "Settings of the operator. The chart's roles are those that these settings need: if you change one of them and the operator reports missing permissions, generate the chart with this setting.",
        default: Object.fromEntries(settings.map((one) => [one.flag, values[one.flag] ?? null])),
        schema: {
          type: "object",
          additionalProperties: false,
          properties: Object.fromEntries(
            settings.map(({ flag: name, description }) => [name, { description, ...scalar }]),
          ),
        },
      },
    }),
    crds: {
      description:
        "Install and upgrade the CRDs with the chart. With keep, CRDs and all their objects survive the removal of the chart.",
      default: { install: true, keep: true },
      schema: {
        type: "object",
        additionalProperties: false,
        properties: { install: { type: "boolean" }, keep: { type: "boolean" } },
      },
    },
    resources: {
      description: "Resources of the operator's container.",
      default: { requests: { cpu: "50m", memory: "128Mi" }, limits: { memory: "512Mi" } },
      schema: { type: "object" },
    },
    serviceAccount: {
      description: "Annotations of the service account, such as those that give it an identity in a cloud.",
      default: { annotations: {} },
      schema: { type: "object", additionalProperties: false, properties: { annotations: textMap } },
    },
    extraEnv: {
      description: "More environment variables of the operator's container: - name: HTTPS_PROXY and its value.",
      default: [],
      schema: named,
    },
    extraVolumes: {
      description: "More volumes of the pods, such as Secrets and ConfigMaps that the operator reads as files.",
      default: [],
      schema: named,
    },
    extraVolumeMounts: {
      description: "Where the operator's container has these volumes.",
      default: [],
      schema: {
        type: "array",
        items: { type: "object", required: ["name", "mountPath"], properties: { name: text, mountPath: text } },
      },
    },
    annotations: { description: "Annotations of the Deployment.", default: {}, schema: textMap },
    podAnnotations: { description: "Annotations of the pods.", default: {}, schema: textMap },
    nodeSelector: { description: "Labels of the nodes that the pods run on.", default: {}, schema: textMap },
    tolerations: { description: "Taints that the pods tolerate.", default: [], schema: { type: "array" } },
    affinity: { description: "Affinity of the pods.", default: {}, schema: { type: "object" } },
    priorityClassName: { description: "Priority class of the pods.", default: "", schema: text },
    serviceMonitor: {
      description: "Create a ServiceMonitor, for the Prometheus operator.",
      default: { enabled: false },
      schema: flag,
    },
    networkPolicy: {
      description: "Create a NetworkPolicy that lets only metrics, probes and webhooks in.",
      default: { enabled: false },
      schema: flag,
    },
    podDisruptionBudget: {
      description: "Create a PodDisruptionBudget: nodes are drained one replica at a time.",
      default: { enabled: false },
      schema: flag,
    },
    test: {
      description: "The pod of `helm test`, which requests the operator's metrics. Default image: the operator's.",
      default: { image: "", annotations: {} },
      schema: { type: "object", additionalProperties: false, properties: { image: text, annotations: textMap } },
    },
  };
}

/** values.yaml, with the meaning of each value above it. */
export function valuesText(operator: Operator, image: ImageParts, sources: SettingSources): string {
  const { settings = [] } = operator;
  const parts = Object.entries(chartValues(operator, image, sources)).map(([name, value]) => {
    const comment = folded(value.description).map((line) => `# ${line}\n`);
    const printed = printYaml({ [name]: value.default });
    return comment.join("") + (name === "settings" ? withMeanings(printed, settings) : printed);
  });
  return parts.join("\n");
}

/** values.schema.json, which Helm checks values against: a misspelled value is an error. */
export function valuesSchema(operator: Operator, image: ImageParts, sources: SettingSources): object {
  const values = Object.entries(chartValues(operator, image, sources));
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    additionalProperties: false,
    // What a chart that contains this one sets for all its parts.
    properties: {
      global: { type: "object" },
      ...Object.fromEntries(values.map(([name, { schema }]) => [name, schema])),
    },
  };
}

function withMeanings(text: string, settings: NonNullable<Operator["settings"]>): string {
  return text.replace(/^ {2}"?([\w-]+)"?: /gm, (line, flag: string) => {
    const setting = settings.find((one) => one.flag === flag);
    return setting ? `  # ${setting.description.replaceAll("\n", " ")}\n${line}` : line;
  });
}

const WIDTH = 120;

function folded(text: string): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.at(-1)!;
    if (last !== "" && last.length + word.length + 1 > WIDTH) lines.push(word);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines;
}
