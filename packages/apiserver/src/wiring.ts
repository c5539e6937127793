import { admissionOf } from "./admission/index.ts";
import { Aggregation } from "./aggregation/index.ts";
import {
  reviewLocalSubjectAccess,
  reviewSelfAccess,
  reviewSelfRules,
  reviewSubjectAccess,
} from "./auth/reviews/access-reviews.ts";
import { reviewSelf, reviewToken } from "./auth/reviews/identity-reviews.ts";
import { bootstrap } from "./bootstrap/bootstrap.ts";
import { DefaultsKeeper } from "./bootstrap/keep-defaults.ts";
import { OwnService } from "./bootstrap/own-service.ts";
import { Discovery } from "./discovery/index.ts";
import { serverPaths } from "./discovery/server-paths.ts";
import type { Extensions } from "./extensions.ts";
import { OpenApi } from "./openapi/index.ts";
import type { ApiServer, ApiServerOptions } from "./server.ts";
import { builtinSubresources, openIdDocuments } from "./subresources/index.ts";
import { tableContent } from "./table/index.ts";
import { type Admission, scale, type TableMaker } from "./verbs/index.ts";
import { noWebhooks } from "./webhook-call.ts";

/** What a real server calls itself when it writes to itself. */
const SELF = { name: "system:apiserver", groups: ["system:masters", "system:authenticated"] };

/** What the server is made of besides storage and verbs. */
export interface Wiring {
  readonly admission: Admission;
  readonly tables: TableMaker;
  readonly extensions: Extensions;
  readonly aggregation: Aggregation;
  readonly ownService: OwnService;
  readonly keeper: DefaultsKeeper;
}

/** Puts the parts of the server together that live in folders of their own. */
export function wire(server: ApiServer, options: ApiServerOptions = {}): Wiring {
  const { registry, access, store, clock, metrics } = server;
  const { authorizer, authenticator, serviceAccounts } = access;
  bootstrap(store, registry, clock);
  const ownService = new OwnService(store, registry, clock);
  if (options.advertise) ownService.advertise(options.advertise);
  const self = server.as(SELF);
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
