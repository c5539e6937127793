/** A package with two steps, a plan for a backup, one for an update, and one for deletion. */
export const CACHE_PACKAGE = {
  "operator.yaml": `
apiVersion: kudo.dev/v1beta1
name: cache
operatorVersion: 1.0.0
kubernetesVersion: 1.31.0
tasks:
  - name: settings
    kind: Apply
    spec: {resources: [settings.yaml]}
  - name: server
    kind: Apply
    spec: {resources: [server.yaml]}
  - name: metrics
    kind: Toggle
    spec: {parameter: METRICS, resources: [metrics.yaml]}
  - name: backup
    kind: Apply
    spec: {resources: [backup.yaml]}
  - name: remove-backup
    kind: Delete
    spec: {resources: [backup.yaml]}
  - name: farewell
    kind: Apply
    spec: {resources: [farewell.yaml]}
plans:
  deploy:
    strategy: serial
    phases:
      - name: main
        strategy: serial
        steps:
          - {name: prepare, tasks: [settings]}
          - {name: serve, tasks: [server, metrics]}
  backup:
    strategy: serial
    phases:
      - name: backup
        strategy: serial
        steps:
          - {name: run, tasks: [backup]}
          - {name: remove, tasks: [remove-backup]}
  cleanup:
    strategy: serial
    phases:
      - name: farewell
        strategy: serial
        steps:
          - {name: run, tasks: [farewell]}
`,
  "params.yaml": `
apiVersion: kudo.dev/v1beta1
parameters:
  - {name: REPLICAS, default: 2, type: integer}
  - {name: GREETING, default: hello}
  - {name: METRICS, default: "false"}
  - {name: DISK, default: small, immutable: true}
  - {name: TARGET, default: here, trigger: backup}
`,
  "templates/settings.yaml": `
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Name }}-settings
data:
  greeting: {{ .Params.GREETING | quote }}
  disk: {{ .Params.DISK }}
`,
  "templates/server.yaml": `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Name }}
spec:
  replicas: {{ .Params.REPLICAS }}
  selector:
    matchLabels: {app: {{ .Name }}}
  template:
    metadata:
      labels: {app: {{ .Name }}}
    spec:
      volumes: [{name: settings, configMap: {name: {{ .Name }}-settings}}]
      containers: [{name: server, image: nginx}]
`,
  "templates/metrics.yaml": `
apiVersion: v1
kind: Service
metadata:
  name: {{ .Name }}-metrics
spec:
  selector: {app: {{ .Name }}}
  ports: [{port: 9090}]
`,
  "templates/backup.yaml": `
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Name }}-backup
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: backup, image: busybox, command: ["true"], args: [{{ .Params.TARGET }}]}]
`,
  "templates/farewell.yaml": `
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Name }}-farewell
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: farewell, image: busybox, command: ["true"]}]
`,
};
