package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/stretchr/testify/require"
	"github.com/yannh/kubeconform/pkg/validator"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/fake"
	"sigs.k8s.io/yaml"
)

// kubernetes is the version of the API from which the schemas were made. The schema of ServiceMonitor is from version 0.85.0 of
// the Prometheus operator.
const kubernetes = "1.30.14"

// cluster lets the chart find objects in Kubernetes.
type cluster struct{ dynamic.Interface }

func (c cluster) GetClientFor(apiVersion, kind string) (dynamic.NamespaceableResourceInterface, bool, error) {
	version, err := schema.ParseGroupVersion(apiVersion)
	return c.Resource(version.WithResource(strings.ToLower(kind) + "s")), true, err
}

func theChart(t *testing.T) *chart.Chart {
	t.Helper()
	loaded := must(loader.Load("../chart"))(t)
	return loaded
}

// manifests holds the objects that the chart makes, by kind and name.
type manifests map[string]any

// render returns the manifests that helm install would send, decoded by the types of Kubernetes, which refuse unknown fields, and
// checked by its schemas. values is YAML.
func render(t *testing.T, values string, found ...runtime.Object) (manifests, error) {
	t.Helper()
	loaded := theChart(t)
	given := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(values), &given))
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.KubeVersion = chartutil.KubeVersion{Version: "v" + kubernetes, Major: "1", Minor: "30"}
	release := chartutil.ReleaseOptions{Name: "house", Namespace: "stoa", Revision: 1, IsInstall: true}
	all, err := chartutil.ToRenderValues(loaded, given, release, capabilities)
	if err != nil {
		return nil, err
	}
	files, err := engine.RenderWithClientProvider(loaded, all, cluster{fake.NewSimpleDynamicClient(runtime.NewScheme(), found...)})
	if err != nil {
		return nil, err
	}
	conform, err := validator.New([]string{"schemas/{{ .ResourceKind }}{{ .KindSuffix }}.json"},
		validator.Opts{KubernetesVersion: kubernetes, Strict: true})
	require.NoError(t, err)
	made := manifests{}
	for name, text := range files {
		if !strings.HasSuffix(name, ".yaml") {
			continue
		}
		for _, result := range conform.Validate(name, io.NopCloser(strings.NewReader(text))) {
			require.NotContains(t, []validator.Status{validator.Error, validator.Invalid}, result.Status, "%s: %v\n%s", name, result.Err, text)
		}
		for document := range strings.SplitSeq(text, "\n---\n") {
			if strings.TrimSpace(document) == "" {
				continue
			}
			key, object := decode(t, document)
			require.NotContains(t, made, key)
			made[key] = object
		}
	}
	return made, nil
}

func decode(t *testing.T, document string) (string, any) {
	t.Helper()
	var head struct {
		meta.TypeMeta `json:",inline"`
		Metadata      meta.ObjectMeta
	}
	require.NoError(t, yaml.Unmarshal([]byte(document), &head))
	types := map[string]any{
		"apps/v1 Deployment": new(apps.Deployment), "autoscaling/v2 HorizontalPodAutoscaler": new(autoscaling.HorizontalPodAutoscaler),
		"networking.k8s.io/v1 Ingress": new(networking.Ingress), "networking.k8s.io/v1 NetworkPolicy": new(networking.NetworkPolicy),
		"policy/v1 PodDisruptionBudget": new(policy.PodDisruptionBudget), "v1 PersistentVolumeClaim": new(core.PersistentVolumeClaim),
		"v1 Service": new(core.Service), "v1 ServiceAccount": new(core.ServiceAccount),
		"monitoring.coreos.com/v1 ServiceMonitor": new(monitoring.ServiceMonitor),
	}
	object := types[head.APIVersion+" "+head.Kind]
	require.NotNil(t, object, "%s %s", head.APIVersion, head.Kind)
	require.NoError(t, yaml.UnmarshalStrict([]byte(document), object), document)
	return head.Kind + " " + head.Metadata.Name, object
}

func rendered(t *testing.T, values string, found ...runtime.Object) manifests {
	t.Helper()
	made := must(render(t, values, found...))(t)
	return made
}

func object[T any](t *testing.T, made manifests, key string) *T {
	t.Helper()
	require.Contains(t, made, key)
	return made[key].(*T)
}

func deployment(t *testing.T, made manifests) *apps.Deployment {
	t.Helper()
	return object[apps.Deployment](t, made, "Deployment house")
}

