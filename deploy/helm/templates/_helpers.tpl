{{- define "fenceline.name" -}}
{{- if contains "fenceline" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-fenceline" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end -}}
{{- end }}

{{/* Labels that select the pods of one component: a role, the proxy or the registry. */}}
{{- define "fenceline.selector" -}}
app.kubernetes.io/name: fenceline
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "fenceline.labels" -}}
{{ include "fenceline.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- define "fenceline.image" -}}
{{- with .Values.image }}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{- define "fenceline.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "fenceline.name" .) }}
{{- end }}

{{- define "fenceline.secret" -}}
{{ .Values.secrets.existingSecret | default (include "fenceline.name" .) }}
{{- end }}

{{- define "fenceline.port" -}}8080{{- end }}

{{/* The program's configuration file, as YAML: the settings of the user, over those that follow from the chart. */}}
{{- define "fenceline.settings" -}}
{{- $name := include "fenceline.name" . -}}
{{- $derived := dict "backend" "cluster" "host" "0.0.0.0" "port" (include "fenceline.port" . | int) "data" "/var/lib/fenceline/node" -}}
{{- if and .Values.ingress.enabled .Values.ingress.host -}}
{{- $_ := set $derived "http" (dict "publicUrl" (printf "https://%s" .Values.ingress.host)) -}}
{{- end -}}
{{- if .Values.kafka.strimzi.enabled -}}
{{- $_ := set $derived "kafka" (dict "brokers" (list (printf "%s-kafka-bootstrap:9092" $name))) -}}
{{- end -}}
{{- if .Values.registry.apicurio.enabled -}}
{{- $_ := set $derived "registry" (dict "url" (printf "http://%s-registry:8080/apis/ccompat/v7" $name)) -}}
{{- end -}}
{{- if .Values.redis.operator.enabled -}}
{{- $_ := set $derived "redis" (dict "nodes" (list (printf "%s-redis-master:6379" $name))) -}}
{{- end -}}
{{- with .Values.clickhouse.altinity -}}
{{- if .enabled -}}
{{- $clickhouse := dict "url" (printf "http://clickhouse-%s:8123" $name) "username" "fenceline" -}}
{{- if or (gt (int .shards) 1) (gt (int .replicas) 1) -}}{{- $_ := set $clickhouse "cluster" "fenceline" -}}{{- end -}}
{{- $_ := set $derived "clickhouse" $clickhouse -}}
{{- end -}}
{{- end -}}
{{- if hasKey .Values.settings "roles" }}{{ fail "settings.roles: a Deployment per role has its own; use `roles`" }}{{ end -}}
{{- mergeOverwrite $derived (deepCopy .Values.settings) | toYaml -}}
{{- end }}

{{/* What every pod has. */}}
{{- define "fenceline.pod" -}}
automountServiceAccountToken: false
# Kubernetes would set variables such as FENCELINE_PORT for a Service of that name, and the program reads them.
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* What every pod that runs the program has. `given` are the values of its role. */}}
{{- define "fenceline.nodePod" -}}
{{- $nodes := .root.Values.nodes -}}
{{ include "fenceline.pod" .root }}
serviceAccountName: {{ include "fenceline.serviceAccount" .root }}
{{- with $nodes.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
securityContext:
  {{- include "fenceline.securityContext" .root | nindent 2 }}
{{- with .given.nodeSelector | default $nodes.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .given.tolerations | default $nodes.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .given.affinity | default $nodes.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "fenceline.securityContext" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "fenceline.containerSecurityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- define "fenceline.topologySpread" -}}
{{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
- maxSkew: 1
  topologyKey: {{ . }}
  whenUnsatisfiable: {{ $.root.Values.topologySpread.whenUnsatisfiable }}
  labelSelector:
    matchLabels:
      {{- include "fenceline.selector" $ | nindent 6 }}
{{- end }}
{{- end }}

{{/* A value as quoted text. Helm reads numbers as floats, and `quote` writes a million as 1e+06. */}}
{{- define "fenceline.text" -}}
{{ ternary . (toJson .) (kindIs "string" .) | quote }}
{{- end }}

{{/* Environment, mounts and volumes of a container that runs the program. */}}
{{- define "fenceline.environment" -}}
- { name: FENCELINE_CONFIG, value: /etc/fenceline/fenceline.yaml }
{{- range $name, $value := merge (dict) (.given.environment | default dict) .root.Values.nodes.environment }}
- { name: {{ $name }}, value: {{ include "fenceline.text" $value }} }
{{- end }}
{{- end }}

{{- define "fenceline.volumeMounts" -}}
- { name: configuration, mountPath: /etc/fenceline/fenceline.yaml, subPath: fenceline.yaml, readOnly: true }
- { name: data, mountPath: /var/lib/fenceline }
- { name: temporary, mountPath: /tmp }
{{- if .Values.certificates.existingSecret }}
- { name: certificates, mountPath: /etc/fenceline/certificates, readOnly: true }
{{- end }}
{{- with .Values.nodes.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "fenceline.volumes" -}}
- name: configuration
  configMap: { name: {{ include "fenceline.name" . }} }
- name: data
  emptyDir: { sizeLimit: {{ .Values.nodes.dataFolderSize }} }
- name: temporary
  emptyDir: { sizeLimit: 1Gi }
{{- with .Values.certificates.existingSecret }}
- name: certificates
  secret: { secretName: {{ . }}, defaultMode: 0440 }
{{- end }}
{{- with .Values.nodes.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "fenceline.dns" -}}
- ports: [{ port: 53, protocol: UDP }, { port: 53, protocol: TCP }]
{{- end }}
