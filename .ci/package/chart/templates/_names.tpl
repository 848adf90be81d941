{{- define "stoa.name" -}}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{- end }}
{{- define "stoa.selector" -}}
app.kubernetes.io/name: stoa
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "stoa.labels" -}}
{{ include "stoa.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | replace "+" "-" | trunc 63 | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 }}
{{- end }}
{{- define "stoa.account" -}}
{{- .Values.serviceAccount.name | default (ternary (include "stoa.name" .) "default" .Values.serviceAccount.create) }}
{{- end }}
{{- define "stoa.image" -}}
{{- with .Values.image }}
{{- if .digest }}{{ .repository }}@{{ .digest }}
{{- else }}{{ .repository }}:{{ .tag | default ($.Chart.AppVersion | replace "+" "-") }}{{ end }}
{{- end }}
{{- end }}
{{- /* The most processes that there can be. */}}
{{- define "stoa.most" -}}
{{- ternary .Values.autoscaling.maxReplicas .Values.replicas .Values.autoscaling.enabled | int }}
{{- end }}
