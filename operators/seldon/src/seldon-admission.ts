import type { FieldError } from "konverge";
import { admissionWebhook, fieldInvalid, fieldRequired } from "konverge/webhooks";
import { type Component, componentsOf } from "./components.ts";
import { unitsOf } from "./graph.ts";
import { hasNoOrchestrator } from "./orchestrator.ts";
import { type Predictor, SeldonDeployment } from "./seldon-deployment.ts";
import { isProxied } from "./server-container.ts";
import { isBuiltIn, isServer, knownServer, serverImage, serverNames } from "./servers.ts";

/** What a CRD's schema cannot say: the graph fits the containers, the shares of traffic add up, names are unique. */
export function seldonErrors(object: SeldonDeployment): FieldError[] {
  const components = componentsOf(object);
  return [
    ...object.spec.predictors.flatMap((predictor, i) => {
      const path = `spec.predictors[${i}]`;
      return [
        ...graphErrors(object, predictor, path),
        ...homelessUnits(predictor, components.get(predictor) ?? []).map(({ name }) =>
          fieldInvalid(
            `${path}.graph`,
            name,
            "no container of componentSpecs has the unit's name, and it names no implementation",
          ),
        ),
        ...proxyErrors(object, components.get(predictor) ?? [], path),
      ];
    }),
    ...trafficErrors(object.spec.predictors),
    ...nameErrors(object.spec.predictors),
    ...kafkaErrors(object),
  ];
}

function graphErrors({ spec }: SeldonDeployment, predictor: Predictor, path: string): FieldError[] {
  const units = unitsOf(predictor.graph);
  const errors: FieldError[] = [];
  for (const unit of units) {
    const { name, implementation } = unit;
    if (units.filter((other) => other.name === name).length > 1) {
      errors.push(fieldInvalid(`${path}.graph`, name, "two units of a graph cannot have the same name"));
    }
    if (!isServer(implementation)) continue;
    const written = (predictor.componentSpecs ?? []).flatMap((one) => one.spec?.containers ?? []);
    if (written.some((container) => container.name === name && container.image)) continue;
    const server = knownServer(implementation);
    if (!server) {
      const known = serverNames().join(", ");
      errors.push(fieldInvalid(`${path}.graph`, implementation, `unknown server: use one of ${known}`));
    } else if (!serverImage(implementation, spec.protocol)) {
      const protocol = spec.protocol ?? "seldon";
      errors.push(fieldInvalid(`${path}.graph`, implementation, `does not speak the protocol ${protocol}`));
    } else if (!unit.modelUri && !server.selfSupplied) {
      errors.push(fieldRequired(`${path}.graph.modelUri`, `${implementation} of unit ${name} needs a model`));
    }
  }
  if (hasNoOrchestrator(predictor) && units.length > 1) {
    errors.push(fieldInvalid(`${path}.graph`, predictor.name, "a graph of several units needs the orchestrator"));
  }
  return errors;
}

/** Units that run nowhere: no container, no server, nothing that the orchestrator does itself. */
function homelessUnits(predictor: Predictor, components: readonly Component[]) {
  const housed = new Set(components.flatMap(({ containers }) => containers.map(({ container }) => container.name)));
  return unitsOf(predictor.graph).filter(({ name, implementation }) => !housed.has(name) && !isBuiltIn(implementation));
}

/** The proxies of a pod share one server of TensorFlow, which has one model. */
function proxyErrors(object: SeldonDeployment, components: readonly Component[], path: string): FieldError[] {
  return components.flatMap(({ containers }) => {
    const [, second] = containers.filter(({ unit }) => unit && isProxied(object, unit));
    if (!second) return [];
    const advice =
      "two TENSORFLOW_SERVER units share a pod: give each a container in a separate entry of componentSpecs";
    return [fieldInvalid(`${path}.graph`, second.container.name, `${advice}, or set the protocol tensorflow`)];
  });
}

function trafficErrors(predictors: readonly Predictor[]): FieldError[] {
  const shadows = predictors.filter(({ shadow }) => shadow);
  const live = predictors.filter(({ shadow }) => !shadow);
  const sum = live.reduce((total, { traffic = 0 }) => total + traffic, 0);
  const errors: FieldError[] = [];
  if (shadows.length > 1) errors.push(fieldInvalid("spec.predictors", shadows[1]!.name, "only one may be a shadow"));
  if (live.length === 0)
    errors.push(fieldInvalid("spec.predictors", predictors[0]!.name, "a shadow needs another predictor"));
  if (live.length > 1 && sum !== 100)
    errors.push(fieldInvalid("spec.predictors", sum, "the predictors' traffic must add up to 100"));
  if (live.length === 1 && sum !== 0 && sum !== 100) {
    errors.push(fieldInvalid("spec.predictors", sum, "a single predictor gets all traffic: 100, or omit it"));
  }
  return errors;
}

function nameErrors(predictors: readonly Predictor[]): FieldError[] {
  return predictors
    .filter(({ name }, i) => predictors.findIndex((other) => other.name === name) !== i)
    .map(({ name }) => fieldInvalid("spec.predictors", name, "two predictors cannot have the same name"));
}

function kafkaErrors({ spec }: SeldonDeployment): FieldError[] {
  if (spec.serverType !== "kafka") return [];
  const needed = ["KAFKA_BROKER", "KAFKA_INPUT_TOPIC", "KAFKA_OUTPUT_TOPIC"];
  return spec.predictors.flatMap(({ svcOrchSpec }, i) => {
    const given = (svcOrchSpec?.env ?? []).map(({ name }) => name);
    const missing = needed.filter((name) => !given.includes(name));
    if (missing.length === 0) return [];
    return [fieldRequired(`spec.predictors[${i}].svcOrchSpec.env`, `Kafka needs ${missing.join(", ")}`)];
  });
}

/** Refuses what could never run. */
export const seldonAdmission = () => admissionWebhook(SeldonDeployment, { validate: (object) => seldonErrors(object) });
