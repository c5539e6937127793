import { operator } from "konverge";
import { routersNamed } from "./routing.ts";
import { seldonAdmission } from "./seldon-admission.ts";
import { seldonDeployments } from "./seldon-controller.ts";
import { SeldonDeployment } from "./seldon-deployment.ts";

/** Everything of this package in one: what `konverge run`, `install` and `deploy` take. */
export const seldonOperator = operator({
  name: "seldon-operator",
  description: "Serves models as inference graphs, from SeldonDeployments.",
  kinds: [SeldonDeployment],
  settings: [
    {
      flag: "executorImage",
      env: "EXECUTOR_CONTAINER_IMAGE_AND_VERSION",
      default: "seldonio/seldon-core-executor:1.18.2",
      description: "The image of the orchestrator.",
    },
    {
      flag: "storageInitializerImage",
      env: "RELATED_IMAGE_STORAGE_INITIALIZER",
      default: "seldonio/rclone-storage-initializer:1.18.2",
      description: "The image that fetches models.",
    },
    {
      flag: "routers",
      env: "SELDON_ROUTERS",
      default: "istio,ambassador,gateway",
      description: "Which of istio, ambassador and gateway (the Gateway API) get routes, if they are installed.",
    },
    {
      flag: "gateway",
      env: "ISTIO_GATEWAY",
      default: "istio-system/seldon-gateway",
      description: "The gateway of the routes: namespace/name.",
    },
  ],
  create: ({ settings }) => ({
    controllers: [
      seldonDeployments(
        { orchestrator: settings["executorImage"]!, modelInitializer: settings["storageInitializerImage"]! },
        { routers: routersNamed(settings["routers"]!), gateway: settings["gateway"]! },
      ),
    ],
    admissions: [seldonAdmission()],
  }),
});
