import type { Clock } from "@konverge/core";
import { type AdmissionPluginOptions, admissionOf } from "./admission/plugins.ts";
import { Aggregation } from "./aggregation/aggregation.ts";
import type { AggregationOptions } from "./aggregation/extension-call.ts";
import type { AccessControl } from "./auth/access-control.ts";
import {
  reviewLocalSubjectAccess,
  reviewSelfAccess,
  reviewSelfRules,
  reviewSubjectAccess,
} from "./auth/reviews/access-reviews.ts";
import { reviewSelf, reviewToken } from "./auth/reviews/identity-reviews.ts";
import { bootstrap } from "./bootstrap/bootstrap.ts";
import { DefaultsKeeper } from "./bootstrap/keep-defaults.ts";
import { type AdvertisedAddress, OwnService } from "./bootstrap/own-service.ts";
import type { Admission, TableMaker } from "./call/call.ts";
import { Discovery } from "./discovery/discovery.ts";
import type { ServerMetrics } from "./discovery/metrics.ts";
import { serverPaths } from "./discovery/server-paths.ts";
import type { Extensions } from "./extensions.ts";
import type { Guard } from "./guard.ts";
import { OpenApi } from "./openapi/openapi.ts";
import type { Registry } from "./resources/registry.ts";
import type { Store } from "./storage/store.ts";
import type { KubeletApi } from "./subresources/kubelet.ts";
import { builtinSubresources } from "./subresources/subresources.ts";
import { openIdDocuments } from "./subresources/token.ts";
import { tableContent } from "./table/table-content.ts";
import { scale } from "./verbs/scale.ts";
import { type CallWebhook, noWebhooks } from "./webhook-call.ts";

/** What a real server calls itself when it writes to itself. */
const SELF = { name: "system:apiserver", groups: ["system:masters", "system:authenticated"] };

/** What is plugged into the server. */
export interface WiringOptions {
  /** Answers for the nodes: logs, commands and ports of pods. Without it there are none. */
  kubelet?: KubeletApi;
  /** Where those inside the cluster find the server: the endpoints of the Service `kubernetes`. Without it, it has none. */
  advertise?: AdvertisedAddress;
  /** Which admission plugins are asked. */
  admission?: AdmissionPluginOptions;
  /** How conversion and admission webhooks are reached. Without it they cannot be. */
  callWebhook?: CallWebhook;
  /** How other API servers, which APIServices name, are reached. Without it they cannot be. */
  aggregation?: AggregationOptions;
}

/** The parts of the server that what is plugged into it works with. Requests come when all is there. */
interface ServerParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly registry: Registry;
  readonly access: AccessControl;
  readonly metrics: ServerMetrics;
  readonly guard: Guard;
}

/** What the server is made of besides storage and verbs. */
export interface Wiring {
  readonly admission: Admission;
  readonly tables: TableMaker;
  readonly extensions: Extensions;
  readonly aggregation: Aggregation;
  readonly ownService: OwnService;
  readonly keeper: DefaultsKeeper;
}

/** Puts the parts of the server together that are in separate folders. */
export function wire(
  { registry, access, store, clock, metrics, guard }: ServerParts,
  options: WiringOptions = {},
): Wiring {
  const { authorizer, authenticator, serviceAccounts } = access;
  bootstrap(store, registry, clock);
  const ownService = new OwnService(store, registry, clock);
  if (options.advertise) ownService.advertise(options.advertise);
  const self = guard.as(SELF);
  const keeper = new DefaultsKeeper(store, registry, clock, self);
  const aggregation = new Aggregation({
    store,
    registry,
    clock,
    self,
    ...(options.aggregation && { options: options.aggregation }),
  });
  const openApi = new OpenApi(registry, aggregation);
  const discovery = new Discovery(registry, () => access.address, aggregation);
  const aboutServer = serverPaths(store, registry, metrics);
  return {
    aggregation,
    ownService,
    keeper,
    admission: admissionOf(options.callWebhook ?? noWebhooks, authorizer, options.admission),
    tables: tableContent,
    extensions: {
      paths: [
        (request, info) => (/^\/apis?(\/|$)/.test(info.path) ? discovery.answer(request, info) : undefined),
        (request, info) => openApi.answer(request, info),
        (_request, info) => aboutServer(info),
        openIdDocuments(serviceAccounts, () => access.address),
      ],
      reviews: {
        "authentication.k8s.io/selfsubjectreviews": ({ user }, review) => reviewSelf(clock, review, user),
        "authentication.k8s.io/tokenreviews": (_call, review) => reviewToken(authenticator, serviceAccounts, review),
        "authorization.k8s.io/subjectaccessreviews": (_call, review) => reviewSubjectAccess(authorizer, review),
        "authorization.k8s.io/localsubjectaccessreviews": ({ info }, review) =>
          reviewLocalSubjectAccess(authorizer, review, info.namespace),
        "authorization.k8s.io/selfsubjectaccessreviews": ({ user }, review) =>
          reviewSelfAccess(authorizer, review, user),
        "authorization.k8s.io/selfsubjectrulesreviews": ({ user }, review) => reviewSelfRules(authorizer, review, user),
      },
      subresources: { "*/scale": scale, ...builtinSubresources(serviceAccounts, options.kubelet) },
    },
  };
}
