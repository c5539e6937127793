import {
  atomic,
  cel,
  defineKind,
  immutable,
  listMap,
  type ObjectOf,
  opaqueObject,
  quantity,
  rawSchema,
  z,
} from "konverge";
import type { Affinity, PodSecurityContext, SecurityContext, Toleration, Volume, VolumeMount } from "konverge/kinds";
import type { DeepReadonly } from "konverge/objects";
import { jobColumns } from "./job-columns.ts";
import { TRAINER_GROUP } from "./training-runtime.ts";

/** Who looks after a TrainJob, unless it says otherwise. */
export const TRAIN_MANAGER = `${TRAINER_GROUP}/trainjob-controller`;

const reference = z.object({ name: z.string().default("") });
const keyRef = z.object({ name: z.string().default(""), key: z.string(), optional: z.boolean().optional() });

/** Variables with all their fields: CEL does not see what is inside an opaque object, and so could not keep it from changing. */
const env = () =>
  z
    .array(
      z.object({
        name: z.string().min(1),
        value: z.string().optional(),
        valueFrom: z
          .object({
            configMapKeyRef: keyRef.optional(),
            secretKeyRef: keyRef.optional(),
            fileKeyRef: z
              .object({
                volumeName: z.string(),
                path: z.string(),
                key: z.string(),
                optional: z.boolean().default(false),
              })
              .optional(),
            fieldRef: z.object({ apiVersion: z.string().optional(), fieldPath: z.string() }).optional(),
            resourceFieldRef: z
              .object({ containerName: z.string().optional(), resource: z.string(), divisor: quantity().optional() })
              .optional(),
          })
          .optional(),
      }),
    )
    .max(128)
    .check(listMap("name"))
    .optional();

/** An entry of a list whose entries are known by their names, and are otherwise as Kubernetes has them. */
const entry = <T extends { name: string }>() =>
  rawSchema<T>({
    type: "object",
    required: ["name"],
    properties: { name: { type: "string" } },
    "x-kubernetes-preserve-unknown-fields": true,
  });

const metadata = z
  .object({
    labels: z.record(z.string(), z.string()).optional(),
    annotations: z.record(z.string(), z.string()).optional(),
  })
  .optional();

const containers = () =>
  z
    .array(
      z.object({
        name: z.string().min(1).max(253).describe("A container of the runtime."),
        env: env(),
        volumeMounts: z.array(entry<VolumeMount>()).max(128).check(listMap("name")).optional(),
        securityContext: opaqueObject<SecurityContext>().optional(),
      }),
    )
    .max(64)
    .check(listMap("name"))
    .optional();

const podTemplatePatch = {
  metadata,
  spec: z
    .object({
      serviceAccountName: z.string().max(253).optional(),
      nodeSelector: z.record(z.string(), z.string()).optional(),
      affinity: opaqueObject<Affinity>().optional(),
      tolerations: z.array(opaqueObject<Toleration>()).max(128).check(atomic()).optional(),
      volumes: z.array(entry<Volume>()).max(128).check(listMap("name")).optional(),
      initContainers: containers(),
      containers: containers(),
      imagePullSecrets: z.array(reference).max(64).check(listMap("name")).optional(),
      schedulingGates: z
        .array(z.object({ name: z.string() }))
        .max(16)
        .check(listMap("name"))
        .optional(),
      securityContext: opaqueObject<PodSecurityContext>().optional(),
      terminationGracePeriodSeconds: z.int().min(0).optional(),
    })
    .optional(),
};
const podTemplate = z.object(podTemplatePatch);
export type PodTemplatePatch = DeepReadonly<z.infer<typeof podTemplate>>;

const runtimePatch = z.object({
  manager: z.string().min(1).max(253).describe("Who wrote the entry, such as kueue.x-k8s.io/manager."),
  time: z.iso.datetime().optional(),
  trainingRuntimeSpec: z
    .object({
      template: z
        .object({
          metadata,
          spec: z
            .object({
              replicatedJobs: z
                .array(
                  z.object({
                    name: z.string().min(1).max(253).describe("A Job of the runtime."),
                    template: z
                      .object({ metadata, spec: z.object({ template: podTemplate.optional() }).optional() })
                      .optional(),
                  }),
                )
                .max(100)
                .check(listMap("name"))
                .optional(),
            })
            .optional(),
        })
        .optional(),
    })
    .optional(),
});

