import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { onEmbedded, renderedFields, supplyVolumes } from "@konverge/operator-suite";
import { operators, samplesOf } from "@konverge/operators";

/**
 * Fields of the types that operators render which a server of Kubernetes 1.28 drops, since they were added later: the
 * difference between the types in packages/kinds and those of the official Python client 28.1.
 */
const ADDED_AFTER_1_28: Readonly<Record<string, readonly string[]>> = {
  "core.v1.PodSpec": ["resources", "hostnameOverride", "schedulingGroup"],
  "core.v1.Volume": ["image"],
  "core.v1.VolumeProjection": ["clusterTrustBundle", "podCertificate"],
  "core.v1.PersistentVolumeClaimSpec": ["volumeAttributesClassName"],
  "core.v1.Container": ["restartPolicyRules"],
  "core.v1.EnvVarSource": ["fileKeyRef"],
  "core.v1.ResourceClaim": ["request"],
  "core.v1.VolumeMount": ["recursiveReadOnly"],
  "core.v1.Lifecycle": ["stopSignal"],
  "core.v1.LifecycleHandler": ["sleep"],
  "core.v1.SecurityContext": ["appArmorProfile"],
  "core.v1.PodSecurityContext": ["supplementalGroupsPolicy", "appArmorProfile", "seLinuxChangePolicy"],
  "core.v1.PodAffinityTerm": ["matchLabelKeys", "mismatchLabelKeys"],
  "core.v1.PodResourceClaim": ["resourceClaimName", "resourceClaimTemplateName"],
  "core.v1.ServiceSpec": ["trafficDistribution"],
  "batch.v1.JobSpec": ["successPolicy", "managedBy"],
  "autoscaling.v2.HPAScalingRules": ["tolerance"],
};

/** Fields that 1.28 has, behind a feature gate that is off there. */
const OFF_IN_1_28: Readonly<Record<string, readonly string[]>> = {
  // Sidecar containers, on from 1.29.
  "core.v1.Container": ["restartPolicy", "resizePolicy"],
  "core.v1.PodSpec": ["hostUsers", "resourceClaims"],
  "core.v1.ResourceRequirements": ["claims"],
  "core.v1.TypedObjectReference": ["namespace"],
  "batch.v1.JobSpec": ["backoffLimitPerIndex", "maxFailedIndexes", "podReplacementPolicy"],
};

const missing = new Set(
  [ADDED_AFTER_1_28, OFF_IN_1_28].flatMap((table) =>
    Object.entries(table).flatMap(([type, fields]) => fields.map((field) => `${type}.${field}`)),
  ),
);

for (const operator of operators) {
  onEmbedded(
    `${operator.name} renders its samples with fields that Kubernetes 1.28 has`,
    async (stage) => {
      const found = new Map<string, string>();
      stage.injectFault((request, next) => {
        for (const field of renderedFields(request)) found.set(field, request.path);
        return next(request);
      });
      await supplyVolumes(stage, "20Gi");
      await stage.start(operator);
      for (const { text } of samplesOf(operator)) await stage.apply(text);
      await stage.advance(120_000);
      assert.ok(found.has("core.v1.PodSpec.containers"), "no pod was rendered");
      assert.deepEqual(
        [...found].filter(([field]) => missing.has(field)).map(([field, where]) => `${field}: ${where}`),
        [],
      );
    },
    { podSecurity: "privileged" },
  );
}

test("CustomResourceDefinitions use schemas and CEL functions that Kubernetes 1.28 has", () => {
  const config = new URL("../../../config/", import.meta.url);
  const files = readdirSync(config, { recursive: true, encoding: "utf8" }).filter((file) =>
    /\/crds\/.+\.yaml$/.test(file),
  );
  assert.ok(files.length > 10);
  const newer =
    /selectableFields|optionalOldSelf|\b(quantity|isQuantity|ip|isIP|cidr|isCIDR|semver)\(|format\.(named|dns)/;
  for (const file of files) assert.doesNotMatch(readFileSync(new URL(file, config), "utf8"), newer, file);
});
