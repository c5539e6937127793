/** A graph of a Deployment, a Service behind a condition, and a ConfigMap for each name. */
export const WEB_APP = `
apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata:
  name: web-app
spec:
  schema:
    apiVersion: v1alpha1
    kind: WebApp
    spec:
      name: string | required=true
      image: string | default="nginx:1.29"
      replicas: integer | default=2 minimum=1 maximum=5
      expose: boolean | default=true
      settings: "[]string"
    status:
      available: \${deployment.status.availableReplicas}
      address: \${service.spec.clusterIP + ":80"}
      text: "\${deployment.metadata.name}-\${schema.spec.image}"
  resources:
    - id: service
      includeWhen:
        - \${schema.spec.expose}
      template:
        apiVersion: v1
        kind: Service
        metadata:
          name: \${schema.spec.name}
        spec:
          selector: \${deployment.spec.selector.matchLabels}
          ports:
            - port: 80
    - id: deployment
      readyWhen:
        - \${deployment.status.availableReplicas == deployment.spec.replicas}
      template:
        apiVersion: apps/v1
        kind: Deployment
        metadata:
          name: \${schema.spec.name}
        spec:
          replicas: \${schema.spec.replicas}
          selector:
            matchLabels:
              app: \${schema.spec.name}
          template:
            metadata:
              labels:
                app: \${schema.spec.name}
            spec:
              containers:
                - name: web
                  image: \${schema.spec.image}
    - id: settings
      forEach:
        - setting: \${schema.spec.settings}
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: \${schema.spec.name}-\${setting}
        data:
          value: \${setting}
`;

/** An instance of it. */
export const webApp = (name: string, spec: object = {}) => ({
  apiVersion: "kro.run/v1alpha1",
  kind: "WebApp",
  metadata: { name, namespace: "default" },
  spec: { name, settings: ["a", "b"], ...spec },
});
