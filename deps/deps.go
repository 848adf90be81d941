// Package deps holds dependencies while the packages that need them are being written.
package deps

import (
	_ "github.com/XSAM/otelsql"
	_ "github.com/getkin/kin-openapi/openapi3"
	_ "github.com/goccy/go-yaml"
	_ "github.com/prometheus/client_golang/prometheus/promhttp"
	_ "github.com/prometheus/client_golang/prometheus/testutil"
	_ "github.com/prometheus/common/expfmt"
	_ "github.com/santhosh-tekuri/jsonschema/v6"
	_ "go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	_ "go.opentelemetry.io/otel"
	_ "go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	_ "go.opentelemetry.io/otel/sdk/trace"
	_ "go.opentelemetry.io/otel/sdk/trace/tracetest"
	_ "golang.org/x/perf/benchfmt"
	_ "golang.org/x/perf/benchmath"
)