// everything returns values that differ from each default of the chart.
func everything(t *testing.T) string {
	t.Helper()
	raw := must(os.ReadFile("testdata/everything.yaml"))(t)
	return string(raw)
}

func TestAChartOfDefaults(t *testing.T) {
	made := rendered(t, "")
	require.Len(t, made, 7)
	for _, key := range []string{
		"Deployment house", "NetworkPolicy house", "PersistentVolumeClaim house", "PodDisruptionBudget house", "Service house",
		"Service house-operator", "ServiceAccount house",
	} {
		require.Contains(t, made, key)
	}
	pod := deployment(t, made).Spec.Template
	require.Equal(t, "localhost/stoa:"+theChart(t).AppVersion(), pod.Spec.Containers[0].Image)
	require.Equal(t, "house", pod.Spec.ServiceAccountName)
	require.Empty(t, pod.Annotations)
	require.Len(t, pod.Spec.TopologySpreadConstraints, 2)
	for _, spread := range pod.Spec.TopologySpreadConstraints {
		require.Equal(t, deployment(t, made).Spec.Selector, spread.LabelSelector)
	}
	require.Equal(t, []string{"/bin/sleep", "5"}, pod.Spec.Containers[0].Lifecycle.PreStop.Exec.Command)
	require.GreaterOrEqual(t, *pod.Spec.TerminationGracePeriodSeconds, int64(5+20))
	require.Equal(t, apps.RecreateDeploymentStrategyType, deployment(t, made).Spec.Strategy.Type)
}

func TestAChartOfEverything(t *testing.T) {
	made := rendered(t, everything(t))
	whole := deployment(t, made)
	pod := whole.Spec.Template
	require.Nil(t, whole.Spec.Replicas, "the autoscaler decides")
	require.Equal(t, map[string]string{"reloader": "auto"}, whole.Annotations)
	require.Equal(t, map[string]string{"scrape": "no"}, pod.Annotations)
	require.Equal(t, "people", pod.Labels["team"])
	require.Equal(t, "stoa", pod.Labels["app.kubernetes.io/name"], "labels of the values replace none of the selector")
	require.Equal(t, "registry.example/stoa@sha256:"+strings.Repeat("ab", 32), pod.Spec.Containers[0].Image)
	require.Equal(t, []core.LocalObjectReference{{Name: "registry"}}, pod.Spec.ImagePullSecrets)
	require.Equal(t, "stoa-account", pod.Spec.ServiceAccountName)
	require.Equal(t, "claimed", pod.Spec.Volumes[0].PersistentVolumeClaim.ClaimName)
	require.Equal(t, "stoa", pod.Spec.Tolerations[0].Value)
	require.Equal(t, map[string]string{"disk": "fast"}, pod.Spec.NodeSelector)
	require.NotNil(t, pod.Spec.Affinity.PodAntiAffinity)
	require.Equal(t, "high", pod.Spec.PriorityClassName)
	require.Len(t, pod.Spec.TopologySpreadConstraints, 1)
	require.Equal(t, int64(42), *pod.Spec.TerminationGracePeriodSeconds)
	require.Equal(t, apps.RollingUpdateDeploymentStrategyType, whole.Spec.Strategy.Type)

	require.NotContains(t, made, "PersistentVolumeClaim house")
	require.Equal(t, map[string]string{"role": "stoa"}, object[core.ServiceAccount](t, made, "ServiceAccount stoa-account").Annotations)
	require.Equal(t, core.ServiceTypeLoadBalancer, object[core.Service](t, made, "Service house").Spec.Type)
	require.Equal(t, "2", object[policy.PodDisruptionBudget](t, made, "PodDisruptionBudget house").Spec.MaxUnavailable.String())
	scaler := object[autoscaling.HorizontalPodAutoscaler](t, made, "HorizontalPodAutoscaler house").Spec
	require.Equal(t, int32(4), scaler.MaxReplicas)
	require.Equal(t, "house", scaler.ScaleTargetRef.Name)
	require.Len(t, scaler.Metrics, 2)

	monitor := object[monitoring.ServiceMonitor](t, made, "ServiceMonitor house")
	require.Equal(t, "prometheus", monitor.Labels["release"])
	selects := func(service string) bool {
		labels := object[core.Service](t, made, service).Labels
		for name, value := range monitor.Spec.Selector.MatchLabels {
			if labels[name] != value {
				return false
			}
		}
		return true
	}
	require.True(t, selects("Service house-operator"))
	require.False(t, selects("Service house"))
	rules := object[networking.NetworkPolicy](t, made, "NetworkPolicy house").Spec.Ingress
	require.Len(t, rules, 3, "the public port for all, the operators' for pods of operators and for Prometheus")
	require.Equal(t, map[string]string{"kubernetes.io/metadata.name": "watch"}, rules[2].From[0].NamespaceSelector.MatchLabels)
}

