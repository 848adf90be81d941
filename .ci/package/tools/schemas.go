package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// kinds names the files of the chart's kinds, and Kubernetes' definitions of them.
var kinds = map[string]string{
	"deployment-apps-v1":                     "io.k8s.api.apps.v1.Deployment",
	"horizontalpodautoscaler-autoscaling-v2": "io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler",
	"ingress-networking-v1":                  "io.k8s.api.networking.v1.Ingress",
	"networkpolicy-networking-v1":            "io.k8s.api.networking.v1.NetworkPolicy",
	"persistentvolumeclaim-v1":               "io.k8s.api.core.v1.PersistentVolumeClaim",
	"poddisruptionbudget-policy-v1":          "io.k8s.api.policy.v1.PodDisruptionBudget",
	"service-v1":                             "io.k8s.api.core.v1.Service",
	"serviceaccount-v1":                      "io.k8s.api.core.v1.ServiceAccount",
}

// scalars are definitions that JSON writes otherwise than they declare.
var scalars = map[string]map[string]any{
	"io.k8s.apimachinery.pkg.util.intstr.IntOrString": {"type": []string{"string", "integer"}},
	"io.k8s.apimachinery.pkg.api.resource.Quantity":   {"type": []string{"string", "number"}},
}

// schemas writes a JSON Schema for each of kinds, which refuses fields that the definition lacks. swagger is Kubernetes'
// description of its API.
func schemas(swagger, target string) error {
	raw, err := os.ReadFile(swagger)
	if err != nil {
		return err
	}
	var api struct{ Definitions map[string]map[string]any }
	if err := json.Unmarshal(raw, &api); err != nil {
		return err
	}
	for name, definition := range kinds {
		needed := map[string]any{}
		collect(api.Definitions, definition, needed)
		err := writeSchema(filepath.Join(target, name+".json"), map[string]any{
			"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/" + definition, "definitions": needed,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// customSchemas writes a JSON Schema, as schemas does, for each version that a CustomResourceDefinition describes.
func customSchemas(definition, target string) error {
	raw, err := os.ReadFile(definition)
	if err != nil {
		return err
	}
	var resource struct {
		Spec struct {
			Group    string
			Names    struct{ Kind string }
			Versions []struct {
				Name   string
				Schema struct {
					OpenAPIV3Schema map[string]any `json:"openAPIV3Schema"`
				}
			}
		}
	}
	if err := yaml.Unmarshal(raw, &resource); err != nil {
		return fmt.Errorf("%s: %w", definition, err)
	}
	group, _, _ := strings.Cut(resource.Spec.Group, ".")
	for _, version := range resource.Spec.Versions {
		schema := strict(version.Schema.OpenAPIV3Schema, func(string) {})
		schema["$schema"] = "http://json-schema.org/draft-07/schema#"
		name := strings.ToLower(resource.Spec.Names.Kind) + "-" + group + "-" + version.Name + ".json"
		if err := writeSchema(filepath.Join(target, name), schema); err != nil {
			return err
		}
	}
	return nil
}

// collect adds the definition and all that it refers to.
func collect(all map[string]map[string]any, name string, needed map[string]any) {
	if needed[name] != nil {
		return
	}
	if scalar := scalars[name]; scalar != nil {
		needed[name] = scalar
		return
	}
	needed[name] = strict(all[name], func(reference string) { collect(all, reference, needed) })
}

// kept are the words of a schema that check something.
var kept = []string{
	"type", "properties", "required", "items", "additionalProperties", "enum", "format", "pattern", "minimum", "maximum",
	"minLength", "maxLength", "minItems", "maxItems", "$ref", "anyOf", "oneOf", "allOf",
}

// strict returns the schema without descriptions, and without room for further fields; refer is called with each definition that
// it refers to.
func strict(schema map[string]any, refer func(string)) map[string]any {
	result := map[string]any{}
	for _, word := range kept {
		value, found := schema[word]
		if !found {
			continue
		}
		switch value := value.(type) {
		case string:
			if word == "$ref" {
				refer(strings.TrimPrefix(value, "#/definitions/"))
			}
			result[word] = value
		case map[string]any:
			if word != "properties" {
				result[word] = strict(value, refer)
				continue
			}
			properties := map[string]any{}
			for _, name := range slices.Sorted(maps.Keys(value)) {
				properties[name] = strict(value[name].(map[string]any), refer)
			}
			result[word], result["additionalProperties"] = properties, false
		case []any:
			list := make([]any, len(value))
			for i, element := range value {
				list[i] = element
				if inner, ok := element.(map[string]any); ok {
					list[i] = strict(inner, refer)
				}
			}
			result[word] = list
		default:
			result[word] = value
		}
	}
	return result
}

func writeSchema(target string, schema map[string]any) error {
	raw, err := json.MarshalIndent(schema, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(target, append(raw, '\n'), 0o644)
}