const initializer = () =>
  z
    .object({
      storageUri: z
        .string()
        .max(2048)
        .check(
          cel(
            "self == '' || self.matches('^[A-Za-z][A-Za-z0-9+.-]*://.+$')",
            "storageUri may be empty, or it must be a valid URI (scheme://...)",
          ),
        )
        .optional(),
      env: env(),
      secretRef: reference.optional().describe("A Secret whose keys become variables."),
    })
    .optional();

const jobStatus = z.object({
  name: z.string(),
  ready: z.int32(),
  succeeded: z.int32(),
  failed: z.int32(),
  active: z.int32(),
  suspended: z.int32(),
});

/** A training on a runtime that others have prepared. */
export const TrainJob = defineKind({
  group: TRAINER_GROUP,
  kind: "TrainJob",
  versions: {
    v1alpha1: {
      spec: z.object({
        runtimeRef: z
          .object({
            name: z.string().min(1).max(253),
            apiGroup: z.string().max(253).default(TRAINER_GROUP),
            kind: z
              .string()
              .max(253)
              .default("ClusterTrainingRuntime")
              .describe("ClusterTrainingRuntime, or TrainingRuntime of the same namespace."),
          })
          .check(immutable()),
        initializer: z.object({ dataset: initializer(), model: initializer() }).check(immutable()).optional(),
        trainer: z
          .object({
            image: z.string().max(500).optional(),
            command: z.array(z.string()).max(128).check(atomic()).optional(),
            args: z.array(z.string()).max(128).check(atomic()).optional(),
            env: env(),
            numNodes: z.int32().optional().describe("Number of pods. Default: that of the runtime."),
            resourcesPerNode: z
              .object({
                limits: z.record(z.string(), quantity()).optional(),
                requests: z.record(z.string(), quantity()).optional(),
                claims: z
                  .array(z.object({ name: z.string(), request: z.string().optional() }))
                  .check(listMap("name"))
                  .optional(),
              })
              .optional()
              .describe("Merged with the resources that the runtime has for the container node."),
            numProcPerNode: z.int32().optional().describe("Processes per pod. Default: by the pod's GPUs or CPUs."),
          })
          .check(immutable())
          .optional()
          .describe("Overrides the container node of the runtime."),
        runtimePatches: z
          .array(runtimePatch)
          .max(16)
          .check(listMap("manager"))
          .optional()
          .describe("Merged into the template of the runtime. Can be changed while the job is suspended."),
        podTemplateOverrides: z
          .array(z.object({ targetJobs: z.array(z.object({ name: z.string().min(1) })), ...podTemplatePatch }))
          .max(16)
          .optional()
          .describe("What runtimePatches were up to Kubeflow Trainer 2.1."),
        suspend: z.boolean().default(false).describe("Deletes all pods until it is false again."),
        activeDeadlineSeconds: z
          .int()
          .min(1)
          .check(immutable())
          .optional()
          .describe("The job fails when it takes longer than this, from its creation or last resumption."),
        managedBy: z
          .enum([TRAIN_MANAGER, "kueue.x-k8s.io/multikueue"])
          .check(immutable())
          .default(TRAIN_MANAGER)
          .describe("The controller of the job. A job of another controller is ignored."),
      }),
      status: z.object({
        jobsStatus: z.array(jobStatus).max(100).check(listMap("name")).optional(),
        // As with the other jobs: declared here, it has no default that would wait for a report.
        observedGeneration: z.int().optional(),
      }),
      objectRules: [
        cel(
          "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
          "metadata.name must match RFC 1035 DNS label format",
        ),
        cel("size(self.metadata.name) <= 63", "metadata.name must be no more than 63 characters"),
      ],
      columns: jobColumns,
    },
  },
});
export type TrainJob = ObjectOf<typeof TrainJob>;
export type TrainJobStatus = NonNullable<TrainJob["status"]>;