func TestPodsAreReplacedWhenTheSecretHasChanged(t *testing.T) {
	secret := func(version string) runtime.Object {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Secret",
			"metadata": map[string]any{"name": "stoa", "namespace": "stoa", "resourceVersion": version},
		}}
	}
	first, second := deployment(t, rendered(t, "", secret("7"))), deployment(t, rendered(t, "", secret("8")))
	require.Equal(t, first, deployment(t, rendered(t, "", secret("7"))))
	require.NotEqual(t, first.Spec.Template, second.Spec.Template)
	require.Equal(t, deployment(t, rendered(t, "secret: another")), deployment(t, rendered(t, "secret: another", secret("7"))))
}

// Secrets come as variables, or as files that the server's variables name; then no variable holds a secret.
func TestSecretsAsFiles(t *testing.T) {
	plain := deployment(t, rendered(t, "secret: mine")).Spec.Template.Spec
	require.Equal(t, "mine", plain.Containers[0].EnvFrom[0].SecretRef.Name)
	require.Len(t, plain.Volumes, 2)

	pod := deployment(t, rendered(t, "secret: mine\nsecretFiles: [STOA_DATABASE_URL, STOA_SMTP_URL]")).Spec.Template.Spec
	container := pod.Containers[0]
	require.Empty(t, container.EnvFrom)
	mounted := container.VolumeMounts[slices.IndexFunc(container.VolumeMounts, func(m core.VolumeMount) bool { return m.Name == "secret" })]
	source := pod.Volumes[slices.IndexFunc(pod.Volumes, func(v core.Volume) bool { return v.Name == "secret" })].Secret
	require.Equal(t, "mine", source.SecretName)
	require.Equal(t, int32(0o440), *source.DefaultMode, "of the group of the pod, and of no others")
	for _, key := range []string{"STOA_DATABASE_URL", "STOA_SMTP_URL"} {
		require.Contains(t, container.Env, core.EnvVar{Name: key + "_FILE", Value: mounted.MountPath + "/" + key})
		require.Contains(t, source.Items, core.KeyToPath{Key: key, Path: key})
	}
}

func TestValuesThatAreRefused(t *testing.T) {
	for values, reason := range map[string]string{
		"replicas: 2": "ReadWriteMany",
		"replicas: 2\nsettings: {STOA_FILES_URL: s3://f}":                                 "ReadWriteMany",
		"autoscaling: {enabled: true}":                                                    "ReadWriteMany",
		"replicas: 2\ndata: {existingClaim: mine}":                                        "ReadWriteMany",
		"data: {accessMode: ReadWriteMany}\nautoscaling: {enabled: true, minReplicas: 9}": "minReplicas",
		"data: {accessMode: ReadWriteMany}\nautoscaling: {enabled: true, cpu: 0}":         "measure",
		"settings: {LISTEN: x}":                                                           "LISTEN",
		"settings: {STOA_LISTEN: x}":                                                      "STOA_LISTEN",
		"settings: {STOA_SITE: true}":                                                     "string",
		"replica: 1":                                                                      "replica",
		"image: {tags: x}":                                                                "tags",
		"image: {digest: latest}":                                                         "digest",
		"data: {sise: 1Gi}":                                                               "sise",
		"data: {size: much}":                                                              "size",
		"service: {ports: 80}":                                                            "ports",
		"ingress: {tls: x}":                                                               "tls",
		"serviceMonitor: {prometheus: [{labels: {}}]}":                                    "labels",
		"podDisruptionBudget: {minAvailable: 1}":                                          "minAvailable",
		"topologySpread: [{topologyKey: zone, whenUnsatisfiable: Never}]":                 "whenUnsatisfiable",
		"tolerations: [{effects: NoSchedule}]":                                            "effects",
		"affinity: {podAffinities: {}}":                                                   "podAffinities",
		"resources: {request: {cpu: 1}}":                                                  "request",
		"resources: {requests: {ram: 1Gi}}":                                               "ram",
		"operators: [{}]":                                                                 "operators",
		"secret: ''":                                                                      "secret",
		"secretFiles: [password]":                                                         "secretFiles",
		"secretFiles: [STOA_BASE_URL]":                                                    "secretFiles",
	} {
		t.Run(values, func(t *testing.T) {
			_, err := render(t, values)
			require.ErrorContains(t, err, reason)
		})
	}
}

// Behind an ingress that is not trusted every agent has the ingress's address, so the notes warn.
func TestNotesWarnOfAnIngressThatIsNotTrusted(t *testing.T) {
	for values, warns := range map[string]bool{
		"":                         false,
		"ingress: {enabled: true}": true,
		"ingress: {enabled: true}\nsettings: {STOA_TRUSTED_PROXIES: 10.42.0.0/16}": false,
	} {
		loaded, given := theChart(t), map[string]any{}
		require.NoError(t, yaml.Unmarshal([]byte(values), &given))
		all := must(chartutil.ToRenderValues(loaded, given, chartutil.ReleaseOptions{Name: "house", Namespace: "stoa"}, nil))(t)
		files := must(engine.Render(loaded, all))(t)
		require.Equal(t, warns, strings.Contains(files["stoa/templates/NOTES.txt"], "STOA_TRUSTED_PROXIES"), values)
	}
}

func TestSeveralProcessesOnOneVolume(t *testing.T) {
	made := deployment(t, rendered(t, "replicas: 3\ndata: {accessMode: ReadWriteMany}"))
	require.Equal(t, int32(3), *made.Spec.Replicas)
	require.Equal(t, "0", made.Spec.Strategy.RollingUpdate.MaxUnavailable.String())
}

// properties calls visit with each object of a schema that has properties, and with the values at the same place.
func properties(schema map[string]any, values any, path string, visit func(path string, schema, values map[string]any)) {
	inner, _ := schema["properties"].(map[string]any)
	if inner == nil {
		return
	}
	object, _ := values.(map[string]any)
	visit(path, schema, object)
	for name, each := range inner {
		properties(each.(map[string]any), object[name], path+"."+name, visit)
	}
}

func TestTheSchemaKnowsEveryValueAndNoOther(t *testing.T) {
	var schema, defaults, set map[string]any
	loaded := theChart(t)
	require.NoError(t, json.Unmarshal(loaded.Schema, &schema))
	defaults = loaded.Values
	require.NoError(t, yaml.Unmarshal([]byte(everything(t)), &set))
	properties(schema, defaults, "", func(path string, object, values map[string]any) {
		require.Equal(t, false, object["additionalProperties"], path)
		for name := range object["properties"].(map[string]any) {
			if path+"."+name != ".global" && path != ".affinity" {
				require.Contains(t, values, name, "%s has no default", path)
			}
		}
	})
	properties(schema, set, "", func(path string, object, values map[string]any) {
		for name := range object["properties"].(map[string]any) {
			if path+"."+name != ".global" && path != ".affinity" {
				require.Contains(t, values, name, "testdata/everything.yaml lacks %s", path)
			}
		}
	})
	for _, object := range strings.Split(string(loaded.Schema), "\n") {
		if strings.Contains(object, `"additionalProperties": true`) {
			require.Regexp(t, `"(global|nodeAffinity|podAffinity|podAntiAffinity)"`, object)
		}
	}
}

func TestHelmFindsNothingToImprove(t *testing.T) {
	version := chartutil.KubeVersion{Version: "v" + kubernetes, Major: "1", Minor: "30"}
	for _, message := range lint.AllWithKubeVersion("../chart", nil, "stoa", &version).Messages {
		require.Less(t, message.Severity, support.WarningSev, message)
	}
}

func TestTheChartIsOfTheNewestRelease(t *testing.T) {
	raw := must(os.ReadFile("../../../CHANGELOG.md"))(t)
	_, rest, found := bytes.Cut(raw, []byte("\n## Unreleased\n"))
	if !found {
		rest = raw
	}
	_, rest, found = bytes.Cut(rest, []byte("\n## "))
	require.True(t, found)
	release, _, _ := bytes.Cut(rest, []byte("\n"))
	require.Equal(t, string(release), theChart(t).AppVersion())
	require.Equal(t, string(release), theChart(t).Metadata.Version)
	names := must(filepath.Glob("../chart/templates/*.yaml"))(t)
	require.NotEmpty(t, names)
}
